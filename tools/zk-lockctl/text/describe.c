/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a lock as JSON, in the one schema of docs/lockctl-json.md. */
#include "text/describe.h"

#include <string.h>

#include "text/cells.h"

static json_t *text_or_null(const char *text)
{
    return text[0] == '\0' ? json_null() : json_text(text, strlen(text));
}

/* An asynchronous claim is of no thread. */
static json_t *id_or_null(int64_t id)
{
    return id == 0 ? json_null() : json_integer(id);
}

static json_t *describe_owner(const struct zkr__known_owner *o)
{
    if (!o->is_record)
        return json_null();
    return json_pack("{s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "host",
                     text_or_null(o->host), "pid", (json_int_t)o->pid, "thread",
                     text_or_null(o->thread), "tid", id_or_null(o->tid),
                     "program", text_or_null(o->program), "label",
                     text_or_null(o->label), "start", text_or_null(o->start),
                     "library", text_or_null(o->library), "within",
                     json_session(o->within));
}

static json_t *waits_for(const struct lock *lock, const struct contender *c)
{
    size_t i = c->node->waits_for;
    const char *name;

    if (i >= lock->listed)
        return json_null();
    name = lock->items[i].node->name;
    return json_text(name, strlen(name));
}

json_t *describe_contender(const struct lock *lock, const struct contender *c)
{
    const struct zkr_participant *p = c->node;
    const char *mode = cell_mode(c);
    json_t *all = json_pack(
        "{s:o, s:s, s:b, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}",
        "node", json_text(p->name, strlen(p->name)), "mode",
        mode == NULL ? "foreign" : mode, "holds", (int)p->holds, "dialect",
        zkr__dialect_name(c->dialect), "sequence", (json_int_t)p->sequence,
        "token", json_token(p->token), "session", json_session(p->session_id),
        "queued_at", json_time(p->since_ms), "age_ms", json_ms(c->age_ms),
        "waits_for", waits_for(lock, c), "owner", describe_owner(&c->owner),
        "data",
        c->owner.is_record ? json_null() : json_text(p->data, p->data_size),
        "revoke_asked", (int)c->owner.is_asked);

    if (all == NULL)
        return NULL;
    (void)json_object_set_new(all, "data_size",
                              json_integer((json_int_t)p->full_size));
    if (p->error != ZKR_OK)
        (void)json_object_set_new(all, "error",
                                  json_string(zkr_strerror(p->error)));
    return all;
}

static json_t *describe_holders(const struct lock *lock)
{
    json_t *holders = json_array();

    for (size_t i = 0; i < lock->count; i++) {
        if (lock->items[i].node->holds)
            (void)json_array_append_new(
                holders, describe_contender(lock, &lock->items[i]));
    }
    return holders;
}

json_t *describe_lock(const struct lock *lock)
{
    json_t *all = json_pack(
        "{s:o, s:s, s:s, s:s, s:o, s:I, s:o, s:I, s:I, s:b}", "path",
        json_text(lock->path, strlen(lock->path)), "kind",
        zkr__lock_kind_name(lock->kind), "dialect",
        zkr__dialect_name(lock->dialect), "state",
        lock->error == ZKR_OK && lock->state != LOCK_UNKNOWN
            ? lock_state_name(lock->state)
            : "unknown",
        "holders", describe_holders(lock), "waiters", (json_int_t)lock->waiters,
        "longest_wait_ms", json_ms(lock->longest_wait_ms), "children",
        (json_int_t)lock->total, "foreign",
        (json_int_t)(lock->listed - lock->count), "cut", (int)lock->cut);

    if (all != NULL && lock->error != ZKR_OK)
        (void)json_object_set_new(all, "error",
                                  json_string(zkr_strerror(lock->error)));
    return all;
}
