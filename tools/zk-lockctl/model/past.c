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
    tdestroy(pasts->sessions, free);
    *pasts = (struct pasts){ .tree = NULL };
}

size_t past_find(const struct past *past, const char *name)
{
    for (size_t i = 0; past != NULL && i < past->count; i++) {
        if (strcmp(past->items[i].name, name) == 0)
            return i;
    }
    return PAST_NOBODY;
}

/* --- sessions --- */

struct session {
    int64_t id;
    struct stay *first;
};

static int by_id(const void *a, const void *b)
{
    const struct session *x = a;
    const struct session *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static struct session *find_session(const struct pasts *pasts, int64_t id)
{
    const struct session key = { .id = id };
    struct session *const *found = tfind(&key, &pasts->sessions, by_id);

    return found == NULL ? NULL : *found;
}

static struct session *make_session(struct pasts *pasts, int64_t id)
{
    struct session *session = find_session(pasts, id);

    if (session != NULL)
        return session;
    session = calloc(1, sizeof(*session));
    if (session == NULL)
        return NULL;
    session->id = id;
    if (tsearch(session, &pasts->sessions, by_id) != NULL)
        return session;
    free(session);
    return NULL;
}

/* A node may belong to no session. */
static bool link_stay(struct pasts *pasts, struct stay *stay)
{
    struct session *session;

    if (stay->node.session_id == 0)
        return true;
    session = make_session(pasts, stay->node.session_id);
    if (session == NULL)
        return false;
    stay->next = session->first;
    if (stay->next != NULL)
        stay->next->previous = stay;
    session->first = stay;
    return true;
}

static void unlink_stay(struct pasts *pasts, struct stay *stay)
{
    struct session *session;

    if (stay->next != NULL)
        stay->next->previous = stay->previous;
    if (stay->previous != NULL)
        stay->previous->next = stay->next;
    if (stay->node.session_id == 0 || stay->previous != NULL)
        return;
    session = find_session(pasts, stay->node.session_id);
    session->first = stay->next;
    if (session->first != NULL)
        return;
    (void)tdelete(session, &pasts->sessions, by_id);
    free(session);
}

struct stay *pasts_stay_of(const struct pasts *pasts, int64_t session_id)
{
    const struct session *session = find_session(pasts, session_id);

    return session == NULL ? NULL : session->first;
}

/* --- contenders --- */

static bool make_room(struct past *past)
{
    size_t room = past->room > 0 ? 2 * past->room : 8;
    void *grown;

    if (past->count < past->room)
        return true;
    grown = realloc(past->items, room * sizeof(*past->items));
    if (grown == NULL)
        return false;
    past->items = grown;
    past->room = room;
    return true;
}

bool past_add(struct pasts *pasts, struct past *past, struct stay *stay)
{
    if (!make_room(past) || !link_stay(pasts, stay)) {
        stay_free(stay);
        return false;
    }
    stay->past = past;
    past->items[past->count++] = stay->node;
    past->changed = true;
    return true;
}

struct stay *past_remove(struct pasts *pasts, struct past *past, size_t i)
{
    struct stay *stay = stay_of(past->items[i].name);

    stay->node = past->items[i];
    unlink_stay(pasts, stay);
    memmove(past->items + i, past->items + i + 1,
            (past->count - i - 1) * sizeof(*past->items));
    past->count--;
    past->changed = true;
    return stay;
}
