/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of barriers and double barriers on a real server: Curator's in our
 * words, deadlines, members that die, lost answers, expiries, servers that
 * restart, and what is left on the servers. */
#include "usual.h"

static char ready[80];
static zkr_barrier *barrier;
/* Not on the stack of a test: one that fails leaves its threads behind. */
static struct caller caller, callers[8];

static int setup(void)
{
    (void)usual_setup_two();
    (void)strcat(path, "/barrier");
    (void)snprintf(ready, sizeof(ready), "%s/ready", path);
    ok(zkr_barrier_new(s, path, OPTS(barrier, .flags = 0), &barrier));
    return 0;
}

static int teardown(void)
{
    zkr_barrier_free(barrier);
    return usual_teardown();
}

FIXTURE(setup, teardown)

static bool is_there(const char *node)
{
    int rc = admin_exists(admin, node, NULL);

    assert_true(rc == ZOK || rc == ZNONODE);
    return rc == ZOK;
}

static void all_return(int count)
{
    for (int i = 0; i < count; i++)
        assert_int_equal(call_join(&callers[i]), ZKR_OK);
}

static void none_returns(int count)
{
    for (int i = 0; i < count; i++)
        assert_false(call_is_done(&callers[i]));
}

/* For call_start(). */
#define CALL(name, call, timeout_ms)                                           \
    static int name(void *barrier_or_member)                                   \
    {                                                                          \
        return zkr_##call(barrier_or_member, timeout_ms);                      \
    }

CALL(call_wait, barrier_wait, -1)
CALL(call_enter, double_barrier_enter, -1)
CALL(call_enter_now, double_barrier_enter, 0)
CALL(call_leave, double_barrier_leave, -1)

static void both(int (*call)(void *), zkr_double_barrier *a,
                 zkr_double_barrier *b)
{
    call_start(&callers[0], call, a);
    call_start(&callers[1], call, b);
    all_return(2);
}

/* -- the barrier ----------------------------------------------------------- */

TEST(all_wait_while_there_is_a_barrier)
{
    assert_string_equal(zkr_barrier_path(barrier), path);
    ok(zkr_barrier_wait(barrier, SOON_MS));
    ok(zkr_barrier_wait(barrier, 0));
    ok(zkr_barrier_remove(barrier, 0));
    ok(zkr_barrier_set(barrier, SOON_MS));
    ok(zkr_barrier_set(barrier, 0));
    assert_int_equal(stat_of(path).ephemeralOwner, 0);
    for (int i = 0; i < 8; i++)
        call_start(&callers[i], call_wait, barrier);
    wait_watches(1); /* of one session on one path */
    none_returns(8);
    ok(zkr_barrier_remove(barrier, SOON_MS));
    all_return(8);
    assert_false(is_there(path));
    ok(zkr_barrier_remove(barrier, SOON_MS));
}

/* The error of the second try says nothing about the first. The last is put off
 * until its deadline. */
TEST(a_step_that_may_have_been_made_stays_unknown)
{
    static const int32_t types[] = { ZOO_CREATE2_OP, ZOO_DELETE_OP };
    AUTO(session) slow =
        THROUGH(.retry = ZKR_RETRY_N_TIMES_INIT(9, 100 * SOON_MS));
    AUTO(barrier) its = NEW(barrier, slow, path, OPTS(barrier, .flags = 0));

    ok(zkr_barrier_set(barrier, SOON_MS));
    for (int i = 0; i < 3; i++) {
        proxy_rule(proxy, types[i > 0], 1, PROXY_DROP_REPLY);
        proxy_rule_error(proxy, types[i > 0], 2,
                         i < 2 ? ZKR_ZNOAUTH : ZKR_ZTHROTTLEDOP);
        tells(i == 0 ? zkr_barrier_set(its, SOON_MS)
                     : zkr_barrier_remove(its, i == 1 ? SOON_MS : 3000),
              ZKR_EUNKNOWN, path);
    }
}

