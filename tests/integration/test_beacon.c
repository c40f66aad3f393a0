/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of shared evidence on a real server: what the beacon saves, and what
 * each thing that others may do to it costs. */
#include "usual.h"

static char beacon[64];

static int setup(void)
{
    PRINT(beacon, "%s", new_path());
    assert_int_equal(admin_create(admin, beacon, ""), ZOK);
    return usual_setup_with(
        OPTS(session, .session_timeout_ms = BRIEF_SESSION_MS,
             .flags = ZKR_SESSION_NOT_ON_LEADER, .lease_beacon = beacon));
}

FIXTURE(setup, usual_teardown)

/* Until a session timeout in which the session has written nothing itself.
 * Meanwhile others write the beacon, so often at a time. */
static void shares(int times)
{
    int64_t since_ms = now_ms();
    long writes = proxy_requests(proxy, ZOO_MULTI_OP);
    int64_t deadline = since_ms + SOON_MS;

    while (now_ms() - since_ms < BRIEF_SESSION_MS) {
        for (int i = 0; i < times; i++)
            ok(admin_set(admin, beacon, "x"));
        if (writes != proxy_requests(proxy, ZOO_MULTI_OP)) {
            writes = proxy_requests(proxy, ZOO_MULTI_OP);
            since_ms = now_ms();
        }
        assert_true(now_ms() < deadline);
        sleep_ms(2);
    }
}

static const struct harm {
    const char *name;
    bool is_deleted; /* else nobody may write it */
} harms[] = { { "deleted", true }, { "frozen", false } };

/* The lock is held all the time, on a quick link. */
TEST_ROWS(a_beacon_that_fails_costs_own_writes, harms, h)
{
    struct ACL may_read = { ZOO_PERM_READ | ZOO_PERM_ADMIN,
                            ZOO_ANYONE_ID_UNSAFE };
    AUTO(held) g = acquire(m);

    for (int round = 0; round < 2; round++) {
        shares(1);
        ok(h->is_deleted ? admin_delete(admin, beacon)
                         : admin_set_acl(admin, beacon,
                                         &(struct ACL_vector){ 1, &may_read }));
        long before = proxy_requests(proxy, ZOO_MULTI_OP);
        AWAIT(proxy_requests(proxy, ZOO_MULTI_OP) >= before + 4);
        wait_grant_state(g, ZKR_GRANT_HELD);
        ok(h->is_deleted ? admin_create(admin, beacon, "")
                         : admin_set_acl(admin, beacon, &ZOO_OPEN_ACL_UNSAFE));
    }
    shares(1);
}

TEST(a_beacon_that_others_write_in_a_loop_is_a_beacon)
{
    AUTO(held) g = acquire(m);

    shares(100);
    long before = proxy_requests(proxy, ZOO_SETDATA_OP);
    shares(0); /* the session writes it by itself then */
    AWAIT(proxy_requests(proxy, ZOO_SETDATA_OP) >= before + 3);
    wait_grant_state(g, ZKR_GRANT_HELD);
}
