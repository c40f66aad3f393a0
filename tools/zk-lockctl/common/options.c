/* Reads the options that every verb has, and the values of options. */
#include "common/lockctl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_OPTIONS_MAX = 48 };

enum {
    OPTION_SERVERS = 1000,
    OPTION_CHROOT,
    OPTION_AUTH_FILE,
    OPTION_COLUMNS,
    OPTION_COLOR,
    OPTION_TIMEOUT,
    OPTION_VERSION,
};

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

static const struct option common[] = {
    { "servers", required_argument, NULL, OPTION_SERVERS },
    { "chroot", required_argument, NULL, OPTION_CHROOT },
    { "auth-file", required_argument, NULL, OPTION_AUTH_FILE },
    { "output", required_argument, NULL, 'o' },
    { "columns", required_argument, NULL, OPTION_COLUMNS },
    { "color", required_argument, NULL, OPTION_COLOR },
    { "timeout", required_argument, NULL, OPTION_TIMEOUT },
    { "quiet", no_argument, NULL, 'q' },
    { "verbose", no_argument, NULL, 'v' },
    { "help", no_argument, NULL, 'h' },
    { "version", no_argument, NULL, OPTION_VERSION },
};

static const char *const formats[] = {
    [FORMAT_TABLE] = "table", [FORMAT_WIDE] = "wide", [FORMAT_JSON] = "json",
    [FORMAT_JSONL] = "jsonl", [FORMAT_CSV] = "csv",   [FORMAT_DOT] = "dot",
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

bool lockctl_parse_duration(const char *text, int64_t *ret_ms)
{
    static const struct {
        const char *unit;
        double ms;
    } units[] = {
        { "ms", 1 },      { "s", 1000 },      { "", 1000 },
        { "m", 60000.0 }, { "h", 3600000.0 },
    };
    char *end;
    double value = strtod(text, &end);

    if (end == text || !isfinite(value) || value < 0 ||
        strspn(text, "0123456789.") != (size_t)(end - text))
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(end, units[i].unit) != 0)
            continue;
        value *= units[i].ms;
        if (value > 1e12)
            return false;
        *ret_ms = (int64_t)llround(value);
        return true;
    }
    return false;
}

bool lockctl_parse_count(const char *text, int64_t *ret_count)
{
    size_t len = strspn(text, "0123456789");

    if (len == 0 || len > 10 || text[len] != '\0')
        return false;
    *ret_count = strtoll(text, NULL, 10);
    return *ret_count >= 1 && *ret_count <= INT32_MAX;
}

bool lockctl_take_duration(const char *option, int64_t *ret_ms)
{
    if (lockctl_parse_duration(optarg, ret_ms) && *ret_ms <= INT32_MAX)
        return true;
    (void)lockctl_fail(EX_USAGE, "%s: '%s' is not a duration", option, optarg);
    return false;
}

bool lockctl_take_count(const char *option, uint32_t *ret_count)
{
    int64_t value;

    if (!lockctl_parse_count(optarg, &value)) {
        (void)lockctl_fail(EX_USAGE, "%s: '%s' is not a number from 1 on",
                           option, optarg);
        return false;
    }
    *ret_count = (uint32_t)value;
    return true;
}

bool lockctl_parse_path(const char *text, char *path, size_t size)
{
    int len =
        snprintf(path, size, "%s%s", text[0] == '/' ? "" : "/locks/", text);

    if (text[0] != '\0' && len > 0 && (size_t)len < size) {
        if (len > 1 && path[len - 1] == '/') /* as shells complete paths */
            path[len - 1] = '\0';
        return true;
    }
    (void)lockctl_fail(EX_USAGE, text[0] == '\0' ? "the path is empty"
                                                 : "the path is too long");
    return false;
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
static int take(struct lockctl *ctl, const struct verb *verb, int option)
{
    int word;

    switch (option) {
    case OPTION_SERVERS:
        ctl->servers = optarg;
        return 0;
    case OPTION_CHROOT:
        ctl->chroot = optarg;
        return 0;
    case OPTION_AUTH_FILE:
        ctl->auth_file = optarg;
        return 0;
    case OPTION_COLUMNS:
        ctl->columns = optarg;
        return 0;
    case 'o':
        word = choose("--output", optarg, formats,
                      sizeof(formats) / sizeof(formats[0]));
        ctl->format = (enum format)word;
        return word < 0 ? '?' : 0;
    case OPTION_COLOR:
        word = choose("--color", optarg, colors,
                      sizeof(colors) / sizeof(colors[0]));
        ctl->color = word;
        return word < 0 ? '?' : 0;
    case OPTION_TIMEOUT:
        ctl->timeout_given = true;
        if (lockctl_parse_duration(optarg, &ctl->timeout_ms) &&
            ctl->timeout_ms > 0 && ctl->timeout_ms <= INT32_MAX)
            return 0;
        (void)lockctl_fail(EX_USAGE, "--timeout: '%s' is not a duration",
                           optarg);
        return '?';
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
    for (size_t i = 0;
         i < sizeof(common) / sizeof(common[0]) && n < LONG_OPTIONS_MAX; i++)
        all[n++] = common[i];
    (void)snprintf(shorts, sizeof(shorts), "%sho:qv", short_options);
    for (;;) {
        int option = getopt_long(argc, argv, shorts, all, NULL);
        bool ours = option == 'h' || option == 'o' || option == 'q' ||
                    option == 'v' || option >= OPTION_SERVERS;

        if (option == '?')
            (void)lockctl_fail(EX_USAGE, "see zk-lockctl %s%s--help",
                               verb->overview != NULL ? "" : verb->name,
                               verb->overview != NULL ? "" : " ");
        if (!ours)
            return option;
        if (take(ctl, verb, option) != 0)
            return '?';
    }
}
