/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a contender: its node, its owner, whether it waits. */
#include "model/contender.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/words.h"

bool node_is_read(const struct zkr_participant *node)
{
    return node->token != 0 || node->error != ZKR_OK;
}

bool node_set_data(struct zkr_participant *node, const char *data, size_t size)
{
    size_t kept =
        size < ZKR_PARTICIPANT_DATA_MAX ? size : ZKR_PARTICIPANT_DATA_MAX;
    char *copy = malloc(kept + 1);

    if (copy == NULL)
        return false;
    if (kept > 0)
        memcpy(copy, data, kept);
    copy[kept] = '\0';
    free((void *)(uintptr_t)node->data);
    node->data = copy;
    node->data_size = kept;
    node->full_size = size;
    return true;
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
    return o->is_record &&
           (strcmp(o->host, process) == 0 || strcmp(all, process) == 0);
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
