/* SPDX-License-Identifier: Apache-2.0 */
/* A pair: two workers on one path, to check whether one waits for the other. */
#include "pair.h"

enum { PER_KIND = 2, WORKER_SESSION_MS = 10000 };

#define CLIENT(kind, layout)                                                   \
    {                                                                          \
        { kind, layout, "write" },                                             \
        {                                                                      \
            kind, layout, "read"                                               \
        }                                                                      \
    }

const struct client c = CLIENT(KIND_C, "curator");
const struct client curator = CLIENT(KIND_CURATOR, "curator");
const struct client kazoo_subclass = CLIENT(KIND_KAZOO, "curator");
const struct client kazoo_patterns = CLIENT(KIND_KAZOO, "patterns");
const struct client c_for_kazoo = CLIENT(KIND_C, "kazoo");
const struct client kazoo_as_is = CLIENT(KIND_KAZOO, "kazoo");

static struct worker workers[KINDS][PER_KIND];

struct worker *worker_of(enum kind kind, int number)
{
    struct worker *w = &workers[kind][number];

    if (w->pid == 0) {
        worker_start(w, kind, number);
        worker_open(w, server_hosts(the_server), WORKER_SESSION_MS);
    }
    return w;
}

static int end_workers(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < PER_KIND; i++)
            worker_stop(&workers[kind][i]);
    }
    return 0;
}

int run_pairs(void)
{
    return test_run_between(NULL, end_workers);
}

struct duo duo_on_new_path(const char *recipe, const struct side *holder,
                           const struct side *other)
{
    struct duo d = { new_path(), worker_of(holder->kind, 0),
                     worker_of(other->kind, holder->kind == other->kind) };

    worker_do(d.holder, "lock", "lock %s %s %s", recipe, holder->layout,
              d.path);
    worker_do(d.other, "lock", "lock %s %s %s", recipe, other->layout, d.path);
    return d;
}

void wait_watching(const struct worker *w, const char *path, const char *node)
{
    const char *watched = node == NULL ? path : textf("%s/%s", path, node);

    if (!COMES(server_watches(the_server, watched, w->session) > 0, SOON_MS))
        fail_msg("%s does not watch %s", w->name, watched);
}

void acquire_behind(struct worker *w, const char *mode, const char *path,
                    const char *before)
{
    worker_tell(w, "acquire %s %d", mode, SOON_MS);
    wait_watching(w, path, before);
}

static void refuses_a_try(const char *recipe, const struct side *first,
                          const struct side *second)
{
    struct duo d = duo_on_new_path(recipe, first, second);

    worker_acquire(d.holder, first->mode);
    worker_do(d.other, "busy", "acquire %s 0", second->mode);
    wait_children(d.path, 1);
    worker_do(d.holder, "released", "release %s", first->mode);
    wait_children(d.path, 0);
}

/* On a path of its own, because a try of Curator leaves its watch behind. */
static void lets_wait(const char *recipe, const struct side *first,
                      const struct side *second)
{
    struct duo d = duo_on_new_path(recipe, first, second);

    worker_acquire(d.holder, first->mode);
    acquire_behind(d.other, second->mode, d.path, d.holder->node);
    assert_int_equal(count_children(d.path), 2);
    assert_null(worker_hear(d.other, 0));
    worker_do(d.holder, "released", "release %s", first->mode);
    worker_expect_held(d.other);
    assert_true(d.other->token > d.holder->token);
    worker_do(d.other, "released", "release %s", second->mode);
    wait_children(d.path, 0);
}

static void excludes(const char *recipe, const struct side *first,
                     const struct side *second)
{
    refuses_a_try(recipe, first, second);
    lets_wait(recipe, first, second);
}

static void lets_in(const char *recipe, const struct side *first,
                    const struct side *second)
{
    struct duo d = duo_on_new_path(recipe, first, second);

    worker_acquire(d.holder, first->mode);
    worker_do(d.other, "held ", "acquire %s 0", second->mode);
    assert_int_equal(count_children(d.path), 2);
    worker_do(d.other, "released", "release %s", second->mode);
    worker_do(d.holder, "released", "release %s", first->mode);
    wait_children(d.path, 0);
}

void check_pair(const struct pair *p)
{
    (p->b_waits ? excludes : lets_in)(p->recipe, p->a, p->b);
    (p->a_waits ? excludes : lets_in)(p->recipe, p->b, p->a);
}
