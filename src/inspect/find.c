/* Finding locks: a walk over directories, many of them at once. */
#include <zkrecipes/participants.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/path.h"
#include "inspect/roster.h"
#include "lock/node_name.h"
#include "session/call.h"
#include "session/session.h"

static const char noun[] = "find locks";

#define DEFAULT_DEPTH  32
#define DEFAULT_LIMIT  10000
#define DEFAULT_VISITS 100000
/* How many nodes are looked at at once. */
#define WALKERS 128

#define NO_ITEM SIZE_MAX

/* A directory that may be a lock. */
struct find {
    struct zkr_locks_item public;
    bool is_lock;
};

/* A node to be looked at. */
struct place {
    char *path; /* with the chroot */
    uint32_t depth;
    size_t holder_of; /* the item whose child "holder" it is; NO_ITEM */
};

struct walker {
    struct zkr__ask ask;
    struct place place;
};

struct found {
    struct zkr_locks public;
    struct zkr_locks_item *items;
};

struct walk {
    struct zkr__call call; /* first: see call.h */
    char *root;
    struct zkr_locks_opts opts;
    struct zkr__ask sync;
    struct found *found;

    /* under the session lock, until the caller has left */
    struct find *finds;
    size_t find_count;
    size_t find_size;
    struct place *places; /* a queue: from next_place on */
    size_t place_count;
    size_t place_size;
    size_t next_place;
    size_t walking;
    bool answered;
    struct walker walkers[WALKERS];
};

static void free_found(struct found *found)
{
    if (found == NULL)
        return;
    for (size_t i = 0; i < found->public.count; i++)
        free((void *)(uintptr_t)found->items[i].path);
    free((void *)(uintptr_t)found->public.skipped_path);
    free(found->items);
    free(found);
}

static void free_walk(struct zkr__call *call)
{
    struct walk *w = ZKR__CONTAINER(call, struct walk, call);

    for (size_t i = 0; i < w->find_count; i++)
        free((void *)(uintptr_t)w->finds[i].public.path);
    for (size_t i = w->next_place; i < w->place_count; i++)
        free(w->places[i].path);
    for (size_t i = 0; i < WALKERS; i++)
        free(w->walkers[i].place.path);
    free(w->finds);
    free(w->places);
    free_found(w->found);
    free(w->root);
    free(w);
}

/* An array that grows: true when one more fits. */
static bool reserve(void **array, size_t *size, size_t count, size_t item)
{
    size_t wanted = *size == 0 ? 64 : *size * 2;
    void *grown;

    if (count < *size)
        return true;
    grown = realloc(*array, wanted * item);
    if (grown == NULL)
        return false;
    *array = grown;
    *size = wanted;
    return true;
}

/* Takes the path. */
static bool add_place(struct walk *w, char *path, uint32_t depth,
                      size_t holder_of)
{
    void *places = w->places;
    bool fits = path != NULL && reserve(&places, &w->place_size, w->place_count,
                                        sizeof(*w->places));

    w->places = places;
    if (!fits) {
        free(path);
        return false;
    }
    w->places[w->place_count++] = (struct place){
        .path = path,
        .depth = depth,
        .holder_of = holder_of,
    };
    return true;
}

/* "/app" + "/" is "/app"; "" + "/a" is "/a"; "" + "/" is "/". */
static char *full_path(const struct zkr_session *s, const char *root)
{
    if (strcmp(root, "/") != 0)
        return zkr__path_join(s->hosts.chroot, root + 1);
    return strdup(s->hosts.chroot[0] == '\0' ? "/" : s->hosts.chroot);
}

static struct walk *new_walk(struct zkr_session *s, const char *root,
                             const struct zkr_locks_opts *opts)
{
    struct walk *w = calloc(1, sizeof(*w));

    if (w == NULL)
        return NULL;
    zkr__call_init(&w->call, s, free_walk);
    zkr__ask_init(&w->sync, &w->call);
    for (size_t i = 0; i < WALKERS; i++)
        zkr__ask_init(&w->walkers[i].ask, &w->call);
    w->opts = *opts;
    w->root = strdup(root);
    w->found = calloc(1, sizeof(*w->found));
    if (w->root == NULL || w->found == NULL ||
        !add_place(w, full_path(s, root), 1, NO_ITEM)) {
        zkr__call_unref(&w->call);
        return NULL;
    }
    w->call.noun = noun;
    w->call.path = w->root;
    return w;
}

