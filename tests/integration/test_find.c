/* Tests of the search for locks, of any client and at any depth. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zookeeper/proto.h>

#include "proxy.h"

#define UUID "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436"
#define HEX  "5a5bbc3873ea4b5a9f7396e8c4c6a436"

static zkr_session *s;
static char root[64];

static int setup(void **state)
{
    (void)state;
    s = open_session();
    (void)snprintf(root, sizeof(root), "%s", new_path());
    assert_int_equal(admin_create(admin, root, NULL), ZOK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)zkr_session_close(s);
    (void)admin_delete_tree(admin, root);
    return 0;
}

static const char *below(const char *name)
{
    static char full[4][1400];
    static size_t next;
    char *path = full[next++ % 4];

    (void)snprintf(path, sizeof(full[0]), "%s/%s", root, name);
    return path;
}

/* Creates the node and its missing parents. */
static void make_with(const char *name, const char *data, int flags)
{
    char path[1400];

    (void)snprintf(path, sizeof(path), "%s", below(name));
    for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
        int rc;

        *p = '\0';
        rc = admin_create(admin, path, NULL);
        assert_true(rc == ZOK || rc == ZNODEEXISTS);
        *p = '/';
    }
    assert_int_equal(admin_create_flags(admin, path, data, flags, NULL, 0),
                     ZOK);
}

static void make(const char *name)
{
    make_with(name, NULL, 0);
}

static struct zkr_locks *find_with(zkr_session *session, const char *from,
                                   const struct zkr_locks_opts *o)
{
    struct zkr_locks *list = NULL;

    ok(zkr_locks_find(session, from, o, &list));
    assert_non_null(list);
    return list;
}

static struct zkr_locks *find_all(void)
{
    return find_with(s, root, NULL);
}

static int find_fails(zkr_session *session, const char *from,
                      uint32_t timeout_ms)
{
    struct zkr_locks_opts o = ZKR_LOCKS_OPTS_INIT;
    struct zkr_locks *list = NULL;
    int rc;

    o.timeout_ms = timeout_ms;
    rc = zkr_locks_find(session, from, &o, &list);
    assert_null(list);
    return rc;
}

static void assert_found(const struct zkr_locks *list, size_t i,
                         const char *name, size_t contenders, size_t children)
{
    assert_true(i < list->count);
    assert_string_equal(list->items[i].path, below(name));
    assert_int_equal(list->items[i].contenders, contenders);
    assert_int_equal(list->items[i].children, children);
}

static void locks_of_every_client_are_found(void **state)
{
    static const char *const nodes[] = {
        "c-recipe/x-100000be8790000-0000000003",
        "curator/_c_" UUID "-lock-0000000003",
        "deep/er/_c_" UUID "-__READ__0000000001",
        "go/_c_" HEX "-lock-0000000000",
        "kazoo/" HEX "__lock__0000000000",
        "readers/" HEX "__rlock__0000000000",
        "ruby/sh0000000001",
        "wrapped/lock--2147483648",
    };
    static const char *const locks[] = {
        "c-recipe", "curator", "deep/er", "go",
        "kazoo",    "readers", "ruby",    "wrapped",
    };
    struct zkr_locks *list;
    struct Stat stat;

    (void)state;
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
        make(nodes[i]);
    make("curator/notes");
    list = find_all();
    assert_int_equal(list->count, sizeof(locks) / sizeof(locks[0]));
    for (size_t i = 0; i < list->count; i++)
        assert_found(list, i, locks[i], 1, i == 1 ? 2 : 1);
    assert_int_equal(admin_exists(admin, below("curator"), &stat), ZOK);
    assert_int_equal(list->items[1].czxid, stat.czxid);
    assert_int_equal(list->items[1].created_ms, stat.ctime);
    assert_int_equal(list->cut, 0);
    assert_int_equal(list->skipped, 0);
    assert_null(list->skipped_path);
    zkr_locks_free(list);
}

static void the_root_may_be_the_lock(void **state)
{
    zkr_mutex *m = new_mutex(s, root);
    zkr_grant *g = acquire(m);
    struct zkr_locks *list = find_all();

    (void)state;
    assert_int_equal(list->count, 1);
    assert_string_equal(list->items[0].path, root);
    assert_int_equal(list->items[0].contenders, 1);
    assert_int_equal(list->visited, 1); /* contenders are not looked at */
    zkr_locks_free(list);
    release(g);
    zkr_mutex_free(m);
}

/* Its name looks like a contender, to a lock too; but no server makes such
 * numbers. */
static void a_directory_with_a_number_is_looked_into(void **state)
{
    struct zkr_locks *list;

    (void)state;
    make("my-lock-1/lock-0000000000");
    list = find_all();
    assert_int_equal(list->count, 1);
    assert_found(list, 0, "my-lock-1", 1, 1);
    zkr_locks_free(list);
}

