/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the history out of transaction logs, on logs made by hand. */

#include <sys/stat.h>
#include <unistd.h>

#include "common/lockctl.h"
#include "model/history.h"
#include "texts.h"
#include "txn_file.h"
#include "unit.h"

/* The end of a session that the client asked for, and of one that expired. */
enum { ASKED = 9, EXPIRED = 0 };

static char dir[64];
static char path[128];
static FILE *file;
static struct wire_out out;
static int64_t zxid; /* of the next transaction */

static struct stay *stays[64];
static size_t stay_count;
static struct gap gaps[8];
static size_t gap_count;
static struct history history;
static struct txnlogs logs;

static const char *in_dir(const char *name)
{
    PRINT(path, "%s/%s", dir, name);
    return path;
}

static int setup(void)
{
    (void)strcpy(dir, "/tmp/zkrecipes-history-XXXXXX");
    assert_non_null(mkdtemp(dir));
    logs = (struct txnlogs){ .notes = { NULL, 0 } };
    stay_count = gap_count = 0;
    history = (struct history){ .begun = false };
    file = log_begin(in_dir("log.1"));
    zxid = 1;
    return 0;
}

static int teardown(void)
{
    char command[128];

    for (size_t i = 0; i < stay_count; i++)
        stay_free(stays[i]);
    history_done(&history);
    txnlogs_done(&logs);
    PRINT(command, "rm -r %s", dir);
    return system(command);
}

FIXTURE(setup, teardown)

/* The time of a transaction is a second for each number. */
static int64_t time_of(int64_t number)
{
    return 1000000000000 + number * 1000;
}

static void txn(int64_t session, int32_t cxid, int32_t type)
{
    out_txn(&out, session, cxid, zxid, time_of(zxid), type);
    zxid++;
}

static void create(int64_t session, const char *node)
{
    txn(session, 1, TXN_CREATE);
    out_create(&out, node, "me", true);
    log_put(file, &out);
}

static void delete_node(int64_t session, const char *node)
{
    txn(session, 1, TXN_DELETE);
    out_text(&out, node);
    log_put(file, &out);
}

static void set_data(int64_t session, const char *node, const char *data)
{
    txn(session, 1, TXN_SET_DATA);
    out_text(&out, node);
    out_text(&out, data);
    out_number(&out, 1, 4);
    log_put(file, &out);
}

/* `nodes` is the list of servers since 3.6; NULL: an older one wrote it. */
static void close_session(int64_t session, int32_t cxid, const char *node)
{
    txn(session, cxid, TXN_CLOSE_SESSION);
    if (node != NULL) {
        out_number(&out, 1, 4);
        out_text(&out, node);
    }
    log_put(file, &out);
}

static void take_stay(struct stay *stay, void *user)
{
    (void)user;
    assert_true(stay_count < 64);
    stays[stay_count++] = stay;
}

static void take_gap(const struct gap *gap, void *user)
{
    (void)user;
    assert_true(gap_count < 8);
    gaps[gap_count++] = *gap;
}

static void play_root(const char *chroot, const char *root)
{
    static const struct history_fns fns = { take_stay, take_gap, NULL };

    log_end(file);
    if (logs.logs.count == 0)
        assert_int_equal(txnlogs_add(&logs, dir), 0);
    assert_true(history_init(&history, chroot, root, &fns));
    assert_int_equal(history_play(&history, &logs), 0);
}

static void play(void)
{
    play_root("", "/");
}

static const struct stay *stay_at(const char *name)
{
    for (size_t i = 0; i < stay_count; i++) {
        if (strcmp(stays[i]->name, name) == 0)
            return stays[i];
    }
    fail_msg("there is no stay of %s", name);
    return NULL;
}

/* Numbers of transactions; 0: never. */
static void assert_stay(const char *name, int64_t queued, int64_t held,
                        int64_t ended, enum ending ending)
{
    const struct stay *s = stay_at(name);

    assert_int_equal(s->queued_ms, queued == 0 ? 0 : time_of(queued));
    assert_int_equal(s->held_ms, held == 0 ? 0 : time_of(held));
    assert_int_equal(s->ended_ms, ended == 0 ? 0 : time_of(ended));
    assert_int_equal(s->ending, ending);
}

