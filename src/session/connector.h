/* The connector: the session's thread for opening and closing handles, which
 * may take as long as a name server does not answer. */
#ifndef ZKR__CONNECTOR_H
#define ZKR__CONNECTOR_H

#include "session/locked.h"
#include "session/session.h"

int zkr__connector_start(struct zkr_session *s);

/* The handle is dead, the session closed, or a last answer has come. */
static inline void zkr__connector_wake_locked(struct zkr_session *s) ZKR__LOCKED
{
    (void)pthread_cond_signal(&s->connector_wake);
}

/* Close the handle, if there is one, and end all that depended on it. If
 * another thread is closing it, wait for that thread. */
void zkr__connector_close_handle_unlocks(struct zkr_session *s) ZKR__UNLOCKS;

/* Why there is no handle, for people. */
const char *zkr__connector_fault(int rc);

#endif
