/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses a run at a path where nodes of another recipe are: it would exclude
 * none of their owners; and one that would wait for itself, because a run
 * around it has the lock, and waits for it to end. */
#include "run/run.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "model/scan.h"
#include "protocol/node_name.h"

/* So many nodes of a lock are read. Readers, and those who have a lease, may be
 * many around us; the holder of a mutex is first in its queue. */
enum { ANSWER_MS = 1000, READS = 16, READERS = 1000 };

/* -- without a request ---------------------------------------------------- */

/* The recipe is told by the names of the nodes alone, except of a semaphore. A
 * reader's node and a writer's go together. */
static bool are_of_kind(const struct zkr_reply *children, enum claim_kind kind)
{
    uint32_t markers = ZKR__MARKER_BIT(claim_kinds[kind].marker);
    int64_t number;

    if (claim_kinds[kind].lock == ZKR__KIND_RW)
        markers = ZKR__MARKER_BIT(ZKR__CURATOR_READ) |
                  ZKR__MARKER_BIT(ZKR__CURATOR_WRITE);
    for (size_t i = 0; i < children->count; i++) {
        if (zkr__node_name_parse(children->names[i], markers, &number) ==
            ZKR__FOREIGN)
            return false;
    }
    return true;
}

/* A directory of locks has no data. Data of another length, and data of a node
 * that has children, are a program's own. NULL: it is not like a counter. */
static const char *use_by_data(const struct zkr_reply *children)
{
    int32_t len = children->stat.data_len;

    if (children->count > 0 || (len != 4 && len != 8))
        return NULL;
    return len == 8 ? "a counter, by its 8 bytes of data"
                    : "a counter, by its 4 bytes of data";
}

/* -- with a list ---------------------------------------------------------- */

/* The kind of the lock once a node of ours is in it. */
static enum zkr__lock_kind kind_with_ours(const struct lock *lock,
                                          enum claim_kind kind)
{
    struct zkr_participant *all = calloc(lock->count + 1, sizeof(*all));

    if (all == NULL)
        return ZKR__KIND_NONE;
    for (size_t i = 0; i < lock->count; i++)
        all[i] = *lock->items[i].node;
    all[lock->count] = (struct zkr_participant){
        .name = "",
        .marker = zkr__markers[claim_kinds[kind].marker].text,
        .kind = ZKR_PARTICIPANT_EXCLUSIVE,
    };
    enum zkr__lock_kind together = zkr__lock_kind_of(all, lock->count + 1);
    free(all);
    return together;
}

static bool goes_together(const struct lock *lock, enum claim_kind kind)
{
    if (lock->kind == ZKR__KIND_BARRIER || lock->pool > 0)
        return false;
    if (lock->kind == ZKR__KIND_SEMAPHORE)
        return kind == CLAIM_SEMAPHORE;
    return kind_with_ours(lock, kind) != ZKR__KIND_MIXED;
}

static void warn_of_kazoo(struct lockctl *ctl, const struct lock *lock)
{
    if (lock->dialect == ZKR__DIALECT_KAZOO)
        lockctl_say(ctl,
                    "note: %s has nodes of kazoo, which does not wait for this "
                    "run unless its lock has extra_lock_patterns",
                    lock->path);
}

static const char *name_use(const struct lock *lock)
{
    static const char *const uses[] = {
        [ZKR__KIND_NONE] = "something else",
        [ZKR__KIND_MUTEX] = "a mutex",
        [ZKR__KIND_RW] = "a read/write lock",
        [ZKR__KIND_UNFAIR] = "an unfair mutex",
        [ZKR__KIND_LATCH] = "a leader election",
        [ZKR__KIND_SEMAPHORE] = "a semaphore",
        [ZKR__KIND_BARRIER] = "a barrier",
        [ZKR__KIND_MIXED] = "several recipes",
    };

    if (lock->pool > 0)
        return "a semaphore, a double barrier or a party of kazoo";
    return lock->dialect == ZKR__DIALECT_C_RECIPE ||
                   lock->dialect == ZKR__DIALECT_ZK_RUBY
               ? "a lock that other clients do not know"
               : uses[lock->kind];
}

static int refuse_use(const char *lock, const char *use, enum claim_kind kind)
{
    return lockctl_fail(EX_DATAERR,
                        "%s is used for %s: a %s there would keep none of its "
                        "users out",
                        lock, use, claim_kinds[kind].noun);
}

/* Somebody who has a permit, or wants one, by another limit would let in more
 * than we do, or fewer. */
static int check_limits(const struct lock *lock, uint32_t slots)
{
    char who[WHO_MAX];

    for (size_t i = 0; i < lock->count; i++) {
        const struct contender *c = &lock->items[i];

        if (c->owner.limit != 0 && c->owner.limit != slots)
            return lockctl_fail(
                EX_DATAERR,
                "%s is used as a semaphore of %lld by %s: with --slots %u the "
                "two would not agree on who may hold it",
                lock->path, (long long)c->owner.limit, contender_who(c, who),
                slots);
    }
    return MAY_CLAIM;
}

