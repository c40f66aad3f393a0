/* SPDX-License-Identifier: Apache-2.0 */
/* show: prints one queue in its order, and why each contender waits. */
#include "verbs/verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/now.h"
#include "common/plain.h"
#include "model/ask_servers.h"
#include "model/scan_lock.h"
#include "model/told.h"
#include "protocol/number.h"
#include "text/aligned.h"
#include "text/cells.h"
#include "text/describe.h"
#include "text/envelope.h"

enum { DEFAULT_LIMIT = 10000 };

struct order {
    uint32_t limit;
    bool ask; /* the servers */
};

/* clang-format off */
static const struct opt options[] = {
    { "limit", .value = "N", .type = OPT_COUNT, .at = offsetof(struct order, limit),
      .help = "show no more than the first N children (10000)" },
    { "no-4lw", .type = OPT_OFF, .at = offsetof(struct order, ask),
      .help = "do not ask the servers for cons, dump and wchp" },
    { .name = NULL },
};
/* clang-format on */

/* All that is shown: a lock, and the answers of the servers. */
struct view {
    struct lock lock;
    size_t shown; /* children, the first of the lock; of them */
    size_t queue; /* ... so many contend */
    struct told told;
    struct notes notes;
};

static const struct column columns[] = {
    { .name = "POS", .rank = 0, .right = true },
    { .name = "STATE", .rank = 1 },
    { .name = "OWNER", .rank = 2, .narrow = 20 },
    { .name = "LABEL", .rank = 6, .narrow = 12 },
    { .name = "CLIENT", .rank = 8 },
    { .name = "SESSION", .rank = 9 },
    { .name = "TIMEOUT", .rank = 10, .right = true },
    { .name = "SINCE", .rank = 3, .right = true },
    { .name = "BLOCKED-BY", .rank = 4 },
    { .name = "WATCH", .rank = 5 },
    { .name = "TOKEN", .rank = 7 },
    { .name = "MODE", .wide = true },
    { .name = "DIALECT", .wide = true },
    { .name = "THREAD", .wide = true },
    { .name = "QUEUED", .wide = true },
    { .name = "NODE", .wide = true },
};
enum { COLUMN_COUNT = sizeof(columns) / sizeof(columns[0]) };

/* --- the table --- */

struct cells {
    char position[WORD_MAX];
    char owner[WHO_MAX];
    char label[ZKR_LABEL_MAX * 4 + 1];
    char client[CLIENT_MAX];
    char session[WORD_MAX];
    char timeout[WORD_MAX];
    char since[WORD_MAX];
    char blocker[WORD_MAX];
    char token[WORD_MAX];
    char thread[300];
    char queued[WORD_MAX];
    char node[1200];
};

static const char *cell_timeout(const struct view *v, const struct contender *c,
                                char word[WORD_MAX])
{
    const struct client *client = told_client(&v->told, c);

    if (client == NULL)
        return "?";
    (void)snprintf(word, WORD_MAX, "%gs", (double)client->timeout_ms / 1000);
    return word;
}

static bool print_row(struct table *table, const void *of, size_t i)
{
    const struct view *v = of;
    const struct contender *c = &v->lock.items[i];
    const struct zkr_participant *p = c->node;
    bool is_foreign = p->kind == ZKR_PARTICIPANT_FOREIGN;
    const char *cells[COLUMN_COUNT] = { NULL };
    struct cells x;

    (void)escape_string(c->owner.label, x.label, sizeof(x.label));
    (void)escape_string(c->owner.thread, x.thread, sizeof(x.thread));
    (void)escape_string(p->name, x.node, sizeof(x.node));
    cells[0] = is_foreign ? NULL : cell_count(i, false, x.position);
    cells[1] = cell_state(&v->lock, c);
    cells[2] = contender_who(c, x.owner);
    cells[3] = x.label;
    cells[4] = cell_client(&v->told, c, x.client);
    cells[5] = cell_session(c, x.session);
    cells[6] = cell_timeout(v, c, x.timeout);
    cells[7] = cell_since(c, x.since);
    cells[8] = cell_blocker(&v->lock, c, x.blocker);
    cells[9] = cell_watch(&v->lock, &v->told, c);
    cells[10] = cell_token(c, x.token);
    cells[11] = cell_mode(c);
    cells[12] = zkr__dialect_name(c->dialect);
    cells[13] = x.thread;
    cells[14] = p->error == ZKR_OK ? word_time(p->since_ms, x.queued) : "?";
    cells[15] = x.node;
    return table_row(table, cells,
                     is_foreign                             ? STYLE_DIM
                     : p->holds                             ? STYLE_GOOD
                     : told_wakes(&v->told, c) == ANSWER_NO ? STYLE_BAD
                                                            : STYLE_PLAIN);
}

