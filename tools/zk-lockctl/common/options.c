/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the options of a verb, and those that every verb has. */
#include "common/lockctl.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"

/* A long option that was given is this and its index; a short one its letter.
 */
enum { OPTIONS_MAX = 64, LONG_FIRST = 256 };

static const char *const formats[] = {
    [FORMAT_TABLE] = "table",
    [FORMAT_WIDE] = "wide",
    [FORMAT_JSON] = "json",
    [FORMAT_JSONL] = "jsonl",
    NULL,
};

/* clang-format off */
const struct opt common_options[] = {
    { "context", .value = "NAME", .type = OPT_TEXT, .at = AT(lockctl, context),
      .help = "the ensemble of that name: zk-lockctl context" },
    { "output", 'o', "FORMAT", .type = OPT_WORD, .at = AT(lockctl, format), .words = formats,
      .help = "table, wide, json, jsonl" },
    { "columns", .value = "A,B", .type = OPT_TEXT, .at = AT(lockctl, columns),
      .help = "these columns; +A,B: these too" },
    { "quiet", 'q', .type = OPT_ON, .at = AT(lockctl, quiet), .help = "nothing on stderr but errors" },
    { "verbose", 'v', .type = OPT_COMMON, .help = "more on stderr" },
    { "help", 'h', .type = OPT_COMMON, .help = "the options of a verb" },
    { "version", .type = OPT_COMMON, .help = "the version" },
    { .name = NULL },
};
/* clang-format on */

void lockctl_print_help(const struct verb *verb)
{
    if (verb->overview != NULL) {
        verb->overview();
        return;
    }
    (void)printf("usage: zk-lockctl %s %s\n\n%s.\n", verb->name, verb->usage,
                 verb->summary);
    if (verb->options != NULL)
        (void)putchar('\n');
    opt_print(verb->options);
    (void)printf("%s%s\n", verb->help == NULL ? "" : "\n",
                 verb->help == NULL ? "" : verb->help);
    lockctl_print_common();
}

void lockctl_print_common(void)
{
    (void)puts("Options of every verb:");
    opt_print(setting_options);
    opt_print(common_options);
}

/* --- taking them --- */

/* All options of a verb: rows[i] is that of all[i]. */
struct options {
    const struct verb *verb;
    const struct opt *rows[OPTIONS_MAX];
    struct option all[OPTIONS_MAX + 1];
    size_t count;
    size_t own; /* so many are the verb's */
    char letters[2 * OPTIONS_MAX + 3];
};

static void add_all(struct options *o, const struct opt *rows)
{
    size_t used = strlen(o->letters);

    for (; rows != NULL && rows->name != NULL && o->count < OPTIONS_MAX;
         rows++) {
        bool has_value = rows->value != NULL;

        o->rows[o->count] = rows;
        o->all[o->count] =
            (struct option){ rows->name,
                             has_value ? required_argument : no_argument, NULL,
                             LONG_FIRST + (int)o->count };
        o->count++;
        if (rows->letter != '\0') {
            o->letters[used++] = rows->letter;
            if (has_value)
                o->letters[used++] = ':';
        }
    }
    o->letters[used] = '\0';
}

/* Which row was given; -1: none. */
static int row_of(const struct options *o, int given)
{
    for (size_t i = 0; i < o->count; i++) {
        if (given == LONG_FIRST + (int)i || o->rows[i]->letter == given)
            return (int)i;
    }
    return -1;
}

static int take_setting(struct lockctl *ctl, const struct opt *o)
{
    enum setting setting = (enum setting)(o - setting_options);
    const char *fault = setting_fault(setting, optarg);

    ctl->settings[setting] = optarg;
    ctl->from[setting] = "option";
    return fault == NULL ? 0
                         : lockctl_fail(EX_USAGE, "--%s: '%s' %s", o->name,
                                        optarg, fault);
}

static int take_common(struct lockctl *ctl, const struct verb *verb,
                       const struct opt *o)
{
    if (o->letter == 'v') {
        ctl->verbose++;
        return 0;
    }
    if (o->letter == 'h')
        lockctl_print_help(verb);
    else
        (void)printf("zk-lockctl %s\n", zkr_version());
    exit(fflush(stdout) == 0 ? 0 : EX_IOERR);
}

static int take(struct lockctl *ctl, const struct options *all, size_t row,
                void *to)
{
    const struct opt *o = all->rows[row];

    if (o->type == OPT_SETTING || o->type == OPT_SECRET)
        return take_setting(ctl, o);
    if (o->type == OPT_COMMON)
        return take_common(ctl, all->verb, o);
    return opt_take(o, row < all->own ? to : ctl, optarg);
}

/* --- what is no option --- */

