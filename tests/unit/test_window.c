/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the window: it is large where answers are quick, or the way is long,
 * and small where requests wait for each other. */
#include "session/window.h"

#include "base/clock.h"
#include "unit.h"

/* Requests may wait for each other for a 32nd of it. */
#define T    (4000 * ZKR__MS)
#define WAIT (125 * ZKR__MS)

static struct zkr__window window;

static int setup(void)
{
    zkr__window_begin(&window, T);
    return 0;
}

FIXTURE(setup, NULL)

static void answer(int64_t sent, int64_t took, bool full)
{
    zkr__window_answered(&window, false, sent, sent + took, full);
}

TEST(it_grows_while_it_is_used_up)
{
    unsigned first = window.size;

    answer(ZKR__MS, ZKR__MS, false);
    assert_int_equal(window.size, first);
    for (int i = 0; i < 2 * ZKR__WINDOW_MAX; i++)
        answer((i + 2) * ZKR__MS, ZKR__MS, true);
    assert_int_equal(window.size, ZKR__WINDOW_MAX);
}

/* The other requests of that flight say the same once more. */
TEST(it_shrinks_once_for_a_flight_that_was_too_large)
{
    unsigned first = window.size;

    answer(0, ZKR__MS, true);
    for (int i = 0; i < 20; i++)
        answer(i * ZKR__MS, ZKR__MS + WAIT + 1, true);
    assert_int_equal(window.size, (first + 1) / 2);
    answer(T, ZKR__MS + WAIT + 1, true);
    assert_int_equal(window.size, (first + 1) / 2 / 2);
}

/* A write takes longer than a read on all servers; so does a read behind it. */
TEST(reads_are_not_compared_with_writes)
{
    unsigned first = window.size;

    answer(0, ZKR__MS, true);
    zkr__window_answered(&window, true, ZKR__MS, T, true);
    assert_int_equal(window.size, first + 2);
    answer(ZKR__MS, T, true);
    assert_int_equal(window.size, first + 3);
}

TEST(a_short_timeout_allows_less_and_a_long_one_no_more)
{
    unsigned first = window.size;

    for (int shorter = 0; shorter < 2; shorter++) {
        zkr__window_begin(&window, shorter ? T / 4 : 100 * T);
        answer(0, ZKR__MS, true);
        answer(ZKR__MS, ZKR__MS + WAIT / (shorter ? 4 : 1) + 1, true);
        assert_int_equal(window.size, (first + 1) / 2);
    }
}

/* Compared with the quickest, not with the first or the last. */
TEST(an_answer_says_how_late_it_is)
{
    static const struct {
        int64_t late;
        unsigned size;
    } rows[] = {
        { WAIT / 2 - 1, 129 },
        { WAIT / 2, 128 },
        { WAIT, 128 },
        { WAIT + 1, 64 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        zkr__window_begin(&window, T);
        answer(0, 9 * ZKR__MS, false);
        answer(0, ZKR__MS, false);
        answer(0, 5 * ZKR__MS, false);
        answer(ZKR__MS, ZKR__MS + rows[i].late, true);
        assert_int_equal(window.size, rows[i].size);
    }
}

TEST(it_shrinks_to_8_from_any_size)
{
    window = (struct zkr__window){ .size = 9, .wait = WAIT };
    answer(0, ZKR__MS, false);
    answer(ZKR__MS, T, false);
    assert_int_equal(window.size, 8);
}

/* -- servers --------------------------------------------------------------- */

struct link {
    int64_t way;  /* there and back */
    int64_t each; /* the time that one answer takes on it, or a server for it */
};

/* Sends whenever there is room; returns the time that `count` answers take, and
 * how long the last request was under way. */
static int64_t run(struct link link, int count, int64_t *ret_took)
{
    static int64_t sent[ZKR__WINDOW_MAX];
    unsigned first = 0, in_flight = 0;
    int64_t now = 1;

    for (int i = 0; i < count; i++) {
        for (; in_flight < window.size; in_flight++)
            sent[(first + in_flight) % ZKR__WINDOW_MAX] = now;
        bool full = in_flight >= window.size;
        int64_t came = sent[first] + link.way;
        now = came > now + link.each ? came : now + link.each;
        *ret_took = now - sent[first];
        zkr__window_answered(&window, false, sent[first], now, full);
        first = (first + 1) % ZKR__WINDOW_MAX;
        in_flight--;
    }
    return now;
}

/* Checks come back soon, and the link has no rest. */
TEST(answers_come_soon_on_any_link)
{
    static const struct link links[] = {
        { ZKR__MS / 10, 20 * ZKR__US }, /* here */
        { ZKR__MS, ZKR__MS / 10 },      /* 10,000 writes each second */
        { ZKR__MS, 10 * ZKR__MS },      /* 1 MB at 100 MB/s */
        { 40 * ZKR__MS, ZKR__MS / 10 }, /* another continent */
        { 40 * ZKR__MS, 80 * ZKR__MS }, /* 1 MB at 100 Mbit/s */
        { 400 * ZKR__MS, ZKR__MS },     /* a slow server */
    };
    const int count = 20000;

    for (size_t i = 0; i < COUNT(links); i++) {
        int64_t took, all;

        zkr__window_begin(&window, T);
        all = run(links[i], count, &took);
        assert_true(took <= links[i].way + WAIT + 8 * links[i].each);
        assert_true(all <= count * links[i].each * 11 / 10 + 20 * WAIT);
    }
}

/* The requests that it has are no measure any more. */
TEST(a_way_that_grows_longer_is_learnt)
{
    struct link link = { ZKR__MS, ZKR__MS / 10 };
    int64_t took;

    (void)run(link, 1000, &took);
    link.way = 800 * ZKR__MS;
    (void)run(link, 100000, &took);
    assert_in_range(window.size, 800, ZKR__WINDOW_MAX);
}
