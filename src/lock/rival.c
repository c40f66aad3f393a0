/* SPDX-License-Identifier: Apache-2.0 */
/* Rivals: what the node that is in our way says of its owner, for people. */
#include "lock/rival.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"

/* Of each word of another client. */
#define WORD_MAX 40
/* Our own records are shorter. */
#define DATA_MAX 1024

struct zkr__rival {
    int64_t session;
    size_t len;
    char data[];
};

struct zkr__rival *zkr__rival_copy(const struct zkr__zk_reply *node)
{
    size_t len = node->data == NULL ? 0 : node->data_len;
    struct zkr__rival *rival;

    if (len > DATA_MAX)
        return NULL;
    rival = malloc(sizeof(*rival) + len);
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
    size_t size = word == NULL ? 0 : strlen(word);

    if (size == 0 || size > WORD_MAX || zkr__text_fault(word) != NULL ||
        len + strlen(noun) + size + sizeof(", '')") + 1 > ZKR__RIVAL_MAX)
        return;
    (void)snprintf(text + len, ZKR__RIVAL_MAX - len, ", %s '%s'", noun, word);
}

/* Our own records, and those of other versions of this library. */
static void add_record(char text[ZKR__RIVAL_MAX], const json_t *record)
{
    const json_t *pid = json_object_get(record, "pid");
    char number[24];

    add(text, "host", json_string_value(json_object_get(record, "host")));
    (void)snprintf(number, sizeof(number), "%lld",
                   (long long)json_integer_value(pid));
    add(text, "pid", json_is_integer(pid) ? number : NULL);
    add(text, "label", json_string_value(json_object_get(record, "label")));
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
    json_t *record;

    text[0] = '\0';
    if (rival == NULL)
        return;
    (void)snprintf(text, ZKR__RIVAL_MAX, " (session 0x%llx",
                   (unsigned long long)rival->session);
    record = json_loadb(rival->data, rival->len, 0, NULL);
    if (json_is_object(record))
        add_record(text, record);
    else
        add_word(text, rival);
    json_decref(record);
    (void)strcat(text, ")");
}
