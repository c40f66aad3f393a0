/* SPDX-License-Identifier: Apache-2.0 */
/* A fence: it excludes the other threads of this process first, then other
 * processes. */
#include <zkrecipes/fence.h>

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mtx.h"
#include "base/opts.h"
#include "base/process.h"
#include "base/thread.h"
#include "fence/fence_file.h"

struct zkr_fence {
    unsigned process;             /* the one that may use it */
    struct zkr__fence_file *file; /* NULL: in memory */
    struct zkr__mtx lock;
    struct zkr__cond left;
    uint64_t inside; /* the thread that is in a section; 0: none */
    /* Of the thread inside: */
    struct zkr__fence_record record; /* in memory */
    struct zkr__fence_record synced; /* the last record that we have written */
};

static int new_fence(zkr_fence **ret_fence)
{
    zkr_fence *f = calloc(1, sizeof(*f));

    if (f == NULL)
        return zkr__no_memory("fence", NULL);
    f->process = zkr__process_number();
    (void)zkr__mtx_init(&f->lock);
    *ret_fence = f;
    return ZKR_OK;
}

void zkr_fence_free(zkr_fence *f)
{
    ZKR__NOT_CANCELLED;

    if (f == NULL)
        return;
    if (f->file != NULL)
        zkr__fence_file_close(f->file);
    zkr__mtx_done(&f->lock);
    free(f);
}

static bool names_a_file(const char *path)
{
    return path[0] != '\0' && path[strlen(path) - 1] != '/';
}

int zkr_fence_new(const struct zkr_fence_opts *opts, zkr_fence **ret_fence)
{
    struct zkr_fence_opts o;
    zkr_fence *f = NULL;
    ZKR__NOT_CANCELLED;
    int rc = ZKR__OUTPUT(ret_fence);

    if (rc == ZKR_OK)
        rc = zkr__opts_load(&o, sizeof(o), sizeof(o), opts, "fence");
    if (rc == ZKR_OK && o.file != NULL && !names_a_file(o.file))
        rc = zkr__fail(ZKR_EINVAL, "fence: no file is named");
    if (rc == ZKR_OK)
        rc = new_fence(&f);
    if (rc != ZKR_OK)
        return rc;
    if (o.file != NULL)
        rc = zkr__fence_file_open(o.file, &f->file);
    if (rc != ZKR_OK)
        zkr_fence_free(f);
    else
        *ret_fence = f;
    return rc;
}

/* -- one at a time -------------------------------------------------------- */

static int lock_thread(zkr_fence *f, int64_t deadline)
{
    uint64_t me = zkr__thread_number();
    bool in_time = true;

    zkr__mtx_lock(&f->lock);
    bool again = f->inside == me;
    while (f->inside != 0 && !again && in_time)
        in_time = zkr__cond_wait(&f->left, &f->lock, deadline);
    bool entered = f->inside == 0;
    if (entered)
        f->inside = me;
    zkr__mtx_unlock(&f->lock);
    if (entered)
        return ZKR_OK;
    return again ? zkr__fail(ZKR_EDEADLK,
                             "fence: inside a section of this thread")
                 : zkr__fail(ZKR_ETIMEDOUT,
                             "fence: another thread is in a section");
}

static void unlock_thread(zkr_fence *f)
{
    zkr__mtx_lock(&f->lock);
    f->inside = 0;
    zkr__cond_wake(&f->left);
    zkr__mtx_unlock(&f->lock);
}

static bool is_inside(zkr_fence *f)
{
    bool inside;

    zkr__mtx_lock(&f->lock);
    inside = f->inside == zkr__thread_number();
    zkr__mtx_unlock(&f->lock);
    return inside;
}

static void leave(zkr_fence *f)
{
    if (f->file != NULL)
        zkr__fence_file_unlock(f->file);
    unlock_thread(f);
}

