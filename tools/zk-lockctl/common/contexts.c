/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: ensembles by name, with the settings for each, in a file of the
 * user. */
#include "common/contexts.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "common/lockctl.h"
#include "common/private_file.h"

enum { TEXT_MAX = 64 * 1024, WORD_ROOM = 200 };

static const char blanks[] = " \t\r";
static const char name_chars[] = "abcdefghijklmnopqrstuvwxyz"
                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789_.-";

/* --- a line --- */

enum kind { LINE_EMPTY, LINE_CONTEXT, LINE_KEY, LINE_WRONG };

/* A part of the text. */
struct piece {
    const char *at;
    size_t len;
};

struct line {
    enum kind kind;
    struct piece name; /* of a context, or of a key */
    struct piece value;
};

static struct piece trim(const char *at, const char *end)
{
    while (at < end && strchr(blanks, *at) != NULL)
        at++;
    while (end > at && strchr(blanks, end[-1]) != NULL)
        end--;
    return (struct piece){ at, (size_t)(end - at) };
}

static bool is(struct piece part, const char *word)
{
    return strlen(word) == part.len && strncmp(part.at, word, part.len) == 0;
}

/* A name is a word for shells and terminals, and no option. */
static bool is_name(struct piece part)
{
    return part.len > 0 && part.at[0] != '-' &&
           strspn(part.at, name_chars) >= part.len;
}

static struct line read_line(const char *at, const char *end)
{
    struct piece all = trim(at, end);
    const char *equals = memchr(all.at, '=', all.len);

    end = all.at + all.len;
    if (all.len == 0 || all.at[0] == '#')
        return (struct line){ .kind = LINE_EMPTY };
    if (all.at[0] == '[' && end[-1] == ']')
        return (struct line){ .kind = LINE_CONTEXT,
                              .name = trim(all.at + 1, end - 1) };
    if (all.at[0] == '[' || equals == NULL)
        return (struct line){ .kind = LINE_WRONG };
    return (struct line){ .kind = LINE_KEY,
                          .name = trim(all.at, equals),
                          .value = trim(equals + 1, end) };
}

/* --- the file --- */

struct reader {
    struct contexts *contexts;
    struct context *context; /* NULL before the first */
    size_t line;             /* from 1 */
    size_t begun;            /* the line of its name */
};

/* Text of the file is shown only where it is fit for a terminal. */
static int fail(const struct reader *r, const char *what, struct piece word)
{
    bool is_plain = word.len > 0;
    char shown[WORD_ROOM] = "";

    for (size_t i = 0; i < word.len; i++)
        is_plain = is_plain && isgraph((unsigned char)word.at[i]) != 0;
    if (is_plain)
        (void)snprintf(shown, sizeof(shown), " '%.*s'", (int)word.len, word.at);
    return lockctl_fail(EX_CONFIG, "%s:%zu: %s%s", r->contexts->file, r->line,
                        what, shown);
}

static int fail_memory(void)
{
    return lockctl_fail_error(ZKR_ENOMEM, "");
}

/* A context ends: has it all that it must have? */
static int end_context(struct reader *r)
{
    if (r->context == NULL || r->context->settings[SETTING_SERVERS] != NULL)
        return 0;
    r->line = r->begun;
    return fail(r, "no servers in the context",
                (struct piece){ r->context->name, strlen(r->context->name) });
}

static int begin_context(struct reader *r, struct piece name)
{
    struct contexts *all = r->contexts;
    struct context *items;

    if (!is_name(name))
        return fail(r,
                    "a name of a context has only letters, digits and "
                    "'_', '.', '-'",
                    (struct piece){ "", 0 });
    for (size_t i = 0; i < all->count; i++) {
        if (is(name, all->items[i].name))
            return fail(r, "a second context", name);
    }
    items = realloc(all->items, (all->count + 1) * sizeof(*items));
    if (items == NULL)
        return fail_memory();
    all->items = items;
    r->context = &items[all->count];
    *r->context = (struct context){ .name = strndup(name.at, name.len) };
    if (r->context->name == NULL)
        return fail_memory();
    all->count++;
    r->begun = r->line;
    return 0;
}

/* Beside the file of contexts, unless it is absolute. */
static char *path_of(const struct contexts *all, struct piece value)
{
    const char *slash = strrchr(all->file, '/');
    size_t dir = value.at[0] == '/' || slash == NULL
                     ? 0
                     : (size_t)(slash + 1 - all->file);
    char *path = malloc(dir + value.len + 1);

    if (path == NULL)
        return NULL;
    (void)memcpy(path, all->file, dir);
    (void)memcpy(path + dir, value.at, value.len);
    path[dir + value.len] = '\0';
    return path;
}

static int set(struct reader *r, struct piece key, char *value, char **to)
{
    if (value == NULL)
        return fail_memory();
    if (*to != NULL) {
        free(value);
        return fail(r, "a second", key);
    }
    *to = value;
    return 0;
}

