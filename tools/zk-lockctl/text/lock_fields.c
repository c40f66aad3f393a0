/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a lock, and of a contender: docs/lockctl-json.md says what each
 * means. */
#include "text/lock_fields.h"

#include <stdio.h>
#include <string.h>

#include "common/escape.h"
#include "text/envelope.h"

#define LOCK_AT(member)  offsetof(struct lock, member)
#define NODE_AT(member)  offsetof(struct zkr_participant, member)
#define OWNER_AT(member) offsetof(struct zkr__known_owner, member)

#define DIALECTS "zkrecipes curator kazoo go c-recipe zk-ruby other ? mixed -"

/* --- the record of an owner --- */

static json_t *tid(const void *item)
{
    const struct zkr__known_owner *owner = item;

    /* An asynchronous claim is of no thread. */
    return owner->tid == 0 ? json_null() : json_integer(owner->tid);
}

const struct field owner_fields[] = {
    { .key = "host", .type = FIELD_CHARS, .at = OWNER_AT(host) },
    { .key = "pid", .type = FIELD_NUMBER, .at = OWNER_AT(pid) },
    { .key = "thread", .type = FIELD_CHARS, .at = OWNER_AT(thread) },
    { .key = "tid", .type = FIELD_NUMBER, .json = tid },
    { .key = "program", .type = FIELD_CHARS, .at = OWNER_AT(program) },
    { .key = "label", .type = FIELD_CHARS, .at = OWNER_AT(label) },
    { .key = "start", .type = FIELD_CHARS, .at = OWNER_AT(start) },
    { .key = "library", .type = FIELD_CHARS, .at = OWNER_AT(library) },
    { .key = "within", .type = FIELD_SESSION, .at = OWNER_AT(within) },
    { .key = NULL },
};
const struct kind owner_kind = { "owner", NULL, owner_fields };

/* --- a contender --- */

static const struct contender *contender_at(const void *item)
{
    return ((const struct place *)item)->c;
}

static const void *contender_of(const void *item)
{
    return contender_at(item);
}

static const void *node_of(const void *item)
{
    return contender_at(item)->node;
}

static const void *owner_of(const void *item)
{
    return &contender_at(item)->owner;
}

static const void *error_of(const void *item)
{
    return contender_at(item)->node->error == ZKR_OK ? NULL : item;
}

static const void *told_of(const void *item)
{
    return ((const struct place *)item)->told;
}

/* Of those whom the servers know; where they were asked there is one. */
static const void *client_of(const void *item)
{
    static const struct client unknown = { .timeout_ms = -1 };
    const struct place *p = item;
    const struct client *c =
        p->told == NULL ? NULL : told_client(p->told, p->c);

    return p->told == NULL ? NULL : c == NULL ? &unknown : c;
}

static const char *position_text(const void *item, char room[FIELD_ROOM])
{
    const struct place *p = item;

    return p->c->node->kind == ZKR_PARTICIPANT_FOREIGN
               ? NULL
               : cell_count((size_t)(p->c - p->lock->items), false, room);
}

static const char *state_of(const void *item)
{
    const struct place *p = item;

    if (p->lock->kind == ZKR__KIND_BARRIER && zkr__is_member(p->c->node))
        return "member";
    if (p->c->node->kind == ZKR_PARTICIPANT_FOREIGN)
        return "foreign";
    return p->c->node->holds ? "HELD" : "wait";
}

static const char *owner_text(const void *item, char room[FIELD_ROOM])
{
    return contender_who(contender_at(item), room);
}

static const char *client_text(const void *item, char room[FIELD_ROOM])
{
    const struct zkr_participant *p = node_of(item);
    const struct client *c = client_of(item);

    if (p->token != 0 && p->session_id == 0)
        return "(no session)";
    return c->address[0] == '\0' ? "?"
                                 : escape_string(c->address, room, FIELD_ROOM);
}

