/* SPDX-License-Identifier: Apache-2.0 */
/* Receives signals as events: those that we pass on, and the end of a child. */
#include "run/signals.h"

#include <stddef.h>

#include <sys/signalfd.h>
#include <unistd.h>

#include "common/one_signal.h"

static const int passed_on[] = { SIGINT,  SIGTERM, SIGHUP,   SIGQUIT,
                                 SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP,
                                 SIGCONT, SIGTTIN, SIGTTOU };

int signals_take(struct signals *s)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    struct sigaction normal = { .sa_handler = SIG_DFL };
    sigset_t wanted;
    sigset_t blocked;

    (void)sigemptyset(&wanted);
    (void)sigaddset(&wanted, SIGCHLD);
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
        signal_add(&wanted, passed_on[i]);
    /* Handing over a terminal that is not ours must not stop us. */
    blocked = wanted;
    (void)sigaddset(&blocked, SIGTTOU);
    if (sigprocmask(SIG_BLOCK, &blocked, &s->mask_before) != 0)
        return -1;
    /* A closed stderr must not end us; ignored children leave no status. */
    (void)sigaction(SIGPIPE, &ignore, &s->pipe_before);
    (void)sigaction(SIGCHLD, &normal, &s->child_before);
    s->fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->fd < 0 ? -1 : 0;
}

void signals_restore(const struct signals *s)
{
    (void)sigaction(SIGPIPE, &s->pipe_before, NULL);
    (void)sigaction(SIGCHLD, &s->child_before, NULL);
    (void)sigprocmask(SIG_SETMASK, &s->mask_before, NULL);
}

int signals_next(const struct signals *s)
{
    struct signalfd_siginfo info;

    return read(s->fd, &info, sizeof(info)) == sizeof(info)
               ? (int)info.ssi_signo
               : 0;
}

void signals_collect(const struct signals *s, sigset_t *ret_arrived)
{
    int sig;

    (void)sigemptyset(ret_arrived);
    while ((sig = signals_next(s)) != 0)
        (void)sigaddset(ret_arrived, sig);
}

bool signals_is_fatal(int sig)
{
    return sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT ||
           sig == SIGUSR1 || sig == SIGUSR2;
}
