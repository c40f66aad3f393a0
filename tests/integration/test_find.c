/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the search for locks, of any client and at any depth. */
#include "onlooker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UUID "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436"
#define HEX  "5a5bbc3873ea4b5a9f7396e8c4c6a436"

static int setup(void)
{
    (void)onlooker_setup();
    make_directory();
    return 0;
}

FIXTURE(setup, onlooker_teardown)

static const struct zkr_participants_opts of_each = ZKR_PARTICIPANTS_OPTS_INIT;

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
    return find_with(s, path, NULL);
}

static int find_fails(zkr_session *session, const char *from,
                      uint32_t timeout_ms)
{
    struct zkr_locks *list = NULL;
    int rc;

    rc = zkr_locks_find(session, from, OPTS(locks, .timeout_ms = timeout_ms),
                        &list);
    assert_null(list);
    return rc;
}

static void assert_found(const struct zkr_locks *list, size_t i,
                         const char *name, size_t contenders, size_t children)
{
    assert_true(i < list->count);
    assert_string_equal(list->items[i].path, in_dir(name));
    assert_int_equal(list->items[i].contenders, contenders);
    assert_int_equal(list->items[i].children, children);
}

TEST(locks_of_every_client_are_found)
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
    AUTO(locks) list = NULL;
    struct Stat stat;

    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
        make(nodes[i], NULL);
    make("curator/notes", NULL);
    list = find_all();
    assert_int_equal(list->count, sizeof(locks) / sizeof(locks[0]));
    for (size_t i = 0; i < list->count; i++)
        assert_found(list, i, locks[i], 1, i == 1 ? 2 : 1);
    assert_int_equal(admin_exists(admin, in_dir("curator"), &stat), ZOK);
    assert_int_equal(list->items[1].czxid, stat.czxid);
    assert_int_equal(list->items[1].created_ms, stat.ctime);
    assert_int_equal(list->cut, 0);
    assert_int_equal(list->skipped, 0);
    assert_null(list->skipped_path);
}

TEST(the_root_may_be_the_lock)
{
    zkr_grant *g = acquire(m);
    struct zkr_locks *list = find_all();

    assert_int_equal(list->count, 1);
    assert_string_equal(list->items[0].path, path);
    assert_int_equal(list->items[0].contenders, 1);
    assert_int_equal(list->visited, 1); /* contenders are not looked at */
    zkr_locks_free(list);
    release(g);
}

/* Its name looks like a contender, to a lock too; but no server makes such
 * numbers. */
TEST(a_directory_with_a_number_is_looked_into)
{
    AUTO(locks) list = NULL;

    make("my-lock-1/lock-0000000000", NULL);
    list = find_all();
    assert_int_equal(list->count, 1);
    assert_found(list, 0, "my-lock-1", 1, 1);
}

TEST(a_holder_is_one_when_it_is_ephemeral)
{
    struct zkr_locks_opts o = ZKR_LOCKS_OPTS_INIT;
    AUTO(unfair_mutex) unfair = NULL;
    zkr_grant *g = NULL;
    struct zkr_locks *list;

    ok(zkr_unfair_mutex_new(s, in_dir("unfair"), NULL, &unfair));
    ok(zkr_unfair_mutex_acquire(unfair, SOON_MS, &g));
    make("settings/holder", NULL);
    list = find_all();
    assert_int_equal(list->count, 1);
    assert_found(list, 0, "unfair", 1, 1);
    zkr_locks_free(list);
    o.depth = 2; /* the holder itself lies deeper */
    list = find_with(s, path, &o);
    assert_int_equal(list->count, 1);
    zkr_locks_free(list);
    release(g);
}

