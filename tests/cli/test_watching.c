/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of who watches whom, by the answers of servers, and of the findings of
 * doctor, without servers. */
#include <time.h>

#include "model/doctor.h"
#include "model/server_words.h"
#include "texts.h"
#include "unit.h"

#define LOCK "/locks/a"

/* A server that was given a large id makes such sessions. */
#define HIGH INT64_C(-0x37ffffffffffffff) /* 0xc800000000000001 */

enum { MANY = 20000 };

static struct zkr_participant *nodes;
static char (*names)[32];
static struct lock lock;
static struct servers *servers;

/* A queue of exclusive ones with these sessions; the first holds. */
static void queue(const int64_t *sessions, size_t count)
{
    nodes = calloc(count, sizeof(*nodes));
    names = calloc(count, sizeof(*names));
    lock = (struct lock){ .path = strdup(LOCK),
                          .items = calloc(count, sizeof(*lock.items)),
                          .count = count,
                          .listed = count,
                          .total = count,
                          .holders = 1,
                          .waiters = count - 1 };
    for (size_t i = 0; i < count; i++) {
        PRINT(names[i], "lock-%010zu", i);
        nodes[i] = (struct zkr_participant){
            .name = names[i],
            .marker = "lock-",
            .kind = ZKR_PARTICIPANT_EXCLUSIVE,
            .holds = i == 0,
            .waits_for = i == 0 ? SIZE_MAX : i - 1,
            .sequence = (int64_t)i,
            .token = (int64_t)i + 1,
            .session_id = sessions[i],
            .data = "",
        };
        lock.items[i] = (struct contender){ .node = &nodes[i] };
    }
    lock.list = NULL;
}

