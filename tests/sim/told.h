/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle of listeners: they must be told each change of a state, once, in
 * order. */
#pragma once

#include "oracle.h"

/* zkr_grant_listen() and zkr_session_listen(), with a judge before the callback
 * of the user, which may be NULL. */
void told_of_grant(const struct attempt *a, zkr_grant *grant, zkr_grant_fn fn,
                   void *user);
void told_of_session(int process, zkr_session *session, zkr_session_fn fn,
                     void *user, zkr_listener **ret_listener);

/* The listener of that grant, or session, is about to be removed, and then it
 * has been: from then on it must not be called. */
void told_ends(const void *object);
void told_ended(const void *object);

/* To be called when nothing is under way: every change must have been
 * reported. */
void told_quiet(void);
