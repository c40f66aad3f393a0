/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the queue that is made of a list of hostile names, against a
 * comparison of every pair. */
#include "base/error.h"
#include "fuzz.h"
#include "protocol/node_name.h"
#include "protocol/queue.h"

static const char *self; /* NULL: the queue of an observer */
static int64_t own_seq;

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
        struct zkr__contender c = { .name = list->names[i] };

        c.kind = zkr__node_name_parse(c.name, FUZZ_QUEUED, &c.seq);
        if (c.kind == ZKR__FOREIGN ||
            (self != NULL && (strcmp(c.name, self) == 0 || c.seq > own_seq)) ||
            (exclusive && c.kind != ZKR__EXCLUSIVE))
            continue;
        if (!found || is_behind(&c, ret_nearest))
            *ret_nearest = c;
        found = true;
    }
    return found;
}

static void check_wait(const struct zkr__queue *queue, size_t at,
                       const struct fuzz_names *list, bool exclusive)
{
    struct zkr__nearest found = zkr__queue_nearest(queue, at);
    size_t i =
        exclusive ? zkr__nearest_exclusive(&found) : zkr__nearest_any(&found);
    struct zkr__contender want = { .name = NULL };
    bool waits = nearest(list, exclusive, &want);

    CHECK((i != ZKR__NOBODY) == waits);
    if (waits) {
        CHECK(strcmp(queue->all[i].name, want.name) == 0);
        CHECK(queue->all[i].seq == want.seq);
        CHECK(queue->all[i].kind == want.kind);
        CHECK(self == NULL || strcmp(want.name, self) != 0);
    }
}

/* Each contender is there once, and is found. */
static void check_all_there(const struct zkr__queue *queue,
                            const struct fuzz_names *list)
{
    for (size_t i = 0; i < list->count; i++) {
        int64_t seq;
        bool contends = zkr__node_name_parse(list->names[i], FUZZ_QUEUED,
                                             &seq) != ZKR__FOREIGN;
        size_t at = zkr__queue_find(queue, list->names[i]);

        CHECK((at != ZKR__NOBODY) == contends);
        CHECK(!contends || strcmp(queue->all[at].name, list->names[i]) == 0);
    }
    for (size_t i = 1; i < queue->count; i++)
        CHECK(is_behind(&queue->all[i], &queue->all[i - 1]));
}

/* Without those that are ours, and without those that are left out as well,
 * compared with a walk over all. */
static void check_others(struct zkr__queue *queue, size_t at)
{
    size_t want = ZKR__NOBODY;

    for (size_t i = 0; i < queue->count; i++) {
        queue->all[i].ours = i % 3 == 0;
        queue->all[i].left_out = i % 5 == 1;
    }
    zkr__queue_link(queue);
    for (size_t i = 0; i < queue->count; i++) {
        if (i != at && i % 3 != 0 && i % 5 != 1 &&
            (at == ZKR__NOBODY || queue->all[i].seq <= queue->all[at].seq))
            want = i;
    }
    CHECK(zkr__queue_other(queue, at) == want);
}

static void check_queue(const struct fuzz_names *list)
{
    struct zkr__queue queue;
    size_t at = ZKR__NOBODY;

    own_seq = INT64_MAX;
    CHECK(zkr__queue_parse(&queue, list->names, list->count, FUZZ_QUEUED) ==
          ZKR_OK);
    check_all_there(&queue, list);
    if (self != NULL) {
        at = zkr__queue_find(&queue, self);
        (void)zkr__node_name_parse(self, FUZZ_QUEUED, &own_seq);
    }
    if (self == NULL || at != ZKR__NOBODY) {
        check_wait(&queue, at, list, false);
        check_wait(&queue, at, list, true);
        check_others(&queue, at);
    }
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
