/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the dialect of a node, and of the kind of a lock. */
#include "protocol/dialect.h"
#include "protocol/node_name.h"
#include "protocol/parts.h"
#include "unit.h"

#define UUID      "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436"
#define HEX       "5a5bbc3873ea4b5a9f7396e8c4c6a436"
#define SHARED    ZKR_PARTICIPANT_SHARED
#define EXCLUSIVE ZKR_PARTICIPANT_EXCLUSIVE

static const struct zkr__known_owner nobody;

/* And the unfair holder alone is outside of the queue. */
TEST(every_marker_is_known)
{
    struct zkr_participant unknown = { .name = "", .marker = "gate-" };

    for (unsigned i = 0; i < ZKR__MARKER_COUNT; i++) {
        struct zkr_participant p = {
            .name = "",
            .marker = zkr__markers[i].text,
            .kind = zkr__markers[i].kind == ZKR__SHARED ? SHARED : EXCLUSIVE,
        };

        if (zkr__lock_kind_of(&p, 1) == ZKR__KIND_NONE)
            fail_msg("nobody knows '%s'", p.marker);
        assert_int_equal(zkr__is_unfair(&p),
                         zkr__markers[i].layout == ZKR__LAYOUT_UNFAIR);
    }
    assert_int_equal(zkr__lock_kind_of(&unknown, 1), ZKR__KIND_NONE);
}

/* Readers and writers wait for a mutex and kazoo's Lock, not they for them. */
static const struct {
    const char *marker;
    bool by_mutex;
    bool by_rw;
    bool by_latch;
} seen[] = {
    { "lock-", true, true, false },      { "__WRIT__", false, true, false },
    { "__READ__", false, true, false },  { "latch-", false, false, true },
    { "lease-", false, false, false },   { "__lock__", true, true, true },
    { "__rlock__", false, true, false }, { "x-", false, false, false },
    { "ex", false, false, false },       { "sh", false, false, false },
    { "holder", false, false, false },
};

TEST(claims_see_the_markers_of_their_recipe)
{
    assert_int_equal(COUNT(seen), ZKR__MARKER_COUNT);
    for (size_t i = 0; i < COUNT(seen); i++) {
        struct zkr_participant p = { .name = "", .marker = seen[i].marker };

        assert_int_equal(zkr__is_seen(&p, ZKR__KIND_MUTEX), seen[i].by_mutex);
        assert_int_equal(zkr__is_seen(&p, ZKR__KIND_RW), seen[i].by_rw);
        assert_int_equal(zkr__is_seen(&p, ZKR__KIND_LATCH), seen[i].by_latch);
    }
}

static void assert_dialect(const char *name, const char *marker,
                           enum zkr__dialect dialect)
{
    struct zkr_participant p = { name, .marker = marker, .kind = EXCLUSIVE,
                                 .data = "", .token = 1 };
    struct zkr__known_owner ours = { .is_record = true };

    assert_int_equal(zkr__dialect_of(&p, &nobody), dialect);
    assert_int_equal(zkr__dialect_of(&p, &ours),
                     dialect == ZKR__DIALECT_C_RECIPE ||
                             dialect == ZKR__DIALECT_ZK_RUBY
                         ? dialect
                         : ZKR__DIALECT_ZKRECIPES);
    p.kind = ZKR_PARTICIPANT_FOREIGN;
    assert_int_equal(zkr__dialect_of(&p, &nobody), ZKR__DIALECT_NONE);
}