/* A wake-up says only that something has happened. One that waits has a watch;
 * a settle() leaves another one for a moment, which a reconnect would keep. At
 * last the barrier is removed without a connection, which is seen. */
TEST(a_wake_up_or_a_restart_lets_nobody_pass)
{
    for (int time = 0; time < TWICE; time++) {
        ok(zkr_barrier_set(barrier, SOON_MS));
        call_start(&caller, call_wait, barrier);
        wait_watches(1);
        server_kill9(the_server);
        wait_session_state(s, ZKR_SESSION_SUSPENDED);
        restart_server();
        wait_session_state(s, ZKR_SESSION_RECONNECTED);
        wait_watches(1);
        assert_false(call_is_done(&caller));
        disconnect(proxy, s);
        connect_again(proxy, s);
        wait_watches(1);
        assert_int_equal(admin_set(admin, path, "changed"), ZOK);
        settle(s);
        assert_false(call_is_done(&caller));
        expire_and_wait(s);
        wait_watches(1);
        assert_false(call_is_done(&caller));
        disconnect(proxy, s);
        assert_int_equal(admin_delete(admin, path), ZOK);
        if (time == 1)
            expire(s);
        proxy_heal(proxy);
        assert_int_equal(call_join(&caller), ZKR_OK);
    }
}

/* Nobody can see afterwards that a node is a container. */
TEST(its_parents_are_as_its_options_say)
{
    proxy_rule_error(proxy, ZOO_CREATE_CONTAINER_OP, 1, ZKR_ZUNIMPLEMENTED);
    ok(zkr_barrier_set(barrier, SOON_MS)); /* and is told that there are none */
    assert_int_equal(proxy_requests(proxy, ZOO_CREATE_CONTAINER_OP), 1);
    AUTO(barrier) b = NEW(barrier, s, textf("%s/barrier", new_path()),
                          OPTS(barrier, .flags = ZKR_PERSISTENT_PARENTS));
    AUTO(double_barrier) member =
        NEW(double_barrier, s, textf("%s/barrier", new_path()), 1,
            OPTS(barrier, .flags = ZKR_PERSISTENT_PARENTS));
    proxy_reset_counts(proxy);
    ok(zkr_barrier_set(b, SOON_MS));
    ok(zkr_double_barrier_enter(member, SOON_MS));
    assert_int_equal(proxy_requests(proxy, ZOO_CREATE_CONTAINER_OP), 0);
}

TEST(barriers_are_below_the_chroot)
{
    ok(zkr_barrier_set(barrier, SOON_MS));
    AUTO(session) inner = OPEN(.chroot = path);
    AUTO(barrier) b = NEW(barrier, inner, "/below", NULL);
    AUTO(double_barrier) member = NEW(double_barrier, inner, "/both", 2, NULL);
    ok(zkr_barrier_set(b, SOON_MS));
    assert_int_equal(zkr_barrier_wait(b, 0), ZKR_EBUSY);
    assert_int_equal(zkr_double_barrier_enter(member, 0), ZKR_EBUSY);
    wait_children(textf("%s/both", path), 0);
    tells(zkr_barrier_remove(barrier, SOON_MS), ZKR_ZNOTEMPTY, path);
}

/* -- the double barrier ---------------------------------------------------- */

#define MEMBERS 5

static zkr_double_barrier *new_member_of(zkr_session *session, uint32_t members)
{
    return NEW(double_barrier, session, path, members, NULL);
}

