/* SPDX-License-Identifier: Apache-2.0 */
#include "model/breaking.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/grow.h"
#include "common/words.h"
#include "protocol/owner.h"

/* --- which one --- */

static const struct contender *find(const struct lock *lock, int64_t token)
{
    if (token == 0)
        return lock->holders == 1 ? lock->holder : NULL;
    const struct contender *c = lock_find(lock, token, true, NULL);
    return c != NULL ? c : lock_find(lock, token, false, NULL);
}

/* The token selects one of several contenders, unless two have the same token.
 */
const struct contender *breaking_choose(const struct lock *lock, int64_t token)
{
    const struct contender *c = find(lock, token);
    char word[WORD_MAX];

    if (c == NULL && lock->holders == 0 && (token == 0 || lock->waiters == 0))
        (void)lockctl_fail(EX_DATAERR, "nobody holds it");
    else if (token == 0 && lock->holders > 1)
        (void)lockctl_fail(EX_DATAERR,
                           "there are %zu holders: say which, by --token "
                           "(zk-lockctl show)",
                           lock->holders);
    else if (c == NULL)
        (void)lockctl_fail(EX_DATAERR,
                           "nobody holds it with the token %s, and nobody "
                           "waits with it%s",
                           word_token(token, word),
                           lock->cut ? " among the first of the queue" : "");
    else if (c->node->token == 0)
        (void)lockctl_fail(EX_NOPERM,
                           "the node of the holder may not be read, so it "
                           "cannot be known again");
    else if (lock_find(lock, c->node->token, c->node->holds, c) != NULL)
        (void)lockctl_fail(EX_DATAERR,
                           "several %s the token %s: they cannot be told apart",
                           c->node->holds ? "hold it with" : "wait with",
                           word_token(c->node->token, word));
    else
        return c;
    return NULL;
}

/* --- what it would mean --- */

char *breaking_command(const struct contender *c, bool asks, const char *reason)
{
    char *path = shell_path(c->path); /* others chose these bytes */
    char *why = shell_quote(reason == NULL ? "" : reason);
    char token[WORD_MAX];
    char *made = NULL;

    if (asprintf(&made, "zk-lockctl %s%s%s%s %s",
                 asks ? "revoke" : "break --token ",
                 asks ? "" : word_token(c->node->token, token),
                 reason == NULL ? "" : " --reason ", reason == NULL ? "" : why,
                 path) < 0)
        made = NULL;
    free(why);
    free(path);
    return enough(made);
}

static void tell_liveness(struct notes *lines, const struct contender *c,
                          const struct servers *servers)
{
    const struct client *client = servers_client(servers, c->node->session_id);

    if (c->node->session_id == 0) {
        notes_add(lines, "  its node belongs to no session: it stays until "
                         "somebody deletes it");
        return;
    }
    if (client != NULL) {
        notes_add(lines, "  it is connected from %s to %s, session timeout %gs",
                  client->address, client->server,
                  (double)client->timeout_ms / 1000);
        return;
    }
    notes_add(lines, "  its session %s",
              servers_lack(servers, c->node->session_id)
                  ? "lives or is about to end; it is not connected to any "
                    "server"
                  : "may live; the servers do not tell");
}

static void tell_danger(struct notes *lines, const struct contender *c,
                        const struct servers *servers)
{
    if (c->dialect == ZKR__DIALECT_UNKNOWN)
        notes_add(lines,
                  "  DANGER: its node does not tell its client. With "
                  "zkrecipes it is told soon after; any other client does "
                  "not look at its own node, and goes on as if it held. Stop "
                  "it first");
    else if (zkr__sees_its_own_node(c->dialect))
        notes_add(lines,
                  "  it is told %s, but is not stopped: until then both "
                  "may work",
                  servers_lack(servers, c->node->session_id)
                      ? "when it is connected again"
                      : "soon after");
    else
        notes_add(lines,
                  "  DANGER: a holder in the dialect %s does not look at its "
                  "own node, and goes on as if it held. Stop it first",
                  zkr__dialect_name(c->dialect));
}

static void tell_next(struct notes *lines, const struct lock *lock)
{
    const char *next = lock->kind == ZKR__KIND_SEMAPHORE
                           ? "its permit is free at once, for the next of them"
                       : lock->kind == ZKR__KIND_LATCH
                           ? "the next leads at once"
                           : "the next is granted at once";

    notes_add(lines, "  %zu waiting; %s", lock->waiters, next);
}

