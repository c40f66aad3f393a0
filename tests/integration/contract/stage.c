/* SPDX-License-Identifier: Apache-2.0 */
/* The stage of the contract: two sessions, each behind a proxy of its own, and
 * the contenders that a test puts there. */
#include "stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THINGS = 64 };

const struct adapter *recipe;
struct proxy *proxy;
struct proxy *their_proxy;
zkr_session *ours;
zkr_session *theirs;
char path[64];
char dir[80];

/* The objects that a test has made; the teardown frees them. */
static struct contender *contenders[MAX_THINGS];
static size_t contender_count;
static void *locks[MAX_THINGS];
static size_t lock_count;
static struct recorder *recorders[MAX_THINGS];
static size_t recorder_total;

int stage_set_up(void)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;

    recipe = ((const struct trial *)test_current->arg)->recipe;
    (void)snprintf(path, sizeof(path), "%s", new_path());
    (void)snprintf(dir, sizeof(dir), "%s%s", path,
                   recipe->below != NULL ? recipe->below : "");
    if (proxy_start(server_hosts(the_server), &proxy) != 0 ||
        proxy_start(server_hosts(the_server), &their_proxy) != 0)
        return -1;
    opts.session_timeout_ms = SESSION_MS;
    opts.reply_timeout_ms = REPLY_MS;
    ok(zkr_session_open(proxy_hosts(proxy), &opts, &ours));
    opts.reply_timeout_ms = 0;
    ok(zkr_session_open(proxy_hosts(their_proxy), &opts, &theirs));
    return 0;
}

void close_ours(void)
{
    zkr_session *s = ours;

    ours = NULL;
    ok(zkr_session_close(s));
}

/* In this order a failed test leaves nothing either: the end of the sessions
 * ends every wait. */
int stage_tear_down(void)
{
    proxy_forget_rules(proxy);
    proxy_heal(proxy);
    proxy_release(proxy);
    (void)zkr_session_close(ours);
    (void)zkr_session_close(theirs);
    while (contender_count > 0)
        contender_stop(contenders[--contender_count]);
    while (lock_count > 0)
        recipe->free(locks[--lock_count]);
    while (recorder_total > 0)
        recorder_free(recorders[--recorder_total]);
    proxy_stop(proxy);
    proxy_stop(their_proxy);
    return 0;
}

void *new_lock_with(zkr_session *s, uint32_t flags)
{
    void *lock = NULL;

    assert_true(lock_count < MAX_THINGS);
    ok(recipe->make(s, path, recipe->flags | flags, &lock));
    locks[lock_count++] = lock;
    return lock;
}

void *new_lock(zkr_session *s)
{
    return new_lock_with(s, 0);
}

void free_lock(void *lock)
{
    for (size_t i = 0; i < lock_count; i++) {
        if (locks[i] == lock)
            locks[i] = NULL;
    }
    recipe->free(lock);
}

struct contender *contender_of(void *lock)
{
    struct contender *c;

    assert_true(contender_count < MAX_THINGS);
    c = contender_start(recipe, lock);
    contenders[contender_count++] = c;
    return c;
}

struct contender *one_of(zkr_session *s)
{
    return contender_of(new_lock(s));
}

struct recorder *new_recorder(void)
{
    struct recorder *r = recorder_new();

    assert_non_null(r);
    assert_true(recorder_total < MAX_THINGS);
    recorders[recorder_total++] = r;
    return r;
}

int recorded(struct recorder *r, size_t i)
{
    int code = 0;

    assert_true(recorder_wait(r, i + 1, SOON_MS));
    assert_true(recorder_get(r, i, &code, NULL));
    return code;
}

bool has(unsigned trait)
{
    unsigned async = recipe->acquire_async == NULL ? 0 : ASYNC;

    return ((recipe->traits | async) & trait) == trait;
}

/* Steps of the contenders */

void succeeds(struct contender *c)
{
    int rc = contender_rc(c);

    if (rc != ZKR_OK)
        fail_msg("%s: %s", zkr_strerror(rc), c->detail);
}

