/* SPDX-License-Identifier: Apache-2.0 */
/* break: deletes the node of a holder, as the last resort, or of a waiter. */
#include "verbs/verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "common/escape.h"
#include "common/now.h"
#include "common/words.h"
#include "model/breaking.h"
#include "model/cons.h"
#include "model/scan.h"
#include "text/lock_fields.h"

enum { READ_MS = 200 };

struct order {
    bool yes;
    int64_t token; /* 0: not given */
    bool ask_servers;
    const char *reason; /* NULL: none is told */
};
static struct order order = { .ask_servers = true };

static int take_token(const struct opt *o, void *at, const char *value)
{
    return word_read_token(value, at) && *(int64_t *)at != 0
               ? 0
               : opt_fail(o, value, "a token");
}

/* clang-format off */
static const struct opt options[] = {
    { "token", .value = "TOKEN", .type = OPT_CALL, .at = AT(order, token), .take = take_token,
      .help = "the holder that is meant, as ls and show tell it; of a waiter, the node that is removed from the queue" },
    { "reason", .value = "TEXT", .type = OPT_TEXT, .at = AT(order, reason),
      .help = "why, for a holder that uses zkrecipes, for log, and for the system log" },
    { "yes", .type = OPT_ON, .at = AT(order, yes), .help = "do not ask on the terminal; needs --token" },
    { "no-4lw", .type = OPT_OFF, .at = AT(order, ask_servers),
      .help = "do not ask the servers whether the client lives" },
    { .name = NULL },
};
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

static void leave_a_trace(const struct lockctl *ctl, const struct lock *lock,
                          const struct contender *c, const char *reason)
{
    bool waits = !c->node->holds;
    char ensemble[ENSEMBLE_MAX];
    char who[WHO_MAX];
    char path[512];

    (void)escape_string(lock->path, path, sizeof(path));
    openlog("zk-lockctl", LOG_PID, LOG_USER);
    syslog(LOG_WARNING,
           "uid %u %s %s, %s by %s, token %" PRId64 ", ensemble %s%s%s",
           (unsigned)getuid(), waits ? "removed a waiter of" : "broke", path,
           waits ? "made" : "held", contender_who(c, who), c->node->token,
           lockctl_ensemble(ctl, ensemble), reason == NULL ? "" : ": ",
           reason == NULL ? "" : reason);
    closelog();
}

/* A waiter may have been granted the lock since it was seen: then the user has
 * not been told what its end means. There remains a window of one round trip.
 * 0, or an exit code after an error was said. */
static int refuse_by_now(const struct lockctl *ctl, const char *path,
                         const struct contender *c)
{
    char who[WHO_MAX];
    struct lock lock;
    int rc = lock_list(ctl->session, path, SCAN_HOLDERS, 0, &lock);

    if (rc == ZKR_ZNONODE)
        return 0;
    if (rc != ZKR_OK)
        return lockctl_fail_zkr(rc);
    bool holds = lock_find(&lock, c->node->token, true, NULL) != NULL;
    lock_done(&lock);
    return !holds ? 0
                  : lockctl_fail(EX_DATAERR,
                                 "%s is no waiter any more, it holds by now: "
                                 "nothing was done",
                                 contender_who(c, who));
}

/* A holder that can read the reason has a moment for it. Likewise. */
static int tell_reason(const struct lockctl *ctl, const char *node,
                       const struct contender *c, const char *reason)
{
    if (reason == NULL || !revoking_is_read(c))
        return 0;
    int rc = revoking_write(ctl, node, c->node->token, reason);
    if (rc != ZKR_OK && rc != ZKR_ZNONODE)
        return lockctl_fail_zkr(rc);
    clock_sleep_ms(READ_MS);
    return 0;
}

/* Deletes the node, if it still is that of the contender, and of a waiter that
 * still waits. */
