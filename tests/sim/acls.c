/* SPDX-License-Identifier: Apache-2.0 */
/* ACLs of the simulated ensemble: everything is permitted, except what an
 * operator has denied for a while. */

#include "ensemble.h"
#include "world.h"

#define DENIALS_MAX 8
#define PERMISSIONS 0x1fu
#define AGAIN       (20 * MS)

static OF_SCHEDULE struct denial {
    uint32_t permissions; /* 0: over */
    int depth;
    int process;
} denials[DENIALS_MAX];
static OF_SCHEDULE bool refused[SESSIONS_MAX];
OF_SCHEDULE struct acls acls;

bool acls_permit_read(int session, const struct node *n, enum zkr__zk_type type)
{
    return (type == ZKR__ZK_EXISTS && !acls.strict) ||
           acls_permit(session, n, ZKR_PERMISSION_READ, false);
}

static uint32_t denied(const struct node *n, int process)
{
    uint32_t permissions = 0;
    int depth = 0;

    for (const struct node *up = n; up->parent != NULL; up = up->parent)
        depth++;
    for (int i = 0; i < acls.denials; i++) {
        const struct denial *d = &denials[i];

        if (d->depth == depth && (d->process < 0 || d->process == process))
            permissions |= d->permissions;
    }
    return permissions;
}

uint32_t acls_anyone(const struct node *n)
{
    return PERMISSIONS & ~denied(n, -1);
}

bool acls_permit(int session, const struct node *n, uint32_t permission,
                 bool leaves)
{
    if (acls.denials == 0 || session < 0 ||
        (denied(n, ensemble.sessions[session].process) & permission) == 0)
        return true;
    refused[session] = refused[session] || leaves;
    return false;
}

/* Ends the sessions that were refused something; repeated until the ensemble
 * has agreed. */
static void clean_up(void *arg, uint64_t tag)
{
    bool any = false;

    for (int i = 0; i < ensemble.session_count; i++) {
        const struct session *s = &ensemble.sessions[i];

        refused[i] = refused[i] && s->opened != 0 &&
                     (s->closed == 0 || s->closed > ensemble.committed);
        any = any || refused[i];
        if (refused[i] && ensemble.leader != NO_REPLICA)
            ensemble_kill_session(i);
    }
    if (any)
        events_at(sim_now + AGAIN, clean_up, NULL, 0);
}

static void on_over(void *arg, uint64_t tag)
{
    struct denial *d = arg;

    d->permissions = 0;
    world_trace("all is permitted again");
    clean_up(NULL, tag);
}

void acls_deny(uint32_t permissions, int depth, int process, int64_t duration)
{
    struct denial *d = &denials[acls.denials];

    if (acls.denials == DENIALS_MAX)
        return;
    acls.denials++;
    *d = (struct denial){ permissions, depth, process };
    world_trace("for %lld ms, at depth %d, not permitted to process %d: %#x",
                (long long)(duration / MS), depth, process, permissions);
    events_at(sim_now + duration, on_over, d, 0);
}
