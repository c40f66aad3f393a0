/* A confirm: a write that finds our node, which proves that nobody else was
 * granted before it. */
#ifndef ZKR__CONFIRM_H
#define ZKR__CONFIRM_H

#include "session/locked.h"
#include "session/op.h"

struct zkr__claim;

struct zkr__confirm {
    struct zkr__op op; /* op.sent: how old the answer is */
    struct zkr__claim *claim;
    /* Runs under the lock. ZKR_OK: the node is there. ZKR__ZNONODE: it is not,
     * or another client uses the name. Otherwise the error of the servers, or
     * of the client. */
    void (*done)(struct zkr__claim *c, int rc);
};

void zkr__confirm_init(struct zkr__confirm *f, struct zkr__claim *c);

/* While one is under way, another cannot be started. */
static inline bool zkr__confirm_is_under_way(const struct zkr__confirm *f)
{
    return f->op.where != ZKR__OP_IDLE;
}

/* For zkr__identity.ask_whose(): reads the node that the write has found, which
 * tells whose it is. */
void zkr__confirm_read_locked(struct zkr__confirm *f) ZKR__LOCKED;

void zkr__confirm_start_locked(struct zkr__confirm *f, enum zkr__op_retry retry,
                               void (*done)(struct zkr__claim *c,
                                            int rc)) ZKR__LOCKED;

/* Takes it back, unless it is in flight. */
void zkr__confirm_take_back_locked(struct zkr__confirm *f) ZKR__LOCKED;

#endif
