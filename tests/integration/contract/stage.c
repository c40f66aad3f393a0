/* SPDX-License-Identifier: Apache-2.0 */
/* The contract: every exclusive recipe makes it true.
 *
 *   test-contract [SUBJECT]
 *
 * Each file beside this states a subject; adapters.c has the recipes. Here is
 * the stage: two sessions, each behind a proxy of its own, and the contenders
 * that a test puts there. */
#include "stage.h"

#include <limits.h>

#include "lock/claim.h"
#include "lock/cohort.h"
#include "lock/locks.h"

enum { MAX_THINGS = 64 };

const struct adapter *recipe;
struct proxy *proxy;
struct proxy *their_proxy;
zkr_session *ours;
zkr_session *theirs;
char path[64];
char dir[80];

/* -- contenders: threads that acquire and release on command --------------- */

enum { ACQUIRE, RELEASE, FORGET, STOP };

static int carry_out(struct contender *c, int command)
{
    zkr_grant *grant = NULL;
    int rc = ZKR_OK;

    if (command == RELEASE)
        return recipe->release(c->lock, c->target);
    if (command == ACQUIRE)
        rc = recipe->acquire(c->lock, c->timeout_ms, &grant);
    else if (c->grant != NULL)
        recipe->forget(c->lock, c->grant);
    if (rc == ZKR_OK) /* a failed acquire leaves the grant that it has */
        c->grant = grant;
    return rc;
}

static void *contender_main(void *arg)
{
    struct contender *c = arg;
    int command = ACQUIRE;

    for (size_t i = 0; command != STOP; i++) {
        (void)recorder_wait(c->commands, i + 1, INT_MAX);
        (void)recorder_get(c->commands, i, &command, NULL);
        int64_t start = now_ms();
        int rc = carry_out(c, command);
        if (rc != ZKR_OK)
            PRINT(c->detail, "%s", zkr_error_detail());
        recorder_add(c->outcomes, rc, now_ms() - start);
    }
    return NULL;
}

static void ask(struct contender *c, int command)
{
    recorder_add(c->commands, command, 0);
}

static bool await_idle(struct contender *c)
{
    return recorder_wait(c->outcomes, recorder_count(c->commands), SOON_MS);
}

void contender_acquire(struct contender *c, int64_t timeout_ms)
{
    c->timeout_ms = timeout_ms;
    ask(c, ACQUIRE);
}

void contender_release(struct contender *c, zkr_grant *grant)
{
    c->target = grant;
    ask(c, RELEASE);
}

void contender_forget(struct contender *c)
{
    ask(c, FORGET);
    (void)contender_rc(c);
}

bool contender_is_busy(struct contender *c)
{
    return recorder_count(c->outcomes) < recorder_count(c->commands);
}

int contender_rc(struct contender *c)
{
    if (!await_idle(c))
        fail_msg("a contender hangs");
    (void)recorder_get(c->outcomes, recorder_count(c->commands) - 1, &c->rc,
                       &c->took_ms);
    return c->rc;
}

static bool waits(const struct zkr__claim *c)
{
    const struct zkr__line *line = c->lock->line;
    bool watches = c->wait.watch != NULL && c->wait.get.where == ZKR__OP_IDLE;
    bool shares = line->watched && line->list.where == ZKR__OP_IDLE &&
                  !zkr__list_empty(&c->place.ask);

    return c->sm.state == ZKR__CLAIM_WAITING &&
           (watches || shares || c->place.behind);
}

/* A member of a cohort waits for another member, or its delegate waits. */
static bool is_waiting(const struct zkr__claim *c)
{
    const struct zkr__claim *d =
        c->role == &zkr__member ? c->lock->cohort->delegate : NULL;

    if (strcmp(c->lock->path, path) != 0 || c->role == &zkr__delegate)
        return false;
    if (d == NULL)
        return waits(c);
    return c->sm.state == ZKR__CLAIM_WAITING &&
           (d->sm.state == ZKR__CLAIM_HELD || waits(d));
}

static size_t count_waiting_of(zkr_session *s)
{
    size_t count = 0;

    zkr__session_lock(s);
    if (s->observer != NULL) { /* the session has, or had, a lock */
        const struct zkr__list *claims = &zkr__locks_of(s)->claims;
        for (const struct zkr__list *l = claims->next; l != claims; l = l->next)
            count += is_waiting(ZKR__CONTAINER(l, struct zkr__claim, link));
    }
    zkr__session_unlock(s);
    return count;
}

/* -- the stage ------------------------------------------------------------ */

/* The objects that a test has made; the teardown frees them. In the second
 * round a test is given them again, in the order of the first. */
static struct contender *contenders[MAX_THINGS];
static size_t contender_count;
static size_t contenders_used;
static void *locks[MAX_THINGS]; /* NULL: the test has freed it */
static size_t lock_count;
static size_t locks_used;
static struct recorder *recorders[MAX_THINGS];
static size_t recorder_total;

