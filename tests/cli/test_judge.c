/* SPDX-License-Identifier: Apache-2.0 */
/* doctor and break tell of a lock, word for word: the lists are made by hand,
 * without servers; and what servers tell of clients. */
#include <inttypes.h>

#include "common/lockctl.h"
#include "model/breaking.h"
#include "model/doctor.h"
#include "protocol/roster.h"
#include "text/lock_fields.h"
#include "txn_file.h"
#include "unit.h"

enum { NOW = 1000000000, NODES_MAX = 16 };

#define CURATOR "_c_5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436-"
#define KAZOO   "0123456789abcdef0123456789abcdef"
#define RECORD(program, label)                                                 \
    "{\"host\":\"h\",\"pid\":11,\"tid\":7,\"program\":\"" program              \
    "\",\"label\":\"" label "\",\"library\":\"zkrecipes 0.1.0\"}"
/* Lines of the answers of servers. */
#define CONS(session)                                                          \
    " /10.0.0." session ":5[1](queued=0,sid=0x" session                        \
    ",lop=PING,est=1,to=4000,x)\n"
/* One of them has not answered. */
#define SILENT   "-"
#define ENSEMBLE "  ensemble: zk1:2181\n"
#define AWAY                                                                   \
    "  its session lives or is about to end; it is not connected to any "      \
    "server\n"
#define MAY_LIVE "  its session may live; the servers do not tell\n"
#define DANGER(dialect)                                                        \
    "  DANGER: a holder in the dialect " dialect                               \
    " does not look at its own node, and goes on as if it held. Stop it "      \
    "first\n"
#define DANGER_UNKNOWN                                                         \
    "  DANGER: its node does not tell its client. With zkrecipes it is told "  \
    "soon after; any other client does not look at its own node, and goes on " \
    "as if it held. Stop it first\n"
#define IS_TOLD(when)                                                          \
    "  it is told " when ", but is not stopped: until then both may work\n"
#define WAITING(n) "  " n " waiting; the next is granted at once\n"
#define NODE_ONLY  "  only its node is removed: a holder keeps the lock\n"

/* `nodes` are "NAME SESSION TOKEN AGE DATA|...": the session is hexadecimal, 0
 * is none; the age is in ms. Without a token the node was not read, or, with
 * "!" for an age, may not be. Here and in `said` words stand for others. */
struct row {
    const char *name;
    const char *nodes;
    int64_t ask;      /* doctor: --older, in ms; break: the token; of a lock the
                         longest hold, in ms */
    const char *cons; /* of all servers; NULL: not told */
    const char *said;
};

/* Names that a digit ends, records, and the path as shells read it. */
static const struct word words[] = {
    { "#c", CURATOR "lock-000000000" },
    { "#r", CURATOR "__READ__000000000" },
    { "#w", CURATOR "__WRIT__000000000" },
    { "#a", CURATOR "latch-000000000" },
    { "#k", KAZOO "__lock__000000000" },
    { "#s", KAZOO "__rlock__000000000" },
    { "#e", "leases/lease-000000000" },
    { "#q", "locks/lock-000000000" },
    { "#", "lock-000000000" },
    { "@p", RECORD("p", "") },
    { "@l", RECORD("p", "l") },
    { "@n", RECORD("zk-lockctl hold", "nightly (4711)") },
    { "@w", "$'/a\\040b'" },
    { .word = NULL },
};

static struct lock lock;
static struct servers *servers;

static int teardown(void)
{
    lock_done(&lock);
    servers_free(servers);
    servers = NULL;
    said[0] = '\0';
    return 0;
}

FIXTURE(NULL, teardown)

