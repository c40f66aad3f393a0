/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the list of participants, and of asking for a lock. */
#include "onlooker.h"

/* The text that record_grant() writes for it. */
#define REVOKED 100
enum { REPLY_MS = 500 }; /* of the session behind the proxy */

/* --- revoke --- */

FIXTURE(onlooker_setup, onlooker_teardown)

TEST(a_holder_hears_that_it_is_asked_and_of_the_end_if_it_does_not_heed)
{
    AUTO(recorder) r = recorder_new();
    AUTO(session) other = open_session();
    AUTO(grant) g = acquire(m);
    const char *node = zkr_grant_node(g);

    ok(zkr_grant_listen(g, record_grant, r));
    assert_int_equal(admin_set(admin, node, "something"), ZOK);
    ok(zkr_participants_revoke(other, node));
    assert_int_equal(recorded(r, 0), REVOKED);
    node_has(node, "__REVOKE__");
    assert_int_equal(zkr_grant_check(g), ZKR_OK);
    ok(zkr_participants_break(other, node, zkr_grant_token(g), 0));
    is_recorded(r, 1, ZKR_GRANT_LOST, ZKR_LOSS_REVOKED);
    tells(zkr_grant_release(g), ZKR_ELOST, "after a request to give it");
}

TEST(whatever_may_be_written_can_be_asked)
{
    const char *node = in_dir("_c_x-__READ__0000000004");

    make_directory();
    make("_c_x-__READ__0000000004", "a reader of Curator");
    ok(zkr_participants_revoke(s, node));
    node_has(node, "__REVOKE__");
    forbid(node, ZOO_PERM_READ);
    assert_int_equal(zkr_participants_revoke(s, node), ZNOAUTH);
    assert_int_equal(admin_delete(admin, node), ZOK);
    tells(zkr_participants_revoke(s, node), ZNONODE, node);
}

/* A waiter that has been asked is told when it holds. Of two of one object, the
 * record of a thread is not that of another. */
TEST(a_waiter_hears_it_when_it_holds)
{
    AUTO(recorder) r = recorder_new();
    zkr_grant *g = acquire(m);
    struct waiter w = WAITER(queue, m);
    AUTO(participants) list = list_of(s, path, NULL);

    assert_string_not_equal(list->items[0].data, list->items[1].data);
    ok(zkr_participants_revoke(s, in_dir(list->items[1].name)));
    AUTO(held) next = hand_to(g, &w);
    ok(zkr_grant_listen(next, record_grant, r));
    assert_int_equal(recorded(r, 0), REVOKED);
}

/* A request is made to a node, and nobody has asked for the next one. */
TEST(a_request_ends_with_its_node)
{
    AUTO(recorder) r = recorder_new();
    zkr_grant *g = acquire(m);
    struct waiter w = WAITER(queue, m);
    AUTO(text) node = nth_child(path, 1);

    ok(zkr_participants_revoke(s, in_dir(node)));
    settle(s);
    delete_nth_child(path, 1);
    AWAIT(count_children(path) == 2 && child_is_new(path, 1, node));
    AUTO(held) next = hand_to(g, &w);
    ok(zkr_grant_listen(next, record_grant, r));
    settle(s);
    assert_int_equal(recorder_count(r), 0);
}

/* --- the list --- */

static int list_fails(zkr_session *session, const char *of, uint32_t timeout_ms)
{
    struct zkr_participants *list = NULL;
    int rc = zkr_participants_list(
        session, of, OPTS(participants, .timeout_ms = timeout_ms), &list);

    assert_null(list);
    return rc;
}

static void assert_place(const struct zkr_participants *list, size_t i,
                         const char *name, size_t waits_for)
{
    assert_true(i < list->count);
    assert_string_equal(list->items[i].name, name);
    assert_int_equal(list->items[i].waits_for, waits_for);
    assert_int_equal(list->items[i].holds,
                     list->items[i].kind != ZKR_PARTICIPANT_FOREIGN &&
                         waits_for == SIZE_MAX);
}

