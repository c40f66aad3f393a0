/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the history out of transaction logs, on logs made by hand. */

#include <inttypes.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/lockctl.h"
#include "model/history.h"
#include "txn_file.h"
#include "unit.h"

static char dir[64];
static char path[128];
static FILE *file;
static struct wire_out out;

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
    history = (struct history){ .begun = false };
    said[0] = '\0';
    file = log_begin(in_dir("log.1"));
    return 0;
}

static int teardown(void)
{
    history_done(&history);
    txnlogs_done(&logs);
    return system(textf("rm -r %s", dir));
}

FIXTURE(setup, teardown)

/* --- what is told of it --- */

/* The number of the transaction of that time; 0: never. */
static int64_t number_of(int64_t ms)
{
    return ms == 0 ? 0 : (ms - txn_time(0)) / 1000;
}

/* "1:/l/#0 2 3 4 released": the session, since when it was in the queue, since
 * when it held, and when and how it ended; then what is not as usual. */
static void say_stay(struct stay *s, void *user)
{
    static const char *const endings[] = { "there",  "released", "deleted",
                                           "closed", "expired",  "gone",
                                           "unknown" };

    say("%s%" PRId64 ":%s/%s %" PRId64 " %" PRId64 " %" PRId64 " %s",
        said[0] == '\0' ? "" : "; ", s->node.session_id, s->lock, s->name,
        number_of(s->queued_ms), number_of(s->held_ms), number_of(s->ended_ms),
        endings[s->ending]);
    assert_int_equal(number_of(s->node.since_ms), s->node.token);
    if (s->ended_by != 0)
        say(" by %" PRId64, s->ended_by);
    if (s->asked_ms != 0)
        say(" asked %" PRId64 " by %" PRId64, number_of(s->asked_ms),
            s->asked_by);
    if (s->reason != NULL)
        say(" because %s", s->reason);
    if (s->node.token != number_of(s->queued_ms))
        say(" token %" PRId64, s->node.token);
    if (s->seen_ms != s->queued_ms)
        say(" seen %" PRId64, number_of(s->seen_ms));
    if (strcmp(s->node.data, "me") != 0)
        say(" \"%s\"", s->node.data);
    say("%s%s%s", s->held_before ? " before" : "", s->sure ? "" : " unsure",
        s->is_claim ? " claim" : "");
    stay_free(s);
}

static void say_gap(const struct gap *gap, void *user)
{
    say("%sgap %" PRId64 "-%" PRId64, said[0] == '\0' ? "" : "; ",
        gap->zxid_before, gap->zxid_after);
}

/* "| 1-9 known 1-2+ 9-9": from the first transaction to the last one; and when
 * all is known, with a '+' also behind that transaction. */
static void say_known(void)
{
    int64_t last = 2 * (txn_zxid < 100 ? txn_zxid : 100) + 2;
    bool before = false;

    say(" | %" PRId64 "-%" PRId64 " known", number_of(history.begin_ms),
        number_of(history.end_ms));
    for (int64_t half = 0; half <= last; half++) {
        bool knows = history_knows(&history, txn_time(0) + half * 500);

        if (knows && !before)
            say(" %" PRId64 "-", half / 2);
        if (!knows && before)
            say("%" PRId64 "%s", (half - 1) / 2, half % 2 == 0 ? "+" : "");
        before = knows;
    }
}

static void play_root(const char *chroot, const char *root)
{
    static const struct history_fns fns = { say_stay, say_gap, NULL };

    log_end(file);
    if (logs.logs.count == 0)
        assert_int_equal(txnlogs_add(&logs, dir), 0);
    history_init(&history, chroot, root, &fns);
    assert_int_equal(history_play(&history, &logs), 0);
    say_known();
    if (history_lacks_begin(&history))
        say(" lacks");
    if (history.pool)
        say(" pool");
    if (history.strange > 0)
        say(" strange %zu", history.strange);
    if (logs.notes.count > 0)
        say(" notes %zu", logs.notes.count);
}

static void play(void)
{
    play_root("", "/");
}

