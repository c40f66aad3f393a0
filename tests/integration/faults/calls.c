/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that are of no lock, or of one only. */
#include "faults/table.h"

/* A call of a row that is one call of the library, or a count that is one. */
#define CALL(name, ...)                                                        \
    static int name(struct scene *s)                                           \
    {                                                                          \
        return __VA_ARGS__;                                                    \
    }
/* A step of a row that is one call. */
#define STEP(name, ...)                                                        \
    static void name(struct scene *s)                                          \
    {                                                                          \
        __VA_ARGS__;                                                           \
    }
/* A path that begins as that of the scene. */
#define PATH(name, end)                                                        \
    static const char *name(struct scene *s)                                   \
    {                                                                          \
        return textf("%s" end, s->path);                                       \
    }
/* A call of those that reply. */
#define READ(name, ...)                                                        \
    static int name(struct scene *s)                                           \
    {                                                                          \
        struct zkr_reply *reply = NULL;                                        \
        int rc =                                                               \
            zkr_session_##name(s->ours, __VA_ARGS__, s->timeout_ms, &reply);   \
                                                                               \
        return read_reply(s, rc, reply);                                       \
    }

/* -- nodes ---------------------------------------------------------------- */

/* `other` is as good as ZOK. */
static void must_zk(struct scene *s, const char *what, int rc, int other)
{
    if (rc != ZOK && rc != other)
        wrong(s, "%s: %d", what, rc);
}

/* How often it was written, from 1 on; 0: it is not there. */
static int writes_to(struct scene *s, const char *path)
{
    struct Stat stat;
    int rc = admin_exists(s->admin, path, &stat);

    if (rc == ZNONODE)
        return 0;
    must_zk(s, path, rc, ZOK);
    return 1 + stat.version;
}

CALL(writes, writes_to(s, s->path))

PATH(below, "/below")
CALL(writes_below, writes_to(s, below(s)))

STEP(make_node,
     must_zk(s, "a node", admin_create(s->admin, s->path, "12345678"), ZOK))
STEP(there_is_one_below,
     must_zk(s, "a node below", admin_create(s->admin, below(s), "data"),
             ZNODEEXISTS))
STEP(there_is_none_below,
     must_zk(s, "no node below", admin_delete(s->admin, below(s)), ZNONODE))

static int read_reply(struct scene *s, int rc, struct zkr_reply *reply)
{
    if ((rc == ZKR_OK) != (reply != NULL))
        wrong(s, "it replies %s, and %s", reply != NULL ? "something" : "not",
              zkr_strerror(rc));
    zkr_reply_free(reply);
    return rc;
}

READ(get, s->path)
READ(exists, s->path)
READ(children, s->path)
CALL(synchronize, zkr_session_sync(s->ours, s->timeout_ms))

READ(create, below(s), "x", 1, NULL)
READ(set, s->path, "x", 1, -1)
CALL(delete, zkr_session_delete(s->ours, below(s), -1, s->timeout_ms))

static int commit(struct scene *s)
{
    AUTO(txn) txn = NULL;

    must(s, "a transaction", zkr_txn_new(s->ours, NULL, &txn));
    must(s, "a check", zkr_txn_check(txn, s->path, -1));
    must(s, "a set", zkr_txn_set(txn, s->path, "x", 1, -1));
    must(s, "a create", zkr_txn_create(txn, below(s), "x", 1, NULL));
    int rc = zkr_txn_commit(txn, s->timeout_ms);
    if ((rc == ZKR_OK) != (zkr_txn_stat(txn, 1) != NULL) ||
        (rc == ZKR_OK) != (zkr_txn_path(txn, 2) != NULL))
        wrong(s, "it gives results, or none, and %s", zkr_strerror(rc));
    if (zkr_txn_failed(txn) != -1)
        wrong(s, "operation %d has failed", zkr_txn_failed(txn));
    return rc;
}

CALL(both_writes, writes(s) + 10 * writes_below(s))

/* -- a watch -------------------------------------------------------------- */

static void on_watched(int error, const struct zkr_reply *reply,
                       enum zkr_watch_why why, void *user)
{
    struct scene *s = user;

