/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of stays that several sources tell of. */
#include "model/merge.h"

#include "texts.h"
#include "unit.h"

static struct merge merge;
static struct stay *stays[8];
static size_t stay_count;

static int setup(void)
{
    merge = (struct merge){ .tree = NULL };
    stay_count = 0;
    return 0;
}

static int teardown(void)
{
    for (size_t i = 0; i < stay_count; i++)
        stay_free(stays[i]);
    merge_done(&merge);
    return 0;
}

FIXTURE(setup, teardown)

static void take_stay(struct stay *stay, void *user)
{
    (void)user;
    assert_true(stay_count < 8);
    stays[stay_count++] = stay;
}

/* Of node n in a lock; it held from 100 on, and that is known at 110. */
static struct stay *new_stay(int64_t token, const char *data)
{
    struct stay *s = stay_new("/l", "n", data, strlen(data));

    assert_non_null(s);
    s->sure = true;
    s->node.token = token;
    s->node.session_id = 7;
    s->queued_ms = s->seen_ms = 90;
    return s;
}

static struct stay *of_log(int64_t token)
{
    struct stay *s = new_stay(token, "me");

    s->exact = true;
    stay_hold(s, 100, false);
    return s;
}

static struct stay *of_watch(int64_t token)
{
    struct stay *s = new_stay(token, "me");

    stay_hold(s, 110, false);
    return s;
}

TEST(who_holds_does_not_begin_again)
{
    struct stay *s = of_log(5);

    stay_hold(s, 120, true);
    assert_int_equal(s->held_ms, 100);
    assert_false(s->held_before);
    stay_free(s);
}

static struct stay *ends(struct stay *s, enum ending ending, int64_t at_ms)
{
    s->ending = ending;
    s->ended_ms = at_ms;
    s->ended_late = ending == ENDING_GONE;
    return s;
}

static struct stay *is_there(struct stay *s, int64_t at_ms)
{
    s->known_ms = at_ms;
    return s;
}

static const struct stay *merged(struct stay *a, struct stay *b)
{
    assert_true(merge_add(&merge, a));
    assert_true(merge_add(&merge, b));
    merge_end(&merge, 0, take_stay, NULL);
    assert_int_equal(stay_count, 1);
    return stays[0];
}

/* Each was once a row of its own: two seemed to hold at once. */
TEST(a_grant_of_two_sources_is_one)
{
    const struct stay *s = merged(ends(of_log(5), ENDING_RELEASED, 200),
                                  ends(of_watch(5), ENDING_GONE, 210));

    assert_true(s->exact);
    assert_false(s->ended_late);
    assert_int_equal(s->held_ms, 100);
    assert_int_equal(s->ended_ms, 200);
    assert_int_equal(s->ending, ENDING_RELEASED);
}

TEST(other_grants_are_kept)
{
    struct stay *other_lock = stay_new("/m", "n", "", 0);
    struct stay *other_node = stay_new("/l", "m", "", 0);

    assert_non_null(other_lock);
    assert_non_null(other_node);
    other_lock->node.token = other_node->node.token = 5;
    assert_true(merge_add(&merge, of_log(5)));
    assert_true(merge_add(&merge, of_watch(6)));
    assert_true(merge_add(&merge, other_lock));
    assert_true(merge_add(&merge, other_node));
    merge_end(&merge, 0, take_stay, NULL);
    assert_int_equal(stay_count, 4);
}

TEST(watch_tells_the_end_that_the_log_lacks)
{
    struct stay *seen = ends(of_watch(5), ENDING_GONE, 310);
    const struct stay *s;

    seen->held_max_ms = 205;
    s = merged(is_there(of_log(5), 250), seen);
    assert_true(s->exact && s->ended_late);
    assert_int_equal(s->held_ms, 100);
    assert_int_equal(s->ending, ENDING_GONE);
    assert_int_equal(stay_held_for(s, 0), 210);
}

TEST(watch_tells_the_beginning_that_the_log_lacks)
{
    struct stay *late = new_stay(5, "me");
    const struct stay *s;

    late->exact = true;
    stay_hold(late, 150, true);
    s = merged(ends(late, ENDING_EXPIRED, 200),
               ends(of_watch(5), ENDING_GONE, 210));
    assert_int_equal(s->held_ms, 110);
    assert_false(s->exact || s->held_before);
    assert_int_equal(s->ending, ENDING_EXPIRED);
    assert_int_equal(s->ended_ms, 200);
}

/* Without a snapshot the log knows no token, owner and session of a node from
 * before it, but which session deleted it. */
static const struct stay *merged_unknown(int64_t by)
{
    struct stay *late = stay_new("/l", "n", "", 0);

    assert_non_null(late);
    late->exact = true;
    late->seen_ms = 150;
    late->ended_by = by;
    stay_hold(late, 150, true);
    late->sure = true;
    ends(late, ENDING_GONE, 200);
    late->ended_late = false;
    return merged(late, ends(of_watch(5), ENDING_GONE, 210));
}

TEST(watch_tells_whose_node_was_deleted)
{
    const struct stay *s = merged_unknown(7);

    assert_int_equal(s->ending, ENDING_RELEASED);
    assert_int_equal(s->ended_by, 0);
    assert_int_equal(s->ended_ms, 200);
    assert_int_equal(s->node.token, 5);
    assert_string_equal(s->node.data, "me");
}

TEST(watch_tells_that_a_lock_was_broken)
{
    const struct stay *s = merged_unknown(8);

    assert_int_equal(s->ending, ENDING_DELETED);
    assert_int_equal(s->ended_by, 8);
}

/* A directory that is made anew gives names again. */
TEST(a_later_node_of_that_name_is_another)
{
    struct stay *late = stay_new("/l", "n", "", 0);

    assert_non_null(late);
    late->seen_ms = 50;
    assert_true(merge_add(&merge, ends(late, ENDING_RELEASED, 80)));
    assert_true(merge_add(&merge, of_watch(5)));
    merge_end(&merge, 0, take_stay, NULL);
    assert_int_equal(stay_count, 2);
}

TEST(a_request_does_not_replace_the_owner)
{
    struct stay *asked = of_log(5);
    struct stay *seen = of_watch(5);
    const struct stay *s;

    assert_true(stay_write(asked, "__REVOKE__", 10));
    asked->asked_ms = 120;
    asked->asked_by = 9;
    seen->asked_ms = 130;
    s = merged(asked, seen);
    assert_string_equal(s->node.data, "me");
    assert_int_equal(s->asked_ms, 120);
    assert_int_equal(s->asked_by, 9);
}

/* It was there when the log ended, and another may hold when watch begins. */
TEST(a_holder_is_lost_between_two_sources)
{
    assert_true(merge_add(&merge, is_there(of_log(5), 250)));
    merge_end(&merge, 300, take_stay, NULL);
    assert_int_equal(stay_count, 1);
    assert_int_equal(stays[0]->ending, ENDING_UNKNOWN);
    assert_int_equal(stays[0]->ended_ms, 250);
}

TEST(a_holder_of_both_is_still_there)
{
    assert_true(merge_add(&merge, is_there(of_log(5), 250)));
    assert_true(merge_add(&merge, is_there(of_watch(5), 350)));
    merge_end(&merge, 300, take_stay, NULL);
    assert_int_equal(stay_count, 1);
    assert_int_equal(stays[0]->ending, ENDING_NONE);
    assert_int_equal(stays[0]->held_ms, 100);
}
