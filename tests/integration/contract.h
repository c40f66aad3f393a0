/* What the contract tests need: every exclusive recipe behind one interface,
 * and contenders that are threads of their own. */
#ifndef TEST_CONTRACT_H
#define TEST_CONTRACT_H

#include "fixture.h"

/* What a recipe promises beyond exclusion. */
enum trait {
    FAIR = 1u << 0,         /* granted in the order of the queue */
    QUEUES = 1u << 1,       /* a waiter has a node; else only the holder has */
    REENTRANT = 1u << 2,    /* its owner may acquire it again */
    THREAD_OWNED = 1u << 3, /* only the thread that acquired may release */
    KEEPS_GRANTS = 1u << 4, /* grants are its own, not those of the caller */
    ASYNC = 1u << 5,        /* it has acquire_async */
};

/* One recipe. `lock` is its handle, NULL included where the recipe allows it.
 */
struct adapter {
    const char *name;
    unsigned traits;
    uint32_t flags;                /* of its options */
    uint32_t fail_on_session_loss; /* the flag with that meaning */
    int (*make)(zkr_session *s, const char *path, uint32_t flags,
                void **ret_lock);
    void (*free)(void *lock);
    int (*acquire)(void *lock, int64_t timeout_ms, zkr_grant **ret_grant);
    int (*acquire_async)(void *lock, int64_t timeout_ms, zkr_acquire_fn fn,
                         void *user, zkr_request **ret_request);
    int (*cancel)(void *lock);
    /* Give back one acquire. The grant stays readable until it is forgotten,
     * unless the recipe owns it. */
    int (*release)(void *lock, zkr_grant *grant);
    void (*forget)(void *lock, zkr_grant *grant);
};

extern const struct adapter adapters[];
extern const size_t adapter_count;

/* A thread that acquires and releases on command. Commands are given, and
 * outcomes read, on the main thread. */
struct contender {
    const struct adapter *recipe;
    void *lock;

    zkr_grant *grant; /* of the last acquire, until it is forgotten */
    int rc;           /* of the last command, once it has ended */
    int64_t took_ms;
    char detail[256];

    pthread_t thread;
    pthread_mutex_t mutex; /* guards the rest, and hands over what is above */
    pthread_cond_t changed;
    int command;
    int64_t timeout_ms;
    zkr_grant *target;
    bool busy;
};

struct contender *contender_start(const struct adapter *recipe, void *lock);
/* Forgets what it has, and frees the contender. */
void contender_stop(struct contender *c);

/* Begin; contender_rc() waits for the outcome. */
void contender_acquire(struct contender *c, int64_t timeout_ms);
/* A grant, its own or that of another. */
void contender_release(struct contender *c, zkr_grant *grant);
void contender_forget(struct contender *c);

bool contender_is_busy(struct contender *c);
/* Wait for the outcome; fails the test when it does not come soon. */
int contender_rc(struct contender *c);

/* Claims of that path that have set their watch and wait for its event. */
size_t count_waiting(zkr_session *s, const char *path);

#endif
