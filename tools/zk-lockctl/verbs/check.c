/* SPDX-License-Identifier: Apache-2.0 */
/* check, wait: tell scripts whether a lock is free, held, or held by a
 * process. */
#include "verbs/verbs.h"

#include <stdio.h>
#include <string.h>

#include "common/now.h"
#include "model/changes.h"
#include "model/scan_lock.h"
#include "text/one_lock.h"

struct question {
    bool free;
    bool held;
    const char *holder; /* held by it; NULL: not asked */
    int64_t wait_ms;    /* -1: for ever */
    char path[ZKR_PATH_MAX + 1];
};

/* clang-format off */
#define AT(member) offsetof(struct question, member)
#define QUESTIONS                                                              \
    { "free", .type = OPT_ON, .at = AT(free),                                  \
      .help = "nobody holds it; it need not exist" },                          \
    { "held", .type = OPT_ON, .at = AT(held), .help = "somebody holds it" },   \
    { "held-by", .value = "HOST[:PID]", .type = OPT_TEXT, .at = AT(holder),    \
      .help = "a holder says that it is that process" }
static const struct opt check_options[] = {
    QUESTIONS,
    { .name = NULL },
};
static const struct opt wait_options[] = {
    QUESTIONS,
    { "wait", 'w', "DURATION", .type = OPT_MS, .at = AT(wait_ms),
      .help = "exit code 75 when it is not by then (for ever)" },
    { .name = NULL },
};
#undef AT
/* clang-format on */

static bool holds(const struct lock *lock, const struct question *q)
{
    if (q->free)
        return lock->holders == 0;
    if (q->held)
        return lock->holders > 0;
    for (size_t i = 0; i < lock->count; i++) {
        if (lock->items[i].node->holds &&
            contender_is_by(&lock->items[i], q->holder))
            return true;
    }
    return false;
}

static int parse(struct lockctl *ctl, const struct verb *verb, int argc,
                 char **argv, struct question *q)
{
    int questions;

    if (!lockctl_parse(ctl, verb, &argc, &argv, q))
        return EX_USAGE;
    questions = q->free + q->held + (q->holder != NULL);
    if (questions != 1)
        return lockctl_fail(EX_USAGE,
                            questions > 1 ? "%s: only one question"
                                          : "%s: --free, --held or --held-by?",
                            verb->name);
    return lockctl_take_lock(verb, argc, argv, q->path) ? 0 : EX_USAGE;
}

/* A missing lock is free: the server removes the directories of unused ones. */
static int look(struct lockctl *ctl, const struct question *q, bool again,
                struct lock *ret_lock)
{
    uint32_t reads = one_lock_reads(ctl, q->holder != NULL ? SCAN_HOLDERS : 1);
    bool missing;

    return again ? scan_again(ctl->session, q->path, reads, ret_lock)
                 : scan_lock(ctl->session, q->path, reads, &missing, ret_lock);
}

static int check(struct lockctl *ctl, int argc, char **argv)
{
    struct question q = { .wait_ms = -1 };
    struct lock lock;
    int code = parse(ctl, &verb_check, argc, argv, &q);

    if (code == 0)
        code = lockctl_connect(ctl);
    if (code == 0)
        code = look(ctl, &q, false, &lock);
    if (code != 0)
        return code;
    code = one_lock_print(ctl, &lock);
    if (code == 0 && !holds(&lock, &q)) {
        one_lock_say(ctl, &lock);
        code = EX_NO;
    }
    lock_done(&lock);
    return code;
}

/* Takes the lock. False: the answer is no, and there is time. */
static bool is_answered(const struct lockctl *ctl, const struct question *q,
                        bool late, struct lock *lock, int *ret_code)
{
    bool yes = holds(lock, q);

    if (!yes && late)
        one_lock_say(ctl, lock);
    if (yes || late)
        *ret_code = one_lock_print(ctl, lock);
    lock_done(lock);
    if (!yes && late && *ret_code == 0)
        *ret_code = EX_TEMPFAIL;
    return yes || late;
}

/* Looks again after each change. There is no watch before the first look: often
 * the answer is yes. The beginning of the watches counts as a change, so none
 * before it is missed. */
static int wait_until(struct lockctl *ctl, const struct question *q,
                      struct changes **changes)
{
    int64_t deadline = clock_now_ms() + q->wait_ms;
    char room[ZKR_PATH_MAX + 1];
    struct lock lock;

    for (;;) {
        int64_t left = deadline - clock_now_ms();
        bool late = q->wait_ms >= 0 && left <= 0;
        int code = look(ctl, q, *changes != NULL, &lock);

        if (code != 0 || is_answered(ctl, q, late, &lock, &code))
            return code;
        if (*changes == NULL)
            code = changes_start(ctl, scan_whole(ctl->session, q->path, room),
                                 changes);
        if (code != 0)
            return code;
        left = deadline - clock_now_ms();
        changes_wait(*changes, q->wait_ms < 0 ? -1 : left > 0 ? left : 0);
    }
}

static int wait_verb(struct lockctl *ctl, int argc, char **argv)
{
    struct question q = { .wait_ms = -1 };
    struct changes *changes = NULL;
    int code = parse(ctl, &verb_wait, argc, argv, &q);

    if (code == 0)
        code = lockctl_connect(ctl);
    if (code == 0)
        code = wait_until(ctl, &q, &changes);
    changes_end(changes);
    return code;
}

const struct verb verb_check = {
    .name = "check",
    .usage = "--free | --held | --held-by HOST[:PID]  LOCK",
    .summary = "Tell by the exit code, 0 or 1, whether a lock is free or held",
    .options = check_options,
    .run = check,
};

const struct verb verb_wait = {
    .name = "wait",
    .usage = "--free | --held | --held-by HOST[:PID]  [-w DURATION] LOCK",
    .summary = "Wait until a lock is free or held",
    .options = wait_options,
    .run = wait_verb,
};
