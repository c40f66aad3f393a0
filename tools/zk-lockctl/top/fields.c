/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of the rows of top: of a lock, which the row begins with, and of
 * an owner. */
#include "text/lock_fields.h"
#include "top/model.h"

static const char *held_text(const void *item, char room[FIELD_ROOM])
{
    const struct top_row *row = item;

    return row->view.lock.holder == NULL ? NULL
                                         : cell_at_most(row->held_ms, room);
}

static const char *state_word(const void *item)
{
    return lock_state_name(((const struct lock *)item)->state);
}

static const char *holder_word(const void *item)
{
    return ((const struct top_row *)item)->holder;
}

static const char *held_by_owner(const void *item, char room[FIELD_ROOM])
{
    return cell_at_most(((const struct top_owner *)item)->held_ms, room);
}

/* clang-format off */
#define AT(member)       offsetof(struct top_row, member)
#define LOCK_AT(member)  offsetof(struct lock, member)
#define NODE_AT(member)  offsetof(struct zkr_participant, member)
const struct field top_fields[] = {
    [TOP_LOCK] = { "LOCK", NULL, FIELD_PATH, .at = LOCK_AT(path), .rank = 0, .narrow = 20, .tail = true },
    [TOP_KIND] = { "KIND", NULL, FIELD_WORD, .word = lock_kind_word, .rank = 7 },
    [TOP_STATE] = { "STATE", NULL, FIELD_WORD, .word = state_word, .rank = 5 },
    [TOP_HOLDER] = { "HOLDER", NULL, FIELD_WORD, .word = holder_word, .rank = 2, .narrow = 20 },
    [TOP_HELD] = { "HELD", NULL, FIELD_MS, .at = AT(held_ms), .text = held_text, .rank = 4, .right = true },
    [TOP_WAIT] = { "WAIT", NULL, FIELD_COUNT, .at = LOCK_AT(waiters), .text = lock_waiters_text, .rank = 1, .right = true },
    [TOP_LONGEST] = { "LONGEST", NULL, FIELD_MS, .at = LOCK_AT(longest_wait_ms), .rank = 3, .right = true },
    [TOP_GRANTS] = { "GRANTS", NULL, FIELD_COUNT, .at = AT(grants), .rank = 6, .right = true },
    [TOP_TOKEN] = { "TOKEN", NULL, FIELD_TOKEN, .at = NODE_AT(token), .in = LOCK_AT(node), .rank = 8 },
    { "LABEL", NULL, FIELD_CHARS, .at = offsetof(struct zkr__known_owner, label), .in = LOCK_AT(owner), .wide = true, .narrow = 12 },
    { "DIALECT", NULL, FIELD_WORD, .word = lock_dialect_word, .wide = true, .rank = 1 },
    { "SESSION", NULL, FIELD_SESSION, .at = NODE_AT(session_id), .in = LOCK_AT(node), .wide = true, .rank = 2 },
    { .key = NULL },
};
#undef AT

#define AT(member) offsetof(struct top_owner, member)
const struct field top_owner_fields[] = {
    { "OWNER", NULL, FIELD_CHARS, .at = AT(who), .rank = 0, .narrow = 24 },
    { "LOCKS", NULL, FIELD_COUNT, .at = AT(locks), .rank = 1, .right = true },
    { "HELD", .text = held_by_owner, .rank = 3, .right = true },
    { "WAIT", NULL, FIELD_COUNT, .at = AT(waiters), .rank = 2, .right = true },
    { "LONGEST", NULL, FIELD_MS, .at = AT(longest_ms), .rank = 4, .right = true },
    { .key = NULL },
};
/* clang-format on */
