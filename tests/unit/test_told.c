/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what a watch tells, when a result comes after the dispatcher has
 * taken the notice of the one before, and before that one is told. */
#include "unit.h"

#include "base/mtx.h"
#include "client.h"

/* A dispatch of one callback unlocks the session no more often. */
enum { GAPS = 6, MAX_TOLD = 8 };

static pthread_t dispatching; /* valid while there are gaps left */
static atomic_int gaps_left;

WRAP(void, zkr__mtx_unlock, (struct zkr__mtx * mtx))
{
    __real_zkr__mtx_unlock(mtx);
    if (atomic_load(&gaps_left) == 0 ||
        !pthread_equal(pthread_self(), dispatching) ||
        atomic_fetch_sub(&gaps_left, 1) != 1)
        return;
    client_changes_node("second");
    client_await_rest();
}

static struct {
    int count;
    int errors[MAX_TOLD];
    char data[MAX_TOLD][16]; /* "" without a reply */
} told;

static void on_change(int error, const struct zkr_reply *reply,
                      enum zkr_watch_why why, void *unused)
{
    if (told.count == MAX_TOLD)
        return;
    told.errors[told.count] = error;
    if (reply != NULL)
        (void)snprintf(told.data[told.count], sizeof(told.data[0]), "%s",
                       reply->data);
    told.count++;
}

static void dispatch(zkr_session *s, int gap)
{
    dispatching = pthread_self();
    atomic_store(&gaps_left, gap);
    for (int i = 0; i < 3; i++)
        ok(zkr_session_dispatch(s));
    atomic_store(&gaps_left, 0);
}

/* A watch told ZKR_OK without a result, after the result that had come in the
 * gap. */
TEST(a_result_in_a_gap_is_told_once)
{
    for (int gap = 1; gap <= GAPS; gap++) {
        client_reset();
        memset(&told, 0, sizeof(told));
        OPEN_GRANT(s, m, grant, ZKR_SESSION_OWN_LOOP);
        AUTO(watch) watch = MADE(watch, session_watch, s, zkr_grant_node(grant),
                                 ZKR_WATCH_DATA, NULL, on_change, NULL);
        client_await_rest();
        dispatch(s, 0);
        assert_int_equal(told.count, 1);
        client_changes_node("first");
        client_await_rest();
        dispatch(s, gap);
        for (int i = 1; i < told.count; i++) {
            assert_int_equal(told.errors[i], ZKR_OK);
            assert_string_not_equal(told.data[i], "");
        }
        assert_in_range(told.count, 2, 3);
    }
}
