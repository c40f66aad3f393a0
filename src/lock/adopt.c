/* SPDX-License-Identifier: Apache-2.0 */
/* Adopts a node: it is ours if it is the one that the claim asked for, and of
 * this session. */
#include "lock/steps.h"

#include <string.h>

#include "base/error.h"
#include "base/log.h"

bool zkr__claim_asked_for(const struct zkr__claim *c, const char *name)
{
    size_t len = strlen(c->node->name);

    if (strncmp(name, c->node->name, len) != 0)
        return false;
    size_t digits = strlen(name + len);
    if (c->node->complete)
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

/* Takes the node as ours, if it is the one that we asked for. The token is that
 * of the place: a contender that waits behind it already must get a higher
 * one. */
int zkr__claim_adopt(struct zkr__claim *c, const char *path,
                     const struct zkr__zk_reply *reply)
{
    if (path == NULL || !is_as_requested(c, path))
        return ZKR_EPROTO;
    if (reply->stat.ephemeral_owner != c->session->id || reply->stat.czxid <= 0)
        return ZKR_EPROTO;
    if (reply->stat.czxid != c->node->czxid)
        zkr__ghosts_forget(c->ghosts);
    if (path != c->node->path)
        (void)strcpy(c->node->path, path);
    c->node->czxid = reply->stat.czxid;
    c->node->token =
        c->beside == NULL ? reply->stat.czxid : c->beside->node->token;
    return ZKR_OK;
}

/* The counter of the server sticks at 2^31-1 or goes negative: from there on,
 * sequence numbers say nothing about the order, for any client. */
bool zkr__claim_is_exhausted_locked(struct zkr__claim *c)
{
    int64_t seq = c->place.seq;

    if (seq >= ZKR__SEQ_WARN && seq < ZKR__SEQ_MAX)
        zkr__log(ZKR_LOG_WARNING,
                 "%s '%s': sequence number %lld of at most %lld; let the "
                 "directory be removed when it is empty",
                 c->recipe->noun, c->lock->path, (long long)seq,
                 (long long)ZKR__SEQ_MAX);
    if (seq >= 0 && seq < ZKR__SEQ_MAX)
        return false;
    zkr__claim_give_up_locked(c, ZKR_EEXHAUSTED,
                              "node '%s' has no usable sequence number",
                              c->node->path);
    return true;
}
