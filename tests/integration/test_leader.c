/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the leader latch: those of Curator's TestLeaderLatch, and more. */
#include "usual.h"

enum { MANY = 5 };

struct participant {
    zkr_leader *leader;
    struct recorder *events; /* code is the kind, value the token or error */
    size_t seen;
};

static struct participant a; /* of s */
static struct participant b; /* of their session */

static void record(zkr_leader *leader, const struct zkr_leader_event *e,
                   void *recorder)
{
    bool says_why = strstr(zkr_error_detail(), path) != NULL;

    recorder_add(recorder, (int)e->kind,
                 e->error != ZKR_OK && !says_why ? 1 : e->error + e->token);
}

static void begin_with(struct participant *p, zkr_session *session,
                       const struct zkr_leader_opts *opts)
{
    p->events = recorder_new();
    p->seen = 0;
    ok(zkr_leader_new(session, path, opts, record, p->events, &p->leader));
}

static void begin(struct participant *p, zkr_session *session, const char *id)
{
    begin_with(p, session,
               OPTS(leader, .id = id, .id_size = id == NULL ? 0 : strlen(id)));
}

static void end(struct participant *p)
{
    zkr_leader_free(p->leader);
    recorder_free(p->events);
    *p = (struct participant){ 0 };
}

static int setup(void)
{
    (void)usual_setup_two();
    begin(&a, s, "a");
    begin(&b, theirs, "b");
    return 0;
}

static int teardown(void)
{
    proxy_let_all_pass(proxy);
    end(&a);
    end(&b);
    return usual_teardown();
}

FIXTURE(setup, teardown)

/* -- steps ---------------------------------------------------------------- */

/* The next event of that kind; on a busy machine there may be a doubt before
 * it, and its end. */
static int64_t told(struct participant *p, enum zkr_leader_event_kind kind)
{
    for (;;) {
        int64_t value = 0;
        int code = 0;

        if (!recorder_wait(p->events, p->seen + 1, SOON_MS))
            fail_msg("event %d has not come", (int)kind);
        assert_true(recorder_get(p->events, p->seen++, &code, &value));
        if (code == (int)kind)
            return value;
        assert_true(code == ZKR_LEADER_SUSPENDED || code == ZKR_LEADER_GAINED);
    }
}

static void leads(struct participant *p)
{
    ok(zkr_leader_campaign(p->leader));
    ok(zkr_leader_wait(p->leader, SOON_MS));
}

/* It campaigns, and its node is in the queue. */
static void queues(struct participant *p, size_t nodes)
{
    ok(zkr_leader_campaign(p->leader));
    wait_children(path, nodes);
}

static void a_leads_before_b(void)
{
    leads(&a);
    (void)told(&a, ZKR_LEADER_GAINED);
    queues(&b, 2);
}

/* It leads, and the one before it, which has lost its term, queues again. */
static void follows(struct participant *p, struct participant *old)
{
    ok(zkr_leader_wait(p->leader, SOON_MS));
    (void)told(p, ZKR_LEADER_GAINED);
    (void)told(old, ZKR_LEADER_LOST);
    wait_children(path, 2);
}

static void hands_on(struct participant *p, struct participant *next)
{
    ok(zkr_leader_leave(p->leader));
    ok(zkr_leader_wait(next->leader, SOON_MS));
}

static int64_t token_of(struct participant *p)
{
    AUTO(grant) g = GRANT(leader_grant, p->leader);

    return zkr_grant_token(g);
}

/* Waits for a term after that one. */
static void leads_again(struct participant *p, int64_t token)
{
    int64_t present = token;

    while (present == token) {
        AUTO(grant) g = NULL;

        ok(zkr_leader_wait(p->leader, SOON_MS));
        if (zkr_leader_grant(p->leader, &g) == ZKR_OK)
            present = zkr_grant_token(g);
    }
}

/* The ids of those that campaign, in their order, with a space after each. */
static void ids_are(const char *expected)
{
    AUTO(participants) list = list_of(theirs, path, NULL);
    char ids[256] = "";

    for (size_t i = 0; i < list->count; i++) {
        assert_string_equal(list->items[i].marker, "latch-");
        assert_int_equal(list->items[i].holds, i == 0);
        (void)strncat(ids, list->items[i].data, 20);
        (void)strcat(ids, " ");
    }
    assert_string_equal(ids, expected);
}