TEST(empty_directories_are_found_on_request)
{
    struct zkr_locks *list;

    make("app/idle", NULL);
    make_with("app/idle-container", NULL, ZOO_CONTAINER);
    make_with("app/setting", "value", 0);
    make_with("app/service", NULL, ZOO_EPHEMERAL);
    list = find_all();
    assert_int_equal(list->count, 0);
    zkr_locks_free(list);
    list = find_with(s, path, OPTS(locks, .flags = ZKR_LOCKS_EMPTY));
    assert_int_equal(list->count, 2);
    assert_found(list, 0, "app/idle", 0, 0);
    assert_found(list, 1, "app/idle-container", 0, 0);
    zkr_locks_free(list);
}

TEST(limits_are_told)
{
    struct zkr_locks_opts o = ZKR_LOCKS_OPTS_INIT;
    struct zkr_locks *list;

    make("a/lock-0000000000", NULL);
    make("b/lock-0000000000", NULL);
    make("b/c/lock-0000000000", NULL);
    o.depth = 2;
    list = find_with(s, path, &o);
    assert_int_equal(list->count, 2);
    assert_int_equal(list->cut, ZKR_LOCKS_CUT_DEPTH);
    zkr_locks_free(list);
    o.depth = 0;
    o.limit = 2;
    list = find_with(s, path, &o);
    assert_int_equal(list->count, 2);
    assert_int_equal(list->cut, ZKR_LOCKS_CUT_LIMIT);
    zkr_locks_free(list);
    o.limit = 3;
    list = find_with(s, path, &o);
    assert_int_equal(list->count, 3);
    assert_int_equal(list->cut, 0);
    assert_int_equal(list->visited, 4);
    zkr_locks_free(list);
    o.visits = 2;
    list = find_with(s, path, &o);
    assert_int_equal(list->count, 1);
    assert_int_equal(list->visited, 2);
    assert_int_equal(list->cut, ZKR_LOCKS_CUT_VISITS);
    zkr_locks_free(list);
}

TEST(unreadable_nodes_are_counted)
{
    struct zkr_locks *list;

    make("closed/lock-0000000000", NULL);
    make("open/lock-0000000000", NULL);
    forbid(in_dir("closed"), ZOO_PERM_ALL & ~ZOO_PERM_READ);
    list = find_all();
    assert_int_equal(list->count, 1);
    assert_found(list, 0, "open", 1, 1);
    assert_int_equal(list->skipped, 1);
    assert_string_equal(list->skipped_path, in_dir("closed"));
    assert_int_equal(list->skipped_error, ZNOAUTH);
    zkr_locks_free(list);
    assert_int_equal(find_fails(s, in_dir("closed"), 0), ZNOAUTH);
    forbid(in_dir("closed"), ZOO_PERM_ALL);
}

/* Names that ZooKeeper accepts, made by hand. */
TEST(hostile_names_are_walked_or_counted)
{
    char longest[900];
    AUTO(locks) list = NULL;

    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    make("\xe2\x80\xae%s%n\"'\\ /lock-0000000000", NULL);
    make(longest, NULL);
    /* each name is fine, the path is longer than ours may be */
    {
        char deep[1100];

        (void)snprintf(deep, sizeof(deep), "%s/%.150s", longest, longest);
        make(deep, NULL);
    }
    list = find_all();
    assert_int_equal(list->count, 1);
    assert_found(list, 0, "\xe2\x80\xae%s%n\"'\\ ", 1, 1);
    assert_int_equal(list->skipped, 1);
    assert_non_null(strstr(list->skipped_path, longest));
    assert_int_equal(list->skipped_error, ZKR_EPATH);
}

TEST(a_missing_root_is_an_error)
{
    assert_int_equal(find_fails(s, in_dir("nothing"), 0), ZNONODE);
    assert_non_null(strstr(zkr_error_detail(), in_dir("nothing")));
}

