/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the order of contenders, and of whom each of them waits for. */
#include "protocol/node_name.h"
#include "protocol/queue.h"
#include "protocol/roster.h"
#include "recipes.h"
#include "scope.h"
#include "unit.h"

#define NOBODY SIZE_MAX

#define NAME_SIZE (ZKR__NAME_MAX + ZKR__SEQ_DIGITS + 1)

static struct zkr_participant *items;
static size_t count;

static void list(const char *const *names, size_t n)
{
    free(items);
    items = calloc(n + 1, sizeof(*items));
    assert_non_null(items);
    for (size_t i = 0; i < n; i++)
        items[i].name = names[i];
    count = zkr__roster_order(items, n);
}

static int teardown(void)
{
    free(items);
    items = NULL;
    return 0;
}

FIXTURE(NULL, teardown)

/* clang-format off */
static const struct row {
    const char *name;
    const char *names[8];
    const char *sorted[8]; /* where the order is another one */
    const char *kinds;     /* in order: shared, exclusive or foreign */
    size_t waits[7];       /* likewise */
    int64_t sessions[7];
    size_t limit; /* 0: none */
} rows[] = {
    { "nobody", .kinds = "" },
    { "foreign nodes are last",
      { "zzz", "lock-0000000009", "abc", "lock-", "x-lock-0000000003" },
      { "x-lock-0000000003", "lock-0000000009", "abc", "lock-", "zzz" },
      .kinds = "xxfff", .waits = { NOBODY, 0, NOBODY, NOBODY, NOBODY } },
    { "an unfair holder is outside of the queue",
      { "holder", "lock-0000000000", "lock-0000000001", "holders" },
      .kinds = "xxxf", .waits = { NOBODY, NOBODY, 1, NOBODY } },
    { "writers wait for the one before",
      { "a-__WRIT__1", "b-__READ__2", "c-__WRIT__3", "d-__WRIT__4" },
      .kinds = "xsxx", .waits = { NOBODY, 0, 1, 2 } },
    { "readers wait for the nearest writer",
      { "a-__READ__1", "b-__READ__2", "c-__WRIT__3", "d-__READ__4",
        "e-__rlock__5", "f-__lock__6", "g-__rlock__7" },
      .kinds = "ssxssxs", .waits = { NOBODY, NOBODY, 1, 2, 2, 4, 5 } },
    { "negative numbers are first",
      { "lock-0000000000", "lock--2147483647", "lock--2147483648" },
      { "lock--2147483648", "lock--2147483647", "lock-0000000000" },
      .kinds = "xxx", .waits = { NOBODY, 0, 1 } },
    { "equal numbers wait for each other",
      { "a-lock-2147483647", "b-lock-2147483647" },
      .kinds = "xx", .waits = { 1, 0 } },
    { "equal numbers of one session wait for each other",
      { "a-lock-2147483647", "b-lock-2147483647" },
      .kinds = "xx", .waits = { 1, 0 }, .sessions = { 7, 7 } },
    { "a downgrade stands side by side",
      { "x-__READ__5", "y-__WRIT__5", "z-__READ__6", "w-__WRIT__7" },
      .kinds = "sxsx", .waits = { NOBODY, NOBODY, 1, 2 },
      .sessions = { 7, 7 } },
    /* The roster once ordered equal numbers the other way round: behind a
     * writer that also reads, it named the reader's node, while the library
     * watched the writer's. */
    { "behind a downgrade the writer is waited for",
      { "a-__READ__5", "b-__WRIT__5", "c-__WRIT__6" },
      .kinds = "sxx", .waits = { NOBODY, NOBODY, 1 }, .sessions = { 7, 7, 8 } },
    { "a downgrade waits with its writer",
      { "a-__WRIT__1", "b-__WRIT__5", "c-__READ__5" },
      { "a-__WRIT__1", "c-__READ__5", "b-__WRIT__5" },
      .kinds = "xsx", .waits = { NOBODY, 0, 0 }, .sessions = { 7, 7, 7 } },
    { "a reader beside a writer, of no session both",
      { "a-__WRIT__5", "b-__READ__5" }, { "b-__READ__5", "a-__WRIT__5" },
      .kinds = "sx", .waits = { 1, 0 } },
    { "a reader of another session is no downgrade",
      { "a-__WRIT__5", "b-__READ__5" }, { "b-__READ__5", "a-__WRIT__5" },
      .kinds = "sx", .waits = { 1, 0 }, .sessions = { 8, 7 } },
    { "the limit keeps the head of the queue",
      { "abc", "lock-3", "lock-1", "lock-2" }, { "lock-1", "lock-2" },
      .kinds = "xx", .waits = { NOBODY, 0 }, .limit = 2 },
    /* A server that lies could make us request nodes that are no children. */
    { "a node that is no child is left out",
      { "", ".", "..", "a/b", "/lock-1", "lock-2" }, { "lock-2" },
      .kinds = "x", .waits = { NOBODY } },
    { "any byte may be in a name",
      { "\x1b[2J-lock-0000000001", "a\nb__READ__0000000002", "\xff\xfe__rlock__3" },
      .kinds = "xss", .waits = { NOBODY, 0, 0 } },
};
/* clang-format on */

