/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with a server that has kept nodes of a session which is over (ghosts):
 * it was down when the session ended, and its log says that it has seen every
 * transaction since. So it joins the others, and never receives the ones that
 * it has missed. */
#include "fixture.h"

#include "seed.h"
#include "txn_log.h"

#define T_MS 1500 /* the session timeout */

#define ONE   "/tests/one"
#define TWO   "/tests/two"
#define READ  "/tests/read"
#define WRITE "/tests/write"
#define HELD  "/tests/held"

static const struct {
    const char *path;
    bool complete; /* with its number */
} nodes[] = {
    { ONE "/_c_00000000-0000-4000-8000-000000000001-lock-", false },
    { TWO "/lock-", false },
    { TWO "/0123456789abcdef0123456789abcdef__lock__", false },
    { READ "/_c_00000000-0000-4000-8000-000000000002-__READ__", false },
    { READ "/_c_00000000-0000-4000-8000-000000000003-__WRIT__", false },
    /* A session that ended in the middle of a downgrade. */
    { WRITE "/_c_00000000-0000-4000-8000-000000000004-__WRIT__", false },
    { WRITE "/_c_00000000-0000-4000-8000-000000000005-__READ__0000000000",
      true },
};

static struct ensemble *ensemble;
static struct server *odd; /* the one with the ghosts */

static zkr_session *open_at(const struct server *server, uint32_t flags)
{
    return open_to(server_hosts(server),
                   OPTS(session, .session_timeout_ms = T_MS, .flags = flags));
}

/* Warnings about ghosts that name the server. */
static void record_warning(enum zkr_log_level level, const char *line,
                           void *recorder)
{
    if (level == ZKR_LOG_WARNING &&
        strstr(line, server_session_hosts(odd)) != NULL &&
        strstr(line, "that the ensemble has not") != NULL)
        recorder_add(recorder, 0, 0);
}

SCOPED(zkr_lockable, lockable, zkr_lockable_free)

static zkr_lockable *new_lock(zkr_session *s, const char *path,
                              acquire_call *call)
{
    return call == by_mutex ? new_mutex(s, path) : NEW(rwlock, s, path, NULL);
}

static const struct {
    const char *name;
    int ghosts;
    const char *path;
    acquire_call *call, *by_rival;
} queues[] = {
    { "one", 1, ONE, by_mutex, by_mutex },
    { "several, also without a UUID", 2, TWO, by_mutex, by_mutex },
    { "writers, by readers", 1, READ, by_reading, by_writing },
    { "both parts of a downgrade", 2, WRITE, by_writing, by_reading },
};

/* Through the odd server the claim waits for the ghosts, one by one. Then the
 * two exclude each other, and the rival gets it when the first goes. */
TEST_ROWS(ghosts_are_waited_for_and_then_left_out, queues, row)
{
    AUTO(recorder) warnings = recorder_new();
    AUTO(session) s = open_at(odd, 0);
    AUTO(session) healthy = open_at(the_server, 0);
    AUTO(lockable) lock = new_lock(s, row->path, row->call);
    AUTO(lockable) rival = new_lock(healthy, row->path, row->call);
    int64_t began = now_ms();
    zkr_grant *g = NULL;

    zkr_log_set(ZKR_LOG_WARNING, record_warning, warnings);
    ok(row->call(lock, SOON_MS, &g));
    zkr_log_set(ZKR_LOG_WARNING, NULL, NULL);
    assert_true(now_ms() - began >= row->ghosts * 2 * T_MS);
    assert_int_equal(recorder_count(warnings), row->ghosts);
    ok(zkr_grant_check(g));
    assert_int_equal(row->by_rival(rival, 0, &nil), ZKR_EBUSY);
    struct waiter w = WAITER(start_by, row->by_rival, rival, SOON_MS);
    release_to(g, &w);
}

/* Waits until the next transaction is committed. While only a waiter has a
 * reason to write, it is a question of that waiter. */
static int64_t await_question(void)
{
    int64_t zxid = seed_last_zxid(the_server);

    AWAIT(seed_last_zxid(the_server) > zxid);
    return now_ms();
}

/* The times of the last two transactions, by the clock of the leader: this test
 * may look late. */
static bool note_time(void *times_ms, const struct txn *t)
{
    int64_t *last = times_ms;

    last[0] = last[1];
    last[1] = t->time_ms;
    return true;
}

/* The holder has no lease, so it writes nothing. */
TEST(a_real_holder_is_asked_about_and_waited_for)
{
    AUTO(session) s = open_at(odd, 0);
    AUTO(session) healthy = open_at(the_server, ZKR_SESSION_NO_LEASE);
    AUTO(mutex) m = new_mutex(s, HELD);
    AUTO(mutex) rival = new_mutex(healthy, HELD);
    zkr_grant *g = acquire(rival);
    int64_t began = now_ms();
    int64_t asked_ms[2] = { 0 };
    struct waiter w = WAITER(queue, m);

    settle(s);
    assert_true(await_question() - began >= 2 * T_MS);
    (void)await_question();
    assert_true(txn_log_read(the_server, note_time, asked_ms));
    assert_true(asked_ms[1] - asked_ms[0] >= 4 * T_MS);
    settle(s);
    assert_false(waiter_is_done(&w));
    ok(zkr_grant_check(g));
    release_to(g, &w);
}

/* The odd one is down while the session with the nodes ends. */
static int setup(void)
{
    static const char *const locks[] = { ONE, TWO, READ, WRITE, HELD };
    struct admin *client;
    int leader = -1;

    if (!COMES((leader = ensemble_leader(ensemble)) >= 0, SOON_MS))
        return -1;
    the_server = ensemble_server(ensemble, leader);
    odd = ensemble_server(ensemble, (leader + 1) % 3);
    int rc = admin_open(server_hosts(the_server), &client);
    if (rc == ZOK)
        rc = admin_create(client, "/tests", NULL);
    for (size_t i = 0; rc == ZOK && i < COUNT(locks); i++)
        rc = admin_create(client, locks[i], NULL);
    for (size_t i = 0; rc == ZOK && i < COUNT(nodes); i++)
        rc = admin_create_flags(client, nodes[i].path, NULL,
                                nodes[i].complete ? ZOO_EPHEMERAL
                                                  : ZOO_EPHEMERAL_SEQUENTIAL,
                                NULL, 0);
    /* A kill loses each node that the log does not have yet. The client waits
     * for the end of its session for 1.5 s at most. */
    int64_t last = seed_last_zxid(the_server);
    if (rc != ZOK || last < 0 || !COMES(seed_next_zxid(odd) > last, SOON_MS))
        return -1;
    server_kill9(odd);
    admin_close(client);
    if (!COMES(seed_last_zxid(the_server) > last, SOON_MS) ||
        seed_sequence(odd, last + 1, "/tests/other", 0) != 0 ||
        server_restart(odd) != SERVER_OK)
        return -1;
    return COMES(server_ephemerals_count(odd) == COUNT(nodes), SOON_MS)
               ? admin_open(server_hosts(the_server), &admin)
               : -1;
}

int main(void)
{
    return run_with_ensemble(3, NULL, &ensemble, setup, NULL);
}
