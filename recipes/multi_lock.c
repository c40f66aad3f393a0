/* SPDX-License-Identifier: Apache-2.0 */
/* The multi-lock: a chain of the locks of its user, in the order of their
 * paths. */
#include <zkrecipes/multi_lock.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/output.h"
#include "links.h"
#include "lock/lock.h"

#define NOUN "multi-lock"

struct member {
    struct zkr__link link;
    zkr_semaphore *semaphore; /* the link is its turn; or NULL */
};

struct zkr_multi_lock {
    struct zkr__chains chains;
    struct member *members; /* in the order of their paths */
    size_t count;
    size_t grants;
};

static int check(const zkr_multi_lock *lock)
{
    if (lock == NULL)
        return zkr__fail(ZKR_EINVAL, NOUN " is NULL");
    return zkr__session_check(lock->chains.session, NOUN);
}

enum zkr_error zkr_multi_lock_new(zkr_session *session,
                                  const struct zkr_multi_lock_opts *opts,
                                  zkr_multi_lock **ret_lock)
{
    struct zkr_multi_lock_opts o;
    zkr_multi_lock *lock;
    int rc = ZKR__OUTPUT(ret_lock);

    if (rc == ZKR_OK)
        rc = zkr__session_check(session, "session");
    if (rc == ZKR_OK)
        rc = zkr__opts_load(&o, sizeof(o), sizeof(o), opts, NOUN);
    if (rc != ZKR_OK)
        return rc;
    if ((o.flags & ~(uint32_t)ZKR_MULTI_LOCK_FAIL_ON_SESSION_LOSS) != 0 ||
        o.reserved != 0)
        return zkr__fail(ZKR_EINVAL, NOUN ": unknown flags %#x",
                         (unsigned)o.flags);
    lock = calloc(1, sizeof(*lock));
    if (lock == NULL)
        return zkr__fail(ZKR_ENOMEM, NOUN ": out of memory");
    zkr__session_ref(session);
    zkr__chains_init(&lock->chains, session, NOUN, o.flags != 0);
    *ret_lock = lock;
    return ZKR_OK;
}

void zkr_multi_lock_free(zkr_multi_lock *lock)
{
    if (lock == NULL || check(lock) != ZKR_OK)
        return;
    zkr__chains_cancel(&lock->chains);
    zkr__session_unref(lock->chains.session);
    free(lock->members);
    free(lock);
}

/* -- its locks ------------------------------------------------------------ */

/* Returns where a lock with that directory is, or belongs. */
static size_t place_of(const zkr_multi_lock *lock, const char *dir)
{
    size_t i = 0;

    while (i < lock->count && strcmp(lock->members[i].link.lock->dir, dir) < 0)
        i++;
    return i;
}

static int insert(zkr_multi_lock *lock, const struct member *member)
{
    const struct zkr__lock *added = member->link.lock;
    size_t i = place_of(lock, added->dir);
    struct member *grown;

    if (i < lock->count &&
        strcmp(lock->members[i].link.lock->dir, added->dir) == 0)
        return zkr__fail(ZKR_EINVAL, NOUN ": '%s' is in it already",
                         added->path);
    grown = realloc(lock->members, (lock->count + 1) * sizeof(*grown));
    if (grown == NULL)
        return zkr__fail(ZKR_ENOMEM, NOUN ": out of memory");
    memmove(&grown[i + 1], &grown[i], (lock->count - i) * sizeof(*grown));
    grown[i] = *member;
    lock->members = grown;
    lock->count++;
    lock->grants += member->link.gate == 0 ? 1 : member->link.gate;
    return ZKR_OK;
}

static int add(zkr_multi_lock *lock, struct zkr__link link,
               zkr_semaphore *semaphore)
{
    struct member member = { link, semaphore };
    int rc = check(lock);

    if (rc == ZKR_OK)
        rc = zkr__lock_check(link.lock, "lock");
    if (rc == ZKR_OK && link.lock->session != lock->chains.session)
        rc = zkr__fail(ZKR_EINVAL, NOUN ": '%s' is of another session",
                       link.lock->path);
    return rc == ZKR_OK ? insert(lock, &member) : rc;
}

enum zkr_error zkr_multi_lock_add_mutex(zkr_multi_lock *lock, zkr_mutex *mutex)
{
    return add(lock, zkr__mutex_link(mutex), NULL);
}

enum zkr_error zkr_multi_lock_add_reentrant_mutex(zkr_multi_lock *lock,
                                                  zkr_reentrant_mutex *mutex)
{
    return add(lock, zkr__reentrant_mutex_link(mutex), NULL);
}