/* clang-format off */
static const struct row {
    const char *name, *script, *said;
} rows[] = {
    /* --- how a stay begins, and ends --- */

    { "a_lock_goes_from_one_to_the_next", "1+/l/#0;2+/l/#1;1-/l/#0;2-/l/#1",
      "1:/l/#0 1 1 3 released; 2:/l/#1 2 3 4 released | 1-4 known 1-4" },
    { "a_delete_by_another_session_breaks_the_lock", "1+/l/#0;7-/l/#0",
      "1:/l/#0 1 1 2 deleted by 7 | 1-2 known 1-2" },
    { "a_session_is_closed_or_expires", "1+/l/#0;2+/l/#1;3+/l/#2;1!/l/#0;2?",
      "1:/l/#0 1 1 4 closed; 2:/l/#1 2 4 5 expired; "
      "3:/l/#2 3 5 0 there | 1-5 known 1-5" },
    /* Of a session with nodes in many locks, each goes; others stay. */
    { "all_nodes_of_a_session_go_with_it",
      "1+/a/#0;2+/b/#0;3+/c/#0;1+/d/#0;2+/e/#0;1+/f/#0;1+/g/#0;1-/f/#0;1!",
      "1:/f/#0 6 6 8 released; 1:/d/#0 4 4 9 closed; 1:/g/#0 7 7 9 closed; "
      "1:/a/#0 1 1 9 closed; 2:/e/#0 5 5 0 there; 3:/c/#0 3 3 0 there; "
      "2:/b/#0 2 2 0 there | 1-9 known 1-9" },
    { "a_waiter_that_gives_up_has_not_held", "1+/l/#0;2+/l/#1;2-/l/#1",
      "2:/l/#1 2 0 3 released; 1:/l/#0 1 1 0 there | 1-3 known 1-3" },
    { "a_request_does_not_replace_the_owner", "1+/l/#0;5=/l/#0:__REVOKE__;1-/l/#0",
      "1:/l/#0 1 1 3 released asked 2 by 5 | 1-3 known 1-3" },
    { "a_request_may_have_a_reason",
      "1+/l/#0;5=/l/#0:__REVOKE__: why;1=/l/#0:me;6=/l/#0:__REVOKE__: no;1-/l/#0",
      "1:/l/#0 1 1 5 released asked 2 by 5 because why | 1-5 known 1-5" },
    /* Other data is what its owner says now, and the first request counts. */
    { "only_the_request_is_one",
      "1+/l/#0;5=/l/#0:__REVOKE__ ;5=/l/#0:__REVOKED_;6=/l/#0:__REVOKE__;"
      "7=/l/#0:__REVOKE__;1=/l/notes:__REVOKE__",
      "1:/l/#0 1 1 0 there asked 4 by 6 \"__REVOKED_\" | 1-6 known 1-6" },
    /* Servers since 3.6 list them. */
    { "each_node_that_a_session_leaves_is_read", "9?/l/#7,/m/#9;2+/n/#0",
      "9:/l/#7 0 1 1 expired seen 1 \"\" before unsure; "
      "9:/m/#9 0 1 1 expired seen 1 \"\" before unsure; "
      "2:/n/#0 2 2 0 there | 1-2 known lacks" },
    { "a_session_ends_with_all_that_it_has_in_a_lock", "1+/l/#0;1+/l/#1;2+/l/#2;1?",
      "1:/l/#1 2 0 4 expired; 1:/l/#0 1 1 4 expired; "
      "2:/l/#2 3 4 0 there | 1-4 known 1-4" },

    /* --- kinds of locks --- */

    { "readers_share_and_a_writer_waits_for_them", "1+/l/#r0;2+/l/#r1;3+/l/#w2;1-/l/#r0;2-/l/#r1",
      "1:/l/#r0 1 1 4 released; 2:/l/#r1 2 2 5 released; "
      "3:/l/#w2 3 5 0 there | 1-5 known 1-5" },
    /* The claim and the lease that it has led to are one stay. */
    { "a_lease_has_waited_in_the_queue",
      "1+/p/locks/#0;1+/p/leases/#l0;1-/p/locks/#0;1-/p/leases/#l0",
      "1:/p/locks/#0 1 0 3 released claim; "
      "1:/p/leases/#l0 1 3 4 released token 2 seen 2 | 1-4 known 1-4" },
    /* The session has a claim and a lease of other semaphores, and a second
     * claim, which gives up. */
    { "a_lease_has_waited_as_the_first_claim",
      "1+/p/locks/#0;1+/p/leases/#l0;1+/p/locks/#1;1+/q/leases/#l0;"
      "1-/p/locks/#0;1-/p/locks/#1",
      "1:/p/locks/#0 1 0 5 released claim; 1:/p/locks/#1 3 0 6 released; "
      "1:/q/leases/#l0 4 4 0 there; "
      "1:/p/leases/#l0 1 5 0 there token 2 seen 2 | 1-6 known 1-6" },
    /* Others may have had permits before the first number of the queue. */
    { "the_first_claim_is_not_the_first_permit",
      "1+/p/leases/#l7;2+/p/locks/#0;2+/p/leases/#l8;2-/p/locks/#0",
      "2:/p/locks/#0 2 0 4 released claim; "
      "2:/p/leases/#l8 2 4 0 there token 3 seen 3 unsure; "
      "1:/p/leases/#l7 1 1 0 there unsure | 1-4 known lacks" },
    /* It has a permit already, and its next claim gives up. */
    { "a_claim_that_gives_up_has_led_to_no_lease",
      "1+/p/leases/#l0;1+/p/locks/#0;1-/p/locks/#0;1+/p/locks/#1;"
      "7-/p/locks/#1", "1:/p/locks/#0 2 0 3 released; 1:/p/locks/#1 4 0 5 deleted by 7; "
      "1:/p/leases/#l0 1 1 0 there | 1-5 known 1-5" },
    { "a_lease_is_that_of_its_own_session",
      "1+/p/locks/#0;2+/p/locks/#1;2+/p/leases/#l0;1+/p/leases/#l1;"
      "2-/p/locks/#1;1-/p/locks/#0",
      "2:/p/locks/#1 2 0 5 released; 1:/p/locks/#0 1 0 6 released claim; "
      "1:/p/leases/#l1 1 6 0 there token 4 seen 4; "
      "2:/p/leases/#l0 3 3 0 there | 1-6 known 1-6" },
    { "a_later_claim_that_gives_up_has_led_to_no_lease",
      "1+/p/locks/#0;1+/p/leases/#l0;1+/p/locks/#1;1-/p/locks/#1;"
      "1-/p/locks/#0", "1:/p/locks/#1 3 0 4 released; 1:/p/locks/#0 1 0 5 released claim; "
      "1:/p/leases/#l0 1 5 0 there token 2 seen 2 | 1-5 known 1-5" },
    { "a_lease_is_not_that_of_an_earlier_permit",
      "1+/p/locks/#0;1+/p/locks/#1;1+/p/leases/#l0;1-/p/locks/#0;"
      "1+/p/leases/#l1;1-/p/locks/#1",
      "1:/p/locks/#0 1 0 4 released claim; 1:/p/locks/#1 2 0 6 released claim; "
      "1:/p/leases/#l1 2 6 0 there token 5 seen 5; "
      "1:/p/leases/#l0 1 5 0 there token 3 seen 3 | 1-6 known 1-6" },
    { "a_claim_that_is_broken_has_led_to_no_lease", "1+/p/locks/#0;1+/p/leases/#l0;7-/p/locks/#0",
      "1:/p/locks/#0 1 0 3 deleted by 7; 1:/p/leases/#l0 2 3 0 there | "
      "1-3 known 1-3" },
    { "a_lease_leads_to_no_other", "1+/p/leases/#l0;1+/p/locks/#0;1+/p/leases/#l1;1-/p/leases/#l0",
      "1:/p/leases/#l0 1 1 4 released; 1:/p/leases/#l1 3 0 0 there; "
      "1:/p/locks/#0 2 0 0 there | 1-4 known 1-4" },
    { "a_queue_goes_by_numbers_not_names", "1+/l/#5;2+/l/#w9;2-/l/#w9",
      "2:/l/#w9 2 0 3 released; 1:/l/#5 1 1 0 there unsure | 1-3 known lacks" },
    { "nodes_of_one_number_are_told_by_their_names", "1+/l/#r1;2+/l/#1;1-/l/#r1",
      "1:/l/#r1 1 1 3 released unsure; 2:/l/#1 2 3 0 there unsure | 1-3 known lacks" },
    { "who_holds_beside_the_queue_lets_others_hold",
      "1+/l/holder;2+/l/#r0;3+/l/#r1;1-/l/holder;1+/l/holder",
      "1:/l/holder 1 1 4 released unsure; 3:/l/#r1 3 3 0 there; "
      "2:/l/#r0 2 2 0 there; 1:/l/holder 5 5 0 there | 1-5 known lacks" },
    { "a_directory_named_locks_is_a_lock", "1+/locks/#0",
      "1:/locks/#0 1 1 0 there | 1-1 known 1-1" },
    { "other_nodes_are_no_contenders", "1+/l/member;1+/lock-x/y;1^/l/holder",
      " | 1-3 known lacks" },
    /* Regression: with its end each seemed to have held from the beginning. */
    { "nor_are_directories_that_go", "1^/l/lock-7;1-/l/lock-7;1^/l/holder;7-/l/holder;0_/l/lock-8",
      " | 1-5 known lacks" },
    { "nor_are_those_of_a_snapshot", "@80;*79 /l/lock-7:17:0;2+/m/#0;7-/l/lock-7",
      "2:/m/#0 80 80 0 there | 80-81 known 80-81" },

    /* --- what was there before --- */

    /* Regression: the waiter was taken for the holder. */
    { "a_waiter_behind_a_holder_from_before_does_not_hold", "2+/l/#8;1-/l/#7;2-/l/#8",
      "0:/l/#7 0 1 2 gone by 1 seen 1 \"\" before unsure; "
      "2:/l/#8 1 2 3 released unsure | 1-3 known lacks" },
    /* Its session is not known, so the one that deletes the node may be its own;
     * so it is with a node of no session. Regression: it had broken the lock. */
    { "a_release_of_a_lock_from_before_breaks_nothing", "2+/l/#8;1-/l/#7;3^/p/#0;4-/p/#0",
      "0:/l/#7 0 1 2 gone by 1 seen 1 \"\" before unsure; "
      "0:/p/#0 3 3 4 gone by 4 \"\"; "
      "2:/l/#8 1 2 0 there unsure | 1-4 known lacks" },
    { "the_end_of_a_session_tells_of_nodes_from_before", "2+/l/#8;1?/l/#7",
      "1:/l/#7 0 1 2 expired seen 1 \"\" before unsure; "
      "2:/l/#8 1 2 0 there unsure | 1-2 known lacks" },
    /* The last node was made while the snapshot was written. */
    { "a_snapshot_tells_what_was_there_before",
      "@80;*79 /l:16:0 /l/holder:16:0 /l/#7:17:1 /l/#8:80:2;2+/l/#8;1!/l/#7",
      "1:/l/#7 17 80 81 closed seen 80 \"him\" before; "
      "2:/l/#8 80 81 0 there | 80-81 known 80-81" },
    { "a_later_snapshot_tells_what_was_there_before",
      "@80;2+/l/#8;*80 /l:16:0 /l/#7:17:1 /l/#8:80:2;3+/l/#9",
      "3:/l/#9 81 0 0 there; 2:/l/#8 80 0 0 there; "
      "1:/l/#7 17 80 0 there seen 80 \"him\" before | 80-81 known 80-81" },
    { "a_snapshot_has_what_its_transaction_has_made", "@80;*79 /l/#7:79:1;2+/l/#8;1-/l/#7",
      "1:/l/#7 79 80 81 released seen 80 \"him\" before; "
      "2:/l/#8 80 81 0 there | 80-81 known 80-81" },
    { "a_node_with_a_time_to_live_is_of_no_session", "@80;*79 /l/#7:17:-72057594037926936;2+/l/#8",
      "2:/l/#8 80 0 0 there; "
      "0:/l/#7 17 80 0 there seen 80 \"him\" before | 80-80 known 80-80" },
    { "so_is_a_container", "@80;*79 /l/#7:17:-9223372036854775808;2+/l/#8", "2:/l/#8 80 0 0 there; "
      "0:/l/#7 17 80 0 there seen 80 \"him\" before | 80-80 known 80-80" },
    { "a_snapshot_of_long_before_tells_nothing", "@80;*50 /l/#7:17:1;2+/l/#8",
      "2:/l/#8 80 80 0 there unsure | 80-80 known lacks" },
    /* Servers write a snapshot while they go on. */
    { "what_is_later_than_a_snapshot_was_not_there_before",
      "@80;*79 /l/#3:82:2;1+/m/#0;1+/m/#1;2+/l/#3;*82 /l/#3:82:2",
      "2:/l/#3 82 82 0 there; 1:/m/#1 81 0 0 there; "
      "1:/m/#0 80 80 0 there | 80-82 known 80-82" },
    { "a_later_snapshot_does_not_tell_what_the_log_tells", "@80;1+/m/#0;2+/l/#3;*81 /l/#3:81:2",
      "2:/l/#3 81 81 0 there; 1:/m/#0 80 80 0 there | 80-81 known 80-81" },

    /* --- gaps --- */

    /* Regression: "nobody held" was said of all times at which nobody was seen. */
    { "only_times_of_the_log_are_known", "1+/l/#0;1-/l/#0",
      "1:/l/#0 1 1 2 released | 1-2 known 1-2" },
    /* Who came in the gap may be there behind it. */
    { "a_time_in_or_behind_a_gap_is_not_known",
      "1+/l/#0;1-/l/#0;1+/l/#1;@9;7-/l/member;7-/l/member",
      "1:/l/#0 1 1 2 released; 1:/l/#1 3 3 3 unknown; gap 3-9 | 1-10 known 1-2+" },
    { "a_time_behind_a_gap_is_known_from_a_snapshot", "1+/l/#0;*8 /l:1:0;@9;3+/m/#2",
      "1:/l/#0 1 1 1 unknown; gap 1-9; 3:/m/#2 9 9 0 there | 1-9 known 9-9" },
    /* Without a snapshot one from before may hold, who is not seen at all. */
    { "a_log_that_lacks_its_beginning_is_not_known", "1+/l/#7;1-/l/#7",
      "1:/l/#7 1 1 2 released unsure | 1-2 known lacks" },
    { "nothing_is_claimed_about_a_gap", "1+/l/#0;@9;2+/l/#4", "1:/l/#0 1 1 1 unknown; gap 1-9; "
      "2:/l/#4 9 9 0 there unsure | 1-9 known lacks" },
    /* Regression: a node that a snapshot behind the gap tells of had been there in
     * and before the gap, beside its own stay before that. */
    { "transactions_behind_a_gap_are_seen_from_its_end_on",
      "1+/l/#0;2+/l/#1;*8 /l/#1:2:2;@9;3+/l/#2",
      "2:/l/#1 2 0 2 unknown; 1:/l/#0 1 1 2 unknown; gap 2-9; "
      "3:/l/#2 9 0 0 there; "
      "2:/l/#1 2 9 0 there seen 9 \"him\" before | 1-9 known 1-1+ 9-9" },
    { "a_new_term_is_no_gap", "1+/l/#0;@12884901889;2+/l/#1", "2:/l/#1 12884901889 0 0 there; "
      "1:/l/#0 1 1 0 there | 1-12884901889 known 1-" },
    { "a_new_term_whose_first_is_missing_is_a_gap", "1+/l/#0;@12884901890;2+/l/#1",
      "1:/l/#0 1 1 1 unknown; gap 1-12884901890; "
      "2:/l/#1 12884901890 12884901890 0 there unsure | 1-12884901890 known lacks" },
};
/* clang-format on */

