/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a look that is made one time: which directories are locks, of any
 * client and at any depth, and what such a look costs. */
#include "onlooker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/lockctl.h"
#include "model/scan.h"

#define UUID   "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436"
#define HEX    "5a5bbc3873ea4b5a9f7396e8c4c6a436"
#define MEMBER "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a43"
#define LEASE  "leases/_c_" UUID "-lease-000000000"
#define QUEUED "locks/_c_" UUID "-lock-000000000"

static char detail[SCAN_DETAIL_MAX];
static struct scan scan; /* of the last look */

static int teardown(void)
{
    scan_done(&scan);
    return pair_teardown();
}

FIXTURE(pair_setup, teardown)

static int look_by(zkr_session *session, const char *from, struct scan_opts o)
{
    struct lockctl ctl = { .session = session };

    o.timeout_ms = o.timeout_ms == 0 ? SOON_MS : o.timeout_ms;
    scan_done(&scan);
    return locks_list(&ctl, &from, 1, &o, &scan, detail);
}

static void look(struct scan_opts o)
{
    ok(look_by(s, path, o));
}

/* One lock, with one contender. */
static void assert_found(const char *name)
{
    assert_int_equal(scan.count, 1);
    assert_string_equal(scan.locks[0].path, in_dir(name));
    assert_int_equal(scan.locks[0].count, 1);
}

static void assert_notes(const char *text)
{
    assert_int_equal(scan.notes.count, text == NULL ? 0 : 1);
    if (text != NULL)
        assert_has(scan.notes.texts[0], text);
}

/* --- what is found --- */

/* A node, with what is missing above it: "@NAME" is ephemeral, "@@NAME" too and
 * of another session. Found are "NAME CONTENDERS". */
struct search {
    const char *name;
    const char *nodes[10];
    struct scan_opts opts;
    const char *found[9];
    const char *note; /* NULL: none, and nothing was cut off */
};

/* clang-format off */
static const struct search searches[] = {
    { .name = "every client",
      .nodes = { "c-recipe/x-100000be8790000-0000000003", "curator/_c_" UUID "-lock-0000000003", "curator/notes",
                 "deep/er/_c_" UUID "-__READ__0000000001", "go/_c_" HEX "-lock-0000000000", "kazoo/" HEX "__lock__0000000000",
                 "readers/" HEX "__rlock__0000000000", "ruby/sh0000000001", "wrapped/lock--2147483648" },
      .found = { "c-recipe 1", "curator 1", "deep/er 1", "go 1", "kazoo 1", "readers 1", "ruby 1", "wrapped 1" } },
    { .name = "the root", .nodes = { "@lock-0000000000" }, .found = { " 1" } },
    /* a name like a contender, to a lock too; but no server makes such numbers */
    { .name = "a directory with a number", .nodes = { "my-lock-1/lock-0000000000", "my-lock-2/lock-0000000000" },
      .found = { "my-lock-1 1", "my-lock-2 1" } },
    { .name = "a directory with a number, and only holders are read", .opts.reads = SCAN_HOLDERS,
      .nodes = { "my-lock-1/lock-0000000000", "my-lock-2/lock-0000000000" }, .found = { "my-lock-1 1", "my-lock-2 1" } },
    { .name = "a holder is one when it is ephemeral", .nodes = { "@unfair/holder", "settings/holder" }, .found = { "unfair 1" } },
    { .name = "no empty directories", .nodes = { "app/idle" } },
    { .name = "no empty semaphore", .nodes = { "a/locks", "a/leases", "b/leases" } },
    { .name = "a limit of locks", .opts.limit = 2, .note = "more locks than 2",
      .nodes = { "a/lock-0000000000", "b/lock-0000000000", "b/c/lock-0000000000" }, .found = { "a 1", "b 1" } },
    { .name = "as many locks as the limit", .opts.limit = 3,
      .nodes = { "a/lock-0000000000", "a/lock-0000000001", "a/lock-0000000002", "b/lock-0000000000", "b/c/lock-0000000000" },
      .found = { "a 3", "b 1", "b/c 1" } },
    /* found after the two directories */
    { .name = "a limit does not cut a semaphore in two", .opts.limit = 1,
      .nodes = { "a/leases", "a/locks", "b/c/d/e", "@a/" LEASE "1", "@a/" QUEUED "1" }, .found = { "a 2" } },
    { .name = "a limit counts a semaphore", .opts.limit = 1, .note = "more locks than 1",
      .nodes = { "a/leases", "a/locks", "b/c/d/e", "@a/" LEASE "1", "@a/" QUEUED "1", "@b/lock-0000000001" }, .found = { "a 2" } },

    { .name = "a semaphore once",
      .nodes = { "full/leases/notes", "full/locks", "@full/" LEASE "1", "@full/" QUEUED "1", "@full/" QUEUED "2" },
      .found = { "full 3" } },
    { .name = "a semaphore by its leases alone", /* containers go when they are empty */
      .nodes = { "held/leases", "@held/" LEASE "1" }, .found = { "held 1" } },
    { .name = "a semaphore by its queue", .nodes = { "queued/locks", "queued/leases", "@queued/" QUEUED "1" },
      .found = { "queued 1" } },
    { .name = "a mutex with the name of a queue", .nodes = { "z/locks", "@z/" QUEUED "1" }, .found = { "z/locks 1" } },
    { .name = "a path that is a lock and a semaphore",
      .nodes = { "a/locks", "a/leases", "@a/lock-0000000001", "@a/" LEASE "1", "@a/" QUEUED "1" }, .found = { "a 3" } },

    { .name = "no barriers",
      .nodes = { "a/ready", "@a/" MEMBER "1", "@@a/" MEMBER "2", "@c/" MEMBER "1", "@c/lock-0000000001" }, .found = { "c 1" } },
    { .name = "barriers", .opts.barriers = true, /* b: a directory of that name */
      .nodes = { "a/ready", "@a/" MEMBER "1", "@@a/" MEMBER "2", "b/" MEMBER "1", "@c/" MEMBER "1", "@c/lock-0000000001",
                 "@d/" MEMBER "1x" }, .found = { "a 0", "c 1" } },
};
/* clang-format on */

