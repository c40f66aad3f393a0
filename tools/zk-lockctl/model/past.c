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
    if (past->path == NULL || tsearch(past, &pasts->tree, by_path) == NULL) {
        free(past->path);
        free(past);
        return NULL;
    }
    past->next = pasts->first;
    pasts->first = past;
    return past;
}

static void free_past(struct past *past)
{
    for (int i = 0; i < ZKR__PARTS; i++) {
        for (size_t k = 0; k < past->parts[i].count; k++)
            stay_free(past->parts[i].items[k]);
        free(past->parts[i].items);
    }
    free(past->path);
    free(past);
}

static void forget(void *item)
{
    (void)item;
}

void pasts_done(struct pasts *pasts)
{
    tdestroy(pasts->sessions, forget);
    tdestroy(pasts->tree, forget);
    for (struct past *past = pasts->first, *next; past != NULL; past = next) {
        next = past->next;
        free_past(past);
    }
    *pasts = (struct pasts){ .tree = NULL };
}

/* --- sessions --- */

static int by_session(const void *a, const void *b)
{
    int64_t x = ((const struct stay *)a)->node.session_id;
    int64_t y = ((const struct stay *)b)->node.session_id;

    return (x > y) - (x < y);
}

/* Where the tree has the first stay of a session; NULL: it has none. */
static struct stay **first_of(const struct pasts *pasts, int64_t session_id)
{
    const struct stay key = { .node.session_id = session_id };

    return tfind(&key, &pasts->sessions, by_session);
}

/* The stay of a node of no session is in no list. */
static bool add_to_session(struct pasts *pasts, struct stay *stay)
{
    struct stay **first;

    if (stay->node.session_id == 0)
        return true;
    first = tsearch(stay, &pasts->sessions, by_session);
    if (first == NULL || *first == stay)
        return first != NULL;
    stay->next = *first;
    stay->next->previous = stay;
    *first = stay;
    return true;
}

static void leave_session(struct pasts *pasts, struct stay *stay)
{
    if (stay->next != NULL)
        stay->next->previous = stay->previous;
    if (stay->previous != NULL)
        stay->previous->next = stay->next;
    else if (stay->next != NULL)
        *first_of(pasts, stay->node.session_id) = stay->next;
    else if (stay->node.session_id != 0)
        (void)tdelete(stay, &pasts->sessions, by_session);
}

struct stay *pasts_of_session(const struct pasts *pasts, int64_t session_id)
{
    struct stay **first = first_of(pasts, session_id);

    return first == NULL ? NULL : *first;
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
