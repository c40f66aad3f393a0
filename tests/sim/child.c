/* SPDX-License-Identifier: Apache-2.0 */
/* Simulates a forked process, as far as the library can tell. */
#include "child.h"

#include "base/process.h"

static bool is_child;

/* The linker sends the library's calls here: --wrap. */
bool __wrap_zkr__process_is(unsigned number);

bool __wrap_zkr__process_is(unsigned number)
{
    (void)number;
    return !is_child;
}

void child_reset(void)
{
    is_child = false;
}

void child_pretend(bool child)
{
    is_child = child;
}
