/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a signal, and obeys one: for stop, run and top. */
#pragma once

#include <signal.h>

/* Adds the signal to the set, unless it was ignored when we were started
 * (nohup): then it stays ignored. */
void signal_add(sigset_t *set, int sig);

/* Does what the signal does by default, although it is blocked: the process
 * ends, or stops. It is unblocked afterwards. */
void signal_obey(int sig);
