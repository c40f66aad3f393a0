/* SPDX-License-Identifier: Apache-2.0 */
/* The list of participants in a lock: sends a sync, a list, a read of the ACL
 * if wanted, and a read of each node, or of the first ones, many at once. Of a
 * semaphore it lists both directories, too. */
#include <zkrecipes/participants.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/path.h"
#include "lock/lock.h"
#include "protocol/node_name.h"
#include "protocol/parts.h"
#include "protocol/roster.h"
#include "request/client.h"
#include "session/session.h"

#define DEFAULT_LIMIT 10000

/* The number of nodes that are read at once. */
#define ASKS 128

struct node_ask {
    struct zkr__ask ask;
    struct zkr_participant *item;
    char *path;
};

struct listing {
    struct zkr__request request;
    struct zkr_participants_opts opts;
    struct zkr_reply *children[ZKR__PARTS]; /* NULL: it was not listed */
    struct zkr__roster *roster; /* the data of its items is memory of its own */
    size_t reads;     /* so many nodes, from the first on, that exist */
    size_t next;      /* item to be read */
    size_t missing;   /* items before it that have gone */
    size_t under_way; /* asks under way */
    struct node_ask asks[ASKS];
};

static struct listing *of(struct zkr__request *r)
{
    return ZKR__CONTAINER(r, struct listing, request);
}