/* Curator leaves its watch behind (CURATOR-654). */
TEST(a_wait_and_a_member_left_alone_end_at_their_deadline_and_leave_nothing)
{
    AUTO(double_barrier) member = new_member_of(s, 2);
    ok(zkr_barrier_set(barrier, SOON_MS));
    for (int time = 0; time < TWICE; time++) {
        struct stopwatch *w = stopwatch_start();
        tells(zkr_barrier_wait(barrier, 1000), ZKR_ETIMEDOUT, "': it is set");
        assert_true(stopwatch_says(w, 1000, SESSION_MS / 2));
        tells(zkr_barrier_wait(barrier, 0), ZKR_EBUSY, path);
        wait_watches(0);
        w = stopwatch_start();
        tells(zkr_double_barrier_enter(member, 1000), ZKR_ETIMEDOUT,
              textf("%s': too few have", ready));
        assert_true(stopwatch_says(w, 1000, SESSION_MS / 2));
        wait_children(path, 0);
        assert_int_equal(zkr_double_barrier_enter(member, 0), ZKR_EBUSY);
        wait_children(path, 0);
        wait_watches(0);
    }
    /* The connection breaks over the delete. Nobody waits for that, so it is
     * not the policy that says whether it is made again. */
    AUTO(session) once = THROUGH(.retry.kind = ZKR_RETRY_NONE);
    AUTO(double_barrier) another = new_member_of(once, 2);
    proxy_rule(proxy, ZOO_DELETE_OP, 1, PROXY_DROP_REQUEST);
    assert_int_equal(zkr_double_barrier_enter(another, 0), ZKR_EBUSY);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    wait_children(path, 0);
}

TEST(members_enter_and_leave_together)
{
    zkr_double_barrier *members[MEMBERS];

    for (int i = 0; i < MEMBERS; i++)
        members[i] = new_member_of(s, MEMBERS);
    for (int time = 0; time < TWICE; time++) { /* each member twice */
        for (int i = 0; i < MEMBERS; i++) {
            if (i > 0)
                wait_children(path, (size_t)i);
            settle(s);
            assert_false(is_there(ready));
            none_returns(i);
            call_start(&callers[i], call_enter, members[i]);
        }
        all_return(MEMBERS);
        assert_true(is_there(ready));
        for (int i = 0; i < MEMBERS; i++) {
            settle(s);
            none_returns(i);
            call_start(&callers[i], call_leave, members[i]);
        }
        all_return(MEMBERS);
        assert_false(is_there(ready));
    }
    for (int i = 0; i < MEMBERS; i++)
        zkr_double_barrier_free(members[i]);
}

TEST(one_alone_need_not_wait)
{
    AUTO(double_barrier) member = new_member_of(s, 1);
    for (int time = 0; time < TWICE; time++) {
        ok(zkr_double_barrier_enter(member, 0));
        assert_int_equal(zkr_double_barrier_enter(member, 0), ZKR_EINVAL);
        assert_int_equal(count_children(path), 2);
        ok(zkr_double_barrier_leave(member, 0));
        assert_int_equal(zkr_double_barrier_leave(member, 0), ZKR_ENOTHELD);
        assert_false(is_there(ready));
    }
    assert_string_equal(zkr_double_barrier_path(member), path);
}

/* GH-1290: Curator takes a reconnect for a permission to enter. */
TEST(a_wake_up_or_a_new_session_lets_nobody_enter_or_leave)
{
    AUTO(double_barrier) member = new_member_of(s, 2);
    AUTO(double_barrier) second = new_member_of(theirs, 2);
    for (int phase = 0; phase < 2; phase++) {
        call_start(&caller, phase == 0 ? call_enter : call_leave, member);
        for (int time = 0; time < TWICE; time++) {
            wait_watches(1);
            disconnect(proxy, s);
            connect_again(proxy, s);
            settle(s);
            assert_false(call_is_done(&caller));
            if (phase == 1) /* the end of a session would be told */
                continue;
            expire_and_wait(s);
            wait_children(path, 1);
            assert_false(call_is_done(&caller));
        }
        wait_watches(1);
        if (phase == 0)
            ok(zkr_double_barrier_enter(second, SOON_MS));
        else
            ok(zkr_double_barrier_leave(second, SOON_MS));
        assert_int_equal(call_join(&caller), ZKR_OK);
        assert_int_equal(count_children(path), phase == 0 ? 3 : 0);
    }
}

