/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a mix is read while it grows, and judged at the end. */
#include "journal.h"

#include <inttypes.h>

#include <fcntl.h>
#include <limits.h>

#include "fixture.h"

static void write_file(const char *dir, const char *name, const char *text,
                       int flags)
{
    int fd =
        open(textf("%s/%s", dir, name), O_WRONLY | O_CLOEXEC | flags, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    (void)close(fd);
}

void journal_create(struct journal *j, const char *dir)
{
    char path[PATH_MAX];

    write_file(dir, "resource", textf("%020d %020d %020d\n", 0, 0, 0),
               O_CREAT | O_EXCL);
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
    write_file(dir, "journal", textf("ENDED %s - - 0 0\n", worker), O_APPEND);
}

void journal_read(struct journal *j)
{
    char line[512];
    char mode[8];
    long at = ftell(j->file);

    clearerr(j->file);
    while (fgets(line, sizeof(line), j->file) != NULL) {
        if (strchr(line, '\n') == NULL)
            break; /* seen while it was being written */
        j->entries = realloc(j->entries, (j->count + 1) * sizeof(struct entry));
        assert_non_null(j->entries);
        struct entry *e = &j->entries[j->count++];
        if (sscanf(line, "%11s %15s %7s %95s %" SCNd64 " %" SCNd64, e->what,
                   e->worker, mode, e->node, &e->token, &e->value) != 6)
            fail_msg("journal: %s", line);
        e->writes = strcmp(mode, "write") == 0;
        j->sections += strcmp(e->what, "ENTER") == 0;
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

struct replay {
    struct judge_grant *grants; /* one for each ENTER so far */
    size_t count;
    int64_t counter;
    bool leases;
    struct verdict *verdict;
};

static void blame(const struct entry *e, const char *why)
{
    fail_msg("%s %s %s %s, token %" PRId64 ", value %" PRId64 ": %s", e->what,
             e->worker, e->writes ? "write" : "read", e->node, e->token,
             e->value, why);
}

bool journal_same_kind(const char *worker, const char *other)
{
    size_t length = strcspn(worker, "0123456789");

    return length == strcspn(other, "0123456789") &&
           memcmp(worker, other, length) == 0;
}

static bool is_inside(const struct judge_grant *g)
{
    return g->end == JUDGE_NEVER;
}

static void on_enter(struct replay *r, const struct entry *e, int64_t line)
{
    struct judge_grant *g = &r->grants[r->count++];
    size_t inside = 0;

    if (e->value != r->counter)
        blame(e, "does not find what was written");
    *g = (struct judge_grant){ .shared = !e->writes,
                               .token = e->token,
                               .node = e->node,
                               .begin = line,
                               .end = JUDGE_NEVER };
    (void)snprintf(g->who, sizeof(g->who), "%s", e->worker);
    for (size_t i = 0; !e->writes && i < r->count; i++) {
        g = &r->grants[i];
        inside += is_inside(g);
        if (is_inside(g) && !journal_same_kind(g->who, e->worker))
            r->verdict->readers_differ = true;
    }
    if (inside > r->verdict->readers)
        r->verdict->readers = inside;
}

/* End the sections of that worker, or the one with that token; false when it is
 * in none. */
static bool end_sections(struct replay *r, const char *worker,
                         const int64_t *token, int64_t line)
{
    bool found = false;

    for (size_t i = 0; i < r->count; i++) {
        struct judge_grant *g = &r->grants[i];

        if (is_inside(g) && strcmp(g->who, worker) == 0 &&
            (token == NULL || g->token == *token)) {
            g->end = line;
            found = true;
        }
    }
    return found;
}

static void on_leave(struct replay *r, const struct entry *e, int64_t line)
{
    bool began = end_sections(r, e->worker, &e->token, line);

    if (e->value < 0) {
        r->verdict->refused++;
        if (began)
            blame(e, "refused though its session lives");
        return;
    }
    if (!began && !r->leases)
        blame(e, "accepted though its lock had gone");
    if (e->value != r->counter + e->writes)
        blame(e, "an update is lost");
    r->counter = e->value;
    r->verdict->writes += e->writes;
}

static void replay(const struct journal *j, struct replay *r)
{
    for (size_t i = 0; i < j->count; i++) {
        const struct entry *e = &j->entries[i];
        int64_t line = (int64_t)i + 1;

        if (strcmp(e->what, "ENTER") == 0)
            on_enter(r, e, line);
        else if (strcmp(e->what, "LEAVE") == 0)
            on_leave(r, e, line);
        else if (strcmp(e->what, "ENDED") == 0)
            (void)end_sections(r, e->worker, NULL, line);
        else if (strcmp(e->what, "REFUSED") == 0)
            r->verdict->refused++;
    }
}

void journal_judge(const struct journal *j, const struct life *lives,
                   size_t count, struct verdict *ret_verdict)
{
    struct judge_node *nodes = history_nodes(lives, count);
    struct replay r = { .leases = j->limit > 0, .verdict = ret_verdict };
    struct judge_records records = { .nodes = nodes,
                                     .node_count = count,
                                     .limit = j->limit };
    struct judgement judgement;

    *ret_verdict = (struct verdict){ .writes = 0 };
    r.grants = calloc(j->sections + 1, sizeof(*r.grants));
    assert_non_null(r.grants);
    replay(j, &r);
    records.grants = r.grants;
    records.grant_count = r.count;
    judge_lock(&records, &judgement);
    free(r.grants);
    free(nodes);
    if (judgement.violations > 0)
        fail_msg("%s", judgement.first);
}
