/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a search for locks: tells which directories are locks, by their
 * children. Pure, except for memory. */
#include "inspect/found.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "inspect/roster.h"
#include "lock/node_name.h"

/* A directory that may be a lock. */
struct zkr__found_item {
    struct zkr_locks_item public;
    bool is_lock;
};

/* The list that the user gets, with the memory of its parts. */
struct list {
    struct zkr_locks public;
    struct zkr_locks_item *items;
};

bool zkr__found_is_contender(const char *name)
{
    return zkr__roster_is_contender(name) && zkr__node_name_is_numbered(name);
}

bool zkr__found_is_ephemeral(int64_t owner)
{
    return owner != 0 && owner != INT64_MIN &&
           ((uint64_t)owner >> 56 & 0xff) != 0xff;
}

bool zkr__found_init(struct zkr__found *found, size_t chroot_len,
                     const struct zkr_locks_opts *opts)
{
    struct list *list = calloc(1, sizeof(*list));

    found->chroot_len = chroot_len;
    found->limit = opts->limit;
    found->flags = opts->flags;
    found->answer = list == NULL ? NULL : &list->public;
    return list != NULL;
}

void zkr__found_done(struct zkr__found *found)
{
    for (size_t i = 0; i < found->count; i++)
        free((void *)(uintptr_t)found->items[i].public.path);
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

static int add(struct zkr__found *found, const char *path,
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
    };
    *ret_item = found->count++;
    return ZKR_OK;
}

static bool has_holder(const struct zkr__zk_reply *reply)
{
    for (size_t i = 0; i < reply->name_count; i++) {
        if (strcmp(reply->names[i], ZKR__UNFAIR_NAME) == 0)
            return true;
    }
    return false;
}

static bool is_empty(const struct zkr__zk_reply *reply)
{
    return reply->name_count == 0 && reply->stat.data_len <= 0;
}

int zkr__found_judge(struct zkr__found *found, const char *path,
                     const struct zkr__zk_reply *reply, size_t *ret_item)
{
    bool wants_empty = (found->flags & ZKR_LOCKS_EMPTY) != 0;
    size_t contenders = 0;
    int rc;

    *ret_item = ZKR__NO_ITEM;
    for (size_t i = 0; i < reply->name_count; i++)
        contenders += zkr__found_is_contender(reply->names[i]);
    if (contenders == 0 && !has_holder(reply) &&
        !(is_empty(reply) && wants_empty))
        return ZKR_OK;
    if (found->count == found->limit) {
        found->answer->cut |= ZKR_LOCKS_CUT_LIMIT;
        return ZKR_OK;
    }
    rc = add(found, path, reply, ret_item);
    if (rc != ZKR_OK)
        return rc;
    found->items[*ret_item].public.contenders = contenders;
    found->items[*ret_item].is_lock = contenders > 0 || reply->name_count == 0;
    return ZKR_OK;
}

void zkr__found_holder(struct zkr__found *found, size_t item)
{
    found->items[item].is_lock = true;
    found->items[item].public.contenders++;
}

/* Out of memory, the node is only counted. */
void zkr__found_skip(struct zkr__found *found, const char *path, int error)
{
    struct zkr_locks *answer = found->answer;

    if (answer->skipped++ > 0)
        return;
    answer->skipped_path = strdup(without_chroot(found, path));
    answer->skipped_error = error;
}

static int by_path(const void *a, const void *b)
{
    const struct zkr_locks_item *x = a;
    const struct zkr_locks_item *y = b;

    return strcmp(x->path, y->path);
}

int zkr__found_finish(struct zkr__found *found, struct zkr_locks **ret_list)
{
    struct list *list = ZKR__CONTAINER(found->answer, struct list, public);
    size_t n = 0;

    list->items = calloc(found->count + 1, sizeof(*list->items));
    if (list->items == NULL)
        return ZKR_ENOMEM;
    for (size_t i = 0; i < found->count; i++) {
        if (!found->items[i].is_lock)
            continue;
        list->items[n++] = found->items[i].public;
        found->items[i].public.path = NULL;
    }
    qsort(list->items, n, sizeof(*list->items), by_path);
    list->public.items = list->items;
    list->public.count = n;
    found->answer = NULL;
    *ret_list = &list->public;
    return ZKR_OK;
}

void zkr_locks_free(struct zkr_locks *locks)
{
    struct list *list;

    if (locks == NULL)
        return;
    list = ZKR__CONTAINER(locks, struct list, public);
    for (size_t i = 0; i < locks->count; i++)
        free((void *)(uintptr_t)list->items[i].path);
    free((void *)(uintptr_t)locks->skipped_path);
    free(list->items);
    free(list);
}
