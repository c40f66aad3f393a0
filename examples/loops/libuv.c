/* SPDX-License-Identifier: Apache-2.0 */
/* A lock in a loop of libuv: a poll handle on the descriptor of the session,
 * whose callback lets the session run what is due.
 *
 *   ./libuv 127.0.0.1:2181 /locks/orders */
#include <uv.h>

#include "job.h"

static void on_readable(uv_poll_t *ours, int status, int events)
{
    (void)status;
    (void)events;
    (void)zkr_session_dispatch(ours->data);
    if (job_is_over())
        uv_close((uv_handle_t *)ours, NULL); /* the loop ends with it */
}

int main(int argc, char **argv)
{
    uv_poll_t ours;
    int fd = -1;
    zkr_session *session = job_start(argc, argv, &fd);

    if (session == NULL || uv_poll_init(uv_default_loop(), &ours, fd) != 0)
        return 1;
    ours.data = session;
    if (uv_poll_start(&ours, UV_READABLE, on_readable) != 0)
        return 1;
    (void)uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    (void)uv_loop_close(uv_default_loop());
    return job_finish(session);
}
