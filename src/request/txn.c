/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions of the program: several writes and checks, all or none. */
#include "request/txn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "request/copy.h"
#include "session/session.h"

/* Of the request, below the 1,048,575 that servers take. */
#define BYTES_MAX 1040000
/* The bytes that one operation adds to its strings and data, at most. */
#define OPERATION_BYTES 64
#define ENTRY_BYTES     16
/* The digits of a sequential node, and a NUL. */
#define NUMBER_ROOM 11

struct step {
    struct zkr__copy copy;
    struct zkr_stat stat;
    bool is_set; /* a SET that was made */
    char made[]; /* room for the path of a CREATE; "": it was not made */
};

struct zkr_txn {
    struct zkr__request request;
    struct zkr__txn_guard guard;
    struct zkr__zk_request check; /* of the node of the guard */
    struct zkr__zk_multi multi;
    struct step **steps;
    size_t count;
    size_t bytes;
    bool committed;
    int failed; /* the operation; -1: none, or unknown */
    zkr_txn_fn fn;
    void *user;
};

static zkr_txn *of(const struct zkr__request *r)
{
    return ZKR__CONTAINER(r, zkr_txn, request);
}

static bool is_guarded(const zkr_txn *txn)
{
    return txn->request.guard != NULL;
}

/* -- the outcome ----------------------------------------------------------- */

static void keep_result(zkr_txn *txn, struct step *step,
                        const struct zkr__zk_result *result)
{
    size_t chroot_len = strlen(txn->request.session->hosts.chroot);

    if (result->path != NULL && strlen(result->path) > chroot_len)
        (void)snprintf(step->made, strlen(step->copy.path) + NUMBER_ROOM, "%s",
                       result->path + chroot_len);
    step->stat = result->stat;
    step->is_set = step->copy.request.type == ZKR__ZK_SET;
}

static bool keep(struct zkr__request *r, const struct zkr__zk_reply *reply)
{
    zkr_txn *txn = of(r);
    const struct zkr__zk_result *results = reply->results;

    if (results == NULL)
        return true;
    results += is_guarded(txn);
    for (size_t i = 0; i < txn->count; i++) {
        if (reply->rc == ZKR_OK)
            keep_result(txn, txn->steps[i], &results[i]);
        else if (results[i].rc != ZKR_OK)
            txn->failed = (int)i;
    }
    return true;
}

/* "mutex '/locks/a', operation 1, set '/data': refused" */
static int explain(const struct zkr__request *r)
{
    const zkr_txn *txn = of(r);
    const struct zkr__copy *o = NULL;
    char lock[200] = "";
    char number[32] = "";
    char reason[ZKR__REASON_MAX];

    if (is_guarded(txn))
        (void)snprintf(lock, sizeof(lock), "%s '%.100s', ", txn->guard.noun,
                       txn->guard.name);
    if (txn->count > 1 && txn->failed >= 0)
        (void)snprintf(number, sizeof(number), "operation %d, ", txn->failed);
    if (txn->failed >= 0 || txn->count == 1)
        o = &txn->steps[txn->failed < 0 ? 0 : txn->failed]->copy;
    if (o == NULL)
        return zkr__fail(r->rc, "%stransaction of %zu operations: %s", lock,
                         txn->count, r->why);
    return zkr__fail(r->rc, "%s%s%s '%.150s': %s", lock, number,
                     zkr__copy_verb(o->request.type), o->path,
                     zkr__copy_reason(o, r->rc, r->why, reason));
}

static void tell(struct zkr__request *r)
{
    zkr_txn *txn = of(r);

    if (txn->fn != NULL)
        txn->fn(r->rc, txn, txn->user);
}

static void free_step(struct step *step)
{
    zkr__copy_done(&step->copy);
    free(step);
}

static void clear(struct zkr__request *r)
{
    zkr_txn *txn = of(r);

    for (size_t i = 0; i < txn->count; i++)
        free_step(txn->steps[i]);
    free(txn->steps);
    free((void *)(uintptr_t)txn->multi.operations);
}

static const struct zkr__request_kind txn_kind = { "transaction",
                                                   sizeof(struct zkr_txn), keep,
                                                   explain, clear };

/* -- making one ------------------------------------------------------------ */

int zkr__txn_new(struct zkr_session *s, const struct zkr__txn_guard *guard,
                 zkr_txn **ret_txn)
{
    zkr_txn *txn = zkr__request_new(&txn_kind, s, NULL, ZKR__NEVER);

    if (txn == NULL)
        return ZKR_ENOMEM;
    if (guard->guard != NULL)
        zkr__ref_take(guard->holder);
    txn->request.guard = guard->guard;
    txn->request.holder = guard->holder;
    txn->guard = *guard;
    txn->failed = -1;
    *ret_txn = txn;
    return ZKR_OK;
}

void zkr_txn_free(zkr_txn *txn)
{
    if (txn != NULL)
        zkr__request_unref(&txn->request);
}

/* Every function that changes it begins with this. */
static int check_txn(const zkr_txn *txn)
{
    if (txn == NULL)
        return zkr__fail(ZKR_EINVAL, "transaction is NULL");
    int rc = zkr__session_check(txn->request.session, "transaction");
    if (rc == ZKR_OK && txn->committed)
        rc = zkr__fail(ZKR_EINVAL, "transaction: it was committed before");
    return rc;
}

static size_t bytes_of(const struct zkr_session *s, const struct zkr__copy *o)
{
    const struct zkr__acl *acl = o->special.acl == NULL ? &s->acl : &o->acl;
    size_t bytes =
        OPERATION_BYTES + strlen(o->request.path) + o->request.data_len;

    if (o->request.type != ZKR__ZK_CREATE)
        return bytes;
    for (size_t i = 0; i < acl->count; i++)
        bytes += ENTRY_BYTES + strlen(acl->entries[i].scheme) +
                 strlen(acl->entries[i].id);
    return bytes;
}

