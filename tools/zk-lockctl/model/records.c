/* SPDX-License-Identifier: Apache-2.0 */
/* The history of locks, out of the events that watch has printed with -o
 * jsonl. */
#include "model/records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/lockctl.h"
#include "model/past.h"
#include "model/place.h"
#include "model/spans.h"
#include "model/told_event.h"

/* One run of watch. */
struct run {
    bool whole;       /* all who contend are known, of locks that are wanted */
    int64_t until_ms; /* the last moment that it has told of; 0: none */
};

struct records {
    char *root;
    struct history_fns fns;
    struct pasts pasts;
    int64_t begin_ms, end_ms;
    struct run run; /* the present one, */
    bool run_over;  /* ... or the last one: what follows is of another */
    struct spans spans;
    size_t contenders;
    size_t strange;
    bool missed; /* watch has not seen all */
    bool failed; /* out of memory */
};

/* --- stays --- */

static struct stay *make_stay(struct records *r, struct past *past,
                              const json_t *contender, int64_t at_ms)
{
    char *data = told_data(contender);
    struct stay *stay = NULL;

    if (data != NULL)
        stay = stay_new(past->path, told_text(contender, "node"), data,
                        strlen(data));
    free(data);
    if (stay == NULL)
        return NULL;
    stay->sure = true;
    stay->node.token = told_token(contender, "token");
    stay->node.session_id = told_token(contender, "session");
    stay->node.since_ms = told_time(contender, "queued_at");
    stay->queued_ms = stay->node.since_ms;
    stay->seen_ms = at_ms;
    return pasts_add(&r->pasts, past, stay) ? stay : NULL;
}

static void end_stay(struct records *r, struct stay *stay, enum ending ending,
                     int64_t at_ms)
{
    pasts_remove(&r->pasts, stay);
    stay->ending = ending;
    stay->ended_ms = at_ms;
    stay->ended_late = ending == ENDING_GONE;
    r->fns.stay(stay, r->fns.user);
}

/* It went while nobody watched. */
static void end_unseen(struct records *r, struct stay *stay)
{
    end_stay(r, stay, ENDING_UNKNOWN, stay->known_ms);
}

/* The stay of an event, which may be the first of it. Another node of that name
 * has gone. NULL: out of memory. */
static struct stay *stay_for(struct records *r, struct past *past,
                             const json_t *contender, int64_t at_ms)
{
    int64_t token = told_token(contender, "token");
    struct stay *stay =
        pasts_stay(&r->pasts, past, told_text(contender, "node"));

    if (stay != NULL && token != 0 && stay->node.token != 0 &&
        stay->node.token != token) {
        end_unseen(r, stay);
        stay = NULL;
    }
    if (stay == NULL) {
        r->contenders++;
        stay = make_stay(r, past, contender, at_ms);
    }
    if (stay != NULL) {
        stay->known_ms = at_ms;
        stay->lost = false;
    }
    return stay;
}

/* A contender that gets a permit of a semaphore leaves the queue, and watch
 * does not tell that. Of several of its session it was the first. */
static struct stay *claim_of(const struct records *r, const struct stay *lease)
{
    struct stay *claim = NULL;

    for (struct stay *s =
             sessions_stays(&r->pasts.sessions, lease->node.session_id);
         s != NULL; s = s->next) {
        if (s->past == lease->past &&
            zkr__part_of(s->name) == ZKR__PART_QUEUE &&
            s->node.token < lease->node.token &&
            (claim == NULL || s->node.token < claim->node.token))
            claim = s;
    }
    return claim;
}

static void end_claim(struct records *r, struct stay *lease)
{
    struct stay *claim = zkr__part_of(lease->name) == ZKR__PART_LEASES
                             ? claim_of(r, lease)
                             : NULL;

    if (claim == NULL)
        return;
    lease->queued_ms = claim->queued_ms;
    claim->is_claim = true;
    end_stay(r, claim, ENDING_GONE, lease->held_ms);
}

/* Beside a new exclusive holder nobody else holds, unless it is the other half
 * of a downgrade, or outside of the queue: who did has gone while nobody
 * watched, as between two runs of watch. */