static void clear(struct zkr__request *r)
{
    struct listing *l = of(r);

    for (size_t i = 0; i < ASKS; i++)
        free(l->asks[i].path);
    for (size_t i = 0; l->roster != NULL && i < l->roster->public.count; i++) {
        if (l->roster->items[i].data_size > 0)
            free((void *)(uintptr_t)l->roster->items[i].data);
    }
    free(l->roster);
    for (size_t part = 0; part < ZKR__PARTS; part++)
        zkr_reply_free(l->children[part]);
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

/* -- the directories ------------------------------------------------------- */

static bool has_contenders(const struct zkr_reply *path)
{
    for (size_t i = 0; i < path->count; i++) {
        if (zkr__node_name_contends(path->names[i], ZKR__ALL_MARKERS))
            return true;
    }
    return false;
}

/* The directory of a part need not exist. Where nobody may read it, a lock that
 * is in the path itself can still be listed. */
static bool can_do_without(const struct listing *l, enum zkr__part part, int rc)
{
    return part != ZKR__PART_PATH &&
           (rc == ZKR_ZNONODE ||
            (rc == ZKR_ZNOAUTH && has_contenders(l->children[ZKR__PART_PATH])));
}

static bool has_dir(const struct listing *l, enum zkr__part part)
{
    const struct zkr_reply *path = l->children[ZKR__PART_PATH];

    for (size_t i = 0; i < path->count; i++) {
        if (zkr__part_of_dir(path->names[i]) == part)
            return true;
    }
    return false;
}

static int list_dir(struct listing *l, enum zkr__part part)
{
    const char *path = l->request.path;
    char *dir = part == ZKR__PART_PATH
                    ? strdup(path)
                    : zkr__path_join(path, zkr__part_dirs[part]);

    if (dir == NULL)
        return out_of_memory();
    int rc = zkr__session_ask(l->request.session,
                              ZKR__ASKS(.type = ZKR__ZK_CHILDREN, .path = dir),
                              NULL, l->request.deadline, &l->children[part]);
    free(dir);
    return can_do_without(l, part, rc) ? ZKR_OK : rc;
}

/* A claim leaves the queue after it has made its lease. So the queue is listed
 * first: then no claim is missed. */
static int list_dirs(struct listing *l)
{
    int rc = list_dir(l, ZKR__PART_PATH);

    if (rc != ZKR_OK || !has_dir(l, ZKR__PART_LEASES))
        return rc;
    if (has_dir(l, ZKR__PART_QUEUE))
        rc = list_dir(l, ZKR__PART_QUEUE);
    return rc == ZKR_OK ? list_dir(l, ZKR__PART_LEASES) : rc;
}

/* -- the order ------------------------------------------------------------- */

static bool is_semaphore(const struct listing *l)
{
    struct zkr__part_count counts[ZKR__PARTS] = { { .exists = false } };

    for (enum zkr__part part = 0; part < ZKR__PARTS; part++) {
        const struct zkr_reply *all = l->children[part];

        counts[part].exists = all != NULL;
        for (size_t i = 0; all != NULL && i < all->count; i++)
            zkr__part_count(&counts[part], part, all->names[i]);
    }
    return zkr__is_semaphore(&counts[ZKR__PART_LEASES],
                             &counts[ZKR__PART_QUEUE]);
}

/* Adds the nodes of one part, whose names begin with its directory. */
static bool gather(const struct listing *l, enum zkr__part part,
                   struct zkr_participant *nodes, size_t *count)
{
    const struct zkr_reply *all = l->children[part];

    for (size_t i = 0; all != NULL && i < all->count; i++) {
        char *name = part == ZKR__PART_PATH
                         ? strdup(all->names[i])
                         : zkr__path_join(zkr__part_dirs[part], all->names[i]);

        if (name == NULL)
            return false;
        nodes[(*count)++].name = name;
    }
    return true;
}

/* Puts the nodes in the order of the queue, still unread, and decides how many
 * are read. */
static int arrange(struct listing *l)
{
    size_t most = 1;
    size_t n = 0;
    bool all = true;

    for (size_t part = 0; part < ZKR__PARTS; part++)
        most += l->children[part] == NULL ? 0 : l->children[part]->count;
    struct zkr_participant *nodes = calloc(most, sizeof(*nodes));
    for (enum zkr__part part = 0; nodes != NULL && part < ZKR__PARTS; part++)
        all = all && gather(l, part, nodes, &n);
    if (nodes != NULL && all)
        l->roster = zkr__roster_build(nodes, n, is_semaphore(l));
    while (n > 0)
        free((void *)(uintptr_t)nodes[--n].name);
    free(nodes);
    if (l->roster == NULL)
        return out_of_memory();
    struct zkr_participants *list = &l->roster->public;
    if (list->count > l->opts.limit)
        list->count = l->opts.limit;
    zkr__roster_settle(l->roster->items, list->count);
    l->reads = zkr__roster_least(list->items, list->count, l->opts.flags);
    if (l->reads < l->opts.reads)
        l->reads = l->opts.reads;
    return ZKR_OK;
}

/* -- the nodes ------------------------------------------------------------- */

/* Among nodes of one number the sessions decide which one holds, so all of them
 * are read, or none. */
static bool is_enough(const struct listing *l)
{
    const struct zkr_participant *items = l->roster->items;

    if (l->next == l->roster->public.count)
        return true;
    return l->next - l->missing >= l->reads &&
           (items[l->next].kind == ZKR_PARTICIPANT_FOREIGN ||
            items[l->next].sequence != items[l->next - 1].sequence);
}

static void read_next_locked(struct node_ask *r) ZKR__LOCKED;

/* An answer has come. With it, a list of which enough is being read may want
 * more, because some of that has gone. */
static void answered_locked(struct listing *l, struct node_ask *r) ZKR__LOCKED
{
    l->under_way--;
    if (r != NULL)
        read_next_locked(r);
    if (l->under_way == 0 && is_enough(l))
        zkr__request_end_locked(&l->request, ZKR_OK, "");
}

/* The answer is about the node, and comes neither from the connection nor from
 * the library. */
static bool is_of_the_node(int rc)
{
    return rc != ZKR_ENOMEM && zkr__error_outcome(rc) == ZKR__DONE;
}

static bool take(struct zkr_participant *p, const struct zkr__zk_reply *reply)
{
    size_t size = reply->data_len < ZKR_PARTICIPANT_DATA_MAX
                      ? reply->data_len
                      : ZKR_PARTICIPANT_DATA_MAX;
    char *copy = size == 0 ? NULL : malloc(size);

    p->full_size = reply->data_len;
    p->token = reply->stat.czxid;
    p->session_id = reply->stat.ephemeral_owner;
    p->since_ms = reply->stat.ctime_ms;
    if (copy == NULL)
        return size == 0;
    p->data = memcpy(copy, reply->data, size);
    p->data_size = size;
    return true;
}

static void on_read(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct node_ask *r = ZKR__CONTAINER(ask, struct node_ask, ask);
    struct listing *l = of(ask->request);

    zkr__session_assert_locked(l->request.session);
    if (!is_of_the_node(reply->rc)) {
        zkr__request_end_locked(&l->request, reply->rc,
                                "cannot read the nodes");
        return;
    }
    r->item->error = reply->rc;
    l->missing += reply->rc == ZKR_ZNONODE;
    if (reply->rc == ZKR_OK && !take(r->item, reply))
        zkr__request_end_locked(&l->request, ZKR_ENOMEM, "out of memory");
    else
        answered_locked(l, r);
}

static void on_acl(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct listing *l = of(ask->request);

    zkr__session_assert_locked(l->request.session);
    l->roster->public.anyone = (uint32_t)reply->anyone;
    l->roster->public.acl_error = reply->rc;
    if (is_of_the_node(reply->rc))
        answered_locked(l, NULL);
    else
        zkr__request_end_locked(&l->request, reply->rc, "cannot read the ACL");
}

static void read_next_locked(struct node_ask *r)
{
    struct listing *l = of(r->ask.request);

    free(r->path);
    r->path = NULL;
    if (is_enough(l))
        return;
    l->under_way++;
    r->item = &l->roster->items[l->next++];
    r->path = zkr__path_join(l->request.full_path, r->item->name);
    if (r->path == NULL)
        zkr__request_end_locked(&l->request, ZKR_ENOMEM, "out of memory");
    else
        zkr__ask_locked(&r->ask, ZKR__ZK_GET, r->path, ZKR__RETRY_POLICY,
                        on_read);
}

static void read_nodes_locked(struct zkr__request *r)
{
    struct listing *l = of(r);

    zkr__session_assert_locked(r->session);
    l->under_way = 1;
    if ((l->opts.flags & ZKR_PARTICIPANTS_ACL) != 0) {
        l->under_way++;
        zkr__ask_locked(&r->ask, ZKR__ZK_GET_ACL, r->full_path,
                        ZKR__RETRY_POLICY, on_acl);
    }
    for (size_t i = 0; i < ASKS; i++)
        read_next_locked(&l->asks[i]);
    answered_locked(l, NULL);
}

/* -- the call -------------------------------------------------------------- */

/* A node that has gone since the directory was listed is not in the queue any
 * more. */
static struct zkr_participants *finish(struct listing *l)
{
    struct zkr__roster *from = l->roster;
    size_t n = 0;

    for (size_t i = 0; i < from->public.count; i++) {
        if (from->items[i].error != ZKR_ZNONODE)
            from->items[n++] = from->items[i];
    }
    from->public.count = n;
    struct zkr__roster *made =
        zkr__roster_build(from->items, n, from->public.semaphore);
    if (made == NULL) {
        (void)out_of_memory();
        return NULL;
    }
    made->public = from->public;
    made->public.items = made->items;
    zkr__roster_settle(made->items, n);
    return &made->public;
}

static int load(struct zkr_participants_opts *o,
                const struct zkr_participants_opts *opts)
{
    const uint32_t known =
        ZKR_PARTICIPANTS_ACL | ZKR_PARTICIPANTS_HOLDERS | ZKR_PARTICIPANTS_NEXT;
    int rc =
        zkr__opts_load(o, sizeof(*o), sizeof(*o), opts, "participants options");

    if (rc != ZKR_OK)
        return rc;
    if (((uint32_t)o->flags & ~known) != 0)
        return zkr__fail(ZKR_EINVAL, "participants: unknown flags 0x%x",
                         (unsigned)o->flags);
    if (o->reserved != 0)
        return zkr__fail(ZKR_EINVAL, "participants: reserved is not 0");
    if (o->limit == 0)
        o->limit = DEFAULT_LIMIT;
    if (o->reads == 0)
        o->reads = UINT32_MAX;
    return ZKR_OK;
}

static int run(struct listing *l, struct zkr_participants **ret_list)
{
    int rc = zkr__session_catch_up(l->request.session, kind.noun,
                                   l->request.path, l->request.deadline);

    if (rc == ZKR_OK)
        rc = list_dirs(l);
    if (rc == ZKR_OK)
        rc = arrange(l);
    if (rc == ZKR_OK)
        rc = zkr__request_run(&l->request, read_nodes_locked);
    if (rc == ZKR_OK)
        *ret_list = finish(l);
    return rc == ZKR_OK && *ret_list == NULL ? ZKR_ENOMEM : rc;
}

int zkr_participants_list(zkr_session *session, const char *path,
                          const struct zkr_participants_opts *opts,
                          struct zkr_participants **ret_list)
{
    struct zkr_participants_opts o;
    int rc = ZKR__OUTPUT(ret_list);

    if (rc == ZKR_OK)
        rc = zkr__session_check(session, "session");
    if (rc == ZKR_OK)
        rc = zkr__lock_check_path(session, kind.noun, path);
    if (rc == ZKR_OK)
        rc = load(&o, opts);
    if (rc != ZKR_OK)
        return rc;
    struct listing *l = zkr__request_new(
        &kind, session, path, zkr__session_deadline(session, o.timeout_ms));
    if (l == NULL)
        return ZKR_ENOMEM;
    l->opts = o;
    for (size_t i = 0; i < ASKS; i++)
        zkr__ask_init(&l->asks[i].ask, &l->request);
    rc = run(l, ret_list);
    zkr__request_unref(&l->request);
    return rc;
}

void zkr_participants_free(struct zkr_participants *list)
{
    free(list); /* one block: protocol/roster.h */
}