TEST_ROWS(a_look_finds, searches, row)
{
    size_t n = 0;

    for (const char *const *node = row->nodes; *node != NULL; node++) {
        size_t marks = strspn(*node, "@");

        if (marks == 2)
            make_by(rival, *node + marks);
        else
            make_with(*node + marks, NULL, marks == 0 ? 0 : ZOO_EPHEMERAL);
    }
    look(row->opts);
    for (; row->found[n] != NULL; n++) {
        assert_true(n < scan.count);
        assert_string_equal(textf("%s %zu",
                                  scan.locks[n].path + strlen(path) +
                                      (scan.locks[n].path[strlen(path)] == '/'),
                                  scan.locks[n].count),
                            row->found[n]);
        if (scan.locks[n].kind == ZKR__KIND_BARRIER)
            assert_int_equal(scan.locks[n].members, 2);
    }
    assert_int_equal(scan.count, n);
    assert_int_equal(scan.cut, row->note != NULL);
    assert_int_equal(scan.denied, 0);
    assert_notes(row->note);
}

/* --- where it cannot look --- */

/* Names that ZooKeeper accepts, made by hand. */
TEST(hostile_names_are_walked_or_counted)
{
    char longest[900];

    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    make("\xe2\x80\xae%s%n\"'\\ /lock-0000000000", NULL);
    make(longest, NULL);
    /* each name is fine, the path is longer than ours may be */
    make(textf("%s/%.150s", longest, longest), NULL);
    look((struct scan_opts){ .limit = 0 });
    assert_found("\xe2\x80\xae%s%n\"'\\ ");
    assert_int_equal(scan.denied, 1);
}

TEST(paths_are_those_below_the_chroot)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    struct lockctl ctl = { .settings[SETTING_SERVERS] = "host:1/chroot" };
    const struct scan_opts o = { .timeout_ms = SOON_MS };
    const char *root = "/";

    make("zookeeper/lock-0000000000", NULL); /* a name like any other here */
    make("lock-0000000000", NULL);
    opts.chroot = path;
    ctl.session = open_session_with(&opts);
    ok(locks_list(&ctl, &root, 1, &o, &scan, detail));
    close_session(ctl.session);
    assert_int_equal(scan.count, 2); /* it outlives the session */
    assert_string_equal(scan.locks[0].path, "/");
    assert_string_equal(scan.locks[1].path, "/zookeeper");
}