static void print_title(const struct view *v)
{
    const struct lock *lock = &v->lock;
    char path[PATH_TEXT_MAX];
    char plain[ZKR_PATH_MAX * 16 + 1];
    char queue[WORD_MAX];
    size_t foreign = lock->listed - lock->count - lock->members;

    (void)printf("%s  %s (%s)  %s  %s",
                 plain_text(cell_path(lock->path, path), plain, sizeof(plain)),
                 zkr__lock_kind_name(lock->kind),
                 zkr__dialect_name(lock->dialect), lock_state_name(lock->state),
                 cell_queue(lock, false, queue));
    if (v->queue < lock->count)
        (void)printf(", %zu shown", v->queue);
    if (foreign > 0)
        (void)printf(", %zu foreign", foreign);
    (void)putchar('\n');
}

static int print_table(const struct lockctl *ctl, const struct view *v)
{
    struct table *table;
    int code = table_new(ctl, columns, COLUMN_COUNT, &table);
    int ended;

    if (code != 0)
        return code;
    print_title(v);
    code = table_rows(table, print_row, v, v->shown);
    ended = table_end(table);
    return code != 0 ? code : ended;
}

/* --- JSON --- */

static json_t *json_answer(enum answer answer)
{
    return answer == ANSWER_UNKNOWN ? json_null()
                                    : json_boolean(answer == ANSWER_YES);
}

static json_t *describe(const struct view *v, const struct contender *c)
{
    json_t *all = describe_contender(&v->lock, c);
    const struct client *client = told_client(&v->told, c);

    if (all == NULL)
        return NULL;
    (void)json_object_set_new(
        all, "client",
        client == NULL ? json_null()
                       : json_text(client->address, strlen(client->address)));
    (void)json_object_set_new(
        all, "server",
        client == NULL ? json_null()
                       : json_text(client->server, strlen(client->server)));
    (void)json_object_set_new(
        all, "session_timeout_ms",
        client == NULL ? json_null() : json_integer(client->timeout_ms));
    (void)json_object_set_new(all, "session_alive",
                              json_answer(told_lives(&v->told, c)));
    (void)json_object_set_new(all, "watches",
                              contender_waits(c)
                                  ? json_answer(told_wakes(&v->told, c))
                                  : json_null());
    return all;
}

static json_t *describe_some(const struct view *v, size_t from, size_t to)
{
    json_t *some = json_array();

    for (size_t i = from; i < to; i++) {
        if (json_array_append_new(some, describe(v, &v->lock.items[i])) != 0) {
            json_decref(some);
            return NULL;
        }
    }
    return some;
}

static int print_json(const struct lockctl *ctl, const struct view *v)
{
    json_t *lock = describe_lock(&v->lock);
    json_t *queue = describe_some(v, 0, v->queue);
    json_t *foreign = describe_some(v, v->queue, v->shown);
    json_t *items = json_array();

    /* each takes its value, also when it fails */
    if (json_object_set_new(lock, "queue", queue) != 0 ||
        json_object_set_new(lock, "foreign_children", foreign) != 0 ||
        json_array_append(items, lock) != 0) {
        json_decref(lock);
        json_decref(items);
        return lockctl_fail_error(ZKR_ENOMEM, "");
    }
    json_decref(lock);
    return output_json(ctl, "LockQueue", v->lock.at_ms, items, &v->notes);
}

/* --- what is worth a word --- */

static void note_deaf(struct view *v)
{
    for (size_t i = 0; i < v->queue; i++) {
        const struct contender *c = &v->lock.items[i];

        if (contender_waits(c) && told_wakes(&v->told, c) == ANSWER_NO)
            notes_add(
                &v->notes,
                "pos %zu watches nobody ahead of it: it will not wake up, "
                "unless it was just about to look again",
                i);
    }
}

static void note_lock(struct view *v)
{
    const struct lock *lock = &v->lock;

    if (lock->kind == ZKR__KIND_MIXED)
        notes_add(&v->notes, "several recipes are used on this path; they do "
                             "not exclude each other");
    if (lock->kind == ZKR__KIND_UNFAIR)
        notes_add(&v->notes, "a waiter for an unfair mutex has no node, and "
                             "is not shown");
    if (lock->listed > lock->count && (lock->dialect == ZKR__DIALECT_CURATOR ||
                                       lock->dialect == ZKR__DIALECT_MIXED ||
                                       lock->dialect == ZKR__DIALECT_UNKNOWN))
        notes_add(&v->notes,
                  "Curator counts foreign children (%zu) as contenders, "
                  "and may wait for them",
                  lock->listed - lock->count);
    if (lock->cut)
        notes_add(&v->notes, "only %zu of %zu children are listed", v->shown,
                  lock->total);
}

