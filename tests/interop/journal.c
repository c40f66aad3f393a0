/* SPDX-License-Identifier: Apache-2.0 */
/* The resource behind the lock of a mix. */
#include "journal.h"

#include <inttypes.h>

#include "fixture.h"

static void blame(const struct section *s, const char *why)
{
    fail_msg("%s %s %s, token %" PRId64 ": %s", s->worker,
             s->writes ? "write" : "read", s->node, s->token, why);
}

static bool pass_fence(struct journal *j, const struct section *s)
{
    if (s->token < (s->writes ? j->seen : j->written))
        return false;
    j->seen = s->token > j->seen ? s->token : j->seen;
    j->written = s->writes ? s->token : j->written;
    return true;
}

int64_t journal_enter(struct journal *j, const struct section *entered)
{
    size_t inside = 0;

    if (!pass_fence(j, entered)) {
        j->refused++;
        return -1;
    }
    j->sections = realloc(j->sections, (j->count + 1) * sizeof(*j->sections));
    assert_non_null(j->sections);
    struct section *s = &j->sections[j->count++];
    *s = *entered;
    s->found = j->counter;
    s->begin = ++j->now;
    s->end = JUDGE_NEVER;
    for (size_t i = 0; !s->writes && i < j->count; i++) {
        const struct section *other = &j->sections[i];

        if (other->end != JUDGE_NEVER)
            continue;
        inside++;
        if (other->kind != s->kind)
            j->readers_differ = true;
    }
    j->readers = inside > j->readers ? inside : j->readers;
    return j->counter;
}

void journal_leave(struct journal *j, const char *worker, int64_t token,
                   int64_t value)
{
    size_t i = j->count;

    while (i-- > 0 && (strcmp(j->sections[i].worker, worker) != 0 ||
                       j->sections[i].token != token))
        continue;
    assert_true(i < j->count);
    struct section *s = &j->sections[i];
    bool lives = s->end == JUDGE_NEVER;
    s->end = lives ? ++j->now : s->end;
    if (!pass_fence(j, s)) {
        s->state = REFUSED;
        j->refused++;
        if (lives)
            blame(s, "refused though its session lives");
        return;
    }
    s->state = LEFT;
    if (!lives && j->limit == 0)
        blame(s, "accepted though its lock had gone");
    if (value != j->counter + s->writes)
        blame(s, "an update is lost");
    j->counter = value;
}

void journal_end(struct journal *j, const char *worker)
{
    j->now++;
    for (size_t i = 0; i < j->count; i++) {
        struct section *s = &j->sections[i];

        if (s->end == JUDGE_NEVER && strcmp(s->worker, worker) == 0)
            s->end = j->now;
    }
}

bool journal_has_enter(const struct journal *j, size_t from, const char *worker,
                       bool only_writers)
{
    for (size_t i = from; i < j->count; i++) {
        const struct section *s = &j->sections[i];

        if ((worker == NULL || strcmp(s->worker, worker) == 0) &&
            (s->writes || !only_writers))
            return true;
    }
    return false;
}

void journal_judge(const struct journal *j, const struct life *lives,
                   size_t count)
{
    struct judge_grant *grants = judge_array(j->count, sizeof(*grants));
    struct judge_node *nodes = history_nodes(lives, count);
    struct judge_records records = { .grants = grants,
                                     .grant_count = j->count,
                                     .nodes = nodes,
                                     .node_count = count,
                                     .limit = j->limit };
    struct judgement judgement;

    for (size_t i = 0; i < j->count; i++) {
        const struct section *s = &j->sections[i];

        grants[i] = (struct judge_grant){ .shared = !s->writes,
                                          .token = s->token,
                                          .node = s->node,
                                          .begin = s->begin,
                                          .end = s->end };
        PRINT(grants[i].who, "%s", s->worker);
    }
    judge_lock(&records, &judgement);
    free(grants);
    free(nodes);
    if (judgement.violations > 0)
        fail_msg("%s", judgement.first);
}