TEST_ROWS(history_is, rows, row)
{
    log_play(file, row->script);
    play();
    assert_said(row->said, txn_names);
}

TEST(who_holds_does_not_begin_again)
{
    struct stay *s = stay_new("/l", "lock-0000000007", "me", 2);

    assert_non_null(s);
    assert_int_equal(stay_held_for(s, 0), -1);
    assert_int_equal(stay_waited_for(s, 105), -1);
    s->queued_ms = 90;
    assert_int_equal(stay_waited_for(s, 105), 15);
    s->ended_ms = 96;
    assert_int_equal(stay_waited_for(s, 105), 6);
    s->ended_ms = 0;
    stay_hold(s, 100, false);
    stay_hold(s, 120, true);
    assert_int_equal(s->held_ms, 100);
    assert_false(s->held_before);
    assert_int_equal(stay_held_for(s, 105), 5);
    assert_int_equal(stay_held_for(s, 95), 0);
    assert_int_equal(stay_waited_for(s, 105), 10);
    s->held_before = true;
    assert_int_equal(stay_waited_for(s, 105), -1);
    stay_free(s);
}

#define POOL "/5a5bbc3873ea4b5a9f7396e8c4c6a436"

static const struct root_row {
    const char *name, *script, *chroot, *root, *said;
} roots[] = {
    { "only_what_is_below_the_root_counts",
      "1+/app/a/#0;1+/app/ab/#0;1+/bpp/a/#0;1+/app/a/b/#0;1+/app;1^/app/a" POOL
      ";1+/app/b" POOL,
      "/app", "/a",
      "1:/a/b/#0 4 4 0 there; 1:/a/#0 1 1 0 there | 1-7 known 1-7" },
    { "a_longer_name_is_not_the_chroot", "1+/app/a/#0;1+/apple/#0", "/app", "/",
      "1:/a/#0 1 1 0 there | 1-2 known 1-2" },
    { "a_pool_is_seen", "1+/app/a" POOL ";1+/app/a/#0", "/app", "/a",
      "1:/a/#0 2 2 0 there | 1-2 known 1-2 pool" },
    { "a_pool_of_before_is_seen", "*8 /a" POOL ":2:2;@9;3+/b/#0", "", "/a",
      " | 9-9 known 9-9 pool" },
};

