/* SPDX-License-Identifier: Apache-2.0 */
/* break: deletes the node of a holder, as the last resort. */
#include "verbs/verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "common/escape.h"
#include "common/words.h"
#include "model/scan.h"
#include "model/servers.h"
#include "text/one_lock.h"

enum { NODE_MAX = 2 * ZKR_PATH_MAX };

enum {
    OPTION_YES = OPTION_FIRST,
    OPTION_TOKEN,
    OPTION_NO_4LW,
};

static const struct option options[] = {
    { "yes", no_argument, NULL, OPTION_YES },
    { "token", required_argument, NULL, OPTION_TOKEN },
    { "no-4lw", no_argument, NULL, OPTION_NO_4LW },
    { NULL, 0, NULL, 0 },
};

struct order {
    bool yes;
    int64_t token; /* 0: not given */
    bool ask_servers;
    char path[ZKR_PATH_MAX + 1];
};

/* --- what it would mean --- */

static void say_liveness(const struct lockctl *ctl, const struct contender *c,
                         const struct servers *servers)
{
    const struct client *client =
        servers == NULL ? NULL : servers_client(servers, c->node->session_id);
    enum answer alive =
        servers == NULL ? ANSWER_UNKNOWN
                        : servers_session_lives(servers, c->node->session_id);
    char address[200];

    if (c->node->session_id == 0) {
        lockctl_say(ctl, "  its node belongs to no session: it stays until "
                         "somebody deletes it");
        return;
    }
    if (client != NULL) {
        (void)escape_string(client->address, address, sizeof(address));
        lockctl_say(ctl, "  it is connected from %s to %s, session timeout %gs",
                    address, client->server, (double)client->timeout_ms / 1000);
        return;
    }
    lockctl_say(ctl, "  its session %s",
                alive == ANSWER_YES
                    ? "lives; it is not connected to any server "
                      "that answers"
                : alive == ANSWER_NO
                    ? "is over: the servers are about to remove its node"
                    : "may live; the servers do not tell");
}

static void say_danger(const struct lockctl *ctl, const struct contender *c)
{
    if (c->dialect == DIALECT_UNKNOWN)
        lockctl_say(ctl,
                    "  DANGER: its node does not tell its client. With "
                    "zkrecipes it is told soon after; any other client does "
                    "not look at its own node, and goes on as if it held. Stop "
                    "it first");
    else if (dialect_sees_its_own_node(c->dialect))
        lockctl_say(ctl, "  it is told soon after, but is not stopped: until "
                         "then both may work");
    else
        lockctl_say(ctl,
                    "  DANGER: a holder in the dialect %s does not look at its "
                    "own node, and goes on as if it held. Stop it first",
                    dialect_name(c->dialect));
}

static void say_next(const struct lockctl *ctl, const struct lock *lock)
{
    const char *next = lock->kind == KIND_SEMAPHORE
                           ? "its permit is free at once, for the next of them"
                       : lock->kind == KIND_LATCH
                           ? "the next leads at once"
                           : "the next is granted at once";

    lockctl_say(ctl, "  %zu waiting; %s", lock->waiters, next);
}

static void say_holder(const struct lockctl *ctl, const struct lock *lock,
                       const struct contender *c, const struct servers *servers)
{
    char path[512];
    char who[WHO_MAX];
    char token[WORD_MAX];
    char session[WORD_MAX];
    char age[WORD_MAX];
    char label[ZKR_LABEL_MAX * 4 + 1];
    char ensemble[ENSEMBLE_MAX];

    (void)escape_string(c->owner.label, label, sizeof(label));
    (void)escape_string(lock->path, path, sizeof(path));
    lockctl_say(ctl, "%s%s is %s by %s",
                contender_is_lease(c->node) ? "a lease of " : "", path,
                lock->kind == KIND_LATCH ? "led" : "held",
                contender_who(c, who));
    lockctl_say(ctl, "  ensemble: %s", lockctl_ensemble(ctl, ensemble));
    if (c->owner.label[0] != '\0')
        lockctl_say(ctl, "  label: %s", label);
    lockctl_say(ctl, "  dialect %s, for <=%s, session %s, token %s",
                dialect_name(c->dialect),
                c->age_ms < 0 ? "?" : word_age(c->age_ms, age),
                word_id(c->node->session_id, session),
                word_token(c->node->token, token));
    say_liveness(ctl, c, servers);
    say_danger(ctl, c);
    say_next(ctl, lock);
}

/* --- which one --- */

/* The token selects one of several holders, unless two have the same token. */
static const struct contender *choose(const struct lock *lock,
                                      const struct order *order)
{
    const struct contender *c;

    if (order->token == 0)
        return lock->holders == 1 ? lock->holder : NULL;
    c = lock_holder(lock, order->token, NULL);
    return c == NULL || lock_holder(lock, order->token, c) != NULL ? NULL : c;
}