/* "ready" may come in the moment that the own node has gone. */
TEST(a_member_without_a_node_does_not_enter)
{
    AUTO(double_barrier) member = new_member_of(s, 3);
    AUTO(double_barrier) second = new_member_of(theirs, 3);
    call_start(&callers[0], call_enter, member);
    call_start(&callers[1], call_enter, second);
    wait_watches(2);
    disconnect(proxy, s);
    expire(s);
    assert_int_equal(count_children(path), 1);
    assert_int_equal(admin_create(admin, ready, ""), ZOK);
    assert_int_equal(call_join(&callers[1]), ZKR_OK);
    proxy_heal(proxy);
    assert_int_equal(call_join(&callers[0]), ZKR_OK);
    assert_int_equal(count_children(path), 3);
    call_start(&callers[0], call_leave, member);
    ok(zkr_double_barrier_leave(second, SOON_MS));
    assert_int_equal(call_join(&callers[0]), ZKR_OK);
}

/* Its own session ends before it leaves, or that of the other while it does. */
TEST(a_member_that_loses_its_session_inside_has_left)
{
    AUTO(double_barrier) member = new_member_of(s, 2);
    for (int time = 0; time < 2 * TWICE; time++) {
        bool is_own = time % 2 == 0;
        AUTO(session) other = open_session();
        AUTO(double_barrier) second = new_member_of(other, 2);

        both(call_enter, member, second);
        if (is_own)
            expire_and_wait(s);
        call_start(&caller, call_leave, member);
        wait_watches(1);
        assert_false(call_is_done(&caller)); /* the other one is inside */
        if (is_own) {
            ok(zkr_double_barrier_leave(second, SOON_MS));
            assert_int_equal(call_join(&caller), ZKR_ELOST);
        } else {
            expire(other);
            assert_int_equal(call_join(&caller), ZKR_OK);
            gives(ZKR_ELOST, zkr_double_barrier_leave(second, SOON_MS));
        }
        assert_int_equal(count_children(path), 0);
    }
}

TEST(a_member_that_cannot_wait_leaves_alone)
{
    AUTO(double_barrier) member = new_member_of(s, 2);
    AUTO(double_barrier) second = new_member_of(s, 2);
    for (int time = 0; time < TWICE; time++) {
        both(call_enter, member, second);
        struct stopwatch *w = stopwatch_start();
        if (time == 0)
            gives(ZKR_ETIMEDOUT, zkr_double_barrier_leave(member, 1000));
        else
            assert_int_equal(zkr_double_barrier_leave(member, 0), ZKR_EBUSY);
        assert_true(stopwatch_says(w, time == 0 ? 1000 : 0, SESSION_MS / 2));
        wait_children(path, 2); /* with "ready" */
        assert_int_equal(zkr_double_barrier_leave(member, 0), ZKR_ENOTHELD);
        ok(zkr_double_barrier_leave(second, SOON_MS));
        assert_int_equal(count_children(path), 0);
    }
}

static bool is_lowest(zkr_session *session)
{
    const char *lowest = "ready";
    AUTO(reply) list = MADE(reply, session_children, session, path, SOON_MS);
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->names[i], lowest) < 0)
            lowest = list->names[i];
    }
    return stat_of(textf("%s/%s", path, lowest)).ephemeralOwner ==
           zkr_session_id(session);
}

/* Of two that are inside, that of their session is to be the lowest. */
static void make_lowest(zkr_double_barrier *lowest, zkr_double_barrier *other)
{
    while (!is_lowest(theirs)) {
        both(call_leave, lowest, other);
        both(call_enter, lowest, other);
    }
}

/* In Curator the slow one waits for the quick one, which is the lowest, leaves
 * last, and has entered again. */
