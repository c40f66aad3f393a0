/* SPDX-License-Identifier: Apache-2.0 */
/* Understands the list of the children of a lock. */
#include "model/lock_state.h"
#include "common/escape.h"
#include "common/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"

const char *lock_state_name(enum lock_state state)
{
    static const char *const names[] = {
        [LOCK_FREE] = "free",     [LOCK_HELD] = "held",
        [LOCK_SHARED] = "shared", [LOCK_ENTERING] = "entering",
        [LOCK_READY] = "ready",   [LOCK_UNKNOWN] = "?",
    };

    return names[state];
}

static void understand_one(struct lock *lock, size_t i)
{
    const struct zkr_participants *list = lock->list;
    const struct zkr_participant *p = &list->items[i];
    struct contender *c = &lock->items[i];

    c->path = lock->path;
    c->node = p;
    c->place = i;
    if (p->waits_for < list->count)
        c->blocker = &list->items[p->waits_for];
    zkr__owner_read(&c->owner, p->data, p->data_size);
    c->dialect = zkr__dialect_of(p, &c->owner);
    c->age_ms = p->token == 0               ? -1
                : lock->at_ms > p->since_ms ? lock->at_ms - p->since_ms
                                            : 0;
}

/* A contender that is not known may be of the same client as the others. One of
 * which only the name was read counts if that tells the client. */
static void count_dialect(struct lock *lock, const struct contender *c)
{
    if (!node_is_read(c->node) && c->dialect == ZKR__DIALECT_UNKNOWN)
        return;
    if (lock->dialect == ZKR__DIALECT_NONE)
        lock->dialect = c->dialect;
    else if (lock->dialect != c->dialect && lock->dialect != ZKR__DIALECT_MIXED)
        lock->dialect = lock->dialect == ZKR__DIALECT_UNKNOWN ||
                                c->dialect == ZKR__DIALECT_UNKNOWN
                            ? ZKR__DIALECT_UNKNOWN
                            : ZKR__DIALECT_MIXED;
}

static void count_one(struct lock *lock, const struct contender *c)
{
    lock->count++;
    count_dialect(lock, c);
    if (c->node->holds) {
        lock->holders++;
        if (lock->holder == NULL) {
            lock->holder = c;
            lock->held_ms = c->age_ms;
        }
        if (c->age_ms > lock->longest_hold_ms)
            lock->longest_hold_ms = c->age_ms;
        if (lock->state != LOCK_HELD)
            lock->state = c->node->kind == ZKR_PARTICIPANT_SHARED ? LOCK_SHARED
                                                                  : LOCK_HELD;
        return;
    }
    if (contender_is_promised(c))
        return;
    lock->waiters++;
    if (c->age_ms > lock->longest_wait_ms)
        lock->longest_wait_ms = c->age_ms;
}

/* A double barrier has members, and the node "ready" as long as they may go. */
static void look_for_members(struct lock *lock)
{
    bool ready = false;

    for (size_t i = 0; i < lock->listed; i++) {
        const struct zkr_participant *p = lock->items[i].node;

        lock->items[i].is_member = zkr__is_member(p);
        lock->members += lock->items[i].is_member;
        ready = ready || strcmp(p->name, "ready") == 0;
    }
    if (lock->members == 0)
        return;
    lock->kind = ZKR__KIND_BARRIER;
    lock->state = ready ? LOCK_READY : LOCK_ENTERING;
}

static void understand(struct lock *lock, const struct zkr_participants *list)
{
    lock->total = list->total;
    lock->listed = list->count;
    lock->items = enough(calloc(list->count + 1, sizeof(*lock->items)));
    for (size_t i = 0; i < list->count; i++) {
        understand_one(lock, i);
        lock->read += node_is_read(&list->items[i]);
        lock->pool += zkr__is_of_pool(&list->items[i]);
        if (list->items[i].kind != ZKR_PARTICIPANT_FOREIGN)
            count_one(lock, &lock->items[i]);
        else
            lock->foreign++;
    }
    if (lock->holders == 1) {
        lock->node = lock->holder->node;
        lock->owner = &lock->holder->owner;
    }
    lock->kind = zkr__lock_kind_of(list->items, lock->count);
    if (list->semaphore && lock->kind == ZKR__KIND_NONE)
        lock->kind = ZKR__KIND_SEMAPHORE;
    if (lock->kind == ZKR__KIND_NONE)
        look_for_members(lock);
}

struct lock lock_of(const char *path, struct zkr_participants *list,
                    int64_t at_ms)
{
    struct lock lock = { .path = enough(strdup(path)),
                         .list = list,
                         .held_ms = -1,
                         .longest_wait_ms = -1,
                         .at_ms = at_ms };

    if (list != NULL)
        understand(&lock, list);
    return lock;
}

void lock_done(struct lock *lock)
{
    zkr_participants_free(lock->list);
    free(lock->items);
    free(lock->path);
    *lock = (struct lock){ .path = NULL };
}

bool lock_is_held_by(const struct lock *lock, const char *process,
                     int64_t older_ms)
{
    for (size_t i = 0; i < lock->count; i++) {
        const struct contender *c = &lock->items[i];

        if (c->node->holds && contender_is_by(c, process) &&
            (older_ms == 0 || c->age_ms >= older_ms))
            return true;
    }
    return false;
}

