/* SPDX-License-Identifier: Apache-2.0 */
/* A preloaded library for zk-lockctl. Functions of the C library, and of ours,
 * do what $PRELOAD says, or what others say in their comments. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <zkrecipes/zkrecipes.h>

typedef long syscall_fn(long number, ...);
typedef int closedir_fn(DIR *dir);
typedef int poll_fn(struct pollfd *fds, nfds_t count, int timeout_ms);
typedef int release_fn(zkr_grant *const *grants, size_t count);
typedef int64_t until_fn(zkr_grant *grant);

/* The kernel tells the beginning of a process to 10 ms. */
enum { LONG_BEFORE_MS = 20, SLOW_KILL_MS = 200, SLOW_TIMER_MS = 2000 };
enum { MOMENT_MS = 40 };

static bool is_told(const char *what)
{
    const char *told = getenv("PRELOAD");

    return told != NULL && strcmp(told, what) == 0;
}

static void pause_ms(long ms)
{
    const struct timespec pause = { .tv_sec = ms / 1000,
                                    .tv_nsec = ms % 1000 * 1000000 };

    (void)nanosleep(&pause, NULL);
}

static bool is_there(const char *name)
{
    return name != NULL && access(name, F_OK) == 0;
}

/* "slow-timer": things happen between the request and the wait for the lock. */
int timerfd_settime(int fd, int flags, const struct itimerspec *value,
                    struct itimerspec *old)
{
    if (is_told("slow-timer"))
        pause_ms(SLOW_TIMER_MS);
    return (int)syscall(SYS_timerfd_settime, fd, flags, value, old);
}

/* "slow-kill": the effects of the signal happen while the tool is still sending
 * it. "no-kill": the processes are another user's. "stopped-again": who is
 * continued for the first time is stopped again at once. */
int kill(pid_t pid, int sig)
{
    static bool stopped;

    if (is_told("no-kill")) {
        errno = EPERM;
        return -1;
    }
    int rc = (int)syscall(SYS_kill, pid, sig);

    if (rc == 0 && is_told("slow-kill"))
        pause_ms(SLOW_KILL_MS);
    if (is_told("stopped-again") && sig == SIGCONT && !stopped)
        stopped = syscall(SYS_kill, pid, SIGSTOP) == 0;
    return rc;
}

/* The wall clock is off by as many seconds as $OTHER_CLOCK_S says, and the
 * others by half a minute when the file $LATER is there. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    const char *off = getenv("OTHER_CLOCK_S");
    int rc = (int)syscall(SYS_clock_gettime, clock, time);

    if (clock == CLOCK_REALTIME && off != NULL)
        time->tv_sec += strtol(off, NULL, 10);
    if (clock != CLOCK_REALTIME && is_there(getenv("LATER")))
        time->tv_sec += 30;
    return rc;
}

/* "lost-release": each lock is found lost at its release, as after a deletion
 * in the instant before. */
int zkr_grants_release(zkr_grant *const *grants, size_t count)
{
    release_fn *real = NULL;
    int rc = ZKR_ELOST;

    *(void **)&real = dlsym(RTLD_NEXT, "zkr_grants_release");
    if (real != NULL)
        rc = real(grants, count);
    return is_told("lost-release") ? ZKR_ELOST : rc;
}

/* When the file $OVER is there, which goes by that, the lease is told once to
 * be over in a moment. */
int64_t zkr_grant_valid_until(zkr_grant *grant)
{
    const char *over = getenv("OVER");
    struct timespec now;
    until_fn *real = NULL;

    *(void **)&real = dlsym(RTLD_NEXT, "zkr_grant_valid_until");
    if (over == NULL || unlink(over) != 0)
        return real(grant);
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000 + MOMENT_MS;
}

/* "no-minute": what takes that long is over at once. */
int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    bool soon = is_told("no-minute") && timeout_ms >= 60000;
    poll_fn *real = NULL;

    *(void **)&real = dlsym(RTLD_NEXT, "poll");
    return real(fds, count, soon ? 0 : timeout_ms);
}

/* "killed-guard": it is killed before it has a command. */
int setpgid(pid_t pid, pid_t group)
{
    if (pid == 0 && is_told("killed-guard"))
        (void)raise(SIGKILL);
    return (int)syscall(SYS_setpgid, pid, group);
}

/* An orphan has another parent when all descriptors of the front are closed. */
static void kill_one(void)
{
    pid_t front = getppid();

    if (getenv("KILL_FRONT") == NULL)
        (void)raise(SIGKILL);
    (void)kill(front, SIGKILL);
    while (getppid() == front)
        (void)usleep(1000);
}

/* "killed-front": the process of zk-lockctl hold that speaks to the shell is
 * killed after so many writes ($KILL_AFTER), or when all of the code has just
 * been printed; with $KILL_FRONT then its parent, the front. "stopped-keeper":
 * it is stopped when it has then told the front, by a byte, that it may end. */
ssize_t write(int fd, const void *buf, size_t n)
{
    const char *after = getenv("KILL_AFTER");
    bool kills = fd == STDOUT_FILENO && is_told("killed-front");
    static bool printed;
    static int writes;

    if (kills && after != NULL && writes++ == atoi(after))
        (void)raise(SIGKILL);
    ssize_t written = (ssize_t)syscall(SYS_write, fd, buf, n);
    if (fd == STDOUT_FILENO && written > 4)
        printed = memcmp((const char *)buf + written - 4, "\n:;\n", 4) == 0;
    if (kills && after == NULL && printed)
        kill_one();
    if (is_told("stopped-keeper") && printed && n == 1 &&
        gettid() == getpid()) {
        printed = false; /* the client of ZooKeeper writes such bytes, too */
        (void)raise(SIGSTOP);
    }
    return written;
}

/* The system log is stderr. */
void vsyslog(int priority, const char *format, va_list args)
{
    (void)dprintf(STDERR_FILENO, "log %d: ", priority);
    (void)vdprintf(STDERR_FILENO, format, args);
    (void)dprintf(STDERR_FILENO, "\n");
}

void syslog(int priority, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsyslog(priority, format, args);
    va_end(args);
}

/* When zk-lockctl hold has looked at all processes once, and the file $LATE is
 * there, the shell $SHELL_PID gets USR1, and has to remove the file. */
int closedir(DIR *dir)
{
    const char *late = getenv("LATE");
    closedir_fn *real = NULL;

    *(void **)&real = dlsym(RTLD_NEXT, "closedir");
    if (is_there(late)) {
        (void)kill((pid_t)atoi(getenv("SHELL_PID")), SIGUSR1);
        while (is_there(late))
            pause_ms(1);
        pause_ms(LONG_BEFORE_MS);
    }
    return real(dir);
}

/* After the first TERM of zk-lockctl hold all waits until the shell has made
 * the file $TRAPPED. */
long syscall(long number, ...)
{
    static int terms;
    const char *trapped = getenv("TRAPPED");
    syscall_fn *real = NULL;
    long a[6];
    va_list args;

    *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    long rc = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (number == SYS_pidfd_send_signal && (int)a[1] == SIGTERM && terms++ == 0)
        while (trapped != NULL && !is_there(trapped))
            pause_ms(1);
    return rc;
}