TEST(a_member_that_enters_again_is_not_waited_for)
{
    AUTO(double_barrier) quick = new_member_of(theirs, 2);
    AUTO(double_barrier) slow = new_member_of(s, 2);
    both(call_enter, quick, slow);
    make_lowest(quick, slow);
    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 2, PROXY_HOLD_REQUEST);
    call_start(&callers[0], call_leave, quick);
    wait_watches(1);
    call_start(&callers[1], call_leave, slow);
    assert_int_equal(call_join(&callers[0]), ZKR_OK);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    call_start(&callers[0], call_enter, quick);
    wait_children(path, 1);
    assert_false(call_is_done(&callers[1]));
    proxy_release(proxy);
    assert_int_equal(call_join(&callers[1]), ZKR_OK);
    ok(zkr_double_barrier_enter(slow, SOON_MS));
    assert_int_equal(call_join(&callers[0]), ZKR_OK);
    /* one that has left loses nothing when the directory goes */
    make_lowest(quick, slow);
    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 2, PROXY_HOLD_REQUEST);
    call_start(&callers[1], call_leave, slow);
    wait_watches(1);
    ok(admin_delete_tree(admin, path));
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    proxy_release(proxy);
    assert_int_equal(call_join(&callers[1]), ZKR_OK);
    assert_int_equal(zkr_double_barrier_leave(quick, 0), ZKR_ELOST);
}

/* Two were inside and have gone without deleting "ready"; it let a third one in
 * alone. One more goes, or its own node and "ready" do, when it has listed. */
TEST(a_ready_of_those_who_have_gone_lets_nobody_in)
{
    char one[96];

    PRINT(one, "%s/one", path);
    for (int time = 0; time < 2 * TWICE; time++) {
        AUTO(session) other = open_session();
        zkr_double_barrier *a = new_member_of(s, 2);
        zkr_double_barrier *b = new_member_of(other, 2);
        AUTO(double_barrier) third = new_member_of(s, 2);
        AUTO(double_barrier) fourth = new_member_of(s, 2);

        both(call_enter, a, b);
        if (time % 2 == 1) { /* one gives up, and the last one dies */
            assert_int_equal(zkr_double_barrier_leave(a, 0), ZKR_EBUSY);
            expire_and_wait(other);
        } /* else both do not wait */
        zkr_double_barrier_free(b);
        zkr_double_barrier_free(a);
        wait_children(path, 1);
        assert_int_equal(admin_create(admin, one, ""), ZOK);
        proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 1, PROXY_HOLD_REPLY);
        call_start(&caller, call_enter_now, third);
        assert_true(proxy_wait_rule(proxy, SOON_MS));
        assert_int_equal(admin_delete(admin, one), ZOK);
        if (time % 2 == 1) {
            assert_int_equal(admin_delete(admin, ready), ZOK);
            delete_nth_child(path, 0);
        } else
            assert_true(is_there(ready));
        proxy_release(proxy);
        assert_int_equal(call_join(&caller), ZKR_EBUSY);
        wait_children(path, 0);
        both(call_enter, third, fourth);
        both(call_leave, third, fourth);
        assert_int_equal(count_children(path), 0);
    }
}

/* It came when the member had seen an old one, and was to delete that. */
TEST(a_newer_ready_is_not_deleted)
{
    for (int time = 0; time < TWICE; time++) {
        AUTO(double_barrier) member = new_member_of(s, 3);

        ok(zkr_barrier_set(barrier, SOON_MS)); /* is the directory */
        ok(admin_create(admin, ready, ""));
        proxy_rule(proxy, ZOO_DELETE_OP, 1, PROXY_HOLD_REQUEST);
        call_start(&caller, call_enter_now, member);
        assert_true(proxy_wait_rule(proxy, SOON_MS));
        ok(admin_delete(admin, ready));
        ok(admin_create(admin, textf("%s/one", path), ""));
        ok(admin_create(admin, ready, ""));
        proxy_release(proxy);
        assert_int_equal(call_join(&caller), ZKR_OK);
        ok(admin_delete_tree(admin, path));
    }
}

/* -- one too many ---------------------------------------------------------- */

static bool is_one_alone(void)
{
    return count_children(path) == 1 && !is_there(ready);
}

/* The one too many took "ready" for an old one, and waited for others to come,
 * and the one that left waited for it. */