/* -- itself -------------------------------------------------------------- */

/* A reader joins readers, unless a writer stands between them. */
static bool joins(const struct zkr_participants *list, size_t from)
{
    for (size_t i = from; i < list->count; i++) {
        if (list->items[i].kind == ZKR_PARTICIPANT_EXCLUSIVE &&
            zkr__is_seen(&list->items[i], ZKR__KIND_RW))
            return false;
    }
    return true;
}

static const struct zkr_participant *
waits_for_leases(const struct around *around,
                 const struct zkr_participants *list, uint32_t slots)
{
    const struct zkr_participant *first = NULL;
    uint32_t held = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct zkr_participant *p = &list->items[i];

        if (!zkr__is_lease(p) || !p->holds ||
            !around_has(around, p->session_id))
            continue;
        if (held++ == 0)
            first = p;
    }
    return held >= slots ? first : NULL;
}

static const struct zkr_participant *
waits_in_queue(const struct around *around, const struct zkr_participants *list,
               enum claim_kind kind)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct zkr_participant *p = &list->items[i];

        if (zkr__is_seen(p, claim_kinds[kind].lock) &&
            around_has(around, p->session_id) &&
            (kind != CLAIM_READ || !joins(list, i)))
            return p;
    }
    return NULL;
}

const struct zkr_participant *run_waits_for(const struct around *around,
                                            const struct zkr_participants *list,
                                            const struct wanted *wanted)
{
    return wanted->kind == CLAIM_SEMAPHORE
               ? waits_for_leases(around, list, wanted->slots)
               : waits_in_queue(around, list, wanted->kind);
}

/* It was killed, and the servers keep its node for a while, so waiting is
 * useful. This may be wrong when two machines share a name, or in another pid
 * namespace; then we wait as if we had not checked. */
static bool is_dead(const struct zkr__known_owner *owner)
{
    char host[HOST_NAME_MAX + 1] = "";

    (void)gethostname(host, sizeof(host) - 1);
    return owner->is_record && owner->pid > 0 && owner->pid <= INT_MAX &&
           strcmp(owner->host, host) == 0 && kill((pid_t)owner->pid, 0) != 0 &&
           errno == ESRCH;
}

static int refuse_self(const struct run *run, const struct lock *lock)
{
    const struct zkr_participant *p =
        run_waits_for(&run->around, lock->list, &run->opts.wanted);
    const struct contender *c =
        p == NULL ? NULL : &lock->items[p - lock->list->items];
    char who[WHO_MAX];

    if (c == NULL || is_dead(&c->owner))
        return MAY_CLAIM;
    return lockctl_fail(
        run->opts.wait_ms == 0 ? run->opts.not_acquired_code : EX_USAGE,
        "you hold %s already: a zk-lockctl run or hold around this one has it "
        "(session 0x%llx, %s) until this one has ended, so this one would wait "
        "for itself",
        lock->path, (unsigned long long)c->node->session_id,
        contender_who(c, who));
}

/* -- all ------------------------------------------------------------------- */

static int refuse_by_list(const struct run *run, const struct lock *lock)
{
    const struct wanted *wanted = &run->opts.wanted;
    int code = refuse_self(run, lock);

    if (code != MAY_CLAIM)
        return code;
    if (!goes_together(lock, wanted->kind))
        return refuse_use(lock->path, name_use(lock), wanted->kind);
    warn_of_kazoo(run->ctl, lock);
    return wanted->kind == CLAIM_SEMAPHORE ? check_limits(lock, wanted->slots)
                                           : MAY_CLAIM;
}

/* Where the servers do not answer, or do not allow it, the claim will tell.
 * The names of the children alone are mostly enough. */
static int refuse(const struct run *run, const char *path)
{
    enum claim_kind kind = run->opts.wanted.kind;
    bool around = run->around.count > 0;
    uint32_t reads = around && kind != CLAIM_MUTEX ? READERS : READS;
    struct zkr_reply *children = NULL;
    struct lock lock;

    if (zkr_session_children(run->ctl->session, path, ANSWER_MS, &children) !=
        ZKR_OK)
        return MAY_CLAIM;
    const char *counter = use_by_data(children);
    bool known = are_of_kind(children, kind);
    zkr_reply_free(children);
    if (counter != NULL)
        return refuse_use(path, counter, kind);
    if ((known && !around && kind != CLAIM_SEMAPHORE) ||
        lock_list(run->ctl->session, path, reads, ANSWER_MS, &lock) != ZKR_OK)
        return MAY_CLAIM;
    int code = refuse_by_list(run, &lock);
    lock_done(&lock);
    return code;
}

int run_refuse(const struct run *run)
{
    const struct wanted *wanted = &run->opts.wanted;
    int code = MAY_CLAIM;

    for (size_t i = 0; i < wanted->count && code == MAY_CLAIM; i++)
        code = refuse(run, wanted->paths[i]);
    return code;
}