/* Its queue looked like a mutex whose holder was the first who waited. */
TEST(a_semaphore_is_found_without_its_leases)
{
    make("a/leases", NULL);
    make("a/locks", NULL);
    make_by(admin, "a/" LEASE "1");
    make_by(admin, "a/" QUEUED "1");
    forbid(in_dir("a/leases"), ZOO_PERM_ALL & ~ZOO_PERM_READ);
    look((struct scan_opts){ .limit = 0 });
    assert_int_equal(scan.count, 1);
    assert_string_equal(scan.locks[0].path, in_dir("a"));
    assert_int_equal(scan.locks[0].state, LOCK_UNKNOWN);
    assert_int_equal(scan.locks[0].error, ZNOAUTH);
    assert_int_equal(scan.denied, 1);
}

/* --- what is read of each --- */

/* It is that which the list of the library has. */
TEST(a_lock_is_that_of_participants)
{
    struct zkr_participants *want = NULL;

    make("a/__WRIT__0000000003", "w");
    make("a/__READ__0000000001", "first");
    make("a/__READ__0000000002", "second");
    make("a/notes", "foreign");
    make("deep/er/lock-0000000001", "one");
    look((struct scan_opts){ .limit = 0 });
    ok(zkr_participants_list(s, in_dir("a"), NULL, &want));
    assert_int_equal(scan.count, 2);
    assert_int_equal(scan.locks[0].listed, want->count);
    assert_int_equal(scan.locks[0].total, want->total);
    for (size_t i = 0; i < 3; i++) {
        const struct zkr_participant *got = scan.locks[0].items[i].node;

        assert_string_equal(got->name, want->items[i].name);
        assert_string_equal(got->data, want->items[i].data);
        assert_int_equal(got->holds, want->items[i].holds);
        assert_int_equal(got->waits_for, want->items[i].waits_for);
        assert_int_equal(got->token, want->items[i].token);
    }
    zkr_participants_free(want);
}

static size_t count_read(uint32_t reads)
{
    look((struct scan_opts){ .reads = reads });
    assert_int_equal(scan.locks[0].count, 6);
    return scan.locks[0].read;
}

TEST(holders_are_read_and_the_first_who_waits)
{
    make("a/__READ__0000000001", NULL);
    make("a/__READ__0000000002", NULL);
    make("a/__WRIT__0000000003", NULL);
    make("a/__WRIT__0000000004", NULL);
    make("a/x__WRIT__0000000004", NULL); /* the sessions decide */
    make("a/__READ__0000000005", NULL);
    assert_int_equal(count_read(SCAN_HOLDERS), 2);
    assert_int_equal(count_read(SCAN_NEXT), 3);
    assert_int_equal(count_read(SCAN_ALL), 6);
    assert_int_equal(count_read(4), 5);
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

static int end_proxied(void)
{
    scan_done(&scan);
    return proxied_teardown();
}

#define TEST_PROXIED(name) TEST_WITH(name, setup_with_locks, end_proxied)

static int look_into(void *none)
{
    return look_by(ps, path, (struct scan_opts){ .reads = SCAN_HOLDERS });
}

TEST_PROXIED(many_nodes_are_looked_at_at_once_but_not_all)
{
    for (int i = 0; i < 300; i++)
        make(textf("n%03d", i), NULL);
    proxy_set_latency(proxy, 20);
    proxy_reset_counts(proxy);
    ok(look_into(NULL));
    assert_int_equal(proxy_requests(proxy, ZOO_GETCHILDREN2_OP), 303);
    assert_in_range(proxy_max_in_flight(proxy), 64, 128);
    proxy_set_latency(proxy, 0);
}

TEST_PROXIED(a_node_that_goes_meanwhile_is_no_error)
{
    struct caller c;

    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 1, PROXY_HOLD_REPLY);
    call_start_until_rule(&c, look_into, NULL);
    assert_int_equal(admin_delete_tree(admin, in_dir("a")), ZOK);
    proxy_release(proxy);
    assert_int_equal(call_join(&c), ZKR_OK);
    assert_found("b");
    assert_int_equal(scan.denied, 0);
}