    (void)pthread_mutex_lock(&s->lock);
    if (error != ZKR_OK)
        s->number = error;
    else if (reply->stat.version >= s->number)
        s->number = reply->stat.version + 1;
    else
        s->number = ZKR_EDAMAGED; /* it has gone back */
    (void)pthread_mutex_unlock(&s->lock);
}

static int64_t watched(struct scene *s)
{
    (void)pthread_mutex_lock(&s->lock);
    int64_t number = s->number;
    (void)pthread_mutex_unlock(&s->lock);
    return number;
}

static int await_news(struct scene *s)
{
    if (!COMES(watched(s) < 0 || watched(s) == writes(s), s->timeout_ms))
        return ZKR_ETIMEDOUT;
    return watched(s) < 0 ? (int)watched(s) : ZKR_OK;
}

static int watch(struct scene *s)
{
    zkr_watch_free(s->object);
    s->object = NULL;
    s->number = 0;
    must(s, "a watch",
         zkr_session_watch(s->ours, s->path, ZKR_WATCH_DATA, NULL, on_watched,
                           s, (zkr_watch **)&s->object));
    return await_news(s);
}

static void watch_already(struct scene *s)
{
    if (s->object == NULL)
        must(s, "the first state", watch(s));
}

static int change_and_watch(struct scene *s)
{
    (void)pthread_mutex_lock(&s->lock);
    s->number = 0; /* it may have been told an error */
    (void)pthread_mutex_unlock(&s->lock);
    must_zk(s, "a change", admin_set(s->admin, s->path, "news"), ZOK);
    return await_news(s);
}

STEP(free_watch, zkr_watch_free(s->object))

/* -- counter, barriers ---------------------------------------------------- */

static void make_counter(struct scene *s)
{
    make_node(s);
    must(s, "a counter",
         zkr_counter_new(s->ours, s->path, NULL, (zkr_counter **)&s->object));
}

PATH(deep, "/deep/number")
STEP(make_deep_counter,
     must(s, "a counter",
          zkr_counter_new(s->ours, deep(s), NULL, (zkr_counter **)&s->object)))
CALL(writes_deep, writes_to(s, deep(s)))

/* One that was asked for may come meanwhile. */
static void there_is_no_parent(struct scene *s)
{
    if (!COMES(admin_delete_tree(s->admin, s->path) == ZOK, PATIENT_MS))
        wrong(s, "the parent cannot be deleted");
}

STEP(free_counter, zkr_counter_free(s->object))
CALL(add, zkr_counter_add(s->object, 1, s->timeout_ms, &(int64_t){ 0 }))
CALL(counter_get,
     zkr_counter_get(s->object, s->timeout_ms, &(int64_t){ 0 }, NULL))
CALL(counter_set, zkr_counter_set(s->object, 7, -1, s->timeout_ms))

STEP(remember, must(s, "a read",
                    zkr_counter_get(s->object, PATIENT_MS, &s->number, NULL)))
CALL(compare_and_set,
     zkr_counter_compare_and_set(s->object, s->number, s->number + 1,
                                 s->timeout_ms, &(int64_t){ 0 }))

STEP(make_barrier,
     must(s, "a barrier",
          zkr_barrier_new(s->ours, s->path, NULL, (zkr_barrier **)&s->object)))
STEP(free_barrier, zkr_barrier_free(s->object))
CALL(set_barrier, zkr_barrier_set(s->object, s->timeout_ms))
CALL(remove_barrier, zkr_barrier_remove(s->object, s->timeout_ms))
CALL(wait_at_barrier, zkr_barrier_wait(s->object, s->timeout_ms))

STEP(there_is_none,
     must_zk(s, "no node", admin_delete(s->admin, s->path), ZNONODE))
STEP(there_is_one,
     must_zk(s, "a node", admin_create(s->admin, s->path, NULL), ZNODEEXISTS))

STEP(make_member,
     must(s, "a member",
          zkr_double_barrier_new(s->ours, s->path, 1, NULL,
                                 (zkr_double_barrier **)&s->object)))