/* --- how a stay begins, and ends --- */

TEST(who_holds_does_not_begin_again)
{
    struct stay *s = stay_new("/l", "lock-0000000007", "me", 2);

    assert_non_null(s);
    stay_hold(s, 100, false);
    stay_hold(s, 120, true);
    assert_int_equal(s->held_ms, 100);
    assert_false(s->held_before);
    stay_free(s);
}

TEST(a_lock_goes_from_one_to_the_next)
{
    create(1, "/l/lock-0000000000");
    create(2, "/l/lock-0000000001");
    delete_node(1, "/l/lock-0000000000");
    delete_node(2, "/l/lock-0000000001");
    play();
    assert_int_equal(stay_count, 2);
    assert_stay("lock-0000000000", 1, 1, 3, ENDING_RELEASED);
    assert_stay("lock-0000000001", 2, 3, 4, ENDING_RELEASED);
    assert_string_equal(stays[0]->lock, "/l");
    assert_int_equal(stays[0]->node.token, 1);
    assert_int_equal(stays[0]->node.session_id, 1);
    assert_true(stays[0]->sure);
    assert_int_equal(stay_held_for(stays[1], 0), 1000);
    assert_int_equal(stay_waited_for(stays[1], 0), 1000);
    assert_false(history_lacks_begin(&history));
}

TEST(a_delete_by_another_session_breaks_the_lock)
{
    create(1, "/l/lock-0000000000");
    delete_node(7, "/l/lock-0000000000");
    play();
    assert_stay("lock-0000000000", 1, 1, 2, ENDING_DELETED);
    assert_int_equal(stays[0]->ended_by, 7);
}

TEST(a_session_is_closed_or_expires)
{
    create(1, "/l/lock-0000000000");
    create(2, "/l/lock-0000000001");
    create(3, "/l/lock-0000000002");
    close_session(1, ASKED, "/l/lock-0000000000");
    close_session(2, EXPIRED, NULL);
    play();
    assert_stay("lock-0000000000", 1, 1, 4, ENDING_CLOSED);
    assert_stay("lock-0000000001", 2, 4, 5, ENDING_EXPIRED);
    assert_stay("lock-0000000002", 3, 5, 0, ENDING_NONE);
}

/* Of a session with nodes in many locks, each goes; others stay. */
TEST(all_nodes_of_a_session_go_with_it)
{
    char node[64];

    for (int i = 0; i < 20; i++) {
        PRINT(node, "/l%d/lock-%010d", i, 0);
        create(1 + i % 3, node);
    }
    delete_node(1, "/l3/lock-0000000000");
    close_session(1, ASKED, NULL);
    play();
    assert_int_equal(stay_count, 20);
    for (size_t i = 0; i < stay_count; i++)
        assert_int_equal(stays[i]->ended_ms != 0,
                         stays[i]->node.session_id == 1);
}

TEST(a_waiter_that_gives_up_has_not_held)
{
    create(1, "/l/lock-0000000000");
    create(2, "/l/lock-0000000001");
    delete_node(2, "/l/lock-0000000001");
    play();
    assert_stay("lock-0000000001", 2, 0, 3, ENDING_RELEASED);
    assert_int_equal(stay_held_for(stay_at("lock-0000000001"), 0), -1);
}

TEST(a_request_does_not_replace_the_owner)
{
    create(1, "/l/lock-0000000000");
    set_data(5, "/l/lock-0000000000", "__REVOKE__");
    delete_node(1, "/l/lock-0000000000");
    play();
    assert_stay("lock-0000000000", 1, 1, 3, ENDING_RELEASED);
    assert_int_equal(stays[0]->asked_ms, time_of(2));
    assert_int_equal(stays[0]->asked_by, 5);
    assert_string_equal(stays[0]->node.data, "me");
}

