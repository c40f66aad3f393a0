/* SPDX-License-Identifier: Apache-2.0 */
/* The stay of a contender in a lock: when its node came, when it began to hold,
 * when and how the node went. */
#include "model/stay.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool stay_write(struct stay *stay, const char *data, size_t size)
{
    size_t kept =
        size < ZKR_PARTICIPANT_DATA_MAX ? size : ZKR_PARTICIPANT_DATA_MAX;
    char *copy = malloc(kept + 1);

    if (copy == NULL)
        return false;
    memcpy(copy, data, kept);
    copy[kept] = '\0';
    free(stay->data);
    stay->data = copy;
    stay->node.data = copy;
    stay->node.data_size = kept;
    stay->node.full_size = size;
    return true;
}

struct stay *stay_new(const char *lock, const char *name, const char *data,
                      size_t size)
{
    size_t len = strlen(name);
    struct stay *stay = calloc(1, sizeof(*stay) + len + 1);

    if (stay == NULL)
        return NULL;
    memcpy(stay->name, name, len + 1);
    stay->lock = lock;
    stay->node.name = stay->name;
    if (stay_write(stay, data, size))
        return stay;
    free(stay);
    return NULL;
}

void stay_free(struct stay *stay)
{
    if (stay == NULL)
        return;
    free(stay->data);
    free(stay->reason);
    free(stay);
}

void stay_hold(struct stay *stay, int64_t held_ms, bool before)
{
    if (stay->held_ms != 0)
        return;
    stay->held_ms = held_ms;
    stay->held_before = before;
    stay->node.holds = true;
}

struct stay *stay_of_name(const char *name)
{
    return (struct stay *)(uintptr_t)(name - offsetof(struct stay, name));
}

static int64_t span(int64_t from_ms, int64_t to_ms)
{
    return to_ms > from_ms ? to_ms - from_ms : 0;
}

int64_t stay_held_for(const struct stay *stay, int64_t now_ms)
{
    if (stay->held_ms == 0)
        return -1;
    return span(stay->held_ms, stay->ended_ms != 0 ? stay->ended_ms : now_ms);
}

int64_t stay_waited_for(const struct stay *stay, int64_t now_ms)
{
    int64_t end = stay->held_ms != 0    ? stay->held_ms
                  : stay->ended_ms != 0 ? stay->ended_ms
                                        : now_ms;

    return stay->queued_ms == 0 || stay->held_before
               ? -1
               : span(stay->queued_ms, end);
}

const char *ending_name(enum ending ending)
{
    static const char *const names[ENDING_COUNT] = {
        [ENDING_NONE] = "present",
        [ENDING_RELEASED] = "released",
        [ENDING_DELETED] = "deleted",
        [ENDING_CLOSED] = "session_closed",
        [ENDING_EXPIRED] = "session_expired",
        [ENDING_GONE] = "gone",
        [ENDING_UNKNOWN] = "unknown",
    };

    return names[ending];
}

/* The request to give the lock back has not replaced what its owner said. */
struct contender stay_contender(const struct stay *stay)
{
    struct contender c = { .node = &stay->node, .age_ms = -1 };

    zkr__owner_read(&c.owner, stay->node.data, stay->node.data_size);
    c.dialect = zkr__dialect_of(c.node, &c.owner);
    return c;
}
