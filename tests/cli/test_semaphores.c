/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl on semaphores, leader latches, barriers and counters,
 * whose nodes are made by hand, as Curator makes them. */

#include "look.h"

#define UUID  "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436"
#define LATCH "_c_" UUID "-latch-000000000"
#define LEASE "leases/_c_" UUID "-lease-000000000"
#define QUEUE "locks/_c_" UUID "-lock-000000000"
/* ESC ] 52 (the clipboard), CR, LF, what is not UTF-8, an override */
#define EVIL "\033]52;c;aGk=\a\r\n\xff\xe2\x80\xae"

/* Clients beside the one of the fixture. */
static struct admin *b;
static struct admin *c;

static int setup(void)
{
    look_make_root();
    return admin_open(server_hosts(the_server), &b) != ZOK ||
           admin_open(server_hosts(the_server), &c) != ZOK;
}

static int teardown(void)
{
    admin_close(b);
    admin_close(c);
    return admin_delete_tree(admin, look_root);
}

FIXTURE(setup, teardown)

static const char *full(const char *name)
{
    return line("%s/%s", look_root, name);
}

static int64_t make(struct admin *who, const char *name, const char *data)
{
    return look_make(who, full(name), data, ZOO_EPHEMERAL);
}

static void make_directories(const char *name)
{
    assert_int_equal(admin_create(admin, full(name), NULL), ZOK);
    assert_int_equal(admin_create(admin, line("%s/leases", full(name)), NULL),
                     ZOK);
    assert_int_equal(admin_create(admin, line("%s/locks", full(name)), NULL),
                     ZOK);
}

/* Three permits, a fourth who wants one, and a fifth behind it. */
static void make_busy(void)
{
    make_directories("pool");
    make(admin, "pool/" LEASE "0", "10.0.0.1");
    make(admin, "pool/" LEASE "1", "10.0.0.1");
    make(b, "pool/" LEASE "2", "10.0.0.2");
    make(c, "pool/" QUEUE "3", "10.0.0.3");
    make(b, "pool/" QUEUE "4", "10.0.0.2");
    make(c, "pool/" LEASE "3", "10.0.0.3");
}

static void assert_look(const char *what, const char *output)
{
    LOOK(0, "%s", what);
    if (strcmp(look_golden(), output) != 0)
        fail_msg("%s", look_golden());
}

/* --- ls and show --- */

TEST(ls_has_one_line_for_a_semaphore)
{
    make_busy();
    assert_look(line("%s %s",
                     "ls --columns LOCK,KIND,DIALECT,STATE,HOLDER,WAIT",
                     full("")),
                "LOCK KIND DIALECT STATE HOLDER WAIT\n"
                "ROOT/pool semaphore curator shared 3 leases 2\n");
    assert_look(line("%s %s", "ls --columns LOCK,KIND", full("pool/locks")),
                "LOCK KIND\nROOT/pool semaphore\n");
    assert_look(line("%s %s", "ls --columns LOCK,KIND", full("pool/leases")),
                "LOCK KIND\nROOT/pool semaphore\n");
    LOOK(0, "ls -o json %s", full(""));
    look_assert_schema("answer");
}

TEST(show_says_who_has_a_permit_and_who_waits)
{
    static const char *const paths[] = { "pool", "pool/leases", "pool/locks" };

    make_busy();
    for (size_t i = 0; i < 3; i++)
        assert_look(
            line("%s %s",
                 "show --no-4lw --columns POS,STATE,OWNER,BLOCKED-BY,MODE",
                 full(paths[i])),
            "ROOT/pool semaphore (curator) shared 3 leases, 2 waiting\n"
            "POS STATE OWNER BLOCKED-BY MODE\n"
            " 0 HELD 10.0.0.1 - shared\n"
            " 1 HELD 10.0.0.1 - shared\n"
            " 2 HELD 10.0.0.2 - shared\n"
            " 3 wait 10.0.0.3 a permit shared\n"
            " 4 wait 10.0.0.3 a permit exclusive\n"
            " 5 wait 10.0.0.2 pos 4 exclusive\n");
    LOOK(0, "show -o json %s", full("pool"));
    look_assert_schema("answer");
}

