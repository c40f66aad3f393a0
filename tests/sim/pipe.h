/* SPDX-License-Identifier: Apache-2.0 */
/* Pipes: one direction of a TCP connection. Messages arrive in order, after a
 * while, or never. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct message {
    struct message *next;
    int64_t due;
    int kind;
    int64_t number;
    void *body;
};

struct pipe {
    struct message *first; /* under way; without it they are lost */
    int64_t last_due;
    bool scheduled;
    int stalls;       /* reasons why nothing gets through at present */
    int64_t distance; /* what each message takes besides */
    void (*deliver)(void *owner, const struct message *m);
    void *owner;
};

void pipe_send(struct pipe *p, int kind, int64_t number, void *body);
/* Messages under way wait, and go on after as many calls of pipe_resume(). */
void pipe_stall(struct pipe *p);
void pipe_resume(struct pipe *p);

/* Until then a message may take longer than a client waits; no earlier message
 * arrives long after. */
extern int64_t pipe_slow_until;
