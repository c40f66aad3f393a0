/* SPDX-License-Identifier: Apache-2.0 */
/* revoke: asks the holders of a lock to give it back, and waits for that. */
#include "verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/now.h"
#include "common/shell.h"
#include "common/words.h"
#include "model/ask_servers.h"
#include "model/revoking.h"
#include "model/scan_lock.h"
#include "text/one_lock.h"

struct order {
    int64_t wait_ms;
    bool anyway;
    bool ask_servers;
};

/* clang-format off */
#define AT(member) offsetof(struct order, member)
static const struct opt options[] = {
    { "wait", 'w', "DURATION", .type = OPT_MS, .at = AT(wait_ms),
      .help = "how long to wait for them; exit code 75 when one of them still holds then (10s)" },
    { "anyway", .type = OPT_ON, .at = AT(anyway),
      .help = "ask also where the client does not say that it listens" },
    { "no-4lw", .type = OPT_OFF, .at = AT(ask_servers),
      .help = "do not ask the servers where the client of such a holder is" },
    { .name = NULL },
};
#undef AT
/* clang-format on */

/* The holders that were asked, by their tokens: names of nodes may come back,
 * tokens do not. The request has replaced what their nodes said of them. */
struct asked {
    struct {
        int64_t token;
        int64_t session_id;
        char who[WHO_MAX];
        char stop[STOP_MAX];
    } * items;
    size_t count;
    uint32_t reads;   /* in the queue they are among the first so many */
    bool deaf;        /* somebody holds who was not asked */
    bool ask_servers; /* for the addresses of those who do not give it back */
};

static int ask_one(struct lockctl *ctl, const struct lock *lock,
                   const struct contender *c, struct asked *asked)
{
    struct target target;
    struct outcome outcome;
    char stop[STOP_MAX];

    if (!target_set(&target, lock, c))
        return lockctl_fail(EX_DATAERR, "the name of the node is too long");
    (void)revoking_ask(ctl, &target, &outcome);
    if (outcome.code == 0) {
        asked->items[asked->count].token = target.token;
        asked->items[asked->count].session_id = c->node->session_id;
        (void)strcpy(asked->items[asked->count].who, target.who);
        (void)snprintf(asked->items[asked->count++].stop, STOP_MAX, "%s",
                       contender_to_stop(c, "it", stop));
    }
    return outcome_say(&outcome, ctl);
}

static int ask(struct lockctl *ctl, const struct lock *lock, bool anyway,
               struct asked *asked)
{
    struct outcome why;
    int code = 0;

    for (size_t i = 0; i < lock->count && code == 0; i++) {
        const struct contender *c = &lock->items[i];

        if (!c->node->holds)
            continue;
        if (anyway || revoking_is_heard(c, &why)) {
            code = ask_one(ctl, lock, c, asked);
        } else {
            asked->deaf = true;
            lockctl_say(ctl, "%s", why.text);
        }
    }
    return code;
}

static bool still_holds(const struct lock *lock, const struct asked *asked)
{
    for (size_t i = 0; i < asked->count; i++) {
        if (lock_holder(lock, asked->items[i].token, NULL) != NULL)
            return true;
    }
    return false;
}

enum { FROM_MAX = 250 };

/* " (it is connected from ADDRESS)", or "" where that is not known. */
static const char *word_from(const struct servers *servers, int64_t session_id,
                             char text[FROM_MAX])
{
    const struct client *client = servers == NULL || session_id == 0
                                      ? NULL
                                      : servers_client(servers, session_id);
    char address[200];

    if (client == NULL)
        return "";
    (void)escape_string(client->address, address, sizeof(address));
    (void)snprintf(text, FROM_MAX, " (it is connected from %s)", address);
    return text;
}

