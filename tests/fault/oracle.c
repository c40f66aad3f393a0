/* Each token is looked up among the lives of the nodes that the log tells of.
 */
#include "oracle.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fixture.h"
#include "history.h"

enum { UUID_END = 39 }; /* of "_c_" and the UUID */

struct claimed {
    int64_t token;
    int64_t real_ms;
};

struct oracle {
    char directory[128];
    pthread_mutex_t mutex; /* guards the rest */
    struct claimed *claimed;
    size_t count;
    size_t room;
};

int number_from(const char *name, int otherwise)
{
    const char *text = getenv(name);

    return text != NULL ? atoi(text) : otherwise;
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
    free(o->claimed);
    free(o);
}

static void make_room(struct oracle *o)
{
    if (o->count < o->room)
        return;
    o->room = o->room == 0 ? 1024 : 2 * o->room;
    o->claimed = realloc(o->claimed, o->room * sizeof(*o->claimed));
    if (o->claimed == NULL)
        abort();
}

void oracle_granted(struct oracle *o, zkr_grant *g)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_REALTIME, &ts);
    (void)pthread_mutex_lock(&o->mutex);
    make_room(o);
    o->claimed[o->count++] =
        (struct claimed){ zkr_grant_token(g),
                          (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000 };
    (void)pthread_mutex_unlock(&o->mutex);
}

static int by_token(const void *a, const void *b)
{
    int64_t x = ((const struct claimed *)a)->token;
    int64_t y = ((const struct claimed *)b)->token;

    return (x > y) - (x < y);
}

static int by_name(const void *a, const void *b)
{
    return strncmp(((const struct life *)a)->name,
                   ((const struct life *)b)->name, UUID_END);
}

/* Both are sorted by czxid. */
static void judge_grants(const struct oracle *o, const struct life *lives,
                         size_t count, struct verdict *v)
{
    int64_t all_gone_ms = 0;
    size_t granted = 0;

    for (size_t i = 0; i < count; i++) {
        const struct life *l = &lives[i];

        if (l->end == INT64_MAX)
            fail_msg("%s is left", l->name);
        if (granted < o->count && o->claimed[granted].token == l->begin) {
            if (o->claimed[granted].real_ms < all_gone_ms)
                fail_msg(
                    "%s was granted %lld ms before its turn", l->name,
                    (long long)(all_gone_ms - o->claimed[granted].real_ms));
            granted++;
        } else if (l->end_ms - l->begin_ms > v->longest) {
            v->longest = l->end_ms - l->begin_ms;
        }
        if (l->end_ms > all_gone_ms)
            all_gone_ms = l->end_ms;
    }
    if (granted != o->count)
        fail_msg("token %lld belongs to no node, or to two grants",
                 (long long)o->claimed[granted].token);
}

/* Sorts `lives`. */
static size_t count_twins(struct life *lives, size_t count)
{
    size_t twins = 0;

    qsort(lives, count, sizeof(*lives), by_name);
    for (size_t i = 1; i < count; i++) {
        const struct life *a = &lives[i - 1];
        const struct life *b = &lives[i];

        twins += by_name(a, b) == 0 && a->begin < b->end && b->begin < a->end;
    }
    return twins;
}

struct verdict oracle_judge(struct oracle *o, const struct server *s)
{
    struct verdict v = { .grants = o->count };
    struct life *lives = history_read(s, o->directory, &v.nodes);

    assert_non_null(lives);
    qsort(o->claimed, o->count, sizeof(*o->claimed), by_token);
    judge_grants(o, lives, v.nodes, &v);
    v.twins = count_twins(lives, v.nodes);
    free(lives);
    return v;
}
