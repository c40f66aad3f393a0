/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of stays that several sources tell of. */
#include <stdbool.h>

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

/* --- each fact of two sources, in any order --- */

/* A stay is words, a letter and a number each: t token, S session, q queued, s
 * seen, h held, B held before, m held at most, k known, a asked, A by whom, e
 * ended, b by whom; the ending is Released, Gone, or Unknown; l late, x exact,
 * ? unsure, c a claim, d: the rest is its data. */
static struct stay *read_stay(const char *text)
{
    const char *data = strchr(text, 'd');
    struct stay *s = stay_new("/l", "n", data == NULL ? "" : data + 1,
                              data == NULL ? 0 : strlen(data + 1));

    assert_non_null(s);
    s->sure = true;
    for (; *text != '\0' && *text != 'd'; text += *text == ' ') {
        const char letter = *text++;
        char *end;
        int64_t n = strtoll(text, &end, 10);
        struct {
            char letter;
            int64_t *to;
        } numbers[] = {
            { 't', &s->node.token },  { 'S', &s->node.session_id },
            { 'q', &s->queued_ms },   { 's', &s->seen_ms },
            { 'm', &s->held_max_ms }, { 'k', &s->known_ms },
            { 'a', &s->asked_ms },    { 'A', &s->asked_by },
            { 'e', &s->ended_ms },    { 'b', &s->ended_by },
        };

        text = end;
        for (size_t i = 0; i < COUNT(numbers); i++) {
            if (numbers[i].letter == letter)
                *numbers[i].to = n;
        }
        if (letter == 'h' || letter == 'B')
            stay_hold(s, n, letter == 'B');
        s->exact = s->exact || letter == 'x';
        s->sure = s->sure && letter != '?';
        s->ended_late = s->ended_late || letter == 'l';
        s->is_claim = s->is_claim || letter == 'c';
        s->ending = letter == 'R'   ? ENDING_RELEASED
                    : letter == 'D' ? ENDING_DELETED
                    : letter == 'G' ? ENDING_GONE
                    : letter == 'U' ? ENDING_UNKNOWN
                                    : s->ending;
    }
    s->node.since_ms = s->queued_ms;
    return s;
}

static void write_number(char *text, const char *letter, int64_t n,
                         int64_t none)
{
    if (n != none)
        (void)sprintf(text + strlen(text), "%s%lld ", letter, (long long)n);
}

static void write_stay(char *text, const struct stay *s)
{
    static const char *const endings[ENDING_COUNT] = {
        [ENDING_NONE] = "",   [ENDING_RELEASED] = "R ", [ENDING_DELETED] = "D ",
        [ENDING_GONE] = "G ", [ENDING_UNKNOWN] = "U ",
    };

    write_number(text, "t", s->node.token, 0);
    write_number(text, "S", s->node.session_id, 0);
    write_number(text, "q", s->queued_ms, 0);
    if ((s->node.since_ms == 0) != (s->queued_ms == 0))
        write_number(text, "since ", s->node.since_ms, -1);
    write_number(text, "s", s->seen_ms, 0);
    write_number(text, s->held_before ? "B" : "h", s->held_ms, 0);
    (void)strcat(text, s->node.holds == (s->held_ms != 0) ? "" : "(holds?) ");
    write_number(text, "m", s->held_max_ms, -1);
    write_number(text, "k", s->known_ms, 0);
    write_number(text, "a", s->asked_ms, 0);
    write_number(text, "A", s->asked_by, 0);
    write_number(text, "e", s->ended_ms, 0);
    write_number(text, "b", s->ended_by, 0);
    (void)strcat(text, endings[s->ending]);
    (void)sprintf(text + strlen(text), "%s%s%s%s%s%s",
                  s->ended_late ? "l " : "", s->exact ? "x " : "",
                  s->sure ? "" : "? ", s->is_claim ? "c " : "",
                  s->node.data_size > 0 ? "d" : "", s->node.data);
}

#define RECORD "{\"library\":\"zkrecipes 0.1.0\"}"
#define ASKED  "{\"library\":\"zkrecipes 0.1.0\",\"asked\":true}"