TEST(one_too_many_lets_the_others_leave)
{
    int times = 0;

    while (times < TWICE) {
        AUTO(double_barrier) member = new_member_of(theirs, 2);
        AUTO(double_barrier) second = new_member_of(theirs, 2);
        AUTO(double_barrier) late = new_member_of(s, 2);

        both(call_enter, member, second);
        proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 1, PROXY_HOLD_REQUEST);
        call_start(&callers[0], call_enter, late);
        assert_true(proxy_wait_rule(proxy, SOON_MS));
        bool is_waited_for = !is_lowest(theirs);
        call_start(&callers[1], call_leave, member);
        call_start(&callers[2], call_leave, second);
        if (is_waited_for)
            wait_children(path, 2); /* with "ready" */
        proxy_release(proxy);
        if (is_waited_for) {
            ok(call_join(&callers[1]));
            ok(call_join(&callers[2]));
            AWAIT(is_one_alone());
            assert_int_equal(admin_create(admin, ready, ""), ZOK);
        }
        assert_int_equal(call_join(&callers[0]), ZKR_OK);
        ok(zkr_double_barrier_leave(late, SOON_MS));
        for (int i = 1; i <= 2 && !is_waited_for; i++)
            assert_int_equal(call_join(&callers[i]), ZKR_OK);
        times += is_waited_for;
        wait_children(path, 0);
    }
}

#define CROWD (MEMBERS + 1)

struct visit {
    struct caller caller;
    zkr_double_barrier *member;
    useconds_t delay;
};

static int call_visit(void *visit)
{
    struct visit *v = visit;

    (void)usleep(v->delay);
    int rc = zkr_double_barrier_enter(v->member, -1);
    return rc == ZKR_OK ? zkr_double_barrier_leave(v->member, -1) : rc;
}

static size_t count_done(struct visit *visits)
{
    size_t n = 0;

    for (int i = 0; i < CROWD; i++)
        n += call_is_done(&visits[i].caller);
    return n;
}

/* It has seen "ready", which goes before it lists. */
TEST(one_too_many_lets_the_last_one_leave)
{
    AUTO(double_barrier) last = new_member_of(theirs, 1);
    AUTO(double_barrier) late = new_member_of(s, 3);
    ok(zkr_double_barrier_enter(last, SOON_MS));
    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 1, PROXY_HOLD_REQUEST);
    call_start(&callers[0], call_enter, late);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    call_start(&callers[1], call_leave, last);
    wait_watches(2);
    assert_int_equal(admin_delete(admin, ready), ZOK);
    proxy_release(proxy);
    ok(call_join(&callers[1]));
    AWAIT(is_one_alone());
    assert_int_equal(admin_create(admin, ready, ""), ZOK);
    ok(call_join(&callers[0]));
    ok(zkr_double_barrier_leave(late, SOON_MS));
}

/* Some members of five hung in about 2 of 100 rounds. */
TEST(one_too_many_comes_at_any_moment)
{
    zkr_session *sessions[3] = { s, open_session(), open_session() };
    unsigned seed = 1;

    for (long round = 0; round < 100; round++) {
        /* Not on the stack: a failure leaves its threads behind. */
        static struct visit visits[CROWD];

        (void)snprintf(path, sizeof(path), "%s", new_path());
        (void)snprintf(ready, sizeof(ready), "%s/ready", path);
        for (int i = 0; i < CROWD; i++) {
            visits[i].member = new_member_of(sessions[i % 3], MEMBERS);
            visits[i].delay = (useconds_t)(rand_r(&seed) % 5000);
        }
        for (int i = 0; i < CROWD; i++)
            call_start(&visits[i].caller, call_visit, &visits[i]);
        AWAIT(count_done(visits) >= MEMBERS);
        while (count_done(visits) < CROWD) {
            AWAIT(count_done(visits) == CROWD || is_one_alone());
            if (is_one_alone()) /* it is let in when all others have left */
                (void)admin_create(admin, ready, "");
        }
        for (int i = 0; i < CROWD; i++) {
            assert_int_equal(call_join(&visits[i].caller), ZKR_OK);
            zkr_double_barrier_free(visits[i].member);
        }
    }
    close_session(sessions[1]);
    close_session(sessions[2]);
}

