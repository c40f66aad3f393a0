/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what may be typed next on a command line. */
#include "text/complete.h"

#include <string.h>

#include "common/escape.h"

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

static void take_value(struct complete *c, const struct opt *o,
                       const char *value)
{
    if (o->type == OPT_SETTING)
        c->settings[o - setting_options] = value;
    else if (strcmp(o->name, "context") == 0)
        c->context = value;
}

static struct complete value_of(struct complete c, const struct opt *o)
{
    if (o != NULL && o->words != NULL) {
        c.kind = COMPLETE_VALUE;
        c.values = o->words;
    } else if (o != NULL && strcmp(o->name, "context") == 0) {
        c.kind = COMPLETE_CONTEXT;
    } else if (o != NULL && o->value != NULL && strcmp(o->value, "LOCK") == 0) {
        c.kind = COMPLETE_LOCK;
    }
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
    return value_of(c, opt_find(c.verb, word, len));
}

static struct complete argument(struct complete c, int before)
{
    if (c.verb == NULL) {
        c.kind = COMPLETE_VERB;
    } else if (c.verb->words != NULL && before == 0) {
        c.kind = c.verb->overview == NULL ? COMPLETE_VALUE : COMPLETE_TOPIC;
        c.values = c.verb->words;
    } else if (c.verb->takes == TAKES_PATHS ||
               (c.verb->takes != TAKES_WORDS && before == 0)) {
        c.kind = COMPLETE_LOCK;
    }
    return c;
}

/* The only option that may stand behind the lock: "run LOCK --and LOCK", and of
 * hold. */
static bool is_one_more_lock(const struct complete *c, const char *word,
                             int arguments)
{
    return arguments == 1 && strcmp(word, "--and") == 0 &&
           opt_find(c->verb, word, strlen(word)) != NULL;
}

/* The option whose value is the next word; NULL: none is. */
static const struct opt *take_option(struct complete *c, const char *word)
{
    size_t len = strcspn(word, "=");
    const struct opt *o = opt_find(c->verb, word, len);

    if (o == NULL || o->value == NULL)
        return NULL;
    if (word[len] == '\0')
        return o;
    take_value(c, o, word + len + 1);
    return NULL;
}

struct complete complete_find(const struct verb *const *verbs, int count,
                              char *const *words)
{
    struct complete c = { .kind = COMPLETE_NOTHING };
    const struct opt *before = NULL; /* the next word is its value */
    int arguments = 0;
    bool options = true; /* no "--" yet */

    for (int i = 0; i < count - 1; i++) {
        const char *word = words[i];

        if (before != NULL) {
            take_value(&c, before, word);
            before = NULL;
        } else if (options && strcmp(word, "--") == 0) {
            options = false;
        } else if ((options && word[0] == '-') ||
                   is_one_more_lock(&c, word, arguments)) {
            before = take_option(&c, word);
        } else if (c.verb == NULL) {
            c.verb = find_verb(verbs, word);
            if (c.verb == NULL)
                return c;
        } else {
            arguments++;
            options = options && !c.verb->ends_at_argument;
        }
    }
    if (before != NULL)
        return value_of(c, before);
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
