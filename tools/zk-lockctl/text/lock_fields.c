/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a lock, and of a contender: docs/lockctl-json.md says what each
 * means. */
#include "text/lock_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/escape.h"
#include "model/scan.h"
#include "text/envelope.h"

#define DIALECTS "zkrecipes curator kazoo go c-recipe zk-ruby other ? mixed -"

/* --- cells --- */

const char *cell_at_most(int64_t ms, char word[WORD_MAX])
{
    char age[WORD_MAX];

    if (ms < 0)
        return "?";
    (void)snprintf(word, WORD_MAX, "<=%.30s", word_age(ms, age));
    return word;
}

static const char *cell_count(size_t count, bool more, char word[WORD_MAX])
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
    if (lock->kind == ZKR__KIND_SEMAPHORE &&
        (lock->holders > 1 || limit_of(lock) > 1))
        return write_leases(lock, who, WHO_MAX);
    if (lock->holders == 1)
        return contender_who(lock->holder, who);
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

/* --- the record of an owner --- */

static json_t *tid(const void *item)
{
    const struct zkr__known_owner *owner = item;

    /* An asynchronous claim is of no thread. */
    return owner->tid == 0 ? json_null() : json_integer(owner->tid);
}

/* clang-format off */
const struct field owner_fields[] = {
    { .key = "host", .type = FIELD_CHARS, .at = AT(zkr__known_owner, host) },
    { .key = "pid", .type = FIELD_NUMBER, .at = AT(zkr__known_owner, pid) },
    { .key = "thread", .type = FIELD_CHARS, .at = AT(zkr__known_owner, thread) },
    { .key = "tid", .type = FIELD_NUMBER, .json = tid },
    { .key = "program", .type = FIELD_CHARS, .at = AT(zkr__known_owner, program) },
    { .key = "label", .type = FIELD_CHARS, .at = AT(zkr__known_owner, label) },
    { .key = "start", .type = FIELD_CHARS, .at = AT(zkr__known_owner, start) },
    { .key = "library", .type = FIELD_CHARS, .at = AT(zkr__known_owner, library) },
    { .key = "within", .type = FIELD_SESSION, .at = AT(zkr__known_owner, within) },
    { .key = NULL },
};
/* clang-format on */
const struct kind owner_kind = { "owner", NULL, owner_fields };

/* --- a contender --- */

static const char *contender_state(const void *item)
{
    const struct contender *c = item;

    if (c->is_member)
        return "member";
    if (c->node->kind == ZKR_PARTICIPANT_FOREIGN)
        return "foreign";
    return c->node->holds ? "HELD" : "wait";
}

static const char *position_text(const void *item, char room[FIELD_ROOM])
{
    const struct contender *c = item;

    return c->node->kind == ZKR_PARTICIPANT_FOREIGN
               ? NULL
               : cell_count(c->place, false, room);
}

const char *contender_owner_text(const void *item, char room[FIELD_ROOM])
{
    return contender_who(item, room);
}

static const char *client_text(const void *item, char room[FIELD_ROOM])
{
    const struct contender *c = item;

    if (c->node->token != 0 && c->node->session_id == 0)
        return "(no session)";
    return c->client->address[0] == '\0'
               ? "?"
               : escape_string(c->client->address, room, FIELD_ROOM);
}

static const char *timeout_text(const void *item, char room[FIELD_ROOM])
{
    const struct client *client = ((const struct contender *)item)->client;

    if (client->timeout_ms < 0)
        return "?";
    (void)snprintf(room, WORD_MAX, "%gs", (double)client->timeout_ms / 1000);
    return room;
}

static const char *since_text(const void *item, char room[FIELD_ROOM])
{
    const struct contender *c = item;

    return c->node->holds || c->age_ms < 0 ? cell_at_most(c->age_ms, room)
                                           : word_age(c->age_ms, room);
}

/* Who waits for nobody in the list waits for any permit of a semaphore, and so
 * does the one who was promised a lease: it waits for what its lease waits
 * for. */
