/* SPDX-License-Identifier: Apache-2.0 */
/* Users who write the data that the lock protects, mostly guarded writes. */
#include "users.h"

#define SHARED_PATH "/locks/data"

/* The ways to write. */
enum how {
    GUARDED,
    TOGETHER, /* guarded, with a check of the version as an operation */
    PLAIN,    /* whoever has the lock */
    HOWS,
};

struct writing {
    const struct process *process;
    zkr_grant *grant;
    struct write *write;
    enum how how;
    int32_t version; /* to expect */
    int64_t timeout_ms;
};

/* Of the last of one or two operations. */
static const struct zkr_stat *stat_of(const zkr_txn *txn)
{
    const struct zkr_stat *second = zkr_txn_stat(txn, 1);

    return second == NULL ? zkr_txn_stat(txn, 0) : second;
}

static void on_committed(int rc, zkr_txn *txn, void *user)
{
    writes_told(user, rc, stat_of(txn));
}

static void on_answered(int rc, const struct zkr_reply *reply, void *user)
{
    writes_told(user, rc, reply == NULL ? NULL : &reply->stat);
}

static int ask_plain(const struct writing *w, bool waits,
                     struct zkr_stat *ret_stat)
{
    const char *path = process_sees(w->process, w->write->path);
    const char *data = w->write->data;
    zkr_session *s = w->process->session;
    struct zkr_reply *reply = NULL;
    int64_t ms = w->timeout_ms;
    size_t len = strlen(data);

    if (w->write->type == ZKR__ZK_CREATE)
        return waits ? zkr_session_create(s, path, data, len, NULL, ms, NULL)
                     : zkr_session_create_async(s, path, data, len, NULL, ms,
                                                on_answered, w->write);
    if (w->write->type == ZKR__ZK_DELETE)
        return waits ? zkr_session_delete(s, path, w->version, ms)
                     : zkr_session_delete_async(s, path, w->version, ms,
                                                on_answered, w->write);
    if (!waits)
        return zkr_session_set_async(s, path, data, len, w->version, ms,
                                     on_answered, w->write);
    int rc = zkr_session_set(s, path, data, len, w->version, ms, &reply);
    if (rc == ZKR_OK)
        *ret_stat = reply->stat;
    zkr_reply_free(reply);
    return rc;
}

static int add_operations(const struct writing *w, zkr_txn *txn)
{
    const char *path = process_sees(w->process, w->write->path);
    const char *data = w->write->data;
    int32_t version = w->how == TOGETHER ? ZKR_ANY_VERSION : w->version;
    int rc = ZKR_OK;

    if (w->write->type == ZKR__ZK_CREATE)
        return zkr_txn_create(txn, path, data, strlen(data), NULL);
    if (w->how == TOGETHER)
        rc = zkr_txn_check(txn, path, w->version);
    if (rc != ZKR_OK)
        return rc;
    return w->write->type == ZKR__ZK_DELETE
               ? zkr_txn_delete(txn, path, version)
               : zkr_txn_set(txn, path, data, strlen(data), version);
}

static int ask_guarded(const struct writing *w, bool waits,
                       struct zkr_stat *ret_stat)
{
    zkr_txn *txn = NULL;
    int rc = zkr_txn_new_guarded(w->grant, &txn);

    if (rc == ZKR_OK)
        rc = add_operations(w, txn);
    if (rc == ZKR_OK)
        rc = waits ? zkr_txn_commit(txn, w->timeout_ms)
                   : zkr_txn_commit_async(txn, w->timeout_ms, on_committed,
                                          w->write);
    if (rc == ZKR_OK && waits && stat_of(txn) != NULL)
        *ret_stat = *stat_of(txn);
    zkr_txn_free(txn);
    return rc;
}

static void write_once(struct writing *w, const struct attempt *a,
                       enum zkr__zk_type type, const char *path)
{
    w->how = (enum how)choose(HOWS);
    w->write = writes_asked(a, type, path, w->how != PLAIN);
    w->timeout_ms = DRAW(int64_t, 0, 3000, 200, 20, -1);
    int64_t limit = process_patience(w->process, w->timeout_ms);
    w->write->until = w->timeout_ms < 0 ? INT64_MAX : sim_now + limit;
    bool waits = choose(3) > 0;
    struct call call = oracle_begins(w->process->number);
    struct zkr_stat stat = { 0 };
    int rc = w->how == PLAIN ? ask_plain(w, waits, &stat)
                             : ask_guarded(w, waits, &stat);
    if (waits && rc == ZKR_OK)
        w->version = stat.version;
    if (waits || rc != ZKR_OK)
        writes_told(w->write, rc, &stat);
    if (waits && limit > 0)
        oracle_in_time("a write", &call, limit);
}

void user_writes(const struct process *p, const struct attempt *a,
                 zkr_grant *grant)
{
    struct writing w = { .process = p, .grant = grant, .version = -1 };
    uint32_t sets = choose(3);
    char own[64];

    if (world.recipe == UNFAIR) {
        WRONG_IF(zkr_grant_guarded_set(grant, "/data", "", 0, -1, 0, NULL) !=
                     ZKR_EINVAL,
                 "the node of an unfair mutex guards a write");
        return;
    }
    if (choose(3) == 0)
        write_once(&w, a, ZKR__ZK_CREATE, SHARED_PATH);
    while (sets-- > 0)
        write_once(&w, a, ZKR__ZK_SET, SHARED_PATH);
    if (!one_in(4))
        return;
    /* a node of our own: made, and most often unmade */
    (void)snprintf(own, sizeof(own), "%s-%d", SHARED_PATH, a->number);
    write_once(&w, a, ZKR__ZK_CREATE, own);
    w.version = -1;
    if (choose(3) > 0)
        write_once(&w, a, ZKR__ZK_DELETE, own);
}
