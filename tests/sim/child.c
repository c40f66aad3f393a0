/* A process that was forked, as far as the library can tell. */
#include "child.h"

#include <unistd.h>

static bool is_child;

/* The linker sends the library's calls here: --wrap. */
pid_t __real_getpid(void);
pid_t __wrap_getpid(void);

pid_t __wrap_getpid(void)
{
    return __real_getpid() + is_child;
}

void child_pretend(bool child)
{
    is_child = child;
}
