/* SPDX-License-Identifier: Apache-2.0 */
/* The guard: a process between us and the command. Orphans below it become its
 * children, so it finds all that the command has started, also when we were
 * killed, are stopped, or are stuck. */
#include "run/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/now.h"
#include "run/proc.h"

/* Its descriptors. */
enum { OWNER, CHILDREN };

/* -- of both kinds -------------------------------------------------------- */

int deadline_left_ms(const struct deadline *d)
{
    int64_t at_ms = atomic_load(&d->at_ms);
    int64_t left = at_ms - clock_boot_ms();

    return at_ms == 0 || left > GUARD_SLEEP_MS ? GUARD_SLEEP_MS
           : left < 0                          ? 0
                                               : (int)left;
}

void *guard_share(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

pid_t guard_fork(void)
{
    pid_t pid = fork();
    sigset_t all;

    if (pid > 0)
        (void)setpgid(pid, pid); /* it may not have begun */
    if (pid != 0)
        return pid;
    (void)setpgid(0, 0);
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    (void)prctl(PR_SET_NAME, "zk-lockctl guard");
    return 0;
}

/* -- signals -------------------------------------------------------------- */

struct sending {
    struct guard *guard;
    int64_t since_ms;
    int sig;
    bool sent;
};

static void note(struct sending *s, int rc)
{
    if (rc == 0)
        s->sent = true;
    else if (errno == EPERM)
        atomic_store(&s->guard->refused, true);
}

/* The number of a child cannot be another's, as nobody else waits for it. */
static bool send_to(pid_t pid, void *arg)
{
    struct sending *s = arg;

    if (getpgid(pid) != atomic_load(&s->guard->command) &&
        (s->since_ms == 0 || proc_start_ms(pid) >= s->since_ms))
        note(s, kill(pid, s->sig));
    return true;
}

bool guard_signal_all(struct guard *g, int64_t since_ms, int sig)
{
    struct sending s = { g, since_ms, sig, false };

    note(&s, kill(-atomic_load(&g->command), sig));
    proc_each(PROC_CHILDREN, getpid(), send_to, &s);
    return s.sent;
}

/* -- the loop ------------------------------------------------------------- */

/* Notes what has become of the children; false when there is none. */
static bool reap(struct guard *g)
{
    int ended = GUARD_RUNS;
    bool news = false;
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        if (pid != atomic_load(&g->command))
            continue;
        news = true;
        if (WIFSTOPPED(status))
            atomic_store(&g->stopped_by, WSTOPSIG(status));
        else
            ended = status;
    }
    if (pid < 0)
        atomic_store(&g->empty, true);
    if (ended != GUARD_RUNS)
        atomic_store(&g->status, ended);
    if (news || pid < 0)
        (void)send(OWNER, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    return pid == 0;
}

/* False when the owner is dead. */
static bool obey(struct guard *g)
{
    struct guard_wish wish;

    if (recv(OWNER, &wish, sizeof(wish), 0) != sizeof(wish))
        return false;
    if (wish.sig == 0)
        _exit(0);
    if (wish.all)
        (void)guard_signal_all(g, 0, wish.sig);
    else
        (void)kill(-atomic_load(&g->command), wish.sig);
    return true;
}

/* It kills again and again: more may be forked meanwhile. Without an owner it
 * leaves alone whom it may not kill. */
static void watch(struct guard *g)
{
    struct pollfd fds[] = { { .fd = OWNER, .events = POLLIN },
                            { .fd = CHILDREN, .events = POLLIN } };
    struct signalfd_siginfo info;
    bool owned = true;

    while (reap(g)) {
        int sleep_ms = deadline_left_ms(&g->deadline);
        bool kills = !owned || sleep_ms == 0;

        if (sleep_ms == 0)
            atomic_store(&g->deadline.missed, true);
        if (kills && !guard_signal_all(g, 0, SIGKILL) && !owned &&
            atomic_load(&g->refused))
            return;
        if (poll(fds, 2, kills ? GUARD_AGAIN_MS : sleep_ms) <= 0)
            continue;
        (void)!read(CHILDREN, &info, sizeof(info));
        if (fds[OWNER].revents != 0 && !obey(g)) {
            owned = false;
            fds[OWNER].fd = -1;
        }
    }
}

/* -- the beginning -------------------------------------------------------- */

/* Runs between fork and exec: other threads may have held any lock of libc. */
static _Noreturn void become_command(struct guard *g,
                                     const struct guard_plan *plan,
                                     pid_t parent, int error_fd)
{
    int error;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before the line above took effect */
        _exit(127);
    (void)setpgid(0, 0);
    atomic_store(&g->command, getpid()); /* our parent may be stopped now */
    if (plan->lend)
        job_hand_over(plan->job, getpid());
    if (inherited_restore(plan->inherited) == 0)
        (void)execvpe(plan->argv[0], plan->argv, plan->env);
    error = errno;
    (void)!write(error_fd, &error, sizeof(error));
    _exit(127);
}

static _Noreturn void cannot_fork(int error_fd)
{
    int error = -errno;

    (void)!write(error_fd, &error, sizeof(error));
    _exit(0);
}

void guard_run(struct guard *g, const struct guard_plan *plan, int fd,
               int error_fd)
{
    pid_t self = getpid();
    sigset_t set;
    pid_t pid;

    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid = fork();
    if (pid == 0)
        become_command(g, plan, self, error_fd);
    if (pid < 0)
        cannot_fork(error_fd);
    (void)setpgid(pid, pid);
    atomic_store(&g->command, pid);
    (void)dup2(fd, OWNER);
    (void)close_range(OWNER + 1, ~0U, 0);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    (void)signalfd(-1, &set, SFD_NONBLOCK); /* it is the next free one */
    watch(g);
    _exit(0);
}