/* Other data is what its owner says now, and the first request counts. */
TEST(only_the_request_is_one)
{
    create(1, "/l/lock-0000000000");
    set_data(5, "/l/lock-0000000000", "__REVOKE__ ");
    set_data(5, "/l/lock-0000000000", "__REVOKED_");
    set_data(6, "/l/lock-0000000000", "__REVOKE__");
    set_data(7, "/l/lock-0000000000", "__REVOKE__");
    set_data(1, "/l/notes", "__REVOKE__");
    play();
    assert_string_equal(stay_at("lock-0000000000")->node.data, "__REVOKED_");
    assert_int_equal(stays[0]->asked_ms, time_of(4));
    assert_int_equal(stays[0]->asked_by, 6);
    assert_int_equal(history.strange, 0);
}

/* Servers since 3.6 list them, and a node has several entries in its ACL. */
TEST(each_node_that_a_session_leaves_is_read)
{
    txn(9, EXPIRED, TXN_CLOSE_SESSION);
    out_number(&out, 2, 4);
    out_text(&out, "/l/lock-0000000007");
    out_text(&out, "/m/lock-0000000009");
    log_put(file, &out);
    txn(2, 1, TXN_CREATE2);
    out_text(&out, "/n/lock-0000000000");
    out_text(&out, "me");
    out_number(&out, 2, 4);
    for (int i = 0; i < 2; i++) {
        out_number(&out, 31, 4);
        out_text(&out, "digest");
        out_text(&out, "a:b");
    }
    out_number(&out, 1, 1);
    out_number(&out, 1, 4);
    log_put(file, &out);
    play();
    assert_int_equal(stay_count, 3);
    assert_stay("lock-0000000007", 0, 1, 1, ENDING_EXPIRED);
    assert_stay("lock-0000000009", 0, 1, 1, ENDING_EXPIRED);
    assert_stay("lock-0000000000", 2, 2, 0, ENDING_NONE);
    assert_int_equal(stay_at("lock-0000000000")->node.session_id, 2);
    assert_int_equal(history.strange, 0);
}

/* --- kinds of locks --- */

TEST(readers_share_and_a_writer_waits_for_them)
{
    create(1, "/l/_c_a-__READ__0000000000");
    create(2, "/l/_c_b-__READ__0000000001");
    create(3, "/l/_c_c-__WRIT__0000000002");
    delete_node(1, "/l/_c_a-__READ__0000000000");
    delete_node(2, "/l/_c_b-__READ__0000000001");
    play();
    assert_stay("_c_b-__READ__0000000001", 2, 2, 5, ENDING_RELEASED);
    assert_stay("_c_c-__WRIT__0000000002", 3, 5, 0, ENDING_NONE);
}

/* The claim and the lease that it has led to are one stay. */
TEST(a_lease_has_waited_in_the_queue)
{
    create(1, "/p/locks/lock-0000000000");
    create(1, "/p/leases/lease-0000000000");
    delete_node(1, "/p/locks/lock-0000000000");
    delete_node(1, "/p/leases/lease-0000000000");
    play();
    assert_string_equal(stays[0]->lock, "/p");
    assert_stay("leases/lease-0000000000", 1, 3, 4, ENDING_RELEASED);
    assert_true(stay_at("locks/lock-0000000000")->is_claim);
}

/* The session has a claim and a lease of other semaphores, and a second claim,
 * which gives up. */
TEST(a_lease_has_waited_as_the_first_claim)
{
    create(1, "/p/locks/lock-0000000000");
    create(1, "/p/leases/lease-0000000000");
    create(1, "/p/locks/lock-0000000001");
    create(1, "/q/leases/lease-0000000000");
    delete_node(1, "/p/locks/lock-0000000000");
    delete_node(1, "/p/locks/lock-0000000001");
    play();
    assert_stay("locks/lock-0000000000", 1, 0, 5, ENDING_RELEASED);
    assert_true(stay_at("locks/lock-0000000000")->is_claim);
    for (size_t i = 0; i < stay_count; i++) {
        if (strcmp(stays[i]->name, "leases/lease-0000000000") == 0)
            assert_int_equal(stays[i]->queued_ms,
                             time_of(stays[i]->lock[1] == 'p' ? 1 : 4));
    }
}