/* All of them; those of a file are in order. */
static struct statement *statements;

void state(struct statement *s)
{
    struct statement **end = &statements;

    while (*end != NULL)
        end = &(*end)->next;
    *end = s;
}

/* The argument of each test. */
struct trial {
    const struct adapter *recipe;
    const struct statement *statement;
};

static int set_up(void)
{
    recipe = ((const struct trial *)test_current->arg)->recipe;
    PRINT(path, "%s", new_path());
    PRINT(dir, "%s%s", path, recipe->below != NULL ? recipe->below : "");
    ours = open_through(&proxy, OPTS(session, .session_timeout_ms = SESSION_MS,
                                     .reply_timeout_ms = REPLY_MS));
    theirs = open_through(&their_proxy, NULL);
    return 0;
}

static void free_things(void)
{
    while (contender_count > 0) {
        struct contender *c = contenders[--contender_count];

        (void)await_idle(c);
        ask(c, STOP); /* it forgets its grant */
        (void)pthread_join(c->thread, NULL);
        recorder_free(c->commands);
        recorder_free(c->outcomes);
        free(c);
    }
    while (lock_count > 0)
        recipe->free(locks[--lock_count]);
    contenders_used = 0;
    locks_used = 0;
}

/* So a failed test leaves nothing either: the sessions' end ends every wait. */
static int tear_down(void)
{
    proxy_let_all_pass(proxy);
    (void)zkr_session_close(ours);
    (void)zkr_session_close(theirs);
    free_things();
    while (recorder_total > 0)
        recorder_free(recorders[--recorder_total]);
    proxy_stop(proxy);
    proxy_stop(their_proxy);
    return 0;
}

static void *make_lock(zkr_session *s, const char *at, uint32_t flags)
{
    assert_true(lock_count < MAX_THINGS);
    ok(adapter_make(recipe, s, at, flags, &locks[lock_count]));
    return locks[lock_count++];
}