static int read_key(struct reader *r, struct piece key, struct piece value)
{
    enum setting setting = setting_find(key.at, key.len);
    char *copy;
    const char *fault;

    if (value.len == 0)
        return fail(r, "no value of", key);
    if (r->context == NULL && is(key, "current"))
        return set(r, key, strndup(value.at, value.len), &r->contexts->current);
    if (r->context == NULL)
        return fail(r, "before the first [CONTEXT] there is only 'current', no",
                    key);
    if (setting == SETTING_COUNT)
        return fail(r, "a context has no", key);
    copy = setting_is_file(setting) ? path_of(r->contexts, value)
                                    : strndup(value.at, value.len);
    fault = copy == NULL ? NULL : setting_fault(setting, copy);
    if (fault != NULL) {
        free(copy);
        return lockctl_fail(EX_CONFIG, "%s:%zu: the value of %s %s",
                            r->contexts->file, r->line, setting_name(setting),
                            fault);
    }
    return set(r, key, copy, &r->context->settings[setting]);
}

static int read_one(struct reader *r, struct piece text)
{
    struct line line = read_line(text.at, text.at + text.len);
    int code;

    for (size_t i = 0; i < text.len; i++) {
        if (iscntrl((unsigned char)text.at[i]) != 0 &&
            strchr(blanks, text.at[i]) == NULL)
            return fail(r, "a control character", (struct piece){ "", 0 });
    }
    switch (line.kind) {
    case LINE_EMPTY:
        return 0;
    case LINE_CONTEXT:
        code = end_context(r);
        return code == 0 ? begin_context(r, line.name) : code;
    case LINE_KEY:
        return read_key(r, line.name, line.value);
    case LINE_WRONG:
        break;
    }
    return fail(r, "neither [CONTEXT] nor KEY = VALUE",
                (struct piece){ "", 0 });
}

static int read_text(struct contexts *contexts, const char *text)
{
    struct reader r = { .contexts = contexts };
    int code = 0;

    while (*text != '\0' && code == 0) {
        size_t len = strcspn(text, "\n");

        r.line++;
        code = read_one(&r, (struct piece){ text, len });
        text += len + (text[len] == '\n');
    }
    return code == 0 ? end_context(&r) : code;
}

/* --- where it is --- */

static bool is_set(const char *value)
{
    return value != NULL && value[0] != '\0';
}

/* False: there is no file. XDG_CONFIG_HOME counts only when it is absolute (XDG
 * Base Directory Specification). */
static bool find_file(char file[PATH_MAX])
{
    const char *config = getenv("ZK_LOCKCTL_CONFIG");
    const char *xdg = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    int len = 0;

    if (is_set(config)) {
        (void)snprintf(file, PATH_MAX, "%s", config);
        return true;
    }
    if (xdg != NULL && xdg[0] == '/')
        len = snprintf(file, PATH_MAX, "%s/zk-lockctl/config", xdg);
    else if (is_set(home))
        len = snprintf(file, PATH_MAX, "%s/.config/zk-lockctl/config", home);
    if (len <= 0 || len >= PATH_MAX)
        file[0] = '\0';
    return file[0] != '\0' &&
           (access(file, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR));
}

static int read_file(struct contexts *contexts, char *text)
{
    const char *fault =
        private_file_read(contexts->file, PRIVATE_WRITE, text, TEXT_MAX);

    return fault == NULL
               ? read_text(contexts, text)
               : lockctl_fail(EX_CONFIG, "%s: %s", contexts->file, fault);
}

int contexts_read(struct contexts *contexts)
{
    char *text;
    int code;

    *contexts = (struct contexts){ .count = 0 };
    if (!find_file(contexts->file))
        return 0;
    text = malloc(TEXT_MAX);
    code = text == NULL ? fail_memory() : read_file(contexts, text);
    free(text);
    if (code != 0)
        contexts_done(contexts);
    return code;
}

void contexts_done(struct contexts *contexts)
{
    for (size_t i = 0; i < contexts->count; i++) {
        for (size_t k = 0; k < SETTING_COUNT; k++)
            free(contexts->items[i].settings[k]);
        free(contexts->items[i].name);
    }
    free(contexts->items);
    free(contexts->current);
    contexts->items = NULL;
    contexts->current = NULL;
    contexts->count = 0;
}

const struct context *contexts_find(const struct contexts *contexts,
                                    const char *name)
{
    for (size_t i = 0; i < contexts->count; i++) {
        if (strcmp(contexts->items[i].name, name) == 0)
            return &contexts->items[i];
    }
    (void)lockctl_fail(EX_CONFIG, "there is no context '%s'%s%s", name,
                       contexts->file[0] == '\0' ? ": HOME is not set" : " in ",
                       contexts->file);
    return NULL;
}
