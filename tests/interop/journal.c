/* The journal of a mix, read while it grows and replayed at the end. */
#include "journal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "fixture.h"

static void write_file(const char *dir, const char *name, const char *text,
                       int flags)
{
    char path[PATH_MAX];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    (void)close(fd);
}

void journal_create(struct journal *j, const char *dir)
{
    char path[PATH_MAX];
    char zeros[64];

    (void)snprintf(zeros, sizeof(zeros), "%020d %020d %020d\n", 0, 0, 0);
    write_file(dir, "resource", zeros, O_CREAT | O_EXCL);
    write_file(dir, "journal", "", O_CREAT | O_EXCL);
    (void)snprintf(path, sizeof(path), "%s/journal", dir);
    *j = (struct journal){ .file = fopen(path, "re") };
    assert_non_null(j->file);
}

void journal_free(struct journal *j)
{
    if (j->file != NULL)
        (void)fclose(j->file);
    free(j->entries);
    *j = (struct journal){ .file = NULL };
}

void journal_note_ended(const char *dir, const char *worker)
{
    char line[64];

    (void)snprintf(line, sizeof(line), "ENDED %s - - 0 0\n", worker);
    write_file(dir, "journal", line, O_APPEND);
}

static void add_entry(struct journal *j, const char *line)
{
    struct entry *e;
    char mode[8];

    j->entries = realloc(j->entries, (j->count + 1) * sizeof(*e));
    assert_non_null(j->entries);
    e = &j->entries[j->count++];
    if (sscanf(line, "%11s %15s %7s %95s %" SCNd64 " %" SCNd64, e->what,
               e->worker, mode, e->node, &e->token, &e->value) != 6)
        fail_msg("journal: %s", line);
    e->writes = strcmp(mode, "write") == 0;
    j->sections += strcmp(e->what, "ENTER") == 0;
}

void journal_read(struct journal *j)
{
    char line[512];
    long at = ftell(j->file);

    clearerr(j->file);
    while (fgets(line, sizeof(line), j->file) != NULL) {
        if (strchr(line, '\n') == NULL)
            break; /* seen while it was being written */
        add_entry(j, line);
        at = ftell(j->file);
    }
    (void)fseek(j->file, at, SEEK_SET);
}

const struct entry *journal_find(const struct journal *j, size_t from,
                                 const char *what, const char *worker)
{
    for (size_t i = from; i < j->count; i++) {
        const struct entry *e = &j->entries[i];

        if (strcmp(e->what, what) == 0 && strcmp(e->worker, worker) == 0)
            return e;
    }
    return NULL;
}

bool journal_has_enter(const struct journal *j, size_t from, bool only_writers)
{
    for (size_t i = from; i < j->count; i++) {
        if (strcmp(j->entries[i].what, "ENTER") == 0 &&
            (j->entries[i].writes || !only_writers))
            return true;
    }
    return false;
}

/* Replay */

enum { INSIDE_MAX = 32 };

struct replay {
    const struct entry *inside[INSIDE_MAX];
    size_t count;
    int64_t counter;
    int64_t highest;       /* token of anybody */
    int64_t highest_write; /* of a writer */
    struct verdict *verdict;
};

static _Noreturn void blame(const struct entry *e, const char *why)
{
    fail_msg("%s %s %s %s, token %" PRId64 ", value %" PRId64 ": %s", e->what,
             e->worker, e->writes ? "write" : "read", e->node, e->token,
             e->value, why);
    abort(); /* not reached: fail_msg() leaves */
}

static size_t kind_length(const char *worker)
{
    return strcspn(worker, "0123456789");
}

bool journal_same_kind(const char *worker, const char *other)
{
    size_t length = kind_length(worker);

    return length == kind_length(other) && memcmp(worker, other, length) == 0;
}

static void count_readers(struct replay *r, const struct entry *e)
{
    if (r->count > r->verdict->readers)
        r->verdict->readers = r->count;
    for (size_t i = 0; i < r->count; i++) {
        if (!journal_same_kind(r->inside[i]->worker, e->worker))
            r->verdict->readers_differ = true;
    }
}

static void on_enter(struct replay *r, const struct entry *e)
{
    if (r->count > 0 && (e->writes || r->inside[0]->writes))
        blame(e, "overlaps");
    if (e->token <= (e->writes ? r->highest : r->highest_write))
        blame(e, "out of turn");
    if (e->value != r->counter)
        blame(e, "does not find what was written");
    assert_true(r->count < INSIDE_MAX);
    r->inside[r->count++] = e;
    if (e->token > r->highest)
        r->highest = e->token;
    if (e->writes)
        r->highest_write = e->token;
    else
        count_readers(r, e);
}

/* The section of that worker, taken out; NULL when it is in none. */
static const struct entry *take_out(struct replay *r, const char *worker)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct entry *e = r->inside[i];

        if (strcmp(e->worker, worker) == 0) {
            r->inside[i] = r->inside[--r->count];
            return e;
        }
    }
    return NULL;
}

static void on_leave(struct replay *r, const struct entry *e)
{
    const struct entry *began = take_out(r, e->worker);

    if (e->value < 0) {
        r->verdict->refused++;
        if (began != NULL)
            blame(e, "refused though its session lives");
        return;
    }
    if (began == NULL)
        blame(e, "accepted though its lock had gone");
    if (e->value != r->counter + e->writes)
        blame(e, "an update is lost");
    r->counter = e->value;
    r->verdict->writes += e->writes;
}

void journal_replay(const struct journal *j, struct verdict *ret_verdict)
{
    struct replay r = { .verdict = ret_verdict };

    *ret_verdict = (struct verdict){ .writes = 0 };
    for (size_t i = 0; i < j->count; i++) {
        const struct entry *e = &j->entries[i];

        if (strcmp(e->what, "ENTER") == 0)
            on_enter(&r, e);
        else if (strcmp(e->what, "LEAVE") == 0)
            on_leave(&r, e);
        else if (strcmp(e->what, "ENDED") == 0)
            (void)take_out(&r, e->worker);
        else if (strcmp(e->what, "REFUSED") == 0)
            ret_verdict->refused++;
    }
}

/* Comparison with the server */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct life *)a)->name,
                  ((const struct life *)b)->name);
}

void journal_compare(const struct journal *j, const struct life *lives,
                     size_t count)
{
    struct life *sorted = calloc(count, sizeof(*sorted));
    int64_t end = 0;       /* the last of all that came before */
    int64_t write_end = 0; /* ... of the writers */

    assert_non_null(sorted);
    memcpy(sorted, lives, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_name);
    for (size_t i = 0; i < j->count; i++) {
        const struct entry *e = &j->entries[i];
        struct life key;
        const struct life *life;

        if (strcmp(e->what, "ENTER") != 0)
            continue;
        (void)snprintf(key.name, sizeof(key.name), "%s", e->node);
        life = bsearch(&key, sorted, count, sizeof(key), by_name);
        if (life == NULL || life->begin != e->token)
            blame(e, "the server has no such node");
        if (life->end <= (e->writes ? end : write_end))
            blame(e, "its node went before one that was first");
        if (life->end > end)
            end = life->end;
        if (e->writes && life->end > write_end)
            write_end = life->end;
    }
    free(sorted);
}
