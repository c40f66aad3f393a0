/* SPDX-License-Identifier: Apache-2.0 */
/* Tells which library made a node, by the name and the data of the node.
 * Pure. */
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
        [DIALECT_UNKNOWN] = "?",
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
        [KIND_NONE] = "-",          [KIND_MUTEX] = "mutex",
        [KIND_RW] = "rw",           [KIND_UNFAIR] = "unfair",
        [KIND_LATCH] = "leader",    [KIND_SEMAPHORE] = "semaphore",
        [KIND_BARRIER] = "barrier", [KIND_MIXED] = "mixed",
    };

    return names[kind];
}

/* Which recipe writes a marker. The library says which markers there are, and
 * of what kind a contender is; cli-dialect compares this table with its own. */
enum family {
    MUTEX = 1,
    RW = 2,
    KAZOO = 4, /* its Lock, or its WriteLock */
    UNFAIR = 8,
    C_RECIPE = 16,
    ZK_RUBY = 32,
    LATCH = 64,
    SEMAPHORE = 128, /* its leases, and its queue, which is a mutex */
};

static const char *name_of(const struct zkr_participant *p)
{
    const char *slash = strrchr(p->name, '/');

    return slash == NULL ? p->name : slash + 1;
}

/* By the list of its path, which has the parts of a semaphore. */
static bool is_part(const struct zkr_participant *p)
{
    return name_of(p) != p->name;
}

static unsigned family_of(const struct zkr_participant *p)
{
    static const struct {
        const char *marker;
        enum family family;
    } families[] = {
        { "lock-", MUTEX },  { "__lock__", KAZOO },   { "__WRIT__", RW },
        { "__READ__", RW },  { "__rlock__", RW },     { "holder", UNFAIR },
        { "x-", C_RECIPE },  { "ex", ZK_RUBY },       { "sh", ZK_RUBY },
        { "latch-", LATCH }, { "lease-", SEMAPHORE },
    };

    if (is_part(p))
        return p->kind == ZKR_PARTICIPANT_FOREIGN ? 0 : SEMAPHORE;
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        if (strcmp(p->marker, families[i].marker) == 0)
            return families[i].family;
    }
    return 0;
}

bool contender_is_unfair(const struct zkr_participant *p)
{
    return family_of(p) == UNFAIR;
}

bool contender_is_lease(const struct zkr_participant *p)
{
    return strcmp(p->marker, "lease-") == 0;
}

bool contender_is_candidate(const struct zkr_participant *p)
{
    return family_of(p) == LATCH;
}

bool contender_is_seen(const struct zkr_participant *p, enum lock_kind kind)
{
    unsigned seen = kind == KIND_MUTEX   ? MUTEX | KAZOO
                    : kind == KIND_LATCH ? LATCH
                                         : MUTEX | KAZOO | RW;

    return (family_of(p) & seen) != 0;
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

bool contender_is_member(const struct zkr_participant *p)
{
    const char *rest = match(p->name, UUID);

    return p->kind == ZKR_PARTICIPANT_FOREIGN && p->session_id != 0 &&
           rest != NULL && *rest == '\0';
}

bool name_is_of_pool(const char *name)
{
    const char *rest = match(name, HEX32);

    return rest != NULL && (*rest == '\0' || strcmp(rest, "__party__") == 0);
}

bool contender_is_of_pool(const struct zkr_participant *p)
{
    return p->kind == ZKR_PARTICIPANT_FOREIGN && p->session_id != 0 &&
           name_is_of_pool(p->name);
}

/* The client must have written the whole part before the marker. */
static bool is_named(const struct zkr_participant *p, const char *pattern)
{
    const char *rest = match(name_of(p), pattern);

    return rest != NULL && strncmp(rest, p->marker, strlen(p->marker)) == 0;
}

static bool has_name_of_curator(const struct zkr_participant *p)
{
    return is_named(p, "_c_" UUID "-");
}

/* Of those who make such names, leaving this library aside. */
static enum dialect dialect_by_name(const struct zkr_participant *p)
{
    if (family_of(p) == C_RECIPE)
        return DIALECT_C_RECIPE;
    if (family_of(p) == ZK_RUBY)
        return DIALECT_ZK_RUBY;
    if (has_name_of_curator(p))
        return DIALECT_CURATOR;
    if (is_named(p, "_c_" HEX32 "-"))
        return DIALECT_GO;
    return is_named(p, HEX32) ? DIALECT_KAZOO : DIALECT_OTHER;
}

static bool may_be_ours(const struct zkr_participant *p, enum dialect by_name)
{
    return by_name == DIALECT_CURATOR || by_name == DIALECT_KAZOO ||
           contender_is_unfair(p);
}

/* Its data is as its maker wrote it, and is no record: so it is not ours. */
static bool is_denied(const struct zkr_participant *p,
                      const struct owner *owner)
{
    bool is_id = family_of(p) == LATCH && p->data_size > 0;

    return p->token != 0 && !owner->is_asked && !is_id;
}

enum dialect dialect_of(const struct zkr_participant *p,
                        const struct owner *owner)
{
    enum dialect by_name = dialect_by_name(p);

    if (p->kind == ZKR_PARTICIPANT_FOREIGN)
        return DIALECT_NONE;
    if (by_name == DIALECT_C_RECIPE || by_name == DIALECT_ZK_RUBY)
        return by_name;
    if (owner->is_record)
        return DIALECT_ZKRECIPES;
    return may_be_ours(p, by_name) && !is_denied(p, owner) ? DIALECT_UNKNOWN
                                                           : by_name;
}

enum lock_kind kind_of(const struct zkr_participant *items, size_t count)
{
    unsigned seen = 0;
    bool shared = false;

    for (size_t i = 0; i < count; i++) {
        shared = shared || items[i].kind == ZKR_PARTICIPANT_SHARED;
        seen |= family_of(&items[i]);
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
    if (seen == LATCH)
        return KIND_LATCH;
    if (seen == SEMAPHORE)
        return KIND_SEMAPHORE;
    return seen == RW || shared ? KIND_RW : KIND_MUTEX;
}

bool dialect_sees_its_own_node(enum dialect dialect)
{
    return dialect == DIALECT_ZKRECIPES;
}

/* Of Curator, InterProcessMutex and its read/write lock do: leader latches and
 * leases cannot be made revocable. So a mutex does, whichever of the two it
 * is. */
bool contender_hears_requests(const struct zkr_participant *p,
                              enum dialect dialect)
{
    return dialect == DIALECT_ZKRECIPES ||
           ((dialect == DIALECT_CURATOR || dialect == DIALECT_UNKNOWN) &&
            has_name_of_curator(p) && (family_of(p) & (MUTEX | RW)) != 0);
}