/* -- turns ---------------------------------------------------------------- */

/* TestLeaderLatch.testBasic, testCallbackNotifyLeader, and before the campaign
 * testProperCloseWithoutConnectionEstablished, testWaiting */
TEST(one_leads_and_the_next_one_when_it_has_left)
{
    assert_int_equal(zkr_leader_wait(a.leader, SOON_MS), ZKR_ECANCELED);
    assert_int_equal(zkr_leader_grant(a.leader, &nil), ZKR_ENOTHELD);
    assert_null(nil);
    ok(zkr_leader_leave(a.leader));
    ok(zkr_leader_leave_async(a.leader));
    assert_int_equal(count_children(path), 0);
    assert_false(zkr_leader_is_leader(a.leader));
    leads(&a);
    int64_t first = told(&a, ZKR_LEADER_GAINED);
    leads(&a); /* a second campaign goes on with the first */
    assert_int_equal(count_children(path), 1);
    ok(zkr_leader_wait(a.leader, 0));
    assert_int_equal(first, token_of(&a));
    queues(&b, 2);
    tells(zkr_leader_wait(b.leader, 0), ZKR_EBUSY, "others come first");
    /* it said nobody's name */
    tells(zkr_leader_wait(b.leader, 50), ZKR_ETIMEDOUT, "waiting for '_c_");
    assert_false(zkr_leader_is_leader(b.leader));
    ok(zkr_leader_leave(a.leader));
    assert_false(zkr_leader_is_leader(a.leader));
    ok(zkr_leader_wait(b.leader, SOON_MS));
    assert_int_equal(told(&a, ZKR_LEADER_LOST), first);
    assert_true(told(&b, ZKR_LEADER_GAINED) > first);
    ok(zkr_leader_leave(b.leader));
    wait_children(path, 0);
}

/* A node that cannot be read must not be described by the one before it. */
TEST(whom_it_waits_for_is_described_anew)
{
    const char *node = "";

    ok(admin_create(admin, path, ""));
    for (int i = 0; i < 3; i++) {
        node = textf("%s/%d-latch-000000000%d", path, i, i);
        ok(admin_create(admin, node, i < 2 ? "" : "cook"));
    }
    queues(&a, 4);
    AWAIT(server_watches(the_server, node, 0) > 0);
    settle(s);
    tells(zkr_leader_wait(a.leader, 0), ZKR_EBUSY, "says 'cook'");
    proxy_rule_error(proxy, ZOO_GETDATA_OP, 1, ZKR_ZNOAUTH);
    proxy_rule_error(proxy, ZOO_EXISTS_OP, 1, ZKR_ZNOAUTH);
    ok(admin_delete(admin, node));
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    settle(s);
    tells(zkr_leader_wait(a.leader, 0), ZKR_EBUSY, "'1-latch-0000000001'");
    assert_lacks(zkr_error_detail(), "cook");
}

/* -- on the server -------------------------------------------------------- */

