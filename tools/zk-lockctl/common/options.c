/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the options that every verb has. */
#include "common/lockctl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { LONG_OPTIONS_MAX = 48 };

enum {
    OPTION_SETTING = 1000, /* and SETTING_COUNT - 1 more */
    OPTION_CONTEXT = OPTION_SETTING + SETTING_COUNT,
    OPTION_COLUMNS,
    OPTION_COLOR,
    OPTION_VERSION,
};

const char lockctl_common_help[] =
    "Options of every verb:\n"
    "  --servers HOST:PORT,...  the ensemble (default $ZK_SERVERS, or that of\n"
    "                           the current context, or 127.0.0.1:2181)\n"
    "  --context NAME           the ensemble of that name: zk-lockctl context\n"
    "  --chroot PATH            below which all paths are\n"
    "  --auth-file FILE         a line \"scheme:credentials\"\n"
    "  --tls-ca FILE            with the next two: TLS. PEM: whom to trust\n"
    "  --tls-cert FILE          our certificate\n"
    "  --tls-key FILE           its private key\n"
    "  --tls-password-file FILE a line: the password of the key\n"
    "  --tls-verify WHAT        of servers: chain (default), name, none\n"
    "  --sasl-mechanism NAME    such as DIGEST-MD5\n"
    "  --sasl-user NAME         who we are\n"
    "  --sasl-password-file FILE\n"
    "                           a line: the password\n"
    "  --sasl-realm NAME        where we are known\n"
    "  --sasl-service NAME      the service of the servers (zookeeper)\n"
    "  --sasl-host NAME         what the servers call themselves\n"
    "  -o, --output FORMAT      table, wide, json, jsonl, dot\n"
    "  --columns A,B            these columns; +A,B: these too\n"
    "  --color WHEN             auto, always, never\n"
    "  --timeout DURATION       for connecting and for each answer (5s)\n"
    "  -q, --quiet              nothing on stderr but errors\n"
    "  -v, --verbose            more on stderr\n"
    "  -h, --help               the options of a verb\n"
    "  --version                the version\n";

static const struct option common[] = {
    { "context", required_argument, NULL, OPTION_CONTEXT },
    { "output", required_argument, NULL, 'o' },
    { "columns", required_argument, NULL, OPTION_COLUMNS },
    { "color", required_argument, NULL, OPTION_COLOR },
    { "quiet", no_argument, NULL, 'q' },
    { "verbose", no_argument, NULL, 'v' },
    { "help", no_argument, NULL, 'h' },
    { "version", no_argument, NULL, OPTION_VERSION },
};

static const char *const formats[] = {
    [FORMAT_TABLE] = "table", [FORMAT_WIDE] = "wide", [FORMAT_JSON] = "json",
    [FORMAT_JSONL] = "jsonl", [FORMAT_DOT] = "dot",
};

static const char *const colors[] = {
    [COLOR_AUTO] = "auto",
    [COLOR_ALWAYS] = "always",
    [COLOR_NEVER] = "never",
};

/* The index of a word in a list; -1 after an error was said. */
static int choose(const char *option, const char *word,
                  const char *const *words, size_t count)
{
    char known[128];
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], word) == 0)
            return (int)i;
    }
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
                                 i == 0 ? "" : ", ", words[i]);
    (void)lockctl_fail(EX_USAGE, "%s: '%s' is none of %s", option, word, known);
    return -1;
}

void lockctl_print_help(const struct verb *verb)
{
    if (verb->overview != NULL) {
        verb->overview();
        return;
    }
    (void)printf("usage: zk-lockctl %s %s\n\n%s.\n%s%s\n%s", verb->name,
                 verb->usage, verb->summary, verb->help[0] == '\0' ? "" : "\n",
                 verb->help, lockctl_common_help);
}

/* '?' after an error, 0 otherwise. */
static int take_setting(struct lockctl *ctl, enum setting setting)
{
    const char *fault = setting_fault(setting, optarg);

    ctl->settings[setting] = optarg;
    if (fault == NULL)
        return 0;
    (void)lockctl_fail(EX_USAGE, "--%s: '%s' %s", setting_name(setting), optarg,
                       fault);
    return '?';
}

