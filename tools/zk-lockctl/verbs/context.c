/* SPDX-License-Identifier: Apache-2.0 */
/* context: lists the contexts, and shows the settings that count. */
#include "verbs/verbs.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/escape.h"
#include "common/now.h"
#include "text/aligned.h"
#include "text/envelope.h"

enum { VALUE_MAX = 4096, NAME_ROOM = 32 };

static json_t *text_or_null(const char *text)
{
    return text == NULL ? json_null() : json_text(text, strlen(text));
}

/* --- the list --- */

enum { CURRENT, NAME, FIRST_SETTING, COLUMN_COUNT = 2 + SETTING_COUNT };

struct list {
    struct contexts contexts;
    const char *current;
};

static bool is_current(const struct list *list, const struct context *c)
{
    return list->current != NULL && strcmp(list->current, c->name) == 0;
}

static bool print_context(struct table *table, const void *of, size_t i)
{
    const struct list *list = of;
    const struct context *c = &list->contexts.items[i];
    const char *cells[COLUMN_COUNT] = { NULL };
    char values[SETTING_COUNT][VALUE_MAX];

    cells[CURRENT] = is_current(list, c) ? "*" : "";
    cells[NAME] = c->name;
    for (enum setting s = 0; s < SETTING_COUNT; s++) {
        if (c->settings[s] != NULL)
            cells[FIRST_SETTING + s] =
                escape_string(c->settings[s], values[s], VALUE_MAX);
    }
    return table_row(table, cells, STYLE_PLAIN);
}

/* The names of the settings in capitals; only the servers are always
 * shown. */
static int print_list(const struct lockctl *ctl, const struct list *list)
{
    char names[SETTING_COUNT][NAME_ROOM];
    struct column columns[COLUMN_COUNT] = {
        [CURRENT] = { .name = "CURRENT", .rank = 2 },
        [NAME] = { .name = "NAME", .rank = 0 },
    };

    for (enum setting s = 0; s < SETTING_COUNT; s++) {
        (void)snprintf(names[s], NAME_ROOM, "%s", setting_name(s));
        for (char *c = names[s]; *c != '\0'; c++)
            *c = (char)toupper((unsigned char)*c);
        columns[FIRST_SETTING + s] = (struct column){
            .name = names[s],
            .wide = s != SETTING_SERVERS,
            .rank = s == SETTING_SERVERS ? 1 : FIRST_SETTING + (int)s,
            .narrow = 20,
        };
    }
    return table_print(ctl, columns, COLUMN_COUNT, print_context, list,
                       list->contexts.count);
}

/* "auth_file". */
static const char *key_of(enum setting setting, char key[NAME_ROOM])
{
    (void)snprintf(key, NAME_ROOM, "%s", setting_name(setting));
    for (char *c = key; *c != '\0'; c++)
        *c = *c == '-' ? '_' : *c;
    return key;
}

static json_t *describe_context(const void *of, size_t i)
{
    const struct list *list = of;
    const struct context *c = &list->contexts.items[i];
    json_t *item = json_pack("{s:s, s:b}", "name", c->name, "current",
                             is_current(list, c));
    char key[NAME_ROOM];

    for (enum setting s = 0; s < SETTING_COUNT; s++)
        (void)json_object_set_new(item, key_of(s, key),
                                  text_or_null(c->settings[s]));
    return item;
}

static void note_what_goes_before(struct notes *notes)
{
    if (lockctl_env("ZK_SERVERS") != NULL)
        notes_add(notes, "ZK_SERVERS is set: it counts, and not the current "
                         "context");
}

static int list_contexts(const struct lockctl *ctl)
{
    struct notes notes = { .count = 0 };
    struct list list;
    int code = contexts_read(&list.contexts);

    if (code != 0)
        return code;
    list.current = lockctl_name_context(ctl, &list.contexts);
    note_what_goes_before(&notes);
    code =
        output_is_json(ctl)
            ? output_items(ctl, "ContextList", clock_wall_ms(),
                           describe_context, &list, list.contexts.count, &notes)
            : print_list(ctl, &list);
    notes_say(&notes, ctl);
    notes_done(&notes);
    contexts_done(&list.contexts);
    return code;
}

/* --- the settings that count --- */

struct row {
    const char *setting;
    const char *value;
    const char *from;
};

static const struct column setting_columns[] = {
    { .name = "SETTING", .rank = 1 },
    { .name = "VALUE", .rank = 0 },
    { .name = "FROM", .rank = 2 },
};

static bool print_setting(struct table *table, const void *of, size_t i)
{
    const struct row *row = (const struct row *)of + i;
    char value[VALUE_MAX];
    const char *cells[] = { row->setting,
                            escape_string(row->value, value, sizeof(value)),
                            row->from };

    return table_row(table, cells, STYLE_PLAIN);
}

static json_t *describe_setting(const void *of, size_t i)
{
    const struct row *row = (const struct row *)of + i;

    return json_pack("{s:s, s:o, s:s}", "setting", row->setting, "value",
                     text_or_null(row->value), "from", row->from);
}

static size_t collect(const struct lockctl *ctl, struct row *rows)
{
    size_t n = 0;

    if (ctl->used != NULL)
        rows[n++] = (struct row){ "context", ctl->used->name,
                                  lockctl_context_source(ctl) };
    for (enum setting s = 0; s < SETTING_COUNT; s++) {
        if (ctl->settings[s] != NULL)
            rows[n++] = (struct row){ setting_name(s), ctl->settings[s],
                                      lockctl_setting_source(ctl, s) };
    }
    return n;
}

static int show_settings(struct lockctl *ctl)
{
    static const struct notes none;
    struct row rows[SETTING_COUNT + 1];
    int code = lockctl_settle(ctl);
    size_t n;

    if (code != 0)
        return code;
    n = collect(ctl, rows);
    return output_is_json(ctl)
               ? output_items(ctl, "SettingList", clock_wall_ms(),
                              describe_setting, rows, n, &none)
               : table_print(ctl, setting_columns,
                             sizeof(setting_columns) /
                                 sizeof(setting_columns[0]),
                             print_setting, rows, n);
}

static int context(struct lockctl *ctl, int argc, char **argv)
{
    if (!lockctl_parse(ctl, &verb_context, &argc, &argv, NULL))
        return EX_USAGE;
    if (argc == 0)
        return list_contexts(ctl);
    if (argc == 1 && strcmp(argv[0], "show") == 0)
        return show_settings(ctl);
    return lockctl_fail(EX_USAGE, "context: nothing, or show?");
}

const struct verb verb_context = {
    .name = "context",
    .usage = "[show]",
    .summary = "List the contexts, which are ensembles by name",
    .help =
        "show lists the settings that count now, and where each comes from.\n"
        "\n"
        "Contexts are in ~/.config/zk-lockctl/config ($ZK_LOCKCTL_CONFIG,\n"
        "$XDG_CONFIG_HOME):\n"
        "\n"
        "    current = staging\n"
        "\n"
        "    [staging]\n"
        "    servers = zk1:2181,zk2:2181\n"
        "    auth-file = staging.auth\n"
        "\n"
        "Keys are servers, auth-file, timeout, and the names of the\n"
        "options for TLS and SASL. Files are beside that file. The ensemble\n"
        "is that of the first of --servers, --context, $ZK_SERVERS,\n"
        "$ZK_LOCKCTL_CONTEXT and the current context; other options count\n"
        "before the context.\n",
    .run = context,
};
