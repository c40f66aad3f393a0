/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the session as a client on a real server: each request, what the
 * servers refuse, lost answers, deadlines, expiries, callbacks and the end. */
#include "usual.h"

static int setup(void)
{
    (void)usual_setup();
    return admin_create(admin, path, "old");
}

FIXTURE(setup, usual_teardown)

/* A path in the directory of the test. */
static const char *in_dir(const char *name)
{
    return textf("%s/%s", path, name);
}

static int make(const char *node, const char *data)
{
    return zkr_session_create(s, node, data, strlen(data), NULL, SOON_MS, NULL);
}

static int set(const char *node, const char *data)
{
    return zkr_session_set(s, node, data, strlen(data), ZKR_ANY_VERSION,
                           SOON_MS, NULL);
}

static void data_is(const char *node, const char *data)
{
    AUTO(reply) reply = MADE(reply, session_get, s, node, SOON_MS);
    assert_int_equal(reply->len, strlen(data));
    assert_string_equal(reply->len == 0 ? "" : reply->data, data);
}

static void is_stat(const struct zkr_stat *a, const struct Stat *b)
{
    assert_true(
        a->czxid == b->czxid && a->mzxid == b->mzxid && a->pzxid == b->pzxid &&
        a->ctime_ms == b->ctime && a->mtime_ms == b->mtime &&
        a->ephemeral_owner == b->ephemeralOwner && a->version == b->version &&
        a->cversion == b->cversion && a->aversion == b->aversion &&
        a->data_len == b->dataLength && a->children == b->numChildren);
}

/* -- what each does -------------------------------------------------------- */

TEST(a_node_is_made_read_changed_and_deleted)
{
    const char *node = in_dir("node");
    AUTO(reply) made = MADE(reply, session_create, s, node, "abc", 3, NULL, 0);
    assert_string_equal(made->path, node);
    struct Stat stat = stat_of(node);
    is_stat(&made->stat, &stat);
    AUTO(reply) got = MADE(reply, session_get, s, node, 0);
    assert_int_equal(got->len, 3);
    assert_memory_equal(got->data, "abc", 4);
    is_stat(&got->stat, &stat);
    AUTO(reply) changed = MADE(reply, session_set, s, node, NULL, 0, 0, -1);
    assert_int_equal(changed->stat.version, 1);
    AUTO(reply) found = MADE(reply, session_exists, s, node, 0);
    stat = stat_of(node);
    is_stat(&found->stat, &stat);
    data_is(node, "");
    ok(zkr_session_delete(s, node, 1, 0));
    assert_int_equal(zkr_session_exists(s, node, 0, NULL), ZKR_ZNONODE);
}

TEST(the_children_of_a_node_are_its_names)
{
    AUTO(reply) reply = MADE(reply, session_children, s, path, SOON_MS);
    assert_int_equal(reply->count, 0);
    assert_int_equal(reply->stat.children, 0);
    ok(make(in_dir("a"), ""));
    ok(make(in_dir("b"), ""));
    ok(zkr_session_sync(s, SOON_MS));
    AUTO(reply) list = MADE(reply, session_children, s, path, SOON_MS);
    assert_int_equal(list->count, 2);
    assert_int_equal(list->names[0][0] + list->names[1][0], 'a' + 'b');
    assert_int_equal(list->stat.children, 2);
}

static void refuses(int rc, int expected)
{
    assert_int_equal(rc, expected);
    assert_has(zkr_error_detail(), path); /* which one */
}

