/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what we were started with for the command. The sockets of the ZooKeeper
 * client are not close-on-exec, nor can we make them so: it opens new ones
 * whenever it likes. */
#include "run/inherited.h"

#include <dirent.h>
#include <stdlib.h>

#include <fcntl.h>
#include <linux/close_range.h>
#include <unistd.h>

#include "common/grow.h"
#include "common/stop.h"

/* -- descriptors ---------------------------------------------------------- */

void inherited_fill_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", O_RDWR | O_CLOEXEC);
    }
}

int inherited_note(struct inherited *in)
{
    DIR *dir = opendir("/proc/self/fd");
    struct dirent *entry;

    if (dir == NULL)
        return -1;
    while ((entry = readdir(dir)) != NULL) {
        int fd = atoi(entry->d_name);
        int flags = fd > 2 && fd != dirfd(dir) ? fcntl(fd, F_GETFD) : -1;

        if (flags != -1 && (flags & FD_CLOEXEC) == 0)
            *(int *)grow_array(&in->fds, &in->count, sizeof(fd)) = fd;
    }
    (void)closedir(dir);
    return 0;
}

void inherited_done(struct inherited *in)
{
    free(in->fds);
    in->fds = NULL;
    in->count = 0;
}

void inherited_close(const struct inherited *in)
{
    for (size_t i = 0; i < in->count; i++)
        (void)close(in->fds[i]);
}

static int close_others_on_exec(const struct inherited *in)
{
    int rc = close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);

    for (size_t i = 0; rc == 0 && i < in->count; i++)
        rc = fcntl(in->fds[i], F_SETFD, 0);
    return rc;
}

/* -- signals -------------------------------------------------------------- */

static const int passed_on[] = { SIGINT,  SIGTERM, SIGHUP,   SIGQUIT,
                                 SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP,
                                 SIGCONT, SIGTTIN, SIGTTOU };

int inherited_take_signals(struct inherited *in, int also)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    struct sigaction normal = { .sa_handler = SIG_DFL };
    sigset_t wanted;

    (void)sigemptyset(&wanted);
    (void)sigaddset(&wanted, SIGCHLD);
    (void)sigaddset(&wanted, also);
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
        signal_add(&wanted, passed_on[i]);
    if (sigprocmask(SIG_BLOCK, &wanted, &in->mask) != 0)
        return -1;
    /* A closed stderr must not end us; ignored children leave no status. */
    (void)sigaction(SIGPIPE, &ignore, &in->pipe);
    (void)sigaction(SIGCHLD, &normal, &in->child);
    in->signal_fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    return in->signal_fd < 0 ? -1 : 0;
}

int inherited_restore(const struct inherited *in)
{
    if (close_others_on_exec(in) != 0)
        return -1;
    (void)sigaction(SIGPIPE, &in->pipe, NULL);
    (void)sigaction(SIGCHLD, &in->child, NULL);
    return sigprocmask(SIG_SETMASK, &in->mask, NULL);
}

size_t signals_read(const struct inherited *in,
                    struct signalfd_siginfo came[SIGNALS_MAX])
{
    ssize_t n = read(in->signal_fd, came, SIGNALS_MAX * sizeof(came[0]));

    return n < 0 ? 0 : (size_t)n / sizeof(came[0]);
}

/* Without a parent in our session our group is orphaned, but for the command,
 * whose parent is the guard. 0 is a parent outside of our container. */
bool signals_stop_us(void)
{
    pid_t parent = getppid();

    if (parent == 0 || getsid(parent) != getsid(0))
        return false;
    (void)kill(getpid(), SIGSTOP);
    return true;
}

bool signals_is_fatal(int sig)
{
    return sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT ||
           sig == SIGUSR1 || sig == SIGUSR2;
}