TEST_ROWS(roster, rows, row)
{
    const char *const *sorted = row->sorted[0] ? row->sorted : row->names;

    list(row->names, count_texts(row->names));
    if (row->limit != 0)
        count = row->limit;
    assert_int_equal(count, count_texts(sorted));
    for (size_t i = 0; i < count; i++) {
        int64_t seq = 0;
        const struct zkr__marker_row *marker =
            zkr__node_name_marker(items[i].name, ZKR__ALL_MARKERS, &seq);

        assert_string_equal(items[i].name, sorted[i]);
        assert_string_equal(items[i].marker,
                            marker == NULL ? "" : marker->text);
        assert_int_equal(items[i].sequence, seq);
        assert_int_equal(items[i].kind,
                         row->kinds[i] == 'f'   ? ZKR_PARTICIPANT_FOREIGN
                         : row->kinds[i] == 's' ? ZKR_PARTICIPANT_SHARED
                                                : ZKR_PARTICIPANT_EXCLUSIVE);
        items[i].session_id = row->sessions[i];
    }
    zkr__roster_settle(items, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(items[i].waits_for, row->waits[i]);
        assert_int_equal(items[i].holds,
                         row->kinds[i] != 'f' && row->waits[i] == NOBODY);
    }
}

/* A session that has a permit and queues for another one holds the first: only
 * a lease that is younger than the claim may be one too many. */
TEST(a_lease_of_before_the_claim_holds)
{
    static const char *const names[] = { "leases/a-lease-0000000001",
                                         "leases/b-lease-0000000002",
                                         "locks/c-lock-0000000003" };

    for (int64_t newest = 6; newest <= 8; newest += 2) {
        list(names, COUNT(names));
        for (size_t i = 0; i < count; i++)
            items[i].token = (const int64_t[]){ 5, newest, 7 }[i];
        items[1].session_id = items[2].session_id = 1;
        zkr__roster_settle(items, count);
        assert_true(items[0].holds);
        assert_int_equal(items[1].holds, newest < 7);
        assert_false(items[2].holds);
    }
}

/* clang-format off */
static const struct made {
    const char *name;
    const char *names[8];
    /* Who is in it, "!" behind those that hold; and of these how many are to be
     * read: of themselves, for the holders, for the next one, for both. */
    const char *text;
} made[] = {
    { "a queue, beside what is in a directory",
      { "lock-2", "abc", "leases/a-lock-1", "lock-3", "lock-1" },
      "lock-1! lock-2 lock-3 abc 0 1 2 2" },
    { "readers", { "a-__READ__1", "b-__READ__2", "c-__WRIT__3", "d-__WRIT__4" },
      "a-__READ__1! b-__READ__2! c-__WRIT__3 d-__WRIT__4 0 2 3 3" },
    { "a semaphore",
      { "leases", "locks", "leases/b-lease-2", "leases/a-lease-1", "locks/c-lock-1", "locks/d-lock-2" },
      "leases/a-lease-1! leases/b-lease-2! locks/c-lock-1 locks/d-lock-2 (semaphore) 3 3 3 3" },
    { "a lease is enough", { "locks", "leases/a-lease-1", "leases/x" },
      "leases/a-lease-1! leases/x (semaphore) 1 1 1 1" },
    { "nobody in both directories", { "leases", "locks", "notes" }, "notes (semaphore) 0 0 0 0" },
    { "a queue with its directories", { "leases", "locks", "locks/c-lock-1" },
      "locks/c-lock-1 (semaphore) 1 1 1 1" },
    { "something in leases", { "leases", "locks", "leases/x" }, "leases locks 0 0 0 0" },
    { "without leases", { "locks", "locks/c-lock-1" }, "locks 0 0 0 0" },
    { "without a queue", { "leases" }, "leases 0 0 0 0" },
    { "another lock in leases",
      { "leases", "locks", "leases/a-lock-1", "locks/b-lock-1" }, "leases locks 0 0 0 0" },
    { "another lock in locks", { "leases", "locks", "locks/a-__READ__1" }, "leases locks 0 0 0 0" },
};
/* clang-format on */

TEST_ROWS(a_list_of_nodes, made, row)
{
    static const uint32_t flags[] = { 0, ZKR_PARTICIPANTS_HOLDERS,
                                      ZKR_PARTICIPANTS_NEXT,
                                      ZKR_PARTICIPANTS_HOLDERS |
                                          ZKR_PARTICIPANTS_NEXT };
    struct zkr_participant nodes[COUNT(row->names)] = { 0 };
    size_t n = count_texts(row->names);
    const char *text = "";

    for (size_t i = 0; i < n; i++)
        nodes[i].name = row->names[i];
    AUTO(participants) list = zkr__roster_make(nodes, n);
    for (size_t i = 0; i < list->count; i++)
        text = textf("%s%s%s ", text, list->items[i].name,
                     list->items[i].holds ? "!" : "");
    if (list->semaphore)
        text = textf("%s(semaphore) ", text);
    for (size_t i = 0; i < COUNT(flags); i++)
        text = textf("%s%s%zu", text, i == 0 ? "" : " ",
                     zkr__roster_least(list->items, list->count, flags[i]));
    assert_string_equal(text, row->text);
}

