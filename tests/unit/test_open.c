/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of opening a session: with and without waiting, and when refused. */
#include "unit.h"

#include "base/clock.h"
#include "client.h"
#include "session/session.h"

#define REFUSED    "127.0.0.1:1" /* nobody listens there */
#define FOREVER_MS 600000        /* an open that waits so long hangs */

FIXTURE(client_reset, NULL)

struct told {
    atomic_int times;
    int error;
    char detail[512];
};

static void on_open(int error, void *user)
{
    struct told *told = user;

    told->error = error;
    PRINT(told->detail, "%s", zkr_error_detail());
    (void)atomic_fetch_add(&told->times, 1);
}

static int await(struct told *told)
{
    AWAIT(atomic_load(&told->times) != 0);
    return told->error;
}

static zkr_session *begin(const char *hosts, uint32_t timeout_ms,
                          uint32_t flags, struct told *told)
{
    zkr_session *s = NULL;

    *told = (struct told){ .error = 1 };
    ok(zkr_session_open_async(
        hosts, OPTS(session, .connect_timeout_ms = timeout_ms, .flags = flags),
        on_open, told, &s));
    assert_non_null(s);
    return s;
}

TEST(claims_wait_for_the_connection)
{
    struct told opened;
    struct outcome acquired = { .rc = 1 };
    zkr_grant *g = NULL;

    client_connects(false);
    zkr_session *s = begin(REFUSED, FOREVER_MS, 0, &opened);
    zkr_mutex *m = new_mutex(s);
    ask_for(m, &acquired);
    gives(ZKR_ZCONNECTIONLOSS, zkr_mutex_acquire(m, 0, &g));
    gives(ZKR_ETIMEDOUT, zkr_mutex_acquire(m, 5, &g));
    assert_has(zkr_error_detail(), "; the servers have not answered yet");
    assert_int_equal(zkr_session_state(s), ZKR_SESSION_CONNECTING);
    assert_int_equal(atomic_load(&opened.times), 0);
    client_connects(true);
    assert_int_equal(await(&opened), ZKR_OK);
    give_back(granted(&acquired));
    assert_string_equal(opened.detail, "");
    zkr_mutex_free(m);
    ok(zkr_session_close(s));
    assert_int_equal(atomic_load(&opened.times), 1);
}

/* The chroot is missing; so what waits gets that error, too. */
TEST(a_waiting_acquire_ends_with_an_open_that_fails)
{
    for (int i = 0; i < 2; i++) {
        struct told opened;
        struct outcome acquired = { .rc = 1 };
        zkr_grant *g = NULL;

        client_reset();
        client_connects(false);
        client_answers(ZKR__ZK_EXISTS, ZKR_ZNONODE);
        zkr_session *s = begin(REFUSED, FOREVER_MS, 0, &opened);
        zkr_mutex *m = new_mutex(s);
        client_stops_at(ZKR__ZK_CREATE);
        ask_for(m, &acquired);
        client_connects(true);
        assert_int_equal(await(&opened), ZKR_ENOCHROOT);
        AWAIT(atomic_load(&acquired.told));
        assert_int_equal(acquired.rc, ZKR_ENOCHROOT);
        assert_has(opened.detail, "chroot");
        gives(ZKR_ENOCHROOT, zkr_mutex_acquire(m, -1, &g));
        assert_int_equal(zkr_session_state(s), ZKR_SESSION_CLOSED);
        zkr_mutex_free(m);
        ok(zkr_session_close(s));
        assert_int_equal(atomic_load(&opened.times), 1);
    }
}

/* -- servers that accept and say nothing ---------------------------------- */

#define SERVERS "127.0.0.1:1,127.0.0.2:1,127.0.0.3:1"

/* An open stayed with the first server for two thirds of the session timeout,
 * which was longer than the open. */
TEST(each_server_has_its_share_of_an_open)
{
    static const char *const servers[] = { "127.0.0.1:1", "127.0.0.2:1",
                                           "127.0.0.3:1" };

    for (size_t i = 0; i < COUNT(servers); i++) {
        struct told opened;

        client_reset();
        client_connects(false);
        client_serves_at(servers[i]);
        zkr_session *s = begin(SERVERS, 8000, 0, &opened);
        assert_int_equal(await(&opened), ZKR_OK);
        assert_in_range(client_handles(), 2, 4);
        ok(zkr_session_close(s));
    }
}

static void begin_attempt(struct zkr_session *s) ZKR__NO_ANALYSIS
{
    zkr__attempt_begin_locked(s);
}

