/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a search for locks: tells which directories are locks, by their
 * children. Pure, except for memory. */
#include "inspect/found.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/path.h"
#include "protocol/node_name.h"
#include "protocol/parts.h"
#include "protocol/roster.h"

/* A directory that may be a lock. */
struct zkr__found_item {
    struct zkr_locks_item public;
    bool is_lock;
    enum zkr__part part; /* of a semaphore, by its name, */
    struct zkr__part_count count;
    bool may_be_barrier;      /* nobody contends, and there may be members */
    bool renamed;             /* its path is that of the directory above */
    struct zkr__listed *list; /* NULL: not wanted, of a part, or of the root */
    bool is_listed;           /* it was asked for */
    bool is_whole;            /* a semaphore: its list lacks the parts */
};

/* The list that the user gets, with the memory of its parts. */
struct found_list {
    struct zkr_locks public;
    struct zkr_locks_item *items;
};

bool zkr__found_is_contender(const char *name)
{
    return zkr__roster_is_contender(name) && zkr__node_name_is_numbered(name);
}

bool zkr__found_init(struct zkr__found *found, size_t chroot_len,
                     const struct zkr_locks_opts *opts)
{
    struct found_list *list = calloc(1, sizeof(*list));

    found->chroot_len = chroot_len;
    found->limit = opts->limit;
    found->flags = opts->flags;
    found->lists = opts->participants != NULL;
    found->answer = list == NULL ? NULL : &list->public;
    return list != NULL;
}

void zkr__found_done(struct zkr__found *found)
{
    for (size_t i = 0; i < found->count; i++) {
        free((void *)(uintptr_t)found->items[i].public.path);
        zkr__listed_free(found->items[i].list);
    }
    free(found->items);
    zkr_locks_free(found->answer);
}

static const char *without_chroot(const struct zkr__found *found,
                                  const char *path)
{
    const char *rest = path + found->chroot_len;

    return *rest == '\0' ? "/" : rest;
}

/* One more item fits: false when out of memory. */
static bool reserve(struct zkr__found *found)
{
    size_t size = found->size == 0 ? 64 : found->size * 2;
    struct zkr__found_item *grown;

    if (found->count < found->size)
        return true;
    grown = realloc(found->items, size * sizeof(*grown));
    if (grown == NULL)
        return false;
    found->items = grown;
    found->size = size;
    return true;
}

static struct zkr__part_count count_part(enum zkr__part part,
                                         const struct zkr__zk_reply *reply)
{
    struct zkr__part_count count = { .exists = true };

    for (size_t i = 0; i < reply->name_count; i++)
        zkr__part_count(&count, part, reply->names[i]);
    return count;
}

/* The names of the children are kept: they need not be asked for again. */
static bool keep_names(struct zkr__found_item *item, const char *path,
                       const struct zkr__zk_reply *reply)
{
    item->list = zkr__listed_new(path);
    return item->list != NULL &&
           zkr__listed_take_names(item->list, ZKR__PART_PATH, reply->names,
                                  reply->name_count);
}

static int add(struct zkr__found *found, const char *path, enum zkr__part part,
               const struct zkr__zk_reply *reply, size_t *ret_item)
{
    char *copy = strdup(without_chroot(found, path));

    if (copy == NULL || !reserve(found)) {
        free(copy);
        return ZKR_ENOMEM;
    }
    found->items[found->count] = (struct zkr__found_item){
        .public = { .path = copy,
                    .children = reply->name_count,
                    .czxid = reply->stat.czxid,
                    .pzxid = reply->stat.pzxid,
                    .created_ms = reply->stat.ctime_ms },
        .part = part,
    };
    if (part != ZKR__PART_PATH)
        found->items[found->count].count = count_part(part, reply);
    *ret_item = found->count++;
    if (found->lists && part == ZKR__PART_PATH && strcmp(copy, "/") != 0 &&
        !keep_names(&found->items[*ret_item], path, reply))
        return ZKR_ENOMEM;
    return ZKR_OK;
}

static bool is_holder(const char *name)
{
    return strcmp(name, ZKR__UNFAIR_NAME) == 0;
}

static bool has(const struct zkr__zk_reply *reply, bool (*is)(const char *name))
{
    for (size_t i = 0; i < reply->name_count; i++) {
        if (is(reply->names[i]))
            return true;
    }
    return false;
}

static bool is_empty(const struct zkr__zk_reply *reply)
{
    return reply->name_count == 0 && reply->stat.data_len <= 0;
}

