/* SPDX-License-Identifier: Apache-2.0 */
/* revoke: asks the holders of a lock to give it back, and waits for that. */
#include "verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/now.h"
#include "common/words.h"
#include "model/breaking.h"
#include "model/cons.h"
#include "model/scan.h"
#include "text/lock_fields.h"

struct order {
    int64_t wait_ms;
    const char *reason; /* NULL: none is told */
    const char *holder; /* HOST[:PID]: all that it holds; NULL: one lock */
};
static struct order order = { .wait_ms = 10000 };

/* clang-format off */
static const struct opt options[] = {
    { "wait", 'w', "DURATION", .type = OPT_MS, .at = AT(order, wait_ms),
      .help = "how long to wait for them; exit code 75 when one of them still holds then (10s)" },
    { "reason", .value = "TEXT", .type = OPT_TEXT, .at = AT(order, reason),
      .help = "why, for a holder that uses zkrecipes, and for log" },
    { "holder", .value = "HOST[:PID]", .type = OPT_TEXT, .at = AT(order, holder),
      .help = "ask that process, or all of a host, for whatever they hold at and below LOCK (/)" },
    { .name = NULL },
};
/* clang-format on */

static bool is_meant(const struct contender *c)
{
    return c->node->holds && contender_is_by(c, order.holder);
}

/* A reason reaches also those who have been asked before, and read it. */
static int ask_one(struct lockctl *ctl, const struct lock *lock,
                   const struct contender *c)
{
    const char *told = revoking_is_read(c) ? order.reason : NULL;
    char node[NODE_PATH_MAX];
    char who[WHO_MAX];
    int rc = ZKR_OK;

    if (!revoking_path(lock, c, node))
        return EX_DATAERR;
    if (c->node->token == 0)
        return lockctl_fail(EX_NOPERM,
                            "the node of the holder may not be read, so it "
                            "cannot be known again");
    if (!c->owner.is_asked || told != NULL)
        rc = revoking_write(ctl, node, c->node->token, told);
    if (rc != ZKR_OK && rc != ZKR_ZNONODE)
        return lockctl_fail_zkr(rc);
    (void)contender_who(c, who);
    if (rc == ZKR_ZNONODE)
        lockctl_say(ctl, "%s has let go by itself", who);
    else
        lockctl_say(
            ctl, "asked %s%s", who,
            told == order.reason ? "" : "; its client does not read reasons");
    return 0;
}

static bool hears(const struct contender *c)
{
    return c->owner.is_asked || zkr__hears_requests(c->node, c->dialect);
}

/* Of others the request would only replace the record of the owner. */
static bool is_heard(const struct lockctl *ctl, const struct contender *c)
{
    bool unknown = c->dialect == ZKR__DIALECT_UNKNOWN;
    char who[WHO_MAX];

    if (hears(c))
        return true;
    lockctl_say(ctl, "%s is not asked: %s %s", contender_who(c, who),
                unknown ? "its node does not tell whether its client"
                        : zkr__dialect_name(c->dialect),
                unknown ? "listens" : "does not listen");
    return false;
}

static int ask(struct lockctl *ctl, const struct lock *lock)
{
    int code = 0;

    for (size_t i = 0; i < lock->count && code == 0; i++) {
        const struct contender *c = &lock->items[i];

        if (is_meant(c) && is_heard(ctl, c))
            code = ask_one(ctl, lock, c);
    }
    return code;
}

/* The next who was asked, or was not, after so many contenders, and still
 * holds; NULL. They are known by their tokens: the request has replaced what
 * their nodes said of them, and names of nodes may come back. */
static const struct contender *next_holder(const struct lock *before,
                                           const struct lock *now, bool asked,
                                           size_t *i)
{
    while (*i < before->count) {
        const struct contender *c = &before->items[(*i)++];

        if (is_meant(c) && hears(c) == asked &&
            lock_find(now, c->node->token, true, NULL) != NULL)
            return c;
    }
    return NULL;
}

/* ", connected from ADDRESS to SERVER," or that it is not; "" when the servers
 * do not tell. */
enum { PLACE_MAX = 200 };
static const char *place_of(const struct contender *c,
                            const struct servers *servers, char text[PLACE_MAX])
{
    const struct client *client = servers_client(servers, c->node->session_id);

    if (client == NULL)
        return servers_lack(servers, c->node->session_id)
                   ? ", whose client is connected to no server,"
                   : "";
    (void)snprintf(text, PLACE_MAX, ", connected from %s to %s,",
                   client->address, client->server);
    return text;
}

static void say_next_step(const struct lockctl *ctl, const struct lock *now,
                          const struct lock *before,
                          const struct servers *servers)
{
    const struct contender *c;
    char who[WHO_MAX];
    char place[PLACE_MAX];
    char stop[STOP_MAX];

    for (size_t i = 0; (c = next_holder(before, now, true, &i)) != NULL;) {
        char *cure = breaking_command(c, false, order.reason);

        lockctl_say(ctl, "%s%s has not given it back; stop %s, or: %s",
                    contender_who(c, who), place_of(c, servers, place),
                    contender_to_stop(c, "it", stop), cure);
        free(cure);
    }
}

