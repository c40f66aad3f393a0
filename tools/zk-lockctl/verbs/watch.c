/* SPDX-License-Identifier: Apache-2.0 */
/* watch: tells what happens to locks, as it happens. */
#include "verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/stop.h"
#include "model/looks.h"
#include "model/scan_lock.h"
#include "text/envelope.h"
#include "text/lock_fields.h"

enum { INTERVAL_MIN_MS = 10, TICK_MS = 500 };

struct watch {
    struct looks looks;
    char **paths; /* of looks */
    int code;     /* of the output */
};

/* clang-format off */
static const struct opt options[] = {
    { "interval", .value = "DURATION", .type = OPT_MS, .at = offsetof(struct watch, looks.pause_ms),
      .min = INTERVAL_MIN_MS, .help = "list a lock no more often (100ms)" },
    { "initial", .type = OPT_ON, .at = offsetof(struct watch, looks.initial),
      .help = "begin with who holds and who waits" },
    { .name = NULL },
};
/* clang-format on */

/* --- one event --- */

struct event_row {
    const struct event *e;
    const struct watch *w;
};

static const struct event *event_at(const void *item)
{
    return ((const struct event_row *)item)->e;
}

static const void *event_of(const void *item)
{
    return event_at(item);
}

static const void *its_lock(const void *item)
{
    return event_at(item)->lock;
}

/* Of events of a contender. */
static const void *change_of(const void *item)
{
    return event_at(item)->of == NULL ? NULL : event_at(item);
}

static const void *node_of(const void *item)
{
    return event_at(item)->of == NULL ? NULL : event_at(item)->of->node;
}

static const void *owner_of(const void *item)
{
    return event_at(item)->of == NULL ? NULL : &event_at(item)->of->owner;
}

static const void *missed_of(const void *item)
{
    return event_at(item)->kind == EVENT_MISSED ? item : NULL;
}

static const void *resync_of(const void *item)
{
    return event_at(item)->kind == EVENT_RESYNC ? event_at(item) : NULL;
}