static void a_holder_is_one_when_it_is_ephemeral(void **state)
{
    struct zkr_locks_opts o = ZKR_LOCKS_OPTS_INIT;
    zkr_unfair_mutex *unfair = NULL;
    zkr_grant *g = NULL;
    struct zkr_locks *list;
    char path[1400];

    (void)state;
    (void)snprintf(path, sizeof(path), "%s", below("unfair"));
    ok(zkr_unfair_mutex_new(s, path, NULL, &unfair));
    ok(zkr_unfair_mutex_acquire(unfair, SOON_MS, &g));
    make("settings/holder");
    list = find_all();
    assert_int_equal(list->count, 1);
    assert_found(list, 0, "unfair", 1, 1);
    zkr_locks_free(list);
    o.depth = 2; /* the holder itself lies deeper */
    list = find_with(s, root, &o);
    assert_int_equal(list->count, 1);
    zkr_locks_free(list);
    release(g);
    zkr_unfair_mutex_free(unfair);
}

static void empty_directories_are_found_on_request(void **state)
{
    struct zkr_locks_opts o = ZKR_LOCKS_OPTS_INIT;
    struct zkr_locks *list;

    (void)state;
    make("app/idle");
    make_with("app/idle-container", NULL, ZOO_CONTAINER);
    make_with("app/setting", "value", 0);
    make_with("app/service", NULL, ZOO_EPHEMERAL);
    list = find_all();
    assert_int_equal(list->count, 0);
    zkr_locks_free(list);
    o.flags = ZKR_LOCKS_EMPTY;
    list = find_with(s, root, &o);
    assert_int_equal(list->count, 2);
    assert_found(list, 0, "app/idle", 0, 0);
    assert_found(list, 1, "app/idle-container", 0, 0);
    zkr_locks_free(list);
}

static void limits_are_told(void **state)
{
    struct zkr_locks_opts o = ZKR_LOCKS_OPTS_INIT;
    struct zkr_locks *list;

    (void)state;
    make("a/lock-0000000000");
    make("b/lock-0000000000");
    make("b/c/lock-0000000000");
    o.depth = 2;
    list = find_with(s, root, &o);
    assert_int_equal(list->count, 2);
    assert_int_equal(list->cut, ZKR_LOCKS_CUT_DEPTH);
    zkr_locks_free(list);
    o.depth = 0;
    o.limit = 2;
    list = find_with(s, root, &o);
    assert_int_equal(list->count, 2);
    assert_int_equal(list->cut, ZKR_LOCKS_CUT_LIMIT);
    zkr_locks_free(list);
    o.limit = 3;
    list = find_with(s, root, &o);
    assert_int_equal(list->count, 3);
    assert_int_equal(list->cut, 0);
    assert_int_equal(list->visited, 4);
    zkr_locks_free(list);
    o.visits = 2;
    list = find_with(s, root, &o);
    assert_int_equal(list->count, 1);
    assert_int_equal(list->visited, 2);
    assert_int_equal(list->cut, ZKR_LOCKS_CUT_VISITS);
    zkr_locks_free(list);
}

static void forbid(const char *full, int32_t perms)
{
    struct ACL acl = { perms, { "world", "anyone" } };
    struct ACL_vector acls = { 1, &acl };

    assert_int_equal(admin_set_acl(admin, full, &acls), ZOK);
}

static void what_may_not_be_read_is_counted(void **state)
{
    struct zkr_locks *list;

    (void)state;
    make("closed/lock-0000000000");
    make("open/lock-0000000000");
    forbid(below("closed"), ZOO_PERM_ALL & ~ZOO_PERM_READ);
    list = find_all();
    assert_int_equal(list->count, 1);
    assert_found(list, 0, "open", 1, 1);
    assert_int_equal(list->skipped, 1);
    assert_string_equal(list->skipped_path, below("closed"));
    assert_int_equal(list->skipped_error, ZNOAUTH);
    zkr_locks_free(list);
    assert_int_equal(find_fails(s, below("closed"), 0), ZNOAUTH);
    forbid(below("closed"), ZOO_PERM_ALL);
}

/* Names that ZooKeeper accepts, made by hand. */
static void hostile_names_are_walked_or_counted(void **state)
{
    char longest[900];
    struct zkr_locks *list;

    (void)state;
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    make("\xe2\x80\xae%s%n\"'\\ /lock-0000000000");
    make(longest);
    /* each name is fine, the path is longer than ours may be */
    {
        char deep[1100];

        (void)snprintf(deep, sizeof(deep), "%s/%.150s", longest, longest);
        make(deep);
    }
    list = find_all();
    assert_int_equal(list->count, 1);
    assert_found(list, 0, "\xe2\x80\xae%s%n\"'\\ ", 1, 1);
    assert_int_equal(list->skipped, 1);
    assert_non_null(strstr(list->skipped_path, longest));
    assert_int_equal(list->skipped_error, ZKR_EPATH);
    zkr_locks_free(list);
}

