/* SPDX-License-Identifier: Apache-2.0 */
/* watch: tells what happens to locks, as it happens. */
#include "verbs/verbs.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "common/now.h"
#include "common/stop.h"
#include "model/events.h"
#include "model/mirror.h"
#include "text/envelope.h"
#include "text/lock_fields.h"

enum { INTERVAL_MIN_MS = 10, WAKE_MS = 500, RETRY_MS = 100, NOTES_MAX = 100 };

struct watch {
    struct lockctl *ctl;
    const char *const *paths; /* the locks, or "/" */
    size_t path_count;
    bool all;         /* that are below it */
    int64_t pause_ms; /* as in mirror.h */
    bool initial;     /* the present state at the start is told, too */
    struct mirror *mirror;
    void
        *views; /* a tree of the locks in use as they were told last, by path */
    bool begun; /* the first look was taken */
    struct notes notes; /* that were said */
    int code;           /* of the output */
};
static struct watch asked = { .pause_ms = 100 };

/* clang-format off */
static const struct opt options[] = {
    { "interval", .value = "DURATION", .type = OPT_MS, .at = AT(watch, pause_ms),
      .min = INTERVAL_MIN_MS, .help = "list a lock no more often (100ms)" },
    { "initial", .type = OPT_ON, .at = AT(watch, initial),
      .help = "begin with who holds and who waits" },
    { .name = NULL },
};
/* clang-format on */

/* --- one event --- */

/* An event, and what there is only of some kinds. */
struct event_row {
    struct contender contender; /* of a change; first, for its fields */
    const struct event *event;
    const struct lock *lock;
    const struct contender *change; /* NULL: it is of no contender */
    const struct event *missed;
    const struct event *resync;
};

static const struct event *event_at(const void *item)
{
    return ((const struct event_row *)item)->event;
}

static const char *name_word(const void *item)
{
    return event_name(event_at(item)->kind);
}

static const char *name_text(const void *item, char room[FIELD_ROOM])
{
    (void)snprintf(room, WORD_MAX, "%-8s", name_word(item));
    return room;
}

static const char *missed_text(const void *item, char room[FIELD_ROOM])
{
    long long missed = event_at(item)->missed;

    (void)snprintf(room, FIELD_ROOM, "%lld nodes came and went unseen", missed);
    return missed < 0 ? "nobody knows how many nodes came and went unseen"
                      : room;
}

static const char *resync_text(const void *item, char room[FIELD_ROOM])
{
    char time[WORD_MAX];

    (void)snprintf(room, FIELD_ROOM, "changes since %s are told late",
                   word_time(event_at(item)->since_ms, time));
    return room;
}

/* clang-format off */
static const struct field event_fields[] = {
    { "", "at", FIELD_TIME, .at = AT(event, at_ms), .in = AT(event_row, event) },
    { "", "event", FIELD_WORD, .word = name_word, .text = name_text, .words = "queued acquired revoked gone left holding waiting missed resync" },
    { "", "path", FIELD_PATH, .at = AT(lock, path), .in = AT(event_row, lock), .lacking = true },
    { "", NULL, .in = AT(event_row, change), .text = contender_owner_text },
    { "token=", NULL, FIELD_TOKEN, .at = AT(zkr_participant, token), .in = AT(event_row, contender.node) },
    { "session=", NULL, FIELD_SESSION, .at = AT(zkr_participant, session_id), .in = AT(event_row, contender.node), .wide = true },
    { "node=", NULL, FIELD_TEXT, .at = AT(zkr_participant, name), .in = AT(event_row, contender.node), .wide = true },
    { "label=", NULL, FIELD_CHARS, .at = AT(event_row, contender.owner.label), .wide = true },
    { "", "missed", FIELD_MS, .at = AT(event, missed), .in = AT(event_row, missed), .text = missed_text, .lacking = true },
    { "", "last_look", FIELD_TIME, .at = AT(event, since_ms), .in = AT(event_row, resync), .text = resync_text, .lacking = true },
    { .key = "contender", .type = FIELD_OBJECT, .in = AT(event_row, change), .kind = &contender_kind, .lacking = true },
    { .key = NULL },
};
/* clang-format on */
static const struct kind event_kind = { "event", "", event_fields };

