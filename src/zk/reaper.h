/* SPDX-License-Identifier: Apache-2.0 */
/* The reaper closes handles: it runs a call that may never return on a thread
 * of its own, and waits for it no longer than the caller allows. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Runs `call` and returns its result, or false when it has not returned at the
 * deadline: then it is one of zkr_session_stuck_handles(), until it does. If
 * the system has no thread for it, the caller's thread runs it, however long it
 * takes. */
bool zkr__reaper_run(bool (*call)(void *), void *arg, int64_t deadline);
