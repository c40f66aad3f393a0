/* SPDX-License-Identifier: Apache-2.0 */
/* The list of participants in a lock: sends a sync, a list, a read of the ACL
 * if wanted, and a read of each node, or of the first ones. Of a semaphore it
 * lists both directories, too. */
#include <zkrecipes/participants.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/output.h"
#include "base/path.h"
#include "inspect/listed.h"
#include "inspect/roster.h"
#include "lock/lock.h"
#include "session/call.h"
#include "session/session.h"

#define DEFAULT_LIMIT 10000
/* The number of nodes that are read at once. */
#define READERS 128

struct reader {
    struct zkr__ask ask;
    char *path;
    struct zkr_participant *item;
};

struct listing {
    struct zkr__call call; /* first: see call.h */
    size_t limit;
    size_t reads;
    uint32_t flags;
    struct zkr__ask ask; /* the sync, then the lists, then the ACL */
    enum zkr__part part; /* that is listed */
    char *dir;           /* ... below the path; NULL: the path itself */
    struct zkr__listed *list;
    size_t next;    /* item to be read */
    size_t missing; /* items before it that have gone */
    size_t reading;
    struct reader readers[READERS];
};

static void clear_listing(struct zkr__call *call)
{
    struct listing *l = ZKR__CONTAINER(call, struct listing, call);

    for (size_t i = 0; i < READERS; i++)
        free(l->readers[i].path);
    free(l->dir);
    zkr__listed_free(l->list);
}

static const struct zkr__call_type type = {
    .noun = "participants",
    .size = sizeof(struct listing),
    .clear = clear_listing,
};

static struct listing *new_listing(struct zkr_session *s, const char *path,
                                   const struct zkr_participants_opts *opts)
{
    struct listing *l = zkr__call_new(&type, s, path, opts->timeout_ms);

    if (l == NULL)
        return NULL;
    zkr__ask_init(&l->ask, &l->call);
    for (size_t i = 0; i < READERS; i++)
        zkr__ask_init(&l->readers[i].ask, &l->call);
    l->limit = opts->limit;
    l->reads = opts->reads;
    l->flags = opts->flags;
    l->list = calloc(1, sizeof(*l->list));
    if (l->list == NULL) {
        (void)zkr__fail(ZKR_ENOMEM, "%s: out of memory", type.noun);
        zkr__call_unref(&l->call);
        return NULL;
    }
    return l;
}

/* The names are only copied here: sorting can take long, so the caller's thread
 * does it. Those of a directory below the path begin with its name. */
static const char **copy_names(const char *const *names, size_t count,
                               enum zkr__part part)
{
    const char *dir = zkr__part_dirs[part];
    const char *slash = dir[0] == '\0' ? "" : "/";
    size_t size = (count + 1) * sizeof(*names);
    const char **copy;
    char *text;

    for (size_t i = 0; i < count; i++)
        size += strlen(dir) + strlen(slash) + strlen(names[i]) + 1;
    copy = malloc(size);
    if (copy == NULL)
        return NULL;
    text = (char *)(copy + count + 1);
    for (size_t i = 0; i < count; i++) {
        copy[i] = text;
        text = stpcpy(stpcpy(stpcpy(text, dir), slash), names[i]) + 1;
    }
    return copy;
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
    struct listing *l = ZKR__CONTAINER(ask, struct listing, ask);
    struct zkr__listed_names *names = &l->list->names[l->part];

    zkr__session_assert_locked(ask->call->session);
    if (can_do_without(l, reply->rc)) {
        zkr__call_end_locked(&l->call, ZKR_OK, "");
        return;
    }
    if (reply->rc != ZKR_OK) {
        zkr__call_end_locked(&l->call, reply->rc, "cannot list the directory");
        return;
    }
    for (size_t i = 0; i < reply->name_count; i++)
        zkr__part_count(&names->count, l->part, reply->names[i]);
    names->count.exists = true;
    names->all = copy_names(reply->names, reply->name_count, l->part);
    zkr__call_end_locked(&l->call, names->all == NULL ? ZKR_ENOMEM : ZKR_OK,
                         "out of memory");
}

static void caught_up(struct zkr__ask *ask)
{
    struct listing *l = ZKR__CONTAINER(ask, struct listing, ask);

    zkr__session_assert_locked(ask->call->session);
    zkr__call_ask_locked(ask, ZKR__ZK_CHILDREN,
                         l->dir == NULL ? ask->call->full_path : l->dir,
                         on_children);
}

static void list_locked(struct zkr__call *call) ZKR__LOCKED
{
    struct listing *l = ZKR__CONTAINER(call, struct listing, call);

    zkr__session_assert_locked(call->session);
    zkr__call_sync_locked(&l->ask, caught_up);
}