TEST(refusals_of_the_servers_are_told_apart)
{
    struct zkr_reply *reply = NULL;

    ok(make(in_dir("kept"), "x"));
    ok(zkr_session_create(s, in_dir("closed"), "x", 1,
                          OPTS(create, .acl = "world:anyone:d"), 0, NULL));
    ok(zkr_session_create(s, in_dir("short"), "x", 1,
                          OPTS(create, .mode = ZKR_CREATE_EPHEMERAL), 0, NULL));
    refuses(make(in_dir("kept"), ""), ZKR_ZNODEEXISTS);
    refuses(make(in_dir("no/parent"), ""), ZKR_ZNONODE);
    assert_has(zkr_error_detail(), "/no' does not exist");
    refuses(make(in_dir("short/child"), ""), ZKR_ZNOCHILDRENFOREPHEMERALS);
    refuses(set(in_dir("none"), ""), ZKR_ZNONODE);
    refuses(set(in_dir("closed"), ""), ZKR_ZNOAUTH);
    refuses(zkr_session_set(s, in_dir("kept"), "", 0, 7, 0, NULL),
            ZKR_ZBADVERSION);
    refuses(zkr_session_delete(s, in_dir("kept"), 7, 0), ZKR_ZBADVERSION);
    assert_has(zkr_error_detail(), "expected version 7");
    refuses(zkr_session_delete(s, in_dir("none"), ZKR_ANY_VERSION, 0),
            ZKR_ZNONODE);
    refuses(zkr_session_delete(s, path, ZKR_ANY_VERSION, 0), ZKR_ZNOTEMPTY);
    refuses(zkr_session_get(s, in_dir("closed"), 0, &reply), ZKR_ZNOAUTH);
    refuses(zkr_session_get(s, in_dir("none"), 0, &reply), ZKR_ZNONODE);
    refuses(zkr_session_children(s, in_dir("none"), 0, &reply), ZKR_ZNONODE);
    assert_null(reply);
}

/* -- kinds of nodes -------------------------------------------------------- */

static void of_mode(enum zkr_create_mode mode, int64_t ttl_ms, const char *name,
                    struct zkr_reply **ret_reply)
{
    ok(zkr_session_create(s, in_dir(name), "", 0,
                          OPTS(create, .mode = mode, .ttl_ms = ttl_ms), SOON_MS,
                          ret_reply));
}

TEST(nodes_have_the_numbers_of_the_directory)
{
    static const enum zkr_create_mode modes[] = {
        ZKR_CREATE_PERSISTENT_SEQUENTIAL, ZKR_CREATE_EPHEMERAL_SEQUENTIAL,
        ZKR_CREATE_TTL_SEQUENTIAL
    };

    for (int i = 0; i < 3; i++) {
        AUTO(reply) reply = NULL;

        of_mode(modes[i], i == 2 ? 60000 : 0, "n-", &reply);
        assert_string_equal(reply->path, in_dir(textf("n-%010d", i)));
    }
}

TEST(nodes_go_as_their_kind_says)
{
    const char *mine = in_dir("mine");
    AUTO(reply) reply = NULL;

    of_mode(ZKR_CREATE_CONTAINER, 0, "container", NULL);
    ok(make(in_dir("container/child"), ""));
    ok(zkr_session_delete(s, in_dir("container/child"), 0, 0));
    of_mode(ZKR_CREATE_TTL, 50, "brief", NULL);
    of_mode(ZKR_CREATE_EPHEMERAL, 0, "mine", &reply);
    assert_true(reply->stat.ephemeral_owner == zkr_session_id(s));
    AWAIT(admin_exists(admin, in_dir("container"), NULL) == ZNONODE);
    AWAIT(admin_exists(admin, in_dir("brief"), NULL) == ZNONODE);
    ok(zkr_session_exists(s, mine, 0, NULL));
    expire(s);
    assert_int_equal(admin_exists(admin, mine, NULL), ZNONODE);
}

TEST(a_node_has_the_acl_that_was_asked_for)
{
    char acl[64];

    ok(make(in_dir("open"), ""));
    ok(admin_get_acl(admin, in_dir("open"), acl, sizeof(acl)));
    assert_string_equal(acl, "world:anyone:31");
    ok(zkr_session_create(s, in_dir("less"), "", 0,
                          OPTS(create, .acl = "world:anyone:rd"), 0, NULL));
    ok(admin_get_acl(admin, in_dir("less"), acl, sizeof(acl)));
    assert_string_equal(acl, "world:anyone:9");
}