enum zkr_error zkr_multi_lock_add_unfair_mutex(zkr_multi_lock *lock,
                                               zkr_unfair_mutex *mutex)
{
    return add(lock, zkr__unfair_mutex_link(mutex), NULL);
}

enum zkr_error zkr_multi_lock_add_read(zkr_multi_lock *lock, zkr_rwlock *rwlock)
{
    return add(lock, zkr__reading_link(rwlock), NULL);
}

enum zkr_error zkr_multi_lock_add_write(zkr_multi_lock *lock,
                                        zkr_rwlock *rwlock)
{
    return add(lock, zkr__writing_link(rwlock), NULL);
}

enum zkr_error zkr_multi_lock_add_semaphore(zkr_multi_lock *lock,
                                            zkr_semaphore *semaphore,
                                            uint32_t permits)
{
    int rc = zkr__semaphore_check(semaphore, permits);

    if (rc == ZKR_OK)
        rc = add(lock, zkr__semaphore_turn(semaphore, permits), semaphore);
    return rc;
}

size_t zkr_multi_lock_count(const zkr_multi_lock *lock)
{
    return lock == NULL ? 0 : lock->grants;
}

/* -- an acquire ----------------------------------------------------------- */

/* Returns the links of all locks, to be freed, or NULL. */
static struct zkr__link *new_links(const zkr_multi_lock *lock,
                                   size_t *ret_count)
{
    struct zkr__link *links =
        calloc(lock->grants + lock->count, sizeof(*links));
    size_t n = 0;

    for (size_t i = 0; links != NULL && i < lock->count; i++) {
        const struct member *m = &lock->members[i];

        if (m->semaphore != NULL)
            zkr__semaphore_links(m->semaphore, m->link.gate, &links[n]);
        else
            links[n] = m->link;
        n += 1 + m->link.gate;
    }
    *ret_count = n;
    return links;
}

/* The limit of a semaphore may have changed since it was added. */
static int check_permits(const zkr_multi_lock *lock)
{
    int rc = ZKR_OK;

    for (size_t i = 0; i < lock->count && rc == ZKR_OK; i++) {
        const struct member *m = &lock->members[i];

        if (m->semaphore != NULL)
            rc = zkr__semaphore_check(m->semaphore, m->link.gate);
    }
    return rc;
}

static int begin(const zkr_multi_lock *lock, struct zkr__link **ret_links,
                 size_t *ret_count)
{
    int rc = check_permits(lock);

    if (rc != ZKR_OK)
        return rc;
    if (lock->count == 0)
        return zkr__fail(ZKR_EINVAL, NOUN ": it has no locks");
    *ret_links = new_links(lock, ret_count);
    return *ret_links == NULL ? zkr__fail(ZKR_ENOMEM, NOUN ": out of memory")
                              : ZKR_OK;
}

enum zkr_error zkr_multi_lock_acquire(zkr_multi_lock *lock, int64_t timeout_ms,
                                      zkr_grant **ret_grants)
{
    struct zkr__link *links = NULL;
    size_t count;
    int rc = ZKR__OUTPUT(ret_grants);

    if (rc == ZKR_OK)
        rc = check(lock);
    if (rc != ZKR_OK)
        return rc;
    memset(ret_grants, 0, lock->grants * sizeof(*ret_grants));
    rc = begin(lock, &links, &count);
    if (rc == ZKR_OK)
        rc = zkr__chain_acquire(&lock->chains, links, count, timeout_ms,
                                ret_grants);
    free(links);
    return rc;
}

enum zkr_error zkr_multi_lock_acquire_async(zkr_multi_lock *lock,
                                            int64_t timeout_ms,
                                            zkr_acquire_all_fn fn, void *user,
                                            zkr_request **ret_request)
{
    struct zkr__told told = { .all = fn, .user = user };
    struct zkr__link *links = NULL;
    size_t count;
    int rc = check(lock);

    ZKR__OUTPUT_IF_ANY(ret_request);
    if (rc == ZKR_OK && fn == NULL)
        rc = zkr__fail(ZKR_EINVAL, NOUN ": the callback is NULL");
    if (rc == ZKR_OK)
        rc = begin(lock, &links, &count);
    if (rc == ZKR_OK)
        rc = zkr__chain_acquire_async(&lock->chains, links, count, timeout_ms,
                                      &told, ret_request);
    free(links);
    return rc;
}

enum zkr_error zkr_multi_lock_cancel(zkr_multi_lock *lock)
{
    int rc = check(lock);

    if (rc == ZKR_OK)
        zkr__chains_cancel(&lock->chains);
    return rc;
}
