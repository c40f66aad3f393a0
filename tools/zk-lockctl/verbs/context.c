/* SPDX-License-Identifier: Apache-2.0 */
/* context: lists the contexts, and shows the settings that count. */
#include "verbs/verbs.h"

#include <string.h>

#include "common/grow.h"
#include "common/now.h"
#include "text/fields.h"

/* --- the list --- */

static const char *current_text(const void *item, char room[FIELD_ROOM])
{
    (void)room;
    return ((const struct context *)item)->current ? "*" : NULL;
}

/* clang-format off */
static const struct field context_fields[] = {
    { "CURRENT", "current", FIELD_BOOL, .at = AT(context, current), .text = current_text, .rank = 2 },
    { "NAME", "name", FIELD_TEXT, .at = AT(context, name), .rank = 0 },
    { "SERVERS", "servers", FIELD_TEXT, .at = AT(context, settings[SETTING_SERVERS]), .rank = 1, .narrow = 20 },
    { .key = NULL },
};
/* clang-format on */
static const struct kind context_kind = { "context", "ContextList",
                                          context_fields };

static int list_contexts(const struct lockctl *ctl)
{
    struct notes notes = { .count = 0 };
    struct contexts contexts;
    struct rows rows = { .kind = &context_kind,
                         .size = sizeof(struct context),
                         .at_ms = clock_wall_ms(),
                         .notes = &notes };
    int code = contexts_read(&contexts);

    if (code != 0)
        return code;
    const char *from;
    const char *current = lockctl_name_context(ctl, &contexts, &from);
    for (size_t i = 0; current != NULL && i < contexts.count; i++)
        contexts.items[i].current =
            strcmp(current, contexts.items[i].name) == 0;
    if (ctl->context == NULL && lockctl_env("ZK_SERVERS") != NULL)
        notes_add(&notes, "ZK_SERVERS is set: it counts, and not the current "
                          "context");
    rows.of = contexts.items;
    rows.count = contexts.count;
    code = rows_print(ctl, &rows);
    notes_done(&notes);
    contexts_done(&contexts);
    return code;
}

/* --- the settings that count --- */

struct row {
    const char *setting;
    const char *value;
    const char *from;
};

/* clang-format off */
static const struct field setting_fields[] = {
    { "SETTING", "setting", FIELD_WORD, .at = AT(row, setting), .rank = 1 },
    { "VALUE", "value", FIELD_TEXT, .at = AT(row, value), .rank = 0 },
    { "FROM", "from", FIELD_WORD, .at = AT(row, from), .words = "option environment context file default", .rank = 2 },
    { .key = NULL },
};
/* clang-format on */
static const struct kind setting_kind = { "setting", "SettingList",
                                          setting_fields };

static size_t collect(const struct lockctl *ctl, struct row *rows)
{
    size_t n = 0;

    if (ctl->used != NULL) {
        rows[n] = (struct row){ .setting = "context" };
        rows[n].value =
            lockctl_name_context(ctl, &ctl->contexts, &rows[n].from);
        n++;
    }
    for (enum setting s = 0; s < SETTING_COUNT; s++) {
        if (ctl->settings[s] != NULL)
            rows[n++] = (struct row){ setting_options[s].name, ctl->settings[s],
                                      ctl->from[s] };
    }
    return n;
}

static int show_settings(struct lockctl *ctl)
{
    struct row items[SETTING_COUNT + 1];
    struct rows rows = { .kind = &setting_kind,
                         .of = items,
                         .size = sizeof(*items),
                         .at_ms = clock_wall_ms() };
    int code = lockctl_settle(ctl);

    if (code != 0)
        return code;
    rows.count = collect(ctl, items);
    return rows_print(ctl, &rows);
}

static int context(struct lockctl *ctl, int argc, char **argv)
{
    if (argc == 0)
        return list_contexts(ctl);
    if (argc == 1 && strcmp(argv[0], "show") == 0)
        return show_settings(ctl);
    return lockctl_fail(EX_USAGE, "context: nothing, or show?");
}

static const char *const words[] = { "show", NULL };

const struct verb verb_context = {
    .name = "context",
    .usage = "[show]",
    .words = words,
    .kinds = (const struct kind *const[]){ &context_kind, &setting_kind, NULL },
    .summary = "List the contexts, which are ensembles by name",
    .help =
        "show lists the settings that count now, and where each comes from.\n"
        "Contexts are in ~/.config/zk-lockctl/config, see zk-lockctl(1):\n"
        "\n"
        "    [staging]\n"
        "    servers = zk1:2181,zk2:2181\n",
    .run = context,
};