TEST(paths_are_below_the_chroot)
{
    AUTO(session) inner = OPEN(.chroot = path);

    AUTO(reply) made =
        MADE(reply, session_create, inner, "/n-", "in", 2,
             OPTS(create, .mode = ZKR_CREATE_PERSISTENT_SEQUENTIAL), 0);
    assert_string_equal(made->path, "/n-0000000000");
    data_is(in_dir("n-0000000000"), "in");
    ok(zkr_session_set(inner, "/", "top", 3, 0, 0, NULL));
    data_is(path, "top");
    ok(zkr_session_sync(inner, 0));
    AUTO(reply) list = MADE(reply, session_children, inner, "/", 0);
    assert_int_equal(list->count, 1);
    assert_string_equal(list->names[0], "n-0000000000");
    assert_int_equal(zkr_session_get(inner, path, 0, NULL), ZKR_ZNONODE);
    AUTO(txn) t = NEW(txn, inner, NULL);
    ok(zkr_txn_create(t, "/made", "", 0, NULL));
    ok(zkr_txn_commit(t, 0));
    assert_string_equal(zkr_txn_path(t, 0), "/made");
}

/* -- faults ---------------------------------------------------------------- */

struct answer {
    struct recorder *recorder;
    int64_t owner;
    char data[32];
    int waited; /* what a call that waits returned inside */
};

static void on_answer(int error, const struct zkr_reply *reply, void *user)
{
    struct answer *a = user;

    if ((error == ZKR_OK) != (reply != NULL) ||
        (error == ZKR_OK) == (strstr(zkr_error_detail(), path) != NULL))
        error = 1; /* no code */
    if (reply != NULL) {
        a->owner = reply->stat.ephemeral_owner;
        (void)snprintf(a->data, sizeof(a->data), "%s",
                       reply->data == NULL ? "" : reply->data);
    }
    a->waited = zkr_session_get(s, path, 0, NULL);
    recorder_add(a->recorder, error, (int64_t)(uintptr_t)a);
}

/* What waits for a connection while the session ends is for the next one. */
TEST(an_expiry_between_is_no_error)
{
    AUTO(recorder) r = recorder_new();

    for (int time = 0; time < TWICE; time++) {
        struct answer made = { .recorder = r };
        struct answer got = { .recorder = r };
        int64_t before = zkr_session_id(s);

        disconnect(proxy, s);
        ok(zkr_session_create_async(s, in_dir(time == 0 ? "one" : "two"), "", 0,
                                    OPTS(create, .mode = ZKR_CREATE_EPHEMERAL),
                                    -1, on_answer, &made));
        ok(zkr_session_get_async(s, path, -1, on_answer, &got));
        expire(s);
        proxy_heal(proxy);
        assert_int_equal(recorded(r, 0), ZKR_OK);
        assert_int_equal(recorded(r, 1), ZKR_OK);
        assert_string_equal(got.data, "old");
        assert_true(made.owner != before && made.owner != 0);
        assert_true(made.owner == zkr_session_id(s));
        recorder_clear(r);
    }
}

/* One answer says that the session is over, while a write is under way: it has
 * been made, and must not be made again in the next session. */
TEST(an_answer_that_ends_the_session_ends_writes_too)
{
    for (int time = 0; time < TWICE; time++) {
        AUTO(recorder) written = recorder_new();
        AUTO(recorder) got = recorder_new();

        proxy_reset_counts(proxy);
        proxy_set_latency(proxy, 100);
        proxy_rule_error(proxy, ZOO_GETDATA_OP, 1, ZSESSIONEXPIRED);
        proxy_rule(proxy, ZOO_SETDATA_OP, 1, PROXY_HOLD_REPLY);
        ok(zkr_session_get_async(s, path, -1, record_reply, got));
        ok(zkr_session_set_async(s, path, "x", 1, ZKR_ANY_VERSION, -1,
                                 record_reply, written));
        is_recorded(written, 0, ZKR_EUNKNOWN, false);
        is_recorded(got, 0, ZKR_OK, true);
        proxy_set_latency(proxy, 0);
        proxy_release(proxy);
        settle(s);
        assert_int_equal(proxy_requests(proxy, ZOO_SETDATA_OP), 1);
    }
}

/* -- without waiting ------------------------------------------------------- */