/* A member that was slow when "ready" came waited on when it had gone: with its
 * watch set, or not yet. */
TEST(a_ready_that_comes_and_goes_lets_in)
{
    for (int time = 0; time < 2 * TWICE; time++) {
        AUTO(double_barrier) member = new_member_of(s, 2);

        if (time % 2 == 1)
            proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 1, PROXY_HOLD_REPLY);
        call_start(&caller, call_enter, member);
        if (time % 2 == 1) {
            assert_true(proxy_wait_rule(proxy, SOON_MS));
        } else {
            wait_watches(1);
            proxy_freeze(proxy);
        }
        assert_int_equal(admin_create(admin, ready, ""), ZOK);
        assert_int_equal(admin_delete(admin, ready), ZOK);
        proxy_heal(proxy);
        proxy_release(proxy);
        assert_int_equal(call_join(&caller), ZKR_OK);
        ok(zkr_double_barrier_leave(member, SOON_MS));
        wait_watches(0);
    }
}

/* The deletion of the node of the time before is delayed, and the create of
 * this time overtook it: then one member was counted as two. */
TEST(a_member_that_enters_again_counts_once)
{
    AUTO(session) slow =
        THROUGH(.session_timeout_ms = SESSION_MS, .retry.kind = ZKR_RETRY_FIXED,
                .retry.base_ms = SOON_MS);
    AUTO(double_barrier) other = new_member_of(s, 3);
    AUTO(double_barrier) member = new_member_of(slow, 3);
    call_start(&callers[0], call_enter, other);
    wait_watches(1);
    for (int time = 0; time < TWICE; time++) {
        AUTO(text) one = nth_child(path, 0);

        proxy_rule(proxy, ZOO_DELETE_OP, 1, PROXY_DROP_REQUEST);
        assert_int_equal(zkr_double_barrier_enter(member, 0), ZKR_EBUSY);
        assert_true(proxy_wait_rule(proxy, SOON_MS));
        AUTO(text) first = nth_child(path, 0);
        AUTO(text) second = nth_child(path, 1);
        const char *old = strcmp(first, one) == 0 ? second : first;
        call_start(&callers[1], call_enter, member);
        AWAIT(!is_there(textf("%s/%s", path, old)) &&
              count_children(path) == 2);
        settle(slow);
        none_returns(2);
        if (time == 0) {
            assert_int_equal(admin_create(admin, ready, ""), ZOK);
            all_return(2);
            both(call_leave, other, member);
            call_start(&callers[0], call_enter, other);
            wait_watches(1);
        }
    }
    assert_int_equal(admin_create(admin, ready, ""), ZOK);
    all_return(2);
    both(call_leave, other, member);
}

/* The server of the one that leaves may not know yet of one too many that has
 * entered through another. */
TEST(a_leaving_member_waits_for_a_late_one)
{
    AUTO(double_barrier) member = new_member_of(s, 1);
    AUTO(double_barrier) late = new_member_of(theirs, 1);
    for (int time = 0; time < TWICE; time++) {
        ok(zkr_double_barrier_enter(member, SOON_MS));
        proxy_reset_counts(proxy);
        proxy_rule(proxy, ZOO_SYNC_OP, 1, PROXY_HOLD_REQUEST);
        call_start(&caller, call_leave, member);
        assert_true(proxy_wait_rule(proxy, SOON_MS));
        assert_int_equal(proxy_requests(proxy, ZOO_GETCHILDREN2_OP), 0);
        ok(zkr_double_barrier_enter(late, 0)); /* and need not wait */
        proxy_release(proxy);
        wait_watches(1);
        assert_false(call_is_done(&caller));
        ok(zkr_double_barrier_leave(late, SOON_MS));
        assert_int_equal(call_join(&caller), ZKR_OK);
        assert_int_equal(count_children(path), 0);
    }
}