STEP(free_member, zkr_double_barrier_free(s->object))
CALL(nodes, nodes_in(s, s->dir))
CALL(enter, zkr_double_barrier_enter(s->object, s->timeout_ms))
CALL(leave, zkr_double_barrier_leave(s->object, s->timeout_ms))

static void leave_again(struct scene *s, int rc)
{
    if (rc == ZKR_OK)
        rc = zkr_double_barrier_leave(s->object, PATIENT_MS);
    if (rc == ZKR_OK || rc == ZKR_ELOST) /* its session had ended inside */
        return;
    if (zkr_double_barrier_leave(s->object, 0) != ZKR_ENOTHELD)
        wrong(s, "it is inside after an error");
}

PATH(ready, "/ready")
STEP(nobody_is_ready,
     must_zk(s, "no ready", admin_delete(s->admin, ready(s)), ZNONODE))

static void be_inside(struct scene *s)
{
    nobody_is_ready(s);
    must(s, "an enter", zkr_double_barrier_enter(s->object, PATIENT_MS));
}

/* -- a mutex -------------------------------------------------------------- */

typedef int lock_new(zkr_session *session, const char *path,
                     const struct zkr_lockable_opts *opts,
                     zkr_lockable **ret_lock);

static void make_locks(struct scene *s, lock_new *new)
{
    must(s, "a lock",
         new (s->ours, s->path, NULL, (zkr_lockable **)&s->object));
    must(s, "their lock",
         new (s->theirs, s->path, NULL, (zkr_lockable **)&s->their_object));
}

STEP(make_mutexes, make_locks(s, zkr_mutex_new))

static void free_locks(struct scene *s)
{
    zkr_grant_free(s->grant);
    zkr_grant_free(s->their_grant);
    zkr_lockable_free(s->object);
    zkr_lockable_free(s->their_object); /* which ends the wait through it */
}

static void hold(struct scene *s)
{
    proxy_reset_counts(s->proxy);
    must(s, "an acquire", zkr_mutex_acquire(s->object, PATIENT_MS, &s->grant));
    listen_and_be_watched(s);
}

static void forget(struct scene *s, int rc)
{
    zkr_grant_free(s->grant);
    s->grant = NULL;
}

static void end_hold(struct scene *s, int rc)
{
    must_unless_over(s, "a release", zkr_grant_release(s->grant));
    forget(s, rc);
}

CALL(verify, zkr_grant_verify(s->grant, s->timeout_ms))

static int close_it(struct scene *s)
{
    int rc = zkr_session_close(s->ours);

    s->ours = NULL;
    return rc;
}

PATH(data_of, "-data")
CALL(writes_to_data, writes_to(s, data_of(s)))

static void hold_data(struct scene *s)
{
    must_zk(s, "data", admin_create(s->admin, data_of(s), NULL), ZNODEEXISTS);
    hold(s);
}

static void hold_no_data(struct scene *s)
{
    (void)admin_delete(s->admin, data_of(s));
    hold(s);
}

CALL(guarded_set, zkr_grant_guarded_set(s->grant, data_of(s), "x", 1, -1,
                                        s->timeout_ms, NULL))
CALL(guarded_create,
     zkr_grant_guarded_create(s->grant, data_of(s), "x", 1, s->timeout_ms))
CALL(guarded_delete,
     zkr_grant_guarded_delete(s->grant, data_of(s), -1, s->timeout_ms))

static int guarded_commit(struct scene *s)
{
    AUTO(txn) txn = NULL;

    must(s, "a transaction", zkr_txn_new_guarded(s->grant, &txn));
    must(s, "a set", zkr_txn_set(txn, data_of(s), "x", 1, -1));
    return zkr_txn_commit(txn, s->timeout_ms);
}

static void end_guarded(struct scene *s)
{
    (void)admin_delete(s->admin, data_of(s));
    free_locks(s);
}

/* -- those who look on ---------------------------------------------------- */