/* Of three servers, and of one name more behind the first share. */
TEST(a_share_is_twice_as_long_in_each_round)
{
    static char servers[] = SERVERS;
    static char ca[] = "ca.pem";
    static const uint32_t rows[][6] = {
        /* The open, the session; attempts, of a round; the share; TLS. */
        { 8000, 3001, 0, 0, 2000 },
        { 2000, 60000, 0, 0, 1000 },
        { 8000, 60000, 3, 3, 2000 },
        { 8000, 60000, 4, 3, 4000 },
        { 8000, 60000, 5, 4, 3000 },
        { 8000, 9999999, 61, 3, 512000 },
        { 8000, 3000, 0, 0, 0 /* the client moves on before, */ },
        { 8000, 3000, 0, 0, 2000, true /* but not in a handshake */ },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct zkr_session s = { .opts.connect_timeout_ms = rows[i][0],
                                 .opts.session_timeout_ms = rows[i][1],
                                 .opts.tls_ca = rows[i][5] ? ca : NULL,
                                 .hosts.plain = servers,
                                 .attempt.number = rows[i][2],
                                 .attempt.count = rows[i][3] };
        int64_t before = zkr__clock_now();

        begin_attempt(&s);
        if (rows[i][4] != 0)
            assert_in_range(s.attempt.until - rows[i][4] * ZKR__MS, before,
                            zkr__clock_now());
        else
            assert_int_equal(s.attempt.until, ZKR__NEVER);
    }
}

static unsigned attempts(struct zkr_session *s)
{
    zkr__session_lock(s);
    unsigned number = s->attempt.number;
    zkr__session_unlock(s);
    return number;
}

/* They begin with the short ones again, not with those of the open. */
TEST(each_server_has_its_share_after_an_expiry)
{
    struct told opened;

    client_connects(false);
    client_serves_at("127.0.0.2:1");
    AUTO(session) s = begin(SERVERS, 4000, 0, &opened);
    (void)await(&opened);
    assert_in_range(attempts(s), 1, 3);
    client_says(ZKR__ZK_EXPIRED);
    await_state(s, ZKR_SESSION_LOST);
    AWAIT(attempts(s) == 0 || zkr_session_state(s) == ZKR_SESSION_RECONNECTED);
    assert_int_equal(attempts(s), 0);
    await_state(s, ZKR_SESSION_RECONNECTED);
}

/* Those that were replaced while the connector closed a handle. */
TEST(no_attempt_is_at_servers_that_were_replaced)
{
    struct told opened;

    AUTO(session) s = begin(SERVERS, FOREVER_MS, 0, &opened);
    (void)await(&opened);
    zkr__session_lock(s);
    s->attempt.servers = strdup("127.0.0.9:1,127.0.0.1:1");
    zkr__session_unlock(s);
    ok(zkr_session_set_servers(s, "127.0.0.2:1,127.0.0.3:1"));
    assert_null(s->attempt.servers);
}

/* Meanwhile the servers were replaced, and then the session has come. */
TEST(a_handle_is_closed_for_the_next_attempt_only)
{
    struct told opened;

    client_connects(false);
    AUTO(session) s = begin(SERVERS, FOREVER_MS, 0, &opened);
    for (int i = 0; i < 2; i++) {
        zkr__session_lock(s);
        while (s->zk == NULL)
            (void)zkr__cond_wait(&s->changed, &s->lock, zkr__clock_deadline(1));
        zkr__attempt_next_unlocks(s, i == 0 ? SERVERS ",127.0.0.9:1" : SERVERS);
        bool has_handle = s->zk != NULL && s->attempt.servers == NULL;
        bool is_last = s->attempt.until == ZKR__NEVER;
        zkr__session_unlock(s);
        assert_true(has_handle);
        assert_int_equal(is_last, i);
        client_connects(true);
        (void)await(&opened);
    }
}

TEST(a_session_that_ends_before_it_is_open_is_followed_by_the_next)
{
    struct told opened;

    client_answers_times(ZKR__ZK_EXISTS, ZKR_ZSESSIONEXPIRED, 1);
    AUTO(session) s = begin(REFUSED, FOREVER_MS, 0, &opened);
    assert_int_equal(await(&opened), ZKR_OK);
    assert_int_equal(zkr_session_epoch(s), 2);
}

static const struct {
    struct zkr_session_opts opts;
    const char *word;
} no_credentials[] = {
    { { 0 }, "none is given" },
    { { .auth = "user:new" }, "auth_scheme" },
    { { .auth_scheme = "digest" }, "none is given" },
    { { .sasl_user = "user" }, "without sasl_user" },
    { { .auth_scheme = "digest", .auth = "user:new", .sasl_password = "new" },
      "without sasl_password" },
};

