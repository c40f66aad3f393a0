/* SPDX-License-Identifier: Apache-2.0 */
/* The list of participants in a lock: sends a sync, a list, a read of the ACL
 * if wanted, and a read of each node, or of the first ones. Of a semaphore it
 * lists both directories, too. */
#include <zkrecipes/participants.h>

#include <stdlib.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/path.h"
#include "inspect/listed.h"
#include "inspect/reader.h"
#include "lock/lock.h"
#include "request/request.h"
#include "session/session.h"

struct listing {
    struct zkr__request request;
    struct zkr_participants_opts opts;
    enum zkr__part part; /* that is listed */
    char *dir;           /* of that part; NULL: the path itself */
    struct zkr__listed *list;
    struct zkr__readers readers;
};

static struct listing *of(struct zkr__request *r)
{
    return ZKR__CONTAINER(r, struct listing, request);
}

static void clear(struct zkr__request *r)
{
    struct listing *l = of(r);

    zkr__readers_done(&l->readers);
    free(l->dir);
    zkr__listed_free(l->list);
}

static const struct zkr__request_kind kind = {
    .noun = "participants",
    .size = sizeof(struct listing),
    .clear = clear,
};

static int out_of_memory(void)
{
    return zkr__no_memory(kind.noun, NULL);
}

static struct listing *new_listing(struct zkr_session *s, const char *path,
                                   const struct zkr_participants_opts *opts)
{
    struct listing *l = zkr__request_new(
        &kind, s, path, zkr__session_deadline(s, opts->timeout_ms),
        ZKR_ZOPERATIONTIMEOUT);

    if (l == NULL)
        return NULL;
    zkr__readers_init(&l->readers, &l->request);
    l->opts = *opts;
    l->list = zkr__listed_new(l->request.full_path);
    if (l->list == NULL) {
        (void)out_of_memory();
        zkr__request_unref(&l->request);
        return NULL;
    }
    return l;
}

/* The directory of a part need not exist. Where nobody may read it, a lock that
 * is in the path itself can still be listed. */
static bool can_do_without(const struct listing *l, int rc)
{
    return l->part != ZKR__PART_PATH &&
           (rc == ZKR_ZNONODE ||
            (rc == ZKR_ZNOAUTH &&
             l->list->names[ZKR__PART_PATH].count.fitting > 0));
}

static void on_children(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct zkr__request *r = ask->request;
    struct listing *l = of(r);

    zkr__session_assert_locked(r->session);
    if (can_do_without(l, reply->rc))
        zkr__request_end_locked(r, ZKR_OK, "");
    else if (reply->rc != ZKR_OK)
        zkr__request_end_locked(r, reply->rc, "cannot list the directory");
    else if (zkr__listed_take_names(l->list, l->part, reply->names,
                                    reply->name_count))
        zkr__request_end_locked(r, ZKR_OK, "");
    else
        zkr__request_end_locked(r, ZKR_ENOMEM, "out of memory");
}

static void list_locked(struct zkr__request *r)
{
    const char *dir = of(r)->dir;

    zkr__session_assert_locked(r->session);
    zkr__ask_locked(&r->ask, ZKR__ZK_CHILDREN, dir == NULL ? r->full_path : dir,
                    ZKR__RETRY_POLICY, on_children);
}

static void begin_locked(struct zkr__request *r)
{
    zkr__session_assert_locked(r->session);
    zkr__request_sync_locked(r, list_locked);
}

static void read_nodes_locked(struct zkr__request *r)
{
    zkr__session_assert_locked(r->session);
    zkr__readers_start_locked(&of(r)->readers);
}

static int list_dir(struct listing *l, enum zkr__part part)
{
    if (!zkr__listed_has_dir(l->list, part))
        return ZKR_OK;
    free(l->dir);
    l->dir = zkr__path_join(l->request.full_path, zkr__part_dirs[part]);
    if (l->dir == NULL)
        return out_of_memory();
    l->part = part;
    return zkr__request_run(&l->request, list_locked);
}

/* A claim leaves the queue after it has made its lease. So the queue is listed
 * first: then no claim is missed. */
static int list_dirs(struct listing *l)
{
    struct zkr__listed *list = l->list;
    int rc;

    if (!zkr__listed_has_dir(list, ZKR__PART_LEASES))
        return ZKR_OK;
    rc = list_dir(l, ZKR__PART_QUEUE);
    if (rc == ZKR_OK)
        rc = list_dir(l, ZKR__PART_LEASES);
    list->public.semaphore =
        rc == ZKR_OK && zkr__is_semaphore(&list->names[ZKR__PART_LEASES].count,
                                          &list->names[ZKR__PART_QUEUE].count);
    return rc;
}

static int read_nodes(struct listing *l)
{
    if (zkr__listed_arrange(l->list, &l->opts) != ZKR_OK)
        return out_of_memory();
    zkr__readers_add(&l->readers, l->list);
    return zkr__request_run(&l->request, read_nodes_locked);
}

static int run(struct listing *l)
{
    int rc = zkr__request_run(&l->request, begin_locked);

    if (rc == ZKR_OK)
        rc = list_dirs(l);
    return rc == ZKR_OK ? read_nodes(l) : rc;
}

int zkr_participants_list(zkr_session *session, const char *path,
                          const struct zkr_participants_opts *opts,
                          struct zkr_participants **ret_list)
{
    struct zkr_participants_opts o;
    struct listing *l;
    int rc = ZKR__OUTPUT(ret_list);

    if (rc == ZKR_OK)
        rc = zkr__session_check(session, "session");
    if (rc == ZKR_OK)
        rc = zkr__lock_check_path(session, kind.noun, path);
    if (rc == ZKR_OK)
        rc = zkr__listed_opts(&o, opts);
    if (rc != ZKR_OK)
        return rc;
    l = new_listing(session, path, &o);
    if (l == NULL)
        return ZKR_ENOMEM;
    rc = run(l);
    if (rc == ZKR_OK) {
        *ret_list = zkr__listed_finish(l->list);
        l->list = NULL;
    }
    zkr__request_unref(&l->request);
    return rc;
}
