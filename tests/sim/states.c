/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle of states: while nothing is under way, sessions and grants must
 * report the state that follows from their client and from the clock. */
#include "oracle.h"

#include "frontend.h"

/* Timers are exact here; a grant reports its lease in milliseconds. */
#define SLACK (2 * MS)
/* This is enough for states that last. */
#define OFTEN (5 * MS)

static OF_SCHEDULE int64_t next;

static bool is_ours(enum zkr_grant_state_kind state)
{
    return state == ZKR_GRANT_HELD || state == ZKR_GRANT_SUSPENDED ||
           state == ZKR_GRANT_UNSURE;
}

static _Noreturn void wrong(const struct attempt *a, const char *what)
{
    world_fail("P8: attempt %d is said to be %s, %s", a->number,
               zkr_grant_state_name(zkr_grant_state(a->grant)), what);
}

/* The state decides which calls succeed. */
static void judge_check(const struct attempt *a,
                        enum zkr_grant_state_kind state)
{
    static const int codes[] = {
        [ZKR_GRANT_HELD] = ZKR_OK,           [ZKR_GRANT_SUSPENDED] = ZKR_OK,
        [ZKR_GRANT_UNSURE] = ZKR_EUNSURE,    [ZKR_GRANT_LOST] = ZKR_ELOST,
        [ZKR_GRANT_RELEASED] = ZKR_ENOTHELD,
    };
    bool weak =
        state == ZKR_GRANT_SUSPENDED && world.processes[a->process].no_lease;
    bool held = zkr_grant_is_held(a->grant);
    int rc = zkr_grant_check(a->grant);

    if (held != (rc == ZKR_OK))
        wrong(a, held ? "and looks held" : "and does not look held");
    if (rc != (weak ? ZKR_EUNSURE : codes[state]))
        wrong(a, zkr_strerror(rc));
}

/* When there were no faults for so long, a doubt has ended, one way or the
 * other: there is a proof, and the next one comes before it ends. A claim whose
 * list was lost and asked for again may begin with a proof that is late. */
static void judge_end_of_doubt(struct attempt *a,
                               enum zkr_grant_state_kind state)
{
    const struct process *p = &world.processes[a->process];
    int64_t since = a->granted > a->gone_at ? a->granted : a->gone_at;

    if (state == ZKR_GRANT_HELD)
        a->sure_at = sim_now;
    if (!is_ours(state) || p->no_lease || p->opts.lease_ping_gap_ms != 0 ||
        !oracle_is_well(a->process, since))
        return;
    if (a->gone_at != 0)
        wrong(a, "and its node has gone");
    /* Shared evidence does not bear answers that suddenly take longer than T/20
     * while the beacon stands still: there is a doubt then, for four answers.
     * Those of a client that is busy take up to 60 ms. */
    if (state != ZKR_GRANT_HELD &&
        !(world.beacon && sim_now - a->sure_at <= world.timeout / 4))
        wrong(a, "and nothing is wrong any more");
}

static void judge_grant(struct attempt *a)
{
    if (fiber_stopped[a->process])
        return;
    fiber_enter_process(a->process);
    enum zkr_grant_state_kind state = zkr_grant_state(a->grant);
    enum client_knows knows = client_knows(a->process);
    int64_t until = zkr_grant_valid_until(a->grant) * MS;
    bool leased = is_ours(state) && state != ZKR_GRANT_UNSURE;
    if (until != 0 && !leased)
        wrong(a, "and has a lease");
    if (leased && !world.processes[a->process].no_lease &&
        until + SLACK <= sim_now)
        wrong(a, "and its lease has run out");
    judge_check(a, state);
    if (knows == CLIENT_CONNECTS && state == ZKR_GRANT_HELD)
        wrong(a, "without a connection");
    if (knows == CLIENT_IS_EXPIRED && is_ours(state))
        wrong(a, "and the session has expired");
    judge_end_of_doubt(a, state);
}

static void judge_session(const struct process *p)
{
    if (!p->opened || p->closed || fiber_stopped[p->number])
        return;
    fiber_enter_process(p->number);
    enum zkr_session_state_kind state = zkr_session_state(p->session);
    enum client_knows knows = client_knows(p->number);
    WRONG_IF(knows == CLIENT_CONNECTS && (state == ZKR_SESSION_CONNECTED ||
                                          state == ZKR_SESSION_RECONNECTED),
             "P8: the session of process %d is said to be connected",
             p->number);
    WRONG_IF(knows == CLIENT_IS_EXPIRED && state != ZKR_SESSION_LOST,
             "P8: the session of process %d is not said to be lost", p->number);
}

void states_quiet(void)
{
    if (sim_now < next)
        return;
    next = sim_now + OFTEN;
    for (int i = 0; i < world.process_count; i++)
        judge_session(&world.processes[i]);
    oracle_each_grant(judge_grant);
}