static size_t read_node(struct zkr_participant *p, char name[80],
                        char data[200], const char *text)
{
    char age[24] = "";
    int end = 0;

    data[0] = '\0';
    *p = (struct zkr_participant){ .name = name, .data = data };
    assert_true(sscanf(text, "%79s %" SCNx64 " %" SCNd64 " %23s%n", name,
                       (uint64_t *)&p->session_id, &p->token, age, &end) == 4);
    if (text[end] == ' ')
        (void)sscanf(text + end, " %199[^|]", data);
    p->error = age[0] == '!' ? ZKR_ZNOAUTH : ZKR_OK;
    p->since_ms = p->token == 0 ? 0 : NOW - strtoll(age, NULL, 10);
    p->data_size = p->full_size = strlen(data);
    return strcspn(text, "|");
}

static int know_nobody(void)
{
    servers = calloc(1, sizeof(*servers));
    return servers == NULL;
}

static void make_world(const struct row *row)
{
    struct zkr_participant nodes[NODES_MAX];
    char whole[2048];
    const char *text = whole;
    char names[NODES_MAX][80];
    char data[NODES_MAX][200];
    size_t n = 0;

    spell_out(whole, sizeof(whole), row->nodes, words);
    for (; *text != '\0'; text += *text == '|', n++) {
        assert_true(n < NODES_MAX);
        text += read_node(&nodes[n], names[n], data[n], text);
    }
    struct zkr_participants *list = zkr__roster_make(nodes, n);
    assert_non_null(list);
    lock = lock_of("/a b", list, NOW);
    if (row->cons == NULL)
        return;
    ok(know_nobody());
    servers->whole = strcmp(row->cons, SILENT) != 0;
    servers_read(servers, "zk1", row->cons, strlen(row->cons));
}

/* --- doctor --- */

/* clang-format off */
static const struct row doctor_rows[] = {
    { "nobody", "#0 1 5 100 me|#1 2 6 500 you", 0, NULL, "" },
    { "holders of that age", "#r0 1 5 100 one|#r1 2 6 99 two|#r2 3 7 61000 three|#w3 4 8 500 four",
      100, NULL, "old-holder #r0 5: one holds it; its node is 0.1s old, 1 waiting -> "
      "zk-lockctl revoke @w\nold-holder #r2 7: three holds it; its node is "
      "1m01s old, 1 waiting -> zk-lockctl revoke @w\n" },
    { "holders who do not listen, or were asked",
      "#s0 1 5 100 one|#s1 2 6 100 __REVOKE__|#k2 3 7 100 three", 100, NULL,
      "old-holder #s0 5: one holds it; its node is 0.1s old, 1 waiting -> stop "
      "that program, then: zk-lockctl break --token 5 @w\nold-holder #s1 6: "
      "session 0x2 (asked to release) holds it; its node is 0.1s old, 1 "
      "waiting -> it was asked already: stop that program, then: zk-lockctl "
      "break --token 6 @w\n" },
    { "of no session", "#0 0 5 1 me|#1 2 6 1 you|#2 0 7 1 they|#3 0 0 !", 0, "",
      "persistent-contender #0 5: #0 holds, but it belongs to no session: no "
      "server will ever remove it -> see that nobody uses it, then remove it: "
      "zk-lockctl break --token 5 @w\npersistent-contender #2 7: #2 stands in "
      "the queue, but it belongs to no session: no server will ever remove it "
      "-> see that nobody uses it, then remove it: zk-lockctl break --token 7 "
      "@w\n" },
    { "recipes that do not go together", "#0 1 5 1 me|#r1 2 6 1 you", 0, NULL,
      "mixed-recipes - 0: the contenders use recipes that do not exclude each "
      "other, such as a mutex and a read/write lock: more of them may hold "
      "than is shown -> use one recipe on a path\n" },
    { "holders without a client",
      "leases 0 1 0|locks 0 1 0|#e0 1 5 1 @n|#e1 2 6 1 two|#e2 3 7 1 three|#q3 "
      "4 8 1 four", 0, CONS("2"),
      "absent-holder #e0 5: h:11/7 zk-lockctl hold (nightly (4711)) has a "
      "permit, and its client is connected to no server; 1 waiting -> its node "
      "goes when its session has timed out; where that is too long, see that "
      "the shell that it holds the lock for, nightly (4711) is dead, then: "
      "zk-lockctl break --token 5 @w\nabsent-holder #e2 7: three has a permit, "
      "and its client is connected to no server; 1 waiting -> its node goes "
      "when its session has timed out; where that is too long, see that the "
      "program is dead, then: zk-lockctl break --token 7 @w\n" },
    { "a holder without a client", "#0 1 5 1 @l", 0, "",
      "absent-holder #0 5: h:11/7 p (l) holds it, and its client is connected "
      "to no server; 0 waiting -> its node goes when its session has timed out; "
      "where that is too long, see that the program is dead, then: zk-lockctl "
      "break --token 5 @w\n" },
    { "a server did not answer", "#0 1 5 1 one|#1 2 6 1 two", 0, SILENT, "" },
    { "a session behind its own node", "#0 1 5 400 one|#1 2 6 600 two|#2 1 7 500 one", 500, NULL,
      "own-node #2 7: one has waited for 0.5s behind a node of its own "
      "session: for ever, if one thread holds and waits -> see the stacks of "
      "that program, and restart it if it waits for itself\n" },
    { "a session behind its own node, not so long",
      "#0 1 5 400 one|#2 1 7 499 one", 500, NULL, "" },
    { "a thread that waits for itself", "#0 1 5 1 @p|#1 1 6 1 @p", 0, NULL,
      "deadlock #1 6: h:11/7 p waits for itself -> zk-lockctl deadlocks shows "
      "it and what ends it\n" },
};
/* clang-format on */