static int by_name(const void *a, const void *b)
{
    const struct contender *const *x = a;
    const struct contender *const *y = b;

    return strcmp((*x)->node->name, (*y)->node->name);
}

const struct contender **lock_names(const struct lock *lock)
{
    const struct contender **names =
        enough(calloc(lock->count + 1, sizeof(*names)));

    for (size_t i = 0; i < lock->count; i++)
        names[i] = &lock->items[i];
    qsort(names, lock->count, sizeof(*names), by_name);
    return names;
}

const struct contender *names_find(const struct contender *const *names,
                                   size_t count, const char *name)
{
    const struct zkr_participant node = { .name = name };
    const struct contender key = { .node = &node };
    const struct contender *wanted = &key;
    const struct contender *const *found =
        find_in_array(&wanted, names, count, sizeof(*names), by_name);

    return found == NULL ? NULL : *found;
}

int lock_by_path(const void *a, const void *b)
{
    return strcmp(((const struct lock *)a)->path,
                  ((const struct lock *)b)->path);
}

const struct contender *lock_find(const struct lock *lock, int64_t token,
                                  bool holds, const struct contender *last)
{
    size_t i = last == NULL ? 0 : (size_t)(last - lock->items) + 1;

    for (; i < lock->count; i++) {
        if (lock->items[i].node->holds == holds &&
            lock->items[i].node->token == token)
            return &lock->items[i];
    }
    return NULL;
}

bool node_is_read(const struct zkr_participant *node)
{
    return node->token != 0 || node->error != ZKR_OK;
}

void node_set_data(struct zkr_participant *node, const char *data, size_t size)
{
    size_t kept =
        size < ZKR_PARTICIPANT_DATA_MAX ? size : ZKR_PARTICIPANT_DATA_MAX;
    char *copy = enough(malloc(kept + 1));

    if (kept > 0)
        memcpy(copy, data, kept);
    copy[kept] = '\0';
    free((void *)(uintptr_t)node->data);
    node->data = copy;
    node->data_size = kept;
    node->full_size = size;
}

void owner_word(const struct zkr__known_owner *owner, const char *data,
                size_t size, char *word, size_t word_size)
{
    char text[512];
    char thread[32] = "";

    if (!owner->is_record) {
        (void)escape_text(owner->is_asked ? owner->said : data,
                          owner->is_asked ? owner->said_size : size, word,
                          word_size);
        return;
    }
    if (owner->tid != 0)
        (void)snprintf(thread, sizeof(thread), "/%" PRId64, owner->tid);
    (void)snprintf(text, sizeof(text), "%s:%" PRId64 "%s%s%s", owner->host,
                   owner->pid, thread, owner->program[0] == '\0' ? "" : " ",
                   owner->program);
    (void)escape_string(text, word, word_size);
}

const char *contender_who(const struct contender *c, char who[WHO_MAX])
{
    static const char asked[] = " (asked to release)";
    char id[WORD_MAX];
    size_t size = WHO_MAX - (c->owner.is_asked ? strlen(asked) : 0);

    owner_word(&c->owner, c->node->data, c->node->data_size, who, size);
    if (who[0] == '\0' && c->node->session_id != 0)
        (void)snprintf(who, WHO_MAX, "session %s",
                       word_id(c->node->session_id, id));
    else if (who[0] == '\0')
        (void)snprintf(who, WHO_MAX, "?");
    return c->owner.is_asked ? strcat(who, asked) : who;
}

const char *contender_named(const struct contender *c, char who[NAMED_MAX])
{
    char label[NAMED_MAX - WHO_MAX - 4];
    size_t len = strlen(contender_who(c, who));

    if (c->owner.label[0] != '\0')
        (void)snprintf(who + len, NAMED_MAX - len, " (%s)",
                       escape_string(c->owner.label, label, sizeof(label)));
    return who;
}

const char *contender_to_stop(const struct contender *c, const char *else_word,
                              char text[STOP_MAX])
{
    static const char the_shell[] = "the shell that it holds the lock for, ";
    const struct zkr__known_owner *owner = &c->owner;

    if (!owner->is_record || strcmp(owner->program, OWNER_HOLD) != 0)
        return else_word;
    (void)strcpy(text, the_shell);
    (void)escape_string(owner->label, text + strlen(the_shell),
                        STOP_MAX - strlen(the_shell));
    return text;
}

bool contender_is_by(const struct contender *c, const char *process)
{
    const struct zkr__known_owner *o = &c->owner;
    char all[300];

    (void)snprintf(all, sizeof(all), "%s:%" PRId64, o->host, o->pid);
    return process == NULL || (o->is_record && (strcmp(o->host, process) == 0 ||
                                                strcmp(all, process) == 0));
}

bool contender_waits(const struct contender *c)
{
    return c->node->kind != ZKR_PARTICIPANT_FOREIGN && !c->node->holds;
}

bool contender_is_promised(const struct contender *c)
{
    return zkr__is_lease(c->node) && !c->node->holds;
}

int64_t contender_thread(const struct contender *c)
{
    return c->owner.is_record ? c->owner.tid : 0;
}
