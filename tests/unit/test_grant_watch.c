/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the watch on the holder's own node, and of listeners that are
 * registered late, removed, or slow. The sessions have no lease, so that no
 * heartbeat finds the loss first. */
#include "unit.h"

#include <poll.h>

#include "client.h"

/* A listener was told these: names of states, or REVOKE. */
struct heard {
    char events[256];
    enum zkr_loss loss; /* in the last event */
};

static struct heard heard; /* by the listener of a test that has one */
static zkr_session *s;     /* whose callbacks run in this thread */
static zkr_mutex *m;
static zkr_grant *g;
static atomic_int no_memory; /* for so many watches of a lock node */

WRAP(struct zkr__watch *, zkr__watch_new_locked,
     (struct zkr_session * session, const char *path, bool children,
      void *owner, void (*fired)(void *, bool)))
{
    if (strstr(path, "-lock-") != NULL && atomic_load(&no_memory) > 0) {
        (void)atomic_fetch_sub(&no_memory, 1);
        return NULL;
    }
    return __real_zkr__watch_new_locked(session, path, children, owner, fired);
}

static int setup_free(void)
{
    client_reset();
    memset(&heard, 0, sizeof(heard));
    g = NULL;
    s = open_session(ZKR_SESSION_NO_LEASE | ZKR_SESSION_OWN_LOOP);
    m = new_mutex(s);
    return 0;
}

/* Without a listener, the grant begins to watch its node a little later. */
static int setup(void)
{
    (void)setup_free();
    g = acquire(m);
    return 0;
}

static int teardown(void)
{
    client_goes_on();
    zkr_grant_free(g);
    zkr_mutex_free(m);
    return zkr_session_close(s);
}

FIXTURE(setup, teardown)

static void hear(struct heard *h, const char *event)
{
    PRINT(h->events, "%s", textf("%s%s ", h->events, event));
}

static void on_grant(zkr_grant *grant, const struct zkr_grant_event *event,
                     void *user)
{
    struct heard *h = user;

    h->loss = event->loss;
    hear(h, event->kind == ZKR_GRANT_REVOKE_REQUESTED
                ? "REVOKE"
                : zkr_grant_state_name(event->state));
}

static void on_session(zkr_session *session,
                       const struct zkr_session_event *event, void *user)
{
    hear(user, zkr_session_state_name(event->state));
}

static void listen_by(struct heard *h)
{
    ok(zkr_grant_listen(g, on_grant, h));
}

/* Returns when the grant is about to look by such a request. */
static void begin_look(enum zkr__zk_type type)
{
    client_stops_at((int)type);
    g = acquire(m);
    listen_by(&heard);
    client_await_stop();
}

static void await_requests(enum zkr__zk_type type, int count)
{
    AWAIT(client_requests(type) >= count);
    client_await_rest();
}

static void await_grant(enum zkr_grant_state_kind state)
{
    AWAIT(zkr_grant_state(g) == state);
}

static void is_asked_for(void)
{
    client_changes_node("__REVOKE__");
    await_requests(ZKR__ZK_GET, 2);
}

static void is_deleted(void)
{
    client_changes_node(NULL);
    await_grant(ZKR_GRANT_LOST);
}

static void expires(void)
{
    client_says(ZKR__ZK_EXPIRED);
    AWAIT(zkr_session_epoch(s) == 2);
    await_grant(ZKR_GRANT_LOST);
    await_state(s, ZKR_SESSION_RECONNECTED);
}

static void is_refused(void)
{
    client_says(ZKR__ZK_AUTH_FAILED);
    await_state(s, ZKR_SESSION_AUTH_FAILED);
    await_grant(ZKR_GRANT_LOST);
}

static void hears(const struct heard *h, const char *events)
{
    client_await_rest();
    ok(zkr_session_dispatch(s));
    assert_string_equal(h->events, events);
}

/* -- the node ------------------------------------------------------------- */

TEST(it_is_watched_again_after_a_change)
{
    static const char *const words[] = { "a word of somebody else",
                                         "__REVOKE__ not", "__REVOKE_" };

    listen_by(&heard);
    assert_int_equal(client_requests(ZKR__ZK_GET), 1); /* at once */
    client_await_rest();
    for (int i = 0; i < 3; i++) { /* none of them is a request */
        client_changes_node(words[i]);
        await_requests(ZKR__ZK_GET, 2 + i);
    }
    hears(&heard, "");
    client_changes_node("__REVOKE__");
    await_requests(ZKR__ZK_GET, 5);
    hears(&heard, "REVOKE ");
    client_changes_node(NULL);
    hears(&heard, "REVOKE LOST ");
}

