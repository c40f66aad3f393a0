/* SPDX-License-Identifier: Apache-2.0 */
/* The gate: while it is shut, no handle of the client becomes unusable.
 *
 * zoo_amulti() of two operations frees an uninitialised pointer when the handle
 * expires, or its credentials are refused, before the first of them has been
 * encoded (3.4 to 3.9). The client's io thread does that at any time, so
 * looking at the state before the call is not enough.
 *
 * But a handle that is CONNECTED expires only after another connection, and for
 * each connection the io thread calls the log callback when it has sent its
 * handshake, before it reads the answer; the state is not CONNECTED then. The
 * gate stops it there. A thread that shuts the gate, and then sees CONNECTED,
 * has time until it opens the gate again.
 *
 * On each connection the server answers credentials before anything else. So a
 * session with credentials is usable when its present connection has answered
 * something: the io thread of such a handle, known since the first credentials
 * were answered, counts its connections here. */
#ifndef ZKR__ZK_GATE_H
#define ZKR__ZK_GATE_H

#include <stdbool.h>

/* The connections of one handle with credentials; all members are under the
 * gate. */
struct zkr__gate {
    unsigned connections; /* begun, since the io thread is known */
    unsigned answered;    /* the highest number of one that answered */
    bool any;             /* one has answered */
};

/* Receives each line that the client logs, on any thread. */
void zkr__gate_on_log(const char *line);

/* On the io thread of the handle. */
void zkr__gate_own(struct zkr__gate *gate);

void zkr__gate_shut(void);
void zkr__gate_open(void);

/* With the gate shut: tells whether a connection has ever been seen to begin.
 * If not, the client does not log connections, or its level is too low, and
 * there is no gate. */
bool zkr__gate_works(void);

/* With the gate shut: notes that `connection` has answered. */
void zkr__gate_answered(struct zkr__gate *gate, unsigned connection);
bool zkr__gate_has_answered(const struct zkr__gate *gate);

#endif