/* The part that a directory may be. The root is no lock, so its children are no
 * parts of one. */
static enum zkr__part part_of(const struct zkr__found *found, const char *path)
{
    const char *rest = without_chroot(found, path);

    return strrchr(rest, '/') == rest ? ZKR__PART_PATH
                                      : zkr__part_of_dir(zkr__path_name(rest));
}

/* One more than the limit is known of later, when the parts of semaphores are
 * put together. */
static bool is_one_too_many(struct zkr__found *found, enum zkr__part part)
{
    if (part != ZKR__PART_PATH || found->paths < found->limit)
        return false;
    found->answer->cut |= ZKR_LOCKS_CUT_LIMIT;
    return true;
}

int zkr__found_judge(struct zkr__found *found, const char *path,
                     const struct zkr__zk_reply *reply, size_t *ret_item)
{
    bool wants_empty = (found->flags & ZKR_LOCKS_EMPTY) != 0;
    enum zkr__part part = part_of(found, path);
    size_t contenders = 0;
    bool may_be_barrier, is_candidate;
    int rc;

    *ret_item = ZKR__NO_ITEM;
    for (size_t i = 0; i < reply->name_count; i++)
        contenders += zkr__found_is_contender(reply->names[i]);
    may_be_barrier = (found->flags & ZKR_LOCKS_BARRIERS) != 0 &&
                     contenders == 0 && has(reply, zkr__node_name_is_uuid);
    is_candidate = contenders > 0 || has(reply, is_holder) || may_be_barrier ||
                   (is_empty(reply) && wants_empty);
    if ((!is_candidate && part == ZKR__PART_PATH) ||
        is_one_too_many(found, part))
        return ZKR_OK;
    rc = add(found, path, part, reply, ret_item);
    if (rc != ZKR_OK)
        return rc;
    found->paths += part == ZKR__PART_PATH;
    found->items[*ret_item].public.contenders = contenders;
    found->items[*ret_item].may_be_barrier = may_be_barrier;
    found->items[*ret_item].is_lock =
        contenders > 0 || (is_candidate && reply->name_count == 0);
    return ZKR_OK;
}

bool zkr__found_is_in_question(const struct zkr__found *found, size_t item,
                               const char *name)
{
    return item != ZKR__NO_ITEM &&
           (is_holder(name) || (found->items[item].may_be_barrier &&
                                zkr__node_name_is_uuid(name)));
}

void zkr__found_ephemeral(struct zkr__found *found, size_t item)
{
    found->items[item].is_lock = true;
    found->items[item].public.contenders++;
}

struct zkr__listed *zkr__found_next_list(struct zkr__found *found,
                                         size_t *cursor)
{
    while (*cursor < found->count) {
        struct zkr__found_item *item = &found->items[(*cursor)++];

        if (item->is_lock && item->list != NULL && !item->is_listed) {
            item->is_listed = true;
            return item->list;
        }
    }
    return NULL;
}

/* Out of memory, the node is only counted. Leases that may not be read are
 * there all the same: without them the queue would look like a mutex, and the
 * first who waits like its holder. */
void zkr__found_skip(struct zkr__found *found, const char *path, int error)
{
    static const struct zkr__zk_reply nothing;
    struct zkr_locks *answer = found->answer;
    size_t item;

    if (error == ZKR_ZNOAUTH && part_of(found, path) == ZKR__PART_LEASES)
        (void)add(found, path, ZKR__PART_LEASES, &nothing, &item);
    if (answer->skipped++ > 0)
        return;
    answer->skipped_path = strdup(without_chroot(found, path));
    answer->skipped_error = error;
}

static int by_path(const void *a, const void *b)
{
    const struct zkr__found_item *x = a;
    const struct zkr__found_item *y = b;

    return strcmp(x->public.path, y->public.path);
}

/* --- semaphores --- */

/* The item of that path, or NULL. */
static struct zkr__found_item *find(const struct zkr__found *found,
                                    const char *path)
{
    struct zkr__found_item key = { .public.path = path };

    return bsearch(&key, found->items, found->count, sizeof(key), by_path);
}

/* The directory of that part beside `item`, or the one above, the path. */
static struct zkr__found_item *find_near(const struct zkr__found *found,
                                         const struct zkr__found_item *item,
                                         enum zkr__part part)
{
    char path[ZKR_PATH_MAX + 1 + ZKR__PART_DIR_MAX + 1];
    const char *dir = zkr__part_dirs[part];
    int len = (int)(strrchr(item->public.path, '/') - item->public.path);

