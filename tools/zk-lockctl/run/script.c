/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the shell for which a lock is held, signals it and what it has started,
 * and speaks on its stderr. */
#include "run/script.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/lockctl.h"
#include "common/now.h"
#include "run/proc.h"

/* So many looks at most: somebody may fork without end. */
enum { ROUNDS_MAX = 20 };

/* The instant of the signal to a process that got none. */
static const int64_t not_yet = INT64_MAX;
static const int64_t left_alone = 0;

static int open_process(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

static int send_signal(int fd, int sig)
{
    return (int)syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
}

/* -- which shell ---------------------------------------------------------- */

/* The mode of the link in /proc is how the descriptor was opened. */
static bool is_read_by(const struct stat *pipe, int dir, const char *fd)
{
    struct stat link;
    struct stat file;

    return fstatat(dir, fd, &link, AT_SYMLINK_NOFOLLOW) == 0 &&
           (link.st_mode & S_IRUSR) != 0 && fstatat(dir, fd, &file, 0) == 0 &&
           file.st_dev == pipe->st_dev && file.st_ino == pipe->st_ino;
}

static bool reads(pid_t pid, const struct stat *pipe)
{
    char name[32];
    struct dirent *entry;
    bool found = false;
    DIR *dir;

    (void)snprintf(name, sizeof(name), "/proc/%d/fd", (int)pid);
    dir = opendir(name);
    while (dir != NULL && !found && (entry = readdir(dir)) != NULL)
        found = is_read_by(pipe, dirfd(dir), entry->d_name);
    if (dir != NULL)
        (void)closedir(dir);
    return found;
}

static bool stdout_is_pipe(struct stat *ret_out)
{
    return fstat(STDOUT_FILENO, ret_out) == 0 && S_ISFIFO(ret_out->st_mode);
}

static int nobody_reads(void)
{
    return lockctl_fail(EX_USAGE,
                        "no shell above this process reads its output; "
                        "use " HOLD_IDIOM ", or --pid for the process that is "
                        "to hold the lock");
}

/* In "$(zk-lockctl hold LOCK)" the shell reads our stdout, and may have forked
 * another one between us. */
static void find_reader(struct script *s)
{
    struct stat out;

    s->pid = getppid();
    s->reads = stdout_is_pipe(&out);
    while (s->reads && s->pid > 0 && !reads(s->pid, &out))
        s->pid = proc_parent(s->pid);
}

int script_find(struct script *s, pid_t pid)
{
    *s = (struct script){ .pid = pid };
    if (pid == 0)
        find_reader(s);
    if (s->pid <= 0)
        return nobody_reads();
    s->fd = open_process(s->pid);
    if (s->fd < 0)
        return lockctl_fail(EX_USAGE,
                            "there is no process %d to hold the lock: %s",
                            (int)s->pid, strerror(errno));
    /* While it is above us, nobody else has its number. */
    return pid != 0 || proc_is_below(getpid(), s->pid) ? 0 : nobody_reads();
}

int script_check(const struct script *s)
{
    struct stat out;

    return !s->reads || (stdout_is_pipe(&out) && reads(s->pid, &out))
               ? 0
               : nobody_reads();
}

/* -- signals -------------------------------------------------------------- */

static bool has_ended(int fd)
{
    struct pollfd pollfd = { .fd = fd, .events = POLLIN };

    return poll(&pollfd, 1, 0) != 0;
}

bool script_has_ended(const struct script *s)
{
    return has_ended(s->fd);
}

static void forget(struct started *started, size_t i)
{
    (void)close(started->items[i].fd);
    started->items[i] = started->items[--started->count];
}

bool started_live(struct started *started)
{
    for (size_t i = started->count; i > 0; i--) {
        if (has_ended(started->items[i - 1].fd))
            forget(started, i - 1);
    }
    return started->count > 0;
}

void started_free(struct started *started)
{
    while (started->count > 0)
        forget(started, started->count - 1);
    free(started->items);
    started->items = NULL;
}

static bool is_known(const struct started *started, pid_t pid)
{
    for (size_t i = 0; i < started->count; i++) {
        if (started->items[i].pid == pid)
            return true;
    }
    return pid == getpid();
}

/* When its parent was told. That of an orphan is not known: the shell was told
 * first. */
static int64_t parent_told_ms(const struct started *started, pid_t pid)
{
    pid_t parent = proc_parent(pid);

    for (size_t i = 0; i < started->count; i++) {
        if (started->items[i].pid == parent)
            return started->items[i].told_ms;
    }
    return started->told_ms;
}

/* A trap for TERM may start commands that clean up, so they must not get TERM:
 * a parent forks for its trap only after it was told. In doubt a process is
 * taken for such a command, and so is all that it forks. */
static bool is_of_a_trap(const struct started *started, pid_t pid)
{
    int64_t told_ms = parent_told_ms(started, pid);
    int64_t began_ms;

    if (told_ms == not_yet)
        return false;
    began_ms = proc_start_ms(pid);
    return began_ms < 0 || began_ms + PROC_START_MS > told_ms;
}

static bool add(pid_t pid, void *arg)
{
    struct started *started = arg;
    struct process *more;
    int fd;

    if (is_known(started, pid))
        return true;
    more = realloc(started->items, (started->count + 1) * sizeof(more[0]));
    if (more == NULL)
        return false;
    started->items = more;
    fd = open_process(pid);
    if (fd < 0)
        return true;
    started->items[started->count] =
        (struct process){ pid, getpgid(pid), fd,
                          is_of_a_trap(started, pid) ? left_alone : not_yet };
    started->count++;
    return true;
}

/* Its number is its own as long as it lives: what was found below it is dropped
 * when it has ended meanwhile. */
static void add_below(struct started *started, pid_t pid, int fd)
{
    size_t before = started->count;

    if (!has_ended(fd))
        proc_each(PROC_BELOW, pid, add, started);
    while (has_ended(fd) && started->count > before)
        forget(started, started->count - 1);
}

static bool is_group(const struct started *started, pid_t group)
{
    for (size_t i = 0; i < started->count; i++) {
        if (started->items[i].group == group)
            return true;
    }
    return started->group == group;
}

/* Tells whether a child of the reaper is of the shell: it has begun since we
 * look, in a process group of those whom we signal. */
static bool is_orphan(const struct started *started, pid_t pid)
{
    pid_t group = getpgid(pid);

    return group > 1 && is_group(started, group) &&
           proc_start_ms(pid) >= started->since_ms;
}

static bool add_orphan(pid_t pid, void *arg)
{
    struct started *started = arg;
    size_t before = started->count;

    if (is_known(started, pid) || !is_orphan(started, pid))
        return true;
    if (!add(pid, arg))
        return false;
    if (started->count > before && !is_orphan(started, pid))
        forget(started, before); /* another one has its number now */
    return true;
}

static void add_all(const struct script *s, struct started *started,
                    pid_t reaper)
{
    add_below(started, s->pid, s->fd);
    for (size_t i = 0, known = started->count; i < known; i++)
        add_below(started, started->items[i].pid, started->items[i].fd);
    proc_each(PROC_CHILDREN, reaper, add_orphan, started);
}

/* A stopped process cannot act on TERM. */
static void tell(int fd, int sig)
{
    (void)send_signal(fd, sig);
    (void)send_signal(fd, SIGCONT);
}

static void begin(const struct script *s, struct started *started)
{
    pid_t group = getpgid(s->pid);

    (void)started_live(started);
    if (!has_ended(s->fd))
        started->group = group;
    started->since_ms = clock_boot_ms() - PROC_START_MS;
    started->told_ms = not_yet;
    for (size_t i = 0; i < started->count; i++)
        started->items[i].told_ms = not_yet;
}

/* False: there was nobody to be told. KILL leaves nobody alone: it starts no
 * trap. */
static bool tell_from(struct started *started, size_t first, int sig)
{
    bool any = false;

    for (size_t i = first; i < started->count; i++) {
        struct process *p = &started->items[i];

        if (p->told_ms == left_alone && sig != SIGKILL)
            continue;
        p->told_ms = clock_boot_ms();
        tell(p->fd, sig);
        any = true;
    }
    return any;
}

/* The shell is first: it must not see the end of a command, and go on to the
 * next. What is forked between a look and the signal is found by the next look,
 * also when its parent has ended by the signal. */
void script_signal_all(const struct script *s, struct started *started,
                       pid_t reaper, int sig)
{
    bool more = true;

    begin(s, started);
    add_all(s, started, reaper);
    started->told_ms = clock_boot_ms();
    tell(s->fd, sig);
    (void)tell_from(started, 0, sig);
    for (int round = 1; more && round < ROUNDS_MAX; round++) {
        size_t known = started->count;

        add_all(s, started, reaper);
        more = tell_from(started, known, sig);
    }
}

/* -- its output ----------------------------------------------------------- */

/* A regular file keeps nobody waiting, and has a place where we write next. */
static bool is_file(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

static void replace(int fd, int by)
{
    (void)dup3(by, fd, O_CLOEXEC);
}

void script_silence(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (!is_file(STDERR_FILENO))
        replace(STDERR_FILENO, null);
    (void)close(null);
}

void script_let_go(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    replace(STDIN_FILENO, null);
    replace(STDOUT_FILENO, null);
    (void)close(null);
    script_silence();
}

void script_speak(const struct script *s)
{
    char name[32];
    int fd;

    if (is_file(STDERR_FILENO))
        return;
    (void)snprintf(name, sizeof(name), "/proc/%d/fd/2", (int)s->pid);
    /* A reader of a pipe may be slow. */
    fd = open(name, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (!script_has_ended(s)) /* or its number may be another's */
        replace(STDERR_FILENO, fd);
    (void)close(fd);
}