static void they_hold(struct scene *s)
{
    if (s->their_grant != NULL) { /* from the round before */
        (void)zkr_grant_release(s->their_grant);
        zkr_grant_free(s->their_grant);
        s->their_grant = NULL;
    }
    must(s, "their acquire",
         zkr_mutex_acquire(s->their_object, PATIENT_MS, &s->their_grant));
}

static int list(struct scene *s)
{
    AUTO(participants) found = NULL;
    int rc = zkr_participants_list(s->ours, s->path, NULL, &found);

    if (rc == ZKR_OK && found->count != 1)
        wrong(s, "of one participant it lists %zu", found->count);
    return rc;
}

CALL(revoke_it,
     zkr_participants_revoke(s->ours, zkr_grant_node(s->their_grant)))

static int revoked(struct scene *s)
{
    char data[32] = "";

    must_zk(
        s, "their node",
        admin_get(s->admin, zkr_grant_node(s->their_grant), data, sizeof(data)),
        ZOK);
    return strcmp(data, "__REVOKE__") == 0;
}

CALL(break_it,
     zkr_participants_break(s->ours, zkr_grant_node(s->their_grant),
                            zkr_grant_token(s->their_grant), s->timeout_ms))

/* -- a read/write lock, and a writer that waits behind -------------------- */

static void make_rwlocks(struct scene *s)
{
    s->told = recorder_new(); /* of their writer */
    make_locks(s, zkr_rwlock_new);
}

static void let_the_writer_in(struct scene *s)
{
    int64_t grant = 0;
    int code = 0;

    if (!recorder_wait(s->told, 1, PATIENT_MS))
        wrong(s, "their writer is not granted");
    else if (recorder_get(s->told, 0, &code, &grant) && code == ZKR_OK)
        must(s, "their release", zkr_grant_release((zkr_grant *)grant));
    must(s, "their writer", code);
    zkr_grant_free((zkr_grant *)grant);
    recorder_clear(s->told);
}

static void free_rwlocks(struct scene *s)
{
    free_locks(s);
    (void)recorder_wait(s->told, 1, HASTY_MS);
    recorder_free(s->told);
}

/* Tens are nodes that read. */
static int readers_and_writers(struct scene *s)
{
    char **names;
    size_t count;
    int sum = 0;

    if (admin_children(s->admin, s->path, &names, &count) != ZOK)
        return 0;
    for (size_t i = 0; i < count; i++)
        sum += strstr(names[i], "READ") != NULL ? 10 : 1;
    admin_children_free(names, count);
    return sum;
}

static void hold_write(struct scene *s)
{
    proxy_reset_counts(s->proxy);
    must(s, "a write lock",
         zkr_rwlock_acquire_write(s->object, PATIENT_MS, &s->grant));
    listen_and_be_watched(s);
    must(s, "their writer",
         zkr_rwlock_acquire_write_async(s->their_object, -1, record_acquire,
                                        s->told, NULL));
    if (!COMES(readers_and_writers(s) == 2, PATIENT_MS))
        wrong(s, "their writer does not wait");
}

/* A reader that was granted, which is `their_grant`, keeps the writer out. */
static void is_read(struct scene *s)
{
    must_unless_over(s, "a check of the read grant",
                     zkr_grant_check(s->their_grant));
    if (recorder_count(s->told) > 0 && !is_over(s))
        wrong(s, "their writer is granted beside it");
}

static int downgrade(struct scene *s)
{
    int rc = zkr_rwlock_downgrade(s->object, s->grant, &s->their_grant);

    if ((rc == ZKR_OK) != (s->their_grant != NULL))
        wrong(s, "it gives a grant, or none, and %s", zkr_strerror(rc));
    if (rc == ZKR_OK && zkr_grant_check(s->grant) != ZKR_ENOTHELD)
        wrong(s, "the write grant is held still");
    if (rc == ZKR_OK)
        is_read(s);
    return rc;
}

static int read_beside(struct scene *s)
{
    int rc = zkr_rwlock_acquire_read(s->object, s->timeout_ms, &s->their_grant);

    if (rc == ZKR_OK)
        is_read(s);
    return rc;
}

