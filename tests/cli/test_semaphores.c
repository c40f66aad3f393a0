/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl on semaphores, leader latches, barriers and counters,
 * whose nodes are made by hand, as Curator makes them. */

#include "look.h"

#define UUID   "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436"
#define LATCH  "_c_" UUID "-latch-000000000"
#define LEASE  "leases/_c_" UUID "-lease-000000000"
#define QUEUE  "locks/_c_" UUID "-lock-000000000"
#define MEMBER "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a43"
#define POOL   "p pool|p pool/leases|p pool/locks|"
/* Three permits, a fourth who wants one, and a fifth behind it. */
#define BUSY                                                                   \
    POOL "a pool/" LEASE "0 10.0.0.1|a pool/" LEASE "1 10.0.0.1|b pool/" LEASE \
         "2 10.0.0.2|c pool/" QUEUE "3 10.0.0.3|b pool/" QUEUE                 \
         "4 10.0.0.2|c pool/" LEASE "3 10.0.0.3"

/* Clients beside the one of the fixture. */
static struct admin *b;
static struct admin *c;

static int setup(void)
{
    return look_make_root() != ZOK ||
           admin_open(server_hosts(the_server), &b) != ZOK ||
           admin_open(server_hosts(the_server), &c) != ZOK;
}

static int teardown(void)
{
    admin_close(b);
    admin_close(c);
    return look_remove_root();
}

FIXTURE(setup, teardown)

static void make_busy(void)
{
    const struct scene busy[] = { { .make = BUSY, .words = "ls R" }, { 0 } };

    look_play(busy, b, c);
}

/* --- what is shown --- */

#define SHOWN_POOL                                                             \
    "ROOT/pool semaphore (curator) shared 3 leases, 2 waiting\n"               \
    "POS STATE OWNER BLOCKED-BY MODE\n"                                        \
    " 0 HELD 10.0.0.1 - shared\n"                                              \
    " 1 HELD 10.0.0.1 - shared\n"                                              \
    " 2 HELD 10.0.0.2 - shared\n"                                              \
    " 3 wait 10.0.0.3 a permit shared\n"                                       \
    " 4 wait 10.0.0.3 a permit exclusive\n"                                    \
    " 5 wait 10.0.0.2 pos 4 exclusive\n"
#define SHOW_POOL "show --no-4lw --columns POS,STATE,OWNER,BLOCKED-BY,MODE "
#define ESCAPED   "\\x1B]52;c;aGk=\\x07\\x0D\\x0A\\xFF\\xE2\\x80\\xAE"