/* Until none of them holds, as it is then. */
static int await(struct lockctl *ctl, const struct lock *before,
                 int64_t deadline_ms, struct lock *ret_now)
{
    uint32_t reads = one_lock_reads(ctl, (uint32_t)before->holders + 1);

    for (;;) {
        int64_t left = deadline_ms - clock_now_ms();
        size_t first = 0;
        int code =
            scan_lock(ctl->session, before->path, reads, SCAN_ANY, ret_now);

        if (code != 0 || next_holder(before, ret_now, true, &first) == NULL)
            return code;
        if (left <= 0)
            return EX_TEMPFAIL;
        lock_done(ret_now);
        clock_sleep_ms(left < 100 ? left : 100);
    }
}

/* Until its holders have given it back. The servers are asked for all locks at
 * once, when one was not given back. */
static int see_to_end(struct lockctl *ctl, const struct lock *before,
                      int64_t deadline_ms, struct servers **servers)
{
    struct notes notes = { .count = 0 };
    struct lock now = { .path = NULL };
    int code = await(ctl, before, deadline_ms, &now);
    size_t deaf = 0;
    int printed;

    if (now.path == NULL)
        return code;
    if (code == EX_TEMPFAIL && *servers == NULL)
        *servers = servers_ask(ctl, &notes);
    if (code == EX_TEMPFAIL)
        say_next_step(ctl, &now, before, *servers);
    notes_say(&notes, ctl);
    notes_done(&notes);
    if (code == 0 && next_holder(before, &now, false, &deaf) != NULL)
        code = EX_TEMPFAIL;
    if (code == 0 || code == EX_TEMPFAIL) {
        one_lock_say(ctl, &now);
        printed = one_lock_print(ctl, &now);
        code = code == 0 ? printed : code;
    }
    lock_done(&now);
    return code;
}

/* All are asked before it waits for the first. The code is that of the first
 * that failed. */
static int revoke_locks(struct lockctl *ctl, const struct lock *locks,
                        size_t count)
{
    struct servers *servers = NULL;
    int code = 0;

    for (size_t i = 0; code == 0 && i < count; i++)
        code = ask(ctl, &locks[i]);
    int64_t deadline_ms = clock_now_ms() + order.wait_ms;
    for (size_t i = 0; i < count && (code == 0 || code == EX_TEMPFAIL); i++) {
        int one = see_to_end(ctl, &locks[i], deadline_ms, &servers);

        code = code == 0 || one != 0 ? one : code;
    }
    servers_free(servers);
    return code;
}

/* The locks of a scan that the process holds come first. */
static size_t held_by(struct scan *scan, const char *holder)
{
    size_t count = 0;

    for (size_t i = 0; i < scan->count; i++) {
        struct lock lock = scan->locks[i];

        if (lock_is_held_by(&lock, holder, 0)) {
            scan->locks[i] = scan->locks[count];
            scan->locks[count++] = lock;
        }
    }
    return count;
}

static int revoke_of(struct lockctl *ctl, const char *root)
{
    const struct scan_opts opts = { .timeout_ms = 60000,
                                    .reads = SCAN_HOLDERS };
    struct scan scan;
    int code = scan_below(ctl, &root, 1, &opts, &scan);

    if (code != 0)
        return code;
    size_t count = held_by(&scan, order.holder);
    if (count == 0)
        lockctl_say(ctl, "%s holds none of %zu lock%s", order.holder,
                    scan.count, word_plural(scan.count));
    code = scan_code(&scan, revoke_locks(ctl, scan.locks, count));
    notes_say(&scan.notes, ctl);
    scan_done(&scan);
    return code;
}

static int revoke_one(struct lockctl *ctl, const char *path)
{
    struct lock lock;
    int code = scan_lock(ctl->session, path, SCAN_HOLDERS, 0, &lock);

    if (code != 0)
        return code;
    code = revoke_locks(ctl, &lock, 1);
    lock_done(&lock);
    return code;
}

static int revoke(struct lockctl *ctl, int argc, char **argv)
{
    int code = revoking_check_reason(order.reason);

    if (code != 0)
        return code;
    if (order.holder == NULL && argc == 0)
        return lockctl_fail(EX_USAGE, "revoke: which lock?");
    if (order.holder != NULL && ctl->format == FORMAT_JSON)
        return lockctl_fail(EX_USAGE, "revoke: a line for each lock; choose "
                                      "-o jsonl");
    code = lockctl_connect(ctl);
    if (code != 0)
        return code;
    return order.holder != NULL ? revoke_of(ctl, argv[0])
                                : revoke_one(ctl, argv[0]);
}

const struct verb verb_revoke = {
    .name = "revoke",
    .usage = "[OPTION]... LOCK | --holder HOST[:PID] [PATH]",
    .summary = "Ask the holders of a lock to give it back",
    .options = options,
    .into = &order,
    .takes = TAKES_PATH,
    .help = "The program of the holder decides what it does. The request\n"
            "replaces the text in its node that names the owner.\n",
    .run = revoke,
};
