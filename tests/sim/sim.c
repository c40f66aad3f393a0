/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator: runs random schedules from seeds, on several cores. */
#include <getopt.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "world.h"

#define JOBS_MAX 64

static struct {
    uint64_t seed;
    bool one;
    uint64_t schedules;
    int jobs;
    bool shrink;
} options = { 1, false, 10000, 2, true };

static const char usage[] =
    "usage: sim [--schedules N] [--seed N] [--jobs N] [--recipe NAME]\n"
    "           [--faults LETTERS] [--no-shrink] [--verbose]\n"
    "\n"
    "  --schedules N  so many, from the seed on (default 10000)\n"
    "  --seed N       the first (default 1); without --schedules only this\n"
    "  --jobs N       processes (default 2)\n"
    "  --recipe NAME  mutex, rwlock, unfair, reentrant, latch,\n"
    "                 semaphore or multi only\n"
    "  --faults L     only these, by their letters in faults.c\n"
    "  --no-shrink    show a failing schedule as it is\n"
    "  --verbose      show what happens\n";

static _Noreturn void wrong_usage(void)
{
    (void)fputs(usage, stderr);
    exit(64);
}

static int recipe_named(const char *name)
{
    static const char *const names[RECIPES] = {
        "mutex", "rwlock", "unfair", "reentrant", "latch", "semaphore", "multi"
    };

    for (int i = 0; i < RECIPES; i++) {
        if (strcmp(names[i], name) == 0)
            return i;
    }
    wrong_usage();
}

static void read_options(int argc, char **argv)
{
    enum { SCHEDULES, SEED, JOBS, RECIPE, FAULTS, NO_SHRINK, VERBOSE, COUNT };
    static const struct option known[] = {
        { "schedules", required_argument, NULL, SCHEDULES },
        { "seed", required_argument, NULL, SEED },
        { "jobs", required_argument, NULL, JOBS },
        { "recipe", required_argument, NULL, RECIPE },
        { "faults", required_argument, NULL, FAULTS },
        { "no-shrink", no_argument, NULL, NO_SHRINK },
        { "verbose", no_argument, NULL, VERBOSE },
        { NULL, 0, NULL, 0 },
    };
    const char *values[COUNT] = { NULL };
    int c;

    while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (c == '?')
            wrong_usage();
        values[c] = optarg != NULL ? optarg : "";
    }
    options.one = values[SEED] != NULL && values[SCHEDULES] == NULL;
    if (values[SEED] != NULL)
        options.seed = strtoull(values[SEED], NULL, 0);
    if (values[SCHEDULES] != NULL || options.one)
        options.schedules =
            options.one ? 1 : strtoull(values[SCHEDULES], NULL, 0);
    if (values[JOBS] != NULL)
        options.jobs = atoi(values[JOBS]);
    if (options.one || options.jobs < 1 || options.jobs > JOBS_MAX)
        options.jobs = 1;
    if (values[RECIPE] != NULL)
        world_limits.recipe = recipe_named(values[RECIPE]);
    world_limits.faults = values[FAULTS];
    world_limits.verbose = values[VERBOSE] != NULL;
    options.shrink = values[NO_SHRINK] == NULL;
}

static _Noreturn void work(struct report *r, uint64_t first, uint64_t step)
{
    report_begin(r);
    for (uint64_t i = first; i < options.schedules; i += step) {
        r->seed = options.seed + i;
        choices_begin(&r->choices, NULL, 0, r->seed);
        world_run();
        r->done++;
    }
    exit(0); /* for what reports at the end */
}

static void show(struct report *r)
{
    uint64_t seed = r->seed;

    printf("seed %llu fails: %s\n", (unsigned long long)seed, r->text);
    if (options.shrink) {
        size_t before = r->choices.count;
        size_t after = shrink(r);

        printf("shrunk from %zu to %zu choices: %s\n", before, after, r->text);
    }
    printf("repeat it with --seed %llu%s%s\n", (unsigned long long)seed,
           options.shrink ? "" : " --no-shrink",
           world_limits.recipe < 0 && world_limits.faults == NULL
               ? ""
               : " and the same --recipe and --faults");
    /* what was shown before is not shown once more */
    if (options.shrink ? world_limits.verbose || options.one
                       : options.one && !world_limits.verbose) {
        static uint32_t script[CHOICES_MAX];

        memcpy(script, r->choices.made, sizeof(r->choices.made));
        world_talk();
        (void)run_script(r, script, r->choices.count, seed);
    }
}

static int run_many(void)
{
    struct report *reports[JOBS_MAX];
    pid_t children[JOBS_MAX];
    struct timespec began;
    struct timespec ended;
    uint64_t ways[WAYS] = { 0 };
    uint64_t done = 0;
    int failed = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &began);
    for (int j = 0; j < options.jobs; j++) {
        reports[j] = report_new();
        (void)fflush(NULL);
        children[j] = fork();
        if (children[j] == 0)
            work(reports[j], (uint64_t)j, (uint64_t)options.jobs);
    }
    for (int j = 0; j < options.jobs; j++) {
        int status = 0;

        (void)waitpid(children[j], &status, 0);
        done += reports[j]->done;
        for (int w = 0; w < WAYS; w++)
            ways[w] += reports[j]->ways[w];
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            failed++;
            show(reports[j]);
        }
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%llu schedules in %ld s, %d failed\n", (unsigned long long)done,
           (long)(ended.tv_sec - began.tv_sec), failed);
    for (int w = 0; w < WAYS; w++)
        printf("%9llu times: %s\n", (unsigned long long)ways[w], ways_names[w]);
    return failed > 0;
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    if (world_limits.verbose)
        world_talk();
    return run_many();
}
