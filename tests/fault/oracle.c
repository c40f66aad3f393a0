/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle: hands the reports of clients, and the transaction log, to the
 * judge. */
#include "oracle.h"

#include "history.h"

enum { UUID_END = 39 }; /* of "_c_" and the UUID */

struct oracle {
    char directory[128];
    pthread_mutex_t mutex; /* guards the rest */
    struct judge_grant *grants;
    size_t count;
};

struct oracle *oracle_new(const char *directory)
{
    struct oracle *o = calloc(1, sizeof(*o));

    assert_non_null(o);
    assert_true(strlen(directory) < sizeof(o->directory));
    strcpy(o->directory, directory);
    ok(admin_create(admin, directory, NULL));
    (void)pthread_mutex_init(&o->mutex, NULL);
    return o;
}

void oracle_free(struct oracle *o)
{
    if (o == NULL)
        return;
    (void)pthread_mutex_destroy(&o->mutex);
    free(o->grants);
    free(o);
}

/* The calling thread may be late, so the instant is only an upper bound. */
void oracle_granted(struct oracle *o, zkr_grant *g)
{
    int64_t now = real_ms();
    struct judge_grant grant = { .token = zkr_grant_token(g),
                                 .begin = now,
                                 .end = now };

    (void)pthread_mutex_lock(&o->mutex);
    o->grants = realloc(o->grants, (o->count + 1) * sizeof(grant));
    if (o->grants == NULL)
        abort();
    PRINT(grant.who, "grant %zu", o->count);
    o->grants[o->count++] = grant;
    (void)pthread_mutex_unlock(&o->mutex);
}

static bool was_granted(const struct oracle *o, int64_t token)
{
    for (size_t i = 0; i < o->count; i++) {
        if (o->grants[i].token == token)
            return true;
    }
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strncmp(((const struct life *)a)->name,
                   ((const struct life *)b)->name, UUID_END);
}

struct verdict oracle_judge(struct oracle *o)
{
    struct verdict v = { .grants = o->count };
    struct judgement j;

    wait_children(o->directory, 0);
    struct life *lives = history_read(the_server, o->directory, &v.nodes);
    assert_non_null(lives);
    struct judge_node *nodes = history_nodes(lives, v.nodes);
    judge_lock(&(struct judge_records){ .grants = o->grants,
                                        .grant_count = o->count,
                                        .nodes = nodes,
                                        .node_count = v.nodes,
                                        .timed = true },
               &j);
    free(nodes);
    if (j.violations > 0)
        fail_msg("%s: %s", o->directory, j.first);
    qsort(lives, v.nodes, sizeof(*lives), by_name);
    for (size_t i = 0; i < v.nodes; i++) {
        const struct life *b = &lives[i];
        int64_t life_ms = b->end_ms - b->begin_ms;

        if (life_ms > v.longest && !was_granted(o, b->begin))
            v.longest = life_ms;
        if (i > 0 && by_name(&b[-1], b) == 0)
            assert_true(b[-1].end <= b->begin || b->end <= b[-1].begin);
    }
    free(lives);
    return v;
}
