/* SPDX-License-Identifier: Apache-2.0 */
/* A search for our own node, when a reply did not come. */
#pragma once

#include "protocol/node_name.h"
#include "session/locked.h"
#include "session/op.h"

struct zkr__claim;
struct zkr__line;

struct zkr__search {
    struct zkr__op op;
    /* Set by zkr__way.seek(): the read, and how to find our node in it. */
    const char *dir;
    enum zkr__zk_type read; /* CHILDREN of dir, or GET of the one node */
    const char *path;       /* the path of that read */
    /* Returns the name of our node (the lowest, if there are more), or NULL
     * when it is not in the answer. */
    const char *(*find)(struct zkr__search *search,
                        const struct zkr__zk_reply *reply);
    /* By name: */
    const char *tag; /* what our nodes begin with, tag_len bytes */
    size_t tag_len;
    uint32_t markers;
    /* The ensemble has answered that this one is not there: a server that shows
     * it all the same has a ghost. NULL or "": none. */
    const char *gone;
    /* By data, which other clients may have replaced: */
    int64_t czxid; /* 0: not known */
    const char *data;
    size_t data_len;
    const struct zkr__line *line; /* of the claims that may know a node */

    /* Under the session lock. ZKR_OK, or the answer that ended the search. No
     * node, or no directory, is an answer too: ZKR_OK, and `found` is NULL. */
    void (*done)(struct zkr__search *search, int rc, const char *found);
};

void zkr__search_init(struct zkr__search *search, struct zkr_session *s,
                      struct zkr__ref *owner);

/* The search begins with a write: another server than the one that may have
 * carried out the request could lag behind it, and "not there" must mean that
 * it was not, and will not be, carried out. A sync is not enough: a leader that
 * the others have left answers it. `retry` as for an operation. */
void zkr__search_start_locked(struct zkr__search *search,
                              enum zkr__op_retry retry,
                              void (*done)(struct zkr__search *, int rc,
                                           const char *found)) ZKR__LOCKED;

/* zkr__way.seek() of the ways whose nodes have names with a UUID. */
void zkr__seek_by_name(const struct zkr__claim *c, struct zkr__search *search);