TEST_ROWS(history_of, roots, row)
{
    log_play(file, row->script);
    play_root(row->chroot, row->root);
    assert_said(row->said, txn_names);
}

/* --- transactions --- */

/* Regression: the signal of the mapped file ended the tool without a word. */
TEST(a_file_that_is_cut_while_it_is_read_is_an_error)
{
    struct txnlog log;
    struct txn first;
    int status;

    log_play(file, "1+/a/#0");
    assert_int_equal(fflush(file), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (txnlog_open(&log, in_dir("log.1")) == 0 && truncate(path, 0) == 0)
            (void)txnlog_next(&log, &first);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EX_NOINPUT);
}

/* Also behind one that is not known. */
TEST(all_parts_of_a_multi_are_one_moment)
{
    static const char *const nodes[] = { "/new", "/a/lock-0000000000",
                                         "/b/lock-0000000000",
                                         "/b/lock-0000000001" };

    txn_begin(&out, 4, 1, TXN_MULTI);
    out_number(&out, COUNT(nodes), 4);
    for (size_t i = 0; i < COUNT(nodes); i++) {
        struct wire_out part = { .size = 0 };

        out_create(&part, nodes[i], "me", true);
        out_number(&out, i == 0 ? 99 : TXN_CREATE2, 4);
        out_number(&out, (int64_t)part.size, 4);
        out_bytes(&out, part.data, part.size);
    }
    log_put(file, &out);
    log_play(file, "4!");
    play();
    assert_has(said, "4:/a/lock-0000000000 1 1 2 closed");
    assert_has(said, "4:/b/lock-0000000000 1 1 2 closed");
    assert_has(said, "4:/b/lock-0000000001 1 0 2 closed");
    assert_int_equal(history.strange, 1);
}