TEST(bad_arguments_of_find_are_refused)
{
    static const char *const bad[] = {
        "", "a", "/a/", "/a//b", "/a/..", "/\033"
    };
    struct zkr_locks_opts o = { .size = 0 };
    struct zkr_locks *list = NULL;
    char too_long[ZKR_PATH_MAX + 2];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(find_fails(s, bad[i], 0), ZKR_EPATH);
    memset(too_long, 'x', sizeof(too_long) - 1);
    too_long[0] = '/';
    too_long[sizeof(too_long) - 1] = '\0';
    assert_int_equal(find_fails(s, too_long, 0), ZKR_ETOOLONG);
    assert_int_equal(find_fails(s, NULL, 0), ZKR_EINVAL);
    assert_int_equal(find_fails(NULL, path, 0), ZKR_EINVAL);
    assert_int_equal(zkr_locks_find(s, path, NULL, NULL), ZKR_EINVAL);
    assert_int_equal(zkr_locks_find(s, path, &o, &list), ZKR_EINVAL);
    o = (struct zkr_locks_opts)ZKR_LOCKS_OPTS_INIT;
    o.flags = 8;
    assert_int_equal(zkr_locks_find(s, path, &o, &list), ZKR_EINVAL);
    assert_null(list);
    zkr_locks_free(NULL);
}

TEST(paths_are_those_below_the_chroot)
{
    AUTO(locks) list = NULL;
    zkr_session *inside;

    make("zookeeper/lock-0000000000", NULL); /* a name like any other here */
    make("lock-0000000000", NULL);
    inside = open_session_with(OPTS(session, .chroot = path));
    list = find_with(inside, "/", NULL);
    close_session(inside);
    assert_int_equal(list->count, 2); /* it outlives the session */
    assert_string_equal(list->items[0].path, "/");
    assert_string_equal(list->items[1].path, "/zookeeper");
}

/* /zookeeper/config, /zookeeper/quota would be empty directories. */
TEST(the_nodes_of_the_server_are_left_out)
{
    AUTO(locks) list = NULL;
    bool own = false;

    list = find_with(s, "/", OPTS(locks, .flags = ZKR_LOCKS_EMPTY));
    for (size_t i = 0; i < list->count; i++) {
        assert_null(strstr(list->items[i].path, "/zookeeper"));
        own = own || strcmp(list->items[i].path, path) == 0;
    }
    assert_true(own);
}

/* --- with their participants --- */

/* Of each lock, by those options. */
static struct zkr_locks *find_lists(zkr_session *session,
                                    const struct zkr_participants_opts *each)
{
    return find_with(session, path, OPTS(locks, .participants = each));
}

static void assert_same_list(const struct zkr_participants *got,
                             const char *lock,
                             const struct zkr_participants_opts *o)
{
    AUTO(participants) want = NULL;

    ok(zkr_participants_list(s, lock, o, &want));
    assert_non_null(got);
    assert_int_equal(got->count, want->count);
    assert_int_equal(got->total, want->total);
    assert_int_equal(got->anyone, want->anyone);
    for (size_t i = 0; i < want->count; i++) {
        assert_string_equal(got->items[i].name, want->items[i].name);
        assert_string_equal(got->items[i].data, want->items[i].data);
        assert_int_equal(got->items[i].holds, want->items[i].holds);
        assert_int_equal(got->items[i].waits_for, want->items[i].waits_for);
        assert_int_equal(got->items[i].token, want->items[i].token);
    }
}

TEST(a_list_is_that_of_participants)
{
    struct zkr_participants_opts o = ZKR_PARTICIPANTS_OPTS_INIT;
    struct zkr_locks *list;

    make("a/__WRIT__0000000003", "w");
    make("a/__READ__0000000001", "first");
    make("a/__READ__0000000002", "second");
    make("a/notes", "foreign");
    make("deep/er/lock-0000000001", "one");
    for (uint32_t reads = 0; reads < 3; reads++) {
        o.reads = reads;
        o.flags = reads == 1 ? ZKR_PARTICIPANTS_HOLDERS : ZKR_PARTICIPANTS_ACL;
        list = find_lists(s, &o);
        assert_int_equal(list->count, 2);
        assert_same_list(list->items[0].list, in_dir("a"), &o);
        assert_same_list(list->items[1].list, in_dir("deep/er"), &o);
        zkr_locks_free(list);
    }
    o.flags = 1u << 31;
    assert_int_equal(zkr_locks_find(s, path,
                                    &(struct zkr_locks_opts){
                                        .size = sizeof(struct zkr_locks_opts),
                                        .participants = &o,
                                    },
                                    &list),
                     ZKR_EINVAL);
}

