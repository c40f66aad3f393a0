/* SPDX-License-Identifier: Apache-2.0 */
#include "model/place.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "protocol/dialect.h"
#include "protocol/node_name.h"
#include "protocol/parts.h"
#include "protocol/roster.h"

static bool is_below(const char *path, const char *root)
{
    size_t len = strlen(root);

    if (len <= 1)
        return true;
    return strncmp(path, root, len) == 0 &&
           (path[len] == '\0' || path[len] == '/');
}

/* --- does it contend? --- */

static bool contends(const char *name, bool ephemeral)
{
    struct zkr_participant p = { .name = name };

    return (ephemeral || zkr__node_name_is_numbered(name)) &&
           zkr__roster_order(&p, 1) == 1 && p.kind != ZKR_PARTICIPANT_FOREIGN;
}

/* --- semaphores --- */

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool is_semaphore(const struct places *places, const char *path)
{
    return tfind(path, &places->semaphores, by_text) != NULL;
}

static void add_semaphore(struct places *places, const char *path)
{
    if (!is_semaphore(places, path))
        (void)enough(
            tsearch(enough(strdup(path)), &places->semaphores, by_text));
}

/* Turns ".../pool/leases" and "lease-1" into ".../pool" and "leases/lease-1".
 */
static void join_part(struct place *p, enum zkr__part part)
{
    const char *dir = zkr__part_dirs[part];
    char *slash = strrchr(p->lock, '/');
    size_t len = strlen(dir);

    memmove(p->name + len + 1, p->name, strlen(p->name) + 1);
    memcpy(p->name, dir, len);
    p->name[len] = '/';
    slash[slash == p->lock] = '\0';
}

/* A lease tells that the directory above is a semaphore. */
static bool settle(struct places *places, struct place *p, bool ephemeral)
{
    enum zkr__part part = zkr__part_of_dir(strrchr(p->lock, '/') + 1);
    struct place whole;

    if (part == ZKR__PART_PATH)
        return contends(p->name, ephemeral);
    whole = *p;
    join_part(&whole, part);
    if (part == ZKR__PART_LEASES && contends(whole.name, ephemeral)) {
        add_semaphore(places, whole.lock);
        if (!places->learning)
            *p = whole;
        return true;
    }
    if (!places->learning && is_semaphore(places, whole.lock))
        *p = whole;
    return contends(p->name, ephemeral);
}

/* The directory and the name of a path below the chroot. */
static bool split(const struct places *places, struct bytes path,
                  struct place *p)
{
    size_t skip = strlen(places->chroot);
    const char *slash;
    size_t len;

    if (path.size <= skip || path.size - skip >= NODE_MAX ||
        memcmp(path.at, places->chroot, skip) != 0 || path.at[skip] != '/')
        return false;
    len = path.size - skip;
    memcpy(p->lock, path.at + skip, len);
    p->lock[len] = '\0';
    slash = strrchr(p->lock, '/');
    (void)strcpy(p->name, slash + 1);
    p->lock[slash == p->lock ? 1 : slash - p->lock] = '\0';
    return p->name[0] != '\0';
}

bool places_find(struct places *places, struct bytes path, bool ephemeral,
                 struct place *p)
{
    return split(places, path, p) && is_below(p->lock, places->root) &&
           settle(places, p, ephemeral) && is_below(p->lock, places->root);
}

void places_note_pool(struct places *places, struct bytes path, bool ephemeral)
{
    struct place p;

    if (ephemeral && !places->pool && split(places, path, &p))
        places->pool =
            strcmp(p.lock, places->root) == 0 && zkr__name_is_of_pool(p.name);
}

void places_done(struct places *places)
{
    tdestroy(places->semaphores, free);
    free(places->chroot);
    free(places->root);
}
