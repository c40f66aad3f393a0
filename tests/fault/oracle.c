/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle: hands the reports of clients, and the transaction log, to the
 * judge. */
#include "oracle.h"

#include <time.h>

#include "fixture.h"
#include "history.h"

enum { UUID_END = 39 }; /* of "_c_" and the UUID */

struct oracle {
    char directory[128];
    pthread_mutex_t mutex; /* guards the rest */
    struct judge_grant *grants;
    size_t count;
};

int number_from(const char *name, int otherwise)
{
    if (getenv(name) != NULL)
        (void)alarm(0); /* a long run, which somebody has asked for */
    return (int)test_number(name, otherwise);
}

void set_seed(void)
{
    int seed = number_from("ZKR_SEED", (int)(time(NULL) % 1000000));

    printf("ZKR_SEED=%d\n", seed);
    srand48(seed);
}

int random_ms(int least, int most)
{
    return least + (int)(drand48() * (most - least));
}

int64_t real_to_boot(int64_t instant_ms)
{
    return instant_ms * 1000000 + boot_ns() - clock_ns(CLOCK_REALTIME);
}

int run_with_cluster(const struct cluster_opts *opts, const char *directory,
                     struct cluster **ret_cluster, test_step *setup,
                     test_step *teardown)
{
    int rc =
        cluster_permitted() ? cluster_start(opts, ret_cluster) : SERVER_MISSING;

    if (rc != SERVER_OK)
        return rc == SERVER_MISSING ? 77 : 1;
    rc = cluster_create(*ret_cluster, directory);
    if (rc == 0)
        rc = test_run_between(setup, teardown);
    cluster_stop(*ret_cluster);
    return rc == 0 ? 0 : 1;
}

int cluster_create(const struct cluster *c, const char *path)
{
    struct admin *a = NULL;
    int rc = admin_open(server_hosts(cluster_server(c, 1)), &a);

    if (rc == ZOK)
        rc = admin_create(a, path, NULL);
    admin_close(a);
    return rc;
}

struct oracle *oracle_new(const char *directory)
{
    struct oracle *o = calloc(1, sizeof(*o));

    assert_non_null(o);
    assert_true(strlen(directory) < sizeof(o->directory));
    strcpy(o->directory, directory);
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

static int by_token(const void *a, const void *b)
{
    int64_t x = ((const struct judge_grant *)a)->token;
    int64_t y = ((const struct judge_grant *)b)->token;

    return (x > y) - (x < y);
}

/* Sorts the grants. For each grant there is a life with its token. */
static int64_t longest_in_vain(const struct oracle *o, const struct life *lives,
                               size_t count)
{
    int64_t longest = 0;
    size_t granted = 0;

    qsort(o->grants, o->count, sizeof(*o->grants), by_token);
    for (size_t i = 0; i < count; i++) {
        int64_t life_ms = lives[i].end_ms - lives[i].begin_ms;

        if (granted < o->count && o->grants[granted].token == lives[i].begin)
            granted++;
        else if (life_ms > longest)
            longest = life_ms;
    }
    return longest;
}

static int by_name(const void *a, const void *b)
{
    return strncmp(((const struct life *)a)->name,
                   ((const struct life *)b)->name, UUID_END);
}

struct verdict oracle_judge(struct oracle *o, const struct server *s)
{
    struct verdict v = { .grants = o->count };
    struct life *lives = history_read(s, o->directory, &v.nodes);
    struct judgement j;

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
    v.longest = longest_in_vain(o, lives, v.nodes);
    qsort(lives, v.nodes, sizeof(*lives), by_name);
    for (size_t i = 1; i < v.nodes; i++) {
        const struct life *a = &lives[i - 1], *b = &lives[i];

        v.twins += by_name(a, b) == 0 && a->begin < b->end && b->begin < a->end;
    }
    free(lives);
    return v;
}