#define QUEUE(...)                                                             \
    queue((const int64_t[]){ __VA_ARGS__ },                                    \
          sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

/* The servers give this answer to a question about LOCK, or about all locks
 * (""). */
static void hear(const char *base, const char *text)
{
    servers = servers_new("", base);
    assert_non_null(servers);
    assert_true(servers_read(servers, SERVERS_WCHP, "zk1", text, strlen(text)));
}

static int teardown(void)
{
    servers_free(servers);
    servers = NULL;
    free(lock.path);
    free(lock.items);
    free(nodes);
    free(names);
    lock = (struct lock){ .path = NULL };
    return 0;
}

FIXTURE(NULL, teardown)

static void assert_wakes(size_t i, enum answer answer)
{
    assert_int_equal(servers_wake(servers, &lock, &lock.items[i]), answer);
}

/* The watches at the node of the first, as the servers tell them now. */
static struct servers *hear_watch(const char *sessions)
{
    struct servers *now = servers_new("", LOCK);
    char text[200];

    assert_non_null(now);
    PRINT(text, LOCK "/lock-0000000000\n%s", sessions);
    assert_true(servers_read(now, SERVERS_WCHP, "zk1", text, strlen(text)));
    return now;
}

/* The queue is listed before the servers are asked: between the two a waiter
 * may have moved its watch. */
TEST(a_waiter_is_deaf_when_it_was_so_twice)
{
    struct told told = { .servers = NULL };
    const struct contender *waiter;

    QUEUE(1, 2);
    waiter = &lock.items[1];
    assert_int_equal(told_wakes(&told, waiter), ANSWER_UNKNOWN);
    assert_true(told_take(&told, &lock, hear_watch("")));
    assert_int_equal(told.deaf, 1);
    assert_int_equal(told_wakes(&told, waiter), ANSWER_UNKNOWN);
    assert_true(told_take(&told, &lock, hear_watch("\t0x2\n")));
    assert_int_equal(told.deaf, 0);
    assert_int_equal(told_wakes(&told, waiter), ANSWER_YES);
    assert_true(told_take(&told, &lock, hear_watch("")));
    assert_int_equal(told_wakes(&told, waiter), ANSWER_UNKNOWN);
    nodes[1].token++; /* another one, which was not there before */
    assert_true(told_take(&told, &lock, hear_watch("")));
    assert_int_equal(told_wakes(&told, waiter), ANSWER_UNKNOWN);
    assert_true(told_take(&told, &lock, hear_watch("")));
    assert_int_equal(told_wakes(&told, waiter), ANSWER_NO);
    assert_true(told_take(&told, &lock, NULL));
    assert_int_equal(told_wakes(&told, waiter), ANSWER_UNKNOWN);
    told_done(&told);
}

/* Their tokens are not in the order of the queue. */
TEST(each_of_several_waiters_is_deaf)
{
    struct told told = { .servers = NULL };

    QUEUE(1, 2, 3, 4);
    nodes[1].token = 9;
    nodes[3].token = 2;
    for (int i = 0; i < 2; i++)
        assert_true(told_take(&told, &lock, hear_watch("\t0x3\n")));
    assert_int_equal(told.deaf, 2);
    assert_int_equal(told_wakes(&told, &lock.items[0]), ANSWER_UNKNOWN);
    assert_int_equal(told_wakes(&told, &lock.items[1]), ANSWER_NO);
    assert_int_equal(told_wakes(&told, &lock.items[2]), ANSWER_YES);
    assert_int_equal(told_wakes(&told, &lock.items[3]), ANSWER_NO);
    told_done(&told);
}

/* Nor are names and sessions. */
TEST(names_and_sessions_are_found_in_any_order)
{
    QUEUE(1, 5, 2, 5);
    PRINT(names[0], "z");
    PRINT(names[2], "a");
    hear(LOCK, LOCK "/z\n\t0x5\n\t0x2\n");
    assert_wakes(1, ANSWER_YES);
    assert_wakes(2, ANSWER_YES);
    assert_wakes(3, ANSWER_NO);
    servers_lack(servers, SERVERS_WCHP); /* another server may know more */
    assert_wakes(1, ANSWER_YES);
    assert_wakes(3, ANSWER_UNKNOWN);
}

/* Who wakes up, by position: '.' holds, 'y', 'n', '?'. */
struct wakes {
    const char *name;
    int64_t sessions[4];
    const char *base; /* as of hear() */
    const char *heard;
    const char *wake;
    bool hidden; /* the first may not be read */
};

/* clang-format off */
#define NODE(n) LOCK "/lock-000000000" n "\n"
static const struct wakes wakes[] = {
    { "a waiter that watches one before it wakes up", { 1, 2, 3 }, LOCK, NODE("0") "\t0x2\n" NODE("0") "\t0x3\n", ".yy", false },
    /* a holder watches its own node to learn that its lock was broken; a waiter that watches only its own sleeps for ever */
    { "one's own node does not wake", { 1, 2, 3 }, LOCK, NODE("1") "\t0x2\n" NODE("1") "\t0x3\n" NODE("2") "\t0x3\n", ".ny", false },
    { "those behind do not wake", { 1, 2, 3 }, LOCK, NODE("2") "\t0x2\n", ".nn", false },
    /* threads of one session: each must be woken by the one right before it */
    { "of one session each has its own watch", { 1, 2, 2, 2 }, LOCK, NODE("0") "\t0x2\n" NODE("2") "\t0x2\n", ".yny", false },
    { "a node of no session is unknown", { 1, 0, 3 }, LOCK, "", ".?n", false },
    { "servers that were not asked", { 1, 2, 3 }, NULL, NULL, ".??", false },
    /* Servers since 3.8.4 let nobody watch a node without the permission to read it: then our waiters list once a second.
     * Regression: they were reported as deaf. */
    { "behind a hidden node it is unknown", { 1, 2, 3 }, LOCK, "", ".?n", true },
    /* the answer about all locks has paths */
    { "nodes of other locks do not count", { 1, 2, 3, 4 }, "",
      NODE("0") "\t0x2\n/locks/ab/lock-0000000000\n\t0x3\n/locks/b/lock-0000000000\n\t0x4\n"
      "/lock\n\t0x4\n/locks\n\t0x4\n/locks/a\n\t0x4\n", ".ynn", false },
};
#undef NODE
/* clang-format on */

TEST_ROWS(a_waiter_wakes, wakes, row)
{
    queue(row->sessions, strlen(row->wake));
    if (row->hidden)
        nodes[0].error = ZKR_ZNOAUTH;
    if (row->heard != NULL)
        hear(row->base, row->heard);
    for (size_t i = 1; row->wake[i] != '\0'; i++)
        assert_wakes(i, row->wake[i] == 'y'   ? ANSWER_YES
                        : row->wake[i] == 'n' ? ANSWER_NO
                                              : ANSWER_UNKNOWN);
}

/* As signed numbers they are below all others. */
TEST(sessions_above_2_to_63_are_told_apart)
{
    static const char dump[] = "0xc800000000000001\t4000ms\n0x1\t4000ms\n"
                               "0xffffffffffffffff\t4000ms\n";
    static const char cons[] =
        " /10.1.2.3:5[1](queued=0,sid=0xc800000000000001,lop=PING,to=4000,x)\n"
        " /10.1.2.4:5[1](queued=0,sid=0x3,lop=PING,to=4000,x)\n";

    QUEUE(1, HIGH, HIGH + 1, 3);
    hear(LOCK, LOCK "/lock-0000000000\n\t0xc800000000000001\n" LOCK
                    "/lock-0000000002\n\t0xc800000000000002\n\t0x3\n");
    assert_wakes(1, ANSWER_YES);
    assert_wakes(2, ANSWER_NO);
    assert_wakes(3, ANSWER_YES);
    assert_true(servers_read(servers, SERVERS_DUMP, "zk1", dump, strlen(dump)));
    assert_true(servers_read(servers, SERVERS_CONS, "zk1", cons, strlen(cons)));
    assert_int_equal(servers_session_lives(servers, HIGH), ANSWER_YES);
    assert_int_equal(servers_session_lives(servers, -1), ANSWER_YES);
    assert_int_equal(servers_session_lives(servers, 1), ANSWER_YES);
    assert_int_equal(servers_session_lives(servers, HIGH + 1), ANSWER_NO);
    assert_string_equal(servers_client(servers, HIGH)->address, "10.1.2.3:5");
    assert_string_equal(servers_client(servers, 3)->address, "10.1.2.4:5");
}

static double cpu_s(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* All waiters are of one session, and each watches the one before it.
 * Regression: doctor went over all watches for each waiter, and over all
 * waiters for each watch: 9 s for 3,000. */
TEST(a_long_queue_costs_little)
{
    const struct doctor_opts opts = { .older_ms = 0 };
    static const char client[] = " /h:1[1](queued=0,sid=0x7,to=1000)\n";
    struct findings findings = { .count = 0 };
    struct scan scan = { .locks = &lock, .count = 1 };
    int64_t *sessions = calloc(MANY, sizeof(*sessions));
    char *text = malloc(MANY * 48);
    size_t used = 0;
    double began;

    assert_non_null(sessions);
    assert_non_null(text);
    for (size_t i = 0; i < MANY; i++) {
        sessions[i] = 7;
        used += (size_t)sprintf(text + used, LOCK "/lock-%010zu\n\t0x7\n", i);
    }
    queue(sessions, MANY);
    began = cpu_s();
    hear("", text);
    assert_true(
        servers_read(servers, SERVERS_CONS, "zk1", client, strlen(client)));
    doctor_examine(&scan, servers, &opts, &findings);
    assert_false(findings.failed);
    assert_int_equal(findings.count, 0);
    assert_true(cpu_s() - began < 20); /* 0.1 s; as it was, an hour */
    free(sessions);
    free(text);
}
