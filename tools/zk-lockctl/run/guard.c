/* SPDX-License-Identifier: Apache-2.0 */
/* The guard. Orphans below that of a command become its children, so it finds
 * all that the command has started. */
#include "run/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/lockctl.h"
#include "common/now.h"
#include "run/proc.h"

/* Its descriptors: a socket to its owner; and what tells of children, or of the
 * end of the shell. */
enum { OWNER, NEWS };

enum { SLEEP_MS = 1000 };

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

/* The number of a command that has joined us may be another's after its end; a
 * group is gone with its last process. 0: it was not forked, and is not we. */
static int send_to_command(const struct guard *g, int sig)
{
    pid_t pid = atomic_load(&g->command);

    if (pid == 0)
        return -1;
    if (!g->joined)
        return kill(-pid, sig);
    return atomic_load(&g->status) == GUARD_RUNS ? kill(pid, sig) : -1;
}

/* Those whom that does not reach: children, whose numbers cannot be others', as
 * nobody else waits for them; and what is below a command without a group. */
static bool is_other(const struct guard *g, pid_t pid)
{
    pid_t command = atomic_load(&g->command);

    return g->joined ? pid != command && proc_is_below(pid, getpid())
                     : proc_parent(pid) == getpid() && getpgid(pid) != command;
}

static bool send_to(pid_t pid, void *arg)
{
    struct sending *s = arg;

    if (is_other(s->guard, pid) &&
        (s->since_ms == 0 || proc_start_ms(pid) >= s->since_ms))
        note(s, kill(pid, s->sig));
    return true;
}

bool guard_signal_all(struct guard *g, struct shell *shell, int64_t since_ms,
                      int sig)
{
    struct sending s = { g, since_ms, sig, false };

    if (shell != NULL) {
        shell_signal(shell, sig);
        return !shell_has_ended(shell) || shell_has_left(shell);
    }
    errno = 0;
    note(&s, send_to_command(g, sig));
    proc_each(send_to, &s);
    return s.sent;
}

/* -- the loop ------------------------------------------------------------- */

/* Notes what has become of the children; false when there is none. */
static bool reap(struct guard *g)
{
    int ended = GUARD_RUNS;
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == atomic_load(&g->command))
            ended = status;
    }
    if (pid < 0)
        atomic_store(&g->empty, true);
    if (ended != GUARD_RUNS)
        atomic_store(&g->status, ended);
    if (ended != GUARD_RUNS || pid < 0)
        (void)send(OWNER, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    return pid == 0;
}

/* Tells whether there is anybody to be guarded. The owner of a shell sees its
 * end, too, and ends the guard of one. */
static bool is_needed(struct guard *g, struct shell *shell, bool owned)
{
    if (shell == NULL)
        return reap(g);
    bool ended = shell_has_ended(shell) && !shell_has_left(shell);
    atomic_store(&g->empty, ended);
    return owned || !ended;
}

/* False when the owner is dead. */
static bool obey(struct guard *g, struct shell *shell)
{
    struct guard_wish wish;

    if (recv(OWNER, &wish, sizeof(wish), 0) != sizeof(wish))
        return false;
    if (wish.sig == 0)
        _exit(0);
    if (wish.all)
        (void)guard_signal_all(g, shell, 0, wish.sig);
    else
        (void)send_to_command(g, wish.sig);
    return true;
}

/* An owner that was killed keeps the lock until its session times out, but
 * nobody would tell the shell when that is over. */
static void tell_shell(const struct guard_plan *plan, bool owned)
{
    shell_speak(plan->shell);
    (void)lockctl_fail(EX_LOST, "LOCK LOST: %s%s",
                       owned ? "the process that kept it did not run until the "
                               "lease was over"
                             : "the process that kept it was killed",
                       shell_whom(plan->last));
    shell_silence();
}

/* The owner cannot end the work. Tells whether there is anybody else whom the
 * last signal may end. */