/* --- what an answer says --- */

static const char *without_chroot(const struct walk *w, const char *path)
{
    const char *rest = path + strlen(w->call.session->hosts.chroot);

    return *rest == '\0' ? "/" : rest;
}

static bool is_contender(const char *name)
{
    struct zkr_participant p = { .name = name };

    zkr__roster_read(&p);
    return p.kind != ZKR_PARTICIPANT_FOREIGN &&
           zkr__node_name_is_numbered(name);
}

/* Of a session, and neither a container nor a node with a time to live. */
static bool is_ephemeral(int64_t owner)
{
    return owner != 0 && owner != INT64_MIN &&
           ((uint64_t)owner >> 56 & 0xff) != 0xff;
}

static bool is_empty(const struct zkr__zk_reply *reply)
{
    return reply->name_count == 0 && reply->data_len == 0 &&
           !is_ephemeral(reply->owner);
}

/* The index of the new item; NO_ITEM when it is one too many, or out of memory,
 * which ends the call. */
static size_t add_find(struct walk *w, const char *path,
                       const struct zkr__zk_reply *reply)
{
    void *finds = w->finds;
    struct find *find;
    char *copy;

    if (w->find_count == w->opts.limit) {
        w->found->public.cut |= ZKR_LOCKS_CUT_LIMIT;
        return NO_ITEM;
    }
    copy = strdup(without_chroot(w, path));
    if (copy == NULL ||
        !reserve(&finds, &w->find_size, w->find_count, sizeof(*w->finds))) {
        free(copy);
        zkr__call_end_locked(&w->call, ZKR_ENOMEM, "out of memory");
        return NO_ITEM;
    }
    w->finds = finds;
    find = &w->finds[w->find_count];
    *find = (struct find){
        .public = { .path = copy,
                    .children = reply->name_count,
                    .czxid = reply->czxid,
                    .pzxid = reply->pzxid,
                    .created_ms = reply->ctime_ms },
    };
    return w->find_count++;
}

static bool has_holder(const struct zkr__zk_reply *reply)
{
    for (size_t i = 0; i < reply->name_count; i++) {
        if (strcmp(reply->names[i], ZKR__UNFAIR_NAME) == 0)
            return true;
    }
    return false;
}

static size_t judge(struct walk *w, const struct place *place,
                    const struct zkr__zk_reply *reply)
{
    size_t contenders = 0;
    size_t item;

    for (size_t i = 0; i < reply->name_count; i++)
        contenders += is_contender(reply->names[i]);
    if (contenders == 0 && !has_holder(reply) &&
        !(is_empty(reply) && (w->opts.flags & ZKR_LOCKS_EMPTY) != 0))
        return NO_ITEM;
    item = add_find(w, place->path, reply);
    if (item == NO_ITEM)
        return NO_ITEM;
    w->finds[item].public.contenders = contenders;
    w->finds[item].is_lock = contenders > 0 || reply->name_count == 0;
    return item;
}

/* Without memory it is only counted. */
static void skip(struct walk *w, const char *path, int error)
{
    struct zkr_locks *all = &w->found->public;

    if (all->skipped++ > 0)
        return;
    all->skipped_path = strdup(without_chroot(w, path));
    all->skipped_error = error;
}

static bool is_no_place(const struct walk *w, const struct place *place,
                        const char *name)
{
    return is_contender(name) ||
           (strcmp(place->path, "/") == 0 && strcmp(name, "zookeeper") == 0 &&
            w->call.session->hosts.chroot[0] == '\0');
}

