/* SPDX-License-Identifier: Apache-2.0 */
/* Options of sessions and locks, drawn for each process and thread. */
#include "world.h"

static void draw_retry(struct process *p)
{
    const struct zkr_retry policies[] = {
        { .kind = ZKR_RETRY_DEFAULT },          ZKR_RETRY_NONE_INIT,
        ZKR_RETRY_N_TIMES_INIT(2, 50),          ZKR_RETRY_UNTIL_INIT(700, 100),
        ZKR_RETRY_EXPONENTIAL_INIT(10, 500, 4), ZKR_RETRY_FOREVER_INIT(30),
    };
    uint32_t which = choose(6);

    p->opts.retry = policies[which];
    p->gives_up = which >= 1 && which <= 4;
}

/* A user that assumes more pings than there are makes a mistake; one that
 * assumes fewer is careful. */
static void draw_lease(struct process *p)
{
    static const uint32_t margins[] = { 0, 1, 200 };
    uint32_t timeout_ms = p->opts.session_timeout_ms;

    p->no_lease = one_in(4);
    if (p->no_lease)
        p->opts.flags |= ZKR_SESSION_NO_LEASE;
    p->opts.lease_margin_ms = margins[choose(3)];
    if (one_in(4))
        p->opts.lease_ping_gap_ms = timeout_ms * (choose(2) == 0 ? 4 : 10) / 10;
}

static void draw_access(struct process *p)
{
    if (choose(2) == 1)
        p->prefix = "/locks";
    if (one_in(3)) {
        p->opts.auth_scheme = "digest";
        p->opts.auth = "anna:secret";
    }
    if (one_in(3))
        p->opts.acl = "world:anyone:cdrwa,digest:anna:rw";
}

void options_draw(struct process *p)
{
    static const uint32_t reply_timeouts[] = { 5000, 1000, 300 };

    p->opts = (struct zkr_session_opts)ZKR_SESSION_OPTS_INIT;
    p->opts.session_timeout_ms = (uint32_t)(p->timeout / MS);
    p->opts.reply_timeout_ms = reply_timeouts[0];
    p->prefix = "";
    if (world.beacon)
        p->opts.lease_beacon = WORLD_BEACON;
    if (choose(3) > 0)
        return;
    draw_retry(p);
    draw_lease(p);
    draw_access(p);
    p->opts.reply_timeout_ms = reply_timeouts[choose(3)];
    if (one_in(3))
        p->opts.connect_timeout_ms = 2000;
}

void options_draw_stays(struct process *p)
{
    static const uint32_t retain_ms[] = { 1000, 20, 3000 };
    static const uint32_t max[] = { 1, 3, 0 };

    if (world.recipe == UNFAIR || world.recipe == LATCH ||
        world.recipe == SEMAPHORE || world.recipe == MULTI || !one_in(3))
        return;
    p->stays.ms = retain_ms[choose(3)];
    p->stays.max = max[choose(3)];
    p->stays.flags = options_lock_flags();
}

uint32_t options_lock_flags(void)
{
    uint32_t flags = 0;

    if (choose(3) > 0)
        return 0;
    if (choose(2) == 1 && world.recipe != LATCH)
        flags |= ZKR_FAIL_ON_SESSION_LOSS;
    if (choose(2) == 1)
        flags |= ZKR_PERSISTENT_PARENTS;
    if (choose(2) == 1 && world.recipe != UNFAIR && world.recipe != SEMAPHORE)
        flags |= ZKR_KAZOO_LAYOUT;
    if (choose(2) == 1 && world.recipe == RWLOCK)
        flags |= ZKR_REENTRANT;
    return flags;
}