static void a_missing_root_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(find_fails(s, below("nothing"), 0), ZNONODE);
    assert_non_null(strstr(zkr_error_detail(), below("nothing")));
}

static void bad_arguments_of_find_are_refused(void **state)
{
    static const char *const bad[] = {
        "", "a", "/a/", "/a//b", "/a/..", "/\033"
    };
    struct zkr_locks_opts o = { .size = 0 };
    struct zkr_locks *list = NULL;
    char too_long[ZKR_PATH_MAX + 2];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(find_fails(s, bad[i], 0), ZKR_EPATH);
    memset(too_long, 'x', sizeof(too_long) - 1);
    too_long[0] = '/';
    too_long[sizeof(too_long) - 1] = '\0';
    assert_int_equal(find_fails(s, too_long, 0), ZKR_ETOOLONG);
    assert_int_equal(find_fails(s, NULL, 0), ZKR_EINVAL);
    assert_int_equal(find_fails(NULL, root, 0), ZKR_EINVAL);
    assert_int_equal(zkr_locks_find(s, root, NULL, NULL), ZKR_EINVAL);
    assert_int_equal(zkr_locks_find(s, root, &o, &list), ZKR_EINVAL);
    o = (struct zkr_locks_opts)ZKR_LOCKS_OPTS_INIT;
    o.flags = 8;
    assert_int_equal(zkr_locks_find(s, root, &o, &list), ZKR_EINVAL);
    assert_null(list);
    zkr_locks_free(NULL);
}

static void paths_are_those_below_the_chroot(void **state)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    struct zkr_locks *list;
    zkr_session *inside;

    (void)state;
    make("zookeeper/lock-0000000000"); /* a name like any other here */
    make("lock-0000000000");
    opts.chroot = root;
    inside = open_session_with(&opts);
    list = find_with(inside, "/", NULL);
    close_session(inside);
    assert_int_equal(list->count, 2); /* it outlives the session */
    assert_string_equal(list->items[0].path, "/");
    assert_string_equal(list->items[1].path, "/zookeeper");
    zkr_locks_free(list);
}

/* /zookeeper/config, /zookeeper/quota would be empty directories. */
static void the_nodes_of_the_server_are_left_out(void **state)
{
    struct zkr_locks_opts o = ZKR_LOCKS_OPTS_INIT;
    struct zkr_locks *list;
    bool own = false;

    (void)state;
    o.flags = ZKR_LOCKS_EMPTY;
    list = find_with(s, "/", &o);
    for (size_t i = 0; i < list->count; i++) {
        assert_null(strstr(list->items[i].path, "/zookeeper"));
        own = own || strcmp(list->items[i].path, root) == 0;
    }
    assert_true(own);
    zkr_locks_free(list);
}

/* --- when something fails meanwhile --- */

static struct proxy *proxy;
static zkr_session *ps; /* through the proxy */

static int proxy_setup(void **state)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;

    if (proxy_start(server_hosts(the_server), &proxy) != 0)
        return -1;
    (void)setup(state);
    opts.session_timeout_ms = 2 * SESSION_MS;
    ok(zkr_session_open(proxy_hosts(proxy), &opts, &ps));
    make("a/lock-0000000001");
    make("b/lock-0000000002");
    return 0;
}

static int proxy_teardown(void **state)
{
    proxy_heal(proxy);
    proxy_release(proxy);
    (void)zkr_session_close(ps);
    ps = NULL;
    proxy_stop(proxy);
    return teardown(state);
}

/* A thread that searches; the outcome is read after finder_join(). */
struct finder {
    pthread_t thread;
    int rc;
    struct zkr_locks *list;
    atomic_bool done;
};

static void *finder_main(void *arg)
{
    struct finder *f = arg;
    struct zkr_locks_opts o = ZKR_LOCKS_OPTS_INIT;

    o.timeout_ms = SOON_MS;
    f->rc = zkr_locks_find(ps, root, &o, &f->list);
    atomic_store(&f->done, true);
    return NULL;
}

static void finder_start(struct finder *f)
{
    *f = (struct finder){ .list = NULL };
    assert_int_equal(pthread_create(&f->thread, NULL, finder_main, f), 0);
}

static bool finder_is_done(void *f)
{
    return atomic_load(&((struct finder *)f)->done);
}

static int finder_join(struct finder *f)
{
    if (!wait_until(finder_is_done, f, SOON_MS))
        fail_msg("a searching thread hangs");
    assert_int_equal(pthread_join(f->thread, NULL), 0);
    return f->rc;
}