static int print_json(const struct lockctl *ctl, const struct event_row *entry)
{
    static const struct notes none;
    const struct rows rows = {
        .kind = &event_kind, .of = entry, .count = 1, .notes = &none
    };

    return rows_print(ctl, &rows);
}

static void tell(const struct event *e, void *user)
{
    struct watch *w = user;
    const struct lockctl *ctl = w->ctl;
    struct event_row entry = {
        .event = e,
        .lock = e->lock,
        .change = e->of,
        .missed = e->kind == EVENT_MISSED ? e : NULL,
        .resync = e->kind == EVENT_RESYNC ? e : NULL,
    };

    if (e->of != NULL)
        entry.contender = *e->of;
    stop_printing(true);
    if (ctl->format != FORMAT_JSONL)
        fields_print_line(ctl, event_fields, &entry);
    else if (w->code == 0)
        w->code = print_json(ctl, &entry);
}

/* --- what was told last --- */

static int by_path(const void *a, const void *b)
{
    const struct view *x = a;
    const struct view *y = b;

    return strcmp(x->lock.path, y->lock.path);
}

static void free_view(void *at)
{
    struct view *view = at;

    lock_done(&view->lock);
    free(view->lease_gone);
    free(view);
}

/* --- one change --- */

static void tell_missed(struct watch *w, const struct news *news)
{
    if (news->unseen.lost || news->unseen.missed > 0)
        tell(&(struct event){ .kind = EVENT_MISSED,
                              .at_ms = news->lock.at_ms,
                              .lock = &news->lock,
                              .missed = news->unseen.lost
                                            ? -1
                                            : (int64_t)news->unseen.missed },
             w);
}

/* Takes over the lock. One without contenders is not kept, and one that was not
 * kept was free before; with `first` nothing is known of before. */
static void take_news(struct watch *w, const struct news *news)
{
    static const struct view none;
    struct view *after = enough(calloc(1, sizeof(*after)));

    after->lock = news->lock;
    struct view **kept = enough(tsearch(after, &w->views, by_path));
    struct view *before = *kept; /* `after` when none was kept */
    if (before != after && news->lock.error != ZKR_OK) {
        free_view(after); /* it may still be as it was */
        return;
    }
    if (!news->first)
        tell_missed(w, news);
    events_between(news->first       ? NULL
                   : before == after ? &none
                                     : before,
                   after, news->first && !w->initial ? NULL : tell, w);
    *kept = after;
    if (before != after)
        free_view(before);
    if (after->lock.count > 0)
        return;
    (void)tdelete(after, &w->views, by_path);
    free_view(after);
}

/* --- look after look --- */

/* The first look is told as one, in the order of the paths. A directory that
 * was busy then has its own, later. */
static void take_all_news(struct watch *w)
{
    struct news news;
    int64_t since_ms;

    w->begun = true;
    if (mirror_take_break(w->mirror, &since_ms))
        tell(&(struct event){ .kind = EVENT_RESYNC,
                              .at_ms = clock_wall_ms(),
                              .since_ms = since_ms },
             w);
    while (mirror_take(w->mirror, &news))
        take_news(w, &news);
}

/* Each once. */
static void say_notes(struct watch *w)
{
    struct notes now = { .texts = NULL };

    mirror_note(w->mirror, &now);
    for (size_t i = 0; i < now.count && w->notes.count < NOTES_MAX; i++) {
        size_t before = w->notes.count;

        notes_add(&w->notes, "%s", now.texts[i]);
        if (w->notes.count > before)
            lockctl_say(w->ctl, "note: %s", now.texts[i]);
    }
    notes_done(&now);
}

