/* SPDX-License-Identifier: Apache-2.0 */
/* The history of locks, out of the events that watch has printed with -o
 * jsonl. */
#include "model/records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "common/escape.h"
#include "common/lockctl.h"
#include "common/moment.h"
#include "common/words.h"
#include "model/arrange.h"
#include "model/place.h"

struct records {
    char *root;
    struct history_fns fns;
    struct stay **live;
    size_t live_count;
    char **paths; /* each once */
    size_t path_count;
    int64_t begin_ms, end_ms;
    size_t contenders;
    size_t strange;
    bool failed; /* out of memory */
};

/* --- the members of an event --- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text == NULL ? "" : text;
}

/* 0: none. */
static int64_t time_of(const json_t *object, const char *key)
{
    int64_t ms;

    return moment_read(text_of(object, key), 0, &ms) && ms > 0 ? ms : 0;
}

static int64_t token_of(const json_t *object, const char *key)
{
    int64_t token;

    return word_read_token(text_of(object, key), &token) ? token : 0;
}

static int64_t ms_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) && json_integer_value(value) >= 0
               ? json_integer_value(value)
               : -1;
}

/* The data of the node: the record of its owner, or what others wrote. */
static char *data_of(const json_t *contender)
{
    const json_t *owner = json_object_get(contender, "owner");

    return json_is_object(owner) ? json_dumps(owner, JSON_COMPACT)
                                 : strdup(text_of(contender, "data"));
}

/* --- stays --- */

static const char *keep_path(struct records *r, const char *path)
{
    char **grown;
    char *copy;

    for (size_t i = 0; i < r->path_count; i++) {
        if (strcmp(r->paths[i], path) == 0)
            return r->paths[i];
    }
    grown = realloc(r->paths, (r->path_count + 1) * sizeof(*grown));
    copy = strdup(path);
    if (grown != NULL)
        r->paths = grown;
    if (grown == NULL || copy == NULL) {
        free(copy);
        return NULL;
    }
    return grown[r->path_count++] = copy;
}

static struct stay *make_stay(struct records *r, const char *path,
                              const json_t *contender, int64_t at_ms)
{
    const char *lock = keep_path(r, path);
    char *data = data_of(contender);
    struct stay *stay = NULL;

    if (lock != NULL && data != NULL)
        stay = stay_new(lock, text_of(contender, "node"), data, strlen(data));
    free(data);
    if (stay == NULL)
        return NULL;
    stay->sure = true;
    if (!arrange(&stay->node, 1)) {
        stay_free(stay);
        return NULL;
    }
    stay->node.token = token_of(contender, "token");
    stay->node.session_id = token_of(contender, "session");
    stay->node.since_ms = time_of(contender, "queued_at");
    stay->queued_ms = stay->node.since_ms;
    stay->seen_ms = at_ms;
    return stay;
}

static size_t find(const struct records *r, const char *path,
                   const json_t *contender)
{
    int64_t token = token_of(contender, "token");
    const char *name = text_of(contender, "node");
    size_t i;

    for (i = 0; i < r->live_count; i++) {
        if (strcmp(r->live[i]->lock, path) == 0 &&
            strcmp(r->live[i]->name, name) == 0 &&
            (r->live[i]->node.token == token || token == 0 ||
             r->live[i]->node.token == 0))
            break;
    }
    return i;
}

/* The stay of an event, which may be the first of it. NULL: out of memory. */
static struct stay *stay_for(struct records *r, const char *path,
                             const json_t *contender, int64_t at_ms)
{
    size_t i = find(r, path, contender);
    struct stay **grown;

    if (i < r->live_count)
        return r->live[i];
    grown = realloc(r->live, (r->live_count + 1) * sizeof(*grown));
    if (grown == NULL)
        return NULL;
    r->live = grown;
    grown[r->live_count] = make_stay(r, path, contender, at_ms);
    if (grown[r->live_count] == NULL)
        return NULL;
    r->contenders++;
    return grown[r->live_count++];
}

static void report(struct records *r, size_t i)
{
    struct stay *stay = r->live[i];

    r->live[i] = r->live[--r->live_count];
    r->fns.stay(stay, r->fns.user);
}

static void end_stay(struct records *r, struct stay *stay, int64_t at_ms)
{
    stay->ending = ENDING_GONE;
    stay->ended_ms = at_ms;
    for (size_t i = 0; i < r->live_count; i++) {
        if (r->live[i] == stay) {
            report(r, i);
            return;
        }
    }
}

/* A contender that gets a permit of a semaphore leaves the queue, and watch
 * does not tell that. */
static void end_claim(struct records *r, struct stay *lease)
{
    for (size_t i = 0; i < r->live_count; i++) {
        struct stay *claim = r->live[i];

        if (strncmp(lease->name, "leases/", 7) != 0 ||
            strncmp(claim->name, "locks/", 6) != 0 ||
            strcmp(claim->lock, lease->lock) != 0 ||
            claim->node.session_id != lease->node.session_id ||
            claim->node.token >= lease->node.token)
            continue;
        lease->queued_ms = claim->queued_ms;
        claim->is_claim = true;
        end_stay(r, claim, lease->held_ms);
        return;
    }
}

/* --- events --- */

static bool is_known(const char *kind)
{
    static const char *const kinds[] = { "queued",  "waiting", "acquired",
                                         "holding", "revoked", "gone",
                                         "left" };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i], kind) == 0)
            return true;
    }
    return false;
}

