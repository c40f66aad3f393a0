/* SPDX-License-Identifier: Apache-2.0 */
/* The lease of the locks of a run: until when they are ours, and why they are
 * ours no more. */
#include "run/run.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/escape.h"
#include "protocol/owner.h"

/* What is said about a loss, or a request, may take so long. */
enum { LIVES_MS = 300 };

static void on_written(int error, const struct zkr_reply *reply, void *user)
{
    (void)error;
    (void)reply;
    (void)user;
}

/* The request has replaced the record, by which others know whose the lock is:
 * it is written again, with a mark and the reason. When that fails they know
 * less. */
static void write_record(const struct run *run, zkr_grant *grant,
                         const char *reason)
{
    const char *record = zkr_grant_record(grant);
    json_t *json = json_loads(record, 0, NULL);
    char *text = NULL;

    (void)json_object_set_new(json, "asked", json_true());
    if (reason[0] != '\0')
        (void)json_object_set_new(json, "reason", json_string(reason));
    if (json != NULL)
        text = json_dumps(json, JSON_COMPACT);
    if (text != NULL)
        (void)!zkr_session_set_async(run->ctl->session, zkr_grant_node(grant),
                                     text, strlen(text), -1,
                                     run->ctl->timeout_ms, on_written, NULL);
    free(text);
    json_decref(json);
}

/* Reads the request in one of the nodes; false: there is none. */
static bool read_request(const struct run *run, zkr_grant *grant,
                         struct zkr__known_owner *owner)
{
    struct zkr_reply *reply = NULL;
    int rc = zkr_session_get(run->ctl->session, zkr_grant_node(grant), LIVES_MS,
                             &reply);

    if (rc == ZKR_OK)
        zkr__owner_read(owner, reply->data, reply->len);
    zkr_reply_free(reply);
    return rc == ZKR_OK && owner->is_asked && !owner->is_record;
}

bool run_is_asked(struct run *run)
{
    bool ignored = run->opts.on_revoke == REVOKE_IGNORE;
    struct zkr__known_owner owner;
    char shown[REASON_SHOWN_MAX - 4];

    if (!atomic_exchange(&run->revoke_asked, false))
        return false;
    for (size_t i = 0; i < run->claim.count; i++) {
        if (!read_request(run, run->claim.grants[i], &owner))
            continue;
        if (owner.reason[0] != '\0')
            (void)snprintf(run->reason, sizeof(run->reason), ", \"%s\"",
                           escape_string(owner.reason, shown, sizeof(shown)));
        if (ignored)
            write_record(run, run->claim.grants[i], owner.reason);
    }
    return true;
}

static void on_grant(zkr_grant *grant, const struct zkr_grant_event *event,
                     void *user)
{
    struct run *run = user;
    uint64_t one = 1;

    (void)grant;
    if (event->kind == ZKR_GRANT_REVOKE_REQUESTED)
        atomic_store(&run->revoke_asked, true);
    (void)!write(run->event_fd, &one, sizeof(one));
}

void run_listen(struct run *run)
{
    claim_listen(&run->claim, on_grant, run);
}

struct policy_view run_view_now(const struct run *run)
{
    struct policy_view view;

    view.valid_until_ms = claim_valid_until(&run->claim);
    view.state = claim_state(&run->claim);
    view.now_ms = clock_boot_ms();
    return view;
}

static bool is_deleted(zkr_grant *grant)
{
    enum zkr_loss loss = zkr_grant_loss(grant);

    return loss == ZKR_LOSS_DELETED || loss == ZKR_LOSS_REVOKED;
}

const char *run_why_lost(const struct run *run, char why[WHY_LOST_MAX])
{
    zkr_grant *grant = claim_lost(&run->claim);
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
    (void)snprintf(why, WHY_LOST_MAX, "%s, %s%s",
                   lives ? "somebody has deleted its node"
                         : "its node has gone",
                   node, run->reason);
    return why;
}

void run_sleep(const struct run *run, int64_t wake_ms, int fd)
{
    struct pollfd fds[] = { { .fd = run->event_fd, .events = POLLIN },
                            { .fd = run->timer_fd, .events = POLLIN },
                            { .fd = run->inherited.signal_fd,
                              .events = POLLIN },
                            { .fd = fd, .events = POLLIN } };
    struct itimerspec when = { .it_value = { .tv_sec = wake_ms / 1000,
                                             .tv_nsec =
                                                 wake_ms % 1000 * 1000000 } };
    uint64_t count;

    (void)timerfd_settime(run->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
    (void)poll(fds, 4, -1);
    for (int i = 0; i < 2; i++) {
        if (fds[i].revents != 0)
            (void)!read(fds[i].fd, &count, sizeof(count));
    }
}

int run_check_lease(const struct run *run)
{
    struct policy_view view = run_view_now(run);
    struct policy policy = run->opts.policy;

    if (policy_next(&policy, &view).action == POLICY_NOTHING)
        return 0;
    return lockctl_fail(EX_RUN, "the lock was granted, but its lease is too "
                                "short to begin");
}
