/* SPDX-License-Identifier: Apache-2.0 */
/* A lock in a loop of libevent: an event on the descriptor of the session,
 * whose callback lets the session run what is due.
 *
 *   ./libevent 127.0.0.1:2181 /locks/orders */
#include <event2/event.h>

#include "job.h"

static struct event_base *loop;

static void on_readable(evutil_socket_t fd, short what, void *session)
{
    (void)fd;
    (void)what;
    (void)zkr_session_dispatch(session);
    if (job_is_over())
        (void)event_base_loopbreak(loop);
}

int main(int argc, char **argv)
{
    int fd = -1;
    zkr_session *session = job_start(argc, argv, &fd);

    loop = event_base_new();
    if (session == NULL || loop == NULL)
        return 1;
    struct event *ours =
        event_new(loop, fd, EV_READ | EV_PERSIST, on_readable, session);
    if (ours == NULL || event_add(ours, NULL) != 0)
        return 1;
    (void)event_base_dispatch(loop);
    event_free(ours);
    event_base_free(loop);
    return job_finish(session);
}
