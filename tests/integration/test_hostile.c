/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with answers that no server should send (names that lead elsewhere,
 * nodes that cannot be ours), or that come once in 2^31 times, and without
 * events that some servers do not send (of a node that may not be read). */
#include "base/clock.h"
#include "request/client.h"
#include "session/watch.h"

/* It has names that headers above have, too. */
#include "usual.h"

#ifndef ZOO_REMOVE_WATCHES
#define ZOO_REMOVE_WATCHES 18
#endif

/* The library looks for a node that may not be read every 1000 ms. */
#define SLOWER_THAN_THAT_MS 1100

/* The next matching answer is changed; see meson.build. */
static atomic_int wrong_path, wrong_czxid, wrong_child, no_events, no_parent;
static atomic_int version; /* of all nodes with eight bytes; 0: their own */

__typeof__(zkr__op_on_reply) __real_zkr__op_on_reply, __wrap_zkr__op_on_reply;
__typeof__(zkr__session_ask) __real_zkr__session_ask, __wrap_zkr__session_ask;
__typeof__(zkr__watch_on_event) __real_zkr__watch_on_event,
    __wrap_zkr__watch_on_event;

static bool take_one(atomic_int *count)
{
    return atomic_load(count) > 0 && atomic_fetch_sub(count, 1) > 0;
}

void __wrap_zkr__op_on_reply(zkr_session *of, uintptr_t id,
                             const struct zkr__zk_reply *reply)
{
    struct zkr__zk_reply changed = *reply;
    const char *names[2];
    char other[256];

    if (reply->path != NULL && take_one(&wrong_path)) {
        (void)snprintf(other, sizeof(other), "%s", reply->path);
        other[strlen(path) + sizeof("/_c_")] ^= 1; /* in the UUID */
        changed.path = other;
    }
    if (reply->path != NULL && take_one(&wrong_czxid))
        changed.stat.czxid = 0;
    if (reply->name_count == 1 && take_one(&wrong_child)) {
        names[0] = reply->names[0];
        names[1] = "../lock-0000000000";
        changed.names = names;
        changed.name_count = 2;
    }
    if (reply->data_len == 8 && atomic_load(&version) != 0)
        changed.stat.version = atomic_load(&version);
    __real_zkr__op_on_reply(of, id, &changed);
}

/* The answer comes right before the deadline: the parents have gone again. */
int __wrap_zkr__session_ask(struct zkr_session *session,
                            const struct zkr__zk_request *asked,
                            const struct zkr_create_opts *opts,
                            int64_t deadline, struct zkr_reply **ret_reply)
{
    if (asked->type != ZKR__ZK_CREATE || !take_one(&no_parent))
        return __real_zkr__session_ask(session, asked, opts, deadline,
                                       ret_reply);
    while (zkr__clock_now() < deadline)
        sleep_ms(1);
    return ZKR_ZNONODE;
}

void __wrap_zkr__watch_on_event(struct zkr__watch *watch, bool deleted)
{
    if (atomic_load(&no_events) == 0)
        __real_zkr__watch_on_event(watch, deleted);
}

static int setup(void)
{
    (void)usual_setup();
    release(acquire(m));
    return 0;
}

static int teardown(void)
{
    wrong_path = wrong_czxid = wrong_child = no_events = no_parent = 0;
    version = 0;
    return usual_teardown();
}

FIXTURE(setup, teardown)

static void is_refused_and_leaves_nothing(void)
{
    assert_int_equal(zkr_mutex_acquire(m, SOON_MS, &nil), ZKR_EPROTO);
    assert_null(nil);
    wait_children(path, 0);
    assert_int_equal(zkr_session_epoch(s), 1); /* not with the session */
    release(acquire(m));
}

/* A path made with this name would be that of somebody else's node. */
TEST(a_child_that_is_a_path_is_not_followed)
{
    const char *node = textf("%s/x", path);

    ok(admin_create(admin, node, NULL));
    ok(admin_delete(admin, node)); /* now it lists */
    atomic_store(&wrong_child, 1);
    is_refused_and_leaves_nothing();
    assert_int_equal(proxy_requests(proxy, ZOO_GETDATA_OP), 0);
}

/* Its czxid would be a token that every fence accepts, or that none does. */
TEST(a_node_of_another_name_or_that_nothing_created_is_not_ours)
{
    atomic_store(&wrong_path, 1);
    is_refused_and_leaves_nothing();
    atomic_store(&wrong_czxid, 1);
    is_refused_and_leaves_nothing();
}

/* The version of a node wraps after 2^31 writes. One below zero was expected,
 * as "any version" (the add was lost), or taken for no node at all. */