/* Others may have had permits before the first number of the queue. */
TEST(the_first_claim_is_not_the_first_permit)
{
    create(1, "/p/leases/lease-0000000007");
    create(2, "/p/locks/lock-0000000000");
    create(2, "/p/leases/lease-0000000008");
    delete_node(2, "/p/locks/lock-0000000000");
    play();
    assert_false(stay_at("leases/lease-0000000008")->sure);
    assert_int_equal(stay_at("leases/lease-0000000008")->queued_ms, time_of(2));
}

/* It has a permit already, and its next claim gives up. */
TEST(a_claim_that_gives_up_has_led_to_no_lease)
{
    create(1, "/p/leases/lease-0000000000");
    create(1, "/p/locks/lock-0000000000");
    delete_node(1, "/p/locks/lock-0000000000");
    create(1, "/p/locks/lock-0000000001");
    delete_node(7, "/p/locks/lock-0000000001");
    play();
    assert_stay("leases/lease-0000000000", 1, 1, 0, ENDING_NONE);
    assert_false(stay_at("locks/lock-0000000000")->is_claim);
    assert_false(stay_at("locks/lock-0000000001")->is_claim);
}

TEST(a_session_ends_with_all_that_it_has_in_a_lock)
{
    create(1, "/l/lock-0000000000");
    create(1, "/l/lock-0000000001");
    create(2, "/l/lock-0000000002");
    close_session(1, EXPIRED, NULL);
    play();
    assert_stay("lock-0000000001", 2, 0, 4, ENDING_EXPIRED);
    assert_stay("lock-0000000002", 3, 4, 0, ENDING_NONE);
}

TEST(a_directory_named_locks_is_a_lock)
{
    create(1, "/locks/lock-0000000000");
    play();
    assert_string_equal(stays[0]->lock, "/locks");
    assert_stay("lock-0000000000", 1, 1, 0, ENDING_NONE);
}

TEST(other_nodes_are_no_contenders)
{
    create(1, "/l/member");
    create(1, "/lock-x/y");
    txn(1, 1, TXN_CREATE);
    out_create(&out, "/l/holder", "", false);
    log_put(file, &out);
    play();
    assert_int_equal(stay_count, 0);
}

TEST(only_what_is_below_the_root_counts)
{
    create(1, "/app/a/lock-0000000000");
    create(1, "/app/ab/lock-0000000000");
    create(1, "/application/a/lock-0000000000");
    create(1, "/app/a/b/lock-0000000000");
    play_root("/app", "/a");
    assert_int_equal(stay_count, 2);
    assert_true(strcmp(stays[0]->lock, "/a") == 0 ||
                strcmp(stays[0]->lock, "/a/b") == 0);
}

/* --- transactions --- */

TEST(all_parts_of_a_multi_are_one_moment)
{
    static const char *const nodes[] = { "/a/lock-0000000000",
                                         "/b/lock-0000000000" };

    txn(4, 1, TXN_MULTI);
    out_number(&out, 2, 4);
    for (int i = 0; i < 2; i++) {
        struct wire_out part = { .size = 0 };

        out_create(&part, nodes[i], "", true);
        out_number(&out, TXN_CREATE2, 4);
        out_number(&out, (int64_t)part.size, 4);
        out_bytes(&out, part.data, part.size);
    }
    log_put(file, &out);
    play();
    assert_int_equal(stay_count, 2);
    assert_int_equal(stays[0]->held_ms, time_of(1));
    assert_int_equal(stays[1]->held_ms, time_of(1));
}

