/* SPDX-License-Identifier: Apache-2.0 */
/* A lock, and a contender of its queue, as the cells of a table. */
#include "text/cells.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/escape.h"

const char *cell_at_most(int64_t ms, char word[WORD_MAX])
{
    char age[WORD_MAX];

    if (ms < 0)
        return "?";
    (void)snprintf(word, WORD_MAX, "<=%.30s", word_age(ms, age));
    return word;
}

const char *cell_count(size_t count, bool more, char word[WORD_MAX])
{
    (void)snprintf(word, WORD_MAX, "%zu%s", count, more ? "+" : "");
    return word;
}

const char *cell_path(const char *path, char text[PATH_TEXT_MAX])
{
    return escape_string(path, text, PATH_TEXT_MAX);
}

static const char *write_members(const struct lock *lock, char *text,
                                 size_t size)
{
    (void)snprintf(text, size, "%zu member%s", lock->members,
                   word_plural(lock->members));
    return text;
}

/* How many may hold it at once, by the records of those who do; 0: they do not
 * say, or not the same. */
static int64_t limit_of(const struct lock *lock)
{
    int64_t limit = 0;

    for (size_t i = 0; i < lock->count; i++) {
        const struct zkr__known_owner *o = &lock->items[i].owner;

        if (!lock->items[i].node->holds || o->limit == 0)
            continue;
        if (limit != 0 && limit != o->limit)
            return 0;
        limit = o->limit;
    }
    return limit;
}

/* "2 of 3 leases". */
static const char *write_leases(const struct lock *lock, char *text,
                                size_t size)
{
    int64_t limit = limit_of(lock);
    char of[WORD_MAX] = "";

    if (limit > 0)
        (void)snprintf(of, sizeof(of), " of %" PRId64, limit);
    (void)snprintf(text, size, "%zu%s lease%s", lock->holders, of,
                   limit > 0 ? word_plural((size_t)limit)
                             : word_plural(lock->holders));
    return text;
}

const char *cell_holder(const struct lock *lock, char who[WHO_MAX])
{
    if (lock->kind == ZKR__KIND_BARRIER)
        return write_members(lock, who, WHO_MAX);
    if (lock->holder == NULL)
        return "";
    if (lock->holders == 1)
        return contender_who(lock->holder, who);
    if (lock->kind == ZKR__KIND_SEMAPHORE)
        return write_leases(lock, who, WHO_MAX);
    (void)snprintf(who, WHO_MAX, "%zu holders", lock->holders);
    return who;
}

const char *cell_queue(const struct lock *lock, bool more, char word[QUEUE_MAX])
{
    const char *plus = more ? "+" : "";
    char leases[WORD_MAX * 2];

    if (lock->kind == ZKR__KIND_BARRIER)
        return write_members(lock, word, QUEUE_MAX);
    if (lock->kind == ZKR__KIND_SEMAPHORE)
        (void)snprintf(word, QUEUE_MAX, "%s, %zu%s waiting",
                       write_leases(lock, leases, sizeof(leases)),
                       lock->waiters, plus);
    else
        (void)snprintf(word, QUEUE_MAX, "%zu%s in the queue", lock->count,
                       plus);
    return word;
}

const char *cell_mode(const struct contender *c)
{
    switch (c->node->kind) {
    case ZKR_PARTICIPANT_EXCLUSIVE:
        return "exclusive";
    case ZKR_PARTICIPANT_SHARED:
        return "shared";
    case ZKR_PARTICIPANT_FOREIGN:
        break;
    }
    return NULL;
}