/* False when out of memory. */
static bool add_child(struct walk *w, const struct place *place,
                      const char *name, size_t item)
{
    bool is_holder = item != NO_ITEM && strcmp(name, ZKR__UNFAIR_NAME) == 0;
    char *path;

    if (is_no_place(w, place, name) ||
        (w->found->public.cut & ZKR_LOCKS_CUT_LIMIT) != 0)
        return true;
    if (place->depth >= w->opts.depth && !is_holder) {
        w->found->public.cut |= ZKR_LOCKS_CUT_DEPTH;
        return true;
    }
    if (w->place_count >= w->opts.visits) {
        w->found->public.cut |= ZKR_LOCKS_CUT_VISITS;
        return true;
    }
    path = zkr__path_join(place->path, name);
    if (path == NULL)
        return false;
    if (!zkr__path_is_child_name(name) || strlen(path) > ZKR_PATH_MAX ||
        zkr__path_fault(path) != NULL) {
        skip(w, path, ZKR_EPATH);
        free(path);
        return true;
    }
    return add_place(w, path, place->depth + 1, is_holder ? item : NO_ITEM);
}

static void look(struct walk *w, const struct place *place,
                 const struct zkr__zk_reply *reply)
{
    size_t item;

    if (place->holder_of != NO_ITEM && is_ephemeral(reply->owner)) {
        w->finds[place->holder_of].is_lock = true;
        w->finds[place->holder_of].public.contenders++;
    }
    if (is_ephemeral(reply->owner))
        return;
    item = judge(w, place, reply);
    for (size_t i = 0; i < reply->name_count; i++) {
        if (!add_child(w, place, reply->names[i], item)) {
            zkr__call_end_locked(&w->call, ZKR_ENOMEM, "out of memory");
            return;
        }
    }
}

/* --- the walk --- */

/* Not of the connection, nor of ourselves. */
static bool is_of_the_node(int rc)
{
    return rc != ZKR_ENOMEM && zkr__error_outcome(rc) == ZKR__DONE;
}

static void walk_on_locked(struct walk *w);

static void on_survey(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct walker *me = ZKR__CONTAINER(ask, struct walker, ask);
    struct walk *w = ZKR__CONTAINER(ask->call, struct walk, call);

    w->walking--;
    if (reply->rc != ZKR_OK && (!w->answered || !is_of_the_node(reply->rc))) {
        zkr__call_end_locked(&w->call, reply->rc, "cannot list the nodes");
        return;
    }
    w->answered = true;
    w->found->public.visited++;
    if (reply->rc == ZKR_OK)
        look(w, &me->place, reply);
    else if (reply->rc != ZKR__ZNONODE) /* that one has gone meanwhile */
        skip(w, me->place.path, reply->rc);
    free(me->place.path);
    me->place.path = NULL;
    walk_on_locked(w);
}

/* Give every idle walker a place. */
static void walk_on_locked(struct walk *w)
{
    for (size_t i = 0; i < WALKERS && w->next_place < w->place_count; i++) {
        struct walker *walker = &w->walkers[i];

        if (walker->place.path != NULL)
            continue;
        walker->place = w->places[w->next_place++];
        w->walking++;
        zkr__call_ask_locked(&walker->ask, ZKR__ZK_SURVEY, walker->place.path,
                             on_survey);
    }
    if (w->walking == 0)
        zkr__call_end_locked(&w->call, ZKR_OK, "");
}

static void on_sync(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct walk *w = ZKR__CONTAINER(ask->call, struct walk, call);

    /* Sync of a missing node succeeds on some servers, not on others. */
    if (reply->rc == ZKR_OK || reply->rc == ZKR__ZNONODE)
        walk_on_locked(w);
    else
        zkr__call_end_locked(&w->call, reply->rc, "cannot catch up");
}

static int walk_unlocks(struct walk *w)
{
    int rc = zkr__call_begin_locked(&w->call,
                                    zkr__clock_deadline(w->opts.timeout_ms));

    if (rc != ZKR_OK)
        return rc;
    zkr__call_ask_locked(&w->sync, ZKR__ZK_SYNC, w->places[0].path, on_sync);
    rc = zkr__call_wait_unlocks(&w->call);
    if (rc == ZKR__ZOPERATIONTIMEOUT && w->answered) {
        w->found->public.cut |= ZKR_LOCKS_CUT_TIME;
        rc = ZKR_OK;
    }
    return rc;
}

