/* SPDX-License-Identifier: Apache-2.0 */
/* Runs schedules, each in a process of its own that may crash. */
#include "runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "world.h"

static bool await(struct report *r, pid_t child)
{
    int status = 0;

    if (child < 0)
        abort();
    while (waitpid(child, &status, 0) < 0)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        if (r->text[0] == '\0')
            (void)snprintf(r->text, sizeof(r->text), "the process died");
        return false;
    }
    return true;
}

/* In the child: the choices come from the script, or from the seed alone. */
static bool run(struct report *r, const uint32_t *script, size_t count,
                uint64_t seed)
{
    pid_t child;

    (void)fflush(NULL);
    r->text[0] = '\0';
    child = fork();
    if (child == 0) {
        report_begin(r);
        if (script == NULL)
            choices_begin(&r->choices, seed);
        else
            choices_replay(&r->choices, script, count, seed);
        world_run();
        (void)fflush(NULL);
        _exit(0);
    }
    return await(r, child);
}

bool run_seed(struct report *r, uint64_t seed)
{
    return run(r, NULL, 0, seed);
}

bool run_script(struct report *r, const uint32_t *script, size_t count,
                uint64_t seed)
{
    return run(r, script, count, seed);
}