static int enter(zkr_fence *f, int64_t deadline)
{
    if (f == NULL)
        return zkr__fail(ZKR_EINVAL, "fence is NULL");
    /* The child has inherited the lock of its parent. */
    if (!zkr__process_is(f->process))
        return zkr__fail(ZKR_EFORKED, "fence: opened by the parent process");
    int rc = lock_thread(f, deadline);
    if (rc != ZKR_OK || f->file == NULL)
        return rc;
    rc = zkr__fence_file_lock(f->file, deadline);
    if (rc == ZKR_OK)
        rc = zkr__fence_file_read(f->file, &f->record);
    if (rc != ZKR_OK)
        leave(f);
    return rc;
}

/* -- accepting ------------------------------------------------------------ */

static bool is_same(const struct zkr__fence_record *a,
                    const struct zkr__fence_record *b)
{
    return a->highest == b->highest && a->exclusive == b->exclusive &&
           a->handoff == b->handoff;
}

/* The record that we have read may be gone after a crash, when its writer died
 * before it could sync it. So it is written once more before any token is
 * accepted by it. */
static int put_on_disk(zkr_fence *f, const struct zkr__fence_record *next)
{
    if (is_same(next, &f->record) && is_same(next, &f->synced))
        return ZKR_OK;
    int rc = zkr__fence_file_write(f->file, next);
    if (rc == ZKR_OK)
        f->synced = *next;
    return rc;
}

static int explain_stale(const struct zkr__fence_record *record, int64_t token,
                         uint64_t handoff, bool shared)
{
    int64_t seen = shared ? record->exclusive : record->highest;

    if (token < seen)
        return zkr__fail(ZKR_ESTALE, "fence: token %lld, and %lld was here",
                         (long long)token, (long long)seen);
    return zkr__fail(ZKR_ESTALE,
                     "fence: token %lld, hand-off %llu, and %llu was here",
                     (long long)token, (unsigned long long)handoff,
                     (unsigned long long)record->handoff);
}

static int accept_inside(zkr_fence *f, int64_t token, uint64_t handoff,
                         bool shared)
{
    struct zkr__fence_record next = f->record;
    int rc = ZKR_OK;

    if (!zkr__fence_record_accept(&next, token, handoff, shared))
        return explain_stale(&next, token, handoff, shared);
    if (f->file != NULL)
        rc = put_on_disk(f, &next);
    if (rc == ZKR_OK)
        f->record = next;
    return rc;
}

static int begin(zkr_fence *f, int64_t token, uint64_t handoff, bool shared,
                 int64_t deadline)
{
    if (token <= 0)
        return zkr__fail(ZKR_EINVAL, "fence: %lld is not a token",
                         (long long)token);
    int rc = enter(f, deadline);
    if (rc != ZKR_OK)
        return rc;
    rc = accept_inside(f, token, handoff, shared);
    if (rc != ZKR_OK)
        leave(f);
    return rc;
}

int zkr_fence_begin(zkr_fence *fence, int64_t token, uint64_t handoff,
                    int64_t timeout_ms)
{
    ZKR__NOT_CANCELLED;
    int rc =
        begin(fence, token, handoff, false, zkr__clock_deadline(timeout_ms));

    return rc == ZKR_ETIMEDOUT && timeout_ms == 0 ? ZKR_EBUSY : rc;
}

void zkr_fence_end(zkr_fence *fence)
{
    if (fence != NULL && zkr__process_is(fence->process) && is_inside(fence))
        leave(fence);
}

static int accept_once(zkr_fence *fence, int64_t token, uint64_t handoff,
                       bool shared)
{
    ZKR__NOT_CANCELLED;
    int rc = begin(fence, token, handoff, shared, ZKR__NEVER);

    if (rc == ZKR_OK)
        leave(fence);
    return rc;
}

int zkr_fence_accept(zkr_fence *fence, int64_t token, uint64_t handoff)
{
    return accept_once(fence, token, handoff, false);
}

int zkr_fence_accept_shared(zkr_fence *fence, int64_t token)
{
    return accept_once(fence, token, 0, true);
}

int zkr_fence_highest(zkr_fence *fence, int64_t *ret_token)
{
    ZKR__NOT_CANCELLED;
    int rc = ZKR__OUTPUT(ret_token);

    if (rc != ZKR_OK)
        return rc;
    rc = enter(fence, ZKR__NEVER);
    if (rc == ZKR_OK) {
        *ret_token = fence->record.highest;
        leave(fence);
    }
    return rc;
}
