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

    for (int i = 0; i < ZKR__PARTS; i++) {
        for (size_t k = 0; k < past->parts[i].count; k++)
            stay_free(past->parts[i].items[k]);
        free(past->parts[i].items);
    }
    free(past->path);
    free(past);
}

void pasts_done(struct pasts *pasts)
{
    tdestroy(pasts->tree, free_past);
    tdestroy(pasts->sessions, free);
    *pasts = (struct pasts){ .tree = NULL };
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

/* The stay of a node of no session is in no list. */
static bool add_to_session(struct pasts *pasts, struct stay *stay)
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

static void leave_session(struct pasts *pasts, struct stay *stay)
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

struct stay *pasts_of_session(const struct pasts *pasts, int64_t session_id)
{
    const struct session *session = find_session(pasts, session_id);

    return session == NULL ? NULL : session->first;
}

/* --- contenders --- */

struct stay *past_stay(const struct past *past, const char *name)
{
    return past == NULL ? NULL
                        : queue_find(&past->parts[zkr__part_of(name)], name);
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
    if (add_to_session(pasts, stay)) {
        if (queue_add(queue, stay))
            return true;
        leave_session(pasts, stay);
    }
    stay_free(stay);
    return false;
}

void pasts_remove(struct pasts *pasts, struct stay *stay)
{
    leave_session(pasts, stay);
    queue_remove(&stay->past->parts[zkr__part_of(stay->name)], stay);
}
