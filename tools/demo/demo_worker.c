/* SPDX-License-Identifier: Apache-2.0 */
/* One contender of tools/demo.sh: prints its events, one on each line.
 *
 *   demo-worker count NAME FILE ROUNDS PAUSE_MS [HOSTS PATH]
 *   demo-worker hold NAME HOSTS PATH
 *   demo-worker cross NAME HOSTS PATH SECOND
 *   demo-worker read NAME ROUNDS PAUSE_MS HOSTS PATH
 *   demo-worker write NAME ROUNDS PAUSE_MS HOSTS PATH
 *   demo-worker lead NAME HOSTS PATH
 *   demo-worker kill NAME PID
 *
 * All but "kill" wait for the end of their standard input: "hold" before it
 * gives the lock back, "cross" before it takes the second one, too, "lead"
 * before it leaves, the others before they begin. Times are microseconds of
 * CLOCK_MONOTONIC, and so comparable between processes. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <zkrecipes/zkrecipes.h>

enum { SESSION_TIMEOUT_MS = 3000, ACQUIRE_TIMEOUT_MS = 60000, USAGE = 64 };

enum mode { MUTEX, READ, WRITE, LEAD };

struct worker {
    const char *name;
    enum mode mode;
    zkr_session *session; /* NULL: works without a lock */
    zkr_mutex *mutex;
    zkr_rwlock *rwlock; /* instead of the mutex, to read or write */
    zkr_leader *leader; /* instead of it, to lead */
};

static int fail(const struct worker *w, const char *what, int rc)
{
    (void)printf("%s failed %s: %s; %s\n", w->name, what, zkr_strerror(rc),
                 zkr_error_detail());
    return 1;
}

static int fail_errno(const struct worker *w, const char *what)
{
    (void)printf("%s failed %s: %s\n", w->name, what, strerror(errno));
    return 1;
}

static int64_t now_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void await_end_of_input(void)
{
    char byte;
    ssize_t n;

    do
        n = read(STDIN_FILENO, &byte, 1);
    while (n > 0 || (n < 0 && errno == EINTR));
}

static int join(struct worker *w, const char *hosts, const char *path)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;

    opts.session_timeout_ms = SESSION_TIMEOUT_MS;
    int rc = zkr_session_open(hosts, &opts, &w->session);
    if (rc == ZKR_OK && w->mode == MUTEX)
        rc = zkr_mutex_new(w->session, path, NULL, &w->mutex);
    else if (rc == ZKR_OK && w->mode == LEAD)
        rc = zkr_leader_new(w->session, path, NULL, NULL, NULL, &w->leader);
    else if (rc == ZKR_OK)
        rc = zkr_rwlock_new(w->session, path, NULL, &w->rwlock);
    if (rc != ZKR_OK)
        return fail(w, "to join", rc);
    (void)printf("%s session 0x%llx %" PRIu32 "\n", w->name,
                 (unsigned long long)zkr_session_id(w->session),
                 zkr_session_timeout_ms(w->session));
    return 0;
}

static int part(struct worker *w, int status)
{
    zkr_mutex_free(w->mutex);
    zkr_rwlock_free(w->rwlock);
    zkr_leader_free(w->leader);
    int rc = zkr_session_close(w->session);
    if (rc != ZKR_OK && status == 0)
        status = fail(w, "to close", rc);
    if (status == 0)
        (void)printf("%s gone\n", w->name);
    return status;
}

static int acquire(const struct worker *w, zkr_grant **ret_grant)
{
    const int64_t timeout_ms = ACQUIRE_TIMEOUT_MS;

    if (w->mode == READ)
        return zkr_rwlock_acquire_read(w->rwlock, timeout_ms, ret_grant);
    if (w->mode == WRITE)
        return zkr_rwlock_acquire_write(w->rwlock, timeout_ms, ret_grant);
    return zkr_mutex_acquire(w->mutex, timeout_ms, ret_grant);
}

static int take(const struct worker *w, zkr_grant **ret_grant)
{
    int rc = acquire(w, ret_grant);

    if (rc != ZKR_OK)
        return fail(w, "to acquire", rc);
    (void)printf("%s granted %s %" PRId64 " %" PRId64 " 0x%llx\n", w->name,
                 zkr_grant_node(*ret_grant), zkr_grant_token(*ret_grant),
                 now_us(), (unsigned long long)zkr_session_id(w->session));
    return 0;
}

static int give_back(const struct worker *w, zkr_grant *grant)
{
    int rc = zkr_grant_release(grant);

    zkr_grant_free(grant);
    if (rc != ZKR_OK)
        return fail(w, "to release", rc);
    (void)printf("%s released\n", w->name);
    return 0;
}

static void nap(long pause_ms)
{
    struct timespec pause = { 0, pause_ms * 1000000 };

    (void)nanosleep(&pause, NULL);
}

/* Reads, waits, and writes, which nobody should do without a lock. The number
 * has a fixed width, so that no reader sees half of it. */
static int add_one(const struct worker *w, int fd, long pause_ms)
{
    char text[32] = "";
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    long count = strtol(text, NULL, 10);
    int len = snprintf(text, sizeof text, "%014ld\n", count + 1);

    nap(pause_ms);
    if (n < 0 || pwrite(fd, text, (size_t)len, 0) != len)
        return fail_errno(w, "to count");
    return 0;
}

/* All between acquire and release. Without a file a holder only rests. */
static int stay(const struct worker *w, int fd, long pause_ms)
{
    int64_t begin = now_us();
    int status = 0;

    if (fd >= 0)
        status = add_one(w, fd, pause_ms);
    else
        nap(pause_ms);
    (void)printf("%s stayed %s %" PRId64 " %" PRId64 "\n", w->name,
                 w->mode == READ ? "read" : "write", begin, now_us());
    return status;
}

