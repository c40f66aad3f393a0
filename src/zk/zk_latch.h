/* SPDX-License-Identifier: Apache-2.0 */
/* The latch: while it is shut, no handle of the client becomes unusable.
 *
 * zoo_amulti() of two operations frees an uninitialised pointer when the handle
 * expires, or its credentials are refused, before the first of them has been
 * encoded (3.4 to 3.9). The client's io thread does that at any time, so
 * looking at the state before the call is not enough.
 *
 * But a handle that is CONNECTED expires only after another connection, and for
 * each connection the io thread calls the log callback when it has sent its
 * handshake, before it reads the answer; the state is not CONNECTED then. The
 * latch stops it there. A thread that shuts the latch, and then sees CONNECTED,
 * has time until it opens the latch again.
 *
 * On each connection the server answers credentials before anything else. So a
 * session with credentials is usable when its present connection has answered
 * something: the io thread of such a handle, known since the first credentials
 * were answered, counts its connections here. */
#pragma once

#include <stdbool.h>

/* The connections of one handle with credentials; all members are under the
 * latch. */
struct zkr__latch {
    unsigned connections; /* begun, since the io thread is known */
    unsigned answered;    /* the highest number of one that answered */
    bool any;             /* one has answered */
};

/* Receives each line that the client logs, on any thread. */
void zkr__latch_on_log(const char *line);

/* On the io thread of the handle. */
void zkr__latch_own(struct zkr__latch *latch);

void zkr__latch_shut(void);
void zkr__latch_open(void);

/* With the latch shut: tells whether a connection has ever been seen to begin.
 * If not, the client does not log connections, or its level is too low, and
 * there is no latch. */
bool zkr__latch_works(void);

/* With the latch shut: notes that `connection` has answered. */
void zkr__latch_answered(struct zkr__latch *latch, unsigned connection);
bool zkr__latch_has_answered(const struct zkr__latch *latch);

/* With the latch shut: as long as a caller holds the client's log level, the
 * client logs INFO, so that each connection is seen.
 *
 * The process has one level: while it is raised, handles of the program that
 * have no log callback print more, too; so it is raised as seldom as possible.
 * A level that the program sets meanwhile stays, unless it is lower than
 * needed. */
void zkr__latch_hold_level(void);
void zkr__latch_let_level_go(void);
