/* SPDX-License-Identifier: Apache-2.0 */
/* Listeners: callbacks of the user for every change of the session's state. */
#ifndef ZKR__LISTENER_H
#define ZKR__LISTENER_H

#include "session/locked.h"

struct zkr_session;

/* The state has changed. */
void zkr__listeners_tell_locked(struct zkr_session *s) ZKR__LOCKED;

#endif