static void take_hold(struct records *r, struct stay *stay, int64_t at_ms,
                      bool before)
{
    if (stay->held_ms != 0)
        return;
    stay->held_ms = at_ms;
    stay->held_before = before;
    end_claim(r, stay);
}

static void take_event(struct records *r, const json_t *event, const char *kind,
                       int64_t at_ms)
{
    const json_t *contender = json_object_get(event, "contender");
    const char *path = text_of(event, "path");
    struct stay *stay;

    if (!place_is_below(path, r->root))
        return;
    stay = stay_for(r, path, contender, at_ms);
    if (stay == NULL) {
        r->failed = true;
        return;
    }
    if (strcmp(kind, "acquired") == 0 || strcmp(kind, "holding") == 0)
        take_hold(r, stay, at_ms, kind[0] == 'h');
    else if (strcmp(kind, "revoked") == 0 && stay->asked_ms == 0)
        stay->asked_ms = at_ms;
    else if (strcmp(kind, "left") == 0)
        end_stay(r, stay, at_ms);
    else if (strcmp(kind, "gone") == 0) {
        stay->held_max_ms = ms_of(event, "held_ms_max");
        if (stay->held_max_ms >= 0)
            take_hold(r, stay, at_ms, true);
        end_stay(r, stay, at_ms);
    }
}

static void take_resync(const struct records *r, const json_t *event,
                        int64_t at_ms)
{
    struct gap gap = { .from_ms = time_of(event, "last_look"),
                       .until_ms = at_ms };

    r->fns.gap(&gap, r->fns.user);
}

/* Of an event that is of a lock. */
static bool has_contender(const json_t *event)
{
    return text_of(event, "path")[0] == '/' &&
           text_of(json_object_get(event, "contender"), "node")[0] != '\0';
}

/* An event of a later version may be of a kind that is not known here. */
static void take_one(struct records *r, const json_t *event, const char *kind,
                     int64_t at_ms)
{
    if (strcmp(kind, "resync") == 0)
        take_resync(r, event, at_ms);
    else if (is_known(kind) && has_contender(event))
        take_event(r, event, kind, at_ms);
    else
        r->strange++;
    if (r->begin_ms == 0)
        r->begin_ms = at_ms;
    if (at_ms > r->end_ms)
        r->end_ms = at_ms;
}

/* False: the line is none of watch. */
static bool take_line(struct records *r, const char *line, size_t size)
{
    json_t *event = json_loadb(line, size, 0, NULL);
    const char *kind = text_of(event, "event");
    int64_t at_ms = time_of(event, "at");
    bool is_event = kind[0] != '\0' && at_ms > 0;
    bool is_remark = json_object_get(event, "warnings") != NULL ||
                     json_object_get(event, "error") != NULL;

    if (is_event)
        take_one(r, event, kind, at_ms);
    json_decref(event);
    return is_event || is_remark;
}

/* --- files --- */

static bool is_blank(const char *line)
{
    return line[strspn(line, " \t\r\n")] == '\0';
}

/* The first line must be understood: else the file is something else. */
static bool read_lines(struct records *r, FILE *file)
{
    bool any = false;
    char *line = NULL;
    size_t room = 0;
    ssize_t size;

    while ((size = getline(&line, &room, file)) > 0) {
        if (is_blank(line))
            continue;
        if (!take_line(r, line, (size_t)size)) {
            if (!any)
                break;
            r->strange++;
        }
        any = true;
    }
    free(line);
    return size <= 0;
}

int records_play(struct records *r, const char *file)
{
    bool is_input = strcmp(file, "-") == 0;
    FILE *in = is_input ? stdin : fopen(file, "re");
    char text[1024];
    bool good;
    int error;

    (void)escape_string(is_input ? "standard input" : file, text, sizeof(text));
    if (in == NULL)
        return lockctl_fail(errno == EACCES ? EX_NOPERM : EX_NOINPUT, "%s: %s",
                            text, strerror(errno));
    good = read_lines(r, in);
    error = ferror(in) != 0 ? errno : 0;
    if (!is_input)
        (void)fclose(in);
    if (error != 0)
        return lockctl_fail(EX_NOINPUT, "%s: %s", text, strerror(error));
    if (!good)
        return lockctl_fail(EX_NOINPUT,
                            "%s: neither a transaction log nor the events of "
                            "watch -o jsonl",
                            text);
    return r->failed ? lockctl_fail_error(ZKR_ENOMEM, "") : 0;
}

int records_end(struct records *r)
{
    while (r->live_count > 0)
        report(r, r->live_count - 1);
    return 0;
}

struct records *records_new(const char *root, const struct history_fns *fns)
{
    struct records *r = calloc(1, sizeof(*r));

    if (r == NULL)
        return NULL;
    r->fns = *fns;
    r->root = strdup(root);
    if (r->root != NULL)
        return r;
    free(r);
    return NULL;
}

void records_free(struct records *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->live_count; i++)
        stay_free(r->live[i]);
    for (size_t i = 0; i < r->path_count; i++)
        free(r->paths[i]);
    free(r->live);
    free(r->paths);
    free(r->root);
    free(r);
}

int64_t records_begin_ms(const struct records *r)
{
    return r->begin_ms;
}

int64_t records_end_ms(const struct records *r)
{
    return r->end_ms;
}

size_t records_contenders(const struct records *r)
{
    return r->contenders;
}

size_t records_strange(const struct records *r)
{
    return r->strange;
}