static bool take(struct zkr_participant *p, const struct zkr__zk_reply *reply)
{
    p->full_size = reply->data_len;
    p->token = reply->stat.czxid;
    p->session_id = reply->stat.ephemeral_owner;
    p->since_ms = reply->stat.ctime_ms;
    return zkr__listed_copy_data(p, reply->data, reply->data_len);
}

/* Tells whether the answer is about the node: it comes neither from the
 * connection nor from the library. */
static bool is_of_the_node(int rc)
{
    return rc != ZKR_ENOMEM && zkr__error_outcome(rc) == ZKR__DONE;
}

static void read_next_locked(struct listing *l, struct reader *r) ZKR__LOCKED;

static void on_read(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct reader *r = ZKR__CONTAINER(ask, struct reader, ask);
    struct listing *l = ZKR__CONTAINER(ask->call, struct listing, call);

    zkr__session_assert_locked(ask->call->session);
    l->reading--;
    if (!is_of_the_node(reply->rc)) {
        zkr__call_end_locked(&l->call, reply->rc, "cannot read the nodes");
        return;
    }
    r->item->error = reply->rc;
    l->missing += reply->rc == ZKR_ZNONODE;
    if (reply->rc == ZKR_OK && !take(r->item, reply))
        zkr__call_end_locked(&l->call, ZKR_ENOMEM, "out of memory");
    else
        read_next_locked(l, r);
}

/* Among nodes of one number the sessions decide which one holds, so all of them
 * are read, or none. */
static bool is_enough(const struct listing *l)
{
    const struct zkr_participant *items = l->list->items;

    if (l->next == l->list->count)
        return true;
    return l->next - l->missing >= l->reads &&
           (items[l->next].kind == ZKR_PARTICIPANT_FOREIGN ||
            items[l->next].sequence != items[l->next - 1].sequence);
}

static void read_next_locked(struct listing *l, struct reader *r) ZKR__LOCKED
{
    free(r->path);
    r->path = NULL;
    if (is_enough(l)) {
        if (l->reading == 0)
            zkr__call_end_locked(&l->call, ZKR_OK, "");
        return;
    }
    r->item = &l->list->items[l->next++];
    r->path = zkr__path_join(l->call.full_path, r->item->name);
    if (r->path == NULL) {
        zkr__call_end_locked(&l->call, ZKR_ENOMEM, "out of memory");
        return;
    }
    l->reading++;
    zkr__call_ask_locked(&r->ask, ZKR__ZK_GET, r->path, on_read);
}

static void on_acl(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct listing *l = ZKR__CONTAINER(ask, struct listing, ask);

    zkr__session_assert_locked(ask->call->session);
    l->list->public.anyone = (uint32_t)reply->anyone;
    l->list->public.acl_error = reply->rc;
    if (is_of_the_node(reply->rc))
        zkr__call_end_locked(&l->call, ZKR_OK, "");
    else
        zkr__call_end_locked(&l->call, reply->rc, "cannot read the ACL");
}

static void ask_for_acl_locked(struct zkr__call *call) ZKR__LOCKED
{
    struct listing *l = ZKR__CONTAINER(call, struct listing, call);

    zkr__session_assert_locked(call->session);
    zkr__call_ask_locked(&l->ask, ZKR__ZK_GET_ACL, call->full_path, on_acl);
}

static void read_nodes_locked(struct zkr__call *call) ZKR__LOCKED
{
    struct listing *l = ZKR__CONTAINER(call, struct listing, call);

    zkr__session_assert_locked(call->session);
    for (size_t i = 0; i < READERS; i++)
        read_next_locked(l, &l->readers[i]);
}

static void list_dir_locked(struct zkr__call *call) ZKR__LOCKED
{
    struct listing *l = ZKR__CONTAINER(call, struct listing, call);

    zkr__session_assert_locked(call->session);
    caught_up(&l->ask);
}

static int out_of_memory(void)
{
    return zkr__fail(ZKR_ENOMEM, "%s: out of memory", type.noun);
}

static bool has_dir(const struct zkr__listed *list, enum zkr__part part)
{
    const struct zkr__listed_names *names = &list->names[ZKR__PART_PATH];

    for (size_t i = 0; i < names->count.children; i++) {
        if (zkr__part_of_dir(names->all[i]) == part)
            return true;
    }
    return false;
}

static int list_dir(struct listing *l, enum zkr__part part)
{
    if (!has_dir(l->list, part))
        return ZKR_OK;
    free(l->dir);
    l->dir = zkr__path_join(l->call.full_path, zkr__part_dirs[part]);
    if (l->dir == NULL)
        return out_of_memory();
    l->part = part;
    return zkr__call_run(&l->call, list_dir_locked);
}

/* A claim leaves the queue after it has made its lease. So the queue is listed
 * first: then no claim is missed. */
