/* SPDX-License-Identifier: Apache-2.0 */
/* show: prints one queue in its order, and why each contender waits. */
#include "verbs/verbs.h"

#include <stdio.h>

#include "common/grow.h"
#include "common/now.h"
#include "common/stop.h"
#include "model/cons.h"
#include "model/mirror.h"
#include "text/envelope.h"
#include "text/lock_fields.h"

enum { DEFAULT_LIMIT = 10000 };

struct order {
    uint32_t limit;
    bool ask; /* the servers */
    bool follow;
};
static struct order order = { DEFAULT_LIMIT, true, false };

/* clang-format off */
static const struct opt options[] = {
    { "limit", .value = "N", .type = OPT_COUNT, .at = AT(order, limit),
      .help = "show no more than the first N children (10000)" },
    { "follow", .type = OPT_ON, .at = AT(order, follow),
      .help = "again after each change, until SIGINT" },
    { "no-4lw", .type = OPT_OFF, .at = AT(order, ask),
      .help = "do not ask the servers who is connected" },
    { .name = NULL },
};
/* clang-format on */

/* All that is shown: a lock, and the answers of the servers. */
struct view {
    struct lock lock;        /* first, for queue_fields */
    size_t shown;            /* children, the first of the lock */
    size_t queue;            /* contenders among those */
    struct servers *servers; /* NULL: not asked */
    struct notes notes;
};

/* --- the table --- */

static void print_title(const void *of)
{
    const struct view *v = of;
    const struct lock *lock = &v->lock;
    char path[PATH_TEXT_MAX];
    char queue[QUEUE_MAX];
    size_t foreign = lock->listed - lock->count - lock->members;

    (void)printf("%s  %s (%s)  %s  %s", cell_path(lock->path, path),
                 zkr__lock_kind_name(lock->kind),
                 zkr__dialect_name(lock->dialect), lock_state_name(lock->state),
                 cell_queue(lock, false, queue));
    if (v->queue < lock->count)
        (void)printf(", %zu shown", v->queue);
    if (foreign > 0)
        (void)printf(", %zu foreign", foreign);
    (void)putchar('\n');
}

/* --- all of it --- */

static json_t *queue_json(const void *item)
{
    const struct view *v = item;

    return fields_list(contender_fields, v->lock.items, v->queue,
                       sizeof(*v->lock.items));
}

static json_t *foreign_json(const void *item)
{
    const struct view *v = item;

    return fields_list(contender_fields, v->lock.items + v->queue,
                       v->shown - v->queue, sizeof(*v->lock.items));
}

/* clang-format off */
static const struct field queue_fields[] = {
    { .kind = &lock_kind }, /* the lock is the first of a view */
    { .key = "queue", .type = FIELD_LIST, .json = queue_json, .kind = &contender_kind },
    { .key = "foreign_children", .type = FIELD_LIST, .json = foreign_json, .kind = &contender_kind },
    { .key = NULL },
};
/* clang-format on */
static const struct kind queue_kind = { "queue", "LockQueue", queue_fields };

static const void *place_at(const void *of, size_t i)
{
    return &((const struct view *)of)->lock.items[i];
}

/* Of one whom the servers do not know, nothing is known. */
static void find_clients(struct view *v)
{
    static const struct client unknown = { .timeout_ms = -1 };

    for (size_t i = 0; v->servers != NULL && i < v->shown; i++) {
        struct contender *c = &v->lock.items[i];

        c->client = servers_client(v->servers, c->node->session_id);
        if (c->client == NULL)
            c->client = &unknown;
    }
}

/* A table has a row for each contender, JSON is one item. */
static int print_queue(const struct lockctl *ctl, const struct view *v)
{
    struct rows rows = { .kind = &queue_kind,
                         .columns = contender_fields,
                         .of = v,
                         .count = 1,
                         .at_ms = v->lock.at_ms,
                         .notes = &v->notes };

    if (!output_is_json(ctl)) {
        rows.count = v->shown;
        rows.item = place_at;
        rows.head = print_title;
    }
    return rows_print(ctl, &rows);
}

/* --- what is worth a word --- */

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

/* Looks at what has changed, or reads the queue as it is now: then the answer
 * also says why it is no lock. */
static int show_lock(struct lockctl *ctl, const char *path, struct lock *news)
{
    struct view v = { .shown = 0 };
    struct lock *lock = &v.lock;
    int code = 0;

    if (news != NULL && news->error == ZKR_OK && news->count > 0)
        v.lock = *news;
    else if (news != NULL)
        lock_done(news);
    if (lock->path == NULL)
        code = scan_lock(ctl->session, path, order.limit, SCAN_BARRIER, lock);
    if (code != 0)
        return code;
    v.shown = lock->listed < order.limit ? lock->listed : order.limit;
    v.queue = lock->count < v.shown ? lock->count : v.shown;
    lock->cut = v.shown < lock->listed || lock->cut;
    if (order.ask)
        v.servers = servers_ask(ctl, &v.notes);
    find_clients(&v);
    note_lock(&v);
    code = print_queue(ctl, &v);
    lock_done(lock);
    notes_done(&v.notes);
    servers_free(v.servers);
    return code;
}

/* A lock that nobody uses may go, and come again. In between it wakes up to see
 * whether somebody still reads. */
enum { WAKE_MS = 500 };

static int follow(struct lockctl *ctl, const char *path)
{
    struct mirror *mirror = NULL;
    struct lock lock;
    int code = mirror_follow(ctl, path, order.limit, &mirror);

    while (code == 0) {
        bool changed = mirror_next(mirror, clock_now_ms() + WAKE_MS, &lock);

        if (!changed && lockctl_is_connected(ctl))
            code = stop_flush();
        else
            code = show_lock(ctl, path, changed ? &lock : NULL);
        if (code == EX_DATAERR ||
            (code == EX_UNAVAILABLE && !lockctl_is_over(ctl)))
            code = 0; /* that was said */
    }
    mirror_close(ctl, mirror);
    return code;
}

static int show(struct lockctl *ctl, int argc, char **argv)
{
    (void)argc;
    if (order.follow && ctl->format == FORMAT_JSON)
        return lockctl_fail(EX_USAGE, "show: looks have no end; choose -o "
                                      "jsonl");
    int code = lockctl_connect(ctl);
    if (code == 0)
        code =
            order.follow ? follow(ctl, argv[0]) : show_lock(ctl, argv[0], NULL);
    return code;
}

const struct verb verb_show = {
    .name = "show",
    .usage = "[OPTION]... LOCK",
    .summary = "Show one queue, and why each in it waits",
    .options = options,
    .kinds = (const struct kind *const[]){ &queue_kind, NULL },
    .into = &order,
    .takes = TAKES_LOCK,
    .run = show,
};
