/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of shared evidence on a real server: what the beacon saves, and what
 * each thing that others may do to it costs. */

/* It has names that headers above have, too. */
#include "usual.h"

static char beacon[64];

static int setup(void)
{
    (void)snprintf(beacon, sizeof(beacon), "%s", new_path());
    assert_int_equal(admin_create(admin, beacon, ""), ZOK);
    return usual_setup_with(
        OPTS(session, .session_timeout_ms = BRIEF_SESSION_MS,
             .flags = ZKR_SESSION_NOT_ON_LEADER, .lease_beacon = beacon));
}

FIXTURE(setup, usual_teardown)

/* Until a session timeout in which the session has written nothing for itself.
 */
static void shares(void (*meanwhile)(void))
{
    int64_t since_ms = now_ms();
    long writes = proxy_requests(proxy, ZOO_MULTI_OP);
    int64_t deadline = since_ms + SOON_MS;

    while (now_ms() - since_ms < BRIEF_SESSION_MS) {
        if (meanwhile != NULL)
            meanwhile();
        if (writes != proxy_requests(proxy, ZOO_MULTI_OP)) {
            writes = proxy_requests(proxy, ZOO_MULTI_OP);
            since_ms = now_ms();
        }
        assert_true(now_ms() < deadline);
        sleep_ms(2);
    }
}

static void writes_it(void)
{
    assert_int_equal(admin_set(admin, beacon, "x"), ZOK);
}

static void writes_it_in_a_loop(void)
{
    for (int i = 0; i < 100; i++)
        writes_it();
}

/* The session writes it by itself then. */
static void others_leave_it_alone(void)
{
    long before = proxy_requests(proxy, ZOO_SETDATA_OP);

    shares(NULL);
    AWAIT(proxy_requests(proxy, ZOO_SETDATA_OP) >= before + 3);
}

static void deletes_it(void)
{
    assert_int_equal(admin_delete(admin, beacon), ZOK);
}

static void makes_it(void)
{
    assert_int_equal(admin_create(admin, beacon, ""), ZOK);
}

static void forbids_it(void)
{
    struct ACL may_read = { ZOO_PERM_READ | ZOO_PERM_ADMIN,
                            ZOO_ANYONE_ID_UNSAFE };

    ok(admin_set_acl(admin, beacon, &(struct ACL_vector){ 1, &may_read }));
}

static void permits_it(void)
{
    assert_int_equal(admin_set_acl(admin, beacon, &ZOO_OPEN_ACL_UNSAFE), ZOK);
}

static const struct harm {
    const char *name;
    void (*begin)(void);
    void (*end)(void);
} harms[] = {
    { "deleted", deletes_it, makes_it },
    { "frozen", forbids_it, permits_it },
};

/* The lock is held all the time, on a quick link. */
TEST_ROWS(a_beacon_that_fails_costs_own_writes, harms, h)
{
    AUTO(held) g = acquire(m);

    for (int round = 0; round < 2; round++) {
        shares(writes_it);
        h->begin();
        long before = proxy_requests(proxy, ZOO_MULTI_OP);
        AWAIT(proxy_requests(proxy, ZOO_MULTI_OP) >= before + 4);
        wait_grant_state(g, ZKR_GRANT_HELD);
        h->end();
    }
    shares(writes_it);
}

TEST(a_beacon_that_others_write_in_a_loop_is_a_beacon)
{
    AUTO(held) g = acquire(m);

    shares(writes_it_in_a_loop);
    others_leave_it_alone();
    wait_grant_state(g, ZKR_GRANT_HELD);
}
