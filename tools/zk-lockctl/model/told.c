/* SPDX-License-Identifier: Apache-2.0 */
/* What the servers have told of the contenders of one lock. Pure. */
#include "model/told.h"

#include <stdlib.h>

#include "model/watching.h"

static int by_token(const void *a, const void *b)
{
    int64_t x = ((const struct wake *)a)->token;
    int64_t y = ((const struct wake *)b)->token;

    return x < y ? -1 : x > y;
}

static const struct wake *find(const struct told *t, int64_t token)
{
    const struct wake key = { .token = token };

    return t->count == 0
               ? NULL
               : bsearch(&key, t->wakes, t->count, sizeof(key), by_token);
}

static bool read_wakes(struct told *t, const struct lock *lock)
{
    struct watching w;
    bool done = watching_read(&w, lock, t->servers, lock->path);

    t->wakes = calloc(lock->count + 1, sizeof(*t->wakes));
    for (size_t i = 0; done && t->wakes != NULL && i < lock->count; i++) {
        const struct contender *c = &lock->items[i];
        enum answer answer;

        if (!contender_waits(c))
            continue;
        answer = watching_wakes(&w, c);
        t->deaf += answer == ANSWER_NO;
        t->wakes[t->count++] =
            (struct wake){ .token = c->node->token, .answer = answer };
    }
    watching_done(&w);
    if (t->count > 0)
        qsort(t->wakes, t->count, sizeof(*t->wakes), by_token);
    return done && t->wakes != NULL;
}

bool told_take(struct told *t, const struct lock *lock, struct servers *servers)
{
    struct told next = { .servers = servers };
    bool done = servers == NULL || read_wakes(&next, lock);

    for (size_t i = 0; i < next.count; i++) {
        const struct wake *before = find(t, next.wakes[i].token);

        next.wakes[i].was_deaf = before != NULL && before->answer == ANSWER_NO;
    }
    told_done(t);
    *t = next;
    return done;
}

void told_done(struct told *t)
{
    servers_free(t->servers);
    free(t->wakes);
    *t = (struct told){ .servers = NULL };
}

const struct client *told_client(const struct told *t,
                                 const struct contender *c)
{
    return t->servers == NULL ? NULL
                              : servers_client(t->servers, c->node->session_id);
}

enum answer told_lives(const struct told *t, const struct contender *c)
{
    return t->servers == NULL || c->node->session_id == 0
               ? ANSWER_UNKNOWN
               : servers_session_lives(t->servers, c->node->session_id);
}

enum answer told_wakes(const struct told *t, const struct contender *c)
{
    const struct wake *wake = find(t, c->node->token);

    if (wake == NULL)
        return ANSWER_UNKNOWN;
    return wake->answer == ANSWER_NO && !wake->was_deaf ? ANSWER_UNKNOWN
                                                        : wake->answer;
}
