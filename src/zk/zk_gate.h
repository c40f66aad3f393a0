/* The gate: while it is shut, no handle of the client becomes unusable.
 *
 * zoo_amulti() of two operations frees an uninitialised pointer when the handle
 * expires, or its credentials are refused, before the first of them has been
 * encoded (3.4 to 3.9). That is done by the client's io thread, whenever it
 * likes, so looking at the state before the call is not enough.
 *
 * But a handle that is CONNECTED expires only after another connection, and of
 * each connection the io thread tells the log callback when it has sent its
 * handshake, before it reads the answer; the state is not CONNECTED then. The
 * gate stops it there. Who shuts the gate, and then sees CONNECTED, has until
 * it opens the gate again.
 *
 * Credentials are answered on a connection before anything else. So a session
 * that has some is usable when its present connection has answered something:
 * the io thread of such a handle, known since the first credentials were
 * answered, counts its connections here. */
#ifndef ZKR__ZK_GATE_H
#define ZKR__ZK_GATE_H

#include <stdbool.h>

/* Of one handle with credentials; all under the gate. */
struct zkr__gate {
    unsigned connections; /* begun, since the io thread is known */
    unsigned answered;    /* the highest of them that has answered, ... */
    bool any;             /* ... if any has */
};

/* What the client logs, on whatever thread. */
void zkr__gate_on_log(const char *line);

/* On the io thread of the handle. */
void zkr__gate_own(struct zkr__gate *gate);

void zkr__gate_shut(void);
void zkr__gate_open(void);

/* Shut: has a connection ever been seen to begin? If not, the client is one
 * that does not tell, or logs too little, and there is no gate. */
bool zkr__gate_works(void);

/* Shut: `connection` has answered. */
void zkr__gate_answered(struct zkr__gate *gate, unsigned connection);
bool zkr__gate_has_answered(const struct zkr__gate *gate);

#endif