TEST(a_semaphore_without_a_lease_is_free)
{
    make_directories("pool");
    assert_look(line("%s %s", "ls --empty --columns LOCK,KIND,STATE", full("")),
                "LOCK KIND STATE\nROOT/pool semaphore free\n");
    assert_look(line("%s %s", "show --columns POS,STATE", full("pool/locks")),
                "ROOT/pool semaphore (-) free 0 leases, 0 waiting\n");
    LOOK(0, "check --free %s", full("pool"));
    make(admin, "pool/" QUEUE "0", "10.0.0.1");
    assert_look(line("%s %s", "show --no-4lw --columns POS,STATE,BLOCKED-BY",
                     full("pool")),
                "ROOT/pool semaphore (curator) free 0 leases, 1 waiting\n"
                "POS STATE BLOCKED-BY\n 0 wait a permit\n");
}

/* The directory looked like a semaphore, and is none. */
TEST(other_directories_of_these_names_are_locks)
{
    make(admin, "locks/" LATCH "1", "me");
    make(admin, "a/locks/lock-0000000001", "me");
    make(admin, "b/locks/orders/lock-0000000001", "me");
    make(admin, "b/leases/flat/lock-0000000001", "me");
    make(admin, "c/leases/lock-0000000001", "me");
    make(admin, "c/locks/lock-0000000001", "me");
    assert_look(line("%s %s", "ls --columns LOCK,KIND", full("")),
                "LOCK KIND\n"
                "ROOT/a/locks mutex\n"
                "ROOT/b/leases/flat mutex\n"
                "ROOT/b/locks/orders mutex\n"
                "ROOT/c/leases mutex\n"
                "ROOT/c/locks mutex\n"
                "ROOT/locks leader\n");
    assert_look(line("%s %s", "show --no-4lw --columns STATE", full("a/locks")),
                "ROOT/a/locks mutex (other) held 1 in the queue\n"
                "STATE\nHELD\n");
}

TEST(a_mutex_on_the_path_of_a_semaphore_is_mixed)
{
    make_busy();
    make(admin, "pool/lock-0000000007", "me");
    assert_look(line("%s %s", "ls --columns LOCK,KIND,WAIT", full("")),
                "LOCK KIND WAIT\nROOT/pool mixed 2\n");
    LOOK(0, "show --no-4lw %s", full("pool"));
    assert_has(look_err, "do not exclude each other");
}

/* --- leaders --- */

TEST(a_latch_has_a_leader_and_candidates)
{
    make(admin, "election/" LATCH "1", "node-1");
    make(b, "election/" LATCH "2", EVIL);
    make(c, "election/" LATCH "3", "");
    assert_look(
        line("%s %s", "ls --columns KIND,DIALECT,STATE,HOLDER,WAIT", full("")),
        "KIND DIALECT STATE HOLDER WAIT\n"
        "leader ? held node-1 2\n");
    assert_look(
        line("%s %s", "show --no-4lw --columns POS,STATE,OWNER,BLOCKED-BY",
             full("election")),
        "ROOT/election leader (?) held 3 in the queue\n"
        "POS STATE OWNER BLOCKED-BY\n"
        " 0 HELD node-1 -\n"
        " 1 wait \\x1B]52;c;aGk=\\x07\\x0D\\x0A\\xFF\\xE2\\x80\\xAE pos 0\n"
        " 2 wait session 0xN pos 1\n");
    LOOK(1, "check --free %s", full("election"));
    assert_has(look_err, "is led by node-1 (?)");
}

/* --- asking and breaking --- */

TEST(a_lease_is_broken_by_its_token)
{
    int64_t token;

    make_busy();
    token = make(b, "pool/" LEASE "7", "10.0.0.9");
    LOOK(65, "break --yes --token 1 %s", full("pool"));
    assert_has(look_err, "is a semaphore: 5 leases, 2 waiting");
    LOOK(0, "break --yes --token %lld %s", (long long)token,
         full("pool/leases"));
    assert_has(look_err, "a lease of");
    assert_has(look_err, "is held by 10.0.0.9");
    assert_has(look_err, "DANGER");
    assert_has(look_err, "2 waiting; its permit is free at once");
    assert_has(look_err, "broken: 10.0.0.9 does not hold it any more");
    assert_int_equal(admin_exists(admin, full("pool/" LEASE "7"), NULL),
                     ZNONODE);
}

