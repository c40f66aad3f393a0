/* SPDX-License-Identifier: Apache-2.0 */
/* Finds locks and lists them, many at once. */
#include "model/scan.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/lockctl.h"
#include "common/now.h"
#include "common/words.h"

/* How many locks are listed at once. */
#define LISTERS 8

struct list_job {
    zkr_session *session;
    const struct zkr_locks *found;
    struct zkr_participants_opts opts;
    struct lock *locks; /* as found->items; no path: it has gone */
    atomic_size_t next;
    atomic_bool failed;
    pthread_mutex_t mutex; /* of the first error: */
    int error;
    char *detail;
};

/* The sentence belongs to this thread. */
static void fail_listing(struct list_job *l, int rc)
{
    (void)pthread_mutex_lock(&l->mutex);
    if (!atomic_exchange(&l->failed, true)) {
        l->error = rc;
        (void)snprintf(l->detail, SCAN_DETAIL_MAX, "%s", zkr_error_detail());
    }
    (void)pthread_mutex_unlock(&l->mutex);
}

/* The members of a barrier do not contend: they are told by their sessions. */
static int list_members(struct list_job *l, const char *path, struct lock *lock)
{
    struct zkr_participants_opts opts = lock_opts(SCAN_ALL);

    if (lock->count > 0 || lock->read == lock->listed)
        return ZKR_OK;
    lock_done(lock);
    return lock_list(l->session, path, &opts, lock);
}

static int list_one(struct list_job *l, size_t i)
{
    struct zkr_locks_item *item = &l->found->items[i];
    struct zkr_participants *list = item->list;
    const char *path = item->path;
    int rc;

    item->list = NULL;
    rc = list == NULL ? lock_list(l->session, path, &l->opts, &l->locks[i])
                      : lock_take(path, &l->opts, list, &l->locks[i]);

    if (rc == ZKR_OK)
        rc = list_members(l, path, &l->locks[i]);
    if (rc == ZKR_ZNONODE || rc == ZKR_EPATH) /* the root is no lock */
        return ZKR_OK;
    if (rc != ZKR_ZNOAUTH)
        return rc;
    l->locks[i] = (struct lock){ .path = strdup(path),
                                 .error = rc,
                                 .state = LOCK_UNKNOWN,
                                 .longest_wait_ms = -1,
                                 .at_ms = clock_wall_ms() };
    return l->locks[i].path == NULL ? ZKR_ENOMEM : ZKR_OK;
}

static void *list_some(void *arg)
{
    struct list_job *l = arg;

    while (!atomic_load(&l->failed)) {
        size_t i = atomic_fetch_add(&l->next, 1);
        int rc;

        if (i >= l->found->count)
            break;
        rc = list_one(l, i);
        if (rc != ZKR_OK)
            fail_listing(l, rc);
    }
    return NULL;
}

/* This thread is one of them, so it goes on when no other can be made. */
static bool list_all(struct list_job *l)
{
    pthread_t threads[LISTERS - 1];
    size_t n = 0;

    while (n < LISTERS - 1 && n + 1 < l->found->count &&
           pthread_create(&threads[n], NULL, list_some, l) == 0)
        n++;
    (void)list_some(l);
    while (n > 0)
        (void)pthread_join(threads[--n], NULL);
    return !atomic_load(&l->failed);
}

static void note_skipped(struct notes *notes, const struct zkr_locks *found)
{
    const char *first = found->skipped_path == NULL ? "?" : found->skipped_path;
    char path[256];
    char more[64] = "";

    (void)escape_string(first, path, sizeof(path));
    if (found->skipped > 1)
        (void)snprintf(more, sizeof(more), ", and %zu more node%s",
                       found->skipped - 1, word_plural(found->skipped - 1));
    notes_add(notes, "%s%s could not be looked at: %s%s", path, more,
              zkr_strerror(found->skipped_error),
              found->skipped_error == ZKR_ZNOAUTH ? "; see --auth-file" : "");
}

static void note_cuts(struct scan *scan, const struct zkr_locks *found)
{
    scan->cut = found->cut != 0;
    if ((found->cut & ZKR_LOCKS_CUT_LIMIT) != 0)
        notes_add(&scan->notes, "there are more locks than %zu", found->count);
    if ((found->cut & ZKR_LOCKS_CUT_DEPTH) != 0)
        notes_add(&scan->notes, "what lies deeper was not looked at");
    if ((found->cut & ZKR_LOCKS_CUT_VISITS) != 0)
        notes_add(&scan->notes, "only the first %zu nodes were looked at",
                  found->visited);
    if ((found->cut & ZKR_LOCKS_CUT_TIME) != 0)
        notes_add(&scan->notes,
                  "the search took too long; it ended after %zu nodes",
                  found->visited);
    scan->denied = found->skipped;
    if (found->skipped > 0)
        note_skipped(&scan->notes, found);
}

