/* SPDX-License-Identifier: Apache-2.0 */
/* Rivals: what the node that is in our way says of its owner, for people. */
#include "lock/rival.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "protocol/owner.h"

/* Of each word of another client. */
#define WORD_MAX 40

struct zkr__rival {
    int64_t session;
    size_t len;
    char data[];
};

struct zkr__rival *zkr__rival_copy(const struct zkr__zk_reply *node)
{
    size_t len = node->data == NULL ? 0 : node->data_len;

    if (len > ZKR__OWNER_READ_MAX)
        return NULL;
    struct zkr__rival *rival = malloc(sizeof(*rival) + len);
    if (rival == NULL)
        return NULL;
    rival->session = node->stat.ephemeral_owner;
    rival->len = len;
    if (len > 0)
        memcpy(rival->data, node->data, len);
    return rival;
}

static void add(char text[ZKR__RIVAL_MAX], const char *noun, const char *word)
{
    size_t len = strlen(text);
    size_t size = strlen(word);

    if (size == 0 || size > WORD_MAX || zkr__text_fault(word) != NULL ||
        len + strlen(noun) + size + sizeof(", '')") + 1 > ZKR__RIVAL_MAX)
        return;
    (void)snprintf(text + len, ZKR__RIVAL_MAX - len, ", %s '%s'", noun, word);
}

/* Our own records, and those of other versions of this library. */
static void add_record(char text[ZKR__RIVAL_MAX],
                       const struct zkr__known_owner *owner)
{
    char pid[24];

    (void)snprintf(pid, sizeof(pid), "%lld", (long long)owner->pid);
    add(text, "host", owner->host);
    add(text, "pid", owner->pid == 0 ? "" : pid);
    add(text, "label", owner->label);
}

/* Curator writes its address, kazoo what it is told to. */
static void add_word(char text[ZKR__RIVAL_MAX], const struct zkr__rival *rival)
{
    char word[WORD_MAX + 1];

    if (rival->len > WORD_MAX)
        return;
    (void)snprintf(word, sizeof(word), "%.*s", (int)rival->len, rival->data);
    add(text, "who says", word);
}

void zkr__rival_describe(const struct zkr__rival *rival,
                         char text[ZKR__RIVAL_MAX])
{
    struct zkr__known_owner owner;

    text[0] = '\0';
    if (rival == NULL)
        return;
    (void)snprintf(text, ZKR__RIVAL_MAX, " (session 0x%llx",
                   (unsigned long long)rival->session);
    zkr__owner_read(&owner, rival->data, rival->len);
    if (owner.is_record)
        add_record(text, &owner);
    else
        add_word(text, rival);
    (void)strcat(text, ")");
}
