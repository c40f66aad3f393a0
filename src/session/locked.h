/* SPDX-License-Identifier: Apache-2.0 */
/* The session lock, as clang proves that it is held.
 *
 * All that was opened on a session is under one lock, and is reached by many
 * ways (claim->session, op->session, ...) that clang cannot tell to be one
 * session. A function has to do with one session, so for clang there is one
 * lock, which stands for that of every session. */
#pragma once

#include "base/mtx.h"

struct ZKR__CAPABILITY("session lock") zkr__any_session_lock {
    char unused;
};

/* A name for clang only: it is defined nowhere. */
extern struct zkr__any_session_lock zkr__any_session_lock;

/* The function, mostly ..._locked(), is called with the session lock held. */
#define ZKR__LOCKED ZKR__REQUIRES(zkr__any_session_lock)

/* The function, ..._unlocks(), is called with the session lock held, and lets
 * go of it in between: state that was read before the call may have changed. */
#define ZKR__UNLOCKS ZKR__LOCKED
