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
    int64_t confirm_ms; /* between the two lists; -1: not said */
    bool possible;      /* also what is only possible */
};

struct across {
    struct scan scan; /* the later one */
    struct deadlocks deadlocks;
};

/* The options that say where to look. Several verbs share them; a verb's own
 * options follow them. */
enum {
    ACROSS_CONFIRM = OPTION_FIRST,
    ACROSS_DEPTH,
    ACROSS_LIMIT,
    ACROSS_WITHIN,
    ACROSS_POSSIBLE,
    ACROSS_OPTION_NEXT,
};

/* clang-format off */
#define ACROSS_OPTIONS                                                         \
    { "confirm", required_argument, NULL, ACROSS_CONFIRM },                    \
    { "depth", required_argument, NULL, ACROSS_DEPTH },                        \
    { "limit", required_argument, NULL, ACROSS_LIMIT },                        \
    { "within", required_argument, NULL, ACROSS_WITHIN }
#define ACROSS_OPTS_INIT { .scan.timeout_ms = 60000, .confirm_ms = -1 }
/* clang-format on */

/* Take one of them. False after an error was said. */
bool across_take(int option, struct across_opts *opts);

/* All of a verb that has these options and --possible, and tells of what is
 * below its paths, or "/" without one. `print` returns an exit code; so does
 * this, EX_NO with confirmed deadlocks. */
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
