/* SPDX-License-Identifier: Apache-2.0 */
/* A peer of the benchmark in C: benches, and a main() that obeys the
 * driver. ../peer.py says what the driver writes and expects. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct peer_bench {
    const char *name;
    void (*prepare)(void); /* connect, warm up; the peer is ready then */
    void (*run)(long n);   /* n cycles */
    void (*finish)(void);
};

/* Serves one of these benches, the one that the command line names; an element
 * without a name is the end. The value is that of main(). */
int peer_main(int argc, char **argv, const struct peer_bench *benches);

/* The servers: the first argument. */
const char *peer_target(void);

/* The value of key=value on the command line. */
const char *peer_option(const char *key, const char *otherwise);
long peer_number(const char *key, long otherwise);

/* For runs that prepare something, or that clean up: only what is between these
 * two is measured. Without them it is the whole run. */
void peer_begin(void);
void peer_end(void);

/* Adds a figure of one cycle to the answer to this run. */
void peer_figure(const char *key, double value);

/* End the process. */
_Noreturn void peer_error(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
_Noreturn void peer_unsupported(const char *why);

/* A monotonic clock, and the CPU time of this process. */
int64_t peer_now_ns(void);
int64_t peer_cpu_ns(void);

/* Sorts values; p in 0..1. */
int64_t peer_quantile(int64_t *values, size_t count, double p);
