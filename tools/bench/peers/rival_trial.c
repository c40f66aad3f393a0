/* SPDX-License-Identifier: Apache-2.0 */
/* A client in a trial of faults. It writes to a resource while it believes that
 * it holds the lock.
 *
 * The resource is the judge, ../faults.py. All clients of a trial have the
 * same socket to it (fd=N), so the order in which writes arrive is that of the
 * resource. Each is a record "WHAT CLIENT ASKED_NS TOKEN"; ASKED_NS is the
 * instant before the client asked whether it holds. WHAT is: ready, granted,
 * write, doubt (it does not believe any more), leaving (before the release),
 * left or failed (after it). The judge says, on stdin:
 *
 *   acquire   take the lock, wait as long as it takes
 *   release   give it back
 *   gap       stop the process (SIGSTOP) once, between asking and writing
 */
#include "rival_peer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WRITE_EVERY_MS = 10 };

static const struct rival *lock;
static struct rival_opts opts;
static void *client;
static int resource;
static const char *own_name;
static bool held;   /* granted, and not released */
static bool doubts; /* said so, since the last write */
static bool gap;

static void tell(const char *what, int64_t asked_ns)
{
    char record[128];
    int64_t token = held && lock->token != NULL ? lock->token(client) : 0;
    int len = snprintf(record, sizeof(record), "%s %s %" PRId64 " %" PRId64,
                       what, own_name, asked_ns, token);

    if (send(resource, record, (size_t)len, MSG_NOSIGNAL) < 0)
        _exit(0); /* the trial is over */
}

static void write_once(void)
{
    int64_t asked_ns = now_ns();
    bool holds = rival_holds(lock, client);

    if (holds && gap) {
        gap = false;
        (void)raise(SIGSTOP);
    }
    if (holds || !doubts)
        tell(holds ? "write" : "doubt", asked_ns);
    doubts = !holds;
}

static void release(void)
{
    int64_t deadline = deadline_after(opts.ttl_ms);
    enum rival_result result;

    tell("leaving", now_ns());
    held = false;
    do { /* as an application does that gets no answer */
        result = lock->release(client);
    } while (result == RIVAL_ERROR && pause_until(POLL_MS, deadline));
    tell(result == RIVAL_OK ? "left" : "failed", now_ns());
}

static void obey(const char *line)
{
    if (strcmp(line, "acquire\n") == 0) {
        rival_check("acquire", rival_acquire(lock, client, -1));
        held = true;
        doubts = false;
        tell("granted", now_ns());
    } else if (strcmp(line, "release\n") == 0) {
        release();
    } else if (strcmp(line, "gap\n") == 0) {
        gap = true;
    } else {
        peer_error("what is this: %s", line);
    }
}

void rival_trial(void)
{
    struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
    char line[64];

    lock = rival_chosen(&opts);
    own_name = peer_option("client", "A");
    resource = (int)peer_number("fd", -1);
    (void)setvbuf(stdin, NULL, _IONBF, 0); /* poll() sees all that is there */
    rival_check("open", rival_open(lock, &opts, &client));
    tell("ready", 0);
    for (;;) {
        if (poll(&in, 1, held ? WRITE_EVERY_MS : -1) > 0) {
            if (fgets(line, sizeof(line), stdin) == NULL)
                _exit(0); /* what it holds is left to its servers */
            obey(line);
        }
        if (held)
            write_once();
    }
}
