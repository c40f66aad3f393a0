/* help, version: what there is. */
#include "lockctl.h"

#include <stdio.h>
#include <string.h>

#include "exit_codes.h"

const char lockctl_common_help[] =
    "Options of every verb:\n"
    "  --servers HOST:PORT,...  the ensemble (default $ZK_SERVERS, or\n"
    "                           127.0.0.1:2181)\n"
    "  --chroot PATH            below which all paths are\n"
    "  --auth-file FILE         a line \"scheme:credentials\"\n"
    "  -o, --output FORMAT      table, wide, json, jsonl, csv, dot\n"
    "  --columns A,B            these columns; +A,B: these too\n"
    "  --color WHEN             auto, always, never\n"
    "  --timeout DURATION       for connecting and for each answer (5s)\n"
    "  -q, --quiet              nothing on stderr but errors\n"
    "  -v, --verbose            more on stderr\n"
    "  -h, --help               the options of a verb\n"
    "  --version                the version\n";

static void list_verbs(void)
{
    (void)printf("usage: zk-lockctl VERB [OPTION]...\n\nVerbs:\n");
    for (const struct verb *const *v = lockctl_verbs; *v != NULL; v++)
        (void)printf("  %-11s %s\n", (*v)->name, (*v)->summary);
    (void)printf("\n%s\nAlso: zk-lockctl help VERB, zk-lockctl help "
                 "exit-codes.\n",
                 lockctl_common_help);
}

void lockctl_print_help(const struct verb *verb)
{
    if (verb == &verb_help) {
        list_verbs();
        return;
    }
    (void)printf("usage: zk-lockctl %s %s\n\n%s.\n%s%s\n%s", verb->name,
                 verb->usage, verb->summary, verb->help[0] == '\0' ? "" : "\n",
                 verb->help, lockctl_common_help);
}

static int help(struct lockctl *ctl, int argc, char **argv)
{
    if (lockctl_option(ctl, &verb_help, argc, argv, "", NULL) != -1)
        return EX_USAGE;
    if (optind == argc) {
        lockctl_print_help(&verb_help);
        return 0;
    }
    if (strcmp(argv[optind], "exit-codes") == 0) {
        exit_codes_print();
        return 0;
    }
    for (const struct verb *const *v = lockctl_verbs; *v != NULL; v++) {
        if (strcmp((*v)->name, argv[optind]) != 0)
            continue;
        lockctl_print_help(*v);
        return 0;
    }
    return lockctl_fail(EX_USAGE, "no help about '%s'", argv[optind]);
}

const struct verb verb_help = {
    .name = "help",
    .usage = "[VERB | exit-codes]",
    .summary = "Say what there is",
    .help = "",
    .run = help,
};

static int version(struct lockctl *ctl, int argc, char **argv)
{
    if (lockctl_option(ctl, &verb_version, argc, argv, "", NULL) != -1 ||
        optind != argc)
        return EX_USAGE;
    (void)printf("zk-lockctl %s\n", zkr_version());
    return 0;
}

const struct verb verb_version = {
    .name = "version",
    .usage = "",
    .summary = "Print the version",
    .help = "",
    .run = version,
};