    if (len > ZKR_PATH_MAX)
        return NULL;
    (void)snprintf(path, sizeof(path), "%.*s%s%s", len, item->public.path,
                   dir[0] == '\0' ? "" : "/", dir);
    return find(found, path);
}

/* `part` is not a lock of its own, but part of `whole`. */
static void merge(struct zkr__found_item *whole, struct zkr__found_item *part)
{
    whole->public.contenders += part->count.fitting;
    whole->public.children += part->public.children;
    if (part->public.pzxid != part->public.czxid &&
        part->public.pzxid > whole->public.pzxid)
        whole->public.pzxid = part->public.pzxid;
    whole->is_lock = whole->is_lock || part->is_lock;
    whole->is_whole = true;
    part->is_lock = false;
}

/* The item of the leases becomes that of the semaphore, unless the path has one
 * because somebody contends there, too. Paths change at the end only, because
 * items are found by them. */
static void make_semaphore(struct zkr__found_item *whole,
                           struct zkr__found_item *leases,
                           struct zkr__found_item *queue)
{
    if (whole == NULL) {
        leases->renamed = true;
        leases->public.contenders = leases->count.fitting;
        whole = leases;
    } else {
        merge(whole, leases);
    }
    if (queue != NULL)
        merge(whole, queue);
}

static void find_semaphores(struct zkr__found *found)
{
    static const struct zkr__part_count none;

    for (size_t i = 0; i < found->count; i++) {
        struct zkr__found_item *leases = &found->items[i];
        struct zkr__found_item *queue;

        if (leases->part != ZKR__PART_LEASES)
            continue;
        queue = find_near(found, leases, ZKR__PART_QUEUE);
        if (zkr__is_semaphore(&leases->count,
                              queue == NULL ? &none : &queue->count))
            make_semaphore(find_near(found, leases, ZKR__PART_PATH), leases,
                           queue);
    }
}

/* --- the end --- */

static int in_order(const void *a, const void *b)
{
    const struct zkr_locks_item *x = a;
    const struct zkr_locks_item *y = b;

    return strcmp(x->path, y->path);
}

/* The list of a lock, for the user; NULL when it tells nothing: who contended
 * has gone. */
static struct zkr_participants *take_list(struct zkr__found_item *item)
{
    struct zkr__listed *list = item->list;

    if (list == NULL || !list->is_read || item->is_whole)
        return NULL;
    (void)zkr__listed_finish(list);
    if (item->public.contenders > 0 && !item->may_be_barrier &&
        (list->count == 0 || list->items[0].kind == ZKR_PARTICIPANT_FOREIGN))
        return NULL;
    item->list = NULL;
    return &list->public;
}

/* Takes the locks among the items, no more than the limit. */
static size_t take_locks(struct zkr__found *found, struct zkr_locks_item *locks)
{
    size_t n = 0;

    for (size_t i = 0; i < found->count; i++) {
        struct zkr__found_item *item = &found->items[i];

        if (!item->is_lock)
            continue;
        if (n == found->limit) {
            found->answer->cut |= ZKR_LOCKS_CUT_LIMIT;
            break;
        }
        if (item->renamed)
            *strrchr((char *)(uintptr_t)item->public.path, '/') = '\0';
        locks[n] = item->public;
        locks[n++].list = take_list(item);
        item->public.path = NULL;
    }
    return n;
}

int zkr__found_finish(struct zkr__found *found, struct zkr_locks **ret_list)
{
    struct found_list *list =
        ZKR__CONTAINER(found->answer, struct found_list, public);

    list->items = calloc(found->count + 1, sizeof(*list->items));
    if (list->items == NULL)
        return ZKR_ENOMEM;
    if (found->count > 0)
        qsort(found->items, found->count, sizeof(*found->items), by_path);
    find_semaphores(found);
    list->public.items = list->items;
    list->public.count = take_locks(found, list->items);
    qsort(list->items, list->public.count, sizeof(*list->items), in_order);
    found->answer = NULL;
    *ret_list = &list->public;
    return ZKR_OK;
}

void zkr_locks_free(struct zkr_locks *locks)
{
    struct found_list *list;

    if (locks == NULL)
        return;
    list = ZKR__CONTAINER(locks, struct found_list, public);
    for (size_t i = 0; i < locks->count; i++) {
        free((void *)(uintptr_t)list->items[i].path);
        zkr_participants_free(list->items[i].list);
    }
    free((void *)(uintptr_t)locks->skipped_path);
    free(list->items);
    free(list);
}
