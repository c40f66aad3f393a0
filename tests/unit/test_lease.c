/* Tests of the lease: what three requests prove, and what fewer do not. */
#include "lease.h"
#include "unit.h"

/* T = 12 s, so G = 3 s, a beat every 2 s; no margin. Times in seconds. */
#define S     INT64_C(1000000000)
#define T     (12 * S)
#define T_LOW (T - T / 1000) /* clocks may differ by 0.1 % */

static struct zkr__lease lease;

static int setup(void **state)
{
    (void)state;
    zkr__lease_reset(&lease, 0, 0);
    zkr__lease_set_timeout(&lease, T);
    return 0;
}

static void read_at(int64_t sent, int64_t acked)
{
    zkr__lease_answered(&lease, 1000 * S + sent, 1000 * S + acked);
}

static void write_at(int64_t sent, int64_t acked)
{
    zkr__lease_committed(&lease, 1000 * S + sent, 1000 * S + acked);
}

static void beat_until(int64_t end)
{
    for (int64_t at = 0; at <= end; at += 2 * S)
        write_at(at, at + S / 100);
}

/* Relative to the same origin; 0 means no proof. */
static int64_t until(void)
{
    int64_t end = zkr__lease_until(&lease);

    return end == 0 ? 0 : end - 1000 * S;
}

static void nothing_is_proven_without_a_write(void **state)
{
    (void)state;
    assert_int_equal(until(), 0);
    read_at(0, S / 10);
    read_at(4 * S, 4 * S + S / 10);
    read_at(8 * S, 8 * S + S / 10);
    assert_int_equal(until(), 0);
}

static void nothing_is_proven_without_a_timeout(void **state)
{
    (void)state;
    zkr__lease_reset(&lease, 0, 0);
    read_at(0, 1);
    write_at(4 * S, 4 * S + 1);
    assert_int_equal(zkr__lease_until(&lease), 0);
}

/* The leader itself made the session then. */
static void the_beginning_of_the_session_needs_no_proof(void **state)
{
    (void)state;
    zkr__lease_begin(&lease, 1000 * S);
    assert_int_equal(until(), T_LOW);
}

/* It did count, as if the client had pinged T/3 before: a process that was
 * stopped had not, and held a lock for 1.6 s whose node was gone (tests/fault,
 * "waiter stopped", T = 4 s). */
static void one_write_by_itself_proves_nothing(void **state)
{
    (void)state;
    write_at(0, S / 10);
    assert_int_equal(until(), 0);
    read_at(11 * S, 11 * S + S / 10);
    write_at(11 * S, 11 * S + S / 10);
    assert_int_equal(until(), T_LOW);
}

static void a_quick_write_proves_what_was_answered_a_gap_before(void **state)
{
    (void)state;
    read_at(0, S / 10);
    read_at(S / 2, S / 2 + S / 10);
    write_at(3 * S + S / 10, 4 * S);
    assert_int_equal(until(), T_LOW);
}

static void three_requests_with_the_gap_between_prove_the_first(void **state)
{
    (void)state;
    read_at(0, S / 10);           /* j */
    write_at(4 * S, 6 * S);       /* m, more than G after the answer */
    assert_int_equal(until(), 0); /* it was slow */
    write_at(6 * S, 12 * S);      /* k, after the answer to m */
    assert_int_equal(until(), T_LOW);
}

static void a_second_request_within_the_gap_proves_nothing(void **state)
{
    (void)state;
    read_at(0, S);
    write_at(4 * S - 1, 4 * S); /* r_j + G is 4 s */
    write_at(5 * S, 7 * S);
    assert_int_equal(until(), 0);
    write_at(7 * S, 9 * S); /* m is at 5 s */
    assert_int_equal(until(), T_LOW);
}

/* Sent before m was answered, k may have overtaken it. */
static void a_third_write_sent_too_early_proves_nothing(void **state)
{
    (void)state;
    read_at(0, S / 10);
    write_at(4 * S, 6 * S);
    write_at(6 * S - 1, 8 * S);
    assert_int_equal(until(), 0);
}

/* The time of the answer must not count: it may have been under way for long.
 * etcd's client takes that. */
static void a_slow_answer_does_not_extend_the_lease(void **state)
{
    (void)state;
    read_at(0, 8 * S);
    write_at(11 * S, 11 * S + S / 10);
    assert_int_equal(until(), T_LOW);
}

/* A stall of a link may be why: then the leader has not heard of us for longer
 * than the answer took. It did count, and a lock granted in a stall of 2 s was
 * believed 0.3 s after the session's end (tests/fault, T = 4 s). */
static void a_slow_write_counts_when_the_next_is_answered(void **state)
{
    (void)state;
    read_at(-4 * S, -3 * S - S / 2);
    write_at(0, 3 * S / 2 + 1); /* m */
    assert_int_equal(until(), 0);
    write_at(S, 4 * S); /* may have overtaken the follower's answer */
    assert_int_equal(until(), 0);
    write_at(3 * S / 2 + 1, 4 * S); /* k */
    assert_int_equal(until(), -4 * S + T_LOW);
}