static const char *blocker_text(const void *item, char room[FIELD_ROOM])
{
    const struct contender *c = item;

    if (!contender_waits(c))
        return NULL;
    if (c->blocker == NULL || zkr__is_lease(c->blocker))
        return "a permit";
    (void)snprintf(room, WORD_MAX, "pos %zu", c->node->waits_for);
    return room;
}

const char *contender_mode(const void *item)
{
    static const char *const modes[] = {
        [ZKR_PARTICIPANT_FOREIGN] = "foreign",
        [ZKR_PARTICIPANT_EXCLUSIVE] = "exclusive",
        [ZKR_PARTICIPANT_SHARED] = "shared",
    };

    return modes[((const struct contender *)item)->node->kind];
}

static const char *mode_text(const void *item, char room[FIELD_ROOM])
{
    const struct contender *c = item;

    (void)room;
    return c->node->kind == ZKR_PARTICIPANT_FOREIGN ? NULL
                                                    : contender_mode(item);
}

const char *contender_dialect(const void *item)
{
    return zkr__dialect_name(((const struct contender *)item)->dialect);
}

static const char *queued_text(const void *item, char room[FIELD_ROOM])
{
    const struct zkr_participant *p = ((const struct contender *)item)->node;

    return p->token != 0 ? word_time(p->since_ms, room) : "?";
}

static json_t *record_json(const void *item)
{
    const struct zkr__known_owner *owner =
        &((const struct contender *)item)->owner;

    return fields_json(owner_fields, owner->is_record ? owner : NULL);
}

static json_t *data_json(const void *item)
{
    const struct contender *c = item;

    return c->owner.is_record ? json_null()
                              : json_text(c->node->data, c->node->data_size);
}

/* clang-format off */
const struct field contender_fields[] = {
    { .key = "node", .type = FIELD_TEXT, .at = AT(zkr_participant, name), .in = AT(contender, node) },
    { "POS", .text = position_text, .rank = 0, .right = true },
    { "STATE", NULL, FIELD_WORD, .word = contender_state, .rank = 1 },
    { "OWNER", .text = contender_owner_text, .rank = 2, .narrow = 20 },
    { "LABEL", NULL, FIELD_CHARS, .at = AT(contender, owner.label), .rank = 5, .narrow = 12 },
    { "CLIENT", "client", FIELD_CHARS, .at = AT(client, address), .in = AT(contender, client), .text = client_text, .rank = 7, .lacking = true },
    { "SESSION", "session", FIELD_SESSION, .at = AT(zkr_participant, session_id), .in = AT(contender, node), .rank = 8 },
    { "TIMEOUT", "session_timeout_ms", FIELD_MS, .at = AT(client, timeout_ms), .in = AT(contender, client), .text = timeout_text, .rank = 9, .right = true, .lacking = true },
    { "SINCE", .text = since_text, .rank = 3, .right = true },
    { "BLOCKED-BY", .text = blocker_text, .rank = 4 },
    { .key = "waits_for", .type = FIELD_TEXT, .at = AT(zkr_participant, name), .in = AT(contender, blocker) },
    { "TOKEN", "token", FIELD_TOKEN, .at = AT(zkr_participant, token), .in = AT(contender, node), .rank = 6 },
    { "MODE", "mode", FIELD_WORD, .word = contender_mode, .text = mode_text, .words = "exclusive shared foreign", .wide = true },
    { "DIALECT", "dialect", FIELD_WORD, .word = contender_dialect, .words = DIALECTS, .wide = true },
    { "THREAD", NULL, FIELD_CHARS, .at = AT(contender, owner.thread), .wide = true },
    { "QUEUED", "queued_at", FIELD_TIME, .at = AT(zkr_participant, since_ms), .in = AT(contender, node), .text = queued_text, .wide = true },
    { "NODE", NULL, FIELD_TEXT, .at = AT(zkr_participant, name), .in = AT(contender, node), .wide = true },
    { .key = "holds", .type = FIELD_BOOL, .at = AT(zkr_participant, holds), .in = AT(contender, node) },
    { .key = "sequence", .type = FIELD_NUMBER, .at = AT(zkr_participant, sequence), .in = AT(contender, node) },
    { .key = "age_ms", .type = FIELD_MS, .at = AT(contender, age_ms) },
    { .key = "owner", .type = FIELD_OBJECT, .json = record_json, .kind = &owner_kind },
    { .key = "data", .type = FIELD_TEXT, .json = data_json },
    { .key = "data_size", .type = FIELD_COUNT, .at = AT(zkr_participant, full_size), .in = AT(contender, node) },
    { .key = "revoke_asked", .type = FIELD_BOOL, .at = AT(contender, owner.is_asked) },
    { .key = "revoke_reason", .type = FIELD_CHARS, .at = AT(contender, owner.reason) },
    { .key = "server", .type = FIELD_CHARS, .at = AT(client, server), .in = AT(contender, client), .lacking = true },
    { .key = "error", .type = FIELD_ERROR, .at = AT(zkr_participant, error), .in = AT(contender, node), .lacking = true },
    { .key = NULL },
};
/* clang-format on */
const struct kind contender_kind = { "contender", NULL, contender_fields };

