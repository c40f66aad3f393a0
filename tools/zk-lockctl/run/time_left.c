/* SPDX-License-Identifier: Apache-2.0 */
/* The lease of the locks of a run, with --max-hold: until when they are ours,
 * and why they are ours no more. */
#include "run/run.h"

#include <stdio.h>
#include <string.h>

#include <sys/timerfd.h>
#include <unistd.h>

#include "common/escape.h"
#include "protocol/owner.h"

/* What is said about a loss may take so long. */
enum { LIVES_MS = 300 };

static void on_written(int error, const struct zkr_reply *reply, void *user)
{
    (void)error;
    (void)reply;
    (void)user;
}

/* The request has replaced the record, by which others know whose the lock is:
 * it is written again, with a mark. When that fails they know less. */
static void write_record(const struct run *run, zkr_grant *grant)
{
    const char *record = zkr_grant_record(grant);
    size_t len = strlen(record);
    char text[ZKR__OWNER_READ_MAX];
    int n;

    if (len == 0 || record[len - 1] != '}')
        return;
    n = snprintf(text, sizeof(text), "%.*s" ZKR__OWNER_ASKED, (int)len - 1,
                 record);
    (void)!zkr_session_set_async(run->ctl->session, zkr_grant_node(grant), text,
                                 (size_t)n, -1, run->ctl->timeout_ms,
                                 on_written, NULL);
}

static void on_grant(zkr_grant *grant, const struct zkr_grant_event *event,
                     void *user)
{
    struct run *run = user;
    uint64_t one = 1;

    if (event->kind == ZKR_GRANT_REVOKE_REQUESTED) {
        atomic_store(&run->revoke_asked, true);
        if (run->opts.on_revoke == REVOKE_IGNORE)
            write_record(run, grant);
    }
    (void)!write(run->event_fd, &one, sizeof(one));
}

void run_listen(struct run *run)
{
    grants_listen(&run->grants, on_grant, run);
}

/* --max-hold is an earlier end of the lease. */
struct policy_view run_view_now(const struct run *run)
{
    struct policy_view view;

    view.valid_until_ms = grants_valid_until(&run->grants);
    if (view.valid_until_ms > run->limit_ms)
        view.valid_until_ms = run->limit_ms;
    view.state = grants_state(&run->grants);
    view.now_ms = clock_boot_ms();
    return view;
}

bool run_is_overdue(const struct run *run, const struct policy_view *view)
{
    int64_t term_ms = run->limit_ms - POLICY_LEAD_MS - run->policy.grace_ms;

    return view->valid_until_ms == run->limit_ms && view->now_ms >= term_ms;
}

static bool is_deleted(zkr_grant *grant)
{
    enum zkr_loss loss = zkr_grant_loss(grant);

    return loss == ZKR_LOSS_DELETED || loss == ZKR_LOSS_REVOKED;
}

const char *run_why_lost(const struct run *run, char why[WHY_LOST_MAX])
{
    zkr_grant *grant = grants_lost(&run->grants);
    char node[ZKR_PATH_MAX + 1] = "";
    bool lives;

    if (grant == NULL)
        return "the lease ran out without an answer from the servers";
    /* The node of a session that has ended goes first; an answer of the leader
     * shows that it has not ended. */
    lives = is_deleted(grant) &&
            zkr_session_sync(run->ctl->session, LIVES_MS) == ZKR_OK;
    if (!is_deleted(grant))
        return "the servers have ended the session";
    (void)escape_string(zkr_grant_node(grant), node, sizeof(node));
    (void)snprintf(
        why, WHY_LOST_MAX, "%s, %s",
        lives ? "somebody has deleted its node" : "its node has gone", node);
    return why;
}

void run_set_timer(const struct run *run, int64_t wake_ms)
{
    struct itimerspec when = { .it_value = { .tv_sec = wake_ms / 1000,
                                             .tv_nsec =
                                                 wake_ms % 1000 * 1000000 } };

    (void)timerfd_settime(run->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

int run_check_lease(const struct run *run)
{
    struct policy_view view = run_view_now(run);
    struct policy policy = run->policy;

    if (policy_next(&policy, &view).action == POLICY_NOTHING)
        return 0;
    return lockctl_fail(EX_RUN, "the lock was granted, but its lease is too "
                                "short to begin");
}
