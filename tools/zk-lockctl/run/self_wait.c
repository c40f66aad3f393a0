/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses a run that would wait for itself: a run around it has the lock, and
 * waits for it to end. */
#include "run/run.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include <limits.h>
#include <unistd.h>

#include "common/escape.h"
#include "model/scan_lock.h"

/* The holder of a mutex is first in its queue; readers, and those who have a
 * lease, may be many. */
enum { ANSWER_MS = 1000, HOLDERS = 4, READERS = 1000 };

/* It was killed, and the servers keep its node for a while, so waiting is
 * useful. This may be wrong when two machines share a name, or in another pid
 * namespace; then we wait as if we had not checked. */
static bool is_dead(const struct zkr__known_owner *owner)
{
    char host[HOST_NAME_MAX + 1] = "";

    (void)gethostname(host, sizeof(host) - 1);
    return owner->is_record && owner->pid > 0 && owner->pid <= INT_MAX &&
           strcmp(owner->host, host) == 0 && kill((pid_t)owner->pid, 0) != 0 &&
           errno == ESRCH;
}

static int refuse(const struct run *run, const struct lock *lock,
                  const struct contender *c)
{
    bool once = run->opts.wait_ms == 0;
    char path[ZKR_PATH_MAX + 1];
    char who[WHO_MAX];

    return lockctl_fail(
        once ? run->opts.not_acquired_code : EX_USAGE,
        "you hold %s already: a zk-lockctl run or hold around this one has it "
        "(session 0x%llx, %s) until this one has ended, so this one would wait "
        "for itself",
        escape_string(lock->path, path, sizeof(path)),
        (unsigned long long)c->node->session_id, contender_who(c, who));
}

static bool would_wait(struct run *run, const char *path, int *ret_code)
{
    struct zkr_participants_opts opts =
        lock_opts(run->opts.wanted.kind == CLAIM_MUTEX ? HOLDERS : READERS);
    const struct contender *c = NULL;
    const struct zkr_participant *p;
    struct lock lock;

    opts.timeout_ms = ANSWER_MS;
    if (lock_list(run->ctl->session, path, &opts, &lock) != ZKR_OK)
        return false;
    p = nested_waits_for(&run->around, lock.list, &run->opts.wanted);
    if (p != NULL)
        c = &lock.items[p - lock.list->items];
    if (c != NULL && is_dead(&c->owner))
        c = NULL;
    if (c != NULL)
        *ret_code = refuse(run, &lock, c);
    lock_done(&lock);
    return c != NULL;
}

bool run_would_wait_for_itself(struct run *run, int *ret_code)
{
    const struct wanted *wanted = &run->opts.wanted;

    for (size_t i = 0; run->around.count > 0 && i < wanted->count; i++) {
        if (would_wait(run, wanted->paths[i], ret_code))
            return true;
    }
    return false;
}