static int visit(const struct worker *w, int fd, long pause_ms)
{
    zkr_grant *grant;

    if (take(w, &grant) != 0)
        return 1;
    int status = stay(w, fd, pause_ms);
    return give_back(w, grant) != 0 ? 1 : status;
}

static void await_start(const struct worker *w)
{
    (void)printf("%s ready\n", w->name);
    await_end_of_input();
}

static int count(struct worker *w, int argc, char **argv)
{
    long rounds = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    int status = 0;

    if (argc != 3 && argc != 5)
        return USAGE;
    int fd = open(argv[0], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail_errno(w, argv[0]);
    if (argc == 5)
        status = join(w, argv[3], argv[4]);
    if (status == 0)
        await_start(w);
    for (long i = 0; i < rounds && status == 0; i++) {
        long pause_ms = strtol(argv[2], NULL, 10);

        status = w->session == NULL ? add_one(w, fd, pause_ms)
                                    : visit(w, fd, pause_ms);
    }
    (void)close(fd);
    return part(w, status);
}

static int share(struct worker *w, enum mode mode, int argc, char **argv)
{
    if (argc != 4)
        return USAGE;
    w->mode = mode;
    int status = join(w, argv[2], argv[3]);
    if (status == 0)
        await_start(w);
    for (long i = strtol(argv[0], NULL, 10); i > 0 && status == 0; i--)
        status = visit(w, -1, strtol(argv[1], NULL, 10));
    return part(w, status);
}

static int hold(struct worker *w, int argc, char **argv)
{
    zkr_grant *grant;

    if (argc != 2)
        return USAGE;
    int status = join(w, argv[0], argv[1]);
    if (status == 0)
        status = take(w, &grant);
    if (status == 0) {
        await_end_of_input();
        status = give_back(w, grant);
    }
    return part(w, status);
}

/* Two workers that each hold the lock which the other wants next wait for each
 * other. */
static int cross(struct worker *w, int argc, char **argv)
{
    struct worker both = *w;
    zkr_grant *grant[2];

    if (argc != 3)
        return USAGE;
    int status = join(w, argv[0], argv[1]);
    if (status == 0)
        status = take(w, &grant[0]);
    if (status != 0)
        return part(w, status);
    await_end_of_input();
    both.session = w->session;
    if (zkr_mutex_new(w->session, argv[2], NULL, &both.mutex) == ZKR_OK)
        status = take(&both, &grant[1]);
    if (status == 0)
        status = give_back(&both, grant[1]);
    zkr_mutex_free(both.mutex);
    return part(w, give_back(w, grant[0]) != 0 ? 1 : status);
}

/* Tells since when and until when it has certainly taken itself for the leader:
 * from after the first answer to before the last one. */
static int64_t tell_term(const struct worker *w, int64_t since)
{
    int64_t asked = now_us();

    if (!zkr_leader_is_leader(w->leader))
        return 0;
    if (since == 0) {
        (void)printf("%s gained\n", w->name);
        return now_us();
    }
    (void)printf("%s led %" PRId64 " %" PRId64 "\n", w->name, since, asked);
    return since;
}

static int lead(struct worker *w, int argc, char **argv)
{
    struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
    int64_t since = 0;

    if (argc != 2)
        return USAGE;
    w->mode = LEAD;
    int status = join(w, argv[0], argv[1]);
    if (status != 0)
        return part(w, status);
    int rc = zkr_leader_campaign(w->leader);
    if (rc != ZKR_OK)
        return part(w, fail(w, "to campaign", rc));
    while (poll(&input, 1, 10) == 0)
        since = tell_term(w, since);
    rc = zkr_leader_leave(w->leader);
    return part(w, rc == ZKR_OK ? 0 : fail(w, "to leave", rc));
}

static int kill_one(struct worker *w, int argc, char **argv)
{
    long pid = argc == 1 ? strtol(argv[0], NULL, 10) : 0;
    int64_t when = now_us();

    if (pid <= 1)
        return USAGE;
    if (kill((pid_t)pid, SIGKILL) != 0)
        return fail_errno(w, "to kill");
    (void)printf("%s killed %" PRId64 "\n", w->name, when);
    return 0;
}

int main(int argc, char **argv)
{
    struct worker w = { .name = argc > 2 ? argv[2] : "" };
    int status = USAGE;

    (void)setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* one write a line */
    if (argc > 2 && strcmp(argv[1], "count") == 0)
        status = count(&w, argc - 3, argv + 3);
    else if (argc > 2 && strcmp(argv[1], "hold") == 0)
        status = hold(&w, argc - 3, argv + 3);
    else if (argc > 2 && strcmp(argv[1], "cross") == 0)
        status = cross(&w, argc - 3, argv + 3);
    else if (argc > 2 && strcmp(argv[1], "read") == 0)
        status = share(&w, READ, argc - 3, argv + 3);
    else if (argc > 2 && strcmp(argv[1], "write") == 0)
        status = share(&w, WRITE, argc - 3, argv + 3);
    else if (argc > 2 && strcmp(argv[1], "lead") == 0)
        status = lead(&w, argc - 3, argv + 3);
    else if (argc > 2 && strcmp(argv[1], "kill") == 0)
        status = kill_one(&w, argc - 3, argv + 3);
    if (status == USAGE)
        (void)fprintf(stderr, "demo-worker: see the top of its source\n");
    return status;
}
