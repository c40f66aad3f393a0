/* SPDX-License-Identifier: Apache-2.0 */
/* Tells which library made a node, by its name and its data. Pure. */
#include "protocol/dialect.h"

#include <string.h>

#include "base/path.h"
#include "protocol/node_name.h"
#include "protocol/parts.h"

const char *zkr__dialect_name(enum zkr__dialect dialect)
{
    static const char *const names[] = {
        [ZKR__DIALECT_NONE] = "-",
        [ZKR__DIALECT_OTHER] = "other",
        [ZKR__DIALECT_ZKRECIPES] = "zkrecipes",
        [ZKR__DIALECT_CURATOR] = "curator",
        [ZKR__DIALECT_KAZOO] = "kazoo",
        [ZKR__DIALECT_GO] = "go",
        [ZKR__DIALECT_C_RECIPE] = "c-recipe",
        [ZKR__DIALECT_ZK_RUBY] = "zk-ruby",
        [ZKR__DIALECT_UNKNOWN] = "?",
        [ZKR__DIALECT_MIXED] = "mixed",
    };

    return names[dialect];
}

const char *zkr__lock_kind_name(enum zkr__lock_kind kind)
{
    static const char *const names[] = {
        [ZKR__KIND_NONE] = "-",          [ZKR__KIND_MUTEX] = "mutex",
        [ZKR__KIND_RW] = "rw",           [ZKR__KIND_UNFAIR] = "unfair",
        [ZKR__KIND_LATCH] = "leader",    [ZKR__KIND_SEMAPHORE] = "semaphore",
        [ZKR__KIND_BARRIER] = "barrier", [ZKR__KIND_MIXED] = "mixed",
    };

    return names[kind];
}

/* In a list of its path, which has the parts of a semaphore. */
static bool is_part(const struct zkr_participant *p)
{
    return zkr__part_of(p->name) != ZKR__PART_PATH;
}

/* The marker of the set with which it contends, or NULL. */
static const struct zkr__marker_row *marker_of(const struct zkr_participant *p,
                                               uint32_t markers)
{
    for (unsigned i = 0; i < ZKR__MARKER_COUNT; i++) {
        if ((markers & ZKR__MARKER_BIT(i)) != 0 &&
            strcmp(p->marker, zkr__markers[i].text) == 0)
            return &zkr__markers[i];
    }
    return NULL;
}

static unsigned family_of(const struct zkr_participant *p)
{
    const struct zkr__marker_row *marker = marker_of(p, ZKR__ALL_MARKERS);

    if (is_part(p))
        return p->kind == ZKR_PARTICIPANT_FOREIGN ? 0 : ZKR__FAMILY_SEMAPHORE;
    return marker == NULL ? 0 : marker->family;
}

bool zkr__is_unfair(const struct zkr_participant *p)
{
    return strcmp(p->marker, ZKR__UNFAIR_NAME) == 0;
}

bool zkr__is_lease(const struct zkr_participant *p)
{
    return marker_of(p, ZKR__MARKER_BIT(ZKR__CURATOR_LEASE)) != NULL;
}

bool zkr__is_candidate(const struct zkr_participant *p)
{
    return family_of(p) == ZKR__FAMILY_LATCH;
}

bool zkr__is_seen(const struct zkr_participant *p, enum zkr__lock_kind kind)
{
    uint32_t markers = kind == ZKR__KIND_MUTEX   ? ZKR__MUTEX_MARKERS
                       : kind == ZKR__KIND_LATCH ? ZKR__LATCH_MARKERS
                                                 : ZKR__RW_MARKERS;

    return !is_part(p) && marker_of(p, markers) != NULL;
}

bool zkr__is_member(const struct zkr_participant *p)
{
    return p->kind == ZKR_PARTICIPANT_FOREIGN && p->session_id != 0 &&
           zkr__node_name_is_uuid(p->name);
}

bool zkr__name_is_of_pool(const char *name)
{
    const char *rest = zkr__node_name_skip(name, ZKR__FORM_HEX32);

    return rest != NULL && (*rest == '\0' || strcmp(rest, "__party__") == 0);
}

bool zkr__is_of_pool(const struct zkr_participant *p)
{
    return p->kind == ZKR_PARTICIPANT_FOREIGN && p->session_id != 0 &&
           zkr__name_is_of_pool(p->name);
}

/* The client must have written the whole part before the marker. */
static bool is_named(const struct zkr_participant *p, const char *form)
{
    const char *rest = zkr__node_name_skip(zkr__path_name(p->name), form);

    return rest != NULL && strncmp(rest, p->marker, strlen(p->marker)) == 0;
}

