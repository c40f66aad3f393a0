/* SPDX-License-Identifier: Apache-2.0 */
/* The fixture of the tests of the read/write lock: two sessions, one of them
 * through a proxy, and three lock objects at one path. */
#pragma once

#include "fixture.h"

extern struct proxy *proxy;
extern zkr_session *s;      /* through the proxy */
extern zkr_session *other;  /* not */
extern zkr_rwlock *lock;    /* of s */
extern zkr_rwlock *rival;   /* of the other */
extern zkr_rwlock *visitor; /* of the other: the main thread holds nothing
                               through it, so it is like another program */
extern zkr_rwlock *nested;  /* of s, reentrant */
extern char path[64];       /* as the locks know it */
extern char dir[128];       /* as the admin does */
extern const char *root;    /* the chroot of both sessions, or "" */

extern acquire_call *const modes[2]; /* by_reading, by_writing */

int rw_setup(void);
int rw_teardown(void);
/* All tests: without a chroot, and with one. */
int rw_run_in_both_roots(void);

zkr_rwlock *new_rwlock(zkr_session *session, uint32_t flags);
zkr_grant *read_lock(zkr_rwlock *l);
zkr_grant *write_lock(zkr_rwlock *l);

/* A thread that waits without limit; returns when its node is in the queue. */
void queue_up(struct waiter *w, acquire_call *call, zkr_rwlock *l);

/* It is granted soon, or fails the test. */
zkr_grant *granted(struct waiter *w);

/* Releases `g`; the next one is granted soon then. */
zkr_grant *hand_on(zkr_grant *g, struct waiter *next);

/* Deletes the node of `g`; returns when its holder knows. */
void lose(zkr_grant *g);

/* Checks that it is not granted, although all had time to see the change. */
void still_waits(struct waiter *w);

/* Checks that the visitor gets the lock in that mode neither by a try, which
 * writes nothing, nor by a short wait, which leaves nothing. */
void is_refused(acquire_call *call);

/* Returns the admin's path of a grant's node; valid until the next call. */
const char *node_of(zkr_grant *g);
int64_t sequence_of(zkr_grant *g);

/* Wait until the watch on the node of that grant of `s` is set, and count the
 * requests of `s` from then on. */
void be_quiet(zkr_grant *g);
long count_requests(void);
