/* The opener: the session's thread for opening and closing handles, which may
 * take as long as a name server does not answer. */
#ifndef ZKR__OPENER_H
#define ZKR__OPENER_H

#include "session.h"

int zkr__opener_start(struct zkr_session *s);

/* The handle is dead, the session closed, or a last answer has come. */
void zkr__opener_wake_locked(struct zkr_session *s);

/* Why there is no handle, for people. */
const char *zkr__opener_fault(int rc);

#endif