/* The same. */
static int take(struct lockctl *ctl, const struct verb *verb, int option)
{
    int word;

    if (option >= OPTION_SETTING && option < OPTION_CONTEXT)
        return take_setting(ctl, (enum setting)(option - OPTION_SETTING));
    switch (option) {
    case OPTION_CONTEXT:
        ctl->context = optarg;
        return 0;
    case OPTION_COLUMNS:
        ctl->columns = optarg;
        return 0;
    case 'o':
        word = choose("--output", optarg, formats, COUNT(formats));
        ctl->format = (enum format)word;
        return word < 0 ? '?' : 0;
    case OPTION_COLOR:
        word = choose("--color", optarg, colors, COUNT(colors));
        ctl->color = word;
        return word < 0 ? '?' : 0;
    case 'q':
        ctl->quiet = true;
        return 0;
    case 'v':
        ctl->verbose++;
        return 0;
    case OPTION_VERSION:
        (void)printf("zk-lockctl %s\n", zkr_version());
        exit(fflush(stdout) == 0 ? 0 : EX_IOERR);
    case 'h':
        lockctl_print_help(verb);
        exit(fflush(stdout) == 0 ? 0 : EX_IOERR);
    default:
        return '?';
    }
}

static bool is_ambiguous(const struct option *all, const char *word)
{
    int count = 0;

    for (; all->name != NULL; all++)
        count += strncmp(all->name, word + 2, strcspn(word + 2, "=")) == 0;
    return count > 1;
}

/* What getopt_long() has answered ('?' or ':'), as an error. */
static void fail_option(const struct verb *verb, const struct option *all,
                        const char *word, int answer)
{
    char letter[] = { '-', (char)optopt, '\0' };
    bool is_long = strncmp(word, "--", 2) == 0;
    const char *fault = answer == ':'            ? "needs an argument"
                        : is_long && optopt != 0 ? "takes no argument"
                        : is_long && is_ambiguous(all, word)
                            ? "is the beginning of several options"
                            : "is no option";

    (void)lockctl_fail(EX_USAGE, "%.*s %s; see zk-lockctl %s%s--help",
                       is_long ? (int)strcspn(word, "=") : 2,
                       is_long ? word : letter, fault,
                       verb->overview != NULL ? "" : verb->name,
                       verb->overview != NULL ? "" : " ");
}

/* The error is to be told in the format that is asked for behind it. */
static void look_for_format(struct lockctl *ctl, int argc, char **argv,
                            const char *shorts, const struct option *all)
{
    int option;

    while ((option = getopt_long(argc, argv, shorts, all, NULL)) != -1) {
        for (size_t i = 0; option == 'o' && i < COUNT(formats); i++) {
            if (strcmp(optarg, formats[i]) == 0)
                ctl->format = (enum format)i;
        }
    }
}

int lockctl_option(struct lockctl *ctl, const struct verb *verb, int argc,
                   char **argv, const char *short_options,
                   const struct option *long_options)
{
    struct option all[LONG_OPTIONS_MAX + 1] = { { .name = NULL } };
    char shorts[64];
    size_t n = 0;

    for (const struct option *o = long_options;
         o != NULL && o->name != NULL && n < LONG_OPTIONS_MAX; o++)
        all[n++] = *o;
    for (size_t i = 0; i < COUNT(common) && n < LONG_OPTIONS_MAX; i++)
        all[n++] = common[i];
    for (enum setting i = 0; i < SETTING_COUNT && n < LONG_OPTIONS_MAX; i++)
        all[n++] = (struct option){ setting_name(i), required_argument, NULL,
                                    OPTION_SETTING + (int)i };
    (void)snprintf(shorts, sizeof(shorts), "%s:%sho:qv",
                   short_options[0] == '+' ? "+" : "",
                   short_options + (short_options[0] == '+'));
    lockctl_speak_for(verb->overview != NULL ? NULL : verb->name);
    opterr = 0;
    for (;;) {
        int option = getopt_long(argc, argv, shorts, all, NULL);
        bool ours = option == 'h' || option == 'o' || option == 'q' ||
                    option == 'v' || option >= OPTION_SETTING;

        if (option == '?' || option == ':') {
            fail_option(verb, all, argv[optind - 1], option);
            look_for_format(ctl, argc, argv, shorts, all);
            return '?';
        }
        if (option == -1)
            lockctl_speak_for(NULL);
        if (!ours)
            return option;
        if (take(ctl, verb, option) != 0)
            return '?';
    }
}