TEST(callbacks_tell_the_outcome)
{
    struct answer a = { .recorder = recorder_new() };
    size_t i = 0;

    ok(zkr_session_create_async(s, in_dir("a"), "abc", 3, NULL, 0, on_answer,
                                &a));
    assert_int_equal(recorded(a.recorder, i++), ZKR_OK);
    assert_int_equal(a.waited, ZKR_EDEADLK);
    ok(zkr_session_get_async(s, in_dir("a"), 0, on_answer, &a));
    assert_int_equal(recorded(a.recorder, i++), ZKR_OK);
    assert_string_equal(a.data, "abc");
    ok(zkr_session_set_async(s, in_dir("a"), "x", 1, 7, 0, on_answer, &a));
    assert_int_equal(recorded(a.recorder, i++), ZKR_ZBADVERSION);
    ok(set(path, "x"));
    ok(zkr_session_set_async(s, path, "y", 1, 0, 0, on_answer, &a));
    assert_int_equal(recorded(a.recorder, i++), ZKR_ZBADVERSION);
    ok(zkr_session_exists_async(s, in_dir("a"), 0, on_answer, &a));
    assert_int_equal(recorded(a.recorder, i++), ZKR_OK);
    ok(zkr_session_children_async(s, path, -1, on_answer, &a));
    assert_int_equal(recorded(a.recorder, i++), ZKR_OK);
    ok(zkr_session_sync_async(s, 0, on_answer, &a));
    assert_int_equal(recorded(a.recorder, i++), ZKR_OK);
    ok(zkr_session_delete_async(s, in_dir("a"), 0, 0, on_answer, &a));
    assert_int_equal(recorded(a.recorder, i++), ZKR_OK);
    proxy_rule(proxy, ZOO_GETDATA_OP, 1, PROXY_HOLD_REPLY);
    ok(zkr_session_get_async(s, path, 200, on_answer, &a));
    assert_int_equal(recorded(a.recorder, i++), ZKR_EUNREACHABLE);
    proxy_release(proxy);
    settle(s);
    assert_int_equal(recorder_count(a.recorder), i);
    recorder_free(a.recorder);
}

#define MANY 10000
static atomic_int told[MANY]; /* so often each */
static atomic_int made, all;

static void on_one_of_many(int error, const struct zkr_reply *reply, void *user)
{
    (void)atomic_fetch_add((atomic_int *)user, 1);
    if (error == ZKR_OK)
        (void)atomic_fetch_add(&made, 1);
    (void)atomic_fetch_add(&all, 1);
}

TEST(each_of_many_is_told_once)
{
    for (int i = 0; i < MANY; i++) {
        if (i == MANY / 2) /* some are under way */
            proxy_rule(proxy, ZOO_SETDATA_OP, 1, PROXY_DROP_REPLY);
        if (i % 2 == 0)
            ok(zkr_session_set_async(s, path, "x", 1, ZKR_ANY_VERSION, -1,
                                     on_one_of_many, &told[i]));
        else
            ok(zkr_session_get_async(s, path, -1, on_one_of_many, &told[i]));
    }
    assert_true(COMES(atomic_load(&all) >= MANY, 3 * SOON_MS));
    settle(s);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(atomic_load(&told[i]), 1);
    assert_true(atomic_load(&made) >= MANY / 2); /* all reads */
}

TEST(a_close_ends_what_is_under_way)
{
    AUTO(recorder) r = recorder_new();

    proxy_rule(proxy, ZOO_SETDATA_OP, 1, PROXY_HOLD_REPLY);
    ok(zkr_session_set_async(s, path, "x", 1, ZKR_ANY_VERSION, -1, record_reply,
                             r));
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    ok(zkr_session_get_async(s, path, -1, record_reply, r));
    disconnect(proxy, s);
    ok(zkr_session_delete_async(s, path, 0, -1, record_reply, r));
    (void)zkr_session_close(s);
    assert_int_equal(recorder_count(r), 3);
    for (size_t i = 0; i < 3; i++)
        is_recorded(r, i, i == 0 ? ZKR_EUNKNOWN : ZKR_ECLOSED, false);
    s = NULL; /* for the teardown */
}

int main(void)
{
    return run_with_server(&quick_containers, test_run_all);
}
