/* SPDX-License-Identifier: Apache-2.0 */
/* The locks of a history, each with the contenders that are there at one time:
 * their stays. */
#include "model/past.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/roster.h"

/* --- locks --- */

static int by_path(const void *a, const void *b)
{
    const struct past *x = a;
    const struct past *y = b;

    return strcmp(x->path, y->path);
}

struct past *pasts_find(const struct pasts *pasts, const char *path)
{
    struct past key = { .path = (char *)(uintptr_t)path };
    struct past *const *found = tfind(&key, &pasts->tree, by_path);

    return found == NULL ? NULL : *found;
}

struct past *pasts_make(struct pasts *pasts, const char *path)
{
    struct past *past = pasts_find(pasts, path);

    if (past != NULL)
        return past;
    past = calloc(1, sizeof(*past));
    if (past == NULL)
        return NULL;
    past->path = strdup(path);
    if (past->path != NULL && tsearch(past, &pasts->tree, by_path) != NULL)
        return past;
    free(past->path);
    free(past);
    return NULL;
}

struct visit {
    past_fn *fn;
    void *user;
};

static void visit_one(const void *node, VISIT order, void *closure)
{
    const struct visit *v = closure;

    if (order == preorder || order == leaf)
        v->fn(*(struct past *const *)node, v->user);
}

void pasts_each(const struct pasts *pasts, past_fn *fn, void *user)
{
    struct visit v = { fn, user };

    twalk_r(pasts->tree, visit_one, &v);
}

static void free_past(void *node)
{
    struct past *past = node;

    for (int i = 0; i < ZKR__PARTS; i++)
        free(past->parts[i].items);
    free(past->path);
    free(past);
}

static void free_stay(void *stay)
{
    stay_free(stay);
}

void pasts_done(struct pasts *pasts)
{
    tdestroy(pasts->stays, free_stay);
    tdestroy(pasts->tree, free_past);
    sessions_done(&pasts->sessions);
    *pasts = (struct pasts){ .tree = NULL };
}

/* --- contenders --- */

struct key {
    const struct past *past;
    const char *name;
};

static int compare(struct key x, struct key y)
{
    if (x.past != y.past)
        return (uintptr_t)x.past < (uintptr_t)y.past ? -1 : 1;
    return strcmp(x.name, y.name);
}

static struct key key_of(const struct stay *stay)
{
    return (struct key){ stay->past, stay->name };
}

static int by_key(const void *key, const void *stay)
{
    return compare(*(const struct key *)key, key_of(stay));
}

static int by_name(const void *a, const void *b)
{
    return compare(key_of(a), key_of(b));
}

struct stay *pasts_stay(const struct pasts *pasts, const struct past *past,
                        const char *name)
{
    const struct key key = { past, name };
    struct stay *const *found = tfind(&key, &pasts->stays, by_key);

    return found == NULL ? NULL : *found;
}

struct stay *past_any(const struct past *past)
{
    for (int i = 0; i < ZKR__PARTS; i++) {
        const struct queue *queue = &past->parts[i];

        if (queue->count > 0)
            return queue->items[queue->count - 1];
    }
    return NULL;
}

bool pasts_add(struct pasts *pasts, struct past *past, struct stay *stay)
{
    struct queue *queue = &past->parts[zkr__part_of(stay->name)];

    stay->past = past;
    zkr__roster_read(&stay->node);
    stay->node.holds = false;
    if (!queue_add(queue, stay))
        goto free_stay;
    if (!sessions_add(&pasts->sessions, stay))
        goto leave_queue;
    if (tsearch(stay, &pasts->stays, by_name) != NULL)
        return true;
    sessions_remove(&pasts->sessions, stay);
leave_queue:
    queue_remove(queue, stay);
free_stay:
    stay_free(stay);
    return false;
}

void pasts_remove(struct pasts *pasts, struct stay *stay)
{
    (void)tdelete(stay, &pasts->stays, by_name);
    sessions_remove(&pasts->sessions, stay);
    queue_remove(&stay->past->parts[zkr__part_of(stay->name)], stay);
}
