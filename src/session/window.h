/* SPDX-License-Identifier: Apache-2.0 */
/* The window: how many requests may be under way at once, so that an answer
 * comes soon. Pure.
 *
 * The servers answer a connection in order, and what the client has been given
 * cannot be overtaken. So a check comes back behind all that is under way, and
 * a window that is too large delays the proofs of the lease. The window grows
 * while it is used up and answers are quick, and becomes half as large when an
 * answer takes a small part of the session timeout longer than the quickest
 * did: then requests wait for each other, not for the way there. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The client writes a byte into a pipe per request, and when the pipe is full
 * (64 KiB) it closes the socket under its own thread. There are a few windows
 * (op.c). */
#define ZKR__WINDOW_MAX 4096

/* Times are nanoseconds. */
struct zkr__window {
    unsigned size;
    int64_t wait; /* how long requests may wait for each other */
    bool shrunk;
    unsigned quick;  /* answers that let it grow, since then */
    int64_t changed; /* when the window became smaller, or was begun */
    int64_t read;    /* what the quickest answers took; 0: none */
    int64_t write;   /* the same of writes */
};

/* A connection begins, of a session with that timeout. */
void zkr__window_begin(struct zkr__window *w, int64_t timeout);

/* A request that was sent at `sent` is answered at `now`. `full`: the window
 * was used up. */
void zkr__window_answered(struct zkr__window *w, bool write, int64_t sent,
                          int64_t now, bool full);
