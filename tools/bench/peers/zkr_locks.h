/* SPDX-License-Identifier: Apache-2.0 */
/* Locks of all recipes behind one interface, and what all benches of zkrecipes
 * share. */
#pragma once

#include <zkrecipes/zkrecipes.h>

struct lock {
    const struct recipe *recipe;
    zkr_lockable *lockable;
    zkr_grant *grant; /* while it is held */
};

/* Ends the process with the library's sentence if rc is an error. */
void check(const char *what, int rc);

/* A session with the option timeout_ms=10000. beacon=PATH: they share evidence,
 * and the servers are followers. */
zkr_session *open_session(void);

/* A path of this process; several calls with one name and number return one
 * path. Valid until the next call on this thread. */
const char *path_of(const char *name, long number);

/* The options retain_ms and retain_max of the command line, if there are any.
 */
void mutex_options(struct zkr_lockable_opts *opts);

/* recipe: mutex, read, write, reentrant or unfair. */
void lock_new(struct lock *lock, zkr_session *session, const char *recipe,
              const char *path);
void lock_free(struct lock *lock);

/* The first two end the process if the library returns an error. */
void lock_acquire(struct lock *lock);
void lock_release(struct lock *lock);
int lock_try_acquire(struct lock *lock);
int lock_try_release(struct lock *lock);
