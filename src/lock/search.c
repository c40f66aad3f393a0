/* Finding our own nodes by their tag, when a reply did not come. */
#include "lock/search.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/path.h"
#include "lock/claim.h"

void zkr__search_init(struct zkr__search *search, struct zkr_session *s)
{
    *search = (struct zkr__search){ .dir = NULL };
    zkr__op_init(&search->op, s);
}

static void find_lowest(struct zkr__search *search,
                        const struct zkr__zk_reply *reply)
{
    int64_t lowest = 0;

    search->found[0] = '\0';
    for (size_t i = 0; i < reply->name_count; i++) {
        const char *name = reply->names[i];
        int64_t seq;

        if (strncmp(name, search->tag, search->tag_len) != 0 ||
            strlen(name) >= sizeof(search->found) ||
            (search->gone != NULL && strcmp(name, search->gone) == 0) ||
            zkr__node_name_parse(name, search->markers, &seq) == ZKR__FOREIGN)
            continue;
        if (search->found[0] == '\0' || seq < lowest) {
            lowest = seq;
            (void)snprintf(search->found, sizeof(search->found), "%s", name);
        }
    }
}

static void on_list(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__search *search = ZKR__CONTAINER(op, struct zkr__search, op);

    find_lowest(search, reply);
    search->done(search, reply->rc == ZKR__ZNONODE ? ZKR_OK : reply->rc);
}

/* A node of our session that no claim knows has been written to by others. If
 * it is not ours, it is of another claim that is looking for it, and is better
 * off without it than without an end. */
static bool is_ours(const struct zkr__search *search,
                    const struct zkr__zk_reply *reply)
{
    if (search->czxid != 0 && reply->czxid == search->czxid)
        return true;
    if (reply->owner != search->op.session->id)
        return false;
    if (reply->data_len == search->data_len &&
        memcmp(reply->data, search->data, search->data_len) == 0)
        return true;
    return search->czxid == 0 &&
           !zkr__claims_know_locked(search->op.session, reply);
}

static void on_get(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__search *search = ZKR__CONTAINER(op, struct zkr__search, op);

    search->found[0] = '\0';
    if (reply->rc == ZKR_OK && is_ours(search, reply)) {
        search->czxid = reply->czxid; /* and nobody else's from here on */
        (void)snprintf(search->found, sizeof(search->found), "%s",
                       zkr__path_name(search->path));
    }
    search->done(search, reply->rc == ZKR__ZNONODE ? ZKR_OK : reply->rc);
}

/* Whatever the answer: the quorum has agreed on it. */
static void on_checked(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__search *search = ZKR__CONTAINER(op, struct zkr__search, op);

    if (zkr__error_outcome(reply->rc) != ZKR__DONE || reply->rc == ZKR_ENOMEM)
        search->done(search, reply->rc);
    else if (search->data == NULL)
        zkr__op_start_locked(op, ZKR__ZK_CHILDREN, search->dir, op->retry,
                             on_list);
    else
        zkr__op_start_locked(op, ZKR__ZK_GET, search->path, op->retry, on_get);
}

void zkr__search_start_locked(struct zkr__search *search,
                              enum zkr__op_retry retry,
                              void (*done)(struct zkr__search *, int rc))
{
    search->done = done;
    zkr__op_start_locked(&search->op, ZKR__ZK_CHECK, search->dir, retry,
                         on_checked);
}