static const struct row {
    const char *name;
    struct scene scenes[9];
} rows[] = {
    { "ls_has_one_line_for_a_semaphore",
      { { .make = BUSY,
          .words = "ls --columns LOCK,KIND,DIALECT,STATE,HOLDER,WAIT R",
          .out = "LOCK KIND DIALECT STATE HOLDER WAIT\n"
                 "ROOT/pool semaphore curator shared 3 leases 2\n" },
        { .words = "ls --columns LOCK,KIND R/pool/locks",
          .out = "LOCK KIND\nROOT/pool semaphore\n" },
        { .words = "ls --columns LOCK,KIND R/pool/leases",
          .out = "LOCK KIND\nROOT/pool semaphore\n" },
        { .words = "ls -o json R" } } },
    { "show_says_who_has_a_permit_and_who_waits",
      { { .make = BUSY, .words = SHOW_POOL "R/pool", .out = SHOWN_POOL },
        { .words = SHOW_POOL "R/pool/leases", .out = SHOWN_POOL },
        { .words = SHOW_POOL "R/pool/locks", .out = SHOWN_POOL },
        { .words = "show -o json R/pool" } } },
    { "a_semaphore_without_a_lease_is_free",
      { { .make = POOL, .words = "ls --columns LOCK,KIND,STATE R", .out = "" },
        { .words = "show --columns POS,STATE R/pool/locks",
          .out = "ROOT/pool semaphore (-) free 0 leases, 0 waiting\n" },
        { .words = "check --free R/pool" },
        { .make = "a pool/" QUEUE "0 10.0.0.1",
          .words = "show --no-4lw --columns POS,STATE,BLOCKED-BY R/pool",
          .out = "ROOT/pool semaphore (curator) free 0 leases, 1 waiting\n"
                 "POS STATE BLOCKED-BY\n 0 wait a permit\n" },
        { .words = "ls --held R", .out = "" },
        { .words = "break --yes --token 5 R/pool",
          .code = 65,
          .has = { "with the token 5, and nobody waits with it\n" } } } },
    /* The directory looked like a semaphore, and is none. */
    { "other_directories_of_these_names_are_locks",
      { { .make = "a locks/" LATCH "1 me|a a/locks/lock-0000000001 me|"
                  "a b/locks/orders/lock-0000000001 me|"
                  "a b/leases/flat/lock-0000000001 me|"
                  "a c/leases/lock-0000000001 me|a c/locks/lock-0000000001 me",
          .words = "ls --columns LOCK,KIND R",
          .out = "LOCK KIND\n"
                 "ROOT/a/locks mutex\n"
                 "ROOT/b/leases/flat mutex\n"
                 "ROOT/b/locks/orders mutex\n"
                 "ROOT/c/leases mutex\n"
                 "ROOT/c/locks mutex\n"
                 "ROOT/locks leader\n" },
        { .words = "show --no-4lw --columns STATE R/a/locks",
          .out = "ROOT/a/locks mutex (other) held 1 in the "
                 "queue\nSTATE\nHELD\n" } } },
    { "a_mutex_on_the_path_of_a_semaphore_is_mixed",
      { { .make = BUSY "|a pool/lock-0000000007 me",
          .words = "ls --columns LOCK,KIND,WAIT R",
          .out = "LOCK KIND WAIT\nROOT/pool mixed 2\n" },
        { .words = "show --no-4lw R/pool",
          .has = { "do not exclude each other" } } } },
    { "a_latch_has_a_leader_and_candidates",
      { { .make = "a election/" LATCH "1 node-1|b election/" LATCH "2 " EVIL
                  "|c election/" LATCH "3 ",
          .words = "ls --columns KIND,DIALECT,STATE,HOLDER,WAIT R",
          .out = "KIND DIALECT STATE HOLDER WAIT\nleader ? held node-1 2\n" },
        { .words =
              "show --no-4lw --columns POS,STATE,OWNER,BLOCKED-BY R/election",
          .out = "ROOT/election leader (?) held 3 in the queue\n"
                 "POS STATE OWNER BLOCKED-BY\n"
                 " 0 HELD node-1 -\n"
                 " 1 wait " ESCAPED " pos 0\n"
                 " 2 wait session 0xN pos 1\n" },
        { .words = "check --free R/election",
          .code = 1,
          .has = { "is led by node-1 (?)" } },
        { .words = "break --no-4lw R/election",
          .code = 64,
          .has = { "election is led by node-1\n", "DANGER: its node does not",
                   "2 waiting; the next leads at once\n" } } } },
    /* Neither leases nor latches of Curator can be made revocable. */
    { "curator_does_not_hear_that_it_is_asked",
      { { .make =
              POOL "a pool/" LEASE "0 10.0.0.1|a election/" LATCH "1 node-1",
          .words = "revoke -w 0 R/pool",
          .code = 75,
          .has = { "10.0.0.1 is not asked: curator does not listen" } },
        { .words = "break --no-4lw R/pool",
          .code = 64,
          .has = { "a lease of ", "0 waiting; its permit is free at once" } },
        { .words = "revoke -w 0 R/election",
          .code = 75,
          .has = { "node-1 is not asked: its node does not tell whether its "
                   "client listens" } },
        { .words = "ls --columns HOLDER R/pool",
          .out = "HOLDER\n10.0.0.1\n" } } },
    /* Any lease that goes lets a waiter in, not a certain one. */
    { "a_circle_through_leases_is_no_deadlock",
      { { .make = "p a|p a/leases|p a/locks|p b|p b/leases|p b/locks|b a/" LEASE
                  "0 b|c b/" LEASE "0 c|c a/" QUEUE "1 c|b b/" QUEUE "1 b",
          .words = "deadlocks --possible --confirm 1ms R",
          .out = "" } } },
    { "metrics_have_leases_and_waiters",
      { { .make = BUSY "|a election/" LATCH "1 node-1",
          .words = "metrics R",
          .has = { "zklock_held{lock=\"ROOT/pool\",kind=\"semaphore\"} 3\n",
                   "zklock_held{lock=\"ROOT/election\",kind=\"leader\"} 1\n",
                   "zklock_waiters{lock=\"ROOT/pool\"} 2\n" } } } },
    { "a_double_barrier_has_members",
      { { .make = "a meeting/" MEMBER "1 10.0.0.1|b meeting/" MEMBER "2 " EVIL,
          .words = "ls --columns LOCK,KIND,STATE,HOLDER,WAIT R",
          .out = "LOCK KIND STATE HOLDER WAIT\n"
                 "ROOT/meeting barrier entering 2 members 0\n" },
        { .make = "p meeting/ready",
          .words = "show --no-4lw --columns STATE,OWNER,NODE R/meeting",
          .out = "ROOT/meeting barrier (-) ready 2 members, 1 foreign\n"
                 "STATE OWNER NODE\n"
                 "member 10.0.0.1 UUID\n"
                 "member " ESCAPED " UUID\n"
                 "foreign ? ready\n" },
        { .words = "show -o json R/meeting" },
        { .words = "ls -o json R" },
        { .words = "check --free R/meeting", .code = 65 },
        { .words = "metrics R", .lacks = "meeting" } } },
    /* Names alone do not make a barrier. */
    { "a_directory_with_a_uuid_is_no_barrier",
      { { .make = "p dir/" MEMBER "1",
          .words = "ls --columns LOCK,KIND R",
          .out = "" },
        { .words = "show R/dir", .code = 65 } } },
    /* Such as locks that are named by a hash. */
    { "a_directory_with_a_hash_is_of_no_pool",
      { { .make = "p dir/5a5bbc3873ea4b5a9f7396e8c4c6a436",
          .words = "show R/dir",
          .code = 65,
          .has = { "of its 1 children none contends" } } } },
};

