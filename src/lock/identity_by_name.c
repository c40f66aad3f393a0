/* SPDX-License-Identifier: Apache-2.0 */
/* An identity by name: the node is known by its name, because nobody else has
 * drawn the same UUID. */
#include <string.h>

#include "lock/claim.h"

static bool matches(const struct zkr__search *search, const char *name,
                    int64_t *ret_seq)
{
    return strncmp(name, search->tag, search->tag_len) == 0 &&
           strlen(name) < ZKR__NODE_MAX &&
           (search->gone == NULL || strcmp(name, search->gone) != 0) &&
           zkr__node_name_parse(name, search->markers, ret_seq) != ZKR__FOREIGN;
}

static const char *find_lowest(struct zkr__search *search,
                               const struct zkr__zk_reply *list)
{
    const char *found = NULL;
    int64_t lowest = 0;

    for (size_t i = 0; i < list->name_count; i++) {
        int64_t seq;

        if (!matches(search, list->names[i], &seq) ||
            (found != NULL && seq >= lowest))
            continue;
        lowest = seq;
        found = list->names[i];
    }
    return found;
}

static void seek(const struct zkr__claim *c, struct zkr__search *search)
{
    search->dir = c->lock->dir;
    search->read = ZKR__ZK_CHILDREN;
    search->path = c->lock->dir;
    search->find = find_lowest;
    search->tag = c->node->name;
    search->tag_len = zkr__node_name_tag_len(c->lock->layout);
    search->markers = c->recipe->markers;
}

const struct zkr__identity zkr__by_name = { seek, .has_own_path = true };