static void assert_read(const struct zkr_participants *list, size_t count)
{
    for (size_t i = 0; i < list->count; i++) {
        assert_int_equal(list->items[i].error, ZKR_OK);
        assert_int_equal(list->items[i].token != 0, i < count);
        assert_int_equal(list->items[i].data_size > 0, i < count);
    }
}

/* The entry of a grant at index `i` of an earlier list. */
static void assert_is(const struct zkr_participant *p, zkr_grant *g)
{
    assert_string_equal(in_dir(p->name), zkr_grant_node(g));
    assert_int_equal(p->token, zkr_grant_token(g));
    assert_int_equal(p->error, ZKR_OK);
    assert_int_equal(p->kind, ZKR_PARTICIPANT_EXCLUSIVE);
    assert_string_equal(p->marker, "lock-");
    assert_int_equal(p->since_ms, stat_of(in_dir(p->name)).ctime);
    assert_int_equal(p->data_size, p->full_size);
    assert_int_equal(p->data_size, strlen(p->data));
    assert_non_null(strstr(p->data, textf("\"pid\":%d,", (int)getpid())));
}

/* Curator: TestInterProcessMutexBase.testGetParticipantNodes. */
TEST(a_queue_is_listed_in_its_order)
{
    enum { WAITERS = 3 };
    zkr_session *sessions[WAITERS];
    zkr_mutex *mutexes[WAITERS];
    struct waiter w[WAITERS];
    zkr_grant *g = acquire(m);

    for (size_t i = 0; i < WAITERS; i++) {
        sessions[i] = open_session();
        mutexes[i] = new_mutex(sessions[i], path);
        waiter_queue(&w[i], mutexes[i]);
    }
    AWAIT(admin_set(admin, zkr_grant_node(g), zkr_grant_record(g)) == ZOK &&
          stat_of(zkr_grant_node(g)).mtime > stat_of(zkr_grant_node(g)).ctime);
    AUTO(participants) list = list_of(s, path, NULL);
    assert_int_equal(list->count, WAITERS + 1);
    assert_int_equal(list->total, WAITERS + 1);
    assert_is(&list->items[0], g);
    assert_int_equal(list->items[0].session_id, zkr_session_id(s));
    assert_true(list->items[0].holds);
    assert_int_equal(list->items[0].waits_for, SIZE_MAX);
    release(g);
    for (size_t i = 0; i < WAITERS; i++) {
        const struct zkr_participant *p = &list->items[i + 1];

        assert_int_equal(waiter_join(&w[i]), ZKR_OK);
        assert_is(p, w[i].grant);
        assert_int_equal(p->session_id, zkr_session_id(sessions[i]));
        assert_int_equal(p->sequence, (int64_t)i + 1);
        assert_false(p->holds);
        assert_int_equal(p->waits_for, i);
        release(w[i].grant);
        zkr_mutex_free(mutexes[i]);
        close_session(sessions[i]);
    }
    AUTO(participants) none = list_of(s, path, NULL);
    assert_int_equal(none->count, 0);
}

/* By their names a writer and a reader of one number wait for each other, so
 * both are read. */
TEST(a_reader_stands_beside_its_own_writer)
{
    AUTO(rwlock) rw = NEW(rwlock, s, path, NULL);
    zkr_grant *w = GRANT(rwlock_acquire_write, rw, SOON_MS);
    AUTO(held) r = GRANT(rwlock_acquire_read, rw, SOON_MS);
    AUTO(participants) list = list_of(s, path, NULL);

    assert_int_equal(list->count, 2);
    assert_place(list, 0, strrchr(zkr_grant_node(r), '/') + 1, SIZE_MAX);
    assert_place(list, 1, strrchr(zkr_grant_node(w), '/') + 1, SIZE_MAX);
    assert_int_equal(list->items[0].kind, ZKR_PARTICIPANT_SHARED);
    assert_int_equal(list->items[1].kind, ZKR_PARTICIPANT_EXCLUSIVE);
    make("b-__WRIT__0000000001", "waits");
    AUTO(participants) three = list_of(s, path, OPTS(participants, .reads = 1));
    assert_int_equal(three->count, 3);
    assert_read(three, 2);
    assert_true(three->items[0].holds && three->items[1].holds);
    assert_place(three, 2, "b-__WRIT__0000000001", 1);
    release(w);
    AUTO(participants) rest = list_of(s, path, NULL);
    assert_int_equal(rest->count, 2);
    assert_place(rest, 0, strrchr(zkr_grant_node(r), '/') + 1, SIZE_MAX);
}

