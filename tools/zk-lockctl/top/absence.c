/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out why there is no connection, while there is none: the client tries
 * one server after the other, and does not tell. */
#include "top/absence.h"

#include <zkrecipes/session.h>

#include "common/now.h"
#include "common/worker.h"

/* Most connections are there at once, or come back at once. */
enum { FIRST_MS = 500, ASK_MS = 1000, PAUSE_MS = 2000 };

/* By a session of its own, which finds out before it is there. */
static void ask(void *arg)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    struct absence *a = arg;
    zkr_session *session = NULL;

    opts.connect_timeout_ms = ASK_MS;
    opts.flags = ZKR_SESSION_ONE_ROUND | ZKR_SESSION_NO_LEASE;
    a->refused = zkr_session_open(a->servers, &opts, &session) == ZKR_EREFUSED;
    (void)zkr_session_close(session);
}

static void take(struct absence *a)
{
    if (a->errand == NULL || !errand_end(a->errand, 0))
        return;
    a->errand = NULL;
    a->why = a->refused ? "every server refuses the connection; still trying"
                        : "no server answers as it should; still trying";
}

void absence_tick(struct absence *a, bool is_connected)
{
    take(a);
    if (is_connected || a->next_ms == 0) {
        a->why = "";
        a->next_ms = clock_now_ms() + FIRST_MS;
        return;
    }
    if (a->errand != NULL || clock_now_ms() < a->next_ms)
        return;
    a->next_ms = clock_now_ms() + PAUSE_MS;
    (void)errand_start(ask, a, &a->errand);
}