/* Without the names of the search they would be those of another kind. */
TEST(a_path_that_may_be_a_semaphore_has_no_list)
{
    AUTO(locks) list = NULL;

    make("locks/lock-0000000001", "a mutex");
    make("mixed/lock-0000000001", "a mutex, too");
    make("mixed/leases/_c_" UUID "-lease-0000000001", "a permit");
    make("sem/leases/_c_" UUID "-lease-0000000001", "a permit");
    make("sem/locks/_c_" UUID "-lock-0000000001", "waits");
    list = find_lists(s, &of_each);
    assert_int_equal(list->count, 3);
    for (size_t i = 0; i < list->count; i++)
        assert_null(list->items[i].list);
    assert_int_equal(list->items[1].contenders, 2);
}

TEST(a_list_can_outlive_the_search)
{
    AUTO(participants) kept = NULL;
    struct zkr_locks *list;

    make("a/lock-0000000001", "x");
    list = find_lists(s, &of_each);
    kept = list->items[0].list;
    list->items[0].list = NULL;
    zkr_locks_free(list);
    assert_string_equal(kept->items[0].data, "x");
}

/* --- when something fails meanwhile --- */

static int setup_with_locks(void)
{
    if (proxied_setup() != 0)
        return -1;
    make("a/lock-0000000001", NULL);
    make("b/lock-0000000002", NULL);
    return 0;
}

static int find_into(void *list)
{
    return zkr_locks_find(ps, path, OPTS(locks, .timeout_ms = SOON_MS), list);
}

/* Waits for the call, which has begun already, and returns the locks that it
 * found. */
static struct zkr_locks *found(struct call *c, size_t count)
{
    struct zkr_locks *list;

    assert_int_equal(call_join(c), ZKR_OK);
    list = *(struct zkr_locks **)c->arg;
    assert_int_equal(list->count, count);
    return list;
}

TEST_WITH(many_nodes_are_looked_at_at_once_but_not_all, setup_with_locks,
          proxied_teardown)
{
    char name[32];
    AUTO(locks) list = NULL;

    for (int i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof(name), "n%03d", i);
        make(name, NULL);
    }
    proxy_set_latency(proxy, 20);
    proxy_reset_counts(proxy);
    list = find_with(ps, path, NULL);
    assert_int_equal(list->visited, 303);
    assert_in_range(proxy_max_in_flight(proxy), 64, 128);
    proxy_set_latency(proxy, 0);
}

TEST_WITH(a_node_that_goes_meanwhile_is_no_error, setup_with_locks,
          proxied_teardown)
{
    AUTO(locks) list = NULL;
    struct call c;

    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 1, PROXY_HOLD_REPLY);
    call_start_until_rule(&c, find_into, &list);
    assert_int_equal(admin_delete_tree(admin, in_dir("a")), ZOK);
    proxy_release(proxy);
    list = found(&c, 1);
    assert_found(list, 0, "b", 1, 1);
    assert_int_equal(list->skipped, 0);
}

static int find_lists_into(void *list)
{
    return zkr_locks_find(
        ps, path, OPTS(locks, .participants = OPTS(participants, .reads = 1)),
        list);
}