TEST(the_holder_of_an_unfair_mutex_is_listed_and_asked)
{
    AUTO(recorder) r = recorder_new();
    AUTO(unfair_mutex) unfair = NEW(unfair_mutex, s, path, NULL);
    zkr_grant *g = GRANT(unfair_mutex_acquire, unfair, SOON_MS);

    AUTO(participants) list = list_of(s, path, NULL);
    assert_int_equal(list->count, 1);
    assert_place(list, 0, "holder", SIZE_MAX);
    assert_int_equal(list->items[0].token, zkr_grant_token(g));
    ok(zkr_grant_listen(g, record_grant, r));
    ok(zkr_participants_revoke(s, zkr_grant_node(g)));
    assert_int_equal(recorded(r, 0), REVOKED);
    release(g);
    assert_int_equal(count_children(path), 0);
}

/* As the clients write them, see docs/znodes.md. */
TEST(names_of_other_clients_are_known)
{
#define CURATOR "_c_5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436-"
#define KAZOO   "5a5bbc3873ea4b5a9f7396e8c4c6a436"
    static const char *const names[] = {
        CURATOR "__READ__0000000000",
        KAZOO "__rlock__0000000001",
        CURATOR "__WRIT__0000000002",
        CURATOR "__READ__0000000003",
        KAZOO "__lock__0000000004",
        "_c_5a5bbc3873ea4b5a9f7396e8c4c6a436-lock-0000000005",
    };
    static const size_t waits_for[] = { SIZE_MAX, SIZE_MAX, 1, 2, 3, 4 };

    make_directory();
    for (size_t i = 0; i < COUNT(names); i++)
        make(names[i], NULL);
    make("0", NULL);
    make("gate-0000000001", "not a lock");
    AUTO(participants) list = list_of(s, path, NULL);
    for (size_t i = 0; i < COUNT(names); i++)
        assert_place(list, i, names[i], waits_for[i]);
    assert_place(list, 6, "0", SIZE_MAX);
    assert_place(list, 7, "gate-0000000001", SIZE_MAX);
    assert_int_equal(list->count, 8);
    assert_string_equal(list->items[7].data, "not a lock");
}

/* Nodes that somebody makes by hand, with names that ZooKeeper accepts. */
TEST(hostile_nodes_are_told_as_they_are)
{
    static const char rtl[] = "\xe2\x80\xae"
                              "%s%n\"'\\ -lock-0000000007";
    static const char bytes[] = "\x1b[2J\r\n\xff\xfe\x80%n";
    AUTO(text) huge = calloc(1, 200001);

    assert_non_null(huge);
    memset(huge, 'x', 200000);
    make_directory();
    make("lock-0000000001", NULL);
    make("lock--0000000005", bytes);
    make("lock-99999999999999999999", "too long a number");
    make(rtl, huge);
    AUTO(participants) list = list_of(s, path, NULL);
    assert_int_equal(list->count, 4);
    assert_place(list, 0, "lock--0000000005", SIZE_MAX);
    assert_int_equal(list->items[0].sequence, -5);
    assert_int_equal(list->items[0].session_id, 0);
    assert_int_equal(list->items[0].data_size, sizeof(bytes) - 1);
    assert_string_equal(list->items[0].data, bytes);
    assert_place(list, 1, "lock-0000000001", 0);
    assert_string_equal(list->items[1].data, "");
    assert_int_equal(list->items[1].full_size, 0);
    assert_place(list, 2, rtl, 1);
    assert_int_equal(list->items[2].data_size, ZKR_PARTICIPANT_DATA_MAX);
    assert_int_equal(strlen(list->items[2].data), ZKR_PARTICIPANT_DATA_MAX);
    assert_int_equal(list->items[2].full_size, 200000);
    assert_place(list, 3, "lock-99999999999999999999", SIZE_MAX);
}