/* An empty id is no data, and without one they are our record. */
TEST(a_node_is_that_of_curators_latch_or_kazoos_election_and_has_the_id)
{
    static const char id[] = { 'i', '\0', 'd' };
    struct participant c;

    end(&a);
    end(&b);
    begin_with(&a, s, OPTS(leader, .flags = ZKR_KAZOO_LAYOUT));
    leads(&a);
    AUTO(text) name = nth_child(path, 0);
    assert_int_equal(strspn(name, "0123456789abcdef"), 32);
    assert_string_equal(name + 32, "__lock__0000000000");
    ok(zkr_leader_leave(a.leader));
    end(&a);
    ok(admin_delete_tree(admin, path));
    begin_with(&a, s,
               OPTS(leader, .flags = ZKR_PERSISTENT_PARENTS, .id = id,
                    .id_size = sizeof(id)));
    begin(&b, theirs, "");
    begin_with(&c, s, OPTS(leader, .label = "nightly"));
    leads(&a);
    assert_int_equal(proxy_requests(proxy, ZOO_CREATE_CONTAINER_OP), 0);
    queues(&b, 2);
    queues(&c, 3);
    AUTO(participants) list = list_of(theirs, path, NULL);
    assert_int_equal(list->count, 3);
    assert_int_equal(strlen(list->items[0].name), 3 + 36 + 1 + 6 + 10);
    assert_memory_equal(list->items[0].name, "_c_", 3);
    assert_memory_equal(list->items[0].name + 39, "-latch-0000000000", 17);
    assert_int_equal(list->items[0].data_size, sizeof(id));
    assert_memory_equal(list->items[0].data, id, sizeof(id));
    assert_int_equal(list->items[0].token, token_of(&a));
    assert_int_equal(list->items[1].full_size, 0);
    assert_has(list->items[2].data, "\"nightly\"");
    end(&c);
}

/* TestLeaderLatch.testCorrectWatching */
TEST(participants_are_listed_in_their_order_with_their_ids)
{
    struct participant more[MANY];

    leads(&a);
    for (int i = 0; i < MANY; i++) {
        char id[] = { (char)('1' + i), '\0' };

        begin(&more[i], i % 2 == 0 ? theirs : s, id);
        queues(&more[i], (size_t)i + 2);
    }
    ids_are("a 1 2 3 4 5 ");
    end(&more[1]);
    wait_children(path, MANY);
    ok(zkr_leader_leave(a.leader));
    ok(zkr_leader_wait(more[0].leader, SOON_MS));
    ids_are("1 3 4 5 ");
    for (int i = 0; i < MANY; i++) {
        if (i == 1)
            continue;
        ok(zkr_leader_wait(more[i].leader, SOON_MS));
        end(&more[i]);
    }
}

/* -- losses --------------------------------------------------------------- */

static void delete_first(zkr_session *unused)
{
    delete_nth_child(path, 0);
}

static const struct {
    const char *name;
    void (*end_term)(zkr_session *session);
} losses[] = { { "its node is deleted", delete_first },
               { "its session ends", expire } };

/* TestLeaderLatch.testResettingOfLeadershipAfterConcurrentLeadershipChange,
 * testLostConnection, CURATOR-696 */
TEST_ROWS(a_leader_that_is_over_queues_again, losses, row)
{
    leads(&a);
    int64_t first = told(&a, ZKR_LEADER_GAINED);
    queues(&b, 2);
    row->end_term(s);
    follows(&b, &a);
    ids_are("b a ");
    assert_false(zkr_leader_is_leader(a.leader));
    row->end_term(theirs);
    follows(&a, &b);
    ids_are("a b ");
    assert_false(zkr_leader_is_leader(b.leader));
    assert_true(token_of(&a) > first);
}

/* TestLeaderLatch.testSessionErrorPolicy: the connection breaks, and the
 * session lives on; the lease decides meanwhile, and not the state. Then, as in
 * testSessionInterruptionDoNotCauseBrainSplit and testErrorPolicies, the
 * connection is gone, and its session ends. */
TEST(one_that_is_cut_off_is_suspended_and_knows_before_another_leads)
{
    leads(&a);
    AUTO(grant) g = GRANT(leader_grant, a.leader);
    int64_t token = told(&a, ZKR_LEADER_GAINED);
    for (int twice = 0; twice < 2; twice++) {
        proxy_cut(proxy);
        assert_int_equal(told(&a, ZKR_LEADER_SUSPENDED), token);
        bool led = zkr_leader_is_leader(a.leader);
        if (zkr_grant_is_held(g)) /* by the lease, after the other question */
            assert_true(led);
        proxy_heal(proxy);
        assert_int_equal(told(&a, ZKR_LEADER_GAINED), token);
    }
    ok(zkr_leader_wait(a.leader, SOON_MS));
    queues(&b, 2);
    proxy_freeze(proxy);
    AWAIT(zkr_leader_is_leader(b.leader));
    assert_false(zkr_leader_is_leader(
        a.leader)); /* asked after the other was seen to lead */
    (void)told(&a, ZKR_LEADER_SUSPENDED);
    proxy_heal(proxy);
    (void)told(&a, ZKR_LEADER_LOST);
    wait_children(path, 2);
    hands_on(&b, &a);
}