TEST(unknown_transactions_are_counted)
{
    create(1, "/l/lock-0000000000");
    txn(1, 1, 99);
    log_put(file, &out);
    txn(1, 1, TXN_DELETE);
    out_number(&out, 1000, 4); /* the path is longer than the record */
    log_put(file, &out);
    txn(1, 1, TXN_ERROR);
    out_number(&out, -101, 4);
    log_put(file, &out);
    play();
    assert_int_equal(history.strange, 2);
    assert_stay("lock-0000000000", 1, 1, 0, ENDING_NONE);
}

/* --- what was there before --- */

/* It was once taken for the holder, who was waiting for one from before. */
TEST(a_waiter_behind_a_holder_from_before_does_not_hold)
{
    create(2, "/l/lock-0000000008");
    delete_node(1, "/l/lock-0000000007");
    delete_node(2, "/l/lock-0000000008");
    play();
    assert_stay("lock-0000000007", 0, 1, 2, ENDING_GONE);
    assert_true(stay_at("lock-0000000007")->held_before);
    assert_stay("lock-0000000008", 1, 2, 3, ENDING_RELEASED);
    assert_false(stay_at("lock-0000000008")->sure);
    assert_true(history_lacks_begin(&history));
}

/* Its session is not known, so the one that deletes the node may be its own. It
 * was once said to have broken the lock. */
TEST(a_release_of_a_lock_from_before_breaks_nothing)
{
    create(2, "/l/lock-0000000008");
    delete_node(1, "/l/lock-0000000007");
    txn(3, 1, TXN_CREATE); /* a node of no session */
    out_create(&out, "/p/lock-0000000000", "", false);
    log_put(file, &out);
    delete_node(4, "/p/lock-0000000000");
    play();
    assert_int_equal(stay_at("lock-0000000007")->ending, ENDING_GONE);
    assert_int_equal(stay_at("lock-0000000007")->ended_by, 1);
    assert_stay("lock-0000000000", 3, 3, 4, ENDING_GONE);
    assert_int_equal(stay_at("lock-0000000000")->ended_by, 4);
}

TEST(the_end_of_a_session_tells_of_nodes_from_before)
{
    create(2, "/l/lock-0000000008");
    close_session(1, EXPIRED, "/l/lock-0000000007");
    play();
    assert_stay("lock-0000000007", 0, 1, 2, ENDING_EXPIRED);
    assert_stay("lock-0000000008", 1, 2, 0, ENDING_NONE);
}

TEST(a_snapshot_tells_what_was_there_before)
{
    zxid = 0x50;
    snap_begin(&out);
    snap_node(&out, "/l", "", 0x10, time_of(0x10), 0);
    snap_node(&out, "/l/lock-0000000007", "him", 0x11, time_of(0x11), 1);
    /* made while the snapshot was written */
    snap_node(&out, "/l/lock-0000000008", "me", 0x50, time_of(0x50), 2);
    snap_end(&out, in_dir("snapshot.4f"));
    create(2, "/l/lock-0000000008");
    close_session(1, ASKED, "/l/lock-0000000007");
    play();
    assert_stay("lock-0000000007", 0x11, 0x50, 0x51, ENDING_CLOSED);
    assert_true(stay_at("lock-0000000007")->held_before);
    assert_int_equal(stay_waited_for(stay_at("lock-0000000007"), 0), -1);
    assert_string_equal(stay_at("lock-0000000007")->node.data, "him");
    assert_int_equal(stay_at("lock-0000000007")->node.token, 0x11);
    assert_stay("lock-0000000008", 0x50, 0x51, 0, ENDING_NONE);
    assert_true(stay_at("lock-0000000008")->sure);
    assert_false(history_lacks_begin(&history));
}