static void note_lock(struct scan *scan, const struct lock *lock)
{
    char path[256];

    (void)escape_string(lock->path, path, sizeof(path));
    if (lock->error != ZKR_OK)
        notes_add(&scan->notes, "%s: %s", path, zkr_strerror(lock->error));
    if (lock->cut)
        notes_add(&scan->notes, "%s: only %zu of %zu children are listed", path,
                  lock->listed, lock->total);
}

static void collect(struct scan *scan, const struct zkr_locks *found)
{
    note_cuts(scan, found);
    for (size_t i = 0; i < found->count; i++) {
        struct lock *lock = &scan->locks[i];

        if (lock->path == NULL)
            continue;
        if (found->items[i].pzxid != found->items[i].czxid)
            lock->pzxid = found->items[i].pzxid;
        note_lock(scan, lock);
        scan->locks[scan->count] = *lock;
        if (scan->count++ != i)
            *lock = (struct lock){ .path = NULL };
    }
}

static struct zkr_locks_opts find_opts(const struct scan_opts *opts)
{
    struct zkr_locks_opts find = ZKR_LOCKS_OPTS_INIT;

    if (opts->empty)
        find.flags |= ZKR_LOCKS_EMPTY;
    if (opts->barriers)
        find.flags |= ZKR_LOCKS_BARRIERS;
    find.depth = opts->depth;
    find.limit = opts->limit;
    find.timeout_ms = opts->timeout_ms;
    return find;
}

static struct list_job new_listing(zkr_session *session,
                                   const struct scan_opts *opts, char *detail)
{
    struct list_job l = { .session = session,
                          .opts = lock_opts(opts->reads),
                          .mutex = PTHREAD_MUTEX_INITIALIZER,
                          .detail = detail };

    if (opts->acl)
        l.opts.flags |= ZKR_PARTICIPANTS_ACL;
    return l;
}

static int list_found(struct list_job *l, struct scan *ret_scan)
{
    struct scan scan = { .at_ms = clock_wall_ms() };

    scan.locks = calloc(l->found->count + 1, sizeof(*scan.locks));
    l->locks = scan.locks;
    if (scan.locks == NULL)
        return ZKR_ENOMEM;
    if (list_all(l)) {
        collect(&scan, l->found);
        *ret_scan = scan;
        return ZKR_OK;
    }
    scan.count = l->found->count;
    scan_done(&scan);
    return l->error;
}

int locks_list(zkr_session *session, const char *root,
               const struct scan_opts *opts, struct scan *ret_scan,
               char detail[SCAN_DETAIL_MAX])
{
    struct zkr_locks_opts find = find_opts(opts);
    struct zkr_locks *found = NULL;
    struct list_job l = new_listing(session, opts, detail);
    int64_t began_ms = clock_wall_ms();
    char room[ZKR_PATH_MAX + 1];
    int rc;

    find.participants = &l.opts;
    rc =
        zkr_locks_find(session, scan_whole(session, root, room), &find, &found);
    detail[0] = '\0';
    if (rc != ZKR_OK) {
        (void)snprintf(detail, SCAN_DETAIL_MAX, "%s", zkr_error_detail());
        return rc;
    }
    l.found = found;
    rc = list_found(&l, ret_scan);
    if (rc == ZKR_OK)
        ret_scan->began_ms = began_ms;
    zkr_locks_free(found);
    return rc;
}

int scan_below(zkr_session *session, const char *root,
               const struct scan_opts *opts, struct scan *ret_scan)
{
    char detail[SCAN_DETAIL_MAX];
    int rc = locks_list(session, root, opts, ret_scan, detail);

    if (rc == ZKR_ZNONODE) {
        *ret_scan = (struct scan){ .at_ms = clock_wall_ms(), .missing = true };
        return 0;
    }
    return rc == ZKR_OK ? 0 : lockctl_fail_error(rc, detail);
}

int scan_some(zkr_session *session, const struct scan *of, const bool *wanted,
              const struct scan_opts *opts, struct scan *ret_scan)
{
    char detail[SCAN_DETAIL_MAX] = "";
    struct list_job l = new_listing(session, opts, detail);
    struct zkr_locks some = { .items = NULL };
    int rc = ZKR_ENOMEM;

    some.items = calloc(of->count + 1, sizeof(*some.items));
    for (size_t i = 0; some.items != NULL && i < of->count; i++) {
        if (wanted[i])
            some.items[some.count++].path = of->locks[i].path;
    }
    l.found = &some;
    if (some.items != NULL)
        rc = list_found(&l, ret_scan);
    free(some.items);
    return rc == ZKR_OK ? 0 : lockctl_fail_error(rc, detail);
}

int scan_code(const struct scan *scan, int code)
{
    if (code != 0 || scan->count > 0 || scan->denied == 0)
        return code;
    return lockctl_fail(EX_NOPERM,
                        "no locks seen, but some nodes may not be read");
}

void scan_done(struct scan *scan)
{
    for (size_t i = 0; i < scan->count; i++)
        lock_done(&scan->locks[i]);
    free(scan->locks);
    notes_done(&scan->notes);
    *scan = (struct scan){ .locks = NULL };
}
