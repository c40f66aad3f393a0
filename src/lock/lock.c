/* SPDX-License-Identifier: Apache-2.0 */
/* A lock: its path, its options, and the references to it. */
#include "lock/lock.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/path.h"
#include "lock/claim.h"
#include "lock/cohort.h"
#include "lock/locks.h"

static int check_options(const char *noun, const char *path,
                         const struct zkr_lockable_opts *opts,
                         const struct zkr__recipe *recipe)
{
    if (!recipe->can_stay && (opts->retain_ms != 0 || opts->retain_max != 0))
        return zkr__fail(ZKR_EINVAL, "%s '%.300s': it cannot be retained", noun,
                         path);
    if (opts->limit_path != NULL)
        return zkr__fail(ZKR_EINVAL, "%s '%.300s': it has no limit", noun,
                         path);
    if ((opts->flags & ~recipe->flags) != 0 || opts->reserved != 0)
        return zkr__fail(ZKR_EINVAL, "%s '%.300s': unknown flags %#x", noun,
                         path, opts->flags & ~recipe->flags);
    if (opts->label == NULL)
        return ZKR_OK;
    if (strlen(opts->label) > ZKR_LABEL_MAX)
        return zkr__fail(ZKR_ETOOLONG,
                         "%s '%.300s': the label is longer than %d bytes", noun,
                         path, ZKR_LABEL_MAX);
    const char *fault = zkr__text_fault(opts->label);
    if (fault != NULL)
        return zkr__fail(ZKR_EINVAL, "%s '%.300s': the label %s", noun, path,
                         fault);
    return ZKR_OK;
}

int zkr__lock_check_path(const struct zkr_session *s, const char *noun,
                         const char *path)
{
    int rc = zkr__session_check_path(s, noun, "path", path, ZKR_PATH_MAX);

    if (rc == ZKR_OK && strcmp(path, "/") == 0)
        rc = zkr__fail(ZKR_EPATH, "%s '/': the path is the root, not a lock",
                       noun);
    return rc;
}

static bool retain(struct zkr__lock *lock, const struct zkr_lockable_opts *opts)
{
    lock->cohort = zkr__cohort_new(lock, opts->retain_ms, opts->retain_max);
    return lock->cohort != NULL;
}

static char *directory(const struct zkr_session *s, const char *path,
                       const char *child)
{
    char *dir = zkr__path_join(s->hosts.chroot, path + 1);

    if (dir == NULL || child == NULL)
        return dir;
    char *below = zkr__path_join(dir, child);
    free(dir);
    return below;
}

static void free_lock(struct zkr__ref *ref)
{
    struct zkr__lock *lock = ZKR__CONTAINER(ref, struct zkr__lock, ref);

    zkr__session_unref(lock->session);
    free(lock->path);
    free(lock->dir);
    free(lock->label);
    free(atomic_load(&lock->record));
    free(lock->cohort);
    free(lock);
}

static struct zkr__lock *make(struct zkr_session *s, const char *noun,
                              const char *path, const char *child,
                              const struct zkr_lockable_opts *opts)
{
    struct zkr__lock *lock = calloc(1, sizeof(*lock));

    if (lock == NULL)
        return NULL;
    zkr__ref_init(&lock->ref, free_lock);
    zkr__session_ref(s);
    lock->session = s;
    lock->noun = noun;
    zkr__list_init(&lock->claims);
    zkr__list_init(&lock->holds);
    lock->path = strdup(path);
    lock->dir = directory(s, path, child);
    lock->label = opts->label == NULL ? NULL : strdup(opts->label);
    lock->owner = (struct zkr__owner){ .start = zkr__locks_of(s)->start,
                                       .label = lock->label,
                                       .within = s->opts.within };
    if (lock->path == NULL || lock->dir == NULL ||
        (opts->label != NULL && lock->label == NULL) ||
        (opts->retain_ms != 0 && !retain(lock, opts))) {
        zkr__lock_unref(lock);
        return NULL;
    }
    return lock;
}

static bool find_line(struct zkr__lock *lock, uint32_t markers)
{
    zkr__session_lock(lock->session);
    lock->line = zkr__line_use_locked(lock->session, lock->dir, markers);
    zkr__session_unlock(lock->session);
    return lock->line != NULL;
}

int zkr__lock_new(struct zkr_session *s, const char *noun, const char *path,
                  const char *child, const struct zkr_lockable_opts *opts,
                  const struct zkr__recipe *recipe, struct zkr__lock **ret_lock)
{
    const uint32_t persistent = ZKR_PERSISTENT_PARENTS | ZKR_KAZOO_LAYOUT;
    struct zkr_lockable_opts o;
    struct zkr__lock *lock = NULL;
    int rc = zkr__session_check(s, "session");

    if (rc == ZKR_OK)
        rc = zkr__opts_load(&o, sizeof(o), sizeof(o), opts, noun);
    if (rc == ZKR_OK)
        rc = zkr__lock_check_path(s, noun, path);
    if (rc == ZKR_OK)
        rc = check_options(noun, path, &o, recipe);
    if (rc != ZKR_OK)
        return rc;
    if (zkr__locks_open(s) == ZKR_OK)
        lock = make(s, noun, path, child, &o);
    if (lock == NULL || !find_line(lock, recipe->markers)) {
        zkr__lock_unref(lock);
        return zkr__no_memory(noun, path);
    }
    lock->layout = (o.flags & ZKR_KAZOO_LAYOUT) != 0 ? ZKR__LAYOUT_KAZOO
                                                     : ZKR__LAYOUT_CURATOR;
    lock->parents = (o.flags & persistent) != 0 ? ZKR_CREATE_PERSISTENT
                                                : ZKR_CREATE_CONTAINER;
    lock->fail_on_session_loss = (o.flags & ZKR_FAIL_ON_SESSION_LOSS) != 0;
    lock->reentrant = (o.flags & ZKR_REENTRANT) != 0;
    *ret_lock = lock;
    return ZKR_OK;
}

int zkr__lock_set_data(struct zkr__lock *lock, const void *data, size_t size)
{
    struct zkr__record *record = zkr__record_of(data, size);

    if (record == NULL)
        return zkr__no_memory(lock->noun, lock->path);
    atomic_store(&lock->record, record);
    return ZKR_OK;
}

void zkr__lock_ref(struct zkr__lock *lock)
{
    zkr__ref_take(&lock->ref);
}

void zkr__lock_unref(struct zkr__lock *lock)
{
    if (lock != NULL)
        zkr__ref_drop(&lock->ref);
}

static void cancel_claim(struct zkr__list *of_lock, void *unused)
{
    struct zkr__claim *c = ZKR__CONTAINER(of_lock, struct zkr__claim, of_lock);

    (void)unused;
    zkr__session_assert_locked(c->session);
    zkr__claim_give_up_locked(c, ZKR_ECANCELED, "cancelled");
}

void zkr__lock_cancel_locked(struct zkr__lock *lock)
{
    lock->line->advancing = true; /* one that goes must not let the next in */
    zkr__list_each(&lock->claims, cancel_claim, NULL);
    lock->line->advancing = false;
    zkr__line_advance_locked(lock->line);
}

void zkr__lock_free(struct zkr__lock *lock)
{
    if (lock == NULL || zkr__session_check(lock->session, "lock") != ZKR_OK)
        return;
    zkr__session_lock(lock->session);
    zkr__lock_cancel_locked(lock);
    if (lock->cohort != NULL)
        zkr__cohort_close_locked(lock->cohort);
    zkr__ref_drop(&lock->line->ref);
    zkr__session_unlock(lock->session);
    zkr__lock_unref(lock);
}