/* Tells what has changed; as soon as all is known, that it begins. 0, or an
 * exit code after an error was said. */
static int next_news(struct watch *w)
{
    char detail[SCAN_DETAIL_MAX];
    int rc = ZKR_OK;

    if (!w->begun &&
        (!lockctl_is_connected(w->ctl) ||
         !mirror_is_ready(w->mirror, w->ctl->timeout_ms, &rc, detail)))
        return 0;
    if (rc != ZKR_OK)
        return lockctl_fail_error(rc, detail);
    take_all_news(w);
    if (mirror_tick(w->mirror))
        say_notes(w);
    return 0;
}

/* --- the verb --- */

/* Until the connection is back, or the session over; false as soon as it is
 * time to end. */
static bool wait_for_connection(const struct lockctl *ctl)
{
    bool said = false;

    while (!lockctl_is_connected(ctl) && !lockctl_is_over(ctl)) {
        if (!said)
            lockctl_say(ctl, "connection lost, waiting for it");
        said = true;
        if (!stop_wait(RETRY_MS))
            return false;
    }
    return true;
}

/* Events are told as they come. In between it wakes up for what cannot be
 * watched. */
static int go_on(struct watch *w)
{
    do {
        int code = next_news(w);
        int flushed = stop_flush();

        if (code == 0)
            code = w->code;
        if (flushed != 0)
            code = flushed;
        if (code != 0 || !stop_wait(WAKE_MS) || !wait_for_connection(w->ctl))
            return code;
    } while (!lockctl_is_over(w->ctl));
    return lockctl_fail_over(w->ctl);
}

static int start(struct watch *w)
{
    const struct mirror_opts opts = {
        .ctl = w->ctl,
        .paths = w->paths,
        .path_count = w->path_count,
        .below = w->all,
        .look.reads = SCAN_ALL,
        .pause_ms = w->pause_ms,
        .wake = stop_wake,
    };
    int code = lockctl_connect(w->ctl);

    if (code != 0)
        return code;
    stop_start();
    int rc = mirror_start(&opts, &w->mirror);
    code = rc == ZKR_OK ? go_on(w) : lockctl_fail_zkr(rc);
    tdestroy(w->views, free_view); /* their paths are the mirror's */
    mirror_close(w->ctl, w->mirror);
    stop_end();
    return code;
}

/* --- options --- */

static int check_format(const struct lockctl *ctl)
{
    if (ctl->format == FORMAT_JSON)
        return lockctl_fail(EX_USAGE,
                            "watch: events have no end; choose -o jsonl, table "
                            "or wide");
    if (ctl->columns != NULL)
        return lockctl_fail(EX_USAGE, "watch: an event has no columns; "
                                      "--columns is for tables");
    return 0;
}

static int watch(struct lockctl *ctl, int argc, char **argv)
{
    int code = check_format(ctl);

    asked.ctl = ctl;
    asked.all = argc == 0;
    asked.paths = (const char *const *)argv;
    asked.path_count = asked.all ? 1 : (size_t)argc;
    if (code == 0)
        code = start(&asked);
    notes_done(&asked.notes);
    return code;
}

const struct verb verb_watch = {
    .name = "watch",
    .usage = "[OPTION]... [LOCK]...",
    .summary = "Tell what happens to locks, until SIGINT or SIGTERM",
    .options = options,
    .kinds = (const struct kind *const[]){ &event_kind, NULL },
    .into = &asked,
    .takes = TAKES_PATHS,
    .help =
        "Without LOCK: all locks. A line for each event: queued, acquired,\n"
        "revoked, gone (a holder: it released the lock, or lost it), left (a\n"
        "waiter), missed (so many came and went unseen) and resync.\n"
        "zk-lockctl(1) says more of each.\n",
    .run = watch,
};