TEST_WITH(without_the_permission_to_read_its_end_is_heard, setup_free, teardown)
{
    int before = client_requests(ZKR__ZK_EXISTS);

    client_answers(ZKR__ZK_GET, ZKR_ZNOAUTH);
    g = acquire(m);
    listen_by(&heard);
    await_requests(ZKR__ZK_EXISTS, before + 1);
    client_changes_node(NULL);
    hears(&heard, "LOST ");
}

static const struct {
    int rc;
    int no_memory; /* for so many watches */
} no_looks[] = {
    { .rc = ZKR_ZCONNECTIONLOSS },
    /* Regression: the client sets the watch of an answer that it cannot read.
     * Its event freed the watch, and the look that was repeated sent its freed
     * path. */
    { .rc = ZKR_ZRUNTIMEINCONSISTENCY },
    /* Regression: it was tried twice only. */
    { .no_memory = 2 },
};

/* The listener does not report it: there is none. */
TEST_WITH(a_look_that_is_lost_is_repeated, setup_free, teardown)
{
    for (size_t i = 0; i < COUNT(no_looks); i++) {
        int before = client_requests(ZKR__ZK_GET);

        client_answers(ZKR__ZK_GET, no_looks[i].rc);
        atomic_store(&no_memory, no_looks[i].no_memory);
        g = acquire(m);
        await_requests(ZKR__ZK_GET, before + 1);
        assert_int_equal(atomic_load(&no_memory), 0);
        client_changes_node("a word of somebody else");
        client_await_rest();
        client_answers(ZKR__ZK_GET, ZKR_OK);
        await_requests(ZKR__ZK_GET, before + 2);
        is_deleted();
        zkr_grant_free(g);
    }
    g = NULL;
}

TEST_WITH(a_node_that_has_gone_before_the_look_is_lost, setup_free, teardown)
{
    begin_look(ZKR__ZK_GET);
    client_changes_node(NULL);
    client_goes_on();
    hears(&heard, "LOST ");
    zkr_grant_free(g);
    begin_look(ZKR__ZK_GET);
    client_replaces_node(); /* one of our name that came later is not ours */
    client_goes_on();
    hears(&heard, "LOST LOST ");
}

/* All holders of an unfair mutex have nodes of one name. */
TEST(the_node_of_another_confirms_nothing)
{
    ok(zkr_grant_release(g));
    AUTO(unfair_mutex) unfair = NEW(unfair_mutex, s, "/lock", NULL);
    AUTO(grant) held = GRANT(unfair_mutex_acquire, unfair, -1);
    ok(zkr_grant_verify(held, -1));
    client_replaces_node();
    gives(ZKR_ELOST, zkr_grant_verify(held, -1));
    gives(ZKR_ELOST, zkr_grant_check(held));
    assert_false(zkr_grant_is_held(held) || zkr_grant_is_held(NULL));
}

/* -- why it is lost ------------------------------------------------------- */

/* The event said so, the getter does, and so does the sentence of the error. */
static void lost_by(enum zkr_loss told, enum zkr_loss loss)
{
    assert_int_equal(heard.loss, told);
    assert_int_equal(zkr_grant_loss(g), loss);
    tells(zkr_grant_check(g), ZKR_ELOST, "mutex '/lock', token ");
    assert_has(zkr_error_detail(), zkr_loss_text(loss));
}

/* The servers delete the nodes of a session that they end, and a client that is
 * connected hears of that first. */
TEST(a_deletion_with_the_session_is_its_end)
{
    assert_string_equal(zkr_loss_text((enum zkr_loss)99), "unknown loss");
    assert_int_equal(zkr_grant_loss(NULL), ZKR_LOSS_NONE);
    listen_by(&heard);
    assert_int_equal(zkr_grant_loss(g), ZKR_LOSS_NONE);
    client_await_rest();
    client_changes_node(NULL);
    hears(&heard, "LOST ");
    lost_by(ZKR_LOSS_DELETED, ZKR_LOSS_DELETED);
    expires();
    assert_int_equal(zkr_grant_loss(g), ZKR_LOSS_EXPIRED);
    listen_by(&heard);
    hears(&heard, "LOST LOST ");
    lost_by(ZKR_LOSS_EXPIRED, ZKR_LOSS_EXPIRED);
}

