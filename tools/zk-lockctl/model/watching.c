/* SPDX-License-Identifier: Apache-2.0 */
/* Tells which contender watches which other in the queue of one lock, as far as
 * the servers tell. */
#include "model/watching.h"

#include <stdlib.h>
#include <string.h>

#include "common/grow.h"

/* --- the order of what is looked up --- */

static int by_session(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static int by_watch(const void *a, const void *b)
{
    const struct watch_on *x = a;
    const struct watch_on *y = b;
    int order = by_session(&x->session_id, &y->session_id);

    return order != 0              ? order
           : x->target < y->target ? -1
                                   : x->target > y->target;
}

/* --- reading --- */

/* The name in the directory of the lock; NULL: it is in another one. */
static const char *name_in_lock(const struct watching *w, const char *base,
                                const char *child)
{
    const char *rest = w->lock->path + strlen(base); /* "" or "/a/b" */
    size_t len = strlen(rest);

    if (len == 0)
        return child;
    return strncmp(child, rest + 1, len - 1) == 0 && child[len - 1] == '/'
               ? child + len
               : NULL;
}

static bool add(struct watching *w, int64_t session_id, size_t target)
{
    struct watch_on *added = GROW(w);

    if (added != NULL)
        *added = (struct watch_on){ session_id, target };
    return added != NULL;
}

static bool add_all(struct watching *w, const char *base, int64_t session_id)
{
    const char *child;

    for (size_t i = 0;
         (child = servers_watched(w->servers, session_id, i)) != NULL; i++) {
        const char *name = name_in_lock(w, base, child);
        const struct contender *target =
            name == NULL ? NULL : names_find(w->names, w->lock->count, name);

        if (target != NULL &&
            !add(w, session_id, (size_t)(target - w->lock->items)))
            return false;
    }
    return true;
}

static void sort(struct watching *w)
{
    size_t n = 0;

    if (w->count == 0)
        return;
    qsort(w->items, w->count, sizeof(*w->items), by_watch);
    for (size_t i = 1; i < w->count; i++) {
        if (by_watch(&w->items[n], &w->items[i]) != 0)
            w->items[++n] = w->items[i];
    }
    w->count = n + 1;
}

bool watching_read(struct watching *w, const struct lock *lock,
                   const struct servers *servers, const char *base)
{
    *w = (struct watching){ .lock = lock, .servers = servers };
    w->names = lock_names(lock);
    w->sessions = calloc(lock->count + 1, sizeof(*w->sessions));
    if (w->names == NULL || w->sessions == NULL)
        return false;
    for (size_t i = 0; i < lock->count; i++) {
        if (contender_waits(&lock->items[i]))
            w->sessions[w->session_count++] = lock->items[i].node->session_id;
    }
    qsort(w->sessions, w->session_count, sizeof(*w->sessions), by_session);
    for (size_t i = 0; i < w->session_count; i++) {
        if ((i == 0 || w->sessions[i] != w->sessions[i - 1]) &&
            !add_all(w, base, w->sessions[i]))
            return false;
    }
    sort(w);
    return true;
}

void watching_done(struct watching *w)
{
    free(w->names);
    free(w->sessions);
    free(w->items);
    *w = (struct watching){ .lock = NULL };
}

/* --- asking --- */

/* Returns the index of the key in a sorted array, or the index where it would
 * be. */
static size_t place(const void *key, const void *array, size_t count,
                    size_t size, int (*order)(const void *, const void *))
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (order((const char *)array + middle * size, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first watch of a session on that contender, or on a later one. */
static const struct watch_on *first(const struct watching *w,
                                    int64_t session_id, size_t target)
{
    const struct watch_on key = { session_id, target };
    size_t i = place(&key, w->items, w->count, sizeof(key), by_watch);

    return i < w->count && w->items[i].session_id == session_id ? &w->items[i]
                                                                : NULL;
}

/* Not more than one of the session waits. */
static bool waits_alone(const struct watching *w, int64_t session_id)
{
    size_t i = place(&session_id, w->sessions, w->session_count,
                     sizeof(session_id), by_session);

    return i + 1 >= w->session_count || w->sessions[i + 1] != session_id;
}

static bool is_woken(const struct watching *w, const struct contender *c)
{
    const struct zkr_participant *p = c->node;
    size_t position = (size_t)(c - w->lock->items);
    const struct watch_on *watch = first(w, p->session_id, 0);

    if (watch == NULL || watch->target >= position)
        return false;
    if (p->kind == ZKR_PARTICIPANT_SHARED || p->waits_for >= w->lock->count ||
        waits_alone(w, p->session_id))
        return true;
    watch = first(w, p->session_id, p->waits_for);
    return watch != NULL && watch->target == p->waits_for;
}

static bool waits_for_hidden(const struct watching *w,
                             const struct contender *c)
{
    size_t i = c->node->waits_for;

    return i < w->lock->count && w->lock->items[i].node->error != ZKR_OK;
}

enum answer watching_wakes(const struct watching *w, const struct contender *c)
{
    if (w->servers == NULL || c->node->session_id == 0 ||
        contender_wants_permit(w->lock, c))
        return ANSWER_UNKNOWN;
    if (is_woken(w, c))
        return ANSWER_YES;
    return servers_know_all(w->servers, SERVERS_WCHP) && !waits_for_hidden(w, c)
               ? ANSWER_NO
               : ANSWER_UNKNOWN;
}