TEST(a_later_snapshot_tells_what_was_there_before)
{
    zxid = 0x50;
    create(2, "/l/lock-0000000008");
    snap_begin(&out);
    snap_node(&out, "/l", "", 0x10, time_of(0x10), 0);
    snap_node(&out, "/l/lock-0000000007", "him", 0x11, time_of(0x11), 1);
    snap_node(&out, "/l/lock-0000000008", "me", 0x50, time_of(0x50), 2);
    snap_end(&out, in_dir("snapshot.50"));
    create(3, "/l/lock-0000000009");
    play();
    assert_int_equal(stay_count, 3);
    assert_stay("lock-0000000007", 0x11, 0x50, 0, ENDING_NONE);
    assert_stay("lock-0000000008", 0x50, 0, 0, ENDING_NONE);
}

/* Servers write a snapshot while they go on. */
TEST(what_is_later_than_a_snapshot_was_not_there_before)
{
    zxid = 0x50;
    snap_begin(&out);
    snap_node(&out, "/l/lock-0000000003", "me", 0x52, time_of(0x52), 2);
    snap_end(&out, in_dir("snapshot.4f"));
    create(1, "/m/lock-0000000000");
    create(1, "/m/lock-0000000001");
    create(2, "/l/lock-0000000003");
    snap_begin(&out);
    snap_node(&out, "/l/lock-0000000003", "me", 0x52, time_of(0x52), 2);
    snap_end(&out, in_dir("snapshot.52"));
    play();
    assert_int_equal(stay_count, 3);
    assert_stay("lock-0000000003", 0x52, 0x52, 0, ENDING_NONE);
    assert_int_equal(stay_at("lock-0000000003")->seen_ms, time_of(0x52));
    assert_false(stay_at("lock-0000000003")->held_before);
}

TEST(a_later_snapshot_does_not_tell_what_the_log_tells)
{
    zxid = 0x50;
    create(1, "/m/lock-0000000000");
    create(2, "/l/lock-0000000003");
    snap_begin(&out);
    snap_node(&out, "/l/lock-0000000003", "me", 0x51, time_of(0x51), 2);
    snap_end(&out, in_dir("snapshot.51"));
    play();
    assert_int_equal(stay_count, 2);
    assert_stay("lock-0000000003", 0x51, 0x51, 0, ENDING_NONE);
    assert_int_equal(history.begin_ms, time_of(0x50));
    assert_int_equal(history.end_ms, time_of(0x51));
    assert_int_equal(history.present.contenders, 2);
}

/* Only its checksum is wrong, so all of it was read. */
TEST(a_snapshot_with_a_wrong_sum_is_not_believed)
{
    FILE *snapshot;

    zxid = 0x50;
    snap_begin(&out);
    snap_node(&out, "/l/lock-0000000006", "him", 0x11, time_of(0x11), 1);
    snap_node(&out, "/l/lock-0000000007", "him", 0x12, time_of(0x12), 1);
    snap_end(&out, in_dir("snapshot.4f"));
    snapshot = fopen(in_dir("snapshot.4f"), "r+e");
    assert_non_null(snapshot);
    assert_ok(fseek(snapshot, (long)out.size - 6, SEEK_SET));
    assert_int_equal(fputc(0x55, snapshot), 0x55);
    assert_ok(fclose(snapshot));
    create(2, "/l/lock-0000000008");
    play();
    assert_int_equal(stay_count, 1);
    assert_stay("lock-0000000008", 0x50, 0x50, 0, ENDING_NONE);
    assert_int_equal(logs.notes.count, 1);
}

TEST(a_damaged_snapshot_is_not_believed)
{
    zxid = 0x50;
    snap_begin(&out);
    snap_node(&out, "/l/lock-0000000007", "him", 0x11, time_of(0x11), 1);
    out.data[out.size - 1] ^= 1;
    snap_end(&out, in_dir("snapshot.4f"));
    assert_int_equal(truncate(in_dir("snapshot.4f"), (off_t)out.size - 20), 0);
    create(2, "/l/lock-0000000008");
    play();
    assert_int_equal(stay_count, 1);
    assert_stay("lock-0000000008", 0x50, 0x50, 0, ENDING_NONE);
    assert_int_equal(logs.notes.count, 1);
    assert_true(history_lacks_begin(&history));
}

/* --- files --- */

