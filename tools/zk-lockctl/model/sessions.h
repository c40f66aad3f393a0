/* SPDX-License-Identifier: Apache-2.0 */
/* The stays of each session that are there at one time, in all locks: they end
 * with it. */
#ifndef MODEL_SESSIONS_H
#define MODEL_SESSIONS_H

#include "model/stay.h"

struct sessions {
    void *tree;
};

/* The stay of a node of no session is in no list. False: out of memory. */
bool sessions_add(struct sessions *sessions, struct stay *stay);
void sessions_remove(struct sessions *sessions, struct stay *stay);
/* The first stay of that session, the others are behind it (stay->next); NULL:
 * it has none. */
struct stay *sessions_stays(const struct sessions *sessions,
                            int64_t session_id);
void sessions_done(struct sessions *sessions);

#endif