/* --- a lock --- */

static const char *lock_kind_word(const void *item)
{
    return zkr__lock_kind_name(((const struct lock *)item)->kind);
}

static const char *lock_dialect_word(const void *item)
{
    return zkr__dialect_name(((const struct lock *)item)->dialect);
}

static const char *lock_state_text(const void *item, char room[FIELD_ROOM])
{
    (void)room;
    return lock_state_name(((const struct lock *)item)->state);
}

static const char *state_word(const void *item)
{
    const struct lock *lock = item;

    return lock->error == ZKR_OK && lock->state != LOCK_UNKNOWN
               ? lock_state_name(lock->state)
               : "unknown";
}

static const char *lock_holder_text(const void *item, char room[FIELD_ROOM])
{
    return cell_holder(item, room);
}

static json_t *holders_json(const void *item)
{
    const struct lock *lock = item;
    json_t *holders = json_array();

    for (size_t i = 0; i < lock->count; i++) {
        const struct contender *c = &lock->items[i];

        if (c->node->holds)
            (void)json_array_append_new(holders,
                                        fields_json(contender_fields, c));
    }
    return holders;
}

static const char *held_text(const void *item, char room[FIELD_ROOM])
{
    const struct lock *lock = item;

    return lock->holder == NULL ? NULL : cell_at_most(lock->held_ms, room);
}

static const char *lock_waiters_text(const void *item, char room[FIELD_ROOM])
{
    const struct lock *lock = item;

    return lock->error == ZKR_OK && lock->state != LOCK_UNKNOWN
               ? cell_count(lock->waiters, lock->cut, room)
               : "?";
}

/* clang-format off */
const struct field lock_fields[] = {
    { "LOCK", "path", FIELD_PATH, .at = AT(lock, path), .rank = 0, .narrow = 20, .tail = true },
    { "KIND", "kind", FIELD_WORD, .word = lock_kind_word, .words = "mutex rw unfair leader semaphore barrier mixed -", .rank = 6 },
    { "DIALECT", "dialect", FIELD_WORD, .word = lock_dialect_word, .words = DIALECTS, .rank = 8 },
    { "STATE", "state", FIELD_WORD, .word = state_word, .text = lock_state_text, .words = "free held shared entering ready unknown", .rank = 1 },
    { "HOLDER", "holders", FIELD_LIST, .text = lock_holder_text, .json = holders_json, .kind = &contender_kind, .rank = 2, .narrow = 20 },
    { "HELD", NULL, FIELD_MS, .at = AT(lock, held_ms), .text = held_text, .rank = 4, .right = true },
    { "WAIT", "waiters", FIELD_COUNT, .at = AT(lock, waiters), .text = lock_waiters_text, .rank = 3, .right = true },
    { "LONGEST", "longest_wait_ms", FIELD_MS, .at = AT(lock, longest_wait_ms), .rank = 5, .wide = true, .right = true },
    { "TOKEN", NULL, FIELD_TOKEN, .at = AT(zkr_participant, token), .in = AT(lock, node), .rank = 7 },
    { "LABEL", NULL, FIELD_CHARS, .at = AT(zkr__known_owner, label), .in = AT(lock, owner), .wide = true },
    { "SESSION", NULL, FIELD_SESSION, .at = AT(zkr_participant, session_id), .in = AT(lock, node), .wide = true },
    { "SINCE", NULL, FIELD_TIME, .at = AT(zkr_participant, since_ms), .in = AT(lock, node), .wide = true },
    { "CHILDREN", "children", FIELD_COUNT, .at = AT(lock, total), .wide = true, .right = true },
    { .key = "foreign", .type = FIELD_COUNT, .at = AT(lock, foreign) },
    { .key = "cut", .type = FIELD_BOOL, .at = AT(lock, cut) },
    { .key = "error", .type = FIELD_ERROR, .at = AT(lock, error), .lacking = true },
    { .key = NULL },
};
/* clang-format on */
const struct kind lock_kind = { "lock", "LockList", lock_fields };