static const char *timeout_text(const void *item, char room[FIELD_ROOM])
{
    const struct client *c = client_of(item);

    if (c->timeout_ms < 0)
        return "?";
    (void)snprintf(room, WORD_MAX, "%gs", (double)c->timeout_ms / 1000);
    return room;
}

static const char *since_text(const void *item, char room[FIELD_ROOM])
{
    const struct contender *c = contender_at(item);

    return c->node->holds || c->age_ms < 0 ? cell_at_most(c->age_ms, room)
                                           : word_age(c->age_ms, room);
}

static const char *blocker_text(const void *item, char room[FIELD_ROOM])
{
    const struct place *p = item;

    if (contender_wants_permit(p->lock, p->c))
        return "a permit";
    if (!contender_waits(p->c) || p->c->node->waits_for >= p->lock->listed)
        return NULL;
    (void)snprintf(room, WORD_MAX, "pos %zu", p->c->node->waits_for);
    return room;
}

static json_t *blocker_json(const void *item)
{
    const struct lock *lock = ((const struct place *)item)->lock;
    size_t i = contender_at(item)->node->waits_for;
    const char *name;

    if (i >= lock->listed)
        return json_null();
    name = lock->items[i].node->name;
    return json_text(name, strlen(name));
}

static json_t *json_answer(enum answer answer)
{
    return answer == ANSWER_UNKNOWN ? json_null()
                                    : json_boolean(answer == ANSWER_YES);
}

static json_t *alive_json(const void *item)
{
    return json_answer(told_lives(told_of(item), contender_at(item)));
}

static const char *watch_text(const void *item, char room[FIELD_ROOM])
{
    static const char *const words[] = {
        [ANSWER_UNKNOWN] = "?",
        [ANSWER_NO] = "MISSING",
        [ANSWER_YES] = "ok",
    };
    const struct place *p = item;

    return blocker_text(item, room) == NULL ? NULL
                                            : words[told_wakes(p->told, p->c)];
}

static json_t *watch_json(const void *item)
{
    const struct place *p = item;

    return contender_waits(p->c) ? json_answer(told_wakes(p->told, p->c))
                                 : json_null();
}

static const char *mode_text(const void *item, char room[FIELD_ROOM])
{
    (void)room;
    return cell_mode(contender_at(item));
}

static const char *mode_word(const void *item)
{
    const char *mode = cell_mode(contender_at(item));

    return mode == NULL ? "foreign" : mode;
}

static const char *dialect_word(const void *item)
{
    return zkr__dialect_name(contender_at(item)->dialect);
}

static const char *queued_text(const void *item, char room[FIELD_ROOM])
{
    const struct zkr_participant *p = node_of(item);

    return p->error == ZKR_OK ? word_time(p->since_ms, room) : "?";
}

static const void *record_of(const void *item)
{
    return contender_at(item)->owner.is_record ? owner_of(item) : NULL;
}

static json_t *data_json(const void *item)
{
    const struct zkr_participant *p = node_of(item);

    return contender_at(item)->owner.is_record
               ? json_null()
               : json_text(p->data, p->data_size);
}

static const char *error_word(const void *item)
{
    return zkr_strerror(contender_at(item)->node->error);
}

