/* SPDX-License-Identifier: Apache-2.0 */
/* break: deletes the node of a holder, as the last resort, or of a waiter. */
#include "verbs/verbs.h"

#include <stdio.h>
#include <string.h>

#include "common/words.h"
#include "model/ask_servers.h"
#include "model/breaking.h"
#include "model/revoking.h"
#include "model/scan_lock.h"
#include "text/one_lock.h"

struct order {
    bool yes;
    int64_t token; /* 0: not given */
    bool ask_servers;
    const char *reason; /* NULL: none is told */
    char path[ZKR_PATH_MAX + 1];
};

static int take_token(const struct opt *o, void *at, const char *value)
{
    return word_read_token(value, at) && *(int64_t *)at != 0
               ? 0
               : opt_fail(o, value, "a token");
}

/* clang-format off */
#define AT(member) offsetof(struct order, member)
static const struct opt options[] = {
    { "token", .value = "TOKEN", .type = OPT_CALL, .at = AT(token), .take = take_token,
      .help = "the holder that is meant, as ls and show tell it; of a waiter, the node that is removed from the queue" },
    { "reason", .value = "TEXT", .type = OPT_TEXT, .at = AT(reason),
      .help = "why, for a holder that uses zkrecipes, for log, and for the system log" },
    { "yes", .type = OPT_ON, .at = AT(yes), .help = "do not ask on the terminal; needs --token" },
    { "no-4lw", .type = OPT_OFF, .at = AT(ask_servers),
      .help = "do not ask the servers whether the client lives" },
    { .name = NULL },
};
#undef AT
/* clang-format on */

/* --- the question --- */

static int confirm(const struct contender *c)
{
    char line[64] = "";
    char token[WORD_MAX];
    int64_t typed;
    FILE *tty = fopen("/dev/tty", "r+e");

    if (tty == NULL)
        return lockctl_fail(EX_USAGE,
                            "no terminal to ask on: use --yes "
                            "--token %s",
                            word_token(c->node->token, token));
    (void)fprintf(tty, "Type the token %s to %s, anything else not to: ",
                  word_token(c->node->token, token),
                  c->node->holds ? "break the lock" : "remove the waiter");
    (void)fflush(tty);
    if (fgets(line, sizeof(line), tty) == NULL)
        line[0] = '\0';
    (void)fclose(tty);
    line[strcspn(line, "\r\n")] = '\0';
    if (word_read_token(line, &typed) && typed == c->node->token)
        return 0;
    return lockctl_fail(EX_DATAERR, "not the token: nothing was done");
}

/* --- the deed --- */

/* Lists who holds it now. */
static int tell_after(struct lockctl *ctl, const char *path)
{
    struct lock lock;
    int code = scan_again(ctl->session, path, one_lock_reads(ctl, 1), &lock);

    if (code != 0)
        return code;
    one_lock_say(ctl, &lock);
    code = one_lock_print(ctl, &lock);
    lock_done(&lock);
    return code;
}

/* There is no question without what it is about. */
static void tell_before(const struct lockctl *ctl, const struct order *order,
                        const struct lock *lock, const struct contender *c)
{
    struct lockctl loud = *ctl;
    struct notes notes = { .count = 0 };
    struct notes lines = { .count = 0 };
    struct servers *servers = NULL;

    loud.quiet = ctl->quiet && order->yes;
    if (order->ask_servers)
        servers =
            servers_ask(ctl, SERVERS_CONS | SERVERS_DUMP, lock->path, &notes);
    breaking_tell(ctl, lock, c, servers, &lines);
    for (size_t i = 0; i < lines.count; i++)
        lockctl_say(&loud, "%s", lines.texts[i]);
    notes_say(&notes, &loud);
    notes_done(&lines);
    notes_done(&notes);
    servers_free(servers);
}

static int break_contender(struct lockctl *ctl, const struct order *order,
                           const struct lock *lock, const struct contender *c)
{
    struct target target;
    struct outcome outcome;
    int code = 0;

    if (!target_set(&target, lock, c))
        return lockctl_fail(EX_DATAERR, "the name of the node is too long");
    tell_before(ctl, order, lock, c);
    if (!order->yes)
        code = confirm(c);
    if (code != 0)
        return code;
    (void)breaking_do(ctl, &target, order->reason, &outcome);
    code = outcome_say(&outcome, ctl);
    return code == 0 ? tell_after(ctl, order->path) : code;
}

/* Reads the whole queue only for a token that no holder has. */
static int look(const struct lockctl *ctl, const struct order *order,
                struct lock *lock)
{
    int code = scan_lock(ctl->session, order->path, SCAN_HOLDERS, NULL, lock);

    if (code != 0 || order->token == 0 || lock->read == lock->count ||
        lock_holder(lock, order->token, NULL) != NULL)
        return code;
    lock_done(lock);
    return scan_lock(ctl->session, order->path, SCAN_ALL, NULL, lock);
}

static int break_lock(struct lockctl *ctl, const struct order *order)
{
    const struct contender *c;
    struct outcome outcome;
    struct lock lock;
    int code = look(ctl, order, &lock);

    if (code != 0)
        return code;
    c = breaking_choose(&lock, order->token, &outcome);
    if (c != NULL) {
        code = break_contender(ctl, order, &lock, c);
    } else {
        one_lock_say(ctl, &lock);
        code = outcome_say(&outcome, ctl);
    }
    lock_done(&lock);
    return code;
}

static int break_verb(struct lockctl *ctl, int argc, char **argv)
{
    struct order order = { .ask_servers = true };
    int code;

    if (!lockctl_parse(ctl, &verb_break, &argc, &argv, &order))
        return EX_USAGE;
    if (revoking_check_reason(order.reason) != 0)
        return EX_USAGE;
    if (order.yes && order.token == 0)
        return lockctl_fail(EX_USAGE, "--yes needs --token, so that no other "
                                      "holder is meant");
    if (!lockctl_take_lock(&verb_break, argc, argv, order.path))
        return EX_USAGE;
    code = lockctl_connect(ctl);
    return code == 0 ? break_lock(ctl, &order) : code;
}

const struct verb verb_break = {
    .name = "break",
    .usage = "[--token TOKEN [--yes]] LOCK",
    .summary = "Take a lock away from its holder, which is not stopped by that",
    .options = options,
    .help =
        "Try revoke first. The next in the queue is granted at once, while\n"
        "the old holder may still be at work. Stop it before, or see that\n"
        "what it works on checks tokens.\n",
    .run = break_verb,
};
