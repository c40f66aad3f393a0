/* SPDX-License-Identifier: Apache-2.0 */
/* The locks of a history, each with the contenders that are there at one time:
 * their stays. */
#include "model/past.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

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

    for (size_t i = 0; i < past->count; i++)
        stay_free(stay_of(past->items[i].name));
    free(past->items);
    free(past->path);
    free(past);
}

void pasts_done(struct pasts *pasts)
{
    tdestroy(pasts->tree, free_past);
    pasts->tree = NULL;
}

size_t past_find(const struct past *past, const char *name)
{
    for (size_t i = 0; past != NULL && i < past->count; i++) {
        if (strcmp(past->items[i].name, name) == 0)
            return i;
    }
    return PAST_NOBODY;
}

struct zkr_participant *past_add(struct past *past, struct stay *stay)
{
    if (past->count == past->room) {
        size_t room = past->room > 0 ? 2 * past->room : 8;
        void *grown = realloc(past->items, room * sizeof(*past->items));

        if (grown == NULL) {
            stay_free(stay);
            return NULL;
        }
        past->items = grown;
        past->room = room;
    }
    past->items[past->count] = stay->node;
    past->changed = true;
    return &past->items[past->count++];
}

struct stay *past_remove(struct past *past, size_t i)
{
    struct stay *stay = stay_of(past->items[i].name);

    stay->node = past->items[i];
    memmove(past->items + i, past->items + i + 1,
            (past->count - i - 1) * sizeof(*past->items));
    past->count--;
    past->changed = true;
    return stay;
}
