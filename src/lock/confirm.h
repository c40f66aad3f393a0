/* SPDX-License-Identifier: Apache-2.0 */
/* A confirm: a write that finds our node, which proves that nobody else was
 * granted before it. A claim has one at a time, c->confirm, whose `sent` says
 * how old the answer is. */
#ifndef ZKR__CONFIRM_H
#define ZKR__CONFIRM_H

#include "lock/claim.h"
#include "session/locked.h"

/* While one is under way, another cannot be started. */
static inline bool zkr__confirm_is_under_way(const struct zkr__claim *c)
{
    return c->confirm.where != ZKR__OP_IDLE;
}

/* The answer comes with CONFIRMED. ZKR_OK: the node is there.
 * ZKR_ZNONODE: it is not, or another client uses the name. Otherwise the error
 * of the servers, or of the client. */
void zkr__confirm_start_locked(struct zkr__claim *c,
                               enum zkr__op_retry retry) ZKR__LOCKED;

/* For zkr__identity.ask_whose(): reads the node that the write has found, which
 * tells whose it is. */
void zkr__confirm_read_locked(struct zkr__claim *c) ZKR__LOCKED;

#endif