static _Atomic(const char *) set_meanwhile; /* NULL: none */
static atomic_int set_rc;                   /* what that call has returned */

WRAP(int, zkr__zk_open,
     (const struct zkr__zk_config *config,
      const struct zkr__zk_upcalls *upcalls, struct zkr_session *session,
      struct zkr__zk **ret_zk))
{
    int rc = __real_zkr__zk_open(config, upcalls, session, ret_zk);
    const char *auth = atomic_exchange(&set_meanwhile, NULL);

    if (auth != NULL)
        set_rc = zkr_session_set_credentials(
            session, OPTS(session, .auth_scheme = "digest", .auth = auth));
    return rc;
}

/* And the next handle gets those that the present one has got, or that are set
 * while it is being made. */
TEST(credentials_take_the_place_of_those_of_the_open)
{
    struct zkr_session_opts opts;
    AUTO(session)
    s = open_session_with(
        OPTS(session, .auth_scheme = "digest", .auth = "user:old"));

    for (size_t i = 0; i < COUNT(no_credentials); i++) {
        opts = no_credentials[i].opts;
        opts.size = sizeof(opts);
        gives(ZKR_EINVAL, zkr_session_set_credentials(s, &opts));
        assert_has(zkr_error_detail(), no_credentials[i].word);
    }
    gives(ZKR_EINVAL, zkr_session_set_credentials(s, NULL));
    assert_string_equal(client_auth(), "user:old");
    ok(zkr_session_set_credentials(
        s, OPTS(session, .auth_scheme = "digest", .auth = "user:new")));
    assert_int_equal(client_handles(), 1);
    assert_string_equal(client_auth(), "user:new");
    for (int i = 0; i < 2; i++) {
        atomic_store(&set_meanwhile, i == 0 ? NULL : "user:newer");
        client_says(ZKR__ZK_EXPIRED);
        AWAIT(client_handles() == 2 + i);
        await_state(s, ZKR_SESSION_RECONNECTED);
        ok(set_rc);
        assert_string_equal(client_auth(), i == 0 ? "user:new" : "user:newer");
    }
}

/* Nothing would be won, and its only attempt might be about to succeed. */
TEST(one_server_has_all_the_time)
{
    struct told opened;

    client_connects(false);
    AUTO(session) s = begin("127.0.0.1:1", 2500, 0, &opened);
    assert_int_equal(await(&opened), ZKR_EREFUSED);
    assert_int_equal(client_handles(), 1);
}

/* The open goes on only when the connector has failed. */
static bool connector_first;

static bool is_over(struct zkr_session *s)
{
    zkr__session_lock(s);
    bool over = s->over != 0 && !s->handle_dead;
    zkr__session_unlock(s);
    return over;
}

WRAP(int, zkr__connector_start, (struct zkr_session * s))
{
    int rc = __real_zkr__connector_start(s);

    AWAIT(!connector_first || is_over(s));
    return rc;
}

TEST(that_there_is_no_handle_is_told)
{
    for (int i = 0; i < 4; i++) {
        struct told told;

        connector_first = i % 2 == 0;
        client_makes_no_handle(1, ZKR_EHOSTS);
        zkr_session *s = begin(REFUSED, FOREVER_MS, 0, &told);
        assert_int_equal(await(&told), ZKR_EHOSTS);
        assert_has(told.detail, REFUSED);
        ok(zkr_session_close(s));
        client_makes_no_handle(1, ZKR_EHOSTS);
        gives(ZKR_EHOSTS, /* at once */
              zkr_session_open(REFUSED,
                               OPTS(session, .connect_timeout_ms = FOREVER_MS),
                               &s));
        assert_null(s);
    }
    connector_first = false;
}

/* Each server did one of these in the last round of the client. */
static atomic_uint round_of_all;

WRAP(unsigned, zkr__zk_round, (struct zkr__zk * zk))
{
    return atomic_load(&round_of_all);
}

static atomic_uint fault; /* the client tells it once */

WRAP(void, zkr__zk_take_fault,
     (struct zkr__zk * zk, struct zkr__zk_fault *ret_fault))
{
    *ret_fault = (struct zkr__zk_fault){ .cause = atomic_exchange(&fault, 0),
                                         .server = "h:1" };
}

#define DID(cause) ZKR__BIT(ZKR_CAUSE_##cause)