/* Takes over the step if it is added. */
static int add_step(zkr_txn *txn, struct step *step)
{
    const struct zkr__copy *o = &step->copy;
    size_t bytes = bytes_of(txn->request.session, o);
    struct step **steps;

    if (o->request.mode >= ZKR_CREATE_CONTAINER)
        return zkr__fail(ZKR_EINVAL,
                         "transaction, create '%.300s': no container, and no "
                         "node with a TTL",
                         o->path);
    if (txn->bytes + bytes > BYTES_MAX)
        return zkr__fail(
            ZKR_ETOOLONG,
            "transaction, %s '%.300s': more than %d bytes together",
            zkr__copy_verb(o->request.type), o->path, BYTES_MAX);
    steps = realloc(txn->steps, (txn->count + 1) * sizeof(struct step *));
    if (steps == NULL)
        return zkr__no_memory("transaction", NULL);
    txn->steps = steps;
    txn->bytes += bytes;
    steps[txn->count++] = step;
    return ZKR_OK;
}

static int add(zkr_txn *txn, const struct zkr__zk_request *asked,
               const struct zkr_create_opts *opts)
{
    size_t len = asked->path == NULL ? 0 : strlen(asked->path);
    int rc = check_txn(txn);

    if (rc != ZKR_OK)
        return rc;
    struct step *step = calloc(1, sizeof(*step) + len + NUMBER_ROOM);
    if (step == NULL)
        return zkr__no_memory("transaction", NULL);
    rc = zkr__copy_init(&step->copy, txn->request.session, asked, opts);
    if (rc == ZKR_OK)
        rc = add_step(txn, step);
    if (rc != ZKR_OK)
        free_step(step);
    return rc;
}

int zkr_txn_check(zkr_txn *txn, const char *path, int32_t version)
{
    return add(txn, ZKR__CHECK(path, version), NULL);
}

int zkr_txn_create(zkr_txn *txn, const char *path, const void *data, size_t len,
                   const struct zkr_create_opts *opts)
{
    return add(txn, ZKR__CREATE(path, data, len), opts);
}

int zkr_txn_set(zkr_txn *txn, const char *path, const void *data, size_t len,
                int32_t version)
{
    return add(txn, ZKR__SET(path, data, len, version), NULL);
}

int zkr_txn_delete(zkr_txn *txn, const char *path, int32_t version)
{
    return add(txn, ZKR__DELETE(path, version), NULL);
}

/* -- the commit ------------------------------------------------------------ */

static int fill_multi(zkr_txn *txn)
{
    const struct zkr__zk_request **operations =
        calloc(1 + txn->count, sizeof(*operations));

    if (operations == NULL)
        return zkr__no_memory("transaction", NULL);
    txn->multi.operations = operations;
    if (is_guarded(txn)) {
        txn->check = (struct zkr__zk_request){ .type = ZKR__ZK_CHECK,
                                               .path = txn->guard.guard->path(
                                                   txn->guard.holder),
                                               .version = ZKR_ANY_VERSION };
        operations[txn->multi.count++] = &txn->check;
    }
    for (size_t i = 0; i < txn->count; i++)
        operations[txn->multi.count++] = &txn->steps[i]->copy.request;
    txn->request.ask.op.request.multi = &txn->multi;
    txn->request.ask.op.request.type = ZKR__ZK_MULTI;
    txn->request.ask.op.request.path = operations[0]->path; /* for the log */
    return ZKR_OK;
}

/* The caller waits, or is told: `tell_it` is tell(). */
static int commit(zkr_txn *txn, int64_t timeout_ms,
                  void (*tell_it)(struct zkr__request *r), zkr_txn_fn fn,
                  void *user)
{
    int rc = check_txn(txn);

    if (rc == ZKR_OK && txn->count == 0)
        rc = zkr__fail(ZKR_EINVAL, "transaction: it has no operation");
    if (rc != ZKR_OK)
        return rc;
    txn->committed = true;
    txn->fn = fn;
    txn->user = user;
    txn->request.tell = tell_it;
    txn->request.deadline =
        zkr__session_deadline(txn->request.session, timeout_ms);
    rc = fill_multi(txn);
    return rc == ZKR_OK
               ? zkr__request_run(&txn->request, zkr__request_send_locked)
               : rc;
}

int zkr_txn_commit(zkr_txn *txn, int64_t timeout_ms)
{
    return commit(txn, timeout_ms, NULL, NULL, NULL);
}

int zkr_txn_commit_async(zkr_txn *txn, int64_t timeout_ms, zkr_txn_fn fn,
                         void *user)
{
    return commit(txn, timeout_ms, tell, fn, user);
}

int zkr_txn_failed(const zkr_txn *txn)
{
    return txn == NULL ? -1 : txn->failed;
}

static const struct step *step_of(const zkr_txn *txn, size_t operation)
{
    return txn == NULL || operation >= txn->count ? NULL
                                                  : txn->steps[operation];
}

const char *zkr_txn_path(const zkr_txn *txn, size_t operation)
{
    const struct step *step = step_of(txn, operation);

    return step == NULL || step->made[0] == '\0' ? NULL : step->made;
}

const struct zkr_stat *zkr_txn_stat(const zkr_txn *txn, size_t operation)
{
    const struct step *step = step_of(txn, operation);

    return step == NULL || !step->is_set ? NULL : &step->stat;
}
