/* Listing who takes part in a lock: sync, list, the ACL if wanted, and a look
 * at each node, or at the first of them. */
#include <zkrecipes/participants.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/path.h"
#include "inspect/roster.h"
#include "lock/lock.h"
#include "session/call.h"
#include "session/session.h"

static const char noun[] = "participants";

#define DEFAULT_LIMIT 10000
/* How many nodes are read at once. */
#define READERS 128

/* What the user gets, with what it consists of. */
struct list {
    struct zkr_participants public;
    struct zkr_participant *items;
    size_t count;
    const char **names; /* one block, texts included */
};

struct reader {
    struct zkr__ask ask;
    char *path;
    struct zkr_participant *item;
};

struct listing {
    struct zkr__call call; /* first: see call.h */
    char *path;
    char *dir; /* with the chroot */
    size_t limit;
    size_t reads;
    uint32_t flags;
    struct zkr__ask ask; /* the sync, then the list, then the ACL */
    struct list *list;
    size_t next;    /* item to be read */
    size_t missing; /* items before it that have gone */
    size_t reading;
    struct reader readers[READERS];
};

static void free_list(struct list *list)
{
    if (list == NULL)
        return;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].data_size > 0)
            free((void *)(uintptr_t)list->items[i].data);
    }
    free(list->items);
    free(list->names);
    free(list);
}

static void free_listing(struct zkr__call *call)
{
    struct listing *l = ZKR__CONTAINER(call, struct listing, call);

    for (size_t i = 0; i < READERS; i++)
        free(l->readers[i].path);
    free_list(l->list);
    free(l->path);
    free(l->dir);
    free(l);
}

static struct listing *new_listing(struct zkr_session *s, const char *path,
                                   const struct zkr_participants_opts *opts)
{
    struct listing *l = calloc(1, sizeof(*l));

    if (l == NULL)
        return NULL;
    zkr__call_init(&l->call, s, free_listing);
    zkr__ask_init(&l->ask, &l->call);
    for (size_t i = 0; i < READERS; i++)
        zkr__ask_init(&l->readers[i].ask, &l->call);
    l->limit = opts->limit;
    l->reads = opts->reads;
    l->flags = opts->flags;
    l->path = strdup(path);
    l->dir = zkr__path_join(s->hosts.chroot, path + 1);
    l->list = calloc(1, sizeof(*l->list));
    if (l->path == NULL || l->dir == NULL || l->list == NULL) {
        zkr__call_unref(&l->call);
        return NULL;
    }
    l->call.noun = noun;
    l->call.path = l->path;
    return l;
}

/* Only copied here: sorting can take long, and is the caller's. */
static const char **copy_names(const char *const *names, size_t count)
{
    size_t size = (count + 1) * sizeof(*names);
    const char **copy;
    char *text;

    for (size_t i = 0; i < count; i++)
        size += strlen(names[i]) + 1;
    copy = malloc(size);
    if (copy == NULL)
        return NULL;
    text = (char *)(copy + count + 1);
    for (size_t i = 0; i < count; i++) {
        copy[i] = text;
        text = stpcpy(text, names[i]) + 1;
    }
    return copy;
}

static void on_children(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct listing *l = ZKR__CONTAINER(ask, struct listing, ask);

    if (reply->rc != ZKR_OK) {
        zkr__call_end_locked(&l->call, reply->rc, "cannot list the directory");
        return;
    }
    l->list->public.total = reply->name_count;
    l->list->names = copy_names(reply->names, reply->name_count);
    zkr__call_end_locked(&l->call, l->list->names == NULL ? ZKR_ENOMEM : ZKR_OK,
                         "out of memory");
}

static void on_sync(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct listing *l = ZKR__CONTAINER(ask, struct listing, ask);

    /* Sync of a missing directory succeeds on some servers, not on others. */
    if (reply->rc == ZKR_OK || reply->rc == ZKR__ZNONODE)
        zkr__call_ask_locked(ask, ZKR__ZK_CHILDREN, l->dir, on_children);
    else
        zkr__call_end_locked(&l->call, reply->rc, "cannot catch up");
}

static bool take(struct zkr_participant *p, const struct zkr__zk_reply *reply)
{
    size_t size = reply->data_len < ZKR_PARTICIPANT_DATA_MAX
                      ? reply->data_len
                      : ZKR_PARTICIPANT_DATA_MAX;

    if (size > 0) {
        char *data = malloc(size + 1);

        if (data == NULL)
            return false;
        memcpy(data, reply->data, size);
        data[size] = '\0';
        p->data = data;
    }
    p->data_size = size;
    p->full_size = reply->data_len;
    p->token = reply->czxid;
    p->session_id = reply->owner;
    p->since_ms = reply->ctime_ms;
    return true;
}

/* Not of the connection, nor of ourselves. */
static bool is_of_the_node(int rc)
{
    return rc != ZKR_ENOMEM && zkr__error_outcome(rc) == ZKR__DONE;
}

static void read_next_locked(struct listing *l, struct reader *r);

