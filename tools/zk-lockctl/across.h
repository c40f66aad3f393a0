/* All locks below some paths, and the deadlocks among them: listed twice where
 * there seems to be one, as no list of many locks is that of one moment. */
#ifndef ACROSS_H
#define ACROSS_H

#include "deadlock.h"
#include "lockctl.h"
#include "scan.h"

struct across_opts {
    struct scan_opts scan;
    int64_t confirm_ms; /* between the two lists */
    bool certain;       /* leave out what is only possible */
};

struct across {
    struct scan scan; /* the later one */
    struct deadlocks deadlocks;
};

/* The options --confirm, --certain, --depth, --limit, --within. */
extern const struct option across_options[];
/* 0, or an exit code after an error was said. */
int across_read(struct lockctl *ctl, const struct verb *verb, int argc,
                char **argv, struct across_opts *opts);

/* Below those paths, or "/" without one. Connects. 0, or an exit code after an
 * error was said. */
int across_load(struct lockctl *ctl, char *const *paths, int path_count,
                const struct across_opts *opts, struct across *ret_across);
void across_done(struct across *across);

#endif