TEST(unknown_transactions_are_counted)
{
    log_play(file, "1+/l/#0;1~/l");
    txn_begin(&out, 1, 1, TXN_DELETE);
    out_number(&out, 1000, 4); /* the path is longer than the record */
    log_put(file, &out);
    txn_begin(&out, 1, 1, TXN_DELETE);
    out_number(&out, sizeof("/l/lock-0000000000"), 4); /* with its NUL */
    out_bytes(&out, "/l/lock-0000000000", sizeof("/l/lock-0000000000"));
    log_put(file, &out);
    txn_begin(&out, 1, 1, TXN_ERROR);
    out_number(&out, -101, 4);
    log_put(file, &out);
    play();
    assert_said("1:/l/#0 1 1 0 there | 1-5 known 1-5 strange 3", txn_names);
}

/* Of each type that servers write. */
TEST(known_transactions_are_not_strange)
{
    static const int32_t creates[] = { TXN_CREATE, TXN_CREATE2,
                                       TXN_CREATE_CONTAINER, TXN_CREATE_TTL };
    static const int32_t others[] = {
        TXN_CREATE_SESSION, TXN_SET_ACL,          TXN_CHECK,
        TXN_DELETE,         TXN_DELETE_CONTAINER, TXN_RECONFIG
    };

    for (size_t i = 0; i < COUNT(creates); i++) {
        txn_begin(&out, 1, 1, creates[i]);
        out_create(&out, textf("/l/lock-000000000%d", (int)i), "me", false);
        log_put(file, &out);
    }
    txn_begin(&out, 1, 1, TXN_CREATE); /* without data, and ACLs */
    out_text(&out, "/m/lock-0000000000");
    out_number(&out, -1, 4);
    out_number(&out, 0, 4);
    out_number(&out, 0, 1);
    log_put(file, &out);
    for (size_t i = 0; i < COUNT(others); i++) {
        txn_begin(&out, 1, 1, others[i]);
        out_text(&out, textf("/l/lock-000000000%d", i == 4));
        out_text(&out, "what of it is not missing");
        log_put(file, &out);
    }
    play();
    assert_said("0:/l/#0 1 1 9 gone by 1; 0:/l/#1 2 9 10 gone by 1; "
                "0:/m/#0 5 5 0 there \"\"; 0:/l/#3 4 0 0 there; "
                "0:/l/#2 3 10 0 there | 1-11 known 1-11",
                txn_names);
}