static void on_read(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct reader *r = ZKR__CONTAINER(ask, struct reader, ask);
    struct listing *l = ZKR__CONTAINER(ask->call, struct listing, call);

    l->reading--;
    if (!is_of_the_node(reply->rc)) {
        zkr__call_end_locked(&l->call, reply->rc, "cannot read the nodes");
        return;
    }
    r->item->error = reply->rc;
    l->missing += reply->rc == ZKR__ZNONODE;
    if (reply->rc == ZKR_OK && !take(r->item, reply))
        zkr__call_end_locked(&l->call, ZKR_ENOMEM, "out of memory");
    else
        read_next_locked(l, r);
}

/* Who holds among those of one number depends on whose they are: all of them
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

static void read_next_locked(struct listing *l, struct reader *r)
{
    free(r->path);
    r->path = NULL;
    if (is_enough(l)) {
        if (l->reading == 0)
            zkr__call_end_locked(&l->call, ZKR_OK, "");
        return;
    }
    r->item = &l->list->items[l->next++];
    r->path = zkr__path_join(l->dir, r->item->name);
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

    l->list->public.anyone = (uint32_t)reply->anyone;
    l->list->public.acl_error = reply->rc;
    if (is_of_the_node(reply->rc))
        zkr__call_end_locked(&l->call, ZKR_OK, "");
    else
        zkr__call_end_locked(&l->call, reply->rc, "cannot read the ACL");
}

static int read_nodes_unlocks(struct listing *l)
{
    for (size_t i = 0; i < READERS; i++)
        read_next_locked(l, &l->readers[i]);
    return zkr__call_wait_unlocks(&l->call);
}

/* In the order of the queue, still unread. */
static int arrange(struct listing *l)
{
    struct list *list = l->list;
    int rc = zkr__roster_new(list->names, list->public.total, l->limit,
                             &list->items, &list->count);

    if (rc != ZKR_OK)
        return zkr__fail(rc, "%s: out of memory", noun);
    for (size_t i = 0; i < list->count; i++)
        list->items[i].data = "";
    return ZKR_OK;
}

static int list_unlocks(struct listing *l, int64_t deadline)
{
    struct zkr__mtx *lock = &l->call.session->lock;
    int rc = zkr__call_begin_locked(&l->call, deadline);

    if (rc != ZKR_OK)
        return rc;
    zkr__call_ask_locked(&l->ask, ZKR__ZK_SYNC, l->dir, on_sync);
    rc = zkr__call_wait_unlocks(&l->call);
    if (rc != ZKR_OK)
        return rc;
    zkr__mtx_unlock(lock);
    rc = arrange(l);
    zkr__mtx_lock(lock);
    if (rc == ZKR_OK && (l->flags & ZKR_PARTICIPANTS_ACL) != 0) {
        zkr__call_ask_locked(&l->ask, ZKR__ZK_GET_ACL, l->dir, on_acl);
        rc = zkr__call_wait_unlocks(&l->call);
    }
    return rc == ZKR_OK ? read_nodes_unlocks(l) : rc;
}

/* Who has gone since the directory was listed is not in the queue any more. */
static struct zkr_participants *finish(struct listing *l)
{
    struct list *list = l->list;
    size_t n = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].error != ZKR__ZNONODE)
            list->items[n++] = list->items[i];
    }
    list->count = n;
    zkr__roster_settle(list->items, n);
    list->public.items = list->items;
    list->public.count = n;
    l->list = NULL;
    return &list->public;
}

static int load_opts(const struct zkr_session *s,
                     struct zkr_participants_opts *o,
                     const struct zkr_participants_opts *opts)
{
    int rc =
        zkr__opts_load(o, sizeof(*o), sizeof(*o), opts, "participants options");

    if (rc != ZKR_OK)
        return rc;
    if ((o->flags & ~(uint32_t)ZKR_PARTICIPANTS_ACL) != 0)
        return zkr__fail(ZKR_EINVAL, "%s: unknown flags 0x%x", noun,
                         (unsigned)o->flags);
    if (o->limit == 0)
        o->limit = DEFAULT_LIMIT;
    if (o->reads == 0)
        o->reads = UINT32_MAX;
    if (o->timeout_ms == 0)
        o->timeout_ms = s->opts.reply_timeout_ms;
    return ZKR_OK;
}

int zkr_participants_list(zkr_session *session, const char *path,
                          const struct zkr_participants_opts *opts,
                          struct zkr_participants **ret_list)
{
    struct zkr_participants_opts o;
    struct listing *l;
    int rc = zkr__session_check(session, "session");

    if (rc == ZKR_OK && ret_list == NULL)
        rc = zkr__fail(ZKR_EINVAL, "%s: ret_list is NULL", noun);
    if (rc == ZKR_OK)
        rc = zkr__lock_check_path(session, noun, path);
    if (rc == ZKR_OK)
        rc = load_opts(session, &o, opts);
    if (rc != ZKR_OK)
        return rc;
    l = new_listing(session, path, &o);
    if (l == NULL)
        return zkr__fail(ZKR_ENOMEM, "%s: out of memory", noun);
    zkr__mtx_lock(&session->lock);
    rc = list_unlocks(l, zkr__clock_deadline(o.timeout_ms));
    zkr__call_leave_locked(&l->call);
    zkr__mtx_unlock(&session->lock);
    if (rc == ZKR_OK)
        *ret_list = finish(l);
    zkr__call_unref(&l->call);
    return rc;
}

void zkr_participants_free(struct zkr_participants *list)
{
    if (list != NULL)
        free_list(ZKR__CONTAINER(list, struct list, public));
}
