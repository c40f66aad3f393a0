/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of a lock: the order of its contenders, which of them count as
 * ahead of another, and which one of those it waits for. Claims and inspection
 * share these rules. Pure, except for one array. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/markers.h"

struct zkr__contender {
    const char *name; /* points into the list that was parsed */
    int64_t seq;
    enum zkr__kind kind;
    bool ours;     /* the node of a claim of this session that counts */
    bool left_out; /* it counts for nobody, or not for the one who asks */
    /* The nearest ones before this one in order, of which not all count: an
     * exclusive one, and one that is not ours; or ZKR__NOBODY. */
    size_t exclusive_before;
    size_t other_before;
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
    struct zkr__contender *all; /* in order */
    size_t count;
    size_t foreign; /* names of others, which are not in it */
    uint32_t markers;
};

/* Sorts the contenders among the names. ZKR_OK or ZKR_ENOMEM. */
int zkr__queue_parse(struct zkr__queue *queue, const char *const *names,
                     size_t count, uint32_t markers);

/* Returns the index of the contender of that name, or ZKR__NOBODY. */
size_t zkr__queue_find(const struct zkr__queue *queue, const char *name);

/* Returns how many contenders count as ahead of the one with that index: it is
 * the index of the last of them, or its own. ZKR__NOBODY: the last of all. */
size_t zkr__queue_ahead(const struct zkr__queue *queue, size_t self);

/* To be called when `ours` has been set for some. */
void zkr__queue_link(struct zkr__queue *queue);

/* The nearest ahead of the contender with the index `self`, without those that
 * are left out; ZKR__NOBODY: of all. */
struct zkr__nearest zkr__queue_nearest(const struct zkr__queue *queue,
                                       size_t self);
/* The last one ahead of it that is not ours, in the same way. */
size_t zkr__queue_other(const struct zkr__queue *queue, size_t self);

void zkr__queue_done(struct zkr__queue *queue);