/* "Nobody held" was said of all times at which nobody was seen. */
TEST(only_times_of_the_log_are_known)
{
    create(1, "/l/lock-0000000000");
    delete_node(1, "/l/lock-0000000000");
    play();
    assert_false(segments_know(&history.present.segments, time_of(1) - 1));
    assert_true(segments_know(&history.present.segments, time_of(1)));
    assert_true(segments_know(&history.present.segments, time_of(2)));
    assert_false(segments_know(&history.present.segments, time_of(2) + 1));
}

/* In a gap nothing is known. Nor is it behind one: who came in it may be
 * there. */
TEST(a_time_in_or_behind_a_gap_is_not_known)
{
    create(1, "/l/lock-0000000000");
    delete_node(1, "/l/lock-0000000000");
    create(1, "/l/lock-0000000001");
    zxid = 9;
    delete_node(7, "/l/member");
    delete_node(7, "/l/member");
    play();
    assert_int_equal(gap_count, 1);
    assert_true(segments_know(&history.present.segments, time_of(2)));
    assert_false(segments_know(&history.present.segments, time_of(3)));
    assert_false(segments_know(&history.present.segments, time_of(5)));
    assert_false(segments_know(&history.present.segments, time_of(9)));
}

TEST(a_time_behind_a_gap_is_known_from_a_snapshot)
{
    create(1, "/l/lock-0000000000");
    snap_begin(&out);
    snap_node(&out, "/l", "", 1, time_of(1), 0);
    snap_end(&out, in_dir("snapshot.8"));
    zxid = 9;
    create(3, "/m/lock-0000000002");
    play();
    assert_false(segments_know(&history.present.segments, time_of(8)));
    assert_true(segments_know(&history.present.segments, time_of(9)));
}

/* Without a snapshot one from before may hold, who is not seen at all. */
TEST(a_log_that_lacks_its_beginning_is_not_known)
{
    create(1, "/l/lock-0000000007");
    delete_node(1, "/l/lock-0000000007");
    play();
    assert_true(history_lacks_begin(&history));
    assert_false(segments_know(&history.present.segments, time_of(2)));
}

TEST(nothing_is_claimed_about_a_gap)
{
    create(1, "/l/lock-0000000000");
    zxid = 9;
    create(2, "/l/lock-0000000004");
    play();
    assert_int_equal(gap_count, 1);
    assert_int_equal(gaps[0].zxid_before, 1);
    assert_int_equal(gaps[0].zxid_after, 9);
    assert_stay("lock-0000000000", 1, 1, 1, ENDING_UNKNOWN);
    assert_stay("lock-0000000004", 9, 9, 0, ENDING_NONE);
    assert_false(stay_at("lock-0000000004")->sure);
}

/* A node that a snapshot behind the gap tells of was claimed to have been there
 * in and before the gap, beside its own stay before that. */
TEST(transactions_behind_a_gap_are_seen_from_its_end_on)
{
    create(1, "/l/lock-0000000000");
    create(2, "/l/lock-0000000001");
    snap_begin(&out);
    snap_node(&out, "/l/lock-0000000001", "me", 2, time_of(2), 2);
    snap_end(&out, in_dir("snapshot.8"));
    zxid = 9;
    create(3, "/l/lock-0000000002");
    play();
    assert_int_equal(stay_count, 4);
    for (size_t i = 0; i < stay_count; i++) {
        if (stays[i]->ending == ENDING_NONE)
            assert_int_equal(stays[i]->seen_ms, time_of(9));
        else
            assert_int_equal(stays[i]->seen_ms, stays[i]->queued_ms);
    }
}

TEST(a_new_term_is_no_gap)
{
    create(1, "/l/lock-0000000000");
    zxid = (3LL << 32) + 1;
    create(2, "/l/lock-0000000001");
    play();
    assert_int_equal(gap_count, 0);
    assert_stay("lock-0000000000", 1, 1, 0, ENDING_NONE);
}

