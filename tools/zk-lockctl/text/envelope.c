/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the answer to stdout: the envelope of JSON. */
#include "text/envelope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/now.h"
#include "common/words.h"

bool output_is_json(const struct lockctl *ctl)
{
    return ctl->format == FORMAT_JSON || ctl->format == FORMAT_JSONL;
}

/* Everything except ASCII is written as \uXXXX, so that it cannot affect a
 * terminal. */
#define DUMP_FLAGS (JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15))

/* There is one object on stdout, with -o json. */
static bool answered;

static int dump(json_t *value, size_t flags)
{
    bool done = value != NULL &&
                json_dumpf(value, stdout, DUMP_FLAGS | flags) == 0 &&
                putchar('\n') != EOF;

    json_decref(value);
    return done ? 0 : lockctl_fail(EX_IOERR, "cannot write the output");
}

static json_t *texts_of(const struct notes *notes)
{
    json_t *texts = json_array();

    for (size_t i = 0; i < notes->count; i++)
        (void)json_array_append_new(
            texts, json_text(notes->texts[i], strlen(notes->texts[i])));
    return texts;
}

static int dump_lines(json_t *items, const struct notes *notes)
{
    json_t *item;
    size_t i;
    int code = 0;

    json_array_foreach(items, i, item)
    {
        if (code == 0)
            code = dump(json_incref(item), JSON_COMPACT);
    }
    json_decref(items);
    if (code == 0 && notes->count > 0)
        code =
            dump(json_pack("{s:o}", "warnings", texts_of(notes)), JSON_COMPACT);
    return code;
}

int output_json(const struct lockctl *ctl, const char *kind, int64_t at_ms,
                json_t *items, const struct notes *notes)
{
    if (ctl->format == FORMAT_JSONL)
        return dump_lines(items, notes);
    answered = true;
    return dump(json_pack("{s:s, s:s, s:o, s:o, s:o}", "apiVersion",
                          "zkrecipes/v1", "kind", kind, "at", json_time(at_ms),
                          "items", items, "warnings", texts_of(notes)),
                JSON_INDENT(2));
}

int output_dump(json_t *value)
{
    return dump(value, JSON_INDENT(2));
}

/* "ZNOAUTH" of "ZNOAUTH: not permitted". */
static json_t *name_of(int cause)
{
    const char *text = zkr_strerror(cause);

    return cause == ZKR_OK ? json_null()
                           : json_stringn(text, strcspn(text, ":"));
}

void output_failure(const struct lockctl *ctl, int exit_code, int cause,
                    const char *message)
{
    json_t *error;

    if (answered)
        return;
    error = json_pack("{s:i, s:s, s:o, s:o}", "code", exit_code, "name",
                      exit_code_name(exit_code), "cause", name_of(cause),
                      "message", json_text(message, strlen(message)));

    if (ctl->format == FORMAT_JSONL)
        (void)dump(json_pack("{s:o}", "error", error), JSON_COMPACT);
    else
        (void)dump(json_pack("{s:s, s:s, s:o, s:o}", "apiVersion",
                             "zkrecipes/v1", "kind", "Error", "at",
                             json_time(clock_wall_ms()), "error", error),
                   JSON_INDENT(2));
}

json_t *json_text(const char *bytes, size_t size)
{
    json_t *value = NULL;
    char *text;

    if (memchr(bytes, 0x7f, size) == NULL)
        value = json_stringn(bytes, size); /* NULL when it is not UTF-8 */
    if (value != NULL)
        return value;
    text = malloc(size * 4 + 1);
    if (text == NULL)
        return NULL;
    (void)escape_text(bytes, size, text, size * 4 + 1);
    value = json_string(text);
    free(text);
    return value;
}

json_t *json_ms(int64_t ms)
{
    return ms < 0 ? json_null() : json_integer(ms);
}

json_t *json_time(int64_t ms)
{
    char word[WORD_MAX];

    return ms <= 0 || word_time(ms, word)[0] == '\0' ? json_null()
                                                     : json_string(word);
}

json_t *json_token(int64_t token)
{
    char word[WORD_MAX];

    if (token == 0)
        return json_null();
    return json_string(word_token(token, word));
}

json_t *json_session(int64_t session_id)
{
    char word[WORD_MAX];

    return session_id == 0 ? json_null()
                           : json_string(word_id(session_id, word));
}
