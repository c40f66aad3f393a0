/* SPDX-License-Identifier: Apache-2.0 */
/* The multi-lock: a chain of the locks of its user, in the order of their
 * paths. */
#include <zkrecipes/multi_lock.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "lock/lockable.h"

#define NOUN "multi-lock"

struct member {
    zkr_lockable *lockable;
    struct zkr_acquire_opts how;
};

struct multi_lock {
    zkr_lockable face;
    struct member *members; /* in the order of their paths */
    size_t count;
};

static struct multi_lock *of(const zkr_lockable *l)
{
    return ZKR__CONTAINER(l, struct multi_lock, face);
}

static int check(zkr_lockable *l, const struct zkr_acquire_opts *how)
{
    if (of(l)->count == 0)
        return zkr__fail(ZKR_EINVAL, NOUN ": it has no locks");
    if (how->permits > 1)
        return zkr__fail(ZKR_EINVAL, NOUN ": it has no permits");
    return ZKR_OK;
}

static size_t grants(const zkr_lockable *l, const struct zkr_acquire_opts *how)
{
    const struct multi_lock *m = of(l);
    size_t sum = 0;

    (void)how;
    for (size_t i = 0; i < m->count; i++)
        sum += zkr__lockable_grants(m->members[i].lockable, &m->members[i].how);
    return sum;
}

static size_t links(const zkr_lockable *l, const struct zkr_acquire_opts *how,
                    struct zkr__link *links)
{
    const struct multi_lock *m = of(l);
    size_t n = 0;

    (void)how;
    for (size_t i = 0; i < m->count; i++)
        n += zkr__lockable_links(m->members[i].lockable, &m->members[i].how,
                                 links == NULL ? NULL : &links[n]);
    return n;
}

static void free_multi_lock(zkr_lockable *l)
{
    zkr__session_unref(l->session);
    free(of(l)->members);
    free(of(l));
}

static const struct zkr__several several = {
    .check = check,
    .grants = grants,
    .links = links,
    .free = free_multi_lock,
};

static const struct zkr__lockable_type type = { .noun = NOUN,
                                                .several = &several };

static int check_options(const struct zkr_lockable_opts *o)
{
    if ((o->flags & ~(uint32_t)ZKR_FAIL_ON_SESSION_LOSS) != 0 ||
        o->reserved != 0)
        return zkr__fail(ZKR_EINVAL, NOUN ": unknown flags %#x",
                         (unsigned)o->flags);
    if (o->label != NULL || o->retain_ms != 0 || o->retain_max != 0 ||
        o->limit_path != NULL)
        return zkr__fail(ZKR_EINVAL, NOUN ": that is an option of its locks");
    return ZKR_OK;
}

int zkr_multi_lock_new(zkr_session *session,
                       const struct zkr_lockable_opts *opts,
                       zkr_multi_lock **ret_lock)
{
    struct zkr_lockable_opts o;
    int rc = ZKR__OUTPUT(ret_lock);

    if (rc == ZKR_OK)
        rc = zkr__session_check(session, "session");
    if (rc == ZKR_OK)
        rc = zkr__opts_load(&o, sizeof(o), sizeof(o), opts, NOUN);
    if (rc == ZKR_OK)
        rc = check_options(&o);
    if (rc != ZKR_OK)
        return rc;
    struct multi_lock *m = calloc(1, sizeof(*m));
    if (m == NULL)
        return zkr__no_memory(NOUN, NULL);
    zkr__session_ref(session);
    zkr__lockable_init(&m->face, &type, session, o.flags != 0);
    *ret_lock = &m->face;
    return ZKR_OK;
}

/* -- its locks ------------------------------------------------------------ */

static const struct zkr__lock *lock_of(const struct multi_lock *m, size_t i)
{
    return m->members[i].lockable->lock;
}

/* Returns where a lock with that path belongs. The directory of the nodes of a
 * semaphore is below its path, and may have another place. */
static size_t place_of(const struct multi_lock *m, const char *path)
{
    size_t i = 0;

    while (i < m->count && strcmp(lock_of(m, i)->path, path) < 0)
        i++;
    return i;
}

static bool is_in(const struct multi_lock *m, const struct zkr__lock *lock)
{
    for (size_t i = 0; i < m->count; i++) {
        if (strcmp(lock_of(m, i)->path, lock->path) == 0 ||
            strcmp(lock_of(m, i)->dir, lock->dir) == 0)
            return true;
    }
    return false;
}

static int insert(struct multi_lock *m, const struct member *member)
{
    const struct zkr__lock *added = member->lockable->lock;
    size_t i = place_of(m, added->path);

    if (is_in(m, added))
        return zkr__fail(ZKR_EINVAL, NOUN ": '%s' is in it already",
                         added->path);
    struct member *grown = realloc(m->members, (m->count + 1) * sizeof(*grown));
    if (grown == NULL)
        return zkr__no_memory(NOUN, NULL);
    memmove(&grown[i + 1], &grown[i], (m->count - i) * sizeof(*grown));
    grown[i] = *member;
    m->members = grown;
    m->count++;
    return ZKR_OK;
}

int zkr_multi_lock_add(zkr_multi_lock *lock, zkr_lockable *added,
                       const struct zkr_acquire_opts *opts)
{
    struct member member = { .lockable = added };
    int rc = zkr__lockable_check(lock, &type);

    if (rc == ZKR_OK)
        rc = zkr__lockable_check(added, NULL);
    if (rc == ZKR_OK && added->lock == NULL)
        rc = zkr__fail(ZKR_EINVAL, NOUN ": it takes no " NOUN);
    if (rc == ZKR_OK && added->session != lock->session)
        rc = zkr__fail(ZKR_EINVAL, NOUN ": '%s' is of another session",
                       added->lock->path);
    if (rc == ZKR_OK)
        rc = zkr__acquire_opts_load(added, opts, &member.how);
    if (rc == ZKR_OK && member.how.owner != 0)
        rc = zkr__fail(ZKR_EINVAL, NOUN ": the owner is that of the acquire");
    if (rc == ZKR_OK)
        rc = zkr__lockable_check_how(added, &member.how);
    return rc == ZKR_OK ? insert(of(lock), &member) : rc;
}