static void end_read(struct scene *s)
{
    if (s->their_grant == NULL)
        return;
    is_read(s);
    must_unless_over(s, "a release", zkr_grant_release(s->their_grant));
    zkr_grant_free(s->their_grant);
    s->their_grant = NULL;
}

static void end_both(struct scene *s, int rc)
{
    end_read(s);
    end_hold(s, rc);
    let_the_writer_in(s);
}

static void end_downgrade(struct scene *s, int rc)
{
    end_read(s);
    if (rc != ZKR_OK)
        end_hold(s, rc);
    else
        forget(s, rc);
    let_the_writer_in(s);
}

/* -- several grants ------------------------------------------------------- */

enum { PERMITS = 3 };

/* They are so many in `number`, at `their_object`. */
static int checked(struct scene *s, int rc)
{
    if (rc == ZKR_OK)
        must_unless_over(s, "a check",
                         zkr_grants_check(s->their_object, (size_t)s->number));
    return rc;
}

CALL(release_all, zkr_grants_release(s->their_object, (size_t)s->number))

static void forget_all(struct scene *s, int rc)
{
    zkr_grants_free(s->their_object, (size_t)s->number);
}

static void end_all(struct scene *s, int rc)
{
    if (rc == ZKR_OK)
        must_unless_over(s, "a release", release_all(s));
    forget_all(s, rc);
}

static void make_permits(struct scene *s)
{
    must(s, "a semaphore",
         zkr_semaphore_new(s->ours, s->path, PERMITS, NULL,
                           (zkr_semaphore **)&s->object));
    s->their_object = calloc(PERMITS, sizeof(zkr_grant *));
    s->number = PERMITS;
    PRINT(s->dir, "%s/leases", s->path);
}

static void free_permits(struct scene *s)
{
    zkr_semaphore_free(s->object);
    free(s->their_object);
}

CALL(acquire_many,
     checked(s, zkr_semaphore_acquire_many(s->object, PERMITS, s->timeout_ms,
                                           s->their_object)))
STEP(hold_many, must(s, "permits", acquire_many(s)))

/* A multi-lock and its two mutexes; the nodes of both are counted. */
static void make_two(struct scene *s)
{
    zkr_lockable **locks = calloc(3, sizeof(*locks));

    s->object = locks;
    s->their_object = calloc(2, sizeof(zkr_grant *));
    s->number = 2;
    must(s, "a multi-lock", zkr_multi_lock_new(s->ours, NULL, &locks[0]));
    for (int i = 1; i <= 2; i++) {
        must(s, "a mutex",
             zkr_mutex_new(s->ours, textf("%s/%d", s->path, i), NULL,
                           &locks[i]));
        must(s, "a mutex of both",
             zkr_multi_lock_add(locks[0], locks[i], NULL));
    }
}

static void free_two(struct scene *s)
{
    zkr_lockable **locks = s->object;

    for (int i = 0; i < 3; i++)
        zkr_lockable_free(locks[i]);
    free(locks);
    free(s->their_object);
}

CALL(nodes_of_two,
     nodes_in(s, textf("%s/1", s->path)) + nodes_in(s, textf("%s/2", s->path)))

CALL(acquire_both,
     checked(s, zkr_multi_lock_acquire(*(zkr_lockable **)s->object,
                                       s->timeout_ms, s->their_object)))
STEP(hold_both, must(s, "both", acquire_both(s)))

/* clang-format off */
#define ON_COUNTER .make = make_counter, .count = writes, .end = free_counter
#define AT_BARRIER .make = make_barrier, .end = free_barrier
#define AS_MEMBER  .make = make_member, .count = nodes, .end = free_member
#define ON_MUTEX   .make = make_mutexes, .end = free_locks
#define GUARDED                                                                \
    .make = make_mutexes, .count = writes_to_data, .undo = end_hold,           \
    .end = end_guarded, .not_its = "sync *"
#define BESIDE                                                                 \
    .make = make_rwlocks, .ready = hold_write, .count = readers_and_writers,    \
    .end = free_rwlocks, .not_its = "sync *"
#define PERMITTED                                                              \
    .make = make_permits, .count = nodes, .end = free_permits,               \
    .not_its = LATER
