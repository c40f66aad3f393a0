/* SPDX-License-Identifier: Apache-2.0 */
/* Connects for run: no longer than the user waits, and not in silence. */
#include "run/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run/desk.h"

/* Until the user is told why there is no connection yet; and how long the
 * library takes to find out. */
enum { PATIENCE_MS = 1000, WHY_MS = 500 };

/* The grace must fit into what is left of the lease when TERM is due. */
static int set_policy(struct run *run)
{
    int64_t timeout_ms = zkr_session_timeout_ms(run->ctl->session);
    int64_t longest_ms = policy_longest_grace_ms(timeout_ms);
    int64_t grace_ms = run->opts.policy.grace_ms;

    if (grace_ms > longest_ms)
        return lockctl_fail(
            EX_USAGE,
            "--kill-grace %lld ms is too long: the servers grant a session "
            "timeout of %lld ms, and a sixth of it, %lld ms, is what the lease "
            "has to spare; --session-timeout %lldms would do, if the servers "
            "grant it",
            (long long)grace_ms, (long long)timeout_ms, (long long)longest_ms,
            (long long)grace_ms * 6);
    if (grace_ms < 0)
        run->opts.policy.grace_ms = policy_default_grace_ms(timeout_ms);
    return 0;
}

/* It takes no longer than the user waits; but a user who waits 100 ms for the
 * lock does not mean that a server must answer in that time. */
static void set_connecting(struct run *run)
{
    struct lockctl *ctl = run->ctl;
    int64_t wait_ms = run->opts.wait_ms;
    int64_t longest_ms =
        wait_ms - WHY_MS > PATIENCE_MS ? wait_ms - WHY_MS : PATIENCE_MS;

    ctl->patience_ms = PATIENCE_MS;
    ctl->connect_once = wait_ms == 0;
    ctl->connect_timeout_ms = ctl->timeout_ms;
    if (!ctl->timeout_given) /* one server may be silent: then the next */
        ctl->connect_timeout_ms += (int64_t)ctl->session_timeout_ms;
    if (wait_ms > 0 && longest_ms < ctl->connect_timeout_ms)
        ctl->connect_timeout_ms = longest_ms;
}

/* The servers bound what they grant. */
static void say_session_timeout(const struct run *run)
{
    uint32_t granted_ms = zkr_session_timeout_ms(run->ctl->session);

    if (run->opts.timeout_asked_ms != 0 &&
        run->opts.timeout_asked_ms != granted_ms)
        lockctl_say(run->ctl,
                    "--session-timeout: the servers grant %u ms, not %lld ms",
                    granted_ms, (long long)run->opts.timeout_asked_ms);
}

/* Their variables stay in the environment of a shell. */
static void forget_ended_holds(struct run *run)
{
    for (size_t i = run->around.count; i > 0; i--) {
        const struct around_item *item = &run->around.items[i - 1];
        struct desk *desk = item->pid == 0 ? NULL : desk_open(item);
        bool ended = desk == NULL || atomic_load(&desk->release) != DESK_KEPT;

        desk_close(desk);
        if (item->pid != 0 && ended)
            around_remove(&run->around, i - 1);
    }
}

int run_connect(struct run *run)
{
    int64_t since_ms = clock_boot_ms();
    int code = lockctl_settle(run->ctl);

    if (code != 0)
        return code;
    set_connecting(run);
    around_read(&run->around, getenv(AROUND_VARIABLE));
    forget_ended_holds(run);
    run->ctl->proves_leases = true;
    if (run->around.count > 0)
        run->ctl->within = run->around.items[run->around.count - 1].session;
    code = lockctl_connect(run->ctl);
    if (code == 0 && run->opts.wait_ms > 0) {
        run->opts.wait_ms -= clock_boot_ms() - since_ms;
        if (run->opts.wait_ms < 0)
            run->opts.wait_ms = 0;
    }
    if (code == 0)
        say_session_timeout(run);
    if (code == 0)
        code = set_policy(run);
    /* Until now a signal may simply end us, because nothing is held. */
    if (code == 0 &&
        inherited_take_signals(&run->inherited,
                               run->hold != NULL ? DESK_RELEASE : 0) != 0)
        code = lockctl_fail(EX_RUN, "cannot take signals: %s", strerror(errno));
    return code;
}
