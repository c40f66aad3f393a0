/* SPDX-License-Identifier: Apache-2.0 */
/* The list of one lock, from the names of its nodes to what the user gets.
 * Pure, except for memory. */
#include "inspect/listed.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "protocol/roster.h"

#define DEFAULT_LIMIT 10000

int zkr__listed_opts(struct zkr_participants_opts *o,
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

/* --- memory --- */

struct zkr__listed *zkr__listed_new(const char *path)
{
    struct zkr__listed *list = calloc(1, sizeof(*list));

    if (list == NULL)
        return NULL;
    zkr__list_init(&list->link);
    list->path = strdup(path);
    if (list->path != NULL)
        return list;
    free(list);
    return NULL;
}

void zkr__listed_free(struct zkr__listed *list)
{
    if (list == NULL)
        return;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].data_size > 0)
            free((void *)(uintptr_t)list->items[i].data);
    }
    free(list->items);
    for (size_t i = 0; i < ZKR__PARTS; i++)
        free(list->names[i].all);
    free(list->path);
    free(list);
}

void zkr_participants_free(struct zkr_participants *list)
{
    if (list != NULL)
        zkr__listed_free(ZKR__CONTAINER(list, struct zkr__listed, public));
}

bool zkr__listed_copy_data(struct zkr_participant *item, const char *data,
                           size_t size)
{
    char *copy;

    if (size > ZKR_PARTICIPANT_DATA_MAX)
        size = ZKR_PARTICIPANT_DATA_MAX;
    item->data = "";
    item->data_size = 0;
    if (size == 0)
        return true;
    copy = malloc(size + 1);
    if (copy == NULL)
        return false;
    (void)memcpy(copy, data, size);
    copy[size] = '\0';
    item->data = copy;
    item->data_size = size;
    return true;
}

/* --- names --- */

/* Those of a directory below the path begin with its name. */
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

bool zkr__listed_take_names(struct zkr__listed *list, enum zkr__part part,
                            const char *const *names, size_t count)
{
    struct zkr__names *copy = &list->names[part];

    for (size_t i = 0; i < count; i++)
        zkr__part_count(&copy->count, part, names[i]);
    copy->count.exists = true;
    copy->all = copy_names(names, count, part);
    return copy->all != NULL;
}

bool zkr__listed_has_dir(const struct zkr__listed *list, enum zkr__part part)
{
    const struct zkr__names *names = &list->names[ZKR__PART_PATH];

    for (size_t i = 0; i < names->count.children; i++) {
        if (zkr__part_of_dir(names->all[i]) == part)
            return true;
    }
    return false;
}

/* --- the order --- */

/* The names of a semaphore are those of its parts, without the directories. */
static size_t gather(const struct zkr__listed *list, const char **all)
{
    size_t n = 0;

    for (size_t part = 0; part < ZKR__PARTS; part++) {
        const struct zkr__names *names = &list->names[part];

        for (size_t i = 0; i < names->count.children; i++) {
            if (part != ZKR__PART_PATH ||
                zkr__part_of_dir(names->all[i]) == ZKR__PART_PATH)
                all[n++] = names->all[i];
        }
    }
    return n;
}

static int arrange_names(struct zkr__listed *list, const char *const *names,
                         size_t count, const struct zkr_participants_opts *opts)
{
    size_t least;

    list->public.total = count;
    if (zkr__roster_new(names, count, opts->limit, &list->items,
                        &list->count) != ZKR_OK)
        return ZKR_ENOMEM;
    for (size_t i = 0; i < list->count; i++)
        list->items[i].data = "";
    zkr__roster_settle(list->items, list->count);
    least = zkr__roster_least(list->items, list->count, opts->flags);
    list->reads = opts->reads < least ? least : opts->reads;
    list->acl = (opts->flags & ZKR_PARTICIPANTS_ACL) != 0;
    return ZKR_OK;
}

int zkr__listed_arrange(struct zkr__listed *list,
                        const struct zkr_participants_opts *opts)
{
    const struct zkr__names *names = list->names;
    size_t most = 1;
    const char **all;
    int rc;

    if (!list->public.semaphore)
        return arrange_names(list, names->all, names->count.children, opts);
    for (size_t part = 0; part < ZKR__PARTS; part++)
        most += names[part].count.children;
    all = calloc(most, sizeof(*all));
    if (all == NULL)
        return ZKR_ENOMEM;
    rc = arrange_names(list, all, gather(list, all), opts);
    free(all);
    return rc;
}

/* A node that has gone since the directory was listed is not in the queue any
 * more. */
struct zkr_participants *zkr__listed_finish(struct zkr__listed *list)
{
    size_t n = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].error != ZKR_ZNONODE)
            list->items[n++] = list->items[i];
    }
    list->count = n;
    zkr__roster_settle(list->items, n);
    list->public.items = list->items;
    list->public.count = n;
    return &list->public;
}