/* --- files --- */

/* Only its checksum is wrong, so all of it was read; or it is cut; or the
 * length of a path is below zero. */
TEST(a_damaged_snapshot_is_not_believed)
{
    static char script[] = "@80;*79 /l/#6:17:1 /l/#7:18:1;2+/l/#8";

    for (int way = 0; way < 3; way++) {
        FILE *snapshot;

        log_play(file, script);
        if (way == 2) {
            snap_begin(&out);
            out_number(&out, -2, 4);
            snap_end(&out, in_dir("snapshot.4f"));
        }
        snapshot = fopen(in_dir("snapshot.4f"), "r+e");
        assert_non_null(snapshot);
        ok(fseek(snapshot, -6, SEEK_END));
        if (way == 0)
            assert_int_equal(fputc(0x55, snapshot), 0x55);
        if (way == 1)
            ok(ftruncate(fileno(snapshot), 100));
        ok(fclose(snapshot));
        play();
        assert_said("2:/l/#8 80 80 0 there unsure | 80-80 known lacks notes 1",
                    txn_names);
        ok(teardown());
        ok(setup());
    }
}

/* Such snapshots were once said to be none of the server. */
TEST(snapshots_are_read_in_their_order)
{
    static const char *const files[] = { "snapshot.52", "snapshot.4f",
                                         "log.1" };
    struct player nobody = { .txn = NULL };

    log_play(file, (char[]){ "@80;*82 /l/#7:17:1;*79 /l/#7:17:1;2+/l/#8" });
    assert_int_equal(fflush(file), 0);
    for (size_t i = 0; i < COUNT(files); i++) {
        /* alone they tell nothing, which is no error */
        assert_int_equal(txnlogs_play(&logs, &nobody), 0);
        assert_int_equal(txnlogs_add(&logs, in_dir(files[i])), 0);
    }
    play();
    assert_said("2:/l/#8 80 0 0 there; 1:/l/#7 17 80 0 there seen 80 \"him\" "
                "before | 80-80 known 80-80",
                txn_names);
}

