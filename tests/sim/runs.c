/* SPDX-License-Identifier: Apache-2.0 */
/* Runs schedules, each in a process of its own that may crash. */
#include "runs.h"

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

static bool together;

void runs_together(void)
{
    together = true;
}

static void run_here(struct report *r, const uint32_t *script, size_t count,
                     uint64_t seed)
{
    report_begin(r);
    r->loud = together;
    choices_begin(&r->choices, script, count, seed);
    world_run();
}

bool run_script(struct report *r, const uint32_t *script, size_t count,
                uint64_t seed)
{
    r->text[0] = '\0';
    if (together) {
        run_here(r, script, count, seed);
        return true;
    }
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        run_here(r, script, count, seed);
        (void)fflush(NULL);
        _exit(0);
    }
    return await(r, child);
}