TEST(data_of_a_node_is_cut)
{
    static const char data[ZKR_PARTICIPANT_DATA_MAX + 1];
    const struct zkr_participant node = { .name = "lock-1",
                                          .data = data,
                                          .data_size = sizeof(data) };
    AUTO(participants) made_of_it = zkr__roster_make(&node, 1);

    assert_int_equal(made_of_it->items[0].data_size, ZKR_PARTICIPANT_DATA_MAX);
    assert_int_equal(made_of_it->items[0].data[ZKR_PARTICIPANT_DATA_MAX], 0);
}

/* Returns the partner in a downgrade, or NULL. With a partner the recipe is not
 * asked whom it waits for. */
static const struct zkr_participant *beside(const struct zkr_participant *p)
{
    for (size_t i = 0; i < count; i++) {
        const struct zkr_participant *q = &items[i];

        if (q->kind != ZKR_PARTICIPANT_FOREIGN && q->kind != p->kind &&
            q->sequence == p->sequence && q->session_id == p->session_id)
            return q;
    }
    return NULL;
}

/* A claim with that node would watch the one that the roster names. */
static void assert_watched(const struct zkr__recipe *exclusive,
                           const struct zkr__recipe *shared,
                           const char *const *names, size_t n)
{
    for (size_t i = 0; i < count; i++) {
        const struct zkr_participant *p = &items[i];

        if (p->kind == ZKR_PARTICIPANT_FOREIGN ||
            strcmp(p->marker, ZKR__UNFAIR_NAME) == 0)
            continue;
        const struct zkr__recipe *recipe =
            p->kind == ZKR_PARTICIPANT_SHARED ? shared : exclusive;
        const struct zkr_participant *partner = beside(p);
        struct zkr__queue queue;

        ok(zkr__queue_parse(&queue, names, n, recipe->markers));
        size_t at =
            partner == NULL ? NOBODY : zkr__queue_find(&queue, partner->name);
        if (at != NOBODY) /* the recipe knows its marker */
            queue.all[at].left_out = true;
        struct zkr__nearest nearest =
            zkr__queue_nearest(&queue, zkr__queue_find(&queue, p->name));
        at = recipe->waits_for(&nearest);
        if (at == NOBODY)
            assert_int_equal(p->waits_for, NOBODY);
        else
            assert_string_equal(items[p->waits_for].name, queue.all[at].name);
        zkr__queue_done(&queue);
    }
}

/* A name as clients of both layouts write it; one in eight is of no contender.
 * There are few numbers, so that many are equal. */
static void make_name(char name[NAME_SIZE], bool is_mutex, size_t unique,
                      uint64_t *seed)
{
    static const enum zkr__marker markers[] = {
        ZKR__CURATOR_LOCK, ZKR__KAZOO_LOCK, ZKR__CURATOR_WRITE,
        ZKR__CURATOR_READ, ZKR__KAZOO_READ
    };
    enum zkr__marker marker =
        markers[unit_random(seed) % (is_mutex ? 2 : COUNT(markers))];
    int number = (int)(unit_random(seed) % 5) - 1;

    if (unit_random(seed) % 8 == 0) {
        (void)snprintf(name, NAME_SIZE, "%zu-gate-%010d", unique, number);
        return;
    }
    zkr__node_name_build(name, zkr__markers[marker].layout,
                         textf("%08x-0000-4000-8000-%012zx",
                               (unsigned)(unit_random(seed) % 16), unique),
                         marker);
    size_t len = strlen(name);
    (void)snprintf(name + len, NAME_SIZE - len, "%010d", number);
}

/* As real clients, a session has one node at most of each kind and number. */
TEST(claims_watch_whom_the_roster_names)
{
    uint64_t seed = 0x0dde5;
    char names[12][NAME_SIZE];
    const char *pointers[COUNT(names)];

    for (int round = 0; round < 20000; round++) {
        bool is_mutex = round % 2 == 0;
        size_t n = unit_random(&seed) % (COUNT(names) + 1);

        for (size_t i = 0; i < n; i++) {
            make_name(names[i], is_mutex, i, &seed);
            pointers[i] = names[i];
        }
        if (n > 0 && unit_random(&seed) % 8 == 0)
            pointers[0] = "holder"; /* of an unfair mutex: in nobody's way */
        list(pointers, n);
        for (size_t i = 0; i < n; i++)
            items[i].session_id = (int64_t)i + 1;
        for (size_t i = 1; i < n && unit_random(&seed) % 2 == 0; i++) {
            if (beside(&items[i]) == NULL && items[i - 1].kind != items[i].kind)
                items[i].session_id = items[i - 1].session_id;
        }
        zkr__roster_settle(items, count);
        assert_watched(is_mutex ? &zkr__mutex_recipe : &zkr__writing_recipe,
                       &zkr__reading_recipe, pointers, n);
    }
}