static bool end_work(struct guard *g, const struct guard_plan *plan, bool owned)
{
    bool told = atomic_exchange(&g->told, true);

    if (!told)
        tell_shell(plan, owned);
    if (told && plan->last != SIGKILL)
        return false;
    return guard_signal_all(g, plan->shell, 0, plan->last) &&
           plan->last == SIGKILL;
}

/* 0: the deadline has passed; SLEEP_MS at most. */
static int left_ms(const struct guard *g)
{
    int64_t at_ms = atomic_load(&g->deadline_ms);
    int64_t left = at_ms - clock_boot_ms();

    return at_ms == 0 || left > SLEEP_MS ? SLEEP_MS : left < 0 ? 0 : (int)left;
}

/* It kills again and again: more may be forked meanwhile. Without an owner it
 * leaves alone whom it may not kill. */
static void watch(struct guard *g, const struct guard_plan *plan)
{
    struct pollfd fds[] = { { .fd = OWNER, .events = POLLIN },
                            { .fd = NEWS, .events = POLLIN } };
    struct signalfd_siginfo info;
    bool owned = true;
    bool again = false;

    while (is_needed(g, plan->shell, owned)) {
        int sleep_ms = left_ms(g);

        if (sleep_ms == 0)
            atomic_store(&g->missed, true);
        if (!owned || sleep_ms == 0) {
            again = end_work(g, plan, owned);
            sleep_ms = again || plan->shell == NULL ? GUARD_AGAIN_MS : SLEEP_MS;
        }
        if (!owned && !again &&
            (plan->shell != NULL || atomic_load(&g->refused)))
            return;
        if (plan->shell != NULL && shell_has_ended(plan->shell))
            fds[NEWS].fd = -1;
        if (poll(fds, 2, sleep_ms) <= 0)
            continue;
        if (plan->shell == NULL)
            (void)!read(NEWS, &info, sizeof(info));
        if (fds[OWNER].revents != 0 && !obey(g, plan->shell)) {
            owned = false;
            fds[OWNER].fd = -1;
            if (plan->shell != NULL && atomic_load(&g->deadline_ms) == 0)
                return;
        }
    }
}

/* -- the beginning -------------------------------------------------------- */

/* Runs between fork and exec: other threads may have held any lock of libc. */
static _Noreturn void become_command(struct guard *g,
                                     const struct guard_plan *plan,
                                     pid_t parent, int error_fd)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before the line above took effect */
        _exit(127);
    (void)setpgid(0, plan->group);
    atomic_store(&g->command, getpid()); /* our parent may be stopped now */
    if (inherited_restore(plan->inherited) == 0)
        (void)execvpe(plan->argv[0], plan->argv, plan->env);
    int error = errno;
    (void)!write(error_fd, &error, sizeof(error));
    _exit(127);
}

static void start_command(struct guard *g, const struct guard_plan *plan,
                          int error_fd)
{
    pid_t self = getpid();
    int error;

    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t pid = fork();
    if (pid == 0)
        become_command(g, plan, self, error_fd);
    if (pid < 0) {
        error = -errno;
        (void)!write(error_fd, &error, sizeof(error));
        _exit(0);
    }
    (void)setpgid(pid, plan->group);
    atomic_store(&g->command, pid);
}

/* No pipe of the command or the shell stays open with us. */
static void take_descriptors(const struct guard_plan *plan, int fd)
{
    sigset_t set;

    (void)dup2(fd, OWNER);
    if (plan->shell != NULL) {
        (void)dup2(plan->shell->process.fd, NEWS);
        plan->shell->process.fd = NEWS;
        shell_silence();
        (void)close_range(STDERR_FILENO + 1, ~0U, 0);
        return;
    }
    (void)close_range(OWNER + 1, ~0U, 0);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    (void)signalfd(-1, &set, SFD_NONBLOCK); /* it is the next free one */
}

void guard_run(struct guard *g, const struct guard_plan *plan, int fd,
               int error_fd)
{
    if (plan->shell == NULL)
        start_command(g, plan, error_fd);
    take_descriptors(plan, fd);
    watch(g, plan);
    _exit(0);
}
