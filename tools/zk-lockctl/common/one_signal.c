/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a signal, and obeys one: for stop, run and top. */
#include "common/one_signal.h"

#include <stddef.h>

void signal_add(sigset_t *set, int sig)
{
    struct sigaction now;

    if (sigaction(sig, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        (void)sigaddset(set, sig);
}

void signal_obey(int sig)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, sig);
    (void)signal(sig, SIG_DFL);
    (void)raise(sig);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* it arrives here */
}
