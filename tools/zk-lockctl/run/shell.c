/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the shell for which a lock is held, signals it and what it has started,
 * and speaks on its stderr. */
#include "run/shell.h"

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

static int open_process(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

static void send_signal(const struct process *p, int sig)
{
    (void)syscall(SYS_pidfd_send_signal, p->fd, sig, NULL, 0);
}

static bool has_ended(const struct process *p)
{
    struct pollfd pollfd = { .fd = p->fd, .events = POLLIN };

    return poll(&pollfd, 1, 0) != 0;
}

/* -- which shell ---------------------------------------------------------- */

/* Tells whether a process has that pipe open for reading: the mode of a link in
 * /proc is how the descriptor was opened. */
static bool reads(pid_t pid, const struct stat *pipe)
{
    char name[32];
    struct stat link;
    struct stat file;
    struct dirent *entry;
    bool found = false;
    DIR *dir;

    (void)snprintf(name, sizeof(name), "/proc/%d/fd", (int)pid);
    dir = opendir(name);
    while (dir != NULL && !found && (entry = readdir(dir)) != NULL)
        found = fstatat(dirfd(dir), entry->d_name, &link,
                        AT_SYMLINK_NOFOLLOW) == 0 &&
                (link.st_mode & S_IRUSR) != 0 &&
                fstatat(dirfd(dir), entry->d_name, &file, 0) == 0 &&
                file.st_dev == pipe->st_dev && file.st_ino == pipe->st_ino;
    if (dir != NULL)
        (void)closedir(dir);
    return found;
}

/* In "$(zk-lockctl hold LOCK)" the shell reads our stdout, and may have forked
 * another one between us. 0: nobody does. */
static pid_t find_reader(pid_t from)
{
    struct stat out;

    if (fstat(STDOUT_FILENO, &out) != 0 || !S_ISFIFO(out.st_mode))
        return from;
    while (from > 0 && !reads(from, &out))
        from = proc_parent(from);
    return from;
}

static int nobody_reads(void)
{
    return lockctl_fail(EX_USAGE,
                        "no shell above this process reads its output; "
                        "use " HOLD_IDIOM);
}

int shell_find(struct shell *s)
{
    pid_t pid = find_reader(getppid());

    *s = (struct shell){ .process.pid = pid };
    if (pid <= 0)
        return nobody_reads();
    s->process.fd = open_process(pid);
    if (s->process.fd < 0)
        return lockctl_fail(EX_USAGE,
                            "there is no process %d to hold the lock: %s",
                            (int)pid, strerror(errno));
    /* While it is above us, nobody else has its number. */
    return proc_is_below(getpid(), pid) ? 0 : nobody_reads();
}

int shell_check(const struct shell *s)
{
    return find_reader(s->process.pid) == s->process.pid ? 0 : nobody_reads();
}

/* -- signals -------------------------------------------------------------- */

bool shell_has_ended(const struct shell *s)
{
    return has_ended(&s->process);
}

bool shell_has_left(struct shell *s)
{
    for (size_t i = s->count; i > 0; i--) {
        if (!has_ended(&s->started[i - 1]))
            continue;
        (void)close(s->started[i - 1].fd);
        s->started[i - 1] = s->started[--s->count];
    }
    return s->count > 0;
}

static bool is_known(const struct shell *s, pid_t pid)
{
    if (pid == s->process.pid)
        return !shell_has_ended(s); /* or it is another process */
    for (size_t i = 0; i < s->count; i++) {
        if (s->started[i].pid == pid)
            return true;
    }
    return false;
}

static bool is_started(const struct shell *s, pid_t pid)
{
    do
        pid = proc_parent(pid);
    while (pid > 0 && !is_known(s, pid));
    return pid > 0;
}

struct look {
    struct shell *shell;
    int sig;
};

/* Its number is its own as long as it has a descriptor of it and a parent that
 * is known. Who is to be killed is stopped first: so it forks no more. */
static bool add(pid_t pid, void *arg)
{
    const struct look *look = arg;
    struct shell *s = look->shell;
    struct process p = { .pid = pid };

    if (pid == getpid() || pid == getppid() || is_known(s, pid) ||
        !is_started(s, pid))
        return true;
    struct process *more =
        realloc(s->started, (s->count + 1) * sizeof(more[0]));
    if (more == NULL)
        return false;
    s->started = more;
    p.fd = open_process(pid);
    if (p.fd >= 0 && is_started(s, pid)) {
        if (look->sig == SIGKILL)
            send_signal(&p, SIGSTOP);
        s->started[s->count++] = p;
    } else if (p.fd >= 0) {
        (void)close(p.fd);
    }
    return true;
}

/* A stopped process cannot act on TERM. */
static void tell(const struct process *p, int sig)
{
    send_signal(p, sig);
    send_signal(p, SIGCONT);
}

/* A trap for TERM may start commands that clean up: they have begun when the
 * shell was told. In doubt a process is taken for such a command. */
static bool may_be_of_a_trap(const struct process *p, int64_t told_ms)
{
    int64_t began_ms = proc_start_ms(p->pid);

    return began_ms < 0 || began_ms + PROC_START_MS > told_ms;
}

/* The shell is first: it must not see the end of a command, and go on to the
 * next. What is forked between a look and the signal is found by the next
 * look. */
void shell_signal(struct shell *s, int sig)
{
    struct look look = { s, sig };
    size_t told = 0;

    if (sig == 0)
        return;
    (void)shell_has_left(s);
    if (sig == SIGKILL)
        send_signal(&s->process, SIGSTOP);
    for (int round = 0; round < ROUNDS_MAX; round++) {
        size_t before = s->count;

        proc_each(add, &look);
        if (s->count == before)
            break;
    }
    int64_t told_ms = clock_boot_ms();
    tell(&s->process, sig);
    for (int round = 0; told < s->count && round < ROUNDS_MAX; round++) {
        for (; told < s->count; told++) {
            if (round == 0 || sig == SIGKILL ||
                !may_be_of_a_trap(&s->started[told], told_ms))
                tell(&s->started[told], sig);
        }
        proc_each(add, &look);
    }
}

const char *shell_whom(int sig)
{
    return sig == 0         ? ""
           : sig == SIGKILL ? "; KILL to the shell and what it has started"
                            : "; TERM to the shell and what it has started";
}

/* -- its output ----------------------------------------------------------- */

/* A regular file keeps nobody waiting, and has a place where we write next. */
static bool is_file(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

static void let_go(int fd)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)dup3(null, fd, O_CLOEXEC);
    (void)close(null);
}

void shell_silence(void)
{
    if (!is_file(STDERR_FILENO))
        let_go(STDERR_FILENO);
}

void shell_let_go(void)
{
    let_go(STDIN_FILENO);
    let_go(STDOUT_FILENO);
    shell_silence();
}

void shell_speak(const struct shell *s)
{
    char name[32];
    int fd;

    if (is_file(STDERR_FILENO))
        return;
    (void)snprintf(name, sizeof(name), "/proc/%d/fd/2", (int)s->process.pid);
    /* A reader of a pipe may be slow. */
    fd = open(name, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (!shell_has_ended(s)) /* or its number may be another's */
        (void)dup3(fd, STDERR_FILENO, O_CLOEXEC);
    (void)close(fd);
}
