/* SPDX-License-Identifier: Apache-2.0 */
/* Says the state of the one lock that a verb is about in one line, or as one
 * row: for check, wait, revoke and break. */
#include "text/one_lock.h"

#include "common/escape.h"
#include "common/words.h"
#include "model/scan.h"
#include "text/lock_fields.h"

static void say_one(const struct lockctl *ctl, const char *path,
                    const struct lock *lock)
{
    const struct contender *h = lock->holder;
    char who[WHO_MAX];
    char token[WORD_MAX];
    char age[WORD_MAX];

    lockctl_say(ctl, "%s%s is %s by %s (%s), token %s, for <=%s; %zu waiting",
                zkr__is_lease(h->node) ? "a lease of " : "", path,
                lock->kind == ZKR__KIND_LATCH ? "led" : "held",
                contender_who(h, who), zkr__dialect_name(h->dialect),
                h->node->token == 0 ? "?" : word_token(h->node->token, token),
                h->age_ms < 0 ? "?" : word_age(h->age_ms, age), lock->waiters);
}

void one_lock_say(const struct lockctl *ctl, const struct lock *lock)
{
    char path[512];
    char queue[QUEUE_MAX];

    (void)escape_string(lock->path, path, sizeof(path));
    if (lock->holders == 1)
        say_one(ctl, path, lock);
    else if (lock->kind == ZKR__KIND_SEMAPHORE)
        lockctl_say(ctl, "%s is a semaphore: %s", path,
                    cell_queue(lock, false, queue));
    else if (lock->holders == 0)
        lockctl_say(ctl, "%s is free", path);
    else
        lockctl_say(ctl, "%s is held by %zu; %zu waiting", path, lock->holders,
                    lock->waiters);
}

static bool is_for_machines(const struct lockctl *ctl)
{
    return ctl->format != FORMAT_TABLE && ctl->format != FORMAT_WIDE;
}

uint32_t one_lock_reads(const struct lockctl *ctl, uint32_t reads)
{
    return is_for_machines(ctl) ? SCAN_NEXT : reads;
}

int one_lock_print(const struct lockctl *ctl, const struct lock *lock)
{
    static const struct notes none;

    if (!is_for_machines(ctl))
        return 0;
    return locks_print(ctl, lock, 1, lock->at_ms, &none);
}