static int break_node(const struct lockctl *ctl, const struct lock *lock,
                      const struct contender *c, const char *reason)
{
    char node[NODE_PATH_MAX];
    char who[WHO_MAX];
    int code = revoking_path(lock, c, node) ? 0 : EX_DATAERR;

    if (code == 0)
        code = c->node->holds ? tell_reason(ctl, node, c, reason)
                              : refuse_by_now(ctl, lock->path, c);
    if (code != 0)
        return code;
    int rc = zkr_participants_break(ctl->session, node, c->node->token, 0);
    (void)contender_who(c, who);
    if (rc == ZKR_ZNONODE || rc == ZKR_ENOTHELD)
        return lockctl_fail(EX_DATAERR,
                            "%s has let go by itself: nothing was done", who);
    if (rc != ZKR_OK)
        return lockctl_fail_zkr(rc);
    leave_a_trace(ctl, lock, c, reason);
    if (c->node->holds)
        lockctl_say(ctl, "broken: %s does not hold it any more", who);
    else
        lockctl_say(ctl,
                    "removed: the waiter at position %zu of the queue, %s, not "
                    "a holder",
                    c->place, who);
    return 0;
}

/* Lists who holds it now. */
static int tell_after(struct lockctl *ctl, const char *path)
{
    struct lock lock;
    int code =
        scan_lock(ctl->session, path, one_lock_reads(ctl, 1), SCAN_ANY, &lock);

    if (code != 0)
        return code;
    one_lock_say(ctl, &lock);
    code = one_lock_print(ctl, &lock);
    lock_done(&lock);
    return code;
}

/* There is no question without what it is about. */
static void tell_before(const struct lockctl *ctl, const struct lock *lock,
                        const struct contender *c)
{
    struct lockctl loud = *ctl;
    struct notes notes = { .count = 0 };
    struct notes lines = { .count = 0 };
    struct servers *servers = NULL;

    loud.quiet = ctl->quiet && order.yes;
    if (order.ask_servers)
        servers = servers_ask(ctl, &notes);
    breaking_tell(ctl, lock, c, servers, &lines);
    for (size_t i = 0; i < lines.count; i++)
        lockctl_say(&loud, "%s", lines.texts[i]);
    notes_say(&notes, &loud);
    notes_done(&lines);
    notes_done(&notes);
    servers_free(servers);
}

static int break_contender(struct lockctl *ctl, const struct lock *lock,
                           const struct contender *c)
{
    int code = 0;

    tell_before(ctl, lock, c);
    if (!order.yes)
        code = confirm(c);
    if (code == 0)
        code = break_node(ctl, lock, c, order.reason);
    return code == 0 ? tell_after(ctl, lock->path) : code;
}

/* Reads the whole queue only for a token that no holder has. */
static int look(const struct lockctl *ctl, const char *path, struct lock *lock)
{
    int code = scan_lock(ctl->session, path, SCAN_HOLDERS, 0, lock);

    if (code != 0 || order.token == 0 || lock->read == lock->count ||
        lock_find(lock, order.token, true, NULL) != NULL)
        return code;
    lock_done(lock);
    return scan_lock(ctl->session, path, SCAN_ALL, 0, lock);
}

static int break_lock(struct lockctl *ctl, const char *path)
{
    struct lock lock;
    int code = look(ctl, path, &lock);

    if (code != 0)
        return code;
    const struct contender *c = breaking_choose(&lock, order.token);
    if (c != NULL) {
        code = break_contender(ctl, &lock, c);
    } else {
        code = lockctl_failure()->exit_code;
        one_lock_say(ctl, &lock);
    }
    lock_done(&lock);
    return code;
}

static int break_verb(struct lockctl *ctl, int argc, char **argv)
{
    (void)argc;
    if (revoking_check_reason(order.reason) != 0)
        return EX_USAGE;
    if (order.yes && order.token == 0)
        return lockctl_fail(EX_USAGE, "--yes needs --token, so that no other "
                                      "holder is meant");
    int code = lockctl_connect(ctl);
    return code == 0 ? break_lock(ctl, argv[0]) : code;
}

const struct verb verb_break = {
    .name = "break",
    .usage = "[--token TOKEN [--yes]] LOCK",
    .summary = "Take a lock away from its holder, which is not stopped by that",
    .options = options,
    .into = &order,
    .takes = TAKES_LOCK,
    .help =
        "Try revoke first. The next in the queue is granted at once, while\n"
        "the old holder may still be at work. Stop it before, or see that\n"
        "what it works on checks tokens.\n",
    .run = break_verb,
};
