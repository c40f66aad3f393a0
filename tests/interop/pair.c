/* SPDX-License-Identifier: Apache-2.0 */
/* A pair: two workers on one path, to check whether one waits for the other. */
#include "pair.h"

enum { PER_KIND = 2, WORKER_SESSION_MS = 10000 };

const struct client c = { KIND_C, "curator" };
const struct client curator = { KIND_CURATOR, "curator" };
const struct client kazoo_subclass = { KIND_KAZOO, "curator" };
const struct client kazoo_patterns = { KIND_KAZOO, "patterns" };
const struct client c_for_kazoo = { KIND_C, "kazoo" };
const struct client kazoo_as_is = { KIND_KAZOO, "kazoo" };

static struct worker workers[KINDS][PER_KIND];
struct worker *cast[4];
const char *stage;
const char *nodes_in;

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

/* Of programs that have none. */
__attribute__((weak)) int main(void)
{
    return workers_installed() ? run_with_server(NULL, run_pairs) : 77;
}

void cast_on_new_path(const char *recipe, const struct client *a,
                      const struct client *b)
{
    stage = nodes_in = textf("%s", new_path());
    cast[0] = worker_of(a->kind, 0);
    cast[1] = worker_of(b->kind, a->kind == b->kind);
    play("a lock %s %s %s = lock, b lock %s %s %s = lock", recipe, a->layout,
         stage, recipe, b->layout, stage);
}

void wait_watching(const struct worker *w, const char *path, const char *node)
{
    const char *watched = node == NULL ? path : textf("%s/%s", path, node);

    if (!COMES(server_watches(the_server, watched, w->session) > 0, SOON_MS))
        fail_msg("%s does not watch %s", w->name, watched);
}

static const char *dir_of(const char *what)
{
    return strcmp(what, "nodes") == 0 ? nodes_in : textf("%s/%s", stage, what);
}

static void tell(struct worker *w, const char *command)
{
    char mode[16];
    int limit_ms;

    if (sscanf(command, "acquire %15s %d", mode, &limit_ms) == 1)
        worker_tell(w, "%s %d", command, SOON_MS);
    else
        worker_tell(w, "%s", command);
}

/* Of one worker. */
static void play_part(struct worker *w, char *step)
{
    char *answer = strstr(step, "= ");
    char permits[8], other;
    int ms;
    size_t count;

    if (sscanf(step, "waits %d", &ms) == 1) {
        assert_null(worker_hear(w, ms));
    } else if (sscanf(step, "waits for %7s with %zu", permits, &count) == 2) {
        worker_tell(w, "acquire %s %d", permits, SOON_MS);
        wait_children(nodes_in, count);
        wait_children(dir_of("locks"), 1);
        assert_null(worker_hear(w, 100));
    } else if (sscanf(step, "watches %c", &other) == 1) {
        wait_watching(w, nodes_in, cast[other - 'a']->node);
    } else if (strcmp(step, "dies") == 0) {
        worker_kill(w);
    } else if (strncmp(step, "has ", 4) == 0) {
        assert_int_equal(
            admin_exists(admin, textf("%s/%s", nodes_in, w->node), NULL),
            strcmp(step, "has no node") == 0 ? ZNONODE : ZOK);
    } else {
        if (answer != NULL && answer != step)
            answer[-1] = '\0';
        if (answer != step)
            tell(w, step);
        if (answer != NULL && strcmp(answer, "= held") == 0)
            worker_expect_held(w);
        else if (answer != NULL)
            worker_expect(w, answer + 2);
    }
}

void play(const char *format, ...)
{
    char text[2048], what[16];
    char *rest = text;
    size_t count;
    va_list args;

    va_start(args, format);
    int size = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    assert_in_range(size, 1, sizeof(text) - 1);
    for (char *step; (step = strsep(&rest, ",")) != NULL;) {
        step += strspn(step, " ");
        if (sscanf(step, "%zu %15s", &count, what) == 2)
            assert_int_equal(count_children(dir_of(what)), count);
        else if (sscanf(step, "await %zu %15s", &count, what) == 2)
            wait_children(dir_of(what), count);
        else
            play_part(cast[step[0] - 'a'], step + 2);
    }
}

/* "b" waits for "a", or is let in. */
static void check(bool waits, const char *recipe, const struct client *a,
                  const char *a_mode, const struct client *b,
                  const char *b_mode)
{
    cast_on_new_path(recipe, a, b);
    play("a acquire %s = held", a_mode);
    if (!waits) {
        play("b acquire %s 0 = held, 2 nodes, b release %s = released, "
             "a release %s = released, await 0 nodes",
             b_mode, b_mode, a_mode);
        return;
    }
    play("b acquire %s 0 = busy, await 1 nodes, a release %s = released, "
         "await 0 nodes",
         b_mode, a_mode);
    /* On a path of its own: a try of Curator leaves its watch behind. */
    cast_on_new_path(recipe, a, b);
    play("a acquire %s = held, b acquire %s, b watches a, 2 nodes, b waits 0, "
         "a release %s = released, b = held",
         a_mode, b_mode, a_mode);
    assert_true(cast[1]->token > cast[0]->token);
    play("b release %s = released, await 0 nodes", b_mode);
}

void check_pair(const struct pair *p, const char *a_mode, const char *b_mode)
{
    check(p->b_waits, p->recipe, p->a, a_mode, p->b, b_mode);
    check(p->a_waits, p->recipe, p->b, b_mode, p->a, a_mode);
}
