/* SPDX-License-Identifier: Apache-2.0 */
/* watch: tells what happens to locks, as it happens. */
#include "verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/plain.h"
#include "common/stop.h"
#include "model/looks.h"
#include "model/scan_lock.h"
#include "text/aligned.h"
#include "text/cells.h"
#include "text/describe.h"
#include "text/envelope.h"

enum { INTERVAL_MIN_MS = 10, TICK_MS = 500 };

struct watch {
    struct lockctl *ctl;
    bool initial;
    int64_t interval_ms;
    char **paths; /* of looks */
    size_t path_count;
    int code; /* of the output */
};

/* clang-format off */
static const struct opt options[] = {
    { "interval", .value = "DURATION", .type = OPT_MS, .at = offsetof(struct watch, interval_ms),
      .min = INTERVAL_MIN_MS, .help = "list a lock no more often (100ms)" },
    { "initial", .type = OPT_ON, .at = offsetof(struct watch, initial),
      .help = "begin with who holds and who waits" },
    { .name = NULL },
};
/* clang-format on */

/* --- one event --- */

struct texts {
    char time[WORD_MAX];
    char last_look[WORD_MAX];
    char path[PATH_TEXT_MAX];
    char owner[WHO_MAX];
    char node[1024];
    char label[ZKR_LABEL_MAX * 4 + 1];
    char token[WORD_MAX];
    char session[WORD_MAX];
    char waited[WORD_MAX];
    char held[WORD_MAX];
    char missed[WORD_MAX];
};

static void write_texts(const struct event *e, struct texts *t)
{
    memset(t, 0, sizeof(*t));
    (void)word_time(e->at_ms, t->time);
    if (e->kind == EVENT_RESYNC) {
        (void)word_time(e->since_ms, t->last_look);
        return;
    }
    (void)cell_path(e->lock->path, t->path);
    if (e->kind == EVENT_MISSED) {
        if (e->missed >= 0)
            (void)snprintf(t->missed, WORD_MAX, "%lld", (long long)e->missed);
        return;
    }
    (void)escape_string(e->of->node->name, t->node, sizeof(t->node));
    (void)escape_string(e->of->owner.label, t->label, sizeof(t->label));
    (void)contender_who(e->of, t->owner);
    (void)cell_token(e->of, t->token);
    (void)cell_session(e->of, t->session);
}

static void print_pair(const char *name, const char *text)
{
    char plain[ZKR_PATH_MAX * 16 + 1];

    if (text[0] != '\0')
        (void)printf(" %s%s", name, plain_text(text, plain, sizeof(plain)));
}

static void print_line(const struct watch *w, const struct event *e)
{
    struct texts t;
    bool wide = w->ctl->format == FORMAT_WIDE;

    write_texts(e, &t);
    if (e->waited_ms >= 0)
        (void)word_age(e->waited_ms, t.waited);
    if (e->held_ms >= 0)
        (void)word_age(e->held_ms, t.held);
    (void)printf("%s %-8s", t.time, event_name(e->kind));
    print_pair("", t.path);
    print_pair("", t.owner);
    print_pair("token=", t.token);
    print_pair("waited<=", t.waited);
    print_pair("held<=", t.held);
    print_pair("session=", wide ? t.session : "");
    print_pair("node=", wide ? t.node : "");
    print_pair("label=", wide ? t.label : "");
    if (e->kind == EVENT_MISSED)
        (void)printf(" %s nodes came and went unseen",
                     e->missed < 0 ? "nobody knows how many" : t.missed);
    if (e->kind == EVENT_RESYNC)
        (void)printf(" changes since %s are told late", t.last_look);
    (void)putchar('\n');
}

/* Of a run of watch: whoever reads joined output must know where one begins. */
static json_t *describe_begin(const struct watch *w, const struct event *e)
{
    json_t *paths = w->path_count == 0 ? json_null() : json_array();

    for (size_t i = 0; i < w->path_count; i++)
        (void)json_array_append_new(
            paths, json_text(w->paths[i], strlen(w->paths[i])));
    return json_pack("{s:o, s:s, s:o, s:b}", "at", json_time(e->at_ms), "event",
                     event_name(e->kind), "paths", paths, "initial",
                     (int)w->initial);
}