/* 4,005 requests for 2,000 locks; they were 9,005. */
TEST_WITH(a_lock_costs_two_requests, setup_with_locks, proxied_teardown)
{
    AUTO(locks) list = NULL;
    char name[64];

    for (int i = 0; i < 300; i++) {
        (void)snprintf(name, sizeof(name), "n%03d/lock-%010d", i, i);
        make(name, NULL);
    }
    make("n007/lock-0000000999", "waits");
    proxy_reset_counts(proxy);
    ok(find_lists_into(&list));
    assert_int_equal(list->count, 302);
    for (size_t i = 0; i < list->count; i++)
        assert_true(list->items[i].list->items[0].token != 0);
    assert_int_equal(proxy_requests(proxy, PROXY_ANY), 1 + 1 + 2 * 302);
    assert_int_equal(proxy_requests(proxy, ZOO_GETCHILDREN2_OP), 1 + 302);
}

/* Others may contend since then, so this is not a free lock. */
TEST_WITH(where_all_have_gone_is_no_list, setup_with_locks, proxied_teardown)
{
    AUTO(locks) list = NULL;
    struct call c;

    make("a/lock-0000000002", NULL);
    make("b/lock-0000000003", NULL);
    proxy_rule(proxy, ZOO_GETDATA_OP, 1, PROXY_HOLD_REQUEST);
    call_start_until_rule(&c, find_lists_into, &list);
    assert_int_equal(admin_delete(admin, in_dir("a/lock-0000000001")), ZOK);
    assert_int_equal(admin_delete(admin, in_dir("a/lock-0000000002")), ZOK);
    assert_int_equal(admin_delete(admin, in_dir("b/lock-0000000002")), ZOK);
    make("a/lock-0000000004", NULL);
    proxy_release(proxy);
    list = found(&c, 2);
    assert_null(list->items[0].list);
    assert_int_equal(list->items[1].list->count, 1);
    assert_true(list->items[1].list->items[0].holds);
    assert_true(list->items[1].list->items[0].token != 0);
}

TEST_WITH(a_list_that_is_late_is_left_out, setup_with_locks, proxied_teardown)
{
    struct zkr_locks *list;

    proxy_rule(proxy, ZOO_GETDATA_OP, 2, PROXY_HOLD_REPLY);
    list = find_with(ps, path,
                     OPTS(locks, .participants = &of_each, .timeout_ms = 300));
    assert_int_equal(list->cut, ZKR_LOCKS_CUT_TIME);
    assert_int_equal(list->count, 2);
    assert_non_null(list->items[0].list);
    assert_null(list->items[1].list);
    zkr_locks_free(list);
    proxy_release(proxy);
}

TEST_WITH(time_that_is_over_is_told, setup_with_locks, proxied_teardown)
{
    struct zkr_locks *list;

    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 3, PROXY_HOLD_REPLY);
    list = find_with(ps, path, OPTS(locks, .timeout_ms = 300));
    assert_int_equal(list->cut, ZKR_LOCKS_CUT_TIME);
    assert_int_equal(list->count, 1);
    zkr_locks_free(list);
    proxy_release(proxy);
    list = find_with(ps, path, NULL);
    assert_int_equal(list->count, 2);
    assert_int_equal(list->cut, 0);
    zkr_locks_free(list);
}

static int find_for_300_ms(void *none)
{
    (void)none;
    return find_fails(s, path, 300);
}

TEST_WITH(a_silent_server_does_not_delay_the_answer, setup_with_locks,
          proxied_teardown)
{
    times_out(find_for_300_ms, NULL, 300);
}

TEST_WITH(a_close_ends_a_search, setup_with_locks, proxied_teardown)
{
    struct zkr_locks *list = NULL;
    struct call c;

    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 2, PROXY_HOLD_REPLY);
    call_start_until_rule(&c, find_into, &list);
    (void)zkr_session_close(ps);
    assert_int_equal(call_join(&c), ZKR_ECLOSED);
    assert_null(list);
    proxy_release(proxy);
    open_proxied(NULL);
}
