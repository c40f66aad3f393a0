/* SPDX-License-Identifier: Apache-2.0 */
/* Lists all locks below some paths, and finds what is wrong with them. It lists
 * some of them twice where something seems to be, as no list of many locks
 * shows them at one moment. */
#pragma once

#include "common/lockctl.h"
#include "model/doctor.h"

/* The looks of a verb, and what they have found. */
struct across {
    struct scan scan;  /* the first look, at all locks */
    struct scan again; /* the second one, at some of them */
    struct deadlocks deadlocks;
    struct findings findings; /* of `judge` */
    bool blind;               /* there may be findings where it did not see */
};

/* A judge finds more than deadlocks in a look of `across`. A state that is true
 * at the first look only is no finding. */
typedef void across_judge(struct lockctl *ctl, const struct scan *look,
                          struct across *across);

struct across_opts {
    struct scan_opts scan;
    int64_t confirm_ms;  /* between the two looks */
    bool possible;       /* also deadlocks that are only possible */
    across_judge *judge; /* NULL: only deadlocks are looked for */
};

/* The options that say where to look, of a verb whose own begin with struct
 * across_opts. */
/* clang-format off */
#define ACROSS_OPTIONS                                                         \
    { "confirm", .value = "DURATION", .type = OPT_MS,                          \
      .at = AT(across_opts, confirm_ms),                                             \
      .help = "look twice, so far apart; only what was there both times "      \
              "counts (1s)" },                                                 \
    SCAN_LIMIT(AT(across_opts, scan.limit)),                                         \
    SCAN_WITHIN(AT(across_opts, scan.timeout_ms))
#define ACROSS_OPTS_INIT { .scan.timeout_ms = 60000, .confirm_ms = 1000 }
/* clang-format on */

/* All of a verb that tells of what is below its paths, or "/" without one.
 * `print` returns an exit code; so does this, EX_NO with findings or confirmed
 * deadlocks. */
typedef int across_print(const struct lockctl *ctl, const struct across *a);
int across_run(struct lockctl *ctl, int argc, char **argv,
               const struct across_opts *opts, across_print *print);
