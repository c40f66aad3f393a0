/* SPDX-License-Identifier: Apache-2.0 */
/* Runs schedules, each in a process of its own that may crash; and finds the
 * simplest schedule that fails in the same way. */

#include "world.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
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

const char *const ways_names[WAYS] = {
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

void ways_taken(const char *why)
{
    for (int w = 0; w < WAYS; w++)
        report->ways[w] += strcmp(why, ways_names[w]) == 0;
}

/* -- runs ------------------------------------------------------------------ */

bool runs_together;

static void run_here(struct report *r, const uint32_t *script, size_t count,
                     uint64_t seed)
{
    report_begin(r);
    r->loud = runs_together;
    choices_begin(&r->choices, script, count, seed);
    world_run();
}

bool run_script(struct report *r, const uint32_t *script, size_t count,
                uint64_t seed)
{
    int status = 0;

    r->text[0] = '\0';
    if (runs_together) {
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
    if (child < 0)
        abort();
    while (waitpid(child, &status, 0) < 0)
        ;
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!good && r->text[0] == '\0')
        (void)snprintf(r->text, sizeof(r->text), "the process died");
    return good;
}

/* -- shrinking ------------------------------------------------------------- */

/* Tries are cheap, but not free. */
#define TRIES 6000

struct shrinking {
    struct report *report;
    uint64_t seed;
    char kind[16]; /* how the text of the failure begins */
    uint32_t best[CHOICES_MAX];
    size_t count;
    uint32_t next[CHOICES_MAX];
    int tries;
};

/* "at 12.345 ms: P1: ..." */
static void kind_of(char kind[16], const char *text)
{
    const char *p = strstr(text, "ms: ");

    (void)snprintf(kind, 16, "%.15s", p == NULL ? text : p + 4);
}

static bool fails(struct shrinking *s, size_t count)
{
    char kind[16];

    s->tries++;
    if (run_script(s->report, s->next, count, s->seed))
        return false;
    kind_of(kind, s->report->text);
    if (strcmp(kind, s->kind) != 0)
        return false;
    s->count =
        s->report->choices.count < count ? s->report->choices.count : count;
    memcpy(s->best, s->next, s->count * sizeof(*s->best));
    return true;
}

enum way { WITHOUT, ZEROED, HALVED };

/* Tries it with so many of the choices made simpler. */
static bool is_better(struct shrinking *s, enum way way, size_t from,
                      size_t len)
{
    uint32_t *some = s->next + from;
    size_t count = way == WITHOUT ? s->count - len : s->count;

    memcpy(s->next, s->best, s->count * sizeof(*s->best));
    if (way == WITHOUT)
        memmove(some, some + len, (count - from) * sizeof(*some));
    for (size_t i = 0; way != WITHOUT && i < len; i++)
        some[i] = way == ZEROED ? 0 : some[i] / 2;
    bool is_other = memcmp(s->next, s->best, count * sizeof(*some)) != 0;
    return (is_other || way == WITHOUT) && fails(s, count);
}

size_t shrink(struct report *r)
{
    static struct shrinking s;
    bool better = true;

    s = (struct shrinking){ .report = r, .seed = r->seed };
    s.count = r->choices.count;
    memcpy(s.best, r->choices.made, s.count * sizeof(*s.best));
    kind_of(s.kind, r->text);
    while (better && s.tries < TRIES) {
        better = false;
        for (size_t len = s.count / 2; len > 0; len /= 2) {
            for (size_t from = 0; from + len <= s.count && s.tries < TRIES;) {
                bool shorter = is_better(&s, WITHOUT, from, len);

                better = shorter || is_better(&s, ZEROED, from, len) || better;
                from += shorter ? 0 : len;
            }
        }
        for (size_t at = 0; at < s.count && s.tries < TRIES;) {
            bool lower = is_better(&s, HALVED, at, 1);

            better = lower || better;
            at += lower ? 0 : 1;
        }
    }
    (void)run_script(r, s.best, s.count, r->seed);
    while (s.count > 0 && r->choices.made[s.count - 1] == 0)
        s.count--;
    return s.count;
}