/* Of a run of watch: whoever reads joined output must know where one begins. */
static const void *begin_of(const void *item)
{
    const struct event_row *entry = item;

    return entry->e->kind == EVENT_BEGIN ? entry->w : NULL;
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

static const char *owner_text(const void *item, char room[FIELD_ROOM])
{
    return contender_who(event_at(item)->of, room);
}

static json_t *contender_json(const void *item)
{
    return describe_contender(event_at(item)->lock, event_at(item)->of);
}

static const char *missed_text(const void *item, char room[FIELD_ROOM])
{
    long long missed = event_at(item)->missed;

    (void)snprintf(room, FIELD_ROOM, "%lld nodes came and went unseen", missed);
    return missed < 0 ? "nobody knows how many nodes came and went unseen"
                      : room;
}

static json_t *missed_json(const void *item)
{
    return json_ms(event_at(item)->missed);
}

static const char *resync_text(const void *item, char room[FIELD_ROOM])
{
    char time[WORD_MAX];

    (void)snprintf(room, FIELD_ROOM, "changes since %s are told late",
                   word_time(event_at(item)->since_ms, time));
    return room;
}

static json_t *paths_json(const void *item)
{
    const struct watch *w = ((const struct event_row *)item)->w;
    json_t *paths = w->looks.path_count == 0 ? json_null() : json_array();

    for (size_t i = 0; i < w->looks.path_count; i++)
        (void)json_array_append_new(
            paths, json_text(w->paths[i], strlen(w->paths[i])));
    return paths;
}

/* clang-format off */
#define AT(member) offsetof(struct event, member)
#define NODE_AT(member) offsetof(struct zkr_participant, member)
const struct field event_fields[] = {
    { "", "at", FIELD_TIME, .at = AT(at_ms), .of = event_of },
    { "", "event", FIELD_WORD, .word = name_word, .text = name_text, .words = "begin queued acquired revoked gone left holding waiting missed resync" },
    { "", "path", FIELD_PATH, .at = offsetof(struct lock, path), .of = its_lock, .lacking = true },
    { "", NULL, .of = change_of, .text = owner_text },
    { "token=", NULL, FIELD_TOKEN, .at = NODE_AT(token), .of = node_of },
    { "waited<=", "waited_ms_max", FIELD_MS, .at = AT(waited_ms), .of = change_of, .lacking = true },
    { "held<=", "held_ms_max", FIELD_MS, .at = AT(held_ms), .of = change_of, .lacking = true },
    { "session=", NULL, FIELD_SESSION, .at = NODE_AT(session_id), .of = node_of, .wide = true },
    { "node=", NULL, FIELD_TEXT, .at = NODE_AT(name), .of = node_of, .wide = true },
    { "label=", NULL, FIELD_CHARS, .at = offsetof(struct zkr__known_owner, label), .of = owner_of },
    { "", "missed", FIELD_COUNT, .of = missed_of, .text = missed_text, .json = missed_json, .lacking = true },
    { "", "last_look", FIELD_TIME, .at = AT(since_ms), .of = resync_of, .text = resync_text, .lacking = true },
    { .key = "contender", .type = FIELD_OBJECT, .of = change_of, .json = contender_json, .fields = contender_fields, .lacking = true },
    { .key = "paths", .type = FIELD_LIST, .of = begin_of, .json = paths_json, .lacking = true },
    { .key = "initial", .type = FIELD_BOOL, .at = offsetof(struct watch, looks.initial), .of = begin_of, .lacking = true },
    { .key = NULL },
};
#undef AT
#undef NODE_AT
/* clang-format on */

static int print_json(const struct lockctl *ctl, const struct event_row *entry)
{
    static const struct notes none;
    const struct rows rows = { .kind = "EventList",
                               .fields = event_fields,
                               .of = entry,
                               .count = 1,
                               .notes = &none };

    return rows_print(ctl, &rows);
}

static void print_event(const struct event *e, void *user)
{
    struct watch *w = user;
    const struct lockctl *ctl = w->looks.ctl;
    const struct event_row entry = { e, w };

    if (e->kind == EVENT_BEGIN && ctl->format != FORMAT_JSONL)
        return;
    stop_printing(true);
    if (ctl->format != FORMAT_JSONL)
        fields_print_line(ctl, event_fields, &entry);
    else if (w->code == 0)
        w->code = print_json(ctl, &entry);
}

/* --- looking --- */

static int look(struct watch *w)
{
    int code = looks_next(&w->looks);
    int flushed = stop_flush();

    if (code == 0)
        code = w->code;
    return flushed == 0 ? code : flushed;
}

static void wake(void *user)
{
    (void)user;
    stop_wake();
}

static int fail_over(const struct watch *w)
{
    bool refused =
        zkr_session_state(w->looks.ctl->session) == ZKR_SESSION_AUTH_FAILED;

    return lockctl_fail_error(refused ? ZKR_ZAUTHFAILED : ZKR_ECLOSED, "");
}

/* Events are told as they come. In between it wakes up for what cannot be
 * watched. */
static int go_on(struct watch *w)
{
    int code = looks_start(&w->looks, wake);

    while (code == 0) {
        bool said = false;

        code = look(w);
        if (code != 0 || !stop_wait(TICK_MS) ||
            !stop_wait_for_connection(w->looks.ctl, &said))
            break;
        if (lockctl_is_over(w->looks.ctl))
            code = fail_over(w);
    }
    return code;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A part of a semaphore stands for the whole. Each path once. */
static void settle_paths(struct watch *w)
{
    struct looks *looks = &w->looks;
    size_t count = 0;

    for (size_t i = 0; i < looks->path_count; i++) {
        char room[ZKR_PATH_MAX + 1];
        const char *whole = scan_whole(looks->ctl->session, w->paths[i], room);

        if (whole != w->paths[i]) /* it is shorter */
            (void)strcpy(w->paths[i], whole);
    }
    qsort(w->paths, looks->path_count, sizeof(*w->paths), by_text);
    for (size_t i = 0; i < looks->path_count; i++) {
        char *path = w->paths[i];

        w->paths[i] = NULL;
        if (count > 0 && strcmp(w->paths[count - 1], path) == 0)
            free(path);
        else
            w->paths[count++] = path;
    }
    looks->path_count = count;
}

static int start(struct watch *w)
{
    int code = lockctl_connect(w->looks.ctl);

    if (code != 0)
        return code;
    settle_paths(w);
    if (!stop_start())
        return lockctl_fail_error(ZKR_ENOMEM, "");
    code = go_on(w);
    lockctl_disconnect(w->looks.ctl);
    stop_end();
    return code;
}

/* --- options --- */

static int check_format(const struct lockctl *ctl)
{
    if (ctl->format == FORMAT_JSON || ctl->format == FORMAT_DOT)
        return lockctl_fail(EX_USAGE,
                            "watch: events have no end; choose -o jsonl, table "
                            "or wide");
    if (ctl->columns != NULL)
        return lockctl_fail(EX_USAGE, "watch: an event has no columns; "
                                      "--columns is for tables");
    return 0;
}

static int read_paths(int argc, char **argv, char **paths, size_t *ret_count)
{
    for (int i = 0; i < argc; i++) {
        char path[ZKR_PATH_MAX + 1];

        if (!lockctl_parse_path(argv[i], path, sizeof(path)))
            return EX_USAGE;
        paths[*ret_count] = strdup(path);
        if (paths[*ret_count] == NULL)
            return lockctl_fail_error(ZKR_ENOMEM, "");
        (*ret_count)++;
    }
    return 0;
}

static int watch(struct lockctl *ctl, int argc, char **argv)
{
    struct watch w = { .looks = { .ctl = ctl,
                                  .pause_ms = 100,
                                  .tell = print_event,
                                  .user = &w } };
    int code;

    if (!lockctl_parse(ctl, &verb_watch, &argc, &argv, &w))
        return EX_USAGE;
    code = check_format(ctl);
    if (code != 0)
        return code;
    w.paths = calloc((size_t)argc + 1, sizeof(*w.paths));
    if (w.paths == NULL)
        return lockctl_fail_error(ZKR_ENOMEM, "");
    code = read_paths(argc, argv, w.paths, &w.looks.path_count);
    if (w.looks.path_count > 0)
        w.looks.paths = (const char *const *)w.paths;
    if (code == 0)
        code = start(&w);
    looks_done(&w.looks);
    for (int i = 0; i < argc; i++)
        free(w.paths[i]);
    free(w.paths);
    return code;
}

const struct verb verb_watch = {
    .name = "watch",
    .usage = "[OPTION]... [LOCK]...",
    .summary = "Tell what happens to locks, until SIGINT or SIGTERM",
    .options = options,
    .help =
        "Without LOCK: all locks. Events:\n"
        "  queued    somebody has a node in the queue now\n"
        "  acquired  it holds the lock now\n"
        "  revoked   it was asked to give the lock back\n"
        "  gone      the node of a holder has gone: released, its session\n"
        "            lost, or the lock broken; the servers do not say which\n"
        "  left      somebody gave up waiting\n"
        "  missed    so many came and went unseen, before the next events\n"
        "  resync    the connection was lost; what happened meanwhile is\n"
        "            told late\n"
        "\n"
        "The servers tell of each change, and then the lock is listed: while\n"
        "nothing changes, nothing is asked. What comes and goes before the\n"
        "list is counted. The events of one list are in the order of the\n"
        "queue, those who have gone first. Times are those of the lists,\n"
        "durations are upper bounds.\n",
    .run = watch,
};