TEST(a_compressed_snapshot_is_named_with_the_cause)
{
    static const char *const heads[][2] = {
        { "snapshot.4f.snappy", "\x82SNAPPY and more" },
        { "snapshot.4f.gz", "\x1f\x8b\x08\x08 and more" },
    };

    for (size_t i = 0; i < COUNT(heads); i++) {
        FILE *packed = fopen(in_dir(heads[i][0]), "we");

        assert_non_null(packed);
        assert_true(fputs(heads[i][1], packed) > 0);
        ok(fclose(packed));
    }
    log_play(file, "@80;1+/l/#8");
    play();
    assert_has(said, " lacks notes 2");
    assert_has(logs.notes.texts[0], "it is compressed");
    assert_has(logs.notes.texts[1], "it is compressed");
}

/* The log of another server has what is missing here. A file that was
 * given by its name may have any name. */
TEST(logs_of_several_servers_are_one)
{
    log_play(file, "1+/l/#0");
    log_end(file);
    file = log_begin(in_dir("a copy"));
    log_play(file, "@3;1-/l/#0");
    log_end(file);
    assert_int_equal(txnlogs_add(&logs, in_dir("a copy")), 0);
    assert_int_equal(mkdir(in_dir("other"), 0700), 0);
    assert_int_equal(mkdir(in_dir("other/version-2"), 0700), 0);
    file = log_begin(in_dir("other/version-2/log.1"));
    log_play(file, "@1;1+/l/#0;2+/l/#1");
    assert_int_equal(fflush(file), 0);
    assert_int_equal(txnlogs_add(&logs, dir), 0);
    assert_int_equal(txnlogs_add(&logs, in_dir("other")), 0);
    play();
    assert_said("1:/l/#0 1 1 3 released; 2:/l/#1 2 3 0 there | 1-3 known 1-3",
                txn_names);
}