static const struct {
    const char *hosts; /* the port refuses */
    unsigned round;
    uint32_t flags;
    int rc;
} rounds[] = {
    { REFUSED, DID(CREDENTIALS), 0, ZKR_ZAUTHFAILED },
    { REFUSED,
      DID(CREDENTIALS) | DID(TLS) | DID(CERTIFICATE_EXPIRED) |
          DID(CERTIFICATE_HOST),
      0, ZKR_ZAUTHFAILED },
    { REFUSED, DID(CREDENTIALS) | DID(REFUSED), ZKR_SESSION_ONE_ROUND,
      ZKR_ZAUTHFAILED },
    /* A server may be starting; and a handshake is probed at once. */
    { REFUSED, DID(CREDENTIALS) | DID(REFUSED), 0, ZKR_EREFUSED },
    { REFUSED, DID(CREDENTIALS) | DID(SILENT), ZKR_SESSION_ONE_ROUND,
      ZKR_EREFUSED },
    { REFUSED, DID(TLS), 0, ZKR_EREFUSED },
    /* An early probe is not the last. */
    { REFUSED ",-no-such-host:1", 0, ZKR_SESSION_ONE_ROUND, ZKR_EUNREACHABLE },
};

/* Regression: one that was refused before the open went on waited. */
TEST(an_open_tries_until_its_deadline_or_all_refuse_us)
{
    client_connects(false);
    for (size_t i = 0; i < 2 * COUNT(rounds); i++) {
        int rc = rounds[i / 2].rc;
        uint32_t flags = rounds[i / 2].flags;
        bool waits = rc == ZKR_EUNREACHABLE || (rc == ZKR_EREFUSED && !flags);
        int64_t before = zkr__clock_now();
        struct told told;

        connector_first = rc == ZKR_ZAUTHFAILED && i % 2 == 1;
        atomic_store(&round_of_all, rounds[i / 2].round);
        atomic_store(&fault, ZKR_CAUSE_TLS);
        AUTO(session)
        s = begin(rounds[i / 2].hosts, waits ? 300 : FOREVER_MS, flags, &told);
        assert_int_equal(await(&told), rc);
        assert_true(!waits || zkr__clock_now() - before >= 300 * ZKR__MS);
        assert_has(told.detail, rc == ZKR_EREFUSED      ? REFUSED
                                : rc == ZKR_ZAUTHFAILED ? "h:1 refuses our"
                                                        : "could be reached");
    }
    atomic_store(&round_of_all, 0);
    connector_first = false;
}

/* The servers serve other sessions; faults before a connection are past. */
TEST(a_session_whose_credentials_are_refused_is_given_up)
{
    client_grants_timeout(150);
    AUTO(session) s = open_session(ZKR_SESSION_NO_LEASE);
    atomic_store(&fault, ZKR_CAUSE_CREDENTIALS);
    client_says(ZKR__ZK_DISCONNECTED);
    AWAIT(zkr_session_epoch(s) == 2);
    await_state(s, ZKR_SESSION_RECONNECTED);
    assert_int_equal(client_scouts(), 0);
    client_says(ZKR__ZK_DISCONNECTED);
    AWAIT(client_scouts() > 0 || zkr_session_epoch(s) > 2);
    assert_int_equal(zkr_session_epoch(s), 2);
}

TEST(one_round_ends_when_all_refuse)
{
    zkr_session *s = NULL;

    client_connects(false);
    for (int i = 0; i < 2; i++)
        gives(ZKR_EREFUSED,
              zkr_session_open(REFUSED ",localhost:1",
                               OPTS(session, .connect_timeout_ms = FOREVER_MS,
                                    .flags = ZKR_SESSION_ONE_ROUND),
                               &s));
    assert_null(s);
}

TEST(a_close_before_the_end_is_told)
{
    client_connects(false);
    for (int i = 0; i < 2; i++) {
        struct told told;

        ok(zkr_session_close(
            begin(REFUSED, FOREVER_MS, i * ZKR_SESSION_OWN_LOOP, &told)));
        assert_int_equal(atomic_load(&told.times), 1);
        assert_int_equal(told.error, ZKR_ECLOSED);
    }
}

TEST(in_its_own_loop_the_program_is_told_there)
{
    struct told told;
    zkr_session *s = begin(REFUSED, FOREVER_MS, ZKR_SESSION_OWN_LOOP, &told);

    while (atomic_load(&told.times) == 0) {
        ok(zkr_session_dispatch(s));
        pass_a_moment();
    }
    assert_int_equal(told.error, ZKR_OK);
    ok(zkr_session_close(s));
    assert_int_equal(atomic_load(&told.times), 1);
}
