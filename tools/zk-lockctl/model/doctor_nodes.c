/* SPDX-License-Identifier: Apache-2.0 */
/* Finds nodes that spoil the queue of a lock, and numbers that run out. */
#include "model/doctor_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "protocol/node_name.h"
#include "protocol/parts.h"

static void check_sessions(struct findings *f, const struct lock *lock)
{
    char name[FINDING_NAME_MAX];

    for (size_t i = 0; i < lock->count; i++) {
        const struct contender *c = &lock->items[i];

        if (c->node->error != ZKR_OK || c->node->session_id != 0)
            continue;
        findings_add(
            f, "persistent-contender", lock, c,
            finding_text(
                "%s %s, but it belongs to no session: no server will ever "
                "remove it",
                finding_name(c->node->name, name),
                c->node->holds ? "holds" : "stands in the queue"),
            cure_break("see that nobody uses it, then remove it", lock, c));
    }
}

/* The directory of a part of a semaphore, with a slash, is before the name. */
static size_t dir_len(const struct contender *c)
{
    const char *slash = strchr(c->node->name, '/');

    return slash == NULL ? 0 : (size_t)(slash - c->node->name) + 1;
}

/* Writes the first number of the queue that a foreign child is in; "" if
 * nobody is. */
static void write_first_number(const struct lock *lock,
                               const struct contender *foreign, char first[24])
{
    const char *dir = foreign->node->name;
    size_t len = dir_len(foreign);

    first[0] = '\0';
    for (size_t i = 0; i < lock->count && first[0] == '\0'; i++) {
        const struct contender *c = &lock->items[i];

        if (c->node->sequence >= 0 && dir_len(c) == len &&
            strncmp(c->node->name, dir, len) == 0)
            (void)snprintf(first, 24, "%010" PRId64, c->node->sequence);
    }
}

static void find_child_before_all(struct findings *f, const struct lock *lock,
                                  const struct contender *c)
{
    char name[FINDING_NAME_MAX];

    findings_add(
        f, "foreign-child", lock, c,
        finding_text(
            "%s is no contender, but Curator takes every child for one, and "
            "this one sorts before all numbers: there nobody gets the lock",
            finding_name(c->node->name, name)),
        finding_text("remove that node by hand; keep other nodes out of the "
                     "directory of a lock"));
}

static void find_child_of_leases(struct findings *f, const struct lock *lock,
                                 const struct contender *c)
{
    char name[FINDING_NAME_MAX];

    findings_add(
        f, "foreign-child", lock, c,
        finding_text(
            "%s is no lease, but every child of that directory counts as "
            "one: it takes a permit for good",
            finding_name(c->node->name, name)),
        finding_text("remove that node by hand; keep other nodes out of the "
                     "directories of a semaphore"));
}

/* Curator compares the text after its own marker, or otherwise the whole name.
 * Children of each directory are in a row. */
static void check_foreign(struct findings *f, const struct lock *lock)
{
    char first[24] = "";

    if (lock->dialect == ZKR__DIALECT_KAZOO ||
        lock->dialect == ZKR__DIALECT_C_RECIPE ||
        lock->dialect == ZKR__DIALECT_ZK_RUBY)
        return;
    for (size_t i = lock->count; i < lock->listed; i++) {
        const struct contender *c = &lock->items[i];
        size_t len = dir_len(c);

        if (i == lock->count || dir_len(c - 1) != len)
            write_first_number(lock, c, first);
        if (zkr__part_of(c->node->name) == ZKR__PART_LEASES)
            find_child_of_leases(f, lock, c);
        else if (first[0] != '\0' && strcmp(c->node->name + len, first) < 0)
            find_child_before_all(f, lock, c);
    }
}

static void check_kind(struct findings *f, const struct lock *lock)
{
    if (lock->kind != ZKR__KIND_MIXED)
        return;
    findings_add(
        f, "mixed-recipes", lock, NULL,
        finding_text(
            "the contenders use recipes that do not exclude each other, such "
            "as a mutex and a read/write lock: more of them may hold than is "
            "shown"),
        finding_text("use one recipe on a path"));
}

static void check_sequence(struct findings *f, const struct lock *lock)
{
    int64_t highest = 0;
    bool negative = false;

    for (size_t i = 0; i < lock->count; i++) {
        int64_t sequence = lock->items[i].node->sequence;

        highest = sequence > highest ? sequence : highest;
        negative = negative || sequence < 0;
    }
    if (highest < ZKR__SEQ_WARN && !negative)
        return;
    findings_add(
        f, "sequence-headroom", lock, NULL,
        negative || highest >= ZKR__SEQ_MAX
            ? finding_text(
                  "the numbers of this directory are used up: servers give "
                  "the same one to all, and nobody can tell the order")
            : finding_text("of the numbers of this directory %" PRId64
                           " are left",
                           ZKR__SEQ_MAX - highest),
        finding_text(
            "let the lock become free and have the directory removed: the "
            "numbers of a new one begin at 0"));
}
void doctor_look_at_nodes(struct findings *f, const struct lock *lock)
{
    check_sessions(f, lock);
    check_foreign(f, lock);
    check_kind(f, lock);
    check_sequence(f, lock);
}
