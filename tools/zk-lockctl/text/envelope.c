/* SPDX-License-Identifier: Apache-2.0 */
#include "text/envelope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/grow.h"
#include "common/now.h"
#include "common/words.h"

bool output_is_json(const struct lockctl *ctl)
{
    return ctl->format == FORMAT_JSON || ctl->format == FORMAT_JSONL;
}

/* --- exit codes: their sentences in help, and their names in JSON --- */

static const struct {
    int code;
    const char *name; /* NULL: of run and metrics, no failure, or no output */
    const char *meaning;
} codes[] = {
    { 0, NULL, "done" },
    { EX_NO, NULL, "the answer of a verb that tests is no" },
    { EX_USAGE, "usage", "wrong usage" },
    { EX_DATAERR, "not_a_lock",
      "not a lock (of that recipe), or no contender has that token" },
    { EX_NOINPUT, "not_readable",
      "a file cannot be read, is not what it should be, or does not tell" },
    { EX_UNAVAILABLE, "unavailable", "no server can be reached" },
    { EX_SOFTWARE, "internal", "internal error" },
    { EX_CANTCREAT, NULL, "no node can be created, or metrics cannot listen" },
    { EX_IOERR, NULL, "the output cannot be written" },
    { EX_TEMPFAIL, "not_acquired",
      "the lock was not acquired (run -E CODE: that code)" },
    { EX_NOPERM, "forbidden", "credentials or ACLs forbid it" },
    { EX_CONFIG, "configuration", "wrong configuration" },
    { EX_LOST, "lost",
      "the lock was lost while the command ran, or while a shell held it" },
    { EX_REVOKED, NULL,
      "the lock was given back because somebody asked for it" },
    { EX_UNSEEN, NULL,
      "doctor has found nothing, but could not look everywhere" },
    { 125, NULL,
      "run failed before the command was started, or hold before the shell had "
      "the lock" },
    { 126, NULL, "the command cannot be executed" },
    { 127, NULL, "the command was not found" },
};
enum { COUNT = sizeof(codes) / sizeof(codes[0]) };

void exit_codes_print(void)
{
    for (size_t i = 0; i < COUNT; i++)
        (void)printf("%-4d %s\n", codes[i].code, codes[i].meaning);
    (void)puts("128+N  the command was killed by signal N\n"
               "Otherwise run has the exit code of its command.");
}

/* "unavailable"; "other" for a code that is not in the table. */
static const char *exit_code_name(int code)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (codes[i].code == code && codes[i].name != NULL)
            return codes[i].name;
    }
    return "other";
}

/* --- JSON --- */

/* Everything except ASCII is written as \uXXXX, so that it cannot affect a
 * terminal. */
#define DUMP_FLAGS (JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15))

/* There is one object on stdout, with -o json. */
static bool answered;

static int dump(json_t *value, size_t flags)
{
    bool done = json_dumpf(value, stdout, DUMP_FLAGS | flags) == 0 &&
                putchar('\n') != EOF;

    json_decref(value);
    return done ? 0 : lockctl_fail(EX_IOERR, "cannot write the output");
}

static json_t *texts_of(const struct notes *notes)
{
    json_t *texts = json_array();

    for (size_t i = 0; notes != NULL && i < notes->count; i++)
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
    if (code == 0 && notes != NULL && notes->count > 0)
        code =
            dump(json_pack("{s:o}", "warnings", texts_of(notes)), JSON_COMPACT);
    return code;
}

static json_t *time_at(int64_t ms)
{
    char word[WORD_MAX];

    return json_string(word_time(ms, word));
}

int output_json(const struct lockctl *ctl, const char *kind, int64_t at_ms,
                json_t *items, const struct notes *notes)
{
    if (ctl->format == FORMAT_JSONL)
        return dump_lines(items, notes);
    answered = true;
    return dump(json_pack("{s:s, s:s, s:o, s:o, s:o}", "apiVersion",
                          "zkrecipes/v1", "kind", kind, "at", time_at(at_ms),
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
    if (answered)
        return;
    json_t *error =
        json_pack("{s:i, s:s, s:o, s:o}", "code", exit_code, "name",
                  exit_code_name(exit_code), "cause", name_of(cause), "message",
                  json_text(message, strlen(message)));

    if (ctl->format == FORMAT_JSONL)
        (void)dump(json_pack("{s:o}", "error", error), JSON_COMPACT);
    else
        (void)dump(json_pack("{s:s, s:s, s:o, s:o}", "apiVersion",
                             "zkrecipes/v1", "kind", "Error", "at",
                             time_at(clock_wall_ms()), "error", error),
                   JSON_INDENT(2));
}

json_t *json_text(const char *bytes, size_t size)
{
    json_t *value = NULL;

    if (memchr(bytes, 0x7f, size) == NULL)
        value = json_stringn(bytes, size); /* NULL when it is not UTF-8 */
    if (value != NULL)
        return value;
    char *text = enough(malloc(size * 4 + 1));
    (void)escape_text(bytes, size, text, size * 4 + 1);
    value = json_string(text);
    free(text);
    return value;
}
