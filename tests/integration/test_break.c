/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a break: it deletes exactly the given node, never a newer one. */
#include "onlooker.h"

FIXTURE(onlooker_setup, onlooker_teardown)

/* Of the next holder the name is the same. */
TEST(another_token_breaks_nothing)
{
    AUTO(unfair_mutex) unfair = NEW(unfair_mutex, s, path, NULL);
    const char *node = in_dir("holder");
    AUTO(grant) g = GRANT(unfair_mutex_acquire, unfair, SOON_MS);
    int64_t token = zkr_grant_token(g);

    gives(ZKR_ENOTHELD, zkr_participants_break(s, node, token + 1, 0));
    tells(zkr_participants_break(s, node, token - 1, 0), ZKR_ENOTHELD, node);
    wait_verified(g);
    release(g);
    assert_int_equal(zkr_participants_break(s, node, token, 0), ZNONODE);
    ok(zkr_unfair_mutex_acquire(unfair, SOON_MS, &g));
    assert_int_equal(zkr_participants_break(s, node, token, 0), ZKR_ENOTHELD);
    wait_verified(g);
    ok(zkr_participants_break(s, node, zkr_grant_token(g), 0));
    wait_grant_state(g, ZKR_GRANT_LOST);
}

TEST(a_refusal_of_the_server_is_told)
{
    const char *node = in_dir("lock-0000000000");

    make_directory();
    make("lock-0000000000", NULL);
    int64_t token = stat_of(node).czxid;
    forbid(path, ZOO_PERM_ALL & ~ZOO_PERM_DELETE);
    assert_int_equal(zkr_participants_break(s, node, token, 0), ZNOAUTH);
    forbid(path, ZOO_PERM_ALL);
    make("lock-0000000000/child", NULL);
    assert_int_equal(zkr_participants_break(s, node, token, 0), ZNOTEMPTY);
}

static int break_holder(void *token)
{
    return zkr_participants_break(ps, in_dir("holder"), *(int64_t *)token,
                                  SOON_MS);
}

/* The answer to the delete is lost, and another contender is granted before the
 * server can be asked again. */
TEST_WITH(a_later_contender_is_left_alone, proxied_setup, proxied_teardown)
{
    struct caller c;
    AUTO(unfair_mutex) unfair = NEW(unfair_mutex, s, path, NULL);
    zkr_grant *g = GRANT(unfair_mutex_acquire, unfair, SOON_MS);
    int64_t token = zkr_grant_token(g);

    proxy_rule(proxy, ZOO_DELETE_OP, 1, PROXY_HOLD_REPLY);
    call_start_until_rule(&c, break_holder, &token);
    proxy_cut(proxy);
    wait_grant_state(g, ZKR_GRANT_LOST);
    zkr_grant_free(g);
    AUTO(held) next = GRANT(unfair_mutex_acquire, unfair, SOON_MS);
    proxy_heal(proxy);
    assert_int_equal(call_join(&c), ZKR_OK);
    wait_verified(next);
}

/* A delete that waits as its session ends is not sent later without a look. */
TEST_WITH(a_new_session_looks_again, proxied_setup, proxied_teardown)
{
    struct caller c;
    AUTO(unfair_mutex) unfair = NEW(unfair_mutex, s, path, NULL);
    AUTO(grant) g = GRANT(unfair_mutex_acquire, unfair, SOON_MS);
    int64_t token = zkr_grant_token(g);

    proxy_rule(proxy, ZOO_DELETE_OP, 1, PROXY_HOLD_REQUEST);
    call_start_until_rule(&c, break_holder, &token);
    proxy_reset_counts(proxy);
    expire(ps);
    proxy_release(proxy);
    assert_int_equal(call_join(&c), ZKR_OK);
    assert_true(proxy_requests(proxy, ZOO_EXISTS_OP) >= 1);
    wait_grant_state(g, ZKR_GRANT_LOST);
}
