/* The queue of a lock: the order of its contenders, which of them count as
 * ahead of another, and which one of those it waits for. Claims and observers
 * share these rules. Pure, except for one array. */
#ifndef ZKR__QUEUE_H
#define ZKR__QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lock/markers.h"

struct zkr__contender {
    const char *name; /* points into the list that was parsed */
    int64_t seq;
    enum zkr__kind kind;
};

#define ZKR__NOBODY SIZE_MAX

/* The order of every queue, as qsort() wants it: by number; of those with the
 * same number the exclusive ones last; then by name. */
int zkr__queue_compare(const struct zkr__contender *a,
                       const struct zkr__contender *b);

/* Tells whether `a` counts as ahead of `b`, another contender. With the same
 * number each counts as ahead of the other: such nodes are made on purpose (a
 * downgraded write lock) or by an exhausted counter, and both must be waited
 * for. The exclusive ones of them are waited for first, because they are last
 * in order: a reader that replaces a writer is on its own when the writer has
 * gone. */
bool zkr__queue_is_ahead(const struct zkr__contender *a,
                         const struct zkr__contender *b);

/* The nearest contenders ahead: the index of the last one in order, and of the
 * last exclusive one, or ZKR__NOBODY. zkr__nearest_pass() takes them in
 * order. */
struct zkr__nearest {
    size_t any;
    size_t exclusive;
};

#define ZKR__NEAREST_INIT                                                      \
    {                                                                          \
        ZKR__NOBODY, ZKR__NOBODY                                               \
    }

void zkr__nearest_pass(struct zkr__nearest *nearest, size_t index,
                       enum zkr__kind kind);

/* Returns which one to wait for: the nearest ahead for an exclusive contender;
 * the nearest exclusive one for a contender that shares. */
size_t zkr__nearest_any(const struct zkr__nearest *nearest);
size_t zkr__nearest_exclusive(const struct zkr__nearest *nearest);

struct zkr__queue {
    struct zkr__contender *ahead; /* in order; the last is right before us */
    size_t count;
    struct zkr__nearest nearest; /* the nearest among `ahead` */
    bool listed;                 /* our own node is in the list */
};

/* Sort the contenders ahead of the node `self`; all of them when `self` is
 * NULL. ZKR_OK or ZKR_ENOMEM. */
int zkr__queue_parse(struct zkr__queue *queue, const char *const *names,
                     size_t count, uint32_t markers, const char *self);

/* Leaves one contender out of those ahead of us. Returns false when it is not
 * there. */
bool zkr__queue_leave_out(struct zkr__queue *queue, const char *name);

void zkr__queue_done(struct zkr__queue *queue);

#endif