TEST_ROWS(doctor_says, doctor_rows, row)
{
    struct findings all = { .count = 0 };
    const struct doctor_opts opts = { .older_ms = row->ask };
    struct lock locks[2] = { { .path = "/" } };
    struct scan scan = { .locks = locks, .count = 2, .at_ms = NOW };

    make_world(row);
    locks[1] = lock;
    doctor_examine(&scan, servers, &opts, &all);
    struct deadlocks deadlocks = deadlocks_find(&lock, 1, NULL, 0);
    doctor_add_deadlocks(&deadlocks, &opts, &all);
    deadlocks_done(&deadlocks);
    for (size_t i = 0; i < all.count; i++) {
        const struct finding *f = &all.items[i];

        say("%s %s %" PRId64 ": %s -> %s\n", f->check,
            f->node == NULL ? "-" : f->node->name,
            f->node == NULL ? 0 : f->node->token, f->what, f->cure);
    }
    findings_done(&all);
    assert_said(row->said, words);
}

/* --- a lock --- */

#define UUID "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436"

/* clang-format off */
static const struct row lock_rows[] = {
    { "nothing", "", 0, NULL, "- - free 0 held, 0 wait" },
    { "held", "#0 1 5 100 one|#1 2 6 300 two|#2 3 7 200 three", 0, NULL,
      "mutex other held 1 held, 2 wait 300" },
    { "shared", "#r0 1 5 1 one|#r1 2 6 1 two|#w2 3 7 9 three", 0, NULL, "rw curator shared 2 held, 1 wait 9" },
    { "held for long", "#r0 1 5 2 one|#r1 2 6 9 two|#r2 4 8 5 four|#w3 3 7 90 "
      "three", 9, NULL, "rw curator shared 3 held, 1 wait 90" },
    { "written", "#w0 1 5 1 one|#r1 2 6 1 two", 0, NULL, "rw curator held 1 held, 1 wait 1" },
    { "held beside the queue", "holder 1 5 1 one|#r1 2 6 1 two", 0, NULL, "mixed mixed held 2 held, 0 wait" },
    { "older than our clock", "#0 1 5 1 one|#1 2 6 -5 two", 0, NULL,
      "mutex other held 1 held, 1 wait 0" },
    { "of two clients", "#c0 1 5 1 one|#k1 2 6 1 two|#2 3 7 1 three", 0, NULL,
      "mutex mixed held 1 held, 2 wait 1" },
    { "of one that is not known", "#c0 1 5 1 one|#c1 2 6 1 __REVOKE__|#c2 2 7 1 three", 0, NULL,
      "mutex ? held 1 held, 2 wait 1" },
    { "of one that was not read", "#c0 1 5 1 one|#c1 0 0 0", 0, NULL,
      "mutex curator held 1 held, 1 wait" },
    { "of another client that was not read", "#c0 1 5 1 one|x-1-0000000001 0 0 0", 0, NULL,
      "mixed mixed held 1 held, 1 wait" },
    { "a lease that is promised",
      "leases 0 1 0|locks 0 1 0|#e0 1 5 1 one|#e1 2 7 1 two|#q1 2 6 3 two|#q2 "
      "3 8 1 three", 0, NULL, "semaphore other shared 1 held, 2 wait 3" },
    { "a semaphore of nobody", "leases 0 1 0|locks 0 1 0", 0, NULL,
      "semaphore - free 0 held, 0 wait" },
    { "a semaphore without a queue", "leases 0 1 0|locks 0 1 0|#e0 1 5 1 one", 0,
      NULL, "semaphore other shared 1 held, 0 wait" },
    { "members who enter", "notes 0 5 1|" UUID " 1 6 1", 0, NULL,
      "barrier - entering 0 held, 0 wait 1 members" },
    { "members who may go", UUID " 1 6 1|5a5bbc38-73ea-4b5a-9f73-96e8c4c6a437 2 7 1|ready 0 8 1|z 0 9 1", 0,
      NULL, "barrier - ready 0 held, 0 wait 2 members" },
    { "ready alone", "ready 0 8 1", 0, NULL, "- - free 0 held, 0 wait" },
    { "a member beside who contends", UUID " 1 6 1|#0 1 5 1 one", 0, NULL,
      "mutex other held 1 held, 0 wait" },
    { "a pool of kazoo", KAZOO " 1 5 1|" KAZOO "__party__ 2 6 1|0123456789abcdef0123456789abcde0 "
      "0 7 1", 0, NULL, "- - free 0 held, 0 wait 2 of a pool" },
};
/* clang-format on */