static void end_older(struct records *r, const struct stay *holder)
{
    const struct queue *queue = &holder->past->parts[ZKR__PART_PATH];

    if (holder->node.kind != ZKR_PARTICIPANT_EXCLUSIVE ||
        zkr__is_unfair(&holder->node))
        return;
    for (size_t i = queue->count; i-- > 0;) {
        struct stay *older = queue->items[i];

        if (older != holder && older->held_ms != 0 &&
            !zkr__is_unfair(&older->node) && !zkr__is_lease(&older->node) &&
            older->node.session_id != holder->node.session_id)
            end_unseen(r, older);
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
    stay_hold(stay, at_ms, before);
    end_claim(r, stay);
    end_older(r, stay);
}

static void take_end(struct records *r, struct stay *stay, const json_t *event,
                     int64_t at_ms)
{
    stay->held_max_ms = told_ms(event, "held_ms_max");
    if (stay->held_max_ms >= 0)
        take_hold(r, stay, at_ms, true);
    end_stay(r, stay, ENDING_GONE, at_ms);
}

/* From now on it is known who contends. */
static void become_whole(struct records *r, int64_t at_ms)
{
    if (!r->run.whole)
        r->failed = !spans_begin(&r->spans, at_ms) || r->failed;
    r->run.whole = true;
}

/* Nobody holds beside one who gets a lock for itself, so all that hold later
 * are told, whoever was there before. */
static bool is_alone(const struct records *r, const struct stay *stay)
{
    return stay->node.kind == ZKR_PARTICIPANT_EXCLUSIVE &&
           !zkr__is_unfair(&stay->node) && strchr(stay->name, '/') == NULL &&
           strcmp(stay->lock, r->root) == 0;
}

static void take_acquired(struct records *r, struct stay *stay, int64_t at_ms)
{
    take_hold(r, stay, at_ms, false);
    if (is_alone(r, stay))
        become_whole(r, at_ms);
}

static void take_event(struct records *r, const json_t *event, const char *kind,
                       int64_t at_ms)
{
    const json_t *contender = json_object_get(event, "contender");
    const char *path = told_text(event, "path");
    struct past *past;
    struct stay *stay;

    if (!place_is_below(path, r->root))
        return;
    past = pasts_make(&r->pasts, path);
    stay = past == NULL ? NULL : stay_for(r, past, contender, at_ms);
    if (stay == NULL)
        r->failed = true;
    else if (strcmp(kind, "acquired") == 0)
        take_acquired(r, stay, at_ms);
    else if (strcmp(kind, "holding") == 0)
        take_hold(r, stay, at_ms, true);
    else if (strcmp(kind, "revoked") == 0 && stay->asked_ms == 0)
        stay->asked_ms = at_ms;
    else if (strcmp(kind, "left") == 0 || strcmp(kind, "gone") == 0)
        take_end(r, stay, event, at_ms);
}

/* --- runs --- */

/* Whoever was there at the end of a run may have gone before the next one; an
 * event of it tells that it has not. */
static void lose(struct past *past, void *records)
{
    const struct records *r = records;

    for (int part = 0; part < ZKR__PARTS; part++) {
        const struct queue *queue = &past->parts[part];

        for (size_t i = 0; i < queue->count; i++) {
            struct stay *stay = queue->items[i];

            if (!stay->lost && stay->known_ms < r->run.until_ms)
                stay->known_ms = r->run.until_ms;
            stay->lost = true;
        }
    }
}

static void tell_gap(const struct records *r, int64_t from_ms, int64_t until_ms)
{
    const struct gap gap = { .from_ms = from_ms, .until_ms = until_ms };

    if (from_ms != 0 && from_ms <= until_ms)
        r->fns.gap(&gap, r->fns.user);
}

static void begin_run(struct records *r, int64_t at_ms)
{
    pasts_each(&r->pasts, lose, r);
    tell_gap(r, r->run.until_ms, at_ms);
    r->run = (struct run){ .until_ms = at_ms };
    r->run_over = false;
    r->spans.open = false;
}

static void take_begin(struct records *r, const json_t *event, int64_t at_ms)
{
    begin_run(r, at_ms);
    if (json_is_true(json_object_get(event, "initial")) &&
        told_to_watch(event, r->root))
        become_whole(r, at_ms);
}

/* What watch saw last is known, and what it sees from now on. */
static void take_resync(struct records *r, const json_t *event, int64_t at_ms)
{
    int64_t from_ms = told_time(event, "last_look");

    tell_gap(r, from_ms, at_ms);
    if (from_ms <= at_ms)
        spans_lengthen(&r->spans, from_ms);
    r->spans.open = false;
    if (r->run.whole)
        r->failed = !spans_begin(&r->spans, at_ms) || r->failed;
}

static void take_time(struct records *r, int64_t at_ms)
{
    if (r->begin_ms == 0)
        r->begin_ms = at_ms;
    if (at_ms > r->end_ms)
        r->end_ms = at_ms;
    if (at_ms > r->run.until_ms)
        r->run.until_ms = at_ms;
    spans_lengthen(&r->spans, at_ms);
}

/* --- lines --- */

/* An event of a later version may be of a kind that is not known here. */
static void take_one(struct records *r, const json_t *event, const char *kind,
                     int64_t at_ms)
{
    bool begins = strcmp(kind, "begin") == 0;

    if (r->run_over && !begins) /* its beginning was cut off */
        begin_run(r, at_ms);
    if (begins)
        take_begin(r, event, at_ms);
    else if (strcmp(kind, "resync") == 0)
        take_resync(r, event, at_ms);
    else if (strcmp(kind, "missed") == 0)
        r->missed =
            r->missed || place_is_below(told_text(event, "path"), r->root);
    else if (is_known(kind) && told_contender(event))
        take_event(r, event, kind, at_ms);
    else
        r->strange++;
    take_time(r, at_ms);
}

/* False: the line is none of watch. */
static bool take_line(struct records *r, const char *line, size_t size)
{
    json_t *event = json_loadb(line, size, 0, NULL);
    const char *kind = told_text(event, "event");
    int64_t at_ms = told_time(event, "at");
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

enum { LINE_ROOM = 1 << 20 };

/* The first line must be understood: else the file is something else. A line is
 * no longer than watch makes it. */
static bool read_lines(struct records *r, FILE *file, char *line)
{
    bool any = false;

    while (fgets(line, LINE_ROOM, file) != NULL) {
        size_t size = strlen(line);

        if (is_blank(line) && size > 0)
            continue;
        if (!take_line(r, line, size)) {
            if (!any)
                return false;
            r->strange++;
        }
        any = true;
    }
    return true;
}

static bool read_all(struct records *r, FILE *file)
{
    char *line = malloc(LINE_ROOM);
    bool good = true;

    if (line == NULL)
        r->failed = true;
    else
        good = read_lines(r, file, line);
    free(line);
    return good;
}

int records_play(struct records *r, const char *file)
{
    bool is_input = strcmp(file, "-") == 0;
    FILE *in = is_input ? stdin : fopen(file, "re");
    char text[1024];
    bool good;
    int error = in == NULL ? errno : 0;

    r->run_over = true;
    (void)escape_string(is_input ? "standard input" : file, text, sizeof(text));
    if (in == NULL)
        return lockctl_fail(error == EACCES ? EX_NOPERM : EX_NOINPUT, "%s: %s",
                            text, strerror(error));
    good = read_all(r, in);
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

static void end_past(struct past *past, void *records)
{
    struct records *r = records;
    struct stay *stay;

    while ((stay = past_any(past)) != NULL) {
        if (stay->lost)
            end_unseen(r, stay);
        else
            end_stay(r, stay, ENDING_NONE, 0);
    }
}

void records_end(struct records *r)
{
    pasts_each(&r->pasts, end_past, r);
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
    pasts_done(&r->pasts);
    spans_done(&r->spans);
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

bool records_knows(const struct records *r, int64_t ms)
{
    return spans_know(&r->spans, ms);
}

bool records_missed(const struct records *r)
{
    return r->missed;
}

size_t records_strange(const struct records *r)
{
    return r->strange;
}
