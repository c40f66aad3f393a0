/* SPDX-License-Identifier: Apache-2.0 */
/* The holder of a lock is killed, in a process of its own: how long until the
 * next one has it? */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <sys/wait.h>
#include <unistd.h>

#include "four_letters.h"
#include "peer.h"
#include "zkr_benches.h"
#include "zkr_locks.h"

enum {
    POLL_US = 20000,
    HOLD_US = 700000, /* so the server hears of the holder as it usually does */
};

static zkr_session *session;
static zkr_mutex *mutex;
static char timeout_option[64];
static char path_option[256];

static int granted[2]; /* a pipe: the callback writes the grant */

/* Between fork and exec: other threads may hold any lock of libc. */
static _Noreturn void become_holder(int out, int in)
{
    char *argv[] = { "zkr-peer",  (char *)peer_target(), "holder",
                     path_option, timeout_option,        NULL };

    (void)dup2(in, STDIN_FILENO);
    (void)dup2(out, STDOUT_FILENO);
    (void)close_range(3, ~0U, 0);
    (void)execv("/proc/self/exe", argv);
    _exit(127);
}

/* Returns when it holds the lock. It ends with us, by the end of its stdin. */
static pid_t start_holder(int *ret_stdin)
{
    char line[64] = "";
    int out[2];
    int in[2];

    if (pipe(out) != 0 || pipe(in) != 0)
        peer_error("pipe");
    pid_t pid = fork();
    if (pid < 0)
        peer_error("fork");
    if (pid == 0)
        become_holder(out[1], in[0]);
    (void)close(out[1]);
    (void)close(in[0]);
    if (read(out[0], line, sizeof(line) - 1) <= 0 ||
        strncmp(line, "ready\n", 6) != 0)
        peer_error("the holder did not start: %s", line);
    (void)close(out[0]);
    *ret_stdin = in[1];
    return pid;
}

static void on_granted(int error, zkr_grant *grant, void *user)
{
    (void)user;
    check("acquire", error);
    if (write(granted[1], &grant, sizeof(grant)) != sizeof(grant))
        peer_error("write");
}

static void await_node(long nodes)
{
    while (ephemeral_nodes(peer_target()) < nodes)
        (void)usleep(POLL_US);
}

static int64_t cycle(void)
{
    zkr_grant *grant;
    int holder_stdin;
    pid_t pid = start_holder(&holder_stdin);
    long nodes = ephemeral_nodes(peer_target());

    check("acquire",
          zkr_mutex_acquire_async(mutex, -1, on_granted, NULL, NULL));
    await_node(nodes + 1);
    (void)usleep(HOLD_US);
    int64_t begin = peer_now_ns();
    (void)kill(pid, SIGKILL);
    if (read(granted[0], &grant, sizeof(grant)) != sizeof(grant))
        peer_error("read");
    int64_t spent = peer_now_ns() - begin;
    (void)waitpid(pid, NULL, 0);
    (void)close(holder_stdin);
    check("release", zkr_grant_release(grant));
    zkr_grant_free(grant);
    return spent;
}

void killed_run(long n)
{
    int64_t spent = 0;

    for (long i = 0; i < n; i++)
        spent += cycle();
    if (n > 0)
        peer_figure("gap_ns", (double)spent / (double)n);
}

void killed_prepare(void)
{
    session = open_session();
    check("new", zkr_mutex_new(session, path_of("killed", 0), NULL, &mutex));
    (void)snprintf(timeout_option, sizeof(timeout_option), "timeout_ms=%ld",
                   peer_number("timeout_ms", 10000));
    (void)snprintf(path_option, sizeof(path_option), "path=%s",
                   path_of("killed", 0));
    if (pipe(granted) != 0)
        peer_error("pipe");
}

void killed_finish(void)
{
    zkr_mutex_free(mutex);
    (void)zkr_session_close(session);
}

/* The process of the holder: it is killed as soon as somebody waits. */
void holder_prepare(void)
{
    zkr_grant *grant;

    session = open_session();
    check("new", zkr_mutex_new(session, path_of("killed", 0), NULL, &mutex));
    check("acquire", zkr_mutex_acquire(mutex, -1, &grant));
}
