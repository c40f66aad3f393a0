/* SPDX-License-Identifier: Apache-2.0 */
/* Pipes: one direction of a TCP connection. Messages arrive in order, after a
 * while, or never. */
#include "pipe.h"

#include "arena.h"
#include "choices.h"
#include "events.h"

int64_t pipe_slow_until;

/* The most, later on. */
#define QUICK (2 * MS)

static int64_t delay(void)
{
    static const int64_t delays[] = { 2,  1,  3,   5,   10,   20,
                                      50, 80, 200, 700, 2000, 11000 };
    uint32_t n = sizeof(delays) / sizeof(delays[0]);
    int64_t left = pipe_slow_until - sim_now;

    if (left <= 0)
        n /= 2;
    int64_t delay = delays[mostly_first(n)] * MS / 10;
    return left > 0 && delay > left + QUICK ? left + QUICK : delay;
}

static void on_due(void *arg, uint64_t tag);

static void schedule(struct pipe *p)
{
    if (p->scheduled || p->stalls > 0 || p->first == NULL)
        return;
    p->scheduled = true;
    events_at(p->first->due > sim_now ? p->first->due : sim_now, on_due, p, 0);
}

static void on_due(void *arg, uint64_t tag)
{
    struct pipe *p = arg;
    struct message *m = p->first;

    p->scheduled = false;
    if (p->stalls > 0 || m == NULL)
        return;
    if (m->due <= sim_now) {
        p->first = m->next;
        p->deliver(p->owner, m);
    }
    schedule(p);
}

void pipe_send(struct pipe *p, int kind, int64_t number, void *body)
{
    int64_t due = sim_now + p->distance + delay();

    if (p->last_due < due)
        p->last_due = due;
    APPEND(p->first,
           ARENA_NEW(struct message, .due = p->last_due, .kind = kind,
                     .number = number, .body = body),
           next);
    schedule(p);
}

void pipe_stall(struct pipe *p)
{
    p->stalls++;
}

void pipe_resume(struct pipe *p)
{
    p->stalls--;
    schedule(p);
}
