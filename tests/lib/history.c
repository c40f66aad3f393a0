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

bool history_add(void *history, const struct txn *t)
{
    struct history *h = history;
    const char *name = child_of(h, t->path); /* NULL at the end of a session */
    bool closes = t->type == TXN_CLOSE_SESSION;

    if (name != NULL && t->type != TXN_DELETE) {
        struct life *lives = realloc(h->lives, (h->count + 1) * sizeof(*lives));

        if (lives == NULL)
            return false;
        h->lives = lives;
        lives[h->count] = (struct life){ .owner = t->session,
                                         .begin = t->zxid,
                                         .end = INT64_MAX,
                                         .begin_ms = t->time_ms,
                                         .end_ms = INT64_MAX };
        (void)snprintf(lives[h->count].name, sizeof(lives->name), "%s", name);
        h->count++;
        return true;
    }
    for (size_t i = h->count; i-- > 0 && (closes || name != NULL);) {
        struct life *l = &h->lives[i];

        if (l->end != INT64_MAX ||
            (closes ? l->owner != t->session : strcmp(l->name, name) != 0))
            continue;
        l->end = t->zxid;
        l->end_ms = t->time_ms;
        l->by_session = closes;
        if (!closes)
            break;
    }
    return true;
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
    struct judge_node *nodes = judge_array(count, sizeof(*nodes));

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