/* TestLeaderLatch.testGetChildrenHitsNoNode, CURATOR-724: the directory goes
 * with all that is in it. */
TEST(a_directory_that_is_deleted_is_made_again)
{
    a_leads_before_b();
    for (int twice = 0; twice < 2; twice++) {
        AWAIT(admin_delete_tree(admin, path) == ZOK); /* they are quick */
        wait_children(path, 2);
        (void)told(&a, ZKR_LEADER_LOST);
        AWAIT(zkr_leader_is_leader(a.leader) || zkr_leader_is_leader(b.leader));
        if (zkr_leader_is_leader(b.leader)) {
            hands_on(&b, &a);
            queues(&b, 2);
        }
        (void)told(&a, ZKR_LEADER_GAINED);
    }
}

/* TestLeaderLatch.testCreateDeleteRace,
 * testLeadershipElectionWhenNodeDisappearsAfterChildrenAreRetrieved */
TEST(a_node_that_goes_before_its_create_is_answered_is_made_again)
{
    leads(&b);
    for (int twice = 0; twice < 2; twice++) {
        proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_HOLD_REPLY);
        ok(zkr_leader_campaign(a.leader));
        assert_true(proxy_wait_rule(proxy, SOON_MS));
        delete_nth_child(path, 1);
        proxy_release(proxy);
        wait_children(path, 2);
        hands_on(&b, &a);
        queues(&b, 2);
        hands_on(&a, &b);
    }
}

/* -- the end of a campaign ------------------------------------------------ */

/* TestLeaderLatch.testResetRace: whatever is under way when it leaves. */
TEST(campaigns_that_are_given_up_leave_nothing_behind)
{
    for (int i = 0; i < 100; i++) {
        ok(zkr_leader_campaign(a.leader));
        if (i % 3 == 0) {
            int rc = zkr_leader_wait(a.leader, 1 + i % 7);

            assert_true(rc == ZKR_OK || rc == ZKR_ETIMEDOUT);
        }
        ok(zkr_leader_leave_async(a.leader));
    }
    wait_children(path, 0);
    leads(&a);
    assert_int_equal(count_children(path), 1);
}

static int campaign_and_wait(zkr_lockable *l, int64_t timeout_ms,
                             zkr_grant **ret_grant)
{
    zkr_leader *leader = (void *)l;
    int rc = zkr_leader_campaign(leader);

    return rc == ZKR_OK ? zkr_leader_wait(leader, timeout_ms) : rc;
}

TEST(a_thread_that_waits_is_told_that_it_campaigns_no_more)
{
    leads(&a);
    for (int i = 0; i < 9; i++) {
        zkr_leader *l = NEW(leader, theirs, path, NULL, NULL, NULL);
        struct waiter w = WAITER(queue_by, campaign_and_wait, l, path);

        if (i % 3 < 2)
            ok(i % 3 == 0 ? zkr_leader_leave(l) : zkr_leader_leave_async(l));
        else
            zkr_leader_free(l);
        assert_int_equal(waiter_join(&w), ZKR_ECANCELED);
        if (i % 3 < 2)
            zkr_leader_free(l);
        wait_children(path, 1);
    }
}

TEST(a_session_that_is_closed_ends_terms_and_campaigns)
{
    a_leads_before_b();
    AUTO(grant) g = GRANT(leader_grant, a.leader);
    ok(zkr_session_close(theirs));
    assert_int_equal(told(&b, ZKR_LEADER_FAILED), ZKR_ECLOSED);
    ok(zkr_session_close(s));
    (void)told(&a, ZKR_LEADER_LOST);
    assert_int_equal(told(&a, ZKR_LEADER_FAILED), ZKR_ECLOSED);
    assert_int_equal(count_children(path), 0);
    assert_false(zkr_leader_is_leader(a.leader));
    assert_int_equal(zkr_leader_wait(a.leader, SOON_MS), ZKR_ECLOSED);
    assert_int_equal(zkr_leader_wait(b.leader, SOON_MS), ZKR_ECLOSED);
    assert_int_equal(zkr_grant_check(g), ZKR_ELOST);
    s = theirs = NULL;
}

