/* SPDX-License-Identifier: Apache-2.0 */
/* The side of a peer that talks to the driver. */
#include "peer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <time.h>
#include <unistd.h>

enum { FIGURES_MAX = 32 };

static const char *target;
static char **options;

static struct {
    const char *key;
    double value;
} figures[FIGURES_MAX];
static size_t figure_count;

static int64_t wall_begin, wall_end;
static int64_t cpu_begin, cpu_end;

static int64_t clock_ns(clockid_t clock)
{
    struct timespec ts;

    (void)clock_gettime(clock, &ts);
    return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

int64_t peer_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

int64_t peer_cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void peer_begin(void)
{
    cpu_begin = peer_cpu_ns();
    wall_begin = peer_now_ns();
}

void peer_end(void)
{
    wall_end = peer_now_ns();
    cpu_end = peer_cpu_ns();
}

const char *peer_target(void)
{
    return target;
}

const char *peer_option(const char *key, const char *otherwise)
{
    size_t len = strlen(key);

    for (char **o = options; *o != NULL; o++) {
        if (strncmp(*o, key, len) == 0 && (*o)[len] == '=')
            return *o + len + 1;
    }
    return otherwise;
}

long peer_number(const char *key, long otherwise)
{
    const char *value = peer_option(key, NULL);
    char *end;

    if (value == NULL)
        return otherwise;
    long number = strtol(value, &end, 10);
    if (end == value || *end != '\0')
        peer_error("%s=%s is not a number", key, value);
    return number;
}

void peer_figure(const char *key, double value)
{
    if (figure_count == FIGURES_MAX)
        peer_error("more than %d figures", FIGURES_MAX);
    figures[figure_count].key = key;
    figures[figure_count].value = value;
    figure_count++;
}

/* _exit: other threads may be at work, and nothing of this process is needed.
 */
void peer_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)printf("error ");
    (void)vprintf(format, args);
    (void)printf("\n");
    va_end(args);
    (void)fflush(stdout);
    _exit(1);
}

void peer_unsupported(const char *why)
{
    (void)printf("unsupported %s\n", why);
    (void)fflush(stdout);
    _exit(0);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

int64_t peer_quantile(int64_t *values, size_t count, double p)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof(values[0]), ascending);
    return values[(size_t)(p * (double)(count - 1))];
}

static void run(const struct peer_bench *bench, long n)
{
    figure_count = 0;
    wall_end = 0;
    peer_begin();
    bench->run(n);
    if (wall_end == 0)
        peer_end();
    (void)printf("done %" PRId64 " %" PRId64, wall_end - wall_begin,
                 cpu_end - cpu_begin);
    for (size_t i = 0; i < figure_count; i++)
        (void)printf(" %s=%.9g", figures[i].key, figures[i].value);
    (void)printf("\n");
}

static void obey(const struct peer_bench *bench)
{
    char line[64];
    long n;

    while (fgets(line, sizeof(line), stdin) != NULL) {
        if (strcmp(line, "quit\n") == 0)
            return;
        if (sscanf(line, "run %ld", &n) != 1 || n < 0)
            peer_error("what is this: %s", strtok(line, "\n"));
        run(bench, n);
        (void)fflush(stdout);
    }
}

int peer_main(int argc, char **argv, const struct peer_bench *benches)
{
    if (argc < 3)
        peer_error("usage: %s TARGET BENCH [key=value]...", argv[0]);
    target = argv[1];
    options = argv + 3;
    for (; benches->name != NULL; benches++) {
        if (strcmp(benches->name, argv[2]) == 0)
            break;
    }
    if (benches->name == NULL)
        peer_unsupported("no such bench");
    benches->prepare();
    (void)printf("ready\n");
    (void)fflush(stdout);
    obey(benches);
    if (benches->finish != NULL)
        benches->finish();
    return 0;
}
