/* SPDX-License-Identifier: Apache-2.0 */
/* Reads who made a node from its data: our record, or the text of others.
 * Pure. */
#include "model/owner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "common/escape.h"

static const char request[] = "__REVOKE__";

/* jansson takes no NUL inside of strings, so strlen is the length. */
static void take_text(const json_t *record, const char *key, char *text,
                      size_t size)
{
    const char *value = json_string_value(json_object_get(record, key));

    (void)snprintf(text, size, "%s", value == NULL ? "" : value);
}

static int64_t take_number(const json_t *record, const char *key)
{
    return json_integer_value(json_object_get(record, key));
}

/* The session is text, because JavaScript knows 53 bits only. 0: none, or not a
 * session. */
static int64_t take_session(const json_t *record, const char *key)
{
    const char *value = json_string_value(json_object_get(record, key));
    size_t digits;

    if (value == NULL || strncmp(value, "0x", 2) != 0)
        return 0;
    digits = strspn(value + 2, "0123456789abcdef");
    return digits > 0 && digits <= 16 && value[2 + digits] == '\0'
               ? (int64_t)strtoull(value, NULL, 16)
               : 0;
}

static bool is_ours(const json_t *record)
{
    const char *library = json_string_value(json_object_get(record, "library"));

    return library != NULL && strncmp(library, "zkrecipes", 9) == 0;
}

static void take_record(struct owner *owner, const json_t *record)
{
    owner->is_record = true;
    owner->is_asked = json_is_true(json_object_get(record, "asked"));
    take_text(record, "host", owner->host, sizeof(owner->host));
    take_text(record, "thread", owner->thread, sizeof(owner->thread));
    take_text(record, "program", owner->program, sizeof(owner->program));
    take_text(record, "label", owner->label, sizeof(owner->label));
    take_text(record, "library", owner->library, sizeof(owner->library));
    take_text(record, "start", owner->start, sizeof(owner->start));
    owner->pid = take_number(record, "pid");
    owner->tid = take_number(record, "tid");
    owner->limit = take_number(record, "limit");
    owner->within = take_session(record, "within");
}

void owner_read(struct owner *owner, const char *data, size_t size)
{
    json_t *record = NULL;

    *owner = (struct owner){ .is_asked = size == strlen(request) &&
                                         memcmp(data, request, size) == 0 };
    if (size > 0 && size <= OWNER_RECORD_MAX && data[0] == '{')
        record = json_loadb(data, size, JSON_REJECT_DUPLICATES, NULL);
    if (record != NULL && is_ours(record))
        take_record(owner, record);
    json_decref(record);
}

void owner_word(const struct owner *owner, const char *data, size_t size,
                char *word, size_t word_size)
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