/* It takes nothing away from a holder. */
static void tell_waiter(struct notes *lines, const struct lock *lock,
                        const struct contender *c)
{
    notes_add(lines, "  only its node is removed: a holder keeps the lock");
    if (c->node->session_id != 0)
        notes_add(lines, "  its client, if it lives, is told that its claim "
                         "was deleted, and may enter the queue again");
    notes_add(lines, "  %zu waiting, it among them", lock->waiters);
}

static void tell_who(struct notes *lines, const struct lock *lock,
                     const struct contender *c)
{
    char who[WHO_MAX];

    if (c->node->holds)
        notes_add(lines, "%s%s is %s by %s",
                  zkr__is_lease(c->node) ? "a lease of " : "", lock->path,
                  lock->kind == ZKR__KIND_LATCH ? "led" : "held",
                  contender_who(c, who));
    else
        notes_add(lines,
                  "it is a waiter that is removed, not a holder: %s at "
                  "position %zu of the queue of %s, node %s",
                  contender_who(c, who), c->place, lock->path, c->node->name);
}

void breaking_tell(const struct lockctl *ctl, const struct lock *lock,
                   const struct contender *c, const struct servers *servers,
                   struct notes *lines)
{
    char token[WORD_MAX];
    char session[WORD_MAX];
    char age[WORD_MAX];
    char ensemble[ENSEMBLE_MAX];

    tell_who(lines, lock, c);
    notes_add(lines, "  ensemble: %s", lockctl_ensemble(ctl, ensemble));
    if (c->owner.label[0] != '\0')
        notes_add(lines, "  label: %s", c->owner.label);
    notes_add(lines, "  dialect %s, for <=%s, session %s, token %s",
              zkr__dialect_name(c->dialect),
              c->age_ms < 0 ? "?" : word_age(c->age_ms, age),
              word_id(c->node->session_id, session),
              word_token(c->node->token, token));
    tell_liveness(lines, c, servers);
    if (c->node->holds) {
        tell_danger(lines, c, servers);
        tell_next(lines, lock);
    } else {
        tell_waiter(lines, lock, c);
    }
}

enum { ATTEMPTS = 5 };

bool revoking_path(const struct lock *lock, const struct contender *c,
                   char path[NODE_PATH_MAX])
{
    int len = snprintf(path, NODE_PATH_MAX, "%s/%s", lock->path, c->node->name);

    if (len < NODE_PATH_MAX)
        return true;
    (void)lockctl_fail(EX_DATAERR, "the name of the node is too long");
    return false;
}

bool revoking_is_read(const struct contender *c)
{
    return c->dialect == ZKR__DIALECT_ZKRECIPES;
}

/* Writes into the node of the token, and no other of that name. */
static int write_once(const struct lockctl *ctl, const char *node,
                      int64_t token, const char *message)
{
    struct zkr_reply *reply = NULL;
    int rc = zkr_session_sync(ctl->session, ctl->timeout_ms);

    if (rc == ZKR_OK)
        rc = zkr_session_exists(ctl->session, node, ctl->timeout_ms, &reply);
    if (rc == ZKR_OK && reply->stat.czxid != token)
        rc = ZKR_ZNONODE;
    if (rc == ZKR_OK)
        rc = zkr_session_set(ctl->session, node, message, strlen(message),
                             reply->stat.version, ctl->timeout_ms, NULL);
    zkr_reply_free(reply);
    return rc;
}

/* Others may write meanwhile, and nobody can tell whether a request that was
 * lost was carried out. To write it twice does no harm. */
int revoking_write(const struct lockctl *ctl, const char *node, int64_t token,
                   const char *reason)
{
    char message[sizeof(ZKR__REVOKE_BECAUSE) + ZKR__REVOKE_REASON_MAX];
    int rc = ZKR_EUNKNOWN;

    (void)snprintf(message, sizeof(message), "%s%s",
                   reason == NULL ? ZKR__REVOKE_MESSAGE : ZKR__REVOKE_BECAUSE,
                   reason == NULL ? "" : reason);
    for (int i = 0;
         i < ATTEMPTS && (rc == ZKR_EUNKNOWN || rc == ZKR_ZBADVERSION); i++)
        rc = write_once(ctl, node, token, message);
    return rc;
}

int revoking_check_reason(const char *reason)
{
    size_t len = reason == NULL ? 1 : strlen(reason);
    bool is_line = len > 0 && len <= ZKR__REVOKE_REASON_MAX;

    for (size_t i = 0; reason != NULL && is_line && i < len; i++)
        is_line = iscntrl((unsigned char)reason[i]) == 0;
    return is_line ? 0
                   : lockctl_fail(EX_USAGE,
                                  "--reason: one line of at most %d bytes",
                                  ZKR__REVOKE_REASON_MAX);
}
