/* The keeper: the session's thread for timers. It never blocks, so that they
 * are in time whatever servers and name servers do. */
#ifndef ZKR__KEEPER_H
#define ZKR__KEEPER_H

#include "session.h"

int zkr__keeper_start(struct zkr_session *s);

/* Something that the keeper looks at has changed. */
void zkr__keeper_wake_locked(struct zkr_session *s);

/* Timers run on the keeper, under the lock. */
void zkr__keeper_arm_locked(struct zkr_session *s, struct zkr__timer *timer,
                            int64_t instant, void (*fn)(struct zkr__timer *));
void zkr__keeper_disarm_locked(struct zkr_session *s, struct zkr__timer *timer);

#endif