/* The log of another server has what is missing here. */
TEST(logs_of_several_servers_are_one)
{
    char other[128];

    create(1, "/l/lock-0000000000");
    zxid = 3;
    delete_node(1, "/l/lock-0000000000");
    log_end(file);
    (void)strcpy(other, in_dir("other"));
    assert_int_equal(mkdir(other, 0700), 0);
    (void)strcpy(other, in_dir("other/version-2"));
    assert_int_equal(mkdir(other, 0700), 0);
    file = log_begin(in_dir("other/version-2/log.1"));
    zxid = 1;
    create(1, "/l/lock-0000000000");
    create(2, "/l/lock-0000000001");
    assert_int_equal(fflush(file), 0);
    assert_int_equal(txnlogs_add(&logs, dir), 0);
    assert_int_equal(txnlogs_add(&logs, in_dir("other")), 0);
    play();
    assert_int_equal(gap_count, 0);
    assert_int_equal(stay_count, 2);
    assert_stay("lock-0000000000", 1, 1, 3, ENDING_RELEASED);
    assert_stay("lock-0000000001", 2, 3, 0, ENDING_NONE);
}

static void put_torn(size_t size)
{
    struct wire_out torn = { .size = 0 };

    out_number(&torn, 1234, 8);
    out_number(&torn, 64, 4);
    out_bytes(&torn, "a record whose end is missing", 29);
    assert_int_equal(fwrite(torn.data, 1, size, file), size);
}

/* A server whose disk was full writes on behind a torn record. */
TEST(records_behind_a_torn_one_are_read)
{
    create(1, "/l/lock-0000000000");
    put_torn(30);
    create(2, "/l/lock-0000000001");
    play();
    assert_int_equal(stay_count, 2);
    assert_int_equal(gap_count, 0);
    assert_int_equal(logs.notes.count, 1);
    assert_has(logs.notes.texts[0], "damaged record at byte");
}

/* Each of these twelve bytes may begin a record that ends with a 'B', and all
 * of it was read for each. */
TEST(a_search_behind_a_torn_record_ends)
{
    static char body[1 << 20];

    create(1, "/l/lock-0000000000");
    memset(body, 'B', sizeof(body));
    for (int i = 0; i < 20000; i++) {
        struct wire_out head = { .size = 0 };

        out_number(&head, 5, 8);
        out_number(&head, sizeof(body) / 2, 4);
        assert_int_equal(fwrite(head.data, head.size, 1, file), 1);
    }
    assert_int_equal(fwrite(body, sizeof(body), 1, file), 1);
    play();
    assert_int_equal(stay_count, 1);
}

TEST(a_changed_byte_is_a_gap)
{
    long at;

    create(1, "/l/lock-0000000000");
    at = ftell(file);
    create(2, "/l/lock-0000000001");
    create(3, "/l/lock-0000000002");
    assert_int_equal(fseek(file, at + 40, SEEK_SET), 0);
    assert_int_equal(fputc('x', file), 'x');
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    play();
    assert_int_equal(gap_count, 1);
    assert_int_equal(stay_count, 2);
}

TEST(a_file_that_is_cut_ends_there)
{
    long at;

    create(1, "/l/lock-0000000000");
    at = ftell(file);
    create(2, "/l/lock-0000000001");
    assert_int_equal(fclose(file), 0);
    assert_int_equal(truncate(in_dir("log.1"), at + 40), 0);
    file = fopen(in_dir("log.9"), "we"); /* a server has just made it */
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    file = log_begin(in_dir("unused"));
    play();
    assert_int_equal(stay_count, 1);
}

TEST(other_files_are_refused)
{
    assert_int_equal(txnlogs_add(&logs, in_dir("missing")), EX_NOINPUT);
    assert_int_equal(mkdir(in_dir("empty"), 0700), 0);
    assert_int_equal(txnlogs_add(&logs, in_dir("empty")), EX_NOINPUT);
    assert_has(lockctl_failure()->message,
               "nor has its version-2 (--from takes the "
               "dataLogDir or dataDir of zoo.cfg)");
    log_end(file);
}
