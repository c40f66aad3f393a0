/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the mutex beyond the contract: its nodes, and whom it waits for. */
#include "usual.h"

#include <inttypes.h>

FIXTURE(usual_setup_two, usual_teardown)

/* On a busy machine it may have no time to read who holds it. */
static void give_up_on_it(void)
{
    int64_t patience_ms = GIVE_UP_MS;

    do {
        gives(ZKR_ETIMEDOUT, zkr_mutex_acquire(m, patience_ms, &nil));
        patience_ms *= 2;
    } while (strstr(zkr_error_detail(), " (session 0x") == NULL);
}

#define FORTY "the forty bytes of the longest such word"

/* The answer to the watch has told what the others say of themselves in their
 * nodes; unit/test_owner.c has all that a record says. */
TEST(the_holder_is_named_where_it_is_known)
{
    AUTO(mutex) labelled =
        NEW(mutex, theirs, path, OPTS(lockable, .label = "nightly export"));
    zkr_grant *own = acquire(m);
    tells(zkr_mutex_acquire(m, GIVE_UP_MS, &nil), ZKR_ETIMEDOUT, path);
    assert_has(zkr_error_detail(), "lock-0000000000");
    assert_has(zkr_error_detail(), "of this session");
    release(own);
    AUTO(held) g = acquire(labelled);
    node_has(zkr_grant_node(g), zkr_grant_record(g));
    assert_has(zkr_grant_record(g), "\"label\":\"nightly export\"");
    assert_has(zkr_grant_record(g), textf("\"pid\":%d,", (int)getpid()));
    assert_lacks(zkr_grant_record(g), "\n");
    assert_true(stat_of(zkr_grant_node(g)).ephemeralOwner ==
                zkr_session_id(theirs));
    assert_true(stat_of(zkr_grant_node(g)).czxid == zkr_grant_token(g));
    tells(zkr_mutex_acquire(m, 0, &nil), ZKR_EBUSY, "': is held by '_c_");
    assert_has(zkr_error_detail(), strrchr(zkr_grant_node(g), '/') + 1);
    give_up_on_it();
    assert_has(zkr_error_detail(),
               textf("(session 0x%" PRIx64 ", host '", zkr_session_id(theirs)));
    assert_has(zkr_error_detail(),
               textf(", pid '%d', label 'nightly export')", (int)getpid()));
    assert_int_equal(admin_set(admin, zkr_grant_node(g), FORTY), ZOK);
    give_up_on_it();
    assert_non_null(strstr(zkr_error_detail(), ", who says '" FORTY "')"));
    assert_int_equal(admin_set(admin, zkr_grant_node(g), FORTY "+"), ZOK);
    give_up_on_it();
    assert_null(strstr(zkr_error_detail(), "who says"));
    assert_int_equal(admin_set(admin, zkr_grant_node(g), "\033[2J"), ZOK);
    give_up_on_it();
    assert_null(strchr(zkr_error_detail(), '\033'));
}

/* A herd would show as one node watched by many sessions. */
TEST(each_waiter_watches_only_the_node_before_it)
{
    enum { N = 4 };
    zkr_session *sessions[N];
    zkr_mutex *mutexes[N];
    struct waiter waiters[N];
    const char *nodes[N];
    zkr_grant *g = acquire(m);

    for (size_t i = 0; i < N; i++) {
        sessions[i] = open_session();
        mutexes[i] = new_mutex(sessions[i], path);
        waiter_queue(&waiters[i], mutexes[i]);
    }
    for (size_t i = 0; i < N; i++) {
        AUTO(text) name = nth_child(path, i);
        nodes[i] = textf("%s/%s", path, name);
        AWAIT(server_watches(the_server, nodes[i], 0) > 0);
    }
    for (size_t i = 0; i < N; i++) /* the first two may watch their own, too */
        assert_in_range(server_watches(the_server, nodes[i], 0), 1,
                        i <= 1 ? 2 : 1);
    release(g);
    for (size_t i = 0; i < N; i++) {
        release(waiter_grant(&waiters[i]));
        zkr_mutex_free(mutexes[i]);
        close_session(sessions[i]);
    }
}

TEST(thousands_of_claims_wait_without_a_thread)
{
    enum { N = 1000 };
    AUTO(recorder) r = recorder_new();
    int threads = count_threads();
    int64_t last = 0;

    for (int i = 0; i < N; i++)
        ok(zkr_mutex_acquire_async(m, -1, record_acquire, r, NULL));
    assert_int_equal(count_threads(), threads);
    for (size_t i = 0; i < N; i++) {
        AUTO(grant) g = recorded_grant(r, i);
        assert_true(zkr_grant_token(g) > last);
        last = zkr_grant_token(g);
        ok(zkr_grant_release_async(g, NULL, NULL));
    }
    wait_children(path, 0);
}