int try_for(struct contender *c, int64_t timeout_ms)
{
    contender_acquire(c, timeout_ms);
    return contender_rc(c);
}

/* It is on its way out when the lock is granted. */
static void give_back_the_turn(void)
{
    char turns[80];

    (void)snprintf(turns, sizeof(turns), "%s/locks", path);
    if (has(TURNS))
        wait_children(turns, 0);
}

void hold(struct contender *c)
{
    contender_acquire(c, SOON_MS);
    succeeds(c);
    give_back_the_turn();
}

int release_by(struct contender *c)
{
    contender_release(c, c->grant);
    return contender_rc(c);
}

void gives_up_in_time(struct contender *c)
{
    struct stopwatch *w = stopwatch_start();

    assert_int_equal(try_for(c, GIVE_UP_MS), ZKR_ETIMEDOUT);
    assert_true(stopwatch_says(w, GIVE_UP_MS, GIVE_UP_MS + 1900));
}

bool has_released(struct contender *c)
{
    int rc = contender_rc(c); /* before its time is read */

    return is_released(rc, c->took_ms, REPLY_MS);
}

void give_back(struct contender *c)
{
    contender_release(c, c->grant);
    if (!has_released(c))
        succeeds(c);
    contender_forget(c);
}

void works(struct contender *c)
{
    hold(c);
    give_back(c);
}

void takes_its_turn(struct contender *c)
{
    succeeds(c);
    give_back(c);
}

struct recorder *hold_listening(struct contender *c)
{
    struct recorder *r = new_recorder();

    hold(c);
    ok(zkr_grant_listen(c->grant, record_grant, r));
    return r;
}

void acquire_until_rule(struct contender *c)
{
    contender_acquire(c, -1);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
}

void keeps_place(char *place, size_t n)
{
    char *same_place = nth_child(dir, n);

    assert_string_equal(place, same_place);
    free(place);
    free(same_place);
}

static size_t waiting(void)
{
    return count_waiting(ours, path) + count_waiting(theirs, path);
}

static bool as_many_wait(void *count)
{
    return waiting() == *(size_t *)count;
}

void wait_waiting(size_t count)
{
    if (!wait_until(as_many_wait, &count, SOON_MS))
        fail_msg("%zu wait, not %zu", waiting(), count);
}

void let_wait(struct contender *c)
{
    size_t before = waiting();

    contender_acquire(c, -1);
    wait_waiting(before + 1);
}

void gives_up(struct contender *c)
{
    ok(recipe->cancel(c->lock));
    assert_int_equal(contender_rc(c), ZKR_ECANCELED);
}

size_t nodes(size_t holders, size_t waiters)
{
    if (has(TURNS))
        return holders + (waiters > 0);
    return has(QUEUES) ? holders + waiters : holders;
}

void has_nodes(size_t count)
{
    if (has(TURNS))
        wait_children(dir, count);
    assert_int_equal(count_children(dir), count);
}

int create_of_the_node(void)
{
    return has(TURNS) ? 2 : 1;
}

struct turn {
    struct contender **waiting;
    size_t count;
    size_t who; /* has been granted */
};

static bool somebody_is_granted(void *arg)
{
    struct turn *t = arg;

    for (t->who = 0; t->who < t->count; t->who++) {
        if (!contender_is_busy(t->waiting[t->who]))
            return true;
    }
    return false;
}

void take_turns(struct contender **waiting, size_t count)
{
    for (; count > 0; count--) {
        struct turn t = { waiting, count, 0 };
        struct contender *c;

        if (!wait_until(somebody_is_granted, &t, SOON_MS))
            fail_msg("none of %zu is granted", count);
        c = waiting[t.who];
        succeeds(c);
        if (has(FAIR))
            assert_int_equal(t.who, 0);
        memmove(&waiting[t.who], &waiting[t.who + 1],
                (count - t.who - 1) * sizeof(struct contender *));
        for (size_t i = 0; i + 1 < count; i++)
            assert_true(contender_is_busy(waiting[i]));
        assert_int_equal(zkr_grant_check(c->grant), ZKR_OK);
        give_back(c);
    }
}

void make_directory(void)
{
    works(one_of(theirs));
}