static bool is_ambiguous(const struct options *o, const char *word)
{
    int count = 0;

    for (size_t i = 0; i < o->count; i++)
        count += strncmp(o->all[i].name, word + 2, strcspn(word + 2, "=")) == 0;
    return count > 1;
}

static const char *nearest(const struct options *o, const char *word)
{
    const char *names[OPTIONS_MAX + 1] = { NULL };
    char name[64];

    for (size_t i = 0; i < o->count; i++)
        names[i] = o->all[i].name;
    (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="),
                   word + 2);
    return opt_nearest(name, names);
}

/* What getopt_long() has answered ('?' or ':'), as an error. */
static int fail_option(const struct options *o, const char *word, int answer)
{
    char letter[] = { '-', (char)optopt, '\0' };
    bool is_long = strncmp(word, "--", 2) == 0;
    const char *near = NULL;
    const char *fault = "is no option";

    if (answer == ':')
        fault = "needs an argument";
    else if (is_long && optopt != 0)
        fault = "takes no argument";
    else if (is_long && is_ambiguous(o, word))
        fault = "is the beginning of several options";
    else if (is_long)
        near = nearest(o, word);
    return lockctl_fail(
        EX_USAGE, "%.*s %s%s%s; see zk-lockctl %s%s--help",
        is_long ? (int)strcspn(word, "=") : 2, is_long ? word : letter, fault,
        near == NULL ? "" : ", did you mean --", near == NULL ? "" : near,
        o->verb->overview != NULL ? "" : o->verb->name,
        o->verb->overview != NULL ? "" : " ");
}

/* An error is told in the format that is asked for, also behind it. */
static int parse(struct lockctl *ctl, const struct options *o, int argc,
                 char **argv, void *to)
{
    int given;
    int code = 0;

    while ((given = getopt_long(argc, argv, o->letters, o->all, NULL)) != -1) {
        int row = row_of(o, given);

        if (code != 0 && (row < 0 || o->rows[row]->words != formats))
            continue;
        int one = row < 0 ? fail_option(o, argv[optind - 1], given)
                          : take(ctl, o, (size_t)row, to);
        code = code == 0 ? one : code;
    }
    return code;
}

int lockctl_parse(struct lockctl *ctl, const struct verb *verb, int *argc,
                  char ***argv, void *to)
{
    struct options o = { .verb = verb };

    (void)strcpy(o.letters, verb->ends_at_argument ? "+:" : ":");
    add_all(&o, verb->options);
    o.own = o.count;
    add_all(&o, common_options);
    add_all(&o, setting_options);
    lockctl_speak_for(verb->overview != NULL ? NULL : verb->name);
    opterr = 0;
    optind = 0; /* for getopt to start anew */
    int code = parse(ctl, &o, *argc, *argv, to);
    if (code != 0)
        return code;
    lockctl_speak_for(NULL);
    *argc -= optind;
    *argv += optind;
    return 0;
}

/* --- arguments --- */

/* Makes whole paths of them, in one block; or only "/". */
static int take_paths(struct lockctl *ctl, int argc, char ***argv)
{
    size_t count = argc == 0 ? 1 : (size_t)argc;

    ctl->paths =
        enough(malloc(count * (sizeof(*ctl->paths) + ZKR_PATH_MAX + 1)));
    char *room = (char *)(ctl->paths + count);
    for (size_t i = 0; i < count; i++, room += ZKR_PATH_MAX + 1) {
        if (!lockctl_parse_path(argc == 0 ? "/" : (*argv)[i], room,
                                ZKR_PATH_MAX + 1))
            return EX_USAGE;
        ctl->paths[i] = room;
    }
    *argv = ctl->paths;
    return 0;
}

static int take_arguments(struct lockctl *ctl, const struct verb *verb,
                          int argc, char ***argv)
{
    if (verb->takes < TAKES_LOCK)
        return 0;
    if (verb->takes == TAKES_LOCK && argc != 1)
        return lockctl_fail(EX_USAGE, "%s: which lock?", verb->name);
    if (verb->takes == TAKES_PATH && argc > 1)
        return lockctl_fail(EX_USAGE, "%s: one path; see zk-lockctl %s --help",
                            verb->name, verb->name);
    return take_paths(ctl, argc, argv);
}

int lockctl_run(struct lockctl *ctl, const struct verb *verb, int argc,
                char **argv)
{
    int code = 0;

    if (verb->options == NULL || verb->into != NULL)
        code = lockctl_parse(ctl, verb, &argc, &argv, verb->into);
    if (code == 0)
        code = take_arguments(ctl, verb, argc, &argv);
    return code == 0 ? verb->run(ctl, argc, argv) : code;
}
