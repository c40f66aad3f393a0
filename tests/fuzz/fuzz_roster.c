/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the roster: whom each contender waits for, against a comparison of
 * every pair, and against the node that a claim of the recipe would watch. */
#include "base/error.h"
#include "fuzz.h"
#include "protocol/queue.h"
#include "protocol/roster.h"
#include "recipes.h"

static struct zkr_participant *items;
static size_t count;

static bool is(const struct zkr_participant *p, const char *marker)
{
    return strcmp(p->marker, marker) == 0;
}

/* A writer and the reader that it is being turned into. */
static bool is_downgrade(const struct zkr_participant *a,
                         const struct zkr_participant *b)
{
    return a->kind != b->kind && a->sequence == b->sequence &&
           a->session_id == b->session_id && a->session_id != 0;
}

/* A later contender is in the way only with the same number. */
static bool blocks(const struct zkr_participant *a,
                   const struct zkr_participant *b)
{
    if (a == b || a->sequence > b->sequence || is_downgrade(a, b))
        return false;
    if (a->kind == ZKR_PARTICIPANT_FOREIGN ||
        b->kind == ZKR_PARTICIPANT_FOREIGN || is(a, ZKR__UNFAIR_NAME) ||
        is(b, ZKR__UNFAIR_NAME))
        return false;
    return a->kind == ZKR_PARTICIPANT_EXCLUSIVE ||
           b->kind == ZKR_PARTICIPANT_EXCLUSIVE;
}

static void check_waits(void)
{
    for (size_t i = 0; i < count; i++) {
        size_t want = ZKR__NOBODY;

        for (size_t k = 0; k < count; k++) {
            if (blocks(&items[k], &items[i]))
                want = k;
        }
        CHECK(items[i].waits_for == want);
        CHECK(items[i].holds == (want == ZKR__NOBODY &&
                                 items[i].kind != ZKR_PARTICIPANT_FOREIGN));
    }
}

/* A claim of that recipe, with the node of `p`, watches the node that the
 * roster says. The partners of a downgrade leave each other out. */
static void check_watched(const struct zkr_participant *p,
                          const struct zkr__recipe *recipe, uint32_t markers)
{
    const char *names[FUZZ_NAMES];
    struct zkr__queue queue;

    for (size_t i = 0; i < count; i++)
        names[i] = items[i].name;
    CHECK(zkr__queue_parse(&queue, names, count, markers) == ZKR_OK);
    for (size_t i = 0; i < count; i++) {
        size_t at = zkr__queue_find(&queue, items[i].name);

        if (is_downgrade(&items[i], p) && at != ZKR__NOBODY)
            queue.all[at].left_out = true;
    }
    struct zkr__nearest nearest =
        zkr__queue_nearest(&queue, zkr__queue_find(&queue, p->name));
    size_t watched = recipe->waits_for(&nearest);
    CHECK((watched == ZKR__NOBODY) == (p->waits_for == ZKR__NOBODY));
    CHECK(watched == ZKR__NOBODY ||
          strcmp(queue.all[watched].name, items[p->waits_for].name) == 0);
    zkr__queue_done(&queue);
}

/* No server lists a name twice; a queue counts it once. */
static bool are_listed_once(void)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = i + 1; k < count; k++) {
            if (strcmp(items[i].name, items[k].name) == 0)
                return false;
        }
    }
    return true;
}

/* The markers of the list, as bits. */
static uint32_t markers_seen(void)
{
    uint32_t seen = 0;

    for (size_t i = 0; i < count; i++) {
        for (unsigned k = 0; k < ZKR__MARKER_COUNT; k++) {
            if (is(&items[i], zkr__markers[k].text))
                seen |= ZKR__MARKER_BIT(k);
        }
    }
    return seen & FUZZ_QUEUED;
}

/* Compares each contender with the rule of its kind, for all markers of the
 * list; and with the recipe itself, where the recipe knows all of them. */
static void check_all_watched(void)
{
    uint32_t seen = markers_seen();

    if (!are_listed_once())
        return;
    for (size_t i = 0; i < count; i++) {
        const struct zkr_participant *p = &items[i];
        const struct zkr__recipe *recipe = p->kind == ZKR_PARTICIPANT_SHARED
                                               ? &zkr__reading_recipe
                                               : &zkr__writing_recipe;

        if (p->kind == ZKR_PARTICIPANT_FOREIGN || is(p, ZKR__UNFAIR_NAME))
            continue;
        check_watched(p, recipe, FUZZ_QUEUED);
        if ((seen & ~recipe->markers) == 0)
            check_watched(p, recipe, recipe->markers);
        if ((seen & ~zkr__mutex_recipe.markers) == 0)
            check_watched(p, &zkr__mutex_recipe, zkr__mutex_recipe.markers);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = { data, size };
    uint64_t sessions = fuzz_number(&in, 4);
    size_t limit = fuzz_number(&in, 1);
    struct fuzz_names list;

    fuzz_names_read(&list, in.data, in.size);
    items = calloc(list.count + 1, sizeof(*items));
    CHECK(items != NULL);
    for (size_t i = 0; i < list.count; i++)
        items[i].name = list.names[i];
    count = zkr__roster_order(items, list.count);
    CHECK(count <= list.count);
    if (count > limit)
        count = limit;
    zkr__roster_settle(items, count);
    for (size_t i = 1; i < count; i++)
        CHECK(items[i].kind == ZKR_PARTICIPANT_FOREIGN ||
              (items[i - 1].kind != ZKR_PARTICIPANT_FOREIGN &&
               items[i - 1].sequence <= items[i].sequence));
    check_waits();
    check_all_watched();

    for (size_t i = 0; i < count; i++, sessions >>= 2)
        items[i].session_id = (int64_t)(sessions & 3);
    zkr__roster_settle(items, count);
    check_waits();
    check_all_watched();
    free(items);
    free(list.text);
    return 0;
}
