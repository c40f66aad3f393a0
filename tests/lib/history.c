/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the lives of nodes from transactions. */
#include "history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name of a child of the directory, or NULL. */
static const char *child_of(const struct history *h, const char *path)
{
    size_t length = strlen(h->directory);

    return strncmp(path, h->directory, length) == 0 && path[length] == '/'
               ? path + length + 1
               : NULL;
}

static bool on_create(struct history *h, const struct txn *t)
{
    const char *name = child_of(h, t->path);
    struct life *lives;

    if (name == NULL)
        return true;
    lives = realloc(h->lives, (h->count + 1) * sizeof(*lives));
    if (lives == NULL)
        return false;
    h->lives = lives;
    lives += h->count++;
    *lives = (struct life){ .owner = t->session,
                            .begin = t->zxid,
                            .end = INT64_MAX,
                            .begin_ms = t->time_ms,
                            .end_ms = INT64_MAX };
    (void)snprintf(lives->name, sizeof(lives->name), "%s", name);
    return true;
}

static void end_life(struct life *life, const struct txn *t)
{
    life->end = t->zxid;
    life->end_ms = t->time_ms;
    life->by_session = t->type == TXN_CLOSE_SESSION;
}

static void on_delete(struct history *h, const struct txn *t)
{
    const char *name = child_of(h, t->path);

    for (size_t i = h->count; name != NULL && i-- > 0;) {
        if (h->lives[i].end == INT64_MAX &&
            strcmp(h->lives[i].name, name) == 0) {
            end_life(&h->lives[i], t);
            return;
        }
    }
}

static void on_close(struct history *h, const struct txn *t)
{
    for (size_t i = 0; i < h->count; i++) {
        if (h->lives[i].owner == t->session && h->lives[i].end == INT64_MAX)
            end_life(&h->lives[i], t);
    }
}

bool history_add(void *history, const struct txn *t)
{
    switch (t->type) {
    case TXN_CREATE:
    case TXN_CREATE2:
        return on_create(history, t);
    case TXN_DELETE:
        on_delete(history, t);
        return true;
    case TXN_CLOSE_SESSION:
        on_close(history, t);
        return true;
    default:
        return true;
    }
}

struct life *history_read(const struct server *s, const char *directory,
                          size_t *ret_count)
{
    struct history h = { .directory = directory };

    if (!txn_log_read(s, history_add, &h)) {
        free(h.lives);
        return NULL;
    }
    *ret_count = h.count;
    return h.lives;
}

struct judge_node *history_nodes(const struct life *lives, size_t count)
{
    struct judge_node *nodes = calloc(count + 1, sizeof(*nodes));

    if (nodes == NULL)
        abort();
    for (size_t i = 0; i < count; i++) {
        const struct life *l = &lives[i];

        nodes[i] =
            (struct judge_node){ .name = l->name,
                                 .shared = strstr(l->name, "__READ__") != NULL,
                                 .session = l->owner,
                                 .token = l->begin,
                                 .gone = l->end,
                                 .gone_at = l->end_ms };
    }
    return nodes;
}