TEST(a_node_that_may_not_be_read_is_listed_without)
{
    tells(list_fails(s, path, 0), ZNONODE, path);
    make_directory();
    make("lock-0000000001", "one");
    make("lock-0000000002", "two");
    make("lock-0000000003", "three");
    forbid(in_dir("lock-0000000002"), ZOO_PERM_ALL & ~ZOO_PERM_READ);
    AUTO(participants) list = list_of(s, path, NULL);
    assert_int_equal(list->count, 3);
    assert_place(list, 0, "lock-0000000001", SIZE_MAX);
    assert_place(list, 1, "lock-0000000002", 0);
    assert_place(list, 2, "lock-0000000003", 1);
    assert_int_equal(list->items[1].error, ZNOAUTH);
    assert_int_equal(list->items[1].token, 0);
    assert_string_equal(list->items[1].data, "");
    assert_int_equal(list->items[2].error, ZKR_OK);
    assert_string_equal(list->items[2].data, "three");
    forbid(path, ZOO_PERM_ALL & ~ZOO_PERM_READ);
    assert_int_equal(list_fails(s, path, 0), ZNOAUTH);
    forbid(path, ZOO_PERM_ALL);
}

/* More than are read at once. */
TEST(of_a_long_queue_the_head_is_listed_or_read)
{
    make_directory();
    for (int i = 0; i < 300; i++)
        make(textf("lock-%010d", i), textf("lock-%010d", i));
    make("abc", "foreign");
    for (uint32_t reads = 0; reads <= 200; reads += reads == 0 ? 1 : 199) {
        AUTO(participants) list =
            list_of(s, path, OPTS(participants, .reads = reads));
        assert_int_equal(list->count, 301);
        for (size_t i = 0; i < 300; i++) {
            assert_place(list, i, textf("lock-%010zu", i), i - 1);
            assert_int_equal(list->items[i].sequence, i);
            if (list->items[i].data_size > 0)
                assert_string_equal(list->items[i].data, list->items[i].name);
        }
        assert_read(list, reads == 0 ? 301 : reads);
    }
    AUTO(participants) list =
        list_of(s, path, OPTS(participants, .limit = 300));
    assert_int_equal(list->count, 300);
    assert_int_equal(list->total, 301);
    assert_place(list, 299, "lock-0000000299", 298);
}

/* Readers hold side by side: the question who holds needs all of them, and the
 * one who waits longest is the first behind them. */
TEST(holders_and_the_next_are_read)
{
    static const struct {
        uint32_t reads;
        enum zkr_participants_flags flags;
        size_t read;
    } rows[] = {
        { 1, 0, 1 },
        { 1, ZKR_PARTICIPANTS_HOLDERS, 20 },
        { 1, ZKR_PARTICIPANTS_HOLDERS | ZKR_PARTICIPANTS_NEXT, 21 },
        { 30, ZKR_PARTICIPANTS_HOLDERS | ZKR_PARTICIPANTS_NEXT, 30 },
    };

    make_directory();
    for (int i = 0; i < 40; i++)
        make(textf("%d-__%s__%010d", i, i < 20 ? "READ" : "WRIT", i), "x");
    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(participants) list = list_of(
            s, path,
            OPTS(participants, .reads = rows[i].reads, .flags = rows[i].flags));
        assert_read(list, rows[i].read);
    }
}