static bool has_name_of_curator(const struct zkr_participant *p)
{
    return is_named(p, "_c_" ZKR__FORM_UUID "-");
}

/* Of those who make such names, leaving this library aside. */
static enum zkr__dialect dialect_by_name(const struct zkr_participant *p)
{
    if (family_of(p) == ZKR__FAMILY_C_RECIPE)
        return ZKR__DIALECT_C_RECIPE;
    if (family_of(p) == ZKR__FAMILY_ZK_RUBY)
        return ZKR__DIALECT_ZK_RUBY;
    if (has_name_of_curator(p))
        return ZKR__DIALECT_CURATOR;
    if (is_named(p, "_c_" ZKR__FORM_HEX32 "-"))
        return ZKR__DIALECT_GO;
    return is_named(p, ZKR__FORM_HEX32) ? ZKR__DIALECT_KAZOO
                                        : ZKR__DIALECT_OTHER;
}

static bool may_be_ours(const struct zkr_participant *p,
                        enum zkr__dialect by_name)
{
    return by_name == ZKR__DIALECT_CURATOR || by_name == ZKR__DIALECT_KAZOO ||
           zkr__is_unfair(p);
}

/* Its data is as its maker wrote it, and is no record: so it is not ours. */
static bool is_denied(const struct zkr_participant *p,
                      const struct zkr__known_owner *owner)
{
    bool is_id = family_of(p) == ZKR__FAMILY_LATCH && p->data_size > 0;

    return p->token != 0 && !owner->is_asked && !is_id;
}

enum zkr__dialect zkr__dialect_of(const struct zkr_participant *p,
                                  const struct zkr__known_owner *owner)
{
    enum zkr__dialect by_name = dialect_by_name(p);

    if (p->kind == ZKR_PARTICIPANT_FOREIGN)
        return ZKR__DIALECT_NONE;
    if (by_name == ZKR__DIALECT_C_RECIPE || by_name == ZKR__DIALECT_ZK_RUBY)
        return by_name;
    if (owner->is_record)
        return ZKR__DIALECT_ZKRECIPES;
    return may_be_ours(p, by_name) && !is_denied(p, owner)
               ? ZKR__DIALECT_UNKNOWN
               : by_name;
}

enum zkr__lock_kind zkr__lock_kind_of(const struct zkr_participant *items,
                                      size_t count)
{
    unsigned seen = 0;
    bool shared = false;

    for (size_t i = 0; i < count; i++) {
        shared = shared || items[i].kind == ZKR_PARTICIPANT_SHARED;
        seen |= family_of(&items[i]);
    }
    /* kazoo's exclusive nodes are those of a mutex and of a writer */
    if (seen == (ZKR__FAMILY_KAZOO | ZKR__FAMILY_MUTEX) ||
        seen == (ZKR__FAMILY_KAZOO | ZKR__FAMILY_RW))
        seen &= ~(unsigned)ZKR__FAMILY_KAZOO;
    if (seen == 0)
        return ZKR__KIND_NONE;
    if ((seen & (seen - 1)) != 0)
        return ZKR__KIND_MIXED;
    if (seen == ZKR__FAMILY_UNFAIR)
        return ZKR__KIND_UNFAIR;
    if (seen == ZKR__FAMILY_LATCH)
        return ZKR__KIND_LATCH;
    if (seen == ZKR__FAMILY_SEMAPHORE)
        return ZKR__KIND_SEMAPHORE;
    return seen == ZKR__FAMILY_RW || shared ? ZKR__KIND_RW : ZKR__KIND_MUTEX;
}

bool zkr__sees_its_own_node(enum zkr__dialect dialect)
{
    return dialect == ZKR__DIALECT_ZKRECIPES;
}

/* Of Curator, InterProcessMutex and its read/write lock do: leader latches and
 * leases cannot be made revocable. So a mutex does, whichever of the two it
 * is. */
bool zkr__hears_requests(const struct zkr_participant *p,
                         enum zkr__dialect dialect)
{
    return dialect == ZKR__DIALECT_ZKRECIPES ||
           ((dialect == ZKR__DIALECT_CURATOR ||
             dialect == ZKR__DIALECT_UNKNOWN) &&
            has_name_of_curator(p) &&
            (family_of(p) & (ZKR__FAMILY_MUTEX | ZKR__FAMILY_RW)) != 0);
}