static void many_nodes_are_looked_at_at_once_but_not_all(void **state)
{
    char name[32];
    struct zkr_locks *list;

    (void)state;
    for (int i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof(name), "n%03d", i);
        make(name);
    }
    proxy_set_latency(proxy, 20);
    proxy_reset_counts(proxy);
    list = find_with(ps, root, NULL);
    assert_int_equal(list->visited, 303);
    assert_in_range(proxy_max_in_flight(proxy), 64, 128);
    proxy_set_latency(proxy, 0);
    zkr_locks_free(list);
}

static void a_node_that_goes_meanwhile_is_no_error(void **state)
{
    struct finder f;

    (void)state;
    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 1, PROXY_HOLD_REPLY);
    finder_start(&f);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    assert_int_equal(admin_delete_tree(admin, below("a")), ZOK);
    proxy_release(proxy);
    assert_int_equal(finder_join(&f), ZKR_OK);
    assert_int_equal(f.list->count, 1);
    assert_found(f.list, 0, "b", 1, 1);
    assert_int_equal(f.list->skipped, 0);
    zkr_locks_free(f.list);
}

static void time_that_is_over_is_told(void **state)
{
    struct zkr_locks_opts o = ZKR_LOCKS_OPTS_INIT;
    struct zkr_locks *list;

    (void)state;
    o.timeout_ms = 300;
    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 3, PROXY_HOLD_REPLY);
    list = find_with(ps, root, &o);
    assert_int_equal(list->cut, ZKR_LOCKS_CUT_TIME);
    assert_int_equal(list->count, 1);
    zkr_locks_free(list);
    proxy_release(proxy);
    list = find_with(ps, root, NULL);
    assert_int_equal(list->count, 2);
    assert_int_equal(list->cut, 0);
    zkr_locks_free(list);
}

static void a_silent_server_does_not_delay_the_answer(void **state)
{
    struct stopwatch *w = stopwatch_start();
    int rc;

    (void)state;
    server_pause(the_server);
    rc = find_fails(s, root, 300);
    server_resume(the_server);
    assert_int_equal(rc, ZOPERATIONTIMEOUT);
    assert_true(stopwatch_says(w, 300, 300 + 1000));
}

static void a_lost_answer_is_asked_for_again(void **state)
{
    static const int32_t types[] = { ZOO_SYNC_OP, ZOO_GETCHILDREN2_OP };

    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct finder f;

        proxy_rule(proxy, types[i], 1, PROXY_DROP_REPLY);
        finder_start(&f);
        assert_true(proxy_wait_rule(proxy, SOON_MS));
        assert_int_equal(finder_join(&f), ZKR_OK);
        assert_int_equal(f.list->count, 2);
        zkr_locks_free(f.list);
    }
}

static void a_search_goes_on_in_the_next_session(void **state)
{
    struct finder f;

    (void)state;
    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 2, PROXY_HOLD_REQUEST);
    finder_start(&f);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    expire(ps);
    proxy_release(proxy);
    assert_int_equal(finder_join(&f), ZKR_OK);
    assert_int_equal(f.list->count, 2);
    zkr_locks_free(f.list);
}

static void a_close_ends_a_search(void **state)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    struct finder f;

    (void)state;
    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 2, PROXY_HOLD_REPLY);
    finder_start(&f);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    (void)zkr_session_close(ps);
    assert_int_equal(finder_join(&f), ZKR_ECLOSED);
    assert_null(f.list);
    proxy_release(proxy);
    ok(zkr_session_open(proxy_hosts(proxy), &opts, &ps));
}

static int run_group(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define PROXIED(name)                                                          \
    cmocka_unit_test_setup_teardown(name, proxy_setup, proxy_teardown)
    static const struct CMUnitTest tests[] = {
        TEST(locks_of_every_client_are_found),
        TEST(the_root_may_be_the_lock),
        TEST(a_directory_with_a_number_is_looked_into),
        TEST(a_holder_is_one_when_it_is_ephemeral),
        TEST(empty_directories_are_found_on_request),
        TEST(limits_are_told),
        TEST(what_may_not_be_read_is_counted),
        TEST(hostile_names_are_walked_or_counted),
        TEST(a_missing_root_is_an_error),
        TEST(bad_arguments_of_find_are_refused),
        TEST(paths_are_those_below_the_chroot),
        TEST(the_nodes_of_the_server_are_left_out),
        PROXIED(many_nodes_are_looked_at_at_once_but_not_all),
        PROXIED(a_node_that_goes_meanwhile_is_no_error),
        PROXIED(time_that_is_over_is_told),
        PROXIED(a_silent_server_does_not_delay_the_answer),
        PROXIED(a_lost_answer_is_asked_for_again),
        PROXIED(a_search_goes_on_in_the_next_session),
        PROXIED(a_close_ends_a_search),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    return run_with_server(NULL, run_group);
}