/* 4,005 requests for 2,000 locks; they were 9,005. The first is a sync. */
TEST_PROXIED(a_lock_costs_two_requests)
{
    for (int i = 0; i < 300; i++)
        make(textf("n%03d/lock-%010d", i, i), NULL);
    make("n007/lock-0000000999", "waits");
    proxy_reset_counts(proxy);
    ok(look_into(NULL));
    assert_int_equal(scan.count, 302);
    for (size_t i = 0; i < scan.count; i++)
        assert_true(scan.locks[i].items[0].node->token != 0);
    assert_int_equal(proxy_requests(proxy, PROXY_ANY), 1 + 1 + 2 * 302);
    assert_int_equal(proxy_requests(proxy, ZOO_SYNC_OP), 1);
    assert_int_equal(proxy_requests(proxy, ZOO_GETCHILDREN2_OP), 1 + 302);
}

/* Others may contend since then, so this is not a free lock. */
TEST_PROXIED(where_all_have_gone_others_are_seen)
{
    struct caller c;

    make("a/lock-0000000002", NULL);
    make("b/lock-0000000003", NULL);
    proxy_rule(proxy, ZOO_GETDATA_OP, 1, PROXY_HOLD_REQUEST);
    call_start_until_rule(&c, look_into, NULL);
    assert_int_equal(admin_delete(admin, in_dir("a/lock-0000000001")), ZOK);
    assert_int_equal(admin_delete(admin, in_dir("a/lock-0000000002")), ZOK);
    assert_int_equal(admin_delete(admin, in_dir("b/lock-0000000002")), ZOK);
    make("a/lock-0000000004", NULL);
    proxy_release(proxy);
    assert_int_equal(call_join(&c), ZKR_OK);
    assert_int_equal(scan.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(scan.locks[i].count, 1);
        assert_true(scan.locks[i].items[0].node->holds);
        assert_true(scan.locks[i].items[0].node->token != 0);
    }
}

TEST_PROXIED(time_that_is_over_is_told)
{
    const char *paths[] = { in_dir("a"), in_dir("b") };
    const struct scan_opts soon = { .timeout_ms = 300 };
    const struct lockctl ctl = { .session = ps };

    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 3, PROXY_HOLD_REPLY);
    ok(look_by(ps, path, (struct scan_opts){ .timeout_ms = 300 }));
    assert_true(scan.cut);
    assert_notes("took too long");
    assert_int_equal(scan.count, 1);
    proxy_release(proxy);
    ok(look_into(NULL));
    assert_int_equal(scan.count, 2);
    assert_false(scan.cut);
    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 2, PROXY_HOLD_REPLY);
    scan_done(&scan);
    ok(locks_list(&ctl, paths, 2, &soon, &scan, detail));
    assert_true(scan.cut);
    assert_int_equal(scan.count, 1);
    assert_int_equal(scan.locks[0].state, LOCK_HELD);
    proxy_release(proxy);
}

static int look_for_300_ms(void *none)
{
    return look_by(s, path, (struct scan_opts){ .timeout_ms = 300 });
}

TEST_PROXIED(a_silent_server_does_not_delay_the_answer)
{
    times_out(look_for_300_ms, NULL, 300);
}

/* The sync is answered, and no list. */
TEST_PROXIED(a_look_that_nobody_answers_is_an_error)
{
    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 1, PROXY_HOLD_REPLY);
    assert_int_equal(look_by(ps, path, (struct scan_opts){ .timeout_ms = 300 }),
                     ZKR_EUNREACHABLE);
    assert_true(detail[0] != '\0');
    proxy_release(proxy);
}

TEST_PROXIED(a_close_ends_a_look)
{
    struct caller c;

    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 2, PROXY_HOLD_REPLY);
    call_start_until_rule(&c, look_into, NULL);
    (void)zkr_session_close(ps);
    assert_int_equal(call_join(&c), ZKR_ECLOSED);
    proxy_release(proxy);
    open_proxied(&(struct zkr_retry){ 0 });
}
