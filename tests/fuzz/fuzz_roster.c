/* Who waits for whom, against looking at every pair, and against what the
 * contenders themselves would do. */
#include "base/error.h"
#include "fuzz.h"
#include "inspect/roster.h"
#include "lock/queue.h"

static struct zkr_participant *items;
static size_t count;

static bool is(const struct zkr_participant *p, const char *marker)
{
    return strcmp(p->marker, marker) == 0;
}

/* A later one of the order stands in the way only with the same number. */
static bool blocks(const struct zkr_participant *a,
                   const struct zkr_participant *b)
{
    bool downgrade = a->kind != b->kind && a->sequence == b->sequence &&
                     a->session_id == b->session_id && a->session_id != 0;

    if (a == b || a->sequence > b->sequence || downgrade)
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

static void check_order(void)
{
    for (size_t i = 1; i < count; i++) {
        const struct zkr_participant *a = &items[i - 1];
        const struct zkr_participant *b = &items[i];

        CHECK(
            b->kind == ZKR_PARTICIPANT_FOREIGN ||
            (a->kind != ZKR_PARTICIPANT_FOREIGN && a->sequence <= b->sequence));
    }
}

/* One with a name that our locks know sees it as the queue of a claim does. */
static void check_against_queue(const struct zkr_participant *p)
{
    const char *names[FUZZ_NAMES];
    struct zkr__queue queue;
    int64_t seq;
    size_t n = 0;
    size_t ahead;

    for (size_t i = 0; i < count; i++) {
        names[n++] = items[i].name;
        if (strcmp(names[n - 1], p->name) == 0 && &items[i] != p)
            return; /* listed twice: no server does */
    }
    if (zkr__node_name_parse(p->name, &zkr__known_markers, &seq) ==
        ZKR__FOREIGN)
        return;
    CHECK(zkr__queue_parse(&queue, names, n, &zkr__known_markers, p->name) ==
          ZKR_OK);
    ahead = p->kind == ZKR_PARTICIPANT_SHARED
                ? zkr__queue_last_exclusive(&queue)
                : zkr__queue_last(&queue);
    CHECK((ahead == ZKR__NOBODY) == p->holds);
    CHECK(p->holds ||
          strcmp(queue.ahead[ahead].name, items[p->waits_for].name) == 0);
    zkr__queue_done(&queue);
}

static bool has_dialects_only_we_know(void)
{
    for (size_t i = 0; i < count; i++) {
        if (is(&items[i], "x-") || is(&items[i], "ex") || is(&items[i], "sh"))
            return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = { data, size };
    uint64_t sessions = fuzz_number(&in, 4);
    size_t limit = fuzz_number(&in, 1);
    struct fuzz_names list;

    fuzz_names_read(&list, in.data, in.size);
    CHECK(zkr__roster_new(list.names, list.count, limit, &items, &count) ==
          ZKR_OK);
    CHECK(count <= limit && count <= list.count);
    zkr__roster_settle(items, count);
    check_order();
    check_waits();
    for (size_t i = 0; i < count && !has_dialects_only_we_know(); i++)
        check_against_queue(&items[i]);

    for (size_t i = 0; i < count; i++, sessions >>= 2)
        items[i].session_id = (int64_t)(sessions & 3);
    zkr__roster_settle(items, count);
    check_waits();
    free(items);
    free(list.text);
    return 0;
}