TEST(a_version_below_zero_is_not_expected)
{
    static const int versions[] = { -1, -2, -3, INT32_MIN };
    int64_t value;
    int32_t found;

    const char *node = textf("%s-number", path);
    AUTO(counter) c = NEW(counter, s, node, NULL);
    ok(zkr_counter_add(c, 5, SOON_MS, NULL));
    for (size_t i = 0; i < 4; i++) {
        atomic_store(&version, versions[i]);
        proxy_reset_counts(proxy);
        assert_int_equal(zkr_counter_add(c, 1, SOON_MS, NULL), ZKR_EEXHAUSTED);
        assert_has(zkr_error_detail(), node);
        gives(ZKR_EEXHAUSTED,
              zkr_counter_compare_and_set(c, 5, 6, SOON_MS, &value));
        gives(ZKR_EEXHAUSTED, zkr_counter_get(c, SOON_MS, &value, &found));
        assert_int_equal(proxy_requests(proxy, ZOO_SETDATA_OP), 0);
        assert_int_equal(proxy_requests(proxy, ZOO_CREATE2_OP), 0);
        ok(zkr_counter_get(c, SOON_MS, &value, NULL));
        assert_int_equal(value, 5);
        ok(zkr_counter_set(c, 5, ZKR_ANY_VERSION, SOON_MS));
    }
    atomic_store(&version, 0);
    ok(zkr_counter_add(c, 1, SOON_MS, &value));
    assert_int_equal(value, 6);
}

/* Makes the call again when a request was under way at its deadline. */
#define assert_times_out(call)                                                 \
    do {                                                                       \
        int rc_;                                                               \
                                                                               \
        do {                                                                   \
            atomic_store(&no_parent, 1);                                       \
            rc_ = (call);                                                      \
        } while (rc_ == ZKR_EUNKNOWN || rc_ == ZKR_EUNREACHABLE);              \
        assert_int_equal(rc_, ZKR_ETIMEDOUT);                                  \
    } while (0)

/* The caller was told ZNONODE, which says nothing of what it asked for. */
TEST(parents_that_go_again_and_again_are_told)
{
    const char *node = textf("%s-parent/node", path);
    AUTO(barrier) b = NEW(barrier, s, node, NULL);
    AUTO(counter) c = NEW(counter, s, node, NULL);
    for (int time = 0; time < 2; time++) {
        assert_times_out(zkr_barrier_set(b, 100));
        assert_has(zkr_error_detail(), node);
        assert_times_out(zkr_counter_add(c, 1, 100, NULL));
        assert_times_out(zkr_counter_set(c, 1, ZKR_COUNTER_ABSENT, 100));
    }
}

/* As servers do since the fix of CVE-2024-23944; since 3.8.4 and 3.9.2 they
 * refuse the watch (ZOOKEEPER-2590). The waiter looks again from
 * time to time, also when an answer takes longer than that. */
TEST(without_events_a_node_is_looked_for_again)
{
    /* It asks the leader about the node ahead after twice that time. */
    AUTO(session) ours = THROUGH(.session_timeout_ms = SOON_MS);
    AUTO(session) other = OPEN(.acl = "world:anyone:cdw");
    AUTO(mutex) mine = new_mutex(ours, path);
    AUTO(mutex) closed = new_mutex(other, path);
    zkr_grant *g = acquire(closed);
    bool watched = admin_exists(admin, zkr_grant_node(g), NULL) == ZOK;
    atomic_store(&no_events, 1);
    proxy_reset_counts(proxy);
    /* The server must have seen the request first; otherwise there would be
     * nothing to watch. */
    proxy_rule(proxy, ZOO_EXISTS_OP, 1, PROXY_HOLD_REPLY);
    struct waiter w = WAITER(start, mine, SOON_MS);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    sleep_ms(SLOWER_THAN_THAT_MS); /* so long the answer takes */
    proxy_release(proxy);
    AUTO(held) next = hand_to(g, &w);
    /* It does not go on watching a node that it had watched in vain. */
    if (watched)
        AWAIT(proxy_requests(proxy, ZOO_REMOVE_WATCHES) > 0);
}

/* Then the next write that keeps the lease detects it. */
TEST(without_events_a_holder_learns_that_its_node_has_gone)
{
    AUTO(grant) g = acquire(m);

    AWAIT(proxy_requests(proxy, ZOO_GETDATA_OP) > 0);
    settle(s);
    atomic_store(&no_events, 1);
    delete_nth_child(path, 0);
    wait_grant_state(g, ZKR_GRANT_LOST);
}
