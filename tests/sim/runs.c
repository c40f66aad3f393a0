/* SPDX-License-Identifier: Apache-2.0 */
/* Runs schedules, each in a process of its own that may crash. */
#include "runs.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "world.h"

struct report *report;

struct report *report_new(void)
{
    struct report *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (r == MAP_FAILED)
        abort();
    return r;
}

static _Noreturn void fail(const char *text)
{
    (void)snprintf(report->text, sizeof(report->text), "%s", text);
    if (report->loud)
        (void)dprintf(STDERR_FILENO, "%s\n", text);
    _exit(1);
}

void report_failure(const char *text)
{
    (void)fflush(NULL);
    fail(text);
}

static void on_signal(int number)
{
    fail(number == SIGABRT ? "the library ends by abort"
                           : "the library ends by a bad access");
}

void report_begin(struct report *r)
{
    static char stack[65536];
    const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
    struct sigaction action = { .sa_handler = on_signal,
                                .sa_flags = SA_ONSTACK };

    report = r;
    (void)sigaltstack(&other, NULL);
    (void)sigaction(SIGABRT, &action, NULL);
    (void)sigaction(SIGSEGV, &action, NULL);
    (void)sigaction(SIGBUS, &action, NULL);
}

/* -- ways ------------------------------------------------------------------ */

static const char *const names[WAYS] = {
    "created, with the next number",
    "nobody is ahead",
    "one of ours is ahead",
    "the one before us has given it back",
    "first of ours",
    "the only node ahead has gone",
    "the node before us has changed",
    "our own node has gone",
    "our node was deleted",
    "directory gone",
    "the ensemble has no such node",
    "first, but for ghosts",
};

const char *ways_name(int way)
{
    return names[way];
}

void ways_taken(const char *why)
{
    for (int w = 0; w < WAYS; w++)
        report->ways[w] += strcmp(why, names[w]) == 0;
}

/* -- runs ------------------------------------------------------------------ */

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