TEST_ROWS(lock_is, lock_rows, row)
{
    make_world(row);
    say("%s %s %s %zu held, %zu wait", zkr__lock_kind_name(lock.kind),
        zkr__dialect_name(lock.dialect), lock_state_name(lock.state),
        lock.holders, lock.waiters);
    if (lock.longest_wait_ms >= 0)
        say(" %" PRId64, lock.longest_wait_ms);
    if (lock.members > 0)
        say(" %zu members", lock.members);
    if (lock.pool > 0)
        say(" %zu of a pool", lock.pool);
    assert_said(row->said, words);
    assert_true(lock.holder == NULL || lock.holder == &lock.items[0]);
    assert_int_equal(lock.held_ms,
                     lock.holder == NULL ? -1 : lock.items[0].age_ms);
    if (row->ask > 0)
        assert_int_equal(lock.longest_hold_ms, row->ask);
}

/* Of a long queue not all are listed. */
TEST(children_are_all_of_the_directory)
{
    const struct row row = { .nodes = "#0 1 5 1 one|notes 0 6 1" };

    make_world(&row);
    lock.total = 9;
    json_t *json = fields_json(lock_fields, &lock);
    assert_int_equal(json_integer_value(json_object_get(json, "children")), 9);
    assert_int_equal(json_integer_value(json_object_get(json, "foreign")), 1);
    json_decref(json);
}

/* --- break --- */