TEST(permissions_of_everybody_are_told)
{
    struct ACL entries[] = {
        { ZOO_PERM_ALL, { "ip", "127.0.0.1" } },
        { ZOO_PERM_READ, { "world", "anyone" } },
        { ZOO_PERM_DELETE, { "world", "anyone" } },
    };
    struct ACL_vector acl = { 3, entries };
    const struct zkr_participants_opts *with_acl =
        OPTS(participants, .flags = ZKR_PARTICIPANTS_ACL);

    make_directory();
    AUTO(participants) list = list_of(s, path, NULL);
    assert_int_equal(list->anyone, 0);
    AUTO(participants) open = list_of(s, path, with_acl);
    assert_int_equal(open->anyone, ZOO_PERM_ALL);
    assert_int_equal(open->acl_error, ZKR_OK);
    assert_int_equal(admin_set_acl(admin, path, &acl), ZOK);
    AUTO(participants) closed = list_of(s, path, with_acl);
    assert_int_equal(closed->anyone,
                     ZKR_PERMISSION_READ | ZKR_PERMISSION_DELETE);
}

TEST(a_chroot_is_in_front_of_every_path)
{
    make_directory();
    make("lock-0000000000", "mine");
    zkr_session *below = OPEN(.chroot = "/tests");
    AUTO(participants) list = list_of(below, strrchr(path, '/'), NULL);
    close_session(below);
    assert_int_equal(list->count, 1); /* it outlives the session */
    assert_string_equal(list->items[0].data, "mine");
}

/* --- when something fails meanwhile --- */

static int setup_with_two(void)
{
    reply_ms = REPLY_MS;
    ok(proxied_setup());
    make("lock-0000000001", "one");
    make("lock-0000000002", "two");
    return 0;
}

/* A list that is read on a thread. */
struct lister {
    struct caller call;
    uint32_t reads;
    struct zkr_participants *list;
};

static int list_into(void *lister)
{
    struct lister *l = lister;

    return zkr_participants_list(
        ps, path, OPTS(participants, .timeout_ms = SOON_MS, .reads = l->reads),
        &l->list);
}

/* Returns when the list of names is there, and is held back. */
static void start_reading(struct lister *l, uint32_t reads)
{
    *l = (struct lister){ .reads = reads };
    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 1, PROXY_HOLD_REPLY);
    call_start_until_rule(&l->call, list_into, l);
}

static struct zkr_participants *listed(struct lister *l, size_t count)
{
    proxy_release(proxy);
    assert_int_equal(call_join(&l->call), ZKR_OK);
    assert_int_equal(l->list->count, count);
    return l->list;
}

TEST_WITH(what_goes_meanwhile_is_left_out, setup_with_two, proxied_teardown)
{
    struct lister l;

    start_reading(&l, 0);
    assert_int_equal(admin_delete(admin, in_dir("lock-0000000001")), ZOK);
    make("lock-0000000003", "three"); /* too late for this list */
    AUTO(participants) one = listed(&l, 1);
    assert_int_equal(one->total, 2);
    assert_place(one, 0, "lock-0000000002", SIZE_MAX);
    /* The first that is left holds now, and must be known. */
    make("lock-0000000004", "four");
    proxy_reset_counts(proxy);
    start_reading(&l, 1);
    assert_int_equal(admin_delete(admin, in_dir("lock-0000000002")), ZOK);
    AUTO(participants) two = listed(&l, 2);
    assert_place(two, 0, "lock-0000000003", SIZE_MAX);
    assert_read(two, 1);
    assert_int_equal(proxy_requests(proxy, ZOO_GETDATA_OP), 2);
    start_reading(&l, 0);
    assert_int_equal(admin_delete_tree(admin, path), ZOK);
    zkr_participants_free(listed(&l, 0));
}

