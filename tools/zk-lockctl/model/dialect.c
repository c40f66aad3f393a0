/* Whose nodes these are, by their names and what they say. Pure. */
#include "model/dialect.h"

#include <string.h>

const char *dialect_name(enum dialect dialect)
{
    static const char *const names[] = {
        [DIALECT_NONE] = "-",
        [DIALECT_OTHER] = "other",
        [DIALECT_ZKRECIPES] = "zkrecipes",
        [DIALECT_CURATOR] = "curator",
        [DIALECT_KAZOO] = "kazoo",
        [DIALECT_GO] = "go",
        [DIALECT_C_RECIPE] = "c-recipe",
        [DIALECT_ZK_RUBY] = "zk-ruby",
        [DIALECT_MIXED] = "mixed",
    };

    return names[dialect];
}

bool dialect_is_name(const char *name)
{
    for (int i = DIALECT_OTHER; i <= DIALECT_MIXED; i++) {
        if (strcmp(dialect_name((enum dialect)i), name) == 0)
            return true;
    }
    return false;
}

const char *kind_name(enum lock_kind kind)
{
    static const char *const names[] = {
        [KIND_NONE] = "-",        [KIND_MUTEX] = "mutex", [KIND_RW] = "rw",
        [KIND_UNFAIR] = "unfair", [KIND_MIXED] = "mixed",
    };

    return names[kind];
}

/* In the pattern 'h' is a hexadecimal digit. The rest of the text, or NULL. */
static const char *match(const char *text, const char *pattern)
{
    for (; *pattern != '\0'; text++, pattern++) {
        if (*pattern != 'h'
                ? *text != *pattern
                : *text == '\0' || strchr("0123456789abcdef", *text) == NULL)
            return NULL;
    }
    return text;
}

#define HEX8  "hhhhhhhh"
#define HEX32 HEX8 HEX8 HEX8 HEX8
#define UUID  HEX8 "-hhhh-hhhh-hhhh-hhhhhhhhhhhh"

/* The part before the marker must be all that a client writes. */
static bool is_named(const struct zkr_participant *p, const char *pattern)
{
    const char *rest = match(p->name, pattern);

    return rest != NULL && strncmp(rest, p->marker, strlen(p->marker)) == 0;
}

enum dialect dialect_of(const struct zkr_participant *p,
                        const struct owner *owner)
{
    if (p->kind == ZKR_PARTICIPANT_FOREIGN)
        return DIALECT_NONE;
    if (strcmp(p->marker, "x-") == 0)
        return DIALECT_C_RECIPE;
    if (strcmp(p->marker, "ex") == 0 || strcmp(p->marker, "sh") == 0)
        return DIALECT_ZK_RUBY;
    if (owner->is_record)
        return DIALECT_ZKRECIPES;
    if (is_named(p, "_c_" UUID "-"))
        return DIALECT_CURATOR;
    if (is_named(p, "_c_" HEX32 "-"))
        return DIALECT_GO;
    if (is_named(p, HEX32))
        return DIALECT_KAZOO;
    return DIALECT_OTHER;
}

enum lock_kind kind_of(const struct zkr_participant *items, size_t count)
{
    enum { MUTEX = 1, RW = 2, UNFAIR = 4, C = 8, RUBY = 16, KAZOO = 32 };
    static const struct {
        const char *marker;
        unsigned family;
    } families[] = {
        { "lock-", MUTEX },  { "__WRIT__", RW },   { "__READ__", RW },
        { "__rlock__", RW }, { "holder", UNFAIR }, { "x-", C },
        { "ex", RUBY },      { "sh", RUBY },       { "__lock__", KAZOO },
    };
    unsigned seen = 0;
    bool shared = false;

    for (size_t i = 0; i < count; i++) {
        shared = shared || items[i].kind == ZKR_PARTICIPANT_SHARED;
        for (size_t k = 0; k < sizeof(families) / sizeof(families[0]); k++) {
            if (strcmp(items[i].marker, families[k].marker) == 0)
                seen |= families[k].family;
        }
    }
    /* kazoo's exclusive nodes are those of a mutex and of a writer */
    if (seen == (KAZOO | MUTEX) || seen == (KAZOO | RW))
        seen &= ~(unsigned)KAZOO;
    if (seen == 0)
        return KIND_NONE;
    if ((seen & (seen - 1)) != 0)
        return KIND_MIXED;
    if (seen == UNFAIR)
        return KIND_UNFAIR;
    return seen == RW || shared ? KIND_RW : KIND_MUTEX;
}

bool dialect_sees_its_own_node(enum dialect dialect)
{
    return dialect == DIALECT_ZKRECIPES;
}

bool dialect_hears_requests(enum dialect dialect)
{
    return dialect == DIALECT_ZKRECIPES || dialect == DIALECT_CURATOR;
}