TEST(members_meet_while_servers_and_sessions_end)
{
    zkr_double_barrier *members[MEMBERS];

    for (int i = 0; i < MEMBERS; i++)
        members[i] = new_member_of(s, MEMBERS);
    for (int time = 0; time < TWICE; time++) {
        proxy_rule(proxy, ZOO_CREATE2_OP, 3, PROXY_DROP_REPLY);
        for (int i = 0; i < MEMBERS - 1; i++)
            call_start(&callers[i], call_enter, members[i]);
        restart_server();
        expire_and_wait(s);
        none_returns(MEMBERS - 1);
        call_start(&callers[MEMBERS - 1], call_enter, members[MEMBERS - 1]);
        all_return(MEMBERS);
        proxy_rule(proxy, ZOO_DELETE_OP, 2, PROXY_DROP_REPLY);
        for (int i = 0; i < MEMBERS - 1; i++)
            call_start(&callers[i], call_leave, members[i]);
        restart_server();
        wait_session_state(s, ZKR_SESSION_RECONNECTED);
        none_returns(MEMBERS - 1);
        call_start(&callers[MEMBERS - 1], call_leave, members[MEMBERS - 1]);
        all_return(MEMBERS);
        proxy_forget_rules(proxy);
        assert_int_equal(count_children(path), 0);
    }
    for (int i = 0; i < MEMBERS; i++)
        zkr_double_barrier_free(members[i]);
}

TEST(the_end_of_the_session_ends_waits_and_entries)
{
    AUTO(double_barrier) member = new_member_of(s, 2);
    ok(zkr_barrier_set(barrier, SOON_MS));
    call_start(&callers[0], call_wait, barrier);
    wait_watches(1);
    call_start(&callers[1], call_enter, member);
    wait_watches(2);
    (void)zkr_session_close(s);
    for (int i = 0; i < 2; i++)
        assert_int_equal(call_join(&callers[i]), ZKR_ECLOSED);
    s = NULL;
}

/* -- where it cannot wait -------------------------------------------------- */

static zkr_double_barrier *inside;

static void on_event(zkr_session *session, const struct zkr_session_event *e,
                     void *user)
{
    recorder_add(user, zkr_barrier_wait(barrier, -1), 0);
    /* it named "/" alone */
    recorder_add(user, strstr(zkr_error_detail(), path) != NULL, 0);
    recorder_add(user, zkr_double_barrier_leave(inside, -1), 0);
}

/* unit/test_outputs.c tries the others. */
TEST(a_callback_cannot_wait)
{
    AUTO(recorder) r = recorder_new();
    inside = new_member_of(s, 1);
    ok(zkr_double_barrier_enter(inside, SOON_MS));
    zkr_listener *listener = MADE(listener, session_listen, s, on_event, r);
    assert_true(recorder_wait(r, 3, SOON_MS));
    zkr_listener_free(listener);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(recorded(r, i), i == 1 ? true : ZKR_EDEADLK);
    assert_int_equal(count_children(path), 2);
    ok(zkr_double_barrier_leave(inside, SOON_MS)); /* it was inside still */
    zkr_double_barrier_free(inside);
}

TEST(a_program_with_its_own_loop_waits)
{
    AUTO(session) own = OPEN(.flags = ZKR_SESSION_OWN_LOOP);
    AUTO(barrier) b = NEW(barrier, own, path, NULL);
    ok(zkr_barrier_set(b, SOON_MS));
    call_start(&caller, call_wait, b);
    wait_watches(1);
    ok(zkr_barrier_remove(barrier, SOON_MS));
    assert_int_equal(call_join(&caller), ZKR_OK);
    zkr_double_barrier *member = new_member_of(own, 1);
    ok(zkr_double_barrier_enter(member, SOON_MS));
    ok(zkr_double_barrier_leave(member, SOON_MS));
    assert_int_equal(zkr_double_barrier_enter(member, 0), ZKR_OK);
    zkr_double_barrier_free(member);
    wait_children(path, 1);
}