/* clang-format off */
const struct field contender_fields[] = {
    { .key = "node", .type = FIELD_TEXT, .at = NODE_AT(name), .of = node_of },
    { "POS", .text = position_text, .rank = 0, .right = true },
    { "STATE", NULL, FIELD_WORD, .word = state_of, .rank = 1 },
    { "OWNER", .text = owner_text, .rank = 2, .narrow = 20 },
    { "LABEL", NULL, FIELD_CHARS, .at = OWNER_AT(label), .of = owner_of, .rank = 6, .narrow = 12 },
    { "CLIENT", "client", FIELD_CHARS, .at = offsetof(struct client, address), .of = client_of, .text = client_text, .rank = 8, .lacking = true },
    { "SESSION", "session", FIELD_SESSION, .at = NODE_AT(session_id), .of = node_of, .rank = 9 },
    { "TIMEOUT", "session_timeout_ms", FIELD_MS, .at = offsetof(struct client, timeout_ms), .of = client_of, .text = timeout_text, .rank = 10, .right = true, .lacking = true },
    { "SINCE", .text = since_text, .rank = 3, .right = true },
    { "BLOCKED-BY", "waits_for", FIELD_TEXT, .text = blocker_text, .json = blocker_json, .rank = 4 },
    { "WATCH", "watches", FIELD_BOOL, .of = told_of, .text = watch_text, .json = watch_json, .rank = 5, .lacking = true },
    { "TOKEN", "token", FIELD_TOKEN, .at = NODE_AT(token), .of = node_of, .rank = 7 },
    { "MODE", "mode", FIELD_WORD, .word = mode_word, .text = mode_text, .words = "exclusive shared foreign", .wide = true },
    { "DIALECT", "dialect", FIELD_WORD, .word = dialect_word, .words = DIALECTS, .wide = true },
    { "THREAD", NULL, FIELD_CHARS, .at = OWNER_AT(thread), .of = owner_of, .wide = true },
    { "QUEUED", "queued_at", FIELD_TIME, .at = NODE_AT(since_ms), .of = node_of, .text = queued_text, .wide = true },
    { "NODE", NULL, FIELD_TEXT, .at = NODE_AT(name), .of = node_of, .wide = true },
    { .key = "holds", .type = FIELD_BOOL, .at = NODE_AT(holds), .of = node_of },
    { .key = "sequence", .type = FIELD_NUMBER, .at = NODE_AT(sequence), .of = node_of },
    { .key = "age_ms", .type = FIELD_MS, .at = offsetof(struct contender, age_ms), .of = contender_of },
    { .key = "owner", .type = FIELD_OBJECT, .of = record_of, .kind = &owner_kind },
    { .key = "data", .type = FIELD_TEXT, .json = data_json },
    { .key = "data_size", .type = FIELD_COUNT, .at = NODE_AT(full_size), .of = node_of },
    { .key = "revoke_asked", .type = FIELD_BOOL, .at = OWNER_AT(is_asked), .of = owner_of },
    { .key = "revoke_reason", .type = FIELD_CHARS, .at = OWNER_AT(reason), .of = owner_of },
    { .key = "server", .type = FIELD_CHARS, .at = offsetof(struct client, server), .of = client_of, .lacking = true },
    { .key = "session_alive", .type = FIELD_BOOL, .of = told_of, .json = alive_json, .lacking = true },
    { .key = "error", .type = FIELD_WORD, .of = error_of, .word = error_word, .lacking = true },
    { .key = NULL },
};
/* clang-format on */
const struct kind contender_kind = { "contender", NULL, contender_fields };

json_t *describe_contender(const struct lock *lock, const struct contender *c)
{
    const struct place place = { lock, c, NULL };

    return fields_json(contender_fields, &place);
}

/* --- a lock --- */

const char *lock_kind_word(const void *item)
{
    return zkr__lock_kind_name(((const struct lock *)item)->kind);
}

const char *lock_dialect_word(const void *item)
{
    return zkr__dialect_name(((const struct lock *)item)->dialect);
}

const char *lock_state_text(const void *item, char room[FIELD_ROOM])
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

const char *lock_holder_text(const void *item, char room[FIELD_ROOM])
{
    return cell_holder(item, room);
}

static json_t *holders_json(const void *item)
{
    const struct lock *lock = item;
    json_t *holders = json_array();

    for (size_t i = 0; i < lock->count; i++) {
        if (lock->items[i].node->holds)
            (void)json_array_append_new(
                holders, describe_contender(lock, &lock->items[i]));
    }
    return holders;
}

static const char *held_text(const void *item, char room[FIELD_ROOM])
{
    const struct contender *h = ((const struct lock *)item)->holder;

    return h == NULL ? NULL : cell_at_most(h->age_ms, room);
}