int locks_print(const struct lockctl *ctl, const struct lock *locks,
                size_t count, int64_t at_ms, const struct notes *notes)
{
    const struct rows rows = { .kind = &lock_kind,
                               .of = locks,
                               .size = sizeof(*locks),
                               .count = count,
                               .at_ms = at_ms,
                               .notes = notes };

    return rows_print(ctl, &rows);
}

/* --- the one lock that a verb is about --- */

/* A node of no session no server will ever remove: without a record it has its
 * name and its data. */
const char *held_by_word(const struct lock *lock, const struct contender *h,
                         char text[HELD_BY_MAX])
{
    bool stays = h->node->token != 0 && h->node->session_id == 0;
    bool by_name = stays && !h->owner.is_record;
    const char *label = by_name ? h->node->data : h->owner.label;
    size_t len = by_name ? h->node->data_size : strlen(label);
    char who[WHO_MAX];
    char token[WORD_MAX];
    char age[WORD_MAX];

    (void)snprintf(
        text, HELD_BY_MAX,
        "%s%s is %s by %s%s (%s)%s%.*s%s%s, token %s, "
        "for <=%s",
        zkr__is_lease(h->node) ? "a lease of " : "", lock->path,
        lock->kind == ZKR__KIND_LATCH ? "led" : "held",
        by_name ? "the node " : contender_who(h, who),
        by_name ? h->node->name : "", zkr__dialect_name(h->dialect),
        len == 0 ? "" : ", \"", len < ZKR_LABEL_MAX ? (int)len : ZKR_LABEL_MAX,
        len == 0 ? "" : label, len == 0 ? "" : "\"",
        stays ? " (a node without a session, which does not end by itself)"
              : "",
        h->node->token == 0 ? "?" : word_token(h->node->token, token),
        h->age_ms < 0 ? "?" : word_age(h->age_ms, age));
    return text;
}

void one_lock_say(const struct lockctl *ctl, const struct lock *lock)
{
    const char *path = lock->path;
    char held[HELD_BY_MAX];
    char queue[QUEUE_MAX];

    if (lock->holders == 1)
        lockctl_say(ctl, "%s; %zu waiting",
                    held_by_word(lock, lock->holder, held), lock->waiters);
    else if (lock->kind == ZKR__KIND_SEMAPHORE)
        lockctl_say(ctl, "%s is a semaphore: %s", path,
                    cell_queue(lock, false, queue));
    else if (lock->holders == 0)
        lockctl_say(ctl, "%s is free", path);
    else
        lockctl_say(ctl, "%s is held by %zu; %zu waiting", path, lock->holders,
                    lock->waiters);
}

uint32_t one_lock_reads(const struct lockctl *ctl, uint32_t reads)
{
    return output_is_json(ctl) ? SCAN_NEXT : reads;
}

int one_lock_print(const struct lockctl *ctl, const struct lock *lock)
{
    return output_is_json(ctl) ? locks_print(ctl, lock, 1, lock->at_ms, NULL)
                               : 0;
}
