/* The queue of a lock: who is ahead of us, in order. Pure, but for one array.
 */
#ifndef ZKR__QUEUE_H
#define ZKR__QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lock/node_name.h"

struct zkr__contender {
    const char *name; /* points into the list that was parsed */
    int64_t seq;
    enum zkr__kind kind;
};

struct zkr__queue {
    struct zkr__contender *ahead; /* in order; the last is right before us */
    size_t count;
    bool listed; /* our own node is in the list */
};

#define ZKR__NOBODY SIZE_MAX

/* The order of every queue, as qsort() wants it: by number; of those with the
 * same number the exclusive ones last; then by name. */
int zkr__queue_compare(const struct zkr__contender *a,
                       const struct zkr__contender *b);

/* Sort the contenders ahead of the node `self`; all of them when `self` is
 * NULL. A contender with our own sequence number counts as ahead of us: such
 * nodes are made on purpose (a downgraded write lock) or by an exhausted
 * counter, and both must be waited for. The exclusive ones of them are waited
 * for first, because they are last in order: a reader that replaces a writer is
 * on its own when the writer has gone. ZKR_OK or ZKR_ENOMEM. */
int zkr__queue_parse(struct zkr__queue *queue, const char *const *names,
                     size_t count, const struct zkr__markers *markers,
                     const char *self);

/* Leave one contender out of those ahead of us. False: it is not there. */
bool zkr__queue_leave_out(struct zkr__queue *queue, const char *name);

/* Whom to wait for: the contender right before us; or, of those who share, the
 * nearest who does not. ZKR__NOBODY without. */
size_t zkr__queue_last(const struct zkr__queue *queue);
size_t zkr__queue_last_exclusive(const struct zkr__queue *queue);

void zkr__queue_done(struct zkr__queue *queue);

#endif
