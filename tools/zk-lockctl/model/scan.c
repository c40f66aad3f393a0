/* SPDX-License-Identifier: Apache-2.0 */
#include "model/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "common/now.h"
#include "model/mirror.h"
#include "protocol/parts.h"

enum { LIMIT = 10000 };

int locks_list(const struct lockctl *ctl, const char *const *paths,
               size_t count, const struct scan_opts *opts,
               struct scan *ret_scan, char detail[SCAN_DETAIL_MAX])
{
    struct mirror_opts o = {
        .ctl = ctl,
        .paths = paths,
        .path_count = count,
        .below = !opts->alone,
        .once = true,
        .look = *opts,
    };
    struct mirror *m = NULL;

    if (o.look.limit == 0)
        o.look.limit = LIMIT;
    int rc = mirror_start(&o, &m);
    if (rc == ZKR_OK)
        rc = mirror_wait(m, detail);
    else
        (void)snprintf(detail, SCAN_DETAIL_MAX, "%s", zkr_error_detail());
    if (rc == ZKR_OK)
        *ret_scan = mirror_scan(m);
    mirror_end(m);
    return rc;
}

int scan_below(const struct lockctl *ctl, const char *const *paths,
               size_t count, const struct scan_opts *opts,
               struct scan *ret_scan)
{
    char detail[SCAN_DETAIL_MAX];
    int rc = locks_list(ctl, paths, count, opts, ret_scan, detail);

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

/* --- one lock --- */

/* Of one lock: nodes that are read, and those of which only the names count. */
#define READ_MAX  10000
#define NAMED_MAX 100000

/* The options for the library, so that it reads so many nodes of a lock. */
static struct zkr_participants_opts lock_opts(uint32_t reads,
                                              int64_t timeout_ms)
{
    struct zkr_participants_opts opts = ZKR_PARTICIPANTS_OPTS_INIT;

    opts.timeout_ms = timeout_ms;
    opts.limit = reads == SCAN_ALL ? READ_MAX : NAMED_MAX;
    opts.reads = reads;
    if (reads == SCAN_HOLDERS || reads == SCAN_NEXT) {
        opts.reads = 1;
        opts.flags = ZKR_PARTICIPANTS_HOLDERS;
    }
    if (reads == SCAN_NEXT)
        opts.flags |= ZKR_PARTICIPANTS_NEXT;
    return opts;
}

int lock_list(zkr_session *session, const char *path, uint32_t reads,
              int64_t timeout_ms, struct lock *ret_lock)
{
    struct zkr_participants_opts opts = lock_opts(reads, timeout_ms);
    struct zkr_participants *list = NULL;
    int rc = zkr_participants_list(session, path, &opts, &list);

    if (rc != ZKR_OK)
        return rc;
    *ret_lock = lock_of(path, list, clock_wall_ms());
    ret_lock->cut = ret_lock->total > opts.limit;
    return ZKR_OK;
}

const char *scan_whole(zkr_session *session, const char *path,
                       char room[ZKR_PATH_MAX + 1])
{
    const char *name = strrchr(path, '/');
    struct lock lock = { .list = NULL };

    if (name == NULL || name == path ||
        zkr__part_of_dir(name + 1) == ZKR__PART_PATH)
        return path;
    (void)snprintf(room, ZKR_PATH_MAX + 1, "%.*s", (int)(name - path), path);
    bool is_part =
        lock_list(session, room, 1, 0, &lock) == ZKR_OK && lock.list->semaphore;
    lock_done(&lock);
    return is_part ? room : path;
}

/* A path that begins without a slash is below "/locks". */
static int fail_missing(zkr_session *session, const char *path)
{
    const char *meant = path + strlen("/locks");
    struct lock lock;

    if (strncmp(path, "/locks/", strlen("/locks/")) != 0 ||
        lock_list(session, meant, 1, 0, &lock) != ZKR_OK)
        return lockctl_fail(EX_DATAERR, "%s does not exist", path);
    lock_done(&lock);
    return lockctl_fail(EX_DATAERR,
                        "%s does not exist, but %s does: begin the path with "
                        "its slash",
                        path, meant);
}

static int fail_no_lock(const struct lock *lock)
{
    if (lock->pool > 0)
        return lockctl_fail(EX_DATAERR,
                            "%s is not a lock: %zu of its %zu children are of "
                            "a semaphore, a double barrier or a party of "
                            "kazoo, which this tool does not know",
                            lock->path, lock->pool, lock->listed);
    return lockctl_fail(EX_DATAERR,
                        "%s is not a lock: of its %zu children none "
                        "contends; zk-lockctl ls %s lists what is below",
                        lock->path, lock->listed, lock->path);
}

/* What counts is not `total`: a node that has gone since then may have been a
 * contender. */
static bool is_lock(const struct lock *lock, unsigned allowed)
{
    return lock->count > 0 || lock->listed == 0 || (allowed & SCAN_ANY) != 0 ||
           ((allowed & SCAN_BARRIER) != 0 && lock->kind == ZKR__KIND_BARRIER);
}

int scan_lock(zkr_session *session, const char *path, uint32_t reads,
              unsigned allowed, struct lock *ret_lock)
{
    char room[ZKR_PATH_MAX + 1];
    struct lock lock;

    path = scan_whole(session, path, room);
    int rc = lock_list(session, path, reads, 0, &lock);
    if (rc == ZKR_ZNONODE && (allowed & (SCAN_MISSING | SCAN_ANY)) != 0) {
        *ret_lock = lock_of(path, NULL, clock_wall_ms());
        return 0;
    }
    if (rc != ZKR_OK)
        return rc == ZKR_ZNONODE ? fail_missing(session, path)
                                 : lockctl_fail_zkr(rc);
    if (is_lock(&lock, allowed)) {
        *ret_lock = lock;
        return 0;
    }
    int code = fail_no_lock(&lock);
    lock_done(&lock);
    return code;
}