static void say_next_step(const struct lockctl *ctl, const struct lock *lock,
                          const struct asked *asked,
                          const struct servers *servers)
{
    char *path = shell_word(lock->path);
    char token[WORD_MAX];
    char from[FROM_MAX];

    for (size_t i = 0; path != NULL && i < asked->count; i++) {
        if (lock_holder(lock, asked->items[i].token, NULL) != NULL)
            lockctl_say(ctl,
                        "%s has not given it back%s; stop %s, or: zk-lockctl "
                        "break --token %s %s",
                        asked->items[i].who,
                        word_from(servers, asked->items[i].session_id, from),
                        asked->items[i].stop,
                        word_token(asked->items[i].token, token), path);
    }
    free(path);
}

/* An address that no server tells is left out, without a note. */
static void tell_next_step(const struct lockctl *ctl, const struct lock *lock,
                           const struct asked *asked)
{
    struct notes notes = { .count = 0 };
    struct servers *servers =
        asked->ask_servers && !ctl->quiet
            ? servers_ask(ctl, SERVERS_CONS, lock->path, &notes)
            : NULL;

    say_next_step(ctl, lock, asked, servers);
    notes_done(&notes);
    servers_free(servers);
}

/* Until none of them holds. The lock is as it was when it was last seen. */
static int await(struct lockctl *ctl, const char *path,
                 const struct asked *asked, int64_t wait_ms, struct lock *lock)
{
    int64_t deadline = clock_now_ms() + wait_ms;

    for (;;) {
        int64_t left = deadline - clock_now_ms();
        struct lock next;
        int code = scan_again(ctl->session, path,
                              one_lock_reads(ctl, asked->reads), &next);

        if (code != 0)
            return code;
        lock_done(lock);
        *lock = next;
        if (!still_holds(lock, asked))
            return 0;
        if (left <= 0)
            return EX_TEMPFAIL;
        clock_sleep_ms(left < 100 ? left : 100);
    }
}

static int revoke_lock(struct lockctl *ctl, const char *path, int64_t wait_ms,
                       bool anyway, bool ask_servers)
{
    struct asked asked = { .ask_servers = ask_servers };
    struct lock lock;
    int printed;
    int code = scan_lock(ctl->session, path, SCAN_HOLDERS, NULL, &lock);

    if (code != 0)
        return code;
    asked.items = calloc(lock.holders + 1, sizeof(*asked.items));
    asked.reads = (uint32_t)lock.holders + 1;
    if (asked.items == NULL) {
        lock_done(&lock);
        return lockctl_fail_error(ZKR_ENOMEM, "");
    }
    code = ask(ctl, &lock, anyway, &asked);
    if (code == 0)
        code = await(ctl, path, &asked, wait_ms, &lock);
    if (code == EX_TEMPFAIL)
        tell_next_step(ctl, &lock, &asked);
    free(asked.items);
    if (code == 0 && asked.deaf)
        code = EX_TEMPFAIL;
    if (code == 0 || code == EX_TEMPFAIL) {
        one_lock_say(ctl, &lock);
        printed = one_lock_print(ctl, &lock);
        code = code == 0 ? printed : code;
    }
    lock_done(&lock);
    return code;
}

static int revoke(struct lockctl *ctl, int argc, char **argv)
{
    struct order order = { .wait_ms = 10000, .ask_servers = true };
    char path[ZKR_PATH_MAX + 1];
    int code;

    if (!lockctl_parse(ctl, &verb_revoke, &argc, &argv, &order) ||
        !lockctl_take_lock(&verb_revoke, argc, argv, path))
        return EX_USAGE;
    code = lockctl_connect(ctl);
    return code == 0 ? revoke_lock(ctl, path, order.wait_ms, order.anyway,
                                   order.ask_servers)
                     : code;
}

const struct verb verb_revoke = {
    .name = "revoke",
    .usage = "[-w DURATION] [--anyway] LOCK",
    .summary = "Ask the holders of a lock to give it back",
    .options = options,
    .help = "The program of the holder decides what it does. The request\n"
            "replaces the text in its node that names the owner.\n",
    .run = revoke,
};