TEST(the_layout_tells_the_client)
{
    static const enum zkr__dialect clients[] = {
        [ZKR__LAYOUT_CURATOR] = ZKR__DIALECT_CURATOR,
        [ZKR__LAYOUT_KAZOO] = ZKR__DIALECT_KAZOO,
        [ZKR__LAYOUT_C_RECIPE] = ZKR__DIALECT_C_RECIPE,
        [ZKR__LAYOUT_ZK_RUBY] = ZKR__DIALECT_ZK_RUBY,
        [ZKR__LAYOUT_UNFAIR] = ZKR__DIALECT_OTHER, /* ours has data */
    };
    static const char *const behind[] = {
        [ZKR__LAYOUT_CURATOR] = "0000000007",
        [ZKR__LAYOUT_KAZOO] = "0000000007",
        [ZKR__LAYOUT_C_RECIPE] = "100000be8790000-0000000007",
        [ZKR__LAYOUT_ZK_RUBY] = "0000000007",
        [ZKR__LAYOUT_UNFAIR] = "",
    };

    for (unsigned i = 0; i < ZKR__MARKER_COUNT; i++) {
        const struct zkr__marker_row *m = &zkr__markers[i];
        char name[ZKR__NAME_MAX];
        int64_t seq;

        PRINT(name, "%s", m->text);
        if (m->layout == ZKR__LAYOUT_CURATOR || m->layout == ZKR__LAYOUT_KAZOO)
            zkr__node_name_build(name, m->layout, UUID, (enum zkr__marker)i);
        const char *whole = textf("%s%s", name, behind[m->layout]);
        assert_ptr_equal(zkr__node_name_marker(whole, ZKR__ALL_MARKERS, &seq),
                         m);
        assert_dialect(whole, m->text, clients[m->layout]);
    }
}

TEST(dialects_are_told_by_the_whole_name)
{
    assert_dialect("_c_" HEX "-lock-0000000001", "lock-", ZKR__DIALECT_GO);
    assert_dialect("lock-0000000001", "lock-", ZKR__DIALECT_OTHER);
    assert_dialect("my_c_" UUID "-lock-0000000001", "lock-",
                   ZKR__DIALECT_OTHER);
    assert_dialect("_c_" UUID "-x-lock-0000000001", "lock-",
                   ZKR__DIALECT_OTHER);
    assert_dialect("_c_5a5bbc3-lock-0000000001", "lock-", ZKR__DIALECT_OTHER);
}

/* A mutex of ours that was asked to release was taken for one of Curator, which
 * "does not look at its own node". */
TEST(a_name_that_two_clients_make_tells_neither)
{
    static const struct {
        const char *name;
        const char *marker;
        enum zkr__dialect asked; /* or not read */
        enum zkr__dialect with_data;
    } cases[] = {
        { "_c_" UUID "-lock-0000000001", "lock-", ZKR__DIALECT_UNKNOWN,
          ZKR__DIALECT_CURATOR },
        { "_c_" UUID "-latch-0000000001", "latch-", ZKR__DIALECT_UNKNOWN,
          ZKR__DIALECT_UNKNOWN },
        { HEX "__lock__0000000001", "__lock__", ZKR__DIALECT_UNKNOWN,
          ZKR__DIALECT_KAZOO },
        { "holder", "holder", ZKR__DIALECT_UNKNOWN, ZKR__DIALECT_OTHER },
        { "_c_" HEX "-lock-0000000001", "lock-", ZKR__DIALECT_GO,
          ZKR__DIALECT_GO },
        { "lock-0000000001", "lock-", ZKR__DIALECT_OTHER, ZKR__DIALECT_OTHER },
        { "x-1-0000000001", "x-", ZKR__DIALECT_C_RECIPE,
          ZKR__DIALECT_C_RECIPE },
    };
    static const struct zkr__known_owner other, asked = { .is_asked = true };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct zkr_participant p = { .name = cases[i].name,
                                     .marker = cases[i].marker,
                                     .kind = EXCLUSIVE,
                                     .data = "" };

        assert_int_equal(zkr__dialect_of(&p, &other), cases[i].asked);
        p.token = 1;
        p.data = "node-1";
        p.data_size = strlen(p.data);
        assert_int_equal(zkr__dialect_of(&p, &asked), cases[i].asked);
        assert_int_equal(zkr__dialect_of(&p, &other), cases[i].with_data);
    }
}

/* The name is the head, the marker, and the number 1. */
static bool hears(const char *head, const char *marker,
                  enum zkr__dialect dialect)
{
    struct zkr_participant p = { textf("%s%s0000000001", head, marker),
                                 .marker = marker, .kind = EXCLUSIVE };

    return zkr__hears_requests(&p, dialect);
}