static int list_dirs(struct listing *l)
{
    struct zkr__listed *list = l->list;
    int rc;

    if (!has_dir(list, ZKR__PART_LEASES))
        return ZKR_OK;
    rc = list_dir(l, ZKR__PART_QUEUE);
    if (rc == ZKR_OK)
        rc = list_dir(l, ZKR__PART_LEASES);
    list->public.semaphore =
        rc == ZKR_OK && zkr__is_semaphore(&list->names[ZKR__PART_LEASES].count,
                                          &list->names[ZKR__PART_QUEUE].count);
    return rc;
}

/* The names of a semaphore are those of its parts, without the directories. */
static size_t gather(const struct zkr__listed *list, const char **all)
{
    size_t n = 0;

    for (size_t part = 0; part < ZKR__PARTS; part++) {
        const struct zkr__listed_names *names = &list->names[part];

        for (size_t i = 0; i < names->count.children; i++) {
            if (part != ZKR__PART_PATH ||
                zkr__part_of_dir(names->all[i]) == ZKR__PART_PATH)
                all[n++] = names->all[i];
        }
    }
    return n;
}

static int arrange_names(struct listing *l, const char *const *names,
                         size_t count)
{
    struct zkr__listed *list = l->list;
    size_t least;

    list->public.total = count;
    if (zkr__roster_new(names, count, l->limit, &list->items, &list->count) !=
        ZKR_OK)
        return out_of_memory();
    for (size_t i = 0; i < list->count; i++)
        list->items[i].data = "";
    zkr__roster_settle(list->items, list->count);
    least = zkr__roster_least(list->items, list->count, l->flags);
    if (l->reads < least)
        l->reads = least;
    return ZKR_OK;
}

/* Puts them in the order of the queue, still unread. */
static int arrange(struct listing *l)
{
    const struct zkr__listed_names *names = l->list->names;
    size_t most = 1;
    const char **all;
    int rc;

    if (!l->list->public.semaphore)
        return arrange_names(l, names->all, names->count.children);
    for (size_t part = 0; part < ZKR__PARTS; part++)
        most += names[part].count.children;
    all = calloc(most, sizeof(*all));
    if (all == NULL)
        return out_of_memory();
    rc = arrange_names(l, all, gather(l->list, all));
    free(all);
    return rc;
}

static int run(struct listing *l)
{
    int rc = zkr__call_run(&l->call, list_locked);

    if (rc == ZKR_OK)
        rc = list_dirs(l);
    if (rc == ZKR_OK)
        rc = arrange(l);
    if (rc == ZKR_OK && (l->flags & ZKR_PARTICIPANTS_ACL) != 0)
        rc = zkr__call_run(&l->call, ask_for_acl_locked);
    return rc == ZKR_OK ? zkr__call_run(&l->call, read_nodes_locked) : rc;
}

/* A node that has gone since the directory was listed is not in the queue any
 * more. */
static struct zkr_participants *finish(struct listing *l)
{
    struct zkr__listed *list = l->list;
    size_t n = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].error != ZKR_ZNONODE)
            list->items[n++] = list->items[i];
    }
    list->count = n;
    zkr__roster_settle(list->items, n);
    list->public.items = list->items;
    list->public.count = n;
    l->list = NULL;
    return &list->public;
}

static int load_opts(struct zkr_participants_opts *o,
                     const struct zkr_participants_opts *opts)
{
    int rc =
        zkr__opts_load(o, sizeof(*o), sizeof(*o), opts, "participants options");

    if (rc != ZKR_OK)
        return rc;
    if ((o->flags &
         ~(uint32_t)(ZKR_PARTICIPANTS_ACL | ZKR_PARTICIPANTS_HOLDERS |
                     ZKR_PARTICIPANTS_NEXT)) != 0)
        return zkr__fail(ZKR_EINVAL, "%s: unknown flags 0x%x", type.noun,
                         (unsigned)o->flags);
    if (o->reserved != 0)
        return zkr__fail(ZKR_EINVAL, "%s: reserved is not 0", type.noun);
    if (o->limit == 0)
        o->limit = DEFAULT_LIMIT;
    if (o->reads == 0)
        o->reads = UINT32_MAX;
    return ZKR_OK;
}

enum zkr_error zkr_participants_list(zkr_session *session, const char *path,
                                     const struct zkr_participants_opts *opts,
                                     struct zkr_participants **ret_list)
{
    struct zkr_participants_opts o;
    struct listing *l;
    int rc = ZKR__OUTPUT(ret_list);

    if (rc == ZKR_OK)
        rc = zkr__session_check(session, "session");
    if (rc == ZKR_OK)
        rc = zkr__lock_check_path(session, type.noun, path);
    if (rc == ZKR_OK)
        rc = load_opts(&o, opts);
    if (rc != ZKR_OK)
        return rc;
    l = new_listing(session, path, &o);
    if (l == NULL)
        return ZKR_ENOMEM;
    rc = run(l);
    if (rc == ZKR_OK)
        *ret_list = finish(l);
    zkr__call_unref(&l->call);
    return rc;
}