/* Every T/6: E is T/2 behind the last write. */
static void a_steady_beat_proves_half_a_timeout_ahead(void **state)
{
    (void)state;
    beat_until(98 * S);
    assert_int_equal(until(), 98 * S - T / 2 + T_LOW);
    assert_int_equal(zkr__lease_beat(&lease), 2 * S);
    assert_int_equal(zkr__lease_late(&lease), 4 * S);
}

/* Once something since we began to hold is proven, no write counts without a
 * k: it may come at the end of a stall. */
static void a_late_beat_is_judged_by_the_strict_rule(void **state)
{
    (void)state;
    beat_until(18 * S);
    assert_int_equal(until(), 18 * S - T / 2 + T_LOW);
    write_at(24 * S, 24 * S + S / 10); /* m is the one at 18 s */
    assert_int_equal(until(), 18 * S - T / 3 + T_LOW);
}

/* Many acquires and releases a second must not push out what the proof needs.
 */
static void many_writes_at_once_keep_the_older_ones(void **state)
{
    (void)state;
    for (int64_t i = 0; i < 10000; i++)
        write_at(i * S / 500, i * S / 500 + S / 1000);
    assert_true(until() > 10000 * S / 500 - T / 2 + T_LOW);
}

/* ... nor reads the writes. */
static void many_reads_at_once_keep_the_writes(void **state)
{
    (void)state;
    for (int64_t i = 0; i < 10000; i++) {
        read_at(i * S / 500, i * S / 500 + S / 1000);
        if (i % 1000 == 500)
            write_at(i * S / 500, i * S / 500 + 2 * S);
    }
    assert_true(until() >= 13 * S - 2 * S / 5 + T_LOW);
}

static void a_long_silence_while_held_does_not_bring_it_back(void **state)
{
    (void)state;
    beat_until(18 * S);
    read_at(94 * S, 94 * S + S / 10);
    write_at(100 * S, 101 * S); /* m is at 18 s, and so j at 14 s */
    assert_int_equal(until(), 14 * S + T_LOW);
}

static void after_a_rest_a_quick_write_counts_again(void **state)
{
    (void)state;
    beat_until(18 * S);
    zkr__lease_rest(&lease);
    read_at(94 * S, 94 * S + S / 10);
    write_at(100 * S, 101 * S);
    assert_int_equal(until(), 94 * S + T_LOW);
}

/* A server that grants less after a reconnect: what was promised shrinks. */
static void a_smaller_timeout_counts_for_all(void **state)
{
    (void)state;
    zkr__lease_begin(&lease, 1000 * S);
    zkr__lease_set_timeout(&lease, 6 * S);
    assert_int_equal(until(), 6 * S - 6 * S / 1000);
    zkr__lease_set_timeout(&lease, T);
    assert_int_equal(until(), 6 * S - 6 * S / 1000);
}

static void gap_and_margin_can_be_chosen(void **state)
{
    (void)state;
    zkr__lease_reset(&lease, 5 * S, S / 20);
    zkr__lease_set_timeout(&lease, T);
    read_at(0, S / 10);
    write_at(5 * S, 5 * S + S / 10); /* not yet 5 s after the answer */
    assert_int_equal(until(), 0);
    write_at(6 * S, 6 * S + S / 10);
    assert_int_equal(until(), T_LOW - S / 20);
}

static void a_new_session_forgets(void **state)
{
    (void)state;
    beat_until(18 * S);
    zkr__lease_reset(&lease, 0, 0);
    zkr__lease_set_timeout(&lease, T);
    assert_int_equal(until(), 0);
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_proven_without_a_write),
        TEST(nothing_is_proven_without_a_timeout),
        TEST(the_beginning_of_the_session_needs_no_proof),
        TEST(one_write_by_itself_proves_nothing),
        TEST(a_quick_write_proves_what_was_answered_a_gap_before),
        TEST(three_requests_with_the_gap_between_prove_the_first),
        TEST(a_second_request_within_the_gap_proves_nothing),
        TEST(a_third_write_sent_too_early_proves_nothing),
        TEST(a_slow_answer_does_not_extend_the_lease),
        TEST(a_slow_write_counts_when_the_next_is_answered),
        TEST(a_steady_beat_proves_half_a_timeout_ahead),
        TEST(a_late_beat_is_judged_by_the_strict_rule),
        TEST(many_writes_at_once_keep_the_older_ones),
        TEST(many_reads_at_once_keep_the_writes),
        TEST(a_long_silence_while_held_does_not_bring_it_back),
        TEST(after_a_rest_a_quick_write_counts_again),
        TEST(a_smaller_timeout_counts_for_all),
        TEST(gap_and_margin_can_be_chosen),
        TEST(a_new_session_forgets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