TEST(of_two_clients_both_must_hear)
{
    assert_true(hears("_c_" UUID "-", "lock-", ZKR__DIALECT_UNKNOWN));
    assert_false(hears("_c_" UUID "-", "latch-", ZKR__DIALECT_UNKNOWN));
    assert_false(hears(HEX, "__rlock__", ZKR__DIALECT_UNKNOWN));
    assert_true(hears("_c_" UUID "-", "latch-", ZKR__DIALECT_ZKRECIPES));
    assert_true(hears("_c_" UUID "-", "lock-", ZKR__DIALECT_CURATOR));
    assert_true(hears("_c_" UUID "-", "__READ__", ZKR__DIALECT_CURATOR));
    assert_false(hears("_c_" UUID "-", "lock-", ZKR__DIALECT_OTHER));
}

static void assert_kind(const char *const *markers, enum zkr__lock_kind kind)
{
    struct zkr_participant items[4];
    size_t n = 0;

    for (; markers[n] != NULL; n++)
        items[n] = (struct zkr_participant){
            "", .marker = markers[n],
            .kind = strcmp(markers[n], "sh") == 0 ? SHARED : EXCLUSIVE
        };
    assert_int_equal(zkr__lock_kind_of(items, n), kind);
}

TEST(kinds_are_told_by_the_markers)
{
#define MARKERS(...) (const char *const[]){ __VA_ARGS__, NULL }
    assert_int_equal(zkr__lock_kind_of(NULL, 0), ZKR__KIND_NONE);
    assert_kind(MARKERS("lock-"), ZKR__KIND_MUTEX);
    assert_kind(MARKERS("__lock__"), ZKR__KIND_MUTEX);
    assert_kind(MARKERS("lock-", "__lock__"), ZKR__KIND_MUTEX);
    assert_kind(MARKERS("__lock__", "__rlock__"), ZKR__KIND_RW);
    assert_kind(MARKERS("__WRIT__"), ZKR__KIND_RW);
    assert_kind(MARKERS("__READ__", "__lock__"), ZKR__KIND_RW);
    assert_kind(MARKERS("lock-", "__WRIT__"), ZKR__KIND_MIXED);
    assert_kind(MARKERS("holder"), ZKR__KIND_UNFAIR);
    assert_kind(MARKERS("holder", "lock-"), ZKR__KIND_MIXED);
    assert_kind(MARKERS("x-"), ZKR__KIND_MUTEX);
    assert_kind(MARKERS("x-", "__lock__"), ZKR__KIND_MIXED);
    assert_kind(MARKERS("ex"), ZKR__KIND_MUTEX);
    assert_kind(MARKERS("ex", "sh"), ZKR__KIND_RW);
    assert_kind(MARKERS("sh", "ex"), ZKR__KIND_RW);
    assert_kind(MARKERS("latch-"), ZKR__KIND_LATCH);
    assert_kind(MARKERS("latch-", "lock-"), ZKR__KIND_MIXED);
    assert_kind(MARKERS("lease-"), ZKR__KIND_SEMAPHORE);
    assert_kind(MARKERS("lease-", "lock-"), ZKR__KIND_MIXED);
}

TEST(the_queue_of_a_semaphore_is_no_mutex)
{
    struct zkr_participant items[] = {
        { "leases/a-lease-0000000001", .marker = "lease-", .kind = SHARED },
        { "locks/a-lock-0000000001", .marker = "lock-", .kind = EXCLUSIVE },
        { "lock-0000000001", .marker = "lock-", .kind = EXCLUSIVE },
    };

    assert_int_equal(zkr__lock_kind_of(items, 2), ZKR__KIND_SEMAPHORE);
    assert_int_equal(zkr__lock_kind_of(items + 1, 1), ZKR__KIND_SEMAPHORE);
    assert_int_equal(zkr__lock_kind_of(items, 3), ZKR__KIND_MIXED);
    struct zkr_participant none = { .name = "leases/a", .marker = "" };
    assert_int_equal(zkr__lock_kind_of(&none, 1), ZKR__KIND_NONE);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(zkr__is_seen(&items[i], ZKR__KIND_MUTEX), i == 2);
    assert_dialect("locks/_c_" UUID "-lock-0000000001", "lock-",
                   ZKR__DIALECT_CURATOR);
}

