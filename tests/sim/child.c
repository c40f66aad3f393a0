/* SPDX-License-Identifier: Apache-2.0 */
/* Simulates a forked process, as far as the library can tell. */
#include "child.h"

#include <unistd.h>

static bool is_child;
static pid_t own; /* the library asks often */

/* The linker sends the library's calls here: --wrap. */
pid_t __real_getpid(void);
pid_t __wrap_getpid(void);

pid_t __wrap_getpid(void)
{
    return own + is_child;
}

void child_reset(void)
{
    own = __real_getpid();
    is_child = false;
}

void child_pretend(bool child)
{
    is_child = child;
}
