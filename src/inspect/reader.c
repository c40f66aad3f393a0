/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the nodes of lists, many at once, for one request. */
#include "inspect/reader.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/path.h"
#include "session/session.h"

void zkr__readers_init(struct zkr__readers *readers, struct zkr__request *r)
{
    readers->request = r;
    zkr__list_init(&readers->lists);
    for (size_t i = 0; i < ZKR__READERS; i++) {
        zkr__ask_init(&readers->each[i].ask, r);
        readers->each[i].all = readers;
    }
}

void zkr__readers_done(struct zkr__readers *readers)
{
    for (size_t i = 0; i < ZKR__READERS; i++)
        free(readers->each[i].path);
}

/* Among nodes of one number the sessions decide which one holds, so all of them
 * are read, or none. */
static bool is_enough(const struct zkr__listed *list)
{
    const struct zkr_participant *items = list->items;

    if (list->acl)
        return false;
    if (list->next == list->count)
        return true;
    return list->next - list->missing >= list->reads &&
           (items[list->next].kind == ZKR_PARTICIPANT_FOREIGN ||
            items[list->next].sequence != items[list->next - 1].sequence);
}

void zkr__readers_add(struct zkr__readers *readers, struct zkr__listed *list)
{
    list->is_read = is_enough(list);
    if (!list->is_read)
        zkr__list_append(&readers->lists, &list->link);
}

/* A list of which enough is being read may want more when some of that turns
 * out to have gone; there are no more such lists than readers. */
static struct zkr__listed *find_list(const struct zkr__readers *readers)
{
    struct zkr__list *link = readers->lists.next;

    for (; link != &readers->lists; link = link->next) {
        struct zkr__listed *list =
            ZKR__CONTAINER(link, struct zkr__listed, link);

        if (!is_enough(list))
            return list;
    }
    return NULL;
}

static bool take(struct zkr_participant *p, const struct zkr__zk_reply *reply)
{
    p->full_size = reply->data_len;
    p->token = reply->stat.czxid;
    p->session_id = reply->stat.ephemeral_owner;
    p->since_ms = reply->stat.ctime_ms;
    return zkr__listed_copy_data(p, reply->data, reply->data_len);
}

static void read_next_locked(struct zkr__reader *r) ZKR__LOCKED;

/* The answer is about the node, and comes neither from the connection nor from
 * the library. */
static void go_on_locked(struct zkr__reader *r) ZKR__LOCKED
{
    struct zkr__listed *list = r->list;

    list->reading--;
    if (list->reading == 0 && is_enough(list)) {
        list->is_read = true;
        zkr__list_remove(&list->link);
    }
    read_next_locked(r);
}

static bool is_of_the_node(int rc)
{
    return rc != ZKR_ENOMEM && zkr__error_outcome(rc) == ZKR__DONE;
}

static void on_read(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct zkr__reader *r = ZKR__CONTAINER(ask, struct zkr__reader, ask);

    zkr__session_assert_locked(ask->request->session);
    if (!is_of_the_node(reply->rc)) {
        zkr__request_end_locked(ask->request, reply->rc,
                                "cannot read the nodes");
        return;
    }
    r->item->error = reply->rc;
    r->list->missing += reply->rc == ZKR_ZNONODE;
    if (reply->rc == ZKR_OK && !take(r->item, reply))
        zkr__request_end_locked(ask->request, ZKR_ENOMEM, "out of memory");
    else
        go_on_locked(r);
}

static void on_acl(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct zkr__reader *r = ZKR__CONTAINER(ask, struct zkr__reader, ask);

    zkr__session_assert_locked(ask->request->session);
    r->list->public.anyone = (uint32_t)reply->anyone;
    r->list->public.acl_error = reply->rc;
    if (is_of_the_node(reply->rc))
        go_on_locked(r);
    else
        zkr__request_end_locked(ask->request, reply->rc, "cannot read the ACL");
}

static void ask_for_acl_locked(struct zkr__reader *r) ZKR__LOCKED
{
    r->list->acl = false;
    zkr__ask_locked(&r->ask, ZKR__ZK_GET_ACL, r->list->path, ZKR__RETRY_POLICY,
                    on_acl);
}

static void read_node_locked(struct zkr__reader *r) ZKR__LOCKED
{
    r->item = &r->list->items[r->list->next++];
    r->path = zkr__path_join(r->list->path, r->item->name);
    if (r->path == NULL)
        zkr__request_end_locked(r->all->request, ZKR_ENOMEM, "out of memory");
    else
        zkr__ask_locked(&r->ask, ZKR__ZK_GET, r->path, ZKR__RETRY_POLICY,
                        on_read);
}

static void read_next_locked(struct zkr__reader *r) ZKR__LOCKED
{
    free(r->path);
    r->path = NULL;
    r->list = find_list(r->all);
    if (r->list == NULL) {
        if (zkr__list_empty(&r->all->lists))
            zkr__request_end_locked(r->all->request, ZKR_OK, "");
        return;
    }
    r->list->reading++;
    if (r->list->acl)
        ask_for_acl_locked(r);
    else
        read_node_locked(r);
}

void zkr__readers_start_locked(struct zkr__readers *readers) ZKR__LOCKED
{
    for (size_t i = 0; i < ZKR__READERS; i++)
        read_next_locked(&readers->each[i]);
}