/* An error that no repetition can help is told once, and not repeated. */
TEST(a_campaign_that_is_forbidden_fails_and_may_begin_anew)
{
    struct ACL read_only = { ZOO_PERM_READ | ZOO_PERM_ADMIN,
                             ZOO_ANYONE_ID_UNSAFE };
    struct ACL_vector acl = { 1, &read_only };

    leads(&a);
    (void)told(&a, ZKR_LEADER_GAINED);
    assert_int_equal(admin_set_acl(admin, path, &acl), ZOK);
    assert_int_equal(zkr_leader_leave(a.leader), ZKR_ZNOAUTH); /* but it has */
    for (int twice = 0; twice < 2; twice++) {
        ok(zkr_leader_campaign(a.leader));
        tells(zkr_leader_wait(a.leader, SOON_MS), ZKR_ZNOAUTH, "cannot create");
        if (twice == 0)
            (void)told(&a, ZKR_LEADER_LOST);
        assert_int_equal(told(&a, ZKR_LEADER_FAILED), ZKR_ZNOAUTH);
    }
    long creates = proxy_requests(proxy, ZOO_CREATE2_OP);
    sleep_ms(200);
    assert_int_equal(proxy_requests(proxy, ZOO_CREATE2_OP), creates);
    assert_int_equal(recorder_count(a.events), a.seen);
    assert_int_equal(admin_set_acl(admin, path, &ZOO_OPEN_ACL_UNSAFE), ZOK);
    leads(&a);
    (void)told(&a, ZKR_LEADER_GAINED);
}

/* -- the grant of a term -------------------------------------------------- */

TEST(a_grant_writes_for_its_own_term_only)
{
    const char *data = textf("%s-data", path);
    struct zkr_counters n = ZKR_COUNTERS_INIT;

    assert_int_equal(admin_create(admin, data, "0"), ZOK);
    leads(&a);
    zkr_grant *g = GRANT(leader_grant, a.leader);
    ok(zkr_grant_guarded_set(g, data, "1", 1, -1, SOON_MS, NULL));
    ok(zkr_leader_leave(a.leader));
    leads(&a);
    assert_true(token_of(&a) > zkr_grant_token(g));
    assert_int_equal(zkr_grant_check(g), ZKR_ENOTHELD);
    gives(ZKR_ENOTHELD,
          zkr_grant_guarded_set(g, data, "2", 1, -1, SOON_MS, NULL));
    zkr_grant_free(g);
    g = GRANT(leader_grant, a.leader);
    delete_nth_child(path, 0);
    gives(ZKR_ELOST, zkr_grant_guarded_set(g, data, "3", 1, -1, SOON_MS, NULL));
    leads_again(&a, zkr_grant_token(g));
    assert_int_equal(zkr_grant_check(g), ZKR_ELOST);
    ok(zkr_leader_stats(a.leader, &n)); /* each term is a grant */
    assert_int_equal(n.acquires, 3);
    assert_int_equal(n.grants, 3);
    assert_int_equal(n.losses, 1);
    assert_int_equal(n.releases, 1);
    end(&a);
    assert_int_equal(zkr_grant_check(g), ZKR_ELOST);
    zkr_grant_free(g); /* after its participant */
    begin(&a, s, "a");
    node_has(data, "1");
}

TEST(handles_that_are_freed_end_no_term_and_a_release_does)
{
    static zkr_grant *handles[UINT16_MAX]; /* as many as are counted */

    a_leads_before_b();
    for (size_t i = 0; i < COUNT(handles); i++)
        ok(zkr_leader_grant(a.leader, &handles[i]));
    assert_int_equal(zkr_leader_grant(a.leader, &nil), ZKR_EOVERFLOW);
    zkr_grant_free(handles[0]);
    ok(zkr_leader_grant(a.leader, &handles[0]));
    for (size_t i = 1; i < COUNT(handles); i++)
        zkr_grant_free(handles[i]);
    assert_int_equal(zkr_grant_check(handles[0]), ZKR_OK);
    assert_true(zkr_leader_is_leader(a.leader));
    ok(zkr_grant_release(handles[0]));
    zkr_grant_free(handles[0]);
    ok(zkr_leader_wait(b.leader, SOON_MS));
    (void)told(&a, ZKR_LEADER_LOST);
    wait_children(path, 2);
    ids_are("b a ");
}