/* Neither leases nor latches of Curator can be made revocable. */
TEST(curator_does_not_hear_that_it_is_asked)
{
    char data[64];

    make_directories("pool");
    make(admin, "pool/" LEASE "0", "10.0.0.1");
    make(admin, "election/" LATCH "1", "node-1");
    LOOK(75, "revoke -w 0 %s", full("pool"));
    assert_has(look_err, "10.0.0.1 is not asked: curator does not listen");
    LOOK(75, "revoke -w 0 %s", full("election"));
    assert_has(look_err,
               "node-1 is not asked: its node does not tell whether its "
               "client listens");
    assert_ok(admin_get(admin, full("pool/" LEASE "0"), data, sizeof(data)));
    assert_string_equal(data, "10.0.0.1");
}

/* --- doctor, deadlocks, metrics --- */

/* Until the clock of the server has gone on since this node was made. */
static void wait_for_later(const char *name)
{
    struct Stat made;
    struct Stat now;

    assert_int_equal(admin_exists(admin, full(name), &made), ZOK);
    do {
        assert_int_equal(admin_set(admin, look_root, ""), ZOK);
        assert_int_equal(admin_exists(admin, look_root, &now), ZOK);
    } while (now.mtime <= made.ctime + 20);
}

/* The oldest lease is neither the first in the list nor the last. */
TEST(permits_that_are_used_up_are_found)
{
    make_directories("pool");
    make(b, "pool/" LEASE "1", "10.0.0.2");
    wait_for_later("pool/" LEASE "1");
    make(admin, "pool/" LEASE "0", "10.0.0.1");
    make(admin, "pool/" LEASE "2", "10.0.0.1");
    make(c, "pool/" QUEUE "3", "10.0.0.3");
    wait_for_later("pool/" QUEUE "3");
    make(b, "pool/" QUEUE "4", "10.0.0.2");
    wait_for_later("pool/" QUEUE "4");
    make(c, "pool/" LEASE "3", "10.0.0.3");
    LOOK(1, "doctor --confirm 1ms --no-4lw --older 10ms %s", full("pool"));
    assert_has(look_out,
               "/pool: no-permit: 10.0.0.3 has waited for a permit for ");
    assert_has(look_out, ", 2 waiting; 3 leases are out, the oldest to "
                         "10.0.0.2, for <=");
    assert_has(look_out, "Cure: zk-lockctl show ");
    LOOK(1, "doctor --confirm 1ms --no-4lw --older 10ms -o json %s",
         full("pool"));
    look_assert_schema("answer");
    LOOK(0, "doctor --confirm 1ms --no-4lw --older 1h %s", full("pool"));
}

/* Any lease that goes lets a waiter in, not a certain one. */
TEST(a_circle_through_leases_is_no_deadlock)
{
    make_directories("a");
    make_directories("b");
    make(b, "a/" LEASE "0", "b");
    make(c, "b/" LEASE "0", "c");
    make(c, "a/" QUEUE "1", "c");
    make(b, "b/" QUEUE "1", "b");
    LOOK(0, "deadlocks --possible --confirm 1ms %s", full(""));
    assert_string_equal(look_out, "");
    LOOK(0, "deadlocks -o dot --confirm 1ms %s", full(""));
    assert_has(look_out, "waits, position 1");
    assert_lacks(look_out, "red");
}

TEST(metrics_have_leases_and_waiters)
{
    make_busy();
    make(admin, "election/" LATCH "1", "node-1");
    LOOK(0, "metrics %s", full(""));
    assert_has(look_out,
               line("zklock_held{lock=\"%s/pool\",kind=\"semaphore\"} 3\n",
                    look_root));
    assert_has(look_out,
               line("zklock_held{lock=\"%s/election\",kind=\"leader\"} 1\n",
                    look_root));
    assert_has(look_out,
               line("zklock_waiters{lock=\"%s/pool\"} 2\n", look_root));
}