static json_t *describe_event(const struct watch *w, const struct event *e)
{
    if (e->kind == EVENT_BEGIN)
        return describe_begin(w, e);
    if (e->kind == EVENT_RESYNC)
        return json_pack("{s:o, s:s, s:o}", "at", json_time(e->at_ms), "event",
                         event_name(e->kind), "last_look",
                         json_time(e->since_ms));
    if (e->kind == EVENT_MISSED)
        return json_pack(
            "{s:o, s:s, s:o, s:o}", "at", json_time(e->at_ms), "event",
            event_name(e->kind), "path",
            json_text(e->lock->path, strlen(e->lock->path)), "missed",
            e->missed < 0 ? json_null() : json_integer((json_int_t)e->missed));
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o}", "at",
                     json_time(e->at_ms), "event", event_name(e->kind), "path",
                     json_text(e->lock->path, strlen(e->lock->path)),
                     "waited_ms_max", json_ms(e->waited_ms), "held_ms_max",
                     json_ms(e->held_ms), "contender",
                     describe_contender(e->lock, e->of));
}

static int print_json(const struct watch *w, const struct event *e)
{
    struct notes none = { .texts = NULL };
    json_t *items = json_array();

    if (json_array_append_new(items, describe_event(w, e)) != 0) {
        json_decref(items);
        return lockctl_fail_error(ZKR_ENOMEM, "");
    }
    return output_json(w->ctl, "EventList", e->at_ms, items, &none);
}

static void print_event(const struct event *e, void *user)
{
    struct watch *w = user;

    if (e->kind == EVENT_BEGIN && w->ctl->format != FORMAT_JSONL)
        return;
    stop_printing(true);
    if (w->ctl->format != FORMAT_JSONL)
        print_line(w, e);
    else if (w->code == 0)
        w->code = print_json(w, e);
}

/* --- looking --- */

static int look(struct watch *w, struct looks *looks)
{
    int code = looks_next(looks, w->initial, print_event, w);
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
        zkr_session_state(w->ctl->session) == ZKR_SESSION_AUTH_FAILED;

    return lockctl_fail_error(refused ? ZKR_ZAUTHFAILED : ZKR_ECLOSED, "");
}

/* Events are told as they come. In between it wakes up for what cannot be
 * watched. */
static int go_on(struct watch *w, struct looks *looks)
{
    int code = looks_start(looks, wake);

    while (code == 0) {
        bool said = false;

        code = look(w, looks);
        if (code != 0 || !stop_wait(TICK_MS) ||
            !stop_wait_for_connection(w->ctl, &said))
            break;
        if (lockctl_is_over(w->ctl))
            code = fail_over(w);
    }
    return code;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A part of a semaphore stands for the whole. Each path once. */
static void settle_paths(struct watch *w, struct looks *looks)
{
    size_t count = 0;

    for (size_t i = 0; i < looks->path_count; i++) {
        char room[ZKR_PATH_MAX + 1];
        const char *whole = scan_whole(w->ctl->session, w->paths[i], room);

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
    looks->path_count = w->path_count = count;
}

static int start(struct watch *w, struct looks *looks)
{
    int code = lockctl_connect(w->ctl);

    if (code == 0)
        settle_paths(w, looks);
    if (code != 0)
        return code;
    if (!stop_start())
        return lockctl_fail_error(ZKR_ENOMEM, "");
    code = go_on(w, looks);
    lockctl_disconnect(w->ctl);
    stop_end();
    return code;
}

/* --- options --- */

static int check_format(const struct watch *w)
{
    if (w->ctl->format == FORMAT_JSON || w->ctl->format == FORMAT_DOT)
        return lockctl_fail(EX_USAGE,
                            "watch: events have no end; choose -o jsonl, table "
                            "or wide");
    if (w->ctl->columns != NULL)
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
    struct watch w = { .ctl = ctl, .interval_ms = 100 };
    struct looks looks = { .ctl = ctl };
    char **paths;
    int code;

    if (!lockctl_parse(ctl, &verb_watch, &argc, &argv, &w))
        return EX_USAGE;
    code = check_format(&w);
    if (code != 0)
        return code;
    looks.pause_ms = w.interval_ms;
    paths = calloc((size_t)argc + 1, sizeof(*paths));
    if (paths == NULL)
        return lockctl_fail_error(ZKR_ENOMEM, "");
    w.paths = paths;
    code = read_paths(argc, argv, paths, &looks.path_count);
    if (looks.path_count > 0)
        looks.paths = (const char *const *)paths;
    if (code == 0)
        code = start(&w, &looks);
    looks_done(&looks);
    for (int i = 0; i < argc; i++)
        free(paths[i]);
    free(paths);
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
