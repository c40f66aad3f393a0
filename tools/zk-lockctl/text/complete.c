/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what may be typed next on a command line. */
#include "text/complete.h"

#include <string.h>

#include "common/escape.h"

static const char *const formats[] = { "table", "wide", "json", "jsonl", NULL };
static const char *const colors[] = { "auto", "always", "never", NULL };
static const char *const dialects[] = { "zkrecipes", "curator",  "kazoo",
                                        "go",        "c-recipe", "zk-ruby",
                                        "other",     "mixed",    NULL };
static const char *const on_suspend[] = { "continue", "term", NULL };
static const char *const on_revoke[] = { "ignore", "term", NULL };
static const char *const on_loss[] = { "term", "kill", "nothing", NULL };
static const char *const sorts[] = { "lock",  "kind", "state",   "holder",
                                     "held",  "wait", "longest", "grants",
                                     "token", NULL };
static const char *const verify[] = { "chain", "name", "none", NULL };
static const char *const mechanisms[] = { "DIGEST-MD5", "GSSAPI", NULL };
static const char *const shells[] = { "bash", "zsh", "fish", NULL };
static const char *const topics[] = { "exit-codes", NULL };
static const char *const about_contexts[] = { "show", NULL };

static const struct {
    const char *option;
    const char *const *values;
} known_values[] = {
    { "-o", formats },
    { "--output", formats },
    { "--color", colors },
    { "--dialect", dialects },
    { "--on-suspend", on_suspend },
    { "--on-revoke", on_revoke },
    { "--on-loss", on_loss },
    { "--sort", sorts },
    { "--tls-verify", verify },
    { "--sasl-mechanism", mechanisms },
};

/* --- options, in the help texts --- */

/* One line: spaces, "-x, " perhaps, "--name", and perhaps " VALUE". */
static void read_line(const char *line, option_fn *fn, void *user)
{
    const char *at = line + strspn(line, " ");
    const char *short_option = NULL;
    size_t len;
    bool has_value;

    if (at == line || at[0] != '-')
        return;
    if (at[1] != '-') {
        if (strncmp(at + 2, ", --", 4) != 0)
            return;
        short_option = at;
        at += 4;
    }
    len = strcspn(at, " \n");
    has_value = at[len] == ' ' && at[len + 1] >= 'A' && at[len + 1] <= 'Z';
    if (short_option != NULL)
        fn(short_option, 2, has_value, user);
    fn(at, len, has_value, user);
}

void complete_options(const char *help, option_fn *fn, void *user)
{
    while (*help != '\0') {
        if (strncmp(help, "  ", 2) == 0)
            read_line(help, fn, user);
        help += strcspn(help, "\n");
        help += *help == '\n';
    }
}

struct asked {
    const char *word;
    bool has_value;
};

static void compare(const char *name, size_t len, bool has_value, void *user)
{
    struct asked *asked = user;

    if (strlen(asked->word) == len && strncmp(asked->word, name, len) == 0)
        asked->has_value = has_value;
}

static bool takes_value(const struct verb *verb, const char *word)
{
    struct asked asked = { .word = word };

    complete_options(lockctl_common_help, compare, &asked);
    if (verb != NULL)
        complete_options(verb->help, compare, &asked);
    return asked.has_value;
}

/* --- where on the line we are --- */

static const struct verb *find_verb(const struct verb *const *verbs,
                                    const char *name)
{
    for (; *verbs != NULL; verbs++) {
        if (strcmp((*verbs)->name, name) == 0)
            return *verbs;
    }
    return NULL;
}

/* `value` is that of "--option value", or of "--option=value". */
static void take_option(struct complete *c, const char *option,
                        const char *value)
{
    size_t len = strcspn(option, "=");
    enum setting setting;

    if (strncmp(option, "--", 2) != 0)
        return;
    if (option[len] == '=')
        value = option + len + 1;
    setting = setting_find(option + 2, len - 2);
    if (setting < SETTING_COUNT)
        c->settings[setting] = value;
    else if (strncmp(option, "--context", len) == 0)
        c->context = value;
}

static bool is_named(const char *word, size_t len, const char *name)
{
    return strlen(name) == len && strncmp(word, name, len) == 0;
}

