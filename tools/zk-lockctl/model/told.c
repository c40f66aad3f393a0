/* SPDX-License-Identifier: Apache-2.0 */
/* What the servers have told of the contenders of one lock. Pure. */
#include "model/told.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- who wakes up --- */

static bool watches(const struct servers *servers, const struct lock *lock,
                    int64_t session_id, size_t target)
{
    char path[3 * ZKR_PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/%s", lock->path,
                   lock->items[target].node->name);
    return servers_watches(servers, session_id, path);
}

static bool waits_alone(const struct lock *lock, int64_t session_id)
{
    size_t n = 0;

    for (size_t i = 0; i < lock->count; i++)
        n += contender_waits(&lock->items[i]) &&
             lock->items[i].node->session_id == session_id;
    return n < 2;
}

/* Nearly all watch the one that they wait for; many of those who do not watch
 * nothing that is known. */
static bool is_woken(const struct servers *servers, const struct lock *lock,
                     const struct contender *c)
{
    const struct zkr_participant *p = c->node;
    bool behind_one = p->waits_for < lock->count;

    if (behind_one && watches(servers, lock, p->session_id, p->waits_for))
        return true;
    if ((behind_one && p->kind != ZKR_PARTICIPANT_SHARED &&
         !waits_alone(lock, p->session_id)) ||
        !servers_watches(servers, p->session_id, NULL))
        return false;
    for (size_t i = 0; i < (size_t)(c - lock->items); i++) {
        if (watches(servers, lock, p->session_id, i))
            return true;
    }
    return false;
}

enum answer servers_wake(const struct servers *servers, const struct lock *lock,
                         const struct contender *c)
{
    size_t i = c->node->waits_for;

    if (servers == NULL || c->node->session_id == 0 ||
        contender_wants_permit(lock, c))
        return ANSWER_UNKNOWN;
    if (is_woken(servers, lock, c))
        return ANSWER_YES;
    return servers_know_all(servers, SERVERS_WCHP) &&
                   !(i < lock->count && lock->items[i].node->error != ZKR_OK)
               ? ANSWER_NO
               : ANSWER_UNKNOWN;
}

/* --- look after look --- */

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
    t->wakes = calloc(lock->count + 1, sizeof(*t->wakes));
    for (size_t i = 0; t->wakes != NULL && i < lock->count; i++) {
        const struct contender *c = &lock->items[i];
        enum answer answer;

        if (!contender_waits(c))
            continue;
        answer = servers_wake(t->servers, lock, c);
        t->deaf += answer == ANSWER_NO;
        t->wakes[t->count++] =
            (struct wake){ .token = c->node->token, .answer = answer };
    }
    if (t->count > 0)
        qsort(t->wakes, t->count, sizeof(*t->wakes), by_token);
    return t->wakes != NULL;
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
