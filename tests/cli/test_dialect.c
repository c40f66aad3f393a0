/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what the tool knows of markers, against the library's own table. */

#include "model/dialect.h"
#include "mutex_recipe.h"
#include "protocol/node_name.h"
#include "rwlock_recipe.h"
#include "texts.h"
#include "unit.h"

static const struct owner nobody;

static struct zkr_participant contender(unsigned marker)
{
    return (struct zkr_participant){
        .name = "",
        .marker = zkr__markers[marker].text,
        .data = "",
        .token = 1,
        .kind = zkr__markers[marker].kind == ZKR__SHARED
                    ? ZKR_PARTICIPANT_SHARED
                    : ZKR_PARTICIPANT_EXCLUSIVE,
    };
}

static bool is_in(unsigned marker, uint32_t markers)
{
    return (markers & ZKR__MARKER_BIT(marker)) != 0;
}

TEST(every_marker_is_known)
{
    struct zkr_participant unknown = { .name = "", .marker = "gate-" };

    for (unsigned i = 0; i < ZKR__MARKER_COUNT; i++) {
        struct zkr_participant p = contender(i);

        if (kind_of(&p, 1) == KIND_NONE)
            fail_msg("the tool does not know '%s'", p.marker);
    }
    assert_int_equal(kind_of(&unknown, 1), KIND_NONE);
}

TEST(claims_see_the_markers_of_their_recipe)
{
    for (unsigned i = 0; i < ZKR__MARKER_COUNT; i++) {
        struct zkr_participant p = contender(i);

        assert_int_equal(contender_is_seen(&p, KIND_MUTEX),
                         is_in(i, zkr__mutex_recipe.markers));
        assert_int_equal(contender_is_seen(&p, KIND_RW),
                         is_in(i, zkr__writing_recipe.markers));
        assert_int_equal(contender_is_seen(&p, KIND_RW),
                         is_in(i, zkr__reading_recipe.markers));
    }
}

TEST(only_the_unfair_holder_is_outside_of_the_queue)
{
    for (unsigned i = 0; i < ZKR__MARKER_COUNT; i++) {
        struct zkr_participant p = contender(i);

        assert_int_equal(contender_is_unfair(&p),
                         zkr__markers[i].layout == ZKR__LAYOUT_UNFAIR);
    }
}

/* A name as the client of that layout makes it. */
static void write_name(char name[128], unsigned marker)
{
    static const char uuid[] = "16176773-7d6f-4686-ab55-f4bd6230b745";
    const struct zkr__marker_row *m = &zkr__markers[marker];
    char ours[ZKR__NAME_MAX];

    switch (m->layout) {
    case ZKR__LAYOUT_CURATOR:
    case ZKR__LAYOUT_KAZOO:
        zkr__node_name_build(ours, m->layout, uuid, (enum zkr__marker)marker);
        (void)snprintf(name, 128, "%s0000000007", ours);
        break;
    case ZKR__LAYOUT_C_RECIPE:
        (void)snprintf(name, 128, "%s100000be8790000-0000000007", m->text);
        break;
    case ZKR__LAYOUT_ZK_RUBY:
        (void)snprintf(name, 128, "%s0000000007", m->text);
        break;
    case ZKR__LAYOUT_UNFAIR:
        (void)snprintf(name, 128, "%s", m->text);
        break;
    }
}

TEST(the_layout_tells_the_client)
{
    static const enum dialect clients[] = {
        [ZKR__LAYOUT_CURATOR] = DIALECT_CURATOR,
        [ZKR__LAYOUT_KAZOO] = DIALECT_KAZOO,
        [ZKR__LAYOUT_C_RECIPE] = DIALECT_C_RECIPE,
        [ZKR__LAYOUT_ZK_RUBY] = DIALECT_ZK_RUBY,
        [ZKR__LAYOUT_UNFAIR] =
            DIALECT_OTHER, /* its data says that it is ours */
    };

    for (unsigned i = 0; i < ZKR__MARKER_COUNT; i++) {
        struct zkr_participant p = contender(i);
        const struct zkr__marker_row *read;
        char name[128];
        int64_t seq;

        write_name(name, i);
        p.name = name;
        read = zkr__node_name_marker(name, ZKR__ALL_MARKERS, &seq);
        assert_ptr_equal(read, &zkr__markers[i]);
        assert_int_equal(dialect_of(&p, &nobody), clients[read->layout]);
    }
}
