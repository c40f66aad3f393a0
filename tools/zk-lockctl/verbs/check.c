/* SPDX-License-Identifier: Apache-2.0 */
/* check, wait: tell scripts whether a lock is free, held, or held by a
 * process. */
#include "verbs/verbs.h"

#include "common/now.h"
#include "model/mirror.h"
#include "text/lock_fields.h"

struct question {
    bool free;
    bool held;
    const char *holder; /* held by it; NULL: not asked */
    int64_t wait_ms;    /* -1: for ever */
    const char *path;
};
static struct question asked = { .wait_ms = -1 };

/* clang-format off */
#define QUESTIONS                                                              \
    { "free", .type = OPT_ON, .at = AT(question, free),                                  \
      .help = "nobody holds it; it need not exist" },                          \
    { "held", .type = OPT_ON, .at = AT(question, held), .help = "somebody holds it" },   \
    { "held-by", .value = "HOST[:PID]", .type = OPT_TEXT, .at = AT(question, holder),    \
      .help = "a holder says that it is that process" }
static const struct opt check_options[] = {
    QUESTIONS,
    { .name = NULL },
};
static const struct opt wait_options[] = {
    QUESTIONS,
    { "wait", 'w', "DURATION", .type = OPT_MS, .at = AT(question, wait_ms),
      .help = "exit code 75 when it is not by then (for ever)" },
    { .name = NULL },
};
/* clang-format on */

static bool holds(const struct lock *lock, const struct question *q)
{
    if (q->free)
        return lock->holders == 0;
    return q->held ? lock->holders > 0 : lock_is_held_by(lock, q->holder, 0);
}

static uint32_t reads(const struct lockctl *ctl, const struct question *q)
{
    return one_lock_reads(ctl, q->holder != NULL ? SCAN_HOLDERS : 1);
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

/* After the next change. At the end, and without a connection, it asks. */
static int look_again(struct lockctl *ctl, const struct question *q,
                      struct mirror *mirror, int64_t end_ms,
                      struct lock *ret_lock)
{
    if (!mirror_next(mirror, end_ms, ret_lock))
        return scan_lock(ctl->session, q->path, reads(ctl, q), SCAN_ANY,
                         ret_lock);
    int rc = ret_lock->error;
    if (rc == ZKR_OK)
        return 0;
    lock_done(ret_lock);
    return lockctl_fail_error(rc, "");
}

/* There is no watch before the first look: often the answer is yes. The mirror
 * begins with the present state, so no change before it is missed. A missing
 * lock is free: the server removes the directories of unused ones. */
static int wait_until(struct lockctl *ctl, const struct question *q,
                      struct mirror **mirror)
{
    int64_t end_ms = q->wait_ms < 0 ? INT64_MAX : clock_now_ms() + q->wait_ms;
    struct lock lock;
    int code =
        scan_lock(ctl->session, q->path, reads(ctl, q), SCAN_MISSING, &lock);

    while (code == 0 &&
           !is_answered(ctl, q, clock_now_ms() >= end_ms, &lock, &code)) {
        if (*mirror == NULL)
            code = mirror_follow(ctl, q->path, reads(ctl, q), mirror);
        if (code == 0)
            code = look_again(ctl, q, *mirror, end_ms, &lock);
    }
    return code;
}

/* There is one question. */
static int ask(struct lockctl *ctl, const char *verb, const char *path)
{
    int questions = asked.free + asked.held + (asked.holder != NULL);
    struct mirror *mirror = NULL;

    if (questions != 1)
        return lockctl_fail(EX_USAGE,
                            questions > 1 ? "%s: only one question"
                                          : "%s: --free, --held or --held-by?",
                            verb);
    asked.path = path;
    int code = lockctl_connect(ctl);
    if (code == 0)
        code = wait_until(ctl, &asked, &mirror);
    mirror_close(ctl, mirror);
    return code;
}

static int check(struct lockctl *ctl, int argc, char **argv)
{
    (void)argc;
    asked.wait_ms = 0;
    int code = ask(ctl, "check", argv[0]);
    return code == EX_TEMPFAIL ? EX_NO : code;
}

static int wait_verb(struct lockctl *ctl, int argc, char **argv)
{
    (void)argc;
    return ask(ctl, "wait", argv[0]);
}

const struct verb verb_check = {
    .name = "check",
    .usage = "--free | --held | --held-by HOST[:PID]  LOCK",
    .summary = "Tell by the exit code, 0 or 1, whether a lock is free or held",
    .options = check_options,
    .into = &asked,
    .takes = TAKES_LOCK,
    .run = check,
};

const struct verb verb_wait = {
    .name = "wait",
    .usage = "--free | --held | --held-by HOST[:PID]  [-w DURATION] LOCK",
    .summary = "Wait until a lock is free or held",
    .options = wait_options,
    .into = &asked,
    .takes = TAKES_LOCK,
    .run = wait_verb,
};