TEST(a_file_ends_at_a_changed_byte)
{
    log_play(file, "1+/l/#0");
    long at = ftell(file);
    log_play(file, "2+/l/#1;3+/l/#2");
    assert_int_equal(fseek(file, at + 40, SEEK_SET), 0);
    assert_int_equal(fputc('x', file), 'x');
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    play();
    assert_said("1:/l/#0 1 1 0 there | 1-1 known 1-1 notes 1", txn_names);
    assert_has(logs.notes.texts[0], "it ends with a damaged record");
}

TEST(a_file_that_is_cut_ends_there)
{
    log_play(file, "1+/l/#0");
    long at = ftell(file);
    log_play(file, "2+/l/#1");
    assert_int_equal(fclose(file), 0);
    assert_int_equal(truncate(in_dir("log.1"), at + 40), 0);
    file = fopen(in_dir("log.9"), "we"); /* a server has just made it */
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    file = log_begin(in_dir("unused"));
    play();
    assert_said("1:/l/#0 1 1 0 there | 1-1 known 1-1 notes 1", txn_names);
}

TEST(other_files_are_refused)
{
    assert_int_equal(txnlogs_add(&logs, in_dir("missing")), EX_NOINPUT);
    assert_int_equal(mkdir(in_dir("empty"), 0700), 0);
    assert_int_equal(txnlogs_add(&logs, in_dir("empty")), EX_NOINPUT);
    assert_has(lockctl_failure()->message,
               "nor has its version-2 (--from takes the "
               "dataLogDir or dataDir of zoo.cfg)");
    log_end(file); /* a server has made no transaction yet */
    assert_int_equal(txnlogs_add(&logs, dir), 0);
    assert_int_equal(txnlogs_play(&logs, &(struct player){ .txn = NULL }),
                     EX_NOINPUT);
}
