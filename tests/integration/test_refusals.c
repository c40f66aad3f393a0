/* SPDX-License-Identifier: Apache-2.0 */
/* Tests in which the client refuses requests because it has no memory. The
 * requests end in their order, and those that were sent before are neither
 * forgotten nor taken for undone. */
#include <limits.h>

#include "zk/zk.h"

/* It has names that headers above have, too. */
#include "usual.h"

static char data[64];

/* The next `refuse_count` requests of that type; see meson.build. */
static atomic_int refuse_type;
static atomic_int refuse_count;
static atomic_int refuse_with;

__typeof__(zkr__zk_submit) __real_zkr__zk_submit, __wrap_zkr__zk_submit;

int __wrap_zkr__zk_submit(struct zkr__zk *zk, struct zkr__zk_request *r,
                          uintptr_t id)
{
    if ((int)r->type == atomic_load(&refuse_type) &&
        atomic_fetch_sub(&refuse_count, 1) > 0)
        return atomic_load(&refuse_with);
    return __real_zkr__zk_submit(zk, r, id);
}

static void refuse(enum zkr__zk_type type, int count, int rc)
{
    atomic_store(&refuse_with, rc);
    atomic_store(&refuse_type, (int)type);
    atomic_store(&refuse_count, count);
}

static int setup(void)
{
    (void)usual_setup();
    (void)snprintf(data, sizeof(data), "%s", new_path());
    release(acquire(m));
    return 0;
}

static int teardown(void)
{
    refuse(ZKR__ZK_CREATE, 0, ZMARSHALLINGERROR);
    return usual_teardown();
}

FIXTURE(setup, teardown)

/* Regression: the list ended before the create was answered, and the claim went
 * on without knowing its result: it made an illegal move, or left a node
 * behind. */
TEST(a_refused_list_waits_for_the_create)
{
    for (int i = 0; i < 2; i++) {
        /* A refused request counts for its own attempt only: the next attempt,
         * after the directory has been made, waits for its own list. */
        if (i == 1)
            ok(admin_delete(admin, path));
        proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_HOLD_REPLY);
        refuse(ZKR__ZK_CHILDREN, 1, ZMARSHALLINGERROR);
        struct waiter w = WAITER(start, m, SOON_MS);
        assert_true(proxy_wait_rule(proxy, SOON_MS));
        assert_false(waiter_is_done(&w));
        proxy_release(proxy);
        ok(waiter_join(&w));
        assert_int_equal(count_children(path), 1);
        release(w.grant);
        assert_int_equal(count_children(path), 0);
    }
}

static const struct {
    const char *name;
    enum zkr__zk_type type;
    int count;
    bool lost; /* the answer to the create */
} refused[] = { { "a list, and a lost create", ZKR__ZK_CHILDREN, 1, true },
                { "a create", ZKR__ZK_CREATE, 2, false },
                { "a delete", ZKR__ZK_DELETE, 3, false } };

TEST_ROWS(a_refused_request_is_sent_again, refused, row)
{
    if (row->lost)
        proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REPLY);
    refuse(row->type, row->count, ZMARSHALLINGERROR);
    zkr_grant *g = acquire(m);
    assert_int_equal(count_children(path), 1);
    release(g);
    assert_int_equal(count_children(path), 0);
}

TEST(a_wait_that_ends_between_the_two_leaves_nothing)
{
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_HOLD_REPLY);
    refuse(ZKR__ZK_CHILDREN, 1, ZMARSHALLINGERROR);
    assert_int_equal(zkr_mutex_acquire(m, 200, &nil), ZKR_ETIMEDOUT);
    assert_int_equal(count_children(path), 1);
    proxy_release(proxy);
    wait_children(path, 0);
    release(acquire(m));
}

/* With a lease there is always a timer that wakes somebody. */
TEST(a_refusal_needs_nothing_else_to_be_ended)
{
    AUTO(session) quiet = OPEN(.flags = ZKR_SESSION_NO_LEASE);
    AUTO(mutex) lock = new_mutex(quiet, path);
    refuse(ZKR__ZK_CREATE, 1, ZMARSHALLINGERROR);
    release(acquire(lock));
    refuse(ZKR__ZK_CHILDREN, 1, ZMARSHALLINGERROR);
    release(acquire(lock));
    assert_int_equal(count_children(path), 0);
}