TEST(our_dialect_alone_sees_its_own_node)
{
    for (int i = ZKR__DIALECT_NONE; i <= ZKR__DIALECT_MIXED; i++)
        assert_int_equal(zkr__sees_its_own_node((enum zkr__dialect)i),
                         i == ZKR__DIALECT_ZKRECIPES);
}

/* What is in no queue: by the name, the marker, and whether it is ephemeral. */
TEST(others_are_told_by_their_nodes)
{
    static const struct {
        struct zkr_participant p;
        const char *is;
    } rows[] = {
        { { .name = UUID, .marker = "", .session_id = 1 }, "member" },
        { { .name = UUID, .marker = "" }, "" },
        { { .name = "a", .marker = "", .session_id = 1 }, "" },
        { { .name = HEX, .marker = "", .session_id = 1 }, "pool" },
        { { .name = HEX "__party__", .marker = "", .session_id = 1 }, "pool" },
        { { .name = HEX "__p__", .marker = "", .session_id = 1 }, "" },
        { { .name = HEX, .marker = "" }, "" },
        { { UUID, .marker = "", .session_id = 1, .kind = SHARED }, "" },
        { { HEX, .marker = "", .session_id = 1, .kind = SHARED }, "" },
        { { .name = "a", .marker = "latch-" }, "candidate" },
        { { .name = "a", .marker = "lease-" }, "lease" },
        { { .name = "a", .marker = "lock-" }, "" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct zkr_participant *p = &rows[i].p;
        const char *is = textf("%s%s%s%s", zkr__is_member(p) ? "member" : "",
                               zkr__is_of_pool(p) ? "pool" : "",
                               zkr__is_candidate(p) ? "candidate" : "",
                               zkr__is_lease(p) ? "lease" : "");

        assert_string_equal(is, rows[i].is);
    }
}

/* Directories with the names of a semaphore's are locks of others, too. */
TEST(a_semaphore_is_told_by_its_directories)
{
    static const struct {
        const char *leases[3], *queue[3]; /* "-": there is no directory */
        bool is;
    } cases[] = {
        { { NULL }, { NULL }, true },
        { { "-" }, { NULL }, false },
        { { NULL }, { "-" }, false },
        { { "-" }, { "lock-0000000001" }, false },
        { { "a-lease-0000000001" }, { "-" }, true },
        { { "b", "a-lease-0000000001" }, { NULL }, true },
        { { "b" }, { "lock-0000000001" }, true },
        { { "b" }, { NULL }, false },
        { { NULL }, { "b" }, false },
        { { "lock-0000000001" }, { "lock-0000000001" }, false },
        { { "b", "x-1-0000000001" }, { "lock-0000000001" }, false },
        { { NULL }, { "latch-0000000001" }, false },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct zkr__part_count count[ZKR__PARTS] = { { 0 } };

        for (enum zkr__part p = ZKR__PART_LEASES; p <= ZKR__PART_QUEUE; p++) {
            const char *const *names =
                p == ZKR__PART_LEASES ? cases[i].leases : cases[i].queue;

            count[p].exists = names[0] == NULL || strcmp(names[0], "-") != 0;
            for (; count[p].exists && *names != NULL; names++)
                zkr__part_count(&count[p], p, *names);
        }
        if (zkr__is_semaphore(&count[ZKR__PART_LEASES],
                              &count[ZKR__PART_QUEUE]) != cases[i].is)
            fail_msg("case %zu is another", i);
    }
    assert_int_equal(zkr__part_of("locks/a"), ZKR__PART_QUEUE);
    assert_int_equal(zkr__part_of("block/a"), ZKR__PART_PATH);
    assert_int_equal(zkr__part_of("lockss/a"), ZKR__PART_PATH);
    assert_int_equal(zkr__part_of_dir("locks"), ZKR__PART_QUEUE);
    assert_int_equal(zkr__part_of_dir("lock"), ZKR__PART_PATH);
}