static struct complete value_of(struct complete c, const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof(known_values) / sizeof(known_values[0]);
         i++) {
        if (!is_named(word, len, known_values[i].option))
            continue;
        c.kind = COMPLETE_VALUE;
        c.values = known_values[i].values;
    }
    if (is_named(word, len, "--context"))
        c.kind = COMPLETE_CONTEXT;
    if (is_named(word, len, "--and"))
        c.kind = COMPLETE_LOCK;
    return c;
}

/* "--opt", or "--option=value". */
static struct complete option_of(struct complete c, const char *word)
{
    size_t len = strcspn(word, "=");

    if (strncmp(word, "--", 2) != 0 || word[len] == '\0') {
        c.kind = COMPLETE_OPTION;
        return c;
    }
    c.before = len + 1;
    return value_of(c, word, len);
}

/* How many locks it takes. */
static int places(const struct verb *verb)
{
    if (strstr(verb->usage, "[LOCK]...") != NULL)
        return 1000;
    return strstr(verb->usage, "LOCK") != NULL ||
                   strstr(verb->usage, "PATH") != NULL
               ? 1
               : 0;
}

static struct complete argument(struct complete c, int before)
{
    if (c.verb == NULL) {
        c.kind = COMPLETE_VERB;
    } else if (strcmp(c.verb->name, "help") == 0) {
        c.kind = before == 0 ? COMPLETE_TOPIC : COMPLETE_NOTHING;
        c.values = topics;
    } else if (strcmp(c.verb->name, "completion") == 0) {
        c.kind = before == 0 ? COMPLETE_VALUE : COMPLETE_NOTHING;
        c.values = shells;
    } else if (strcmp(c.verb->name, "context") == 0) {
        c.kind = before == 0 ? COMPLETE_VALUE : COMPLETE_NOTHING;
        c.values = about_contexts;
    } else if (before < places(c.verb)) {
        c.kind = COMPLETE_LOCK;
    }
    return c;
}

/* The only option that may stand behind the lock: "run LOCK --and LOCK", and of
 * hold. */
static bool is_one_more_lock(const struct complete *c, const char *word,
                             int arguments)
{
    return c->verb != NULL &&
           (strcmp(c->verb->name, "run") == 0 ||
            strcmp(c->verb->name, "hold") == 0) &&
           arguments == 1 && strcmp(word, "--and") == 0;
}

struct complete complete_find(const struct verb *const *verbs, int count,
                              char *const *words)
{
    struct complete c = { .kind = COMPLETE_NOTHING };
    int arguments = 0;
    bool options = true; /* no "--" yet */

    for (int i = 0; i < count - 1; i++) {
        const char *word = words[i];

        if (options && strcmp(word, "--") == 0) {
            options = false;
        } else if (is_one_more_lock(&c, word, arguments)) {
            if (i + 2 == count)
                return value_of(c, word, strlen(word));
            i++;
        } else if (options && word[0] == '-') {
            if (i + 2 == count && takes_value(c.verb, word))
                return value_of(c, word, strlen(word));
            take_option(&c, word, words[i + 1]);
            i += takes_value(c.verb, word) ? 1 : 0;
        } else if (c.verb == NULL) {
            c.verb = find_verb(verbs, word);
            if (c.verb == NULL)
                return c;
        } else {
            arguments++;
            /* The words that follow belong to the command. */
            if (strcmp(c.verb->name, "run") == 0 ||
                strcmp(c.verb->name, "lead") == 0)
                options = false;
        }
    }
    if (count > 0 && options && words[count - 1][0] == '-')
        return option_of(c, words[count - 1]);
    return count > 0 ? argument(c, arguments) : c;
}

bool complete_is_plain(const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_./:@%+,-";
    size_t len = strlen(name);
    char text[ZKR_PATH_MAX * 4 + 1];

    /* Not ASCII: what is fit for a terminal. */
    if (len == 0 || name[0] == '-' ||
        escape_text(name, len, text, sizeof(text)) != len ||
        memcmp(text, name, len) != 0)
        return false;
    for (const char *c = name; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x80 && strchr(plain, *c) == NULL)
            return false;
    }
    return true;
}
