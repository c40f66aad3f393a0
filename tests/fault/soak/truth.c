/* SPDX-License-Identifier: Apache-2.0 */
/* The truth: merges the transaction logs of all servers. */
#include "truth.h"

#include "wall_clock.h"

#define DIRECTORY "/soak/"

struct event {
    int64_t zxid;
    int64_t session;
    int64_t time_ms;
    int32_t type;
    unsigned int voters; /* a bit for each server */
    char path[104];
};

struct events {
    struct event *all;
    size_t count;
    unsigned int voter; /* whose log is being read */
    int64_t near_ms;
};

static bool add_event(void *user, const struct txn *t)
{
    struct events *e = user;

    if (t->type != TXN_CLOSE_SESSION &&
        strncmp(t->path, DIRECTORY, strlen(DIRECTORY)) != 0)
        return true;
    struct event event = { .zxid = t->zxid,
                           .session = t->session,
                           .type = t->type,
                           .voters = e->voter,
                           .time_ms = wall_clock_true(t->time_ms, e->near_ms) };
    (void)snprintf(event.path, sizeof(event.path), "%.*s",
                   (int)sizeof(event.path) - 1, t->path);
    PUSH(e->all, e->count, event);
    return true;
}

static int by_zxid(const void *a, const void *b)
{
    int64_t x = ((const struct event *)a)->zxid;
    int64_t y = ((const struct event *)b)->zxid;

    return (x > y) - (x < y);
}

static bool replay(const struct events *events, struct truth *t)
{
    bool good = true;

    for (size_t i = 0; good && i < events->count; i++) {
        const struct event *e = &events->all[i];
        struct txn txn = { .session = e->session,
                           .zxid = e->zxid,
                           .time_ms = e->time_ms,
                           .type = e->type };

        if ((e->voters & (e->voters - 1)) == 0) {
            t->disputed++;
            continue;
        }
        (void)snprintf(txn.path, sizeof(txn.path), "%s", e->path);
        for (int k = 0; good && k < LOCKS; k++)
            good = history_add(&t->locks[k], &txn);
    }
    t->transactions = (long)events->count;
    return good;
}

bool truth_read(struct server *const *servers, int count, int64_t near_ms,
                struct truth *ret)
{
    struct events e = { .near_ms = near_ms };
    bool good = true;

    *ret = (struct truth){ .disputed = 0 };
    for (int i = 0; i < LOCKS; i++)
        ret->locks[i].directory = lock_specs[i].path;
    for (int i = 0; good && i < count; i++) {
        size_t kept = 0;

        e.voter = 1u << i;
        good = txn_log_read(servers[i], add_event, &e);
        /* The same transaction in several logs becomes one with several
         * voters. */
        qsort(e.all, e.count, sizeof(*e.all), by_zxid);
        for (size_t k = 0; k < e.count; k++) {
            if (kept > 0 && e.all[kept - 1].zxid == e.all[k].zxid)
                e.all[kept - 1].voters |= e.all[k].voters;
            else
                e.all[kept++] = e.all[k];
        }
        e.count = kept;
    }
    good = good && replay(&e, ret);
    free(e.all);
    return good;
}

void truth_free(struct truth *t)
{
    for (int i = 0; i < LOCKS; i++)
        free(t->locks[i].lives);
}