TEST(watch_begins_with_the_semaphore_of_a_part)
{
    make_busy();
    (void)look_at_until(
        (const char *const[]){ "watch", "--initial", full("pool/locks"),
                               full("pool/leases"), full("pool"), NULL },
        0);
    assert_lacks(look_out, "/pool/");
    assert_has(look_out, "holding ");
    assert_has(look_out, "waiting ");
}

/* --- what is no lock --- */

#define MEMBER "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a43"

TEST(a_double_barrier_has_members)
{
    make(admin, "meeting/" MEMBER "1", "10.0.0.1");
    make(b, "meeting/" MEMBER "2", EVIL);
    assert_look(
        line("%s %s", "ls --columns LOCK,KIND,STATE,HOLDER,WAIT", full("")),
        "LOCK KIND STATE HOLDER WAIT\n"
        "ROOT/meeting barrier entering 2 members 0\n");
    assert_int_equal(admin_create(admin, full("meeting/ready"), NULL), ZOK);
    assert_look(line("%s %s", "show --no-4lw --columns STATE,OWNER,NODE",
                     full("meeting")),
                "ROOT/meeting barrier (-) ready 2 members, 1 foreign\n"
                "STATE OWNER NODE\n"
                "member 10.0.0.1 UUID\n"
                "member \\x1B]52;c;aGk=\\x07\\x0D\\x0A\\xFF\\xE2\\x80\\xAE "
                "UUID\n"
                "foreign ? ready\n");
    LOOK(0, "show -o json %s", full("meeting"));
    look_assert_schema("answer");
    LOOK(0, "ls -o json %s", full(""));
    look_assert_schema("answer");
    LOOK(65, "check --free %s", full("meeting"));
    LOOK(0, "metrics %s", full(""));
    assert_lacks(look_out, "meeting");
}

/* Names alone do not make a barrier. */
TEST(a_directory_with_a_uuid_is_no_barrier)
{
    assert_int_equal(admin_create(admin, full("dir"), NULL), ZOK);
    assert_int_equal(admin_create(admin, full("dir/" MEMBER "1"), NULL), ZOK);
    assert_look(line("%s %s", "ls --columns LOCK,KIND", full("")), "");
    LOOK(65, "show %s", full("dir"));
}

/* Such as locks that are named by a hash. */
TEST(a_directory_with_a_hash_is_of_no_pool)
{
    assert_int_equal(admin_create(admin, full("dir"), NULL), ZOK);
    assert_ok(admin_create(admin, full("dir/5a5bbc3873ea4b5a9f7396e8c4c6a436"),
                           NULL));
    LOOK(65, "show %s", full("dir"));
    assert_has(look_err, "of its 1 children none contends");
}

TEST(show_says_what_an_empty_node_may_be)
{
    static const char total[] = { 0, 0, 0, 0, 0, 0, 1, 4 };
    static const char below[] = { -1, -1, -1, -2 };

    assert_ok(admin_create_bytes(admin, full("total"), total, 8, 0));
    assert_ok(admin_create_bytes(admin, full("below"), below, 4, 0));
    assert_int_equal(admin_create(admin, full("gate"), "10.0.0.1"), ZOK);
    assert_int_equal(admin_create(admin, full("idle"), NULL), ZOK);
    LOOK(0, "show %s", full("total"));
    assert_has(look_err, "(DistributedAtomicLong) its 8 bytes of data are 260");
    LOOK(0, "show %s", full("below"));
    assert_has(look_err, "(SharedCount) its 4 bytes of data are -2");
    LOOK(0, "show %s", full("gate"));
    assert_has(look_err,
               "it has data (8 bytes), as locks have not: it may be a "
               "barrier");
    LOOK(0, "show %s", full("idle"));
    assert_string_equal(look_err, "");
}

int main(void)
{
    return run_with_server(NULL, test_run_all);
}