static int print(const struct lockctl *ctl, struct view *v)
{
    int code;

    note_lock(v);
    note_deaf(v);
    code = output_is_json(ctl) ? print_json(ctl, v) : print_table(ctl, v);
    (void)fflush(stdout);
    notes_say(&v->notes, ctl);
    return code;
}

/* An address as text has 8 bytes, too: "10.0.0.1". */
static bool may_be_counter(const struct zkr_reply *reply)
{
    bool text = true;

    for (size_t i = 0; i < reply->len; i++)
        text = text && reply->data[i] >= ' ' && reply->data[i] <= '~';
    return (reply->len == 8 || reply->len == 4) && !text;
}

/* A number as kazoo writes it. */
static bool is_decimal(const char *data, size_t len)
{
    size_t sign = len > 0 && data[0] == '-';

    for (size_t i = sign; i < len; i++) {
        if (data[i] < '0' || data[i] > '9')
            return false;
    }
    return len > sign && len <= 20;
}

/* A node without children need not be a lock that nobody wants. */
static void note_data(const struct lockctl *ctl, struct view *v)
{
    struct zkr_reply *reply = NULL;
    int64_t number;

    if (zkr_session_get(ctl->session, v->lock.path, ctl->timeout_ms, &reply) !=
        ZKR_OK)
        return;
    if (may_be_counter(reply) &&
        zkr__number_parse(reply->data, reply->len, reply->len, &number))
        notes_add(&v->notes,
                  "nobody contends; as a counter (%s) its %zu bytes of data "
                  "are %" PRId64,
                  reply->len == 8 ? "DistributedAtomicLong" : "SharedCount",
                  reply->len, number);
    else if (is_decimal(reply->data, reply->len))
        notes_add(&v->notes,
                  "nobody contends; its data is the number %.*s, as that of a "
                  "counter of kazoo, or of its semaphore without leases",
                  (int)reply->len, reply->data);
    else if (reply->len > 0)
        notes_add(&v->notes,
                  "nobody contends, and it has data (%zu bytes), as locks have "
                  "not: it may be a barrier (DistributedBarrier) that is set",
                  reply->len);
    zkr_reply_free(reply);
}

/* Reads the queue as it is now. 0, or an exit code. */
static int look(struct lockctl *ctl, const char *path, uint32_t limit, bool ask,
                struct view *v)
{
    struct lock *lock = &v->lock;
    struct servers *servers;
    int code = scan_shown(ctl->session, path, limit, lock);

    if (code != 0)
        return code;
    v->shown = lock->listed < limit ? lock->listed : limit;
    v->queue = lock->count < v->shown ? lock->count : v->shown;
    lock->cut = v->shown < lock->listed || lock->cut;
    if (lock->total == 0 && lock->kind == ZKR__KIND_NONE)
        note_data(ctl, v);
    if (!ask)
        return 0;
    servers = servers_ask(ctl, SERVERS_CONS | SERVERS_DUMP | SERVERS_WCHP,
                          lock->path, &v->notes);
    return servers != NULL && told_take(&v->told, lock, servers)
               ? 0
               : lockctl_fail_error(ZKR_ENOMEM, "");
}

static void forget(struct view *v)
{
    lock_done(&v->lock);
    notes_done(&v->notes);
}

/* Waiters that seem to be deaf are looked at again. */
static int show_lock(struct lockctl *ctl, const char *path, uint32_t limit,
                     bool ask)
{
    struct view v = { .shown = 0 };
    int code = lockctl_connect(ctl);

    if (code == 0)
        code = look(ctl, path, limit, ask, &v);
    if (code == 0 && v.told.deaf > 0) {
        forget(&v);
        clock_sleep_ms(200);
        code = look(ctl, path, limit, ask, &v);
    }
    if (code == 0)
        code = print(ctl, &v);
    forget(&v);
    told_done(&v.told);
    return code;
}

static int show(struct lockctl *ctl, int argc, char **argv)
{
    struct order order = { DEFAULT_LIMIT, true };
    char path[ZKR_PATH_MAX + 1];

    if (!lockctl_parse(ctl, &verb_show, &argc, &argv, &order) ||
        !lockctl_take_lock(&verb_show, argc, argv, path))
        return EX_USAGE;
    return show_lock(ctl, path, order.limit, order.ask);
}

const struct verb verb_show = {
    .name = "show",
    .usage = "[OPTION]... LOCK",
    .summary = "Show one queue, and why each in it waits",
    .options = options,
    .run = show,
};
