/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the terminal to a process group, and takes it back (job control). */
#include "run/tty.h"

#include <signal.h>

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

bool tty_belongs_to(const struct tty *tty, pid_t group)
{
    return tty->fd >= 0 && tcgetpgrp(tty->fd) == group;
}

bool tty_is_ours(const struct tty *tty)
{
    return tty_belongs_to(tty, getpgrp());
}

void tty_open(struct tty *tty)
{
    tty->fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    tty->give = tty->fd >= 0 && tcgetsid(STDIN_FILENO) == getsid(0);
}

void tty_hand_over(const struct tty *tty, pid_t group)
{
    if (tty->fd >= 0)
        (void)tcsetpgrp(tty->fd, group);
}

void tty_take_back(const struct tty *tty, pid_t group)
{
    if (tty_belongs_to(tty, group))
        (void)tcsetpgrp(tty->fd, getpgrp());
}

void tty_tell_job(int sig)
{
    (void)kill(0, sig);
}

bool tty_stop_with_job(void)
{
    pid_t parent = getppid();

    /* Without a parent in our session our group is orphaned: the kernel would
     * not stop it either. 0 is a parent outside of our container. */
    if (parent == 0 || getsid(parent) != getsid(0))
        return false;
    (void)kill(0, SIGTSTP); /* blocked here, so it stops the others */
    (void)kill(getpid(), SIGSTOP);
    return true;
}