#define BOTH                                                                   \
    .make = make_two, .count = nodes_of_two, .end = free_two, .not_its = LATER

const struct call other_calls[] = {
    { .name = "get", .run = get, .make = make_node },
    { .name = "exists", .run = exists, .make = make_node },
    { .name = "children", .run = children, .make = make_node },
    { .name = "sync", .run = synchronize, .named = "sync '/'" },
    { .name = "create", .run = create, .change = 1, .count = writes_below,
      .make = make_node, .ready = there_is_none_below },
    { .name = "set", .run = set, .change = 1, .count = writes, .make = make_node },
    { .name = "delete", .run = delete, .change = -1, .count = writes_below,
      .make = make_node, .ready = there_is_one_below },
    { .name = "commit", .named = "transaction of 3", .run = commit, .change = 11,
      .count = both_writes, .make = make_node, .ready = there_is_none_below },
    { .name = "watch", .named = "", .run = watch, .make = make_node, .end = free_watch },
    { .name = "watched change", .named = "", .run = change_and_watch,
      .make = make_node, .ready = watch_already, .end = free_watch },

    { .name = "counter get", .run = counter_get, ON_COUNTER },
    { .name = "first add", .run = add, .change = 1, .count = writes_deep,
      .make = make_deep_counter, .ready = there_is_no_parent, .end = free_counter },
    { .name = "add", .run = add, .change = 1, ON_COUNTER },
    { .name = "counter set", .run = counter_set, .change = 1, ON_COUNTER },
    { .name = "compare and set", .run = compare_and_set, .change = 1,
      .ready = remember, ON_COUNTER },

    { .name = "barrier set", .run = set_barrier, .change = 1, .count = writes,
      .ready = there_is_none, AT_BARRIER },
    { .name = "barrier remove", .run = remove_barrier, .change = -1,
      .count = writes, .ready = there_is_one, AT_BARRIER },
    { .name = "barrier wait", .run = wait_at_barrier, .ready = there_is_one,
      .meanwhile = there_is_none, AT_BARRIER },
    { .name = "enter", .run = enter, .change = 2, .ready = nobody_is_ready,
      .undo = leave_again, AS_MEMBER },
    { .name = "leave", .run = leave, .change = -2, .ready = be_inside, AS_MEMBER },

    { .name = "verify", .run = verify, .count = nodes, .ready = hold, .undo = end_hold, ON_MUTEX },
    { .name = "guarded set", .run = guarded_set, .change = 1, .ready = hold_data, GUARDED },
    { .name = "guarded create", .run = guarded_create, .change = 1,
      .ready = hold_no_data, GUARDED },
    { .name = "guarded delete", .run = guarded_delete, .change = -1, .ready = hold_data, GUARDED },
    { .name = "guarded commit", .run = guarded_commit, .change = 1, .ready = hold_data, GUARDED },
    { .name = "close", .named = "session to", .run = close_it, .change = -1,
      .count = nodes, .ready = hold, .undo = forget, .session_ms = 4000, ON_MUTEX },

    { .name = "list", .run = list, .ready = they_hold, ON_MUTEX },
    { .name = "revoke", .run = revoke_it, .change = 1, .count = revoked,
      .ready = they_hold, ON_MUTEX },
    { .name = "break", .run = break_it, .change = -1, .count = nodes,
      .ready = they_hold, ON_MUTEX },

    { .name = "downgrade", .run = downgrade, .change = 9, .undo = end_downgrade, BESIDE },
    { .name = "read beside", .run = read_beside, .change = 10, .undo = end_both, BESIDE },

    { .name = "acquire many", .run = acquire_many, .change = PERMITS, .undo = end_all, PERMITTED },
    { .name = "release many", .run = release_all, .change = -PERMITS,
      .ready = hold_many, .undo = forget_all, PERMITTED },
    { .name = "acquire both", .run = acquire_both, .change = 2, .undo = end_all, BOTH },
    { .name = "release both", .run = release_all, .change = -2,
      .ready = hold_both, .undo = forget_all, BOTH },
};
/* clang-format on */

const size_t other_call_count = COUNT(other_calls);