TEST_WITH(who_gets_a_permit_meanwhile_is_listed, proxied_setup,
          proxied_teardown)
{
    struct lister l = { .reads = 0 };

    make("leases", NULL);
    make("locks/lock-0000000001", "one");
    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 2, PROXY_HOLD_REPLY);
    call_start_until_rule(&l.call, list_into, &l);
    make("leases/lease-0000000001", "one");
    assert_int_equal(admin_delete(admin, in_dir("locks/lock-0000000001")), ZOK);
    zkr_participants_free(listed(&l, 1));
    start_reading(&l, 0); /* and then both directories go */
    ok(admin_delete_tree(admin, in_dir("locks")));
    ok(admin_delete_tree(admin, in_dir("leases")));
    zkr_participants_free(listed(&l, 0));
}

TEST_WITH(a_lost_request_is_not_sent_again_after_the_deadline, setup_with_two,
          proxied_teardown)
{
    proxy_freeze(proxy);
    gives(ZKR_EUNKNOWN, zkr_participants_revoke(ps, in_dir("lock-0000000001")));
    disconnect(proxy, ps);
    connect_again(proxy, ps);
    AUTO(participants) list = list_of(ps, path, NULL);
    /* nobody was asked by what the session has sent before the list */
    assert_string_equal(list->items[0].data, "one");
}

TEST_WITH(without_retries_a_lost_answer_is_an_error, setup_with_two,
          proxied_teardown)
{
    (void)zkr_session_close(ps);
    open_proxied(&ZKR_RETRY_NONE_INIT);
    proxy_rule(proxy, ZOO_GETDATA_OP, 2, PROXY_DROP_REPLY);
    assert_int_equal(list_fails(ps, path, SOON_MS), ZCONNECTIONLOSS);
    wait_session_state(ps, ZKR_SESSION_RECONNECTED);
    proxy_rule(proxy, ZOO_SETDATA_OP, 1, PROXY_DROP_REPLY);
    assert_int_equal(zkr_participants_revoke(ps, in_dir("lock-0000000001")),
                     ZCONNECTIONLOSS);
}

/* --- all at once --- */

struct crowd {
    atomic_bool stop;
    atomic_int failed;
    atomic_int lists;
};

static void *contend(void *arg)
{
    struct crowd *c = arg;

    while (!atomic_load(&c->stop)) {
        AUTO(grant) g = NULL;

        if (zkr_mutex_acquire(m, SOON_MS, &g) != ZKR_OK ||
            zkr_grant_release(g) != ZKR_OK)
            (void)atomic_fetch_add(&c->failed, 1);
    }
    return NULL;
}

static bool is_a_queue(const struct zkr_participants *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct zkr_participant *p = &list->items[i];

        if (p->holds != (i == 0) || p->waits_for != i - 1 || p->error != 0 ||
            p->token == 0 || p->data_size == 0)
            return false;
        if (i > 0 && p->sequence <= p[-1].sequence)
            return false;
    }
    return true;
}

static void *look_on(void *arg)
{
    struct crowd *c = arg;

    while (!atomic_load(&c->stop)) {
        struct zkr_participants *list = NULL;

        if (zkr_participants_list(s, path, NULL, &list) != ZKR_OK ||
            !is_a_queue(list))
            (void)atomic_fetch_add(&c->failed, 1);
        zkr_participants_free(list);
        (void)atomic_fetch_add(&c->lists, 1);
    }
    return NULL;
}

TEST(a_crowd_can_be_watched)
{
    struct crowd c = { .stop = false };
    pthread_t threads[8];

    release(acquire(m)); /* makes the directory */
    for (size_t i = 0; i < 8; i++)
        threads[i] = thread_start(i % 2 == 0 ? contend : look_on, &c);
    assert_true(
        COMES(atomic_load(&c.lists) >= 200 || atomic_load(&c.failed) > 0,
              3 * SOON_MS));
    atomic_store(&c.stop, true);
    for (size_t i = 0; i < 8; i++)
        thread_join(threads[i]);
    assert_int_equal(atomic_load(&c.failed), 0);
}
