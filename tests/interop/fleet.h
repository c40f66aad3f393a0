/* SPDX-License-Identifier: Apache-2.0 */
/* A fleet: three workers of each kind, busy with one lock, or one semaphore.
 *
 * It runs one mix after the other, each on a path and with a journal of its
 * own.  All functions fail the test when something does not come in time. */
#pragma once

#include "fixture.h"

#include "journal.h"
#include "worker.h"

enum { PER_KIND = 3 };

struct mix {
    const char *recipe;
    const char *layout; /* without Curator when it is not its own */
    size_t limit;       /* of a semaphore, which kazoo does not know; or 0 */
    int writers;        /* per cent; see worker.h */
    int session_ms;
    const char *hosts; /* NULL: the server itself */

    /* Set by fleet_begin(): */
    const char *path;
    const char *held; /* the directory of the nodes that hold it */
    const char *queue;
    struct journal journal;
    size_t mixed_from; /* the sections when each worker had entered */
};

/* Runs all tests, and ends the workers. */
int run_fleets(void);

/* Number 0 to PER_KIND - 1 of a kind. */
struct worker *fleet_worker(int kind, int number);

/* Returns the next worker of the mix after `w`: the first for NULL, and NULL
 * after the last. */
struct worker *fleet_next(const struct mix *m, struct worker *w);

/* Let the workers run; fleet_begin() returns when each has had the lock: a
 * virtual machine that starts slowly counts for nothing. fleet_end() ends them,
 * and returns when all have come to their end. */
void fleet_begin(struct mix *m);
/* In a mix those who may share meet by chance. So all come to their end but
 * two, of different kinds where both share; returns when both were inside at
 * once. */
void fleet_share(struct mix *m);
void fleet_end(struct mix *m);

/* Start another process in the place of a killed one; returns when the new one
 * has had the lock. */
void fleet_replace(struct mix *m, struct worker *w);

/* Returns when the worker holds the lock in that mode: the number of its
 * section. Its enter is not answered before fleet_let_go(): so it can be
 * killed, or its session ended, while it certainly holds the lock. That one
 * returns whether the fence took what the worker then wrote. */
size_t fleet_catch(struct mix *m, const struct worker *w, const char *mode);
bool fleet_let_go(struct mix *m, struct worker *w);

/* A mix is one only when each kind has a fair part in it. */
void fleet_check_shares(const struct mix *m);

/* Answers what the workers have asked, and returns the journal. They hold still
 * while the test does other things. */
const struct journal *fleet_hear(struct mix *m);

/* The functions below answer until something comes. `from` is the number of a
 * section: earlier ones do not count. */

/* Since fleet_begin(). */
void await_sections(struct mix *m, size_t sections);

/* This worker enters; and a worker, or a writer. */
void await_worker(struct mix *m, size_t from, const struct worker *w);
void await_enter(struct mix *m, size_t from, bool only_writers);

/* The worker has a node; so while another one holds, it waits. */
void await_queued(const struct mix *m, const struct worker *w);

/* The node of a dead holder has gone, and no conflicting worker has entered
 * before; of a semaphore, nobody. */
void await_gone(struct mix *m, size_t from, size_t held);
