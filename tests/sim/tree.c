/* SPDX-License-Identifier: Apache-2.0 */
/* The tree: all nodes that ever existed, as each version of it shows them. */
#include "ensemble.h"

#define BUCKETS 64
static OF_SCHEDULE struct node *buckets[BUCKETS];
OF_SCHEDULE struct node *tree_root;

static uint32_t hash(const char *path)
{
    uint32_t h = 2166136261u;

    for (; *path != '\0'; path++)
        h = (h ^ (unsigned char)*path) * 16777619u;
    return h;
}

void tree_reset(void)
{
    tree_root = tree_create(NULL, "/", 0, 0);
    tree_root->path = "";
}

bool tree_has(const struct node *n, int64_t version)
{
    return n->created <= version && version < n->deleted;
}

struct node *tree_find(const char *path, int64_t version)
{
    uint32_t h = hash(path);

    for (struct node *n = buckets[h % BUCKETS]; n != NULL; n = n->next) {
        if (n->hash == h && tree_has(n, version) &&
            (strcmp(n->path, path) == 0 || (n == tree_root && path[1] == '\0')))
            return n;
    }
    return NULL;
}

bool tree_shows(const struct node *n, int replica, int64_t version)
{
    if (tree_has(n, version))
        return true;
    return n->haunts == replica + 1 && n->created < n->deleted &&
           n->deleted <= version && n->cause >= BY_CLOSE;
}

struct node *tree_find_shown(const char *path, int replica, int64_t version)
{
    struct node *n = tree_find(path, version);
    uint32_t h = hash(path);

    if (n != NULL)
        return n;
    for (n = buckets[h % BUCKETS]; n != NULL; n = n->next) {
        if (n->hash == h && tree_shows(n, replica, version) &&
            strcmp(n->path, path) == 0)
            return n;
    }
    return NULL;
}

size_t tree_count_children(const struct node *n, int64_t version)
{
    const struct node *c = n == NULL ? NULL : n->children;
    size_t count = 0;

    for (; c != NULL; c = c->next_sibling)
        count += tree_has(c, version);
    return count;
}

const struct node_data *tree_data(const struct node *n, int64_t version)
{
    static const struct node_data none = { .bytes = "" };
    const struct node_data *d = n->data;

    while (d != NULL && d->version > version)
        d = d->older;
    return d == NULL ? &none : d;
}

struct node *tree_create(struct node *parent, const char *path, int64_t version,
                         int64_t czxid)
{
    uint32_t h = hash(path);
    struct node *n = ARENA_NEW(
        struct node, .path = arena_copy(path, strlen(path)), .hash = h,
        .next = buckets[h % BUCKETS], .created = version, .deleted = TREE_NEVER,
        .czxid = czxid, .session = NO_SESSION, .parent = parent);

    n->name = strrchr(n->path, '/') + 1;
    buckets[h % BUCKETS] = n;
    if (parent != NULL) {
        n->next_sibling = parent->children;
        parent->children = n;
    }
    return n;
}

void tree_set(struct node *n, int64_t version, const char *data, size_t len)
{
    n->data = ARENA_NEW(struct node_data, .older = n->data, .version = version,
                        .number = n->data != NULL ? n->data->number + 1
                                                  : version > n->created,
                        .bytes = arena_copy(data, len), .len = len);
}

struct node *tree_after(const struct node *n)
{
    size_t i = n == NULL ? 0 : n->hash % BUCKETS + 1;

    if (n != NULL && n->next != NULL)
        return n->next;
    while (i < BUCKETS && buckets[i] == NULL)
        i++;
    return i < BUCKETS ? buckets[i] : NULL;
}

/* A node that never existed stays in memory with created == deleted, so that
 * the next transaction with this version does not show it. */
void tree_truncate(int64_t version)
{
    for (struct node *n = NULL; (n = tree_after(n)) != NULL;) {
        if (n->created > version)
            n->deleted = n->created; /* no version has it */
        else if (n->deleted > version)
            n->deleted = TREE_NEVER;
        while (n->data != NULL && n->data->version > version)
            n->data = n->data->older;
        n->proposed = 0;
    }
}
