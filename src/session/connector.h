/* SPDX-License-Identifier: Apache-2.0 */
/* The connector: the session's thread that opens and closes handles, which may
 * block for as long as a name server does not answer. */
#pragma once

#include "session/locked.h"
#include "session/session.h"

int zkr__connector_start(struct zkr_session *s);

/* Wakes the connector: the handle is dead, the session is closed, a last answer
 * has come, or something is due. While the connector waits for a scout, the
 * thread that closes the session may wait for that answer, too. */
static inline void zkr__connector_wake_locked(struct zkr_session *s) ZKR__LOCKED
{
    zkr__cond_wake(&s->connector_wake);
}

/* Closes the handle, if there is one, and ends everything that depended on it.
 * If another thread is closing it, waits for that thread. */
void zkr__connector_close_handle_unlocks(struct zkr_session *s) ZKR__UNLOCKS;