static int by_path(const void *a, const void *b)
{
    const struct zkr_locks_item *x = a;
    const struct zkr_locks_item *y = b;

    return strcmp(x->path, y->path);
}

/* The caller has left the call: nothing else touches the finds. */
static int finish(struct walk *w, struct zkr_locks **ret_list)
{
    struct found *found = w->found;

    found->items = calloc(w->find_count + 1, sizeof(*found->items));
    if (found->items == NULL)
        return zkr__fail(ZKR_ENOMEM, "%s: out of memory", noun);
    for (size_t i = 0; i < w->find_count; i++) {
        if (!w->finds[i].is_lock)
            continue;
        found->items[found->public.count++] = w->finds[i].public;
        w->finds[i].public.path = NULL;
    }
    qsort(found->items, found->public.count, sizeof(*found->items), by_path);
    found->public.items = found->items;
    *ret_list = &found->public;
    w->found = NULL;
    return ZKR_OK;
}

static int check_root(const struct zkr_session *s, const char *root)
{
    const char *fault;

    if (root == NULL)
        return zkr__fail(ZKR_EINVAL, "%s: root is NULL", noun);
    fault = zkr__path_fault(root);
    if (fault != NULL)
        return zkr__fail(ZKR_EPATH, "%s '%.300s': the path %s", noun, root,
                         fault);
    if (strlen(s->hosts.chroot) + strlen(root) > ZKR_PATH_MAX)
        return zkr__fail(ZKR_ETOOLONG,
                         "%s '%.100s...': the path is longer than %d bytes",
                         noun, root, ZKR_PATH_MAX);
    return ZKR_OK;
}

static void set_default(uint32_t *value, uint32_t otherwise)
{
    if (*value == 0)
        *value = otherwise;
}

static int load_opts(const struct zkr_session *s, struct zkr_locks_opts *o,
                     const struct zkr_locks_opts *opts)
{
    int rc = zkr__opts_load(o, sizeof(*o), sizeof(*o), opts, "locks options");

    if (rc != ZKR_OK)
        return rc;
    if ((o->flags & ~(uint32_t)ZKR_LOCKS_EMPTY) != 0)
        return zkr__fail(ZKR_EINVAL, "%s: unknown flags 0x%x", noun,
                         (unsigned)o->flags);
    set_default(&o->depth, DEFAULT_DEPTH);
    set_default(&o->limit, DEFAULT_LIMIT);
    set_default(&o->visits, DEFAULT_VISITS);
    set_default(&o->timeout_ms, s->opts.reply_timeout_ms);
    return ZKR_OK;
}

int zkr_locks_find(zkr_session *session, const char *root,
                   const struct zkr_locks_opts *opts,
                   struct zkr_locks **ret_list)
{
    struct zkr_locks_opts o;
    struct walk *w;
    int rc = zkr__session_check(session, "session");

    if (rc == ZKR_OK && ret_list == NULL)
        rc = zkr__fail(ZKR_EINVAL, "%s: ret_list is NULL", noun);
    if (rc == ZKR_OK)
        rc = check_root(session, root);
    if (rc == ZKR_OK)
        rc = load_opts(session, &o, opts);
    if (rc != ZKR_OK)
        return rc;
    w = new_walk(session, root, &o);
    if (w == NULL)
        return zkr__fail(ZKR_ENOMEM, "%s: out of memory", noun);
    zkr__mtx_lock(&session->lock);
    rc = walk_unlocks(w);
    zkr__call_leave_locked(&w->call);
    zkr__mtx_unlock(&session->lock);
    if (rc == ZKR_OK)
        rc = finish(w, ret_list);
    zkr__call_unref(&w->call);
    return rc;
}

void zkr_locks_free(struct zkr_locks *list)
{
    if (list != NULL)
        free_found(ZKR__CONTAINER(list, struct found, public));
}
