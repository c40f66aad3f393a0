/* SPDX-License-Identifier: Apache-2.0 */
/* The contenders of a history that are in one queue at one time, in its order:
 * that of their numbers. */
#ifndef MODEL_STAY_QUEUE_H
#define MODEL_STAY_QUEUE_H

#include "model/stay.h"

struct queue {
    struct stay **items;
    size_t count;
    size_t settled; /* so many at the front are known to hold, and to let others
                       hold: front.h */
};

/* NULL: there is none of that name. */
struct stay *queue_find(const struct queue *queue, const char *name);
/* False: out of memory. */
bool queue_add(struct queue *queue, struct stay *stay);
void queue_remove(struct queue *queue, const struct stay *stay);
/* Where those end that have the number of the one at `start`. */
size_t queue_end_of_equals(const struct queue *queue, size_t start);

#endif
