/* SPDX-License-Identifier: Apache-2.0 */
/* Lists all locks below some paths, and finds the deadlocks among them. It
 * lists some of them twice where there seems to be a deadlock, as no list of
 * many locks shows them at one moment. */
#ifndef MODEL_ACROSS_H
#define MODEL_ACROSS_H

#include "common/lockctl.h"
#include "model/deadlock.h"
#include "model/scan.h"

struct across_opts {
    struct scan_opts scan;
    int64_t confirm_ms; /* between the two lists */
    bool possible;      /* also what is only possible */
};

struct across {
    struct scan scan; /* the later one */
    struct deadlocks deadlocks;
};

/* The options that say where to look, of a verb whose own begin with struct
 * across_opts. */
/* clang-format off */
#define ACROSS_AT(member) offsetof(struct across_opts, member)
#define ACROSS_OPTIONS                                                         \
    { "confirm", .value = "DURATION", .type = OPT_MS,                          \
      .at = ACROSS_AT(confirm_ms),                                             \
      .help = "look twice, so far apart; only what was there both times "      \
              "counts (1s)" },                                                 \
    SCAN_DEPTH(ACROSS_AT(scan.depth)),                                         \
    SCAN_LIMIT(ACROSS_AT(scan.limit)),                                         \
    SCAN_WITHIN(ACROSS_AT(scan.timeout_ms))
#define ACROSS_OPTS_INIT { .scan.timeout_ms = 60000, .confirm_ms = 1000 }
/* clang-format on */

/* All of a verb that stores its options into struct across_opts, and tells of
 * what is below its paths, or "/" without one. `print` returns an exit code; so
 * does this, EX_NO with confirmed deadlocks. */
typedef int across_print(const struct lockctl *ctl, const struct across *a);
int across_run(struct lockctl *ctl, const struct verb *verb, int argc,
               char **argv, across_print *print);

/* List the wanted locks of a scan again: it has them as they are now, and
 * `ret_before` as they were. Those that have gone are in neither. 0, or an exit
 * code after an error was said. */
int across_again(struct lockctl *ctl, const struct scan_opts *opts,
                 const bool *wanted, struct scan *scan,
                 struct scan *ret_before);

/* Say how many of them are possible only. */
void across_note_possible(const struct deadlocks *deadlocks,
                          struct notes *notes);

/* Between the two lists. It is said when it is long. */
void across_pause(const struct lockctl *ctl, int64_t ms);

/* Only list them, once, with a session that is there. 0, or an exit code after
 * an error was said. */
int across_scan(struct lockctl *ctl, char *const *paths, int path_count,
                const struct scan_opts *opts, struct scan *ret_scan);

#endif
