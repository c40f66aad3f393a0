/* SPDX-License-Identifier: Apache-2.0 */
/* Sleepers: processes that are stopped and continued, and report what their
 * grants say. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SLEEPERS = 16 };

/* Shared with the process. Instants are nanoseconds of CLOCK_BOOTTIME, 0:
 * never. */
struct seat {
    atomic_bool acquire; /* set by the test: ask for the lock */
    atomic_bool ready;   /* it has a session, and waits for `acquire` */
    atomic_llong session_id;
    atomic_llong granted;     /* when it was seen */
    atomic_llong last_ok;     /* zkr_grant_check() was called, and said yes */
    atomic_llong valid_until; /* the latest that was claimed */
};

struct sleeper {
    pid_t pid;
    struct seat *seat;
};

/* Start one on the seat `number`; -1 if not. From the main thread. */
int sleeper_start(struct sleeper *s, int number, const char *hosts,
                  uint32_t timeout_ms, const char *path);
void sleeper_stop(const struct sleeper *s);
void sleeper_go_on(const struct sleeper *s);
void sleeper_end(const struct sleeper *s);

/* The process runs this: it is the whole of main() when argc is
 * SLEEPER_ARGC. */
enum { SLEEPER_ARGC = 5 };
int sleeper_main(char **argv);
