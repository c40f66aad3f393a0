/* SPDX-License-Identifier: Apache-2.0 */
/* A lock in an epoll loop: its descriptor is one of those that the program
 * watches.
 *
 *   ./epoll 127.0.0.1:2181 /locks/orders */
#include <sys/epoll.h>
#include <unistd.h>

#include "job.h"

int main(int argc, char **argv)
{
    struct epoll_event ours = { .events = EPOLLIN };
    struct epoll_event event;
    int loop = epoll_create1(EPOLL_CLOEXEC);
    int fd = -1;
    zkr_session *session = job_start(argc, argv, &fd);

    if (session == NULL || loop < 0)
        return 1;
    ours.data.ptr = session;
    if (epoll_ctl(loop, EPOLL_CTL_ADD, fd, &ours) != 0)
        return 1;
    while (!job_is_over()) {
        if (epoll_wait(loop, &event, 1, -1) == 1)
            (void)zkr_session_dispatch(event.data.ptr);
    }
    (void)close(loop);
    return job_finish(session);
}
