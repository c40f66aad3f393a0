/* RECOVERING: was our node created? The answer did not come. */
#include "lock/claim_steps.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

bool zkr__claim_asked_for(const struct zkr__claim *c, const char *name)
{
    size_t len = strlen(c->name);
    size_t digits;

    if (strncmp(name, c->name, len) != 0)
        return false;
    digits = strlen(name + len);
    if (c->complete)
        return digits == 0;
    return digits > 0 && digits <= ZKR__SEQ_DIGITS &&
           strspn(name + len, "-0123456789") == digits;
}

static bool is_as_requested(const struct zkr__claim *c, const char *path)
{
    size_t len = strlen(c->lock->dir);

    return strncmp(path, c->lock->dir, len) == 0 && path[len] == '/' &&
           zkr__claim_asked_for(c, path + len + 1);
}

/* Take the node as ours, if it is what we asked for. The token is that of the
 * place: who waits behind it already must come out higher. */
int zkr__claim_adopt(struct zkr__claim *c, const char *path,
                     const struct zkr__zk_reply *reply)
{
    if (path == NULL || !is_as_requested(c, path))
        return ZKR_EPROTO;
    if (reply->owner != c->session->id || reply->czxid <= 0)
        return ZKR_EPROTO;
    if (reply->czxid != c->czxid)
        zkr__ghosts_forget(&c->ghosts);
    if (path != c->node)
        (void)strcpy(c->node, path);
    c->czxid = reply->czxid;
    c->token = c->beside == NULL ? reply->czxid : c->beside->token;
    return ZKR_OK;
}

static void on_look(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__claim *c = ZKR__CONTAINER(op, struct zkr__claim, create);

    if (zkr__claim_in_state(c, ZKR__CLAIM_RECOVERING) &&
        !zkr__claim_is_over(c)) {
        if (reply->rc == ZKR__ZNONODE)
            zkr__claim_recover_locked(c, "it has gone");
        else if (reply->rc != ZKR_OK)
            zkr__claim_give_up_locked(c, reply->rc, "cannot look at our node");
        else if (zkr__claim_adopt(c, c->node, reply) == ZKR_OK)
            zkr__claim_list_locked(c, "found, and ours");
        else
            zkr__claim_give_up_locked(c, ZKR_EPROTO,
                                      "'%s' is not of our session", c->node);
    }
    zkr__claim_unref(c);
}

static void on_searched(struct zkr__search *search, int rc)
{
    struct zkr__claim *c = ZKR__CONTAINER(search, struct zkr__claim, search);

    if (zkr__claim_in_state(c, ZKR__CLAIM_RECOVERING) &&
        !zkr__claim_is_over(c)) {
        if (rc != ZKR_OK) {
            zkr__claim_give_up_locked(c, rc, "cannot search our node");
        } else if (search->found[0] == '\0') {
            zkr__claim_pause_locked(c);
        } else {
            (void)snprintf(c->node, c->path_size, "%s/%s", c->lock->dir,
                           search->found);
            zkr__claim_ask_locked(c, &c->create, ZKR__ZK_EXISTS, c->node,
                                  ZKR__RETRY_POLICY, on_look);
        }
    }
    zkr__claim_unref(c);
}

/* The answer to the create did not come. It may have been carried out, now or a
 * little later; a second node would make us wait for ourselves. */
void zkr__claim_recover_locked(struct zkr__claim *c, const char *why)
{
    zkr__sm_move(&c->sm, ZKR__CLAIM_RECOVERING, why);
    c->thorough = true;
    c->node[0] = '\0';
    c->search.dir = c->lock->dir;
    c->search.tag = c->name;
    c->search.tag_len = zkr__node_name_tag_len(c->lock->layout);
    c->search.markers = &c->recipe->markers;
    zkr__claim_ref(c);
    zkr__search_start_locked(&c->search, ZKR__RETRY_POLICY, on_searched);
}