/* A leader that left, or was freed, kept its node for a handle of its grant. */
TEST(handles_of_a_grant_do_not_prolong_a_term)
{
    for (int freed = 0; freed < 2; freed++) {
        leads(&a);
        queues(&b, 2);
        AUTO(grant) g = GRANT(leader_grant, a.leader);
        if (freed == 0) {
            ok(zkr_leader_leave_async(a.leader));
        } else {
            zkr_leader_free(a.leader);
            a.leader = NULL;
        }
        ok(zkr_leader_wait(b.leader, SOON_MS));
        assert_int_equal(zkr_grant_check(g), ZKR_ENOTHELD);
        assert_int_equal(zkr_grant_release(g), ZKR_ENOTHELD);
        assert_int_equal(zkr_grant_depth(g), 0);
        ok(zkr_leader_leave(b.leader));
    }
}

/* -- callbacks ------------------------------------------------------------ */

static void try_to_wait(zkr_leader *leader, const struct zkr_leader_event *e,
                        void *recorder)
{
    if (e->kind == ZKR_LEADER_GAINED) {
        recorder_add(recorder, zkr_leader_wait(leader, -1), 0);
        recorder_add(recorder, zkr_leader_leave(leader), 0);
        recorder_add(recorder, zkr_leader_is_leader(leader), 0);
        recorder_add(recorder, zkr_leader_leave_async(leader), 0);
        recorder_add(recorder, zkr_leader_leave(leader), 0); /* it has left */
        recorder_add(recorder, zkr_leader_is_leader(leader), 0);
        recorder_add(recorder, zkr_leader_campaign(leader), 0);
    } else if (e->kind == ZKR_LEADER_LOST) {
        zkr_leader_free(leader);
        recorder_add(recorder, -1, 0);
    }
}

TEST(a_callback_leaves_campaigns_and_frees_but_does_not_wait)
{
    AUTO(recorder) r = recorder_new();
    static const int expected[] = { ZKR_EDEADLK, ZKR_EDEADLK, 1,      ZKR_OK,
                                    ZKR_OK,      0,           ZKR_OK, -1 };

    zkr_leader *l = NEW(leader, s, path, NULL, try_to_wait, r);
    ok(zkr_leader_campaign(l));
    for (size_t i = 0; i < COUNT(expected); i++)
        assert_int_equal(recorded(r, i), expected[i]);
    wait_children(path, 0);
}

/* Nothing but the listener needs the loop. */
TEST(a_wait_in_the_thread_of_a_loop_needs_no_dispatch)
{
    struct participant p;

    AUTO(session) own = OPEN(.flags = ZKR_SESSION_OWN_LOOP);
    begin(&p, own, "p");
    leads(&p);
    assert_int_equal(recorder_count(p.events), 0);
    int64_t first = token_of(&p);
    delete_nth_child(path, 0);
    leads_again(&p, first);
    ok(zkr_session_dispatch(own));
    /* the first term is not told, because it was over */
    int64_t second = token_of(&p);
    assert_int_equal(told(&p, ZKR_LEADER_GAINED), second);
    delete_nth_child(path, 0);
    leads_again(&p, second);
    ok(zkr_session_dispatch(own));
    assert_int_equal(told(&p, ZKR_LEADER_LOST), second);
    assert_int_equal(told(&p, ZKR_LEADER_GAINED), token_of(&p));
    ok(zkr_leader_leave(p.leader));
    ok(zkr_session_dispatch(own));
    (void)told(&p, ZKR_LEADER_LOST);
    assert_int_equal(recorder_count(p.events), 4);
    end(&p);
}
