/* SPDX-License-Identifier: Apache-2.0 */
/* A job under a lock that never blocks; it knows nothing of the event loop that
 * calls it. */
#pragma once

#include <zkrecipes/zkrecipes.h>

/* Opens a session whose callbacks run in the loop of the program, and claims
 * the lock. Arguments: HOSTS PATH. The program watches the descriptor, and
 * calls zkr_session_dispatch() when it is readable. Returns NULL on error,
 * which has been printed. */
zkr_session *job_start(int argc, char **argv, int *ret_fd);

/* True when the lock has been given back, or an error has been printed. */
bool job_is_over(void);

/* Closes the session; the value is that of main(). */
int job_finish(zkr_session *session);