/* clang-format off */
static const struct row break_rows[] = {
    { "nobody", "", 0, NULL, "65: nobody holds it\n" },
    { "nobody, by a token", "", 5, NULL, "65: nobody holds it\n" },
    { "nobody yet", "leases 0 1 0|locks 0 1 0|#q1 2 6 1 two", 0, NULL, "65: nobody holds it\n" },
    { "which of two", "#r0 1 5 1 one|#r1 2 6 1 two", 0, NULL,
      "65: there are 2 holders: say which, by --token (zk-lockctl show)\n" },
    { "the second", "#r0 1 5 1 one|#r1 2 6 2000 two|#w2 3 7 1 three", 6, NULL,
      "/a b is held by two\n" ENSEMBLE "  dialect curator, for <=2.0s, session "
      "0x2, token 6\n" MAY_LIVE DANGER("curator") WAITING("1") },
    { "another token", "#0 1 5 1 one|#1 2 6 1 two", 7, NULL,
      "65: nobody holds it with the token 7, and nobody waits with it\n" },
    { "a holder that may not be read", "#0 0 0 !", 0, NULL,
      "77: the node of the holder may not be read, so it cannot be known "
      "again\n" },
    { "twins who hold", "#r0 1 5 1 one|#r1 2 5 1 two", 5, NULL,
      "65: several hold it with the token 5: they cannot be told apart\n" },
    { "twins, of whom one holds", "#0 1 5 1 one|#1 2 5 1 two|#2 3 6 1 three", 5, NULL,
      "/a b is held by one\n" ENSEMBLE "  dialect other, for <=0.0s, session "
      "0x1, token 5\n" MAY_LIVE DANGER("other") WAITING("2") },
    { "twins who wait", "#0 1 5 1 one|#1 2 6 1 two|#2 3 6 1 three", 6, NULL,
      "65: several wait with the token 6: they cannot be told apart\n" },
    { "a holder of ours, connected", "#c0 1 5 61000 @l|#1 2 6 1 two", 0, CONS("1"),
      "/a b is held by h:11/7 p\n" ENSEMBLE "  label: l\n  dialect zkrecipes, "
      "for <=1m01s, session 0x1, token 5\n  it is connected from 10.0.0.1:5 to "
      "zk1, session timeout 4s\n" IS_TOLD("soon after") WAITING("1") },
    { "a holder of ours, away", "#c0 1 5 1 @p", 0, CONS("2"),
      "/a b is held by h:11/7 p\n" ENSEMBLE "  dialect zkrecipes, for <=0.0s, "
      "session 0x1, token 5\n" AWAY IS_TOLD("when it is connected again")
      WAITING("0") },
    { "a server did not answer", "#c0 1 5 1 @p", 0, SILENT,
      "/a b is held by h:11/7 p\n" ENSEMBLE "  dialect zkrecipes, for <=0.0s, "
      "session 0x1, token 5\n" MAY_LIVE IS_TOLD("soon after") WAITING("0") },
    { "a session that is over, or away", "#c0 1 5 1 one", 0, "",
      "/a b is held by one\n" ENSEMBLE "  dialect curator, for <=0.0s, session "
      "0x1, token 5\n" AWAY DANGER("curator") WAITING("0") },
    { "a holder that was asked", "#c0 1 5 1 __REVOKE__", 0, NULL,
      "/a b is held by session 0x1 (asked to release)\n" ENSEMBLE "  dialect "
      "?, for <=0.0s, session 0x1, token 5\n" MAY_LIVE DANGER_UNKNOWN
      WAITING("0") },
    { "of no session", "#0 0 5 1 one", 0, "",
      "/a b is held by one\n" ENSEMBLE "  dialect other, for <=0.0s, session "
      "0x0, token 5\n  its node belongs to no session: it stays until somebody "
      "deletes it\n" DANGER("other") WAITING("0") },
    { "a lease", "leases 0 1 0|locks 0 1 0|#e0 1 5 1 one|#q1 2 6 1 two", 5, NULL,
      "a lease of /a b is held by one\n" ENSEMBLE "  dialect other, for "
      "<=0.0s, session 0x1, token 5\n" MAY_LIVE DANGER("other") "  1 waiting; "
      "its permit is free at once, for the next of them\n" },
    { "a leader", "#a0 1 5 1 one|#a1 2 6 1 two", 0, NULL,
      "/a b is led by one\n" ENSEMBLE "  dialect ?, for <=0.0s, session 0x1, "
      "token 5\n" MAY_LIVE DANGER_UNKNOWN "  1 waiting; the next leads at "
      "once\n" },
    { "a waiter", "#0 1 5 1 one|#1 2 6 1 two|#2 3 7 1 three", 7, NULL,
      "it is a waiter that is removed, not a holder: three at position 2 of "
      "the queue of /a b, node #2\n" ENSEMBLE "  dialect other, for <=0.0s, "
      "session 0x3, token 7\n" MAY_LIVE NODE_ONLY "  its client, if it lives, "
      "is told that its claim was deleted, and may enter the queue again\n  2 "
      "waiting, it among them\n" },
    { "a waiter of no session", "#0 1 5 1 one|#1 0 6 1", 6, NULL,
      "it is a waiter that is removed, not a holder: ? at position 1 of the "
      "queue of /a b, node #1\n" ENSEMBLE "  dialect other, for <=0.0s, "
      "session 0x0, token 6\n  its node belongs to no session: it stays until "
      "somebody deletes it\n" NODE_ONLY "  1 waiting, it among them\n" },
};
/* clang-format on */