/* clang-format off */
static const struct together {
    const char *name;
    void (*reasons[3])(void);
    enum zkr_loss loss;
    enum zkr_loss told; /* by the event, when that is another */
} together[] = {
    { "expired", { expires }, .loss = ZKR_LOSS_EXPIRED },
    { "refused", { is_refused }, .loss = ZKR_LOSS_CLOSED },
    { "asked for, deleted", { is_asked_for, is_deleted }, .loss = ZKR_LOSS_REVOKED },
    { "asked for, expired", { is_asked_for, expires }, .loss = ZKR_LOSS_EXPIRED },
    { "asked for, refused", { is_asked_for, is_refused }, .loss = ZKR_LOSS_CLOSED },
    { "asked for, deleted, refused", { is_asked_for, is_deleted, is_refused },
      .loss = ZKR_LOSS_REVOKED },
    { "asked for, deleted, expired", { is_asked_for, is_deleted, expires },
      .loss = ZKR_LOSS_EXPIRED, .told = ZKR_LOSS_REVOKED },
    { "deleted, refused", { is_deleted, is_refused }, .loss = ZKR_LOSS_DELETED },
    { "expired, refused", { expires, is_refused }, .loss = ZKR_LOSS_EXPIRED },
};
/* clang-format on */

TEST_ROWS(reasons_together_make_one, together, t)
{
    listen_by(&heard);
    client_await_rest();
    for (size_t i = 0; i < COUNT(t->reasons) && t->reasons[i] != NULL; i++)
        t->reasons[i]();
    ok(zkr_session_dispatch(s));
    assert_string_equal(
        heard.events, t->reasons[0] == is_asked_for ? "REVOKE LOST " : "LOST ");
    lost_by(t->told != ZKR_LOSS_NONE ? t->told : t->loss, t->loss);
    gives(ZKR_ELOST, zkr_grant_release(g));
}

TEST(a_deletion_in_a_living_session_is_not_its_end)
{
    AUTO(grant) lost = g;

    client_await_rest();
    is_deleted();
    g = acquire(m); /* answers */
    expires();
    assert_int_equal(zkr_grant_loss(lost), ZKR_LOSS_DELETED);
}

/* The servers would refuse it, too; here no request is sent. */
TEST(a_grant_without_its_node_writes_nothing)
{
    ok(zkr_grant_guarded_set(g, "/data", "", 0, -1, -1, NULL));
    assert_int_equal(client_requests(ZKR__ZK_MULTI), 1);
    client_says(ZKR__ZK_EXPIRED);
    await_grant(ZKR_GRANT_LOST);
    tells(zkr_grant_guarded_set(g, "/data", "", 0, -1, -1, NULL), ZKR_ELOST,
          "the servers have ended the session");
    gives(ZKR_ELOST, zkr_grant_guarded_delete(g, "/data", -1, -1));
    assert_int_equal(client_requests(ZKR__ZK_MULTI), 1);
}

static void on_commit(int rc, zkr_txn *txn, void *h)
{
    hear(h, rc == ZKR_ENOTHELD ? zkr_error_detail() : zkr_strerror(rc));
}

TEST(a_write_that_comes_after_the_release_is_not_made)
{
    AUTO(txn) t = MADE(txn, txn_new_guarded, g);

    client_answers(ZKR__ZK_MULTI, ZKR_ZNONODE);
    client_stops_at(ZKR__ZK_MULTI);
    ok(zkr_txn_set(t, "/data", "", 0, -1));
    ok(zkr_txn_commit_async(t, -1, on_commit, &heard));
    client_await_stop();
    ok(zkr_grant_release_async(g, NULL, NULL));
    client_goes_on();
    hears(&heard, "mutex '/lock', set '/data': the lock has been released ");
}

/* The node stays, because the delete is refused, and its owner is freed. */
TEST_WITH(a_look_that_ends_after_the_release_is_for_nobody, setup_free,
          teardown)
{
    client_answers(ZKR__ZK_DELETE, ZKR_ZNOAUTH);
    begin_look(ZKR__ZK_GET);
    ok(zkr_grant_release_async(g, NULL, NULL));
    zkr_grant_free(g);
    g = NULL;
    client_goes_on();
    client_await_rest();
    ok(zkr_session_dispatch(s));
    client_changes_node(NULL);
    hears(&heard, "");
}

/* A client that may not read watches a node that does not exist, too. */
TEST_WITH(a_node_that_comes_after_the_look_is_for_nobody, setup_free, teardown)
{
    client_answers(ZKR__ZK_GET, ZKR_ZNOAUTH);
    begin_look(ZKR__ZK_EXISTS);
    client_changes_node(NULL);
    client_goes_on();
    hears(&heard, "LOST ");
    client_changes_node("of somebody else");
    hears(&heard, "LOST ");
}

/* -- listeners ------------------------------------------------------------ */

static void doubt(void)
{
    client_says(ZKR__ZK_DISCONNECTED);
    await_grant(ZKR_GRANT_SUSPENDED);
}

static void resolve(void)
{
    client_says(ZKR__ZK_CONNECTED);
    await_grant(ZKR_GRANT_HELD);
}