const char *lock_waiters_text(const void *item, char room[FIELD_ROOM])
{
    const struct lock *lock = item;

    return lock->error == ZKR_OK && lock->state != LOCK_UNKNOWN
               ? cell_count(lock->waiters, lock->cut, room)
               : "?";
}

/* The one that holds; NULL where several do. */
const void *lock_owner_of(const void *item)
{
    const struct lock *lock = item;

    return lock->holder == NULL || lock->holders > 1 ? NULL
                                                     : &lock->holder->owner;
}

const void *lock_node_of(const void *item)
{
    return lock_owner_of(item) == NULL
               ? NULL
               : ((const struct lock *)item)->holder->node;
}

static json_t *foreign_json(const void *item)
{
    const struct lock *lock = item;

    return json_integer((json_int_t)(lock->listed - lock->count));
}

static const void *error_of_lock(const void *item)
{
    return ((const struct lock *)item)->error == ZKR_OK ? NULL : item;
}

static const char *error_word_of_lock(const void *item)
{
    return zkr_strerror(((const struct lock *)item)->error);
}

/* clang-format off */
const struct field lock_fields[] = {
    { "LOCK", "path", FIELD_PATH, .at = LOCK_AT(path), .rank = 0, .narrow = 20, .tail = true },
    { "KIND", "kind", FIELD_WORD, .word = lock_kind_word, .words = "mutex rw unfair leader semaphore barrier mixed -", .rank = 6 },
    { "DIALECT", "dialect", FIELD_WORD, .word = lock_dialect_word, .words = DIALECTS, .rank = 8 },
    { "STATE", "state", FIELD_WORD, .word = state_word, .text = lock_state_text, .words = "free held shared entering ready unknown", .rank = 1 },
    { "HOLDER", "holders", FIELD_LIST, .text = lock_holder_text, .json = holders_json, .kind = &contender_kind, .rank = 2, .narrow = 20 },
    { "HELD", .text = held_text, .rank = 4, .right = true },
    { "WAIT", "waiters", FIELD_COUNT, .at = LOCK_AT(waiters), .text = lock_waiters_text, .rank = 3, .right = true },
    { "LONGEST", "longest_wait_ms", FIELD_MS, .at = LOCK_AT(longest_wait_ms), .wide = true, .right = true },
    { "TOKEN", NULL, FIELD_TOKEN, .at = NODE_AT(token), .of = lock_node_of, .rank = 7 },
    { "LABEL", NULL, FIELD_CHARS, .at = OWNER_AT(label), .of = lock_owner_of, .wide = true },
    { "SESSION", NULL, FIELD_SESSION, .at = NODE_AT(session_id), .of = lock_node_of, .wide = true },
    { "SINCE", NULL, FIELD_TIME, .at = NODE_AT(since_ms), .of = lock_node_of, .wide = true },
    { "CHILDREN", "children", FIELD_COUNT, .at = LOCK_AT(total), .wide = true, .right = true },
    { .key = "foreign", .type = FIELD_COUNT, .json = foreign_json },
    { .key = "cut", .type = FIELD_BOOL, .at = LOCK_AT(cut) },
    { .key = "error", .type = FIELD_WORD, .of = error_of_lock, .word = error_word_of_lock, .lacking = true },
    { .key = NULL },
};
/* clang-format on */
const struct kind lock_kind = { "lock", "LockList", lock_fields };

static enum style style_of(const void *item)
{
    return ((const struct lock *)item)->state == LOCK_FREE ? STYLE_DIM
                                                           : STYLE_PLAIN;
}

int locks_print(const struct lockctl *ctl, const struct lock *locks,
                size_t count, int64_t at_ms, const struct notes *notes)
{
    const struct rows rows = { .kind = &lock_kind,
                               .of = locks,
                               .size = sizeof(*locks),
                               .count = count,
                               .style = style_of,
                               .at_ms = at_ms,
                               .notes = notes };

    return rows_print(ctl, &rows);
}
