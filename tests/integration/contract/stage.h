/* SPDX-License-Identifier: Apache-2.0 */
/* The stage of the contract: two sessions, each behind a proxy of its own, and
 * the contenders that a test puts there. */
#pragma once

#include "adapter.h"

/* The time that our session waits for the answer to a release. */
enum { REPLY_MS = 1000 };

extern const struct adapter *recipe; /* under test */
extern struct proxy *proxy;
extern struct proxy *their_proxy;
extern zkr_session *ours;   /* through `proxy` */
extern zkr_session *theirs; /* through `their_proxy` */
extern char path[64];
extern char dir[80]; /* of the nodes of the holder and of the first waiter */

/* A thread that acquires and releases on command. Commands are given, and
 * outcomes read, on the main thread. */
struct contender {
    void *lock;
    zkr_grant *grant; /* of the last acquire, until it is forgotten */
    int rc;           /* of the last command, after contender_rc() */
    int64_t took_ms;  /* the same */
    char detail[256];

    pthread_t thread;
    int64_t timeout_ms; /* of the command, as the next */
    zkr_grant *target;
    struct recorder *commands;
    struct recorder *outcomes; /* of each; they hand over what is above */
};

/* Begin; contender_rc() waits for the outcome. */
void contender_acquire(struct contender *c, int64_t timeout_ms);
/* Begin to release or free a grant, its own or that of another contender. */
void contender_release(struct contender *c, zkr_grant *grant);
void contender_forget(struct contender *c);

bool contender_is_busy(struct contender *c);
/* Wait for the outcome; fails the test when it does not come soon. */
int contender_rc(struct contender *c);

/* A test of one promise of the contract. */
struct statement {
    const char *name;
    const char *subject;
    void (*test)(void);
    unsigned for_those; /* recipes that have these traits, */
    unsigned not_for;   /* and not these, */
    unsigned nor_for;   /* and not these */
    bool once;          /* it costs much, or has rounds of its own */
    struct statement *next;
};

void state(struct statement *s);

/* The promises of one file: TEST_ALL(name) { ... } is for all recipes, and
 * TEST_OF(name, .not_for = TRAITS) { ... } for some. */
#define SUBJECT(name) static const char subject[] = name;

#define TEST_OF(promise, ...)                                                  \
    static void promise(void);                                                 \
    __attribute__((constructor)) static void state_##promise(void)             \
    {                                                                          \
        static struct statement s = {                                          \
            .name = #promise, .subject = subject, .test = promise, __VA_ARGS__ \
        };                                                                     \
                                                                               \
        state(&s);                                                             \
    }                                                                          \
    static void promise(void)
#define TEST_ALL(promise) TEST_OF(promise, .for_those = 0)

bool has(unsigned traits); /* the recipe under test */

/* The teardown frees what these make. */
void *new_lock(zkr_session *s);
void *new_lock_with(zkr_session *s, uint32_t flags);
struct contender *contender_of(void *lock);
/* With a lock object of its own; at last it holds, or waits in the queue. */
struct contender *one_of(zkr_session *s);
struct contender *one_that_holds(zkr_session *s);
struct contender *one_that_waits(zkr_session *s);
struct recorder *new_recorder(void);

/* A test may do so before, and close `ours`, which is NULL then. */
void free_lock(void *lock);

/* The last command of the contender must succeed. */
void succeeds(struct contender *c);

int try_for(struct contender *c, int64_t timeout_ms);
void hold(struct contender *c);
struct recorder *hold_listening(struct contender *c); /* to its grant */
/* Until the rule of the proxy has done its work. */
void acquire_until_rule(struct contender *c);

int release_by(struct contender *c);
/* Tells whether the release that it was asked for has succeeded, maybe late. */
bool has_released(struct contender *c);
void give_back(struct contender *c);

/* Checks that it can hold the lock and give it back. */
void works(struct contender *c);
/* Checks that its acquire succeeds, and that it gives the lock back. */
void takes_its_turn(struct contender *c);

/* The holder gives the lock back: the contenders that wait are granted, one at
 * a time, with tokens that grow, and each gives it back. `waiting` is in order;
 * it is empty afterwards. */
void take_turns(struct contender *holder, struct contender **waiting,
                size_t count);

/* Returns how many claims at `path` have set their watch, and wait. */
size_t count_waiting(void);
void wait_waiting(size_t count);
/* Returns when it has its place in the queue and its watch. */
void let_wait(struct contender *c);

/* It waits for GIVE_UP_MS, and not much longer. */
void gives_up_in_time(struct contender *c);
/* Through a lock object that no other has. */
void gives_up(struct contender *c);

/* Returns how many nodes so many contenders have. */
size_t nodes(size_t holders, size_t waiters);
/* Checks that the n-th node still has that name, and frees the name. */
void keeps_place(char *place, size_t n);
