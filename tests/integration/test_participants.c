/* Who takes part in a lock, and asking its holder to give it back. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zookeeper/proto.h>

#include "proxy.h"

/* What record_grant() writes for it. */
#define REVOKED 100

static zkr_session *s;
static zkr_mutex *m;
static char path[64];

static int setup(void **state)
{
    (void)state;
    s = open_session();
    (void)snprintf(path, sizeof(path), "%s", new_path());
    m = new_mutex(s, path);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    zkr_mutex_free(m);
    (void)zkr_session_close(s);
    (void)admin_delete_tree(admin, path);
    return 0;
}

static void make(const char *name, const char *data)
{
    char full[256];

    (void)snprintf(full, sizeof(full), "%s/%s", path, name);
    assert_int_equal(admin_create(admin, full, data), ZOK);
}

static const char *in_dir(const char *name)
{
    static char full[256];

    (void)snprintf(full, sizeof(full), "%s/%s", path, name);
    return full;
}

/* --- revoke --- */

static void a_holder_hears_that_it_is_asked(void **state)
{
    struct recorder *r = recorder_new();
    zkr_session *other = open_session();
    zkr_grant *g = acquire(m);
    char data[64];
    int code = 0;

    (void)state;
    ok(zkr_grant_listen(g, record_grant, r));
    ok(zkr_participants_revoke(other, zkr_grant_node(g)));
    assert_true(recorder_wait(r, 1, SOON_MS));
    assert_true(recorder_get(r, 0, &code, NULL));
    assert_int_equal(code, REVOKED);
    assert_int_equal(admin_get(admin, zkr_grant_node(g), data, sizeof(data)),
                     ZOK);
    assert_string_equal(data, "__REVOKE__");
    assert_int_equal(zkr_grant_check(g), ZKR_OK);
    release(g);
    close_session(other);
    recorder_free(r);
}

static void a_node_that_has_gone_cannot_be_asked(void **state)
{
    zkr_grant *g = acquire(m);
    char node[256];

    (void)state;
    (void)snprintf(node, sizeof(node), "%s", zkr_grant_node(g));
    release(g);
    assert_int_equal(zkr_participants_revoke(s, node), ZNONODE);
    assert_non_null(strstr(zkr_error_detail(), node));
}

static void only_contenders_are_asked(void **state)
{
    static const char *const bad[] = {
        "",
        "/",
        "lock-0000000000",
        "/a",
        "/a/notes",
        "/a/lock-",
        "/a//lock-0",
        "/a/lock-0/",
        "/a/lock-\0330",
        "/a/latch-0000000001",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(zkr_participants_revoke(s, bad[i]), ZKR_EPATH);
    assert_int_equal(zkr_participants_revoke(s, NULL), ZKR_EINVAL);
    assert_int_equal(zkr_participants_revoke(NULL, "/a/lock-0"), ZKR_EINVAL);
}

static void a_revoke_needs_no_directory_of_ours(void **state)
{
    char data[64];

    (void)state;
    assert_int_equal(admin_create(admin, path, NULL), ZOK);
    make("_c_x-__READ__0000000004", "a reader of Curator");
    ok(zkr_participants_revoke(s, in_dir("_c_x-__READ__0000000004")));
    assert_int_equal(
        admin_get(admin, in_dir("_c_x-__READ__0000000004"), data, sizeof(data)),
        ZOK);
    assert_string_equal(data, "__REVOKE__");
}

static int run_group(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    static const struct CMUnitTest tests[] = {
        TEST(a_holder_hears_that_it_is_asked),
        TEST(a_node_that_has_gone_cannot_be_asked),
        TEST(only_contenders_are_asked),
        TEST(a_revoke_needs_no_directory_of_ours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    return run_with_server(NULL, run_group);
}