TEST_ROWS(shown, rows, row)
{
    look_play(row->scenes, b, c);
}

/* Regression: with one lease out it had the name of its holder alone. */
TEST(one_lease_of_several_is_told)
{
    (void)look_make(b, in_root("pool/" LEASE "7"),
                    "{\"host\":\"me\",\"pid\":7,\"limit\":3,"
                    "\"library\":\"zkrecipes 1.2.3\"}",
                    ZOO_EPHEMERAL);
    LOOK(0, "ls --columns HOLDER %s", look_root);
    assert_string_equal(look_out, "HOLDER\n1 of 3 leases\n");
}

TEST(a_lease_is_broken_by_its_token)
{
    make_busy();
    int64_t token =
        look_make(b, in_root("pool/" LEASE "7"), "10.0.0.9", ZOO_EPHEMERAL);
    LOOK(65, "break --yes --token 1 %s", in_root("pool"));
    assert_has(look_err, "is a semaphore: 5 leases, 2 waiting");
    LOOK_ERR(0, "a lease of", "break --yes --token %lld %s", (long long)token,
             in_root("pool/leases"));
    assert_has(look_err, "is held by 10.0.0.9");
    assert_has(look_err, "DANGER");
    assert_has(look_err, "2 waiting; its permit is free at once");
    assert_has(look_err, "broken: 10.0.0.9 does not hold it any more");
    assert_int_equal(admin_exists(admin, in_root("pool/" LEASE "7"), NULL),
                     ZNONODE);
}

/* --- doctor, deadlocks, metrics --- */

TEST(watch_begins_with_the_semaphore_of_a_part)
{
    make_busy();
    (void)look_at_until(
        (const char *const[]){ "watch", "--initial", in_root("pool/locks"),
                               in_root("pool/leases"), in_root("pool"), NULL },
        0);
    assert_lacks(look_out, "/pool/");
    assert_has(look_out, "holding ");
    assert_has(look_out, "waiting ");
}
