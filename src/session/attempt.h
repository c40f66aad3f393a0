/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts: while there is no session, each server gets its share of the time,
 * also where one accepts connections and says nothing. */
#pragma once

#include <stdint.h>

#include "session/locked.h"

struct zkr_session;

/* Under the session lock. */
struct zkr__attempt {
    uint64_t epoch;  /* that the others are of */
    int64_t until;   /* when the present handle has had its share */
    unsigned number; /* 0: the client has shuffled the servers */
    unsigned count;  /* of all servers, if this is not the first attempt */
    unsigned first;  /* where the rotation begins */
    char *servers;   /* for the next handle, in that order; NULL: any order */
};

/* A handle has been made for this epoch. */
void zkr__attempt_begin_locked(struct zkr_session *s) ZKR__LOCKED;

/* Returns when the next attempt is due, or ZKR__NEVER. */
int64_t zkr__attempt_due(const struct zkr_session *s);

/* Closes the handle, and has another made that begins with the next server;
 * unless there is no other, or the handle is connected meanwhile. Blocks for
 * name resolution. */
void zkr__attempt_next_unlocks(struct zkr_session *s,
                               const char *servers) ZKR__UNLOCKS;

/* Takes the list for the next handle; NULL: that of the session will do. */
char *zkr__attempt_take_locked(struct zkr_session *s) ZKR__LOCKED;
