/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the nodes that came and went in a directory between two lists of it.
 * Pure.
 *
 * The server counts the creates and the deletes of children in one number
 * (cversion). With the number of the children that are there, the two can be
 * told apart: of C creates and D deletes, C + D is the cversion, and C - D
 * children are left. So the creates from one list to the next are known, and
 * those of them that the second list does not show were deleted before it. */
#pragma once

#include <stdint.h>

#include <zkrecipes/client.h>

/* The creates since the directory was made, modulo 2^31. */
static inline uint32_t tally_creates(const struct zkr_stat *stat)
{
    return ((uint32_t)stat->cversion + (uint32_t)stat->children) / 2;
}

/* How many nodes came and went unseen, when the later list has `seen` nodes
 * that the earlier one does not have. For the first list of a directory that is
 * new, the creates before are 0. */
static inline uint32_t tally_missed(uint32_t creates_before,
                                    const struct zkr_stat *after, uint32_t seen)
{
    uint32_t creates = (tally_creates(after) - creates_before) & 0x7fffffff;

    /* a server that counts backwards has another history */
    return creates > seen && creates < 0x40000000 ? creates - seen : 0;
}

/* Tells whether a list is older than one that was made of these children
 * before; both are of the same directory. */
static inline int tally_is_older(const struct zkr_stat *list,
                                 const struct zkr_stat *than)
{
    return (int32_t)((uint32_t)list->cversion - (uint32_t)than->cversion) < 0;
}
