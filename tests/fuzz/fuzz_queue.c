/* Fuzzes the queue that is made of a list of hostile names, against a
 * comparison of every pair. */
#include "base/error.h"
#include "fuzz.h"
#include "lock/node_name.h"
#include "lock/queue.h"

/* Of all who stand in a queue: the unfair mutex has none. */
static const uint32_t markers =
    ZKR__ALL_MARKERS & ~ZKR__MARKER_BIT(ZKR__UNFAIR_HOLDER);
static const char *self; /* NULL: the queue of an observer */
static int64_t own_seq;

static bool is_ahead(const char *name, struct zkr__contender *c)
{
    c->name = name;
    c->kind = zkr__node_name_parse(name, markers, &c->seq);
    if (c->kind == ZKR__FOREIGN)
        return false;
    return self == NULL || (strcmp(name, self) != 0 && c->seq <= own_seq);
}

static bool is_behind(const struct zkr__contender *a,
                      const struct zkr__contender *b)
{
    if (a->seq != b->seq)
        return a->seq > b->seq;
    if (a->kind != b->kind)
        return a->kind == ZKR__EXCLUSIVE;
    return strcmp(a->name, b->name) > 0;
}

/* Returns the nearest contender ahead; only exclusive ones count if `exclusive`
 * says so. */
static bool nearest(const struct fuzz_names *list, bool exclusive,
                    struct zkr__contender *ret_nearest)
{
    bool found = false;

    for (size_t i = 0; i < list->count; i++) {
        struct zkr__contender c;

        if (!is_ahead(list->names[i], &c) ||
            (exclusive && c.kind != ZKR__EXCLUSIVE))
            continue;
        if (!found || is_behind(&c, ret_nearest))
            *ret_nearest = c;
        found = true;
    }
    return found;
}

static void check_wait(const struct zkr__queue *queue,
                       const struct fuzz_names *list, bool exclusive)
{
    size_t i = exclusive ? zkr__nearest_exclusive(&queue->nearest)
                         : zkr__nearest_any(&queue->nearest);
    struct zkr__contender want = { .name = NULL };
    bool waits = queue->listed || self == NULL;

    waits = waits && nearest(list, exclusive, &want);
    CHECK((i != ZKR__NOBODY) == waits);
    if (waits) {
        CHECK(strcmp(queue->ahead[i].name, want.name) == 0);
        CHECK(queue->ahead[i].seq == want.seq);
        CHECK(queue->ahead[i].kind == want.kind);
        CHECK(self == NULL || strcmp(want.name, self) != 0);
    }
}

static void check_all_there(const struct zkr__queue *queue,
                            const struct fuzz_names *list)
{
    struct zkr__contender c;
    size_t want = 0;

    for (size_t i = 0; i < list->count; i++)
        want += is_ahead(list->names[i], &c);
    CHECK(queue->count == (queue->listed || self == NULL ? want : 0));
    for (size_t i = 1; i < queue->count; i++)
        CHECK(queue->ahead[i - 1].seq <= queue->ahead[i].seq);
}

static void check_leave_out(struct zkr__queue *queue, const char *name)
{
    size_t count = queue->count;
    bool there = false;

    for (size_t i = 0; i < count; i++)
        there = there || strcmp(queue->ahead[i].name, name) == 0;
    CHECK(zkr__queue_leave_out(queue, name) == there);
    CHECK(queue->count == count - there);
}

static void check_queue(const struct fuzz_names *list)
{
    struct zkr__queue queue;
    bool listed = false;

    own_seq = INT64_MAX;
    for (size_t i = 0; self != NULL && i < list->count; i++)
        listed = listed || strcmp(list->names[i], self) == 0;
    if (self != NULL)
        (void)zkr__node_name_parse(self, markers, &own_seq);

    CHECK(zkr__queue_parse(&queue, list->names, list->count, markers, self) ==
          ZKR_OK);
    CHECK(queue.listed == listed);
    check_all_there(&queue, list);
    check_wait(&queue, list, false);
    check_wait(&queue, list, true);
    for (size_t i = 0; i < list->count; i++)
        check_leave_out(&queue, list->names[i]);
    zkr__queue_done(&queue);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_names list;

    fuzz_names_read(&list, data, size);
    self = NULL;
    check_queue(&list);
    for (size_t i = 0; i < list.count && i < 8; i++) {
        self = list.names[i];
        check_queue(&list);
    }
    self = "lock-0000000003"; /* in the list or not */
    check_queue(&list);
    free(list.text);
    return 0;
}