/* Without the write that precedes it a search proves nothing. A node that has
 * gone since the list is searched for again. */
TEST(a_search_whose_write_is_refused_finds_nothing)
{
    static const int codes[] = { ZKR_ENOMEM, ZNOAUTH, ZNONODE };

    for (size_t i = 0; i < COUNT(codes); i++) {
        AUTO(session)
        hasty = THROUGH(.flags = ZKR_SESSION_NO_LEASE,
                        .retry = ZKR_RETRY_NONE_INIT);
        AUTO(mutex) lock = new_mutex(hasty, path);
        proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REPLY);
        if (i > 0)
            proxy_rule_error(proxy, ZOO_EXISTS_OP, 1, codes[i]);
        refuse(ZKR__ZK_CHECK, i == 0, ZKR_ENOMEM);
        if (codes[i] == ZNONODE)
            release(acquire(lock));
        else
            assert_int_equal(zkr_mutex_acquire(lock, SOON_MS, &nil), codes[i]);
        assert_null(nil);
        wait_children(path, 0);
    }
}

TEST(a_refused_list_of_participants_is_asked_for_again)
{
    static const enum zkr__zk_type types[] = { ZKR__ZK_SYNC, ZKR__ZK_CHILDREN,
                                               ZKR__ZK_GET };
    AUTO(held) g = acquire(m);

    for (size_t i = 0; i < COUNT(types); i++) {
        refuse(types[i], 2, ZMARSHALLINGERROR);
        AUTO(participants) list = list_of(s, path, NULL);
        assert_int_equal(list->count, 1);
        assert_int_equal(list->items[0].token, zkr_grant_token(g));
        assert_true(atomic_load(&refuse_count) < 0);
    }
}

/* The client refuses paths with control characters; no server allows them. */
TEST(a_node_that_the_client_refuses_is_listed_without)
{
    static const char *const names[] = { "lock-0000000001", "lock-0000000002" };

    for (size_t i = 0; i < 2; i++)
        ok(admin_create(admin, textf("%s/%s", path, names[i]), "data"));
    refuse(ZKR__ZK_GET, 1, ZBADARGUMENTS);
    AUTO(participants) list = list_of(s, path, NULL);
    assert_int_equal(list->count, 2);
    assert_int_equal(list->items[0].error, ZBADARGUMENTS);
    assert_string_equal(list->items[0].data, "");
    assert_int_equal(list->items[1].error, ZKR_OK);
    assert_string_equal(list->items[1].data, "data");
    assert_int_equal(list->items[1].waits_for, 0);
}

static void post(const char *text, struct recorder *told)
{
    ok(zkr_session_set_async(s, data, text, strlen(text), -1, -1, record_reply,
                             told));
}

/* Regression: a write that was to be sent again came behind the next one, and
 * behind a release, when others had the lock. */
TEST(a_refused_write_keeps_its_place)
{
    AUTO(recorder) told = recorder_new();
    zkr_grant *g = acquire(m);

    assert_int_equal(admin_create(admin, data, "old"), ZOK);
    refuse(ZKR__ZK_SET, 1, ZKR_ENOMEM);
    post("1st", told);
    post("2nd", told);
    release(g);
    for (size_t i = 0; i < 2; i++)
        ok(recorded(told, i));
    node_has(data, "2nd");
    assert_true(stat_of(data).mzxid < stat_of(path).pzxid);
}

/* The program has had nothing under the lock of a semaphore that keeps the
 * order, so its writes are no reason for others to wait. */
TEST(a_refused_write_keeps_no_turn)
{
    AUTO(recorder) told = recorder_new();
    AUTO(semaphore) semaphore = NEW(semaphore, s, new_path(), 2, NULL);

    assert_int_equal(admin_create(admin, data, "old"), ZOK);
    refuse(ZKR__ZK_SET, INT_MAX, ZKR_ENOMEM);
    post("new", told);
    zkr_grant *g = GRANT(semaphore_acquire, semaphore, SOON_MS);
    wait_children(textf("%s/locks", zkr_lockable_path(semaphore)), 0);
    assert_int_equal(recorder_count(told), 0);
    atomic_store(&refuse_count, 0);
    release(g);
    assert_true(recorder_wait(told, 1, SOON_MS));
}
