/* A lock path as its claims share it, and the ways to claim it. */
#ifndef ZKR__LOCK_H
#define ZKR__LOCK_H

#include <stdatomic.h>

#include <zkrecipes/request.h>

#include "recipe.h"
#include "session.h"

struct zkr__lock { /* set once, but for refs */
    atomic_uint refs;
    struct zkr_session *session;
    char *path; /* as given */
    char *dir;  /* with the chroot */
    char *label;
    const char *noun;
    enum zkr__layout layout;
    enum zkr__zk_mode parents;
    bool fail_on_session_loss;
};

struct zkr__lock_config {
    const char *noun; /* for errors */
    const char *path;
    const char *label;
    enum zkr__layout layout;
    bool persistent_parents;
    bool fail_on_session_loss;
};

int zkr__lock_new(struct zkr_session *s, const struct zkr__lock_config *config,
                  struct zkr__lock **ret_lock);

/* Gives up what waits, with ZKR_ECANCELED, and drops the caller's reference. */
void zkr__lock_free(struct zkr__lock *lock);

void zkr__lock_ref(struct zkr__lock *lock);
void zkr__lock_unref(struct zkr__lock *lock);

int zkr__lock_acquire(struct zkr__lock *lock, const struct zkr__recipe *recipe,
                      int64_t timeout_ms, zkr_grant **ret_grant);

int zkr__lock_acquire_async(struct zkr__lock *lock,
                            const struct zkr__recipe *recipe,
                            int64_t timeout_ms, zkr_acquire_fn fn, void *user,
                            zkr_request **ret_request);

int zkr__lock_cancel(struct zkr__lock *lock);

#endif
