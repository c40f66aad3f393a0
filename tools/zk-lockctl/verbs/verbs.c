/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all verbs; and help, which tells of them. */
#include "verbs/verbs.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
/* In the order in which help lists them. */
#define VERBS(DO)                                                              \
    DO(run) DO(lead) DO(hold) DO(release)                                      \
    DO(ls) DO(show) DO(check) DO(wait) DO(watch) DO(log) DO(top) DO(metrics)   \
    DO(revoke) DO(break) DO(deadlocks) DO(doctor)                              \
    DO(context) DO(completion) DO(help)
#define DECLARE(name) extern const struct verb verb_##name;
#define ADDRESS(name) &verb_##name,
VERBS(DECLARE)
const struct verb *const verbs[] = { VERBS(ADDRESS) NULL };
/* clang-format on */

const struct verb *verbs_find(const char *name)
{
    for (const struct verb *const *v = verbs; *v != NULL; v++) {
        if (strcmp((*v)->name, name) == 0)
            return *v;
    }
    return NULL;
}

int verbs_fail(const char *name)
{
    const char *names[sizeof(verbs) / sizeof(verbs[0])] = { NULL };

    for (size_t i = 0; verbs[i] != NULL; i++)
        names[i] = verbs[i]->name;
    const char *near = opt_nearest(name, names);
    return lockctl_fail(EX_USAGE, "unknown verb '%s'%s%s; see zk-lockctl help",
                        name, near == NULL ? "" : ", did you mean ",
                        near == NULL ? "" : near);
}

/* --- help --- */

static void list_verbs(void)
{
    int width = 0;

    for (const struct verb *const *v = verbs; *v != NULL; v++)
        if ((int)strlen((*v)->name) > width)
            width = (int)strlen((*v)->name);
    (void)printf("usage: zk-lockctl VERB [OPTION]...\n\nVerbs:\n");
    for (const struct verb *const *v = verbs; *v != NULL; v++)
        (void)printf("  %-*s %s\n", width, (*v)->name, (*v)->summary);
    (void)putchar('\n');
    lockctl_print_common();
    (void)puts("\nAlso: zk-lockctl help VERB, zk-lockctl help exit-codes.");
}

static int help(struct lockctl *ctl, int argc, char **argv)
{
    (void)ctl;
    if (argc == 0) {
        list_verbs();
        return 0;
    }
    if (strcmp(argv[0], "exit-codes") == 0) {
        exit_codes_print();
        return 0;
    }
    if (strcmp(argv[0], "json-schema") == 0)
        return schema_print(verbs);
    const struct verb *verb = verbs_find(argv[0]);
    if (verb == NULL)
        return lockctl_fail(EX_USAGE, "no help about '%s'", argv[0]);
    lockctl_print_help(verb);
    return 0;
}

static const char *const topics[] = { "exit-codes", "json-schema", NULL };

const struct verb verb_help = {
    .name = "help",
    .usage = "[VERB | exit-codes | json-schema]",
    .summary = "Say what there is",
    .words = topics,
    .ends_at_argument = true,
    .run = help,
    .overview = list_verbs,
};
