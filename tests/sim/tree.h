/* SPDX-License-Identifier: Apache-2.0 */
/* The tree: all nodes that ever existed, as each version of the tree shows
 * them.
 *
 * A version is a position in the leader's log, so one tree serves every
 * replica, however far behind, and also transactions that are only proposed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_NEVER INT64_MAX
#define NO_SESSION (-1)

struct node_data {
    struct node_data *older;
    int64_t version;
    int32_t number; /* what ZooKeeper calls the version of a node */
    const char *bytes;
    size_t len;
};

/* The client that deleted it. */
enum cause {
    BY_CLIENT,   /* that has the session which made it */
    BY_OPERATOR, /* or any other client */
    BY_CLOSE,    /* the client ended its session */
    BY_KILL,     /* an operator ended the session */
    BY_EXPIRY,
};

struct node {
    struct node *next; /* in its bucket */
    struct node *next_sibling;
    struct node *children; /* of all times, youngest first */
    struct node *parent;
    const char *path;
    const char *name;
    uint32_t hash;
    int64_t created; /* the version that has it first */
    int64_t deleted; /* the version that does not have it any more */
    int64_t czxid;
    enum cause cause;
    int session; /* the session that owns it, or NO_SESSION */
    bool container;
    int haunts; /* 1 + the replica that keeps it when its session ends; or 0 */
    struct node_data *data;
    int32_t cversion;          /* the creates that are committed */
    int32_t cversion_proposed; /* those that are proposed */
    int proposed;              /* creates of children under way; 0: none */
    int32_t in_parent;         /* cversion of the parent after our create */
};

extern struct node *tree_root;
void tree_reset(void);

/* Returns NULL when that version does not have it. */
struct node *tree_find(const char *path, int64_t version);
bool tree_has(const struct node *n, int64_t version);
/* The same for a replica, which may have kept it. */
bool tree_shows(const struct node *n, int replica, int64_t version);
struct node *tree_find_shown(const char *path, int replica, int64_t version);
size_t tree_count_children(const struct node *n, int64_t version);
const struct node_data *tree_data(const struct node *n, int64_t version);

struct node *tree_create(struct node *parent, const char *path, int64_t version,
                         int64_t czxid);
void tree_set(struct node *n, int64_t version, const char *data, size_t len);

/* Discards the versions after this one. */
void tree_truncate(int64_t version);

/* Returns the node after that one, or the first (NULL), of all times; NULL
 * behind the last. */
struct node *tree_after(const struct node *n);