TEST_ROWS(break_says, break_rows, row)
{
    const struct lockctl ctl = { .settings[SETTING_SERVERS] = "zk1:2181" };
    struct notes lines = { .count = 0 };

    make_world(row);
    const struct contender *c = breaking_choose(&lock, row->ask);
    if (c == NULL)
        say("%d: %s\n", lockctl_failure()->exit_code,
            lockctl_failure()->message);
    else
        breaking_tell(&ctl, &lock, c, servers, &lines);
    for (size_t i = 0; i < lines.count; i++)
        say("%s\n", lines.texts[i]);
    notes_done(&lines);
    assert_said(row->said, words);
}

TEST(a_finding_is_of_the_same_node)
{
    for (size_t i = 0; i < 4; i++) {
        struct zkr_participant a = { .name = "a", .token = 1 }, b = a;
        struct finding then = { .check = "x", .path = "/a", .node = &a };
        struct finding now = { .check = "x", .path = "/a", .node = &b };
        struct findings all = { .items = &now, .count = 1 };

        b.token += i == 1;
        b.name = i == 2 ? "b" : "a";
        now.path = i == 3 ? "/b" : "/a";
        findings_keep(&all, &(struct findings){ .items = &then, .count = 1 });
        assert_int_equal(all.count, i == 0);
    }
}

TEST(a_clock_is_wrong_by_ten_seconds)
{
    struct zkr_participant node = { .session_id = 1 };
    struct zkr_participant old = { .session_id = 1 };
    struct contender items[] = { { .node = &node }, { .node = &old } };
    struct lock one = { .items = items, .count = 2, .at_ms = NOW };
    const struct scan scan = { .locks = &one, .count = 1, .at_ms = NOW };
    struct client me = { .session_id = 1 };
    const struct servers all = { .items = &me, .count = 1 };
    const struct doctor_opts opts = { .session_id = 1, .opened_ms = NOW - 50 };

    for (int64_t late = 9999; late <= 10000; late++) {
        int64_t skew = late == 10000 ? late : 0;

        node.since_ms = NOW + late;
        me.since_ms = late < 10000 ? 0 : NOW - 50; /* 0: it is not told */
        assert_int_equal(doctor_skew_ms(&scan, &all, &opts), skew);
        node.since_ms = 0;
        assert_int_equal(doctor_skew_ms(&scan, &all, &opts), 0);
        me.since_ms = NOW + late;
        assert_int_equal(doctor_skew_ms(&scan, &all, &opts), skew);
        me.since_ms = NOW - 50 - late;
        assert_int_equal(doctor_skew_ms(&scan, &all, &opts), -skew);
    }
}

TEST(a_note_is_there_once)
{
    struct notes notes = { .count = 0 };

    for (int i = 0; i < 2; i++) {
        notes_add(&notes, "one");
        notes_add(&notes, "two");
    }
    assert_int_equal(notes.count, 2);
    notes_done(&notes);
}

/* --- the answers of servers to cons --- */

