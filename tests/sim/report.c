/* SPDX-License-Identifier: Apache-2.0 */
/* The report of how a schedule ended, for the process that supervises this
 * one, and of the reasons for which claims have moved in it. */
#include "report.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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