void *new_lock_with(zkr_session *s, uint32_t flags)
{
    size_t i = locks_used++;

    if (i < lock_count && locks[i] != NULL)
        return locks[i];
    return make_lock(s, path, flags);
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

static struct contender *make_contender(void *lock)
{
    struct contender *c = calloc(1, sizeof(*c));

    assert_true(c != NULL && contender_count < MAX_THINGS);
    c->lock = lock;
    c->commands = recorder_new();
    c->outcomes = recorder_new();
    c->thread = thread_start(contender_main, c);
    return contenders[contender_count++] = c;
}

struct contender *contender_of(void *lock)
{
    size_t i = contenders_used++;

    if (i >= contender_count || contenders[i]->lock != lock)
        return make_contender(lock);
    if (contenders[i]->grant != NULL) /* that was lost */
        (void)release_by(contenders[i]);
    contender_forget(contenders[i]);
    return contenders[i];
}

struct contender *one_of(zkr_session *s)
{
    return contender_of(new_lock(s));
}

struct recorder *new_recorder(void)
{
    assert_true(recorder_total < MAX_THINGS);
    return recorders[recorder_total++] = recorder_new();
}

bool has(unsigned trait)
{
    unsigned async = recipe->acquire_async == NULL ? 0 : ASYNC;

    return ((recipe->traits | async) & trait) == trait;
}

/* -- steps of the contenders ---------------------------------------------- */

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

void hold(struct contender *c)
{
    contender_acquire(c, SOON_MS);
    succeeds(c);
    if (has(TURNS)) /* it is on its way out when the lock is granted */
        wait_children(textf("%s/locks", path), 0);
}

struct contender *one_that_holds(zkr_session *s)
{
    struct contender *c = one_of(s);

    hold(c);
    return c;
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
    AUTO(text) same_place = nth_child(dir, n);

    assert_string_equal(place, same_place);
    free(place);
}

size_t count_waiting(void)
{
    return count_waiting_of(ours) + count_waiting_of(theirs);
}

void wait_waiting(size_t count)
{
    if (!COMES(count_waiting() == count, SOON_MS))
        fail_msg("%zu wait, not %zu", count_waiting(), count);
}

void let_wait(struct contender *c)
{
    size_t before = count_waiting();

    contender_acquire(c, -1);
    wait_waiting(before + 1);
}

struct contender *one_that_waits(zkr_session *s)
{
    struct contender *c = one_of(s);

    let_wait(c);
    return c;
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

/* The first of them that has been granted; `count`: none. */
static size_t who_is_granted(struct contender **waiting, size_t count)
{
    size_t who = 0;

    while (who < count && contender_is_busy(waiting[who]))
        who++;
    return who;
}

void take_turns(struct contender *holder, struct contender **waiting,
                size_t count)
{
    int64_t last = zkr_grant_token(holder->grant);

    give_back(holder);
    for (; count > 0; count--) {
        size_t who;

        if (!COMES((who = who_is_granted(waiting, count)) < count, SOON_MS))
            fail_msg("none of %zu is granted", count);
        struct contender *c = waiting[who];
        succeeds(c);
        if (has(FAIR))
            assert_int_equal(who, 0);
        memmove(&waiting[who], &waiting[who + 1],
                (count - who - 1) * sizeof(struct contender *));
        for (size_t i = 0; i + 1 < count; i++)
            assert_true(contender_is_busy(waiting[i]));
        assert_int_equal(zkr_grant_check(c->grant), ZKR_OK);
        assert_true(zkr_grant_token(c->grant) > last);
        last = zkr_grant_token(c->grant);
        /* The one before may be on its way out. */
        wait_children(dir, nodes(1, count - 1));
        give_back(c);
    }
}

/* -- rounds --------------------------------------------------------------- */

enum { BYSTANDERS = 2 };

/* Each session holds another lock meanwhile; its claim is older than those of
 * the second round. */
static struct contender *bystanders[BYSTANDERS];
static uint64_t epochs[BYSTANDERS];

static zkr_session *session_of(size_t i)
{
    return i == 0 ? ours : theirs;
}

static void stand_by(void)
{
    for (size_t i = 0; i < BYSTANDERS; i++) {
        bystanders[i] = make_contender(
            make_lock(session_of(i), textf("%s-%zu", path, i), 0));
        hold_listening(bystanders[i]);
        epochs[i] = zkr_session_epoch(session_of(i));
    }
}

/* They hold it still, unless their session has ended. */
static void bystanders_are_undisturbed(void)
{
    for (size_t i = 0; i < BYSTANDERS; i++) {
        zkr_grant *g = bystanders[i]->grant;
        bool same = zkr_session_epoch(session_of(i)) == epochs[i];

        wait_grant_state(g, same ? ZKR_GRANT_HELD : ZKR_GRANT_LOST);
        assert_int_equal(release_by(bystanders[i]), same ? ZKR_OK : ZKR_ELOST);
        contender_forget(bystanders[i]);
    }
}

/* Leftovers of a session said to be over are looked after for its timeout. */
static bool has_nothing(zkr_session *s)
{
    zkr__session_lock(s);
    bool nothing = zkr__list_empty(&s->watches) &&
                   zkr__list_empty(&s->waiters) &&
                   zkr__list_empty(&s->delayed) && s->watched == NULL;
    if (s->observer != NULL) {
        const struct zkr__locks *l = zkr__locks_of(s);

        nothing = nothing && zkr__list_empty(&l->claims) &&
                  zkr__list_empty(&l->leased) && zkr__list_empty(&l->doubted) &&
                  zkr__list_empty(&l->each_line);
    }
    zkr__session_unlock(s);
    return nothing;
}

static bool nobody_watches(void)
{
    AUTO(text) wchp = server_4lw(the_server, "wchp");

    return wchp != NULL && strstr(wchp, path) == NULL;
}

/* Plays the trial twice, with the same objects and sessions. In the second
 * round each session holds another lock beside. Then all is freed, and nothing
 * is left. */
static void play(const void *trial)
{
    const struct statement *s = ((const struct trial *)trial)->statement;

    s->test();
    if (ours == NULL || s->once)
        return;
    contenders_used = 0;
    locks_used = 0;
    stand_by();
    s->test();
    if (ours == NULL)
        return;
    bystanders_are_undisturbed();
    free_things();
    for (size_t i = 0; i < BYSTANDERS; i++) {
        if (!COMES(has_nothing(session_of(i)), SOON_MS))
            fail_msg("session %zu keeps something of a lock that was freed", i);
    }
    AWAIT(nobody_watches());
}

/* -- all of it ------------------------------------------------------------ */

/* NULL: all subjects. Returns whether there is anything. */
static bool register_subject(const char *subject)
{
    static struct trial trials[1024];
    static struct test_case tests[COUNT(trials)];
    size_t count = 0;
    bool found = false;

    for (size_t i = 0; i < adapter_count; i++) {
        recipe = &adapters[i];
        for (struct statement *s = statements; s != NULL; s = s->next) {
            if (subject != NULL && strcmp(subject, s->subject) != 0)
                continue;
            found = true;
            if (!has(s->for_those) || (s->not_for != 0 && has(s->not_for)) ||
                (s->nor_for != 0 && has(s->nor_for)))
                continue;
            if (count == COUNT(trials))
                abort();
            trials[count] = (struct trial){ .recipe = recipe, .statement = s };
            tests[count] = (struct test_case){ .name = recipe->name,
                                               .row = s->name,
                                               .run = play,
                                               .arg = &trials[count],
                                               .setup = set_up,
                                               .teardown = tear_down };
            test_register(&tests[count++]);
        }
    }
    return found;
}

int main(int argc, char **argv)
{
    if (!register_subject(argc < 2 ? NULL : argv[1])) {
        (void)fprintf(stderr, "test-contract: no subject %s\n", argv[1]);
        return 2;
    }
    return run_with_server(NULL, test_run_all);
}
