/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out what is wrong with locks, as far as it can be seen from outside. */
#ifndef MODEL_DOCTOR_H
#define MODEL_DOCTOR_H

#include "model/deadlock.h"
#include "model/scan.h"
#include "model/servers.h"

struct finding {
    const char *check; /* "deaf-waiter" */
    char *path;        /* of the lock */
    char *node;        /* name of the child that it is about, or NULL */
    int64_t token;     /* of that child, or 0 */
    int64_t pzxid;     /* must not have changed between two looks, or 0 */
    char *what;        /* escaped, as the next */
    char *cure;
};

struct findings {
    struct finding *items;
    size_t count;
    bool failed; /* out of memory: it is not all */
};

struct doctor_opts {
    int64_t older_ms; /* holders; 0: any age is right */
    bool empty;       /* directories that have lost their last child */
};

/* All findings in a scan; `servers` were asked for all clients and the
 * watches on all nodes; NULL: they were not. */
void doctor_examine(const struct scan *scan, const struct servers *servers,
                    const struct doctor_opts *opts, struct findings *findings);
/* The deadlocks among them. */
void doctor_add_deadlocks(const struct deadlocks *deadlocks,
                          struct findings *findings);

/* Keep what was found before, too. */
void findings_keep(struct findings *findings, const struct findings *before);
void findings_done(struct findings *findings);

#endif