static const struct row {
    const char *name;
    const char *one, *other;
    const char *both; /* ">": in this order, as of logs, which do not know
                         each token, and records */
} rows[] = {
    { "the earlier queueing", "t5 q90 s95", "t5 q80 s99", "t5 q80 s95 " },
    { "a queueing that one knows", "t5 s95", "t5 q80", "t5 q80 s95 " },
    { "an exact beginning", "t5 h100 x", "t5 h90", "t5 h100 x " },
    { "of two bounds the lower one", "t5 h110", "t5 h105", "t5 h105 " },
    { "held before is a bound", "t5 B110 x", "t5 h105 x", "t5 h105 x " },
    { "a bound says more than a doubt", "t5 h100 x ?", "t5 h110", "t5 h110 " },
    { "a doubt says more than nothing", "t5 h100 x ?", "t5", "t5 h100 x ? " },
    { "nobody held", "t5 q1", "t5 q2", "t5 q1 " },
    { "an end", "t5 k250", "t5 e200 R", "t5 e200 R " },
    { "an exact end", "t5 e200 R", "t5 e190 G l", "t5 e200 R " },
    { "of two late ends the earlier one", "t5 e200 G l", "t5 e190 G l",
      "t5 e190 G l " },
    { "it was there after it was lost", "t5 k250", "t5 e240 U", "t5 k250 " },
    { "it was lost after it was there", "t5 k230", "t5 e240 U", "t5 e240 U " },
    { "it was lost twice", "t5 e230 U", "t5 e240 U", "t5 e240 U " },
    { "by whom it ended", "t5 S7 e190 b8 D", "t5 e200 G l",
      "t5 S7 e190 b8 D " },
    { "by its own session", "t5 e190 b7 G", "t5 S7 k100", "t5 S7 e190 R " },
    { "by another session", "t5 e190 b8 G", "t5 S7 k100", "t5 S7 e190 b8 D " },
    { "by a session, of nobody", "t5 e190 b8 G", "t5 k100", "t5 e190 b8 G " },
    { "the shorter of two bounds of its time", "t5 h100 m50 e200 G l",
      "t5 h100 m40 e200 G l", "t5 h100 m40 e200 G l " },
    { "a bound of its time that one knows", "t5 h100 m50 e200 G l", "t5 k90",
      "t5 h100 m50 e200 G l " },
    { "no bound of an exact beginning", "t5 h100 m50 e200 G l", "t5 h99 x",
      "t5 h99 e200 G l x " },
    { "no bound of an exact end", "t5 h100 m50 e200 G l", "t5 e190 R",
      "t5 h100 e190 R " },
    { "who asked", "t5 a120", "t5 a110 A9", "t5 a110 A9 " },
    { "somebody asked", "t5 a120", "t5", "t5 a120 " },
    { "a claim", "t5 c", "t5", "t5 c " },
    { "data", "t5 dme", "t5 ", "t5 dme" },
    { "not the request", "t5 d__REVOKE__", "t5 dme", "t5 dme" },
    { "not the request, but the record", "t5 d__REVOKE__", "t5 d" ASKED,
      "t5 d" ASKED },
    { "a token that one knows", "q90 s90 h100", "t5 S7 q90 s90",
      ">t5 S7 q90 s90 h100 " },
    { "names come again", "s50 e80 R", "t5 q90 s95",
      "s50 e80 R | t5 q90 s95 " },
    { "names come again, seen first", "s50 e80 R", "t5 s81",
      "s50 e80 R | t5 s81 " },
    { "names do not come again at once", "s50 e90 R", "t5 q90 s95",
      ">t5 q90 s50 e90 R " },
    { "it was lost before", "s50 e80 U", "t5 q90 s95", ">t5 q90 s50 e80 U " },
    { "other tokens", "t4 s50", "t5 s50", "t4 s50 | t5 s50 " },
};

static int by_token(const void *a, const void *b)
{
    const struct stay *const *x = a;
    const struct stay *const *y = b;

    return ((*x)->node.token > (*y)->node.token) -
           ((*x)->node.token < (*y)->node.token);
}

static void is_merged(const char *one, const char *other, const char *both)
{
    char text[500] = "";

    assert_true(merge_add(&merge, read_stay(one)));
    assert_true(merge_add(&merge, read_stay(other)));
    merge_end(&merge, 0, take_stay, NULL);
    qsort(stays, stay_count, sizeof(*stays), by_token);
    for (size_t i = 0; i < stay_count; i++) {
        (void)strcat(text, i == 0 ? "" : "| ");
        write_stay(text, stays[i]);
    }
    assert_string_equal(text, both);
}

TEST_ROWS(of_two_sources, rows, row)
{
    bool in_order = row->both[0] == '>';

    is_merged(row->one, row->other, row->both + in_order);
    if (in_order)
        return;
    assert_ok(teardown());
    assert_ok(setup());
    is_merged(row->other, row->one, row->both);
}