static int fail_choice(const struct lockctl *ctl, const struct lock *lock,
                       const struct order *order)
{
    char token[WORD_MAX];

    one_lock_say(ctl, lock);
    if (lock->holders == 0)
        return lockctl_fail(EX_DATAERR, "nobody holds it");
    if (lock_holder(lock, order->token, NULL) != NULL)
        return lockctl_fail(EX_DATAERR,
                            "several hold it with the token %s: they cannot be "
                            "told apart",
                            word_token(order->token, token));
    if (order->token != 0)
        return lockctl_fail(EX_DATAERR, "nobody holds it with the token %s",
                            word_token(order->token, token));
    return lockctl_fail(EX_DATAERR,
                        "there are %zu holders: say which, by "
                        "--token (zk-lockctl show)",
                        lock->holders);
}

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
    (void)fprintf(tty,
                  "Type the token %s to break the lock, anything else not to: ",
                  word_token(c->node->token, token));
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
                          const char *who, int64_t token)
{
    char path[512];
    char ensemble[ENSEMBLE_MAX];

    (void)escape_string(lock->path, path, sizeof(path));
    openlog("zk-lockctl", LOG_PID, LOG_USER);
    syslog(LOG_WARNING,
           "uid %u broke %s, held by %s, token %" PRId64 ", ensemble %s",
           (unsigned)getuid(), path, who, token,
           lockctl_ensemble(ctl, ensemble));
    closelog();
}

static int break_it(struct lockctl *ctl, const struct lock *lock,
                    const struct contender *c)
{
    char node[NODE_MAX];
    char who[WHO_MAX];
    int rc;

    if (!one_lock_node(lock, c, node, sizeof(node)))
        return EX_DATAERR;
    (void)contender_who(c, who);
    rc = zkr_participants_break(ctl->session, node, c->node->token, 0);
    if (rc == ZKR_ZNONODE || rc == ZKR_ENOTHELD)
        return lockctl_fail(EX_DATAERR,
                            "%s has let go by itself: nothing was "
                            "done",
                            who);
    if (rc != ZKR_OK)
        return lockctl_fail_zkr(rc);
    leave_a_trace(ctl, lock, who, c->node->token);
    lockctl_say(ctl, "broken: %s does not hold it any more", who);
    return 0;
}

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

static int break_holder(struct lockctl *ctl, const struct order *order,
                        const struct lock *lock, const struct contender *c)
{
    struct lockctl loud = *ctl; /* no question without what it is about */
    struct notes notes = { .count = 0 };
    struct servers *servers = NULL;
    int code = 0;

    loud.quiet = ctl->quiet && order->yes;
    if (c->node->token == 0)
        return lockctl_fail(EX_NOPERM,
                            "the node of the holder may not be read, "
                            "so it cannot be known again");
    if (order->ask_servers)
        servers =
            servers_ask(ctl, SERVERS_CONS | SERVERS_DUMP, lock->path, &notes);
    say_holder(&loud, lock, c, servers);
    servers_free(servers);
    notes_say(&notes, &loud);
    notes_done(&notes);
    if (!order->yes)
        code = confirm(c);
    if (code == 0)
        code = break_it(ctl, lock, c);
    return code == 0 ? tell_after(ctl, order->path) : code;
}

static int break_lock(struct lockctl *ctl, const struct order *order)
{
    const struct contender *c;
    struct lock lock;
    int code = scan_lock(ctl->session, order->path, SCAN_HOLDERS, NULL, &lock);

    if (code != 0)
        return code;
    c = choose(&lock, order);
    code = c == NULL ? fail_choice(ctl, &lock, order)
                     : break_holder(ctl, order, &lock, c);
    lock_done(&lock);
    return code;
}

static int break_verb(struct lockctl *ctl, int argc, char **argv)
{
    struct order order = { .ask_servers = true };
    int option;
    int code;

    while ((option = lockctl_option(ctl, &verb_break, argc, argv, "",
                                    options)) != -1) {
        if (option == OPTION_YES)
            order.yes = true;
        else if (option == OPTION_NO_4LW)
            order.ask_servers = false;
        else if (option != OPTION_TOKEN)
            return EX_USAGE;
        else if (!word_read_token(optarg, &order.token) || order.token == 0)
            return lockctl_fail(EX_USAGE, "--token: '%s' is not a token",
                                optarg);
    }
    if (argc - optind != 1)
        return lockctl_fail(EX_USAGE, "break: which lock?");
    if (order.yes && order.token == 0)
        return lockctl_fail(EX_USAGE, "--yes needs --token, so that no other "
                                      "holder is meant");
    if (!lockctl_parse_path(argv[optind], order.path, sizeof(order.path)))
        return EX_USAGE;
    code = lockctl_connect(ctl);
    return code == 0 ? break_lock(ctl, &order) : code;
}

const struct verb verb_break = {
    .name = "break",
    .usage = "[--token TOKEN [--yes]] LOCK",
    .summary = "Take a lock away from its holder, which is not stopped by that",
    .help =
        "  --token TOKEN  the holder that is meant, as ls and show tell it\n"
        "  --yes          do not ask on the terminal; needs --token\n"
        "  --no-4lw       do not ask the servers whether the holder lives\n"
        "\n"
        "Try revoke first. The next in the queue is granted at once, while\n"
        "the old holder may still be at work. Stop it before, or see that\n"
        "what it works on checks tokens.\n",
    .run = break_verb,
};