TEST(a_request_is_told_to_every_listener_while_it_is_held)
{
    struct heard first = { 0 }, second = { 0 }, third = { 0 };

    listen_by(&first);
    client_await_rest();
    is_asked_for();
    hears(&first, "REVOKE ");
    listen_by(&second);
    hears(&second, "REVOKE ");
    client_changes_node(NULL);
    hears(&second, "REVOKE LOST ");
    listen_by(&third);
    hears(&third, "LOST ");
    assert_string_equal(first.events, "REVOKE ");
}

/* A listener that comes late hears of a doubt, too. */
TEST(all_that_happens_meanwhile_is_told)
{
    struct heard of_grant = { 0 }, of_session = { 0 };

    listen_by(&of_grant);
    AUTO(listener) l =
        MADE(listener, session_listen, s, on_session, &of_session);
    doubt();
    resolve();
    hears(&of_grant, "SUSPENDED HELD ");
    hears(&of_session, "CONNECTED SUSPENDED RECONNECTED ");
    doubt();
    listen_by(&heard);
    resolve();
    hears(&heard, "SUSPENDED HELD ");
}

/* It does not get the events that were due to the listener before it. */
TEST(the_next_listener_hears_what_is_its_own)
{
    struct heard first = { 0 }, second = { 0 };

    listen_by(&first);
    doubt();
    resolve();
    listen_by(&second);
    doubt();
    hears(&second, "SUSPENDED ");
    assert_string_equal(first.events, "");
    resolve();
}

TEST(a_grant_that_was_freed_tells_nothing)
{
    listen_by(&heard);
    zkr_grant_free(g); /* which gives it back */
    g = NULL;
    hears(&heard, "");
}

/* -- the caller's own loop ------------------------------------------------ */

static bool is_due(void)
{
    struct pollfd p = { .events = POLLIN };

    ok(zkr_session_fd(s, &p.fd));
    return poll(&p, 1, 0) == 1;
}

TEST(a_withdrawn_callback_is_not_due)
{
    zkr_listener *l = MADE(listener, session_listen, s, on_session, &heard);
    assert_true(is_due());
    zkr_listener_free(l);
    assert_false(is_due());
    hears(&heard, "");
}

static atomic_bool is_inside;
static atomic_bool has_left;

static void stay_inside(zkr_session *session,
                        const struct zkr_session_event *event, void *user)
{
    if (atomic_exchange(&is_inside, true))
        return;
    AWAIT(zkr_session_state(s) == ZKR_SESSION_CLOSED);
    for (int i = 0; i < 50; i++) /* another thread may be faster */
        pass_a_moment();
    atomic_store(&has_left, true);
}

static void *dispatch_main(void *unused)
{
    (void)zkr_session_dispatch(s);
    return unused;
}

/* One thread dispatches: the memory would be freed while the callback runs. */
TEST(a_close_waits_for_the_callback_of_another_thread)
{
    zkr_listener *l = MADE(listener, session_listen, s, stay_inside, NULL);
    pthread_t thread = thread_start(dispatch_main, NULL);

    AWAIT(atomic_load(&is_inside));
    gives(ZKR_EBUSY, zkr_session_dispatch(s));
    zkr_grant_free(g);
    g = NULL;
    zkr_mutex_free(m);
    m = NULL;
    ok(zkr_session_close(s));
    assert_true(atomic_load(&has_left));
    thread_join(thread);
    zkr_listener_free(l);
    s = NULL;
}

struct counting {
    zkr_reentrant_mutex *mutex;
    int rc[3];
    uint32_t depth[2];
};

static void release_twice(zkr_session *session,
                          const struct zkr_session_event *event, void *user)
{
    struct counting *c = user;

    for (int i = 0; i < 2; i++) {
        c->rc[i] = zkr_reentrant_mutex_release(c->mutex);
        c->depth[i] = zkr_reentrant_mutex_depth(c->mutex);
    }
    zkr_grant *own = MADE(grant, lockable_grant, c->mutex, NULL);
    c->rc[2] = zkr_grant_release_async(own, NULL, NULL);
    zkr_grant_free(own);
}

/* A counted release needs no answer; the last does; a refused one is none. */
TEST(a_callback_counts_down_and_does_not_give_back)
{
    ok(zkr_grant_release(g));
    AUTO(reentrant_mutex) own = NEW(reentrant_mutex, s, "/lock", NULL);
    struct counting c = { .mutex = own };
    for (int i = 0; i < 2; i++)
        ok(zkr_reentrant_mutex_acquire(c.mutex, -1));
    AUTO(listener) l = MADE(listener, session_listen, s, release_twice, &c);
    ok(zkr_session_dispatch(s));
    assert_int_equal(c.rc[0], ZKR_OK);
    assert_int_equal(c.depth[0], 1);
    assert_int_equal(c.rc[1], ZKR_EDEADLK);
    assert_int_equal(c.depth[1], 1);
    assert_int_equal(c.rc[2], ZKR_OK);
}