static void hear(const char *server, const char *text)
{
    servers_read(servers, server, text, strlen(text));
}

/* A session above 2^63 is a negative number. */
TEST_WITH(clients_are_read_from_cons, know_nobody, teardown)
{
    static const struct client clients[] = {
        { INT64_C(0x10000fd2ae90001), 4000, INT64_C(1795244983198),
          "10.1.2.3:49160", "" },
        { 2, 10000, 0, "[0:0:0:0:0:0:0:1]:5", "" },
        { INT64_C(-0x37ffffffffffffff), 4000, 0, "10.1.2.3:5", "" },
    };

    hear("zk1:2181",
         " /127.0.0.1:43352[0](queued=0,recved=1,sent=0)\n"
         " /10.1.2.3:49160[1](queued=0,recved=11,sent=11,sid=0x10000fd2ae90001,"
         "lop=PING,est=1795244983198,to=4000,lcxid=0x4,lzxid=0x2d)\n"
         " /10.1.2.3:5[1](queued=0,sid=0xc800000000000001,lop=PING,to=4000,x)\n"
         " /[0:0:0:0:0:0:0:1]:5[1](queued=0,sid=0x2,lop=PING,to=10000,x=)\n\n");
    for (size_t i = 0; i < COUNT(clients); i++) {
        const struct client *c = servers_client(servers, clients[i].session_id);

        assert_non_null(c);
        assert_string_equal(c->address, clients[i].address);
        assert_string_equal(c->server, "zk1:2181");
        assert_int_equal(c->timeout_ms, clients[i].timeout_ms);
        assert_int_equal(c->since_ms, clients[i].since_ms);
    }
    assert_int_equal(servers->count, COUNT(clients));
    assert_null(servers_client(servers, 3));
    assert_null(servers_client(NULL, 2));
}

TEST_WITH(two_names_of_one_server_are_told_by_a_session, know_nobody, teardown)
{
    static const char one[] = "/h:1[1](x,sid=0x1,to=1)\n"
                              "/h:2[1](x,sid=0x2,to=1)\n";
    static const char two[] = "/h:2[1](x,sid=0x2,to=1)\n";

    hear("zk1:2181", one);
    hear("zk1:2181", two);
    hear("zk2:2181", "/h:3[1](x,sid=0x3,to=1)\n");
    assert_false(servers_tell_twice(servers));
    hear("zk2:2181", two);
    assert_true(servers_tell_twice(servers));
}

/* The answers of a server that lies, or of another program. */
TEST_WITH(nonsense_is_passed_over, know_nobody, teardown)
{
    static const char *const texts[] = {
        "",
        "\n\r\n",
        "/",
        "[",
        "/[",
        "[/,sid=0x1,to=",
        "/a[,sid=,to=1",
        "/a[,sid=0x11111111111111111,to=1",
        "0x",
        "[/a[x,sid=x21,to=1\nb]/a,sid=0x22,to=1\n",
        "/a[x,sid=0x24\n/a[x,to=1\n",
        "This ZooKeeper instance is not currently serving requests\n",
        "\033]52;c;\a\xff\xfe",
    };

    for (size_t i = 0; i < COUNT(texts); i++)
        hear("zk1:2181", texts[i]);
    assert_int_equal(servers->count, 0);
    hear("zk1:2181", "/a[x,sid=0x0,to=1\n");
    assert_null(servers_client(servers, 0));
}

/* The answer is cut at each byte: ASan would see a read beyond the end. */
TEST_WITH(answers_may_be_cut_anywhere, know_nobody, teardown)
{
    static const char text[] =
        " /10.1.2.3:49160[1](queued=0,sid=0x10,lop=PING,to=4000,x)\n";

    for (size_t size = 0; size < sizeof(text); size++) {
        char *copy = malloc(size > 0 ? size : 1);

        assert_non_null(copy);
        (void)memcpy(copy, text, size);
        servers_read(servers, "x", copy, size);
        free(copy);
    }
    assert_non_null(servers_client(servers, 0x10));
}
