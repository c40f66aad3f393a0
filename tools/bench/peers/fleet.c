/* SPDX-License-Identifier: Apache-2.0 */
/* What the peers share that only hold sessions. */
#include "fleet.h"

#include <stdbool.h>
#include <stdint.h>

#include <sys/resource.h>
#include <time.h>

#include "peer.h"

enum { SETTLE = 2 };

static bool is_open;

/* A session has some files. */
void fleet_prepare(void)
{
    struct rlimit files;

    if (peer_number("sessions", 200) > FLEET_MAX)
        peer_error("more than %d sessions", FLEET_MAX);
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        peer_error("getrlimit");
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files) != 0)
        peer_error("setrlimit");
}

static void wait_timeouts(long timeouts)
{
    int64_t ms = timeouts * peer_number("timeout_ms", 10000);
    struct timespec left = { .tv_sec = ms / 1000,
                             .tv_nsec = ms % 1000 * 1000000 };

    while (nanosleep(&left, &left) != 0)
        continue;
}

static void open_all(long sessions, const struct fleet *fleet)
{
    for (long i = 0; i < sessions; i++)
        fleet->enter(i);
    wait_timeouts(SETTLE);
}

static void close_all(long sessions, const struct fleet *fleet)
{
    for (long i = 0; i < sessions; i++)
        fleet->leave(i);
}

void fleet_run(long n, const struct fleet *fleet)
{
    long sessions = peer_number("sessions", 200);

    if (n > 0)
        wait_timeouts(n / sessions);
    else if ((is_open = !is_open))
        open_all(sessions, fleet);
    else
        close_all(sessions, fleet);
}
