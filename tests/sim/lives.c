/* SPDX-License-Identifier: Apache-2.0 */
/* Lives: a client makes all calls that a client can make, again and again; each
 * time another of its requests fails, and one that follows it. */
#include "story.h"

#define DEEP_PATH "/locks/deep/within/lock"
/* More requests than a life has. */
#define REQUESTS_MAX    400
#define ALLOCATIONS_MAX 2000

const struct step steps[] = { COMMON_STEPS };

/* The greatest distance of the two faults; the argument of the program. */
static uint32_t most_apart = 2;

static struct life {
    struct fates fates;
    uint32_t allocation; /* the one that fails; or 0 */
    bool retries;
    zkr_session *session;
} life;

static bool is_met(void)
{
    return life.allocation != 0 ? heap_refused == 0
                                : fates.seen > fates.of[0].number;
}

/* The lock, or the session, was taken away. */
static bool is_robbed(void)
{
    return life.fates.meanwhile != NULL && is_met();
}

/* Other results are allowed after a request that failed. */
static bool ends(const char *what, int rc, int wanted)
{
    bool excused =
        (is_robbed() &&
         ONE_OF(rc, ZKR_ELOST, ZKR_EUNSURE, ZKR_ZNONODE, ZKR_ENOTHELD)) ||
        (is_met() && (ONE_OF(rc, ZKR_ENOMEM, ZKR_ZCONNECTIONLOSS,
                             ZKR_ZOPERATIONTIMEOUT, ZKR_EUNKNOWN) ||
                      (!life.retries && zkr_error_is_transient(rc))));

    WRONG_IF(rc != wanted && !excused, "%s ends with %s, not with %s: %s", what,
             zkr_strerror(rc), zkr_strerror(wanted), zkr_error_detail());
    return rc == wanted;
}

static bool is(const char *what, int rc)
{
    return ends(what, rc, ZKR_OK);
}

/* -- one hold -------------------------------------------------------------- */

static struct attempt *granted(bool shared, struct attempt *beside,
                               zkr_grant *grant)
{
    struct attempt *a = oracle_asked(TELLER, shared, -1);

    a->beside = beside;
    oracle_told(a, ZKR_OK, grant);
    told_of_grant(a, grant, NULL, NULL);
    return a;
}

static void free_grant(zkr_grant *grant)
{
    oracle_over_with(grant);
    told_free_grant(grant);
}

static void write_and_free(zkr_grant *grant)
{
    static const enum zkr__zk_type types[] = { ZKR__ZK_CREATE, ZKR__ZK_SET };
    const struct attempt *a = granted(false, NULL, grant);

    for (int i = 0; i < 2; i++) {
        struct write *w = writes_asked(a, types[i], "/locks/data", true);
        size_t len = strlen(w->data);
        int rc = i == 0
                     ? zkr_grant_guarded_create(grant, w->path, w->data, len, 0)
                     : zkr_grant_guarded_set(grant, w->path, w->data, len, -1,
                                             0, NULL);

        writes_told(w, rc, NULL);
        if (rc != ZKR_ZNODEEXISTS && rc != ZKR_ZNONODE)
            (void)is("a guarded write", rc);
    }
    free_grant(grant);
}

static void hold(zkr_grant *grant)
{
    const struct attempt *a = granted(false, NULL, grant);

    fiber_sleep(100 * MS); /* it is watched by then */
    uint64_t requests = client_requests;
    if (is("a verify", zkr_grant_verify(grant, -1)))
        oracle_verified(a, requests);
    (void)is("a check", zkr_grant_check(grant));
}

static void release(zkr_grant *grant)
{
    oracle_over_with(grant);
    (void)is("a release", zkr_grant_release(grant));
    WRONG_IF(!is_robbed() && (zkr_grant_release(grant) != ZKR_ENOTHELD ||
                              zkr_grant_depth(grant) != 0),
             "it is given back twice");
    free_grant(grant);
}

/* -- acquires that come to nothing ----------------------------------------- */

/* Unless the other one has been robbed. */
static void end_in_vain(const char *what, int rc, int wanted, zkr_grant *grant)
{
    if (rc != ZKR_OK || !is_robbed()) {
        (void)ends(what, rc, wanted);
        return;
    }
    hold(grant);
    release(grant);
}

static void give_up(zkr_mutex *m)
{
    struct asking a = { 0 };
    zkr_request *request;
    zkr_grant *grant;

    int rc = zkr_mutex_acquire(m, 0, &grant);
    end_in_vain("a try", rc, ZKR_EBUSY, grant);
    rc = zkr_mutex_acquire(m, 50, &grant);
    end_in_vain("a wait", rc, ZKR_ETIMEDOUT, grant);
    for (int64_t pause = 0; pause < 2 * MS; pause += MS / 2) {
        a.told = false;
        if (!is("an acquire",
                zkr_mutex_acquire_async(m, -1, on_asked, &a, &request)))
            continue;
        fiber_sleep(pause);
        (void)zkr_request_cancel(request);
        zkr_request_free(request);
        FIBER_UNTIL(a.told, &a);
        end_in_vain("a cancelled acquire", a.rc, ZKR_ECANCELED, a.grant);
    }
}

/* -- acquires -------------------------------------------------------------- */

/* An acquire has been asked for, if so, and the holder has given the lock back.
 * Tells whether it has succeeded. */
static bool has_come(bool was_asked, const struct asking *a)
{
    if (was_asked)
        FIBER_UNTIL(a->told, a);
    return was_asked && is("an acquire", a->rc);
}

static void wait_and_hold(zkr_mutex *m)
{
    struct zkr_participants *list;
    struct asking a = { 0 };
    bool was_asked =
        is("an acquire", zkr_mutex_acquire_async(m, -1, on_asked, &a, NULL));

    fiber_sleep(10 * MS);
    give_back(&users[HOLDER]);
    if (!has_come(was_asked, &a))
        return;
    hold(a.grant);
    if (is("a list",
           zkr_participants_list(life.session, WORLD_PATH, NULL, &list))) {
        WRONG_IF(list->count != 1 && !is_robbed(),
                 "of one participant %zu are listed", list->count);
        zkr_participants_free(list);
    }
    (void)is("a request",
             zkr_participants_revoke(life.session, zkr_grant_node(a.grant)));
    release(a.grant);
}

static void acquire_alone(zkr_mutex *m, void (*then)(zkr_grant *grant))
{
    zkr_grant *grant;

    if (is("an acquire", zkr_mutex_acquire(m, -1, &grant)))
        then(grant);
}

/* Breaks the lock that it holds, by its own node. */
static void be_broken(zkr_grant *grant)
{
    int64_t token = zkr_grant_token(grant);

    (void)granted(false, NULL, grant);
    oracle_over_with(grant);
    bool lost =
        is("a break", zkr_participants_break(life.session,
                                             zkr_grant_node(grant), token, 0));
    fiber_sleep(world.timeout);
    for (int i = 0; i < 2 && lost && !is_robbed(); i++) {
        WRONG_IF(zkr_grant_release(grant) != ZKR_ELOST ||
                     zkr_grant_depth(grant) != 0,
                 "it is broken, and %s",
                 zkr_grant_state_name(zkr_grant_state(grant)));
    }
    free_grant(grant);
}

static void acquire_mutex(void)
{
    zkr_mutex *m;

    if (!is("a mutex", zkr_mutex_new(life.session, WORLD_PATH, NULL, &m))) {
        give_back(&users[HOLDER]);
        return;
    }
    give_up(m);
    wait_and_hold(m);
    acquire_alone(m, write_and_free);
    acquire_alone(m, be_broken);
    zkr_mutex_free(m);
}

static void acquire_deep(void)
{
    zkr_mutex *m;

    if (!is("a mutex", zkr_mutex_new(life.session, DEEP_PATH, NULL, &m)))
        return;
    acquire_alone(m, free_grant);
    zkr_mutex_free(m);
}

static void acquire_rwlock(void)
{
    struct attempt *a;
    zkr_rwlock *rw;
    zkr_grant *write;
    zkr_grant *read;

    if (!is("a lock", zkr_rwlock_new(life.session, WORLD_PATH, NULL, &rw)))
        return;
    if (is("a write", zkr_rwlock_acquire_write(rw, -1, &write))) {
        a = granted(false, NULL, write);
        oracle_over_with(write); /* at the end of the downgrade at the latest */
        if (is("a downgrade", zkr_rwlock_downgrade(rw, write, &read))) {
            (void)granted(true, a, read);
            free_grant(write);
            release(read);
        } else {
            release(write);
        }
    }
    zkr_rwlock_free(rw);
}

static void acquire_unfair(void)
{
    struct asking next = { 0 };
    zkr_unfair_mutex *m;
    zkr_grant *grant;

    if (!is("a mutex",
            zkr_unfair_mutex_new(life.session, WORLD_PATH, NULL, &m)))
        return;
    if (is("an acquire", zkr_unfair_mutex_acquire(m, -1, &grant))) {
        hold(grant);
        bool was_asked =
            is("an acquire",
               zkr_unfair_mutex_acquire_async(m, -1, on_asked, &next, NULL));
        fiber_sleep(10 * MS);
        release(grant);
        if (has_come(was_asked, &next)) {
            hold(next.grant);
            release(next.grant);
        }
    }
    zkr_unfair_mutex_free(m);
}

/* -- a life ---------------------------------------------------------------- */

static bool open_session(void)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    struct process *p = &world.processes[TELLER];

    opts.session_timeout_ms = (uint32_t)(world.timeout / MS);
    if (!life.retries)
        opts.retry.kind = ZKR_RETRY_NONE;
    p->gives_up = !life.retries;
    if (!is("an open", zkr_session_open("a:1,b:2,c:3", &opts, &life.session)))
        return false;
    p->number = TELLER;
    p->session = life.session;
    p->opened = true;
    told_of_session(p, NULL, NULL);
    return true;
}

/* The node of a claim that was given up goes while its session lives. */
static void leave_nothing(void)
{
    int64_t end = sim_now + 2 * world.timeout;

    while (oracle_nodes_left(false) > 0) {
        WRONG_IF(sim_now > end, "%d nodes are left, and their session lives",
                 oracle_nodes_left(false));
        fiber_sleep(10 * MS);
    }
}

/* Nothing is left of the fault, but what the policy gave up. */
static void live_well(void)
{
    zkr_mutex *m;
    zkr_grant *grant;

    if (!life.retries || life.allocation != 0 ||
        fates.seen <= fates.of[0].number || fates.seen <= fates.of[1].number)
        return;
    expect(zkr_mutex_new(life.session, WORLD_PATH, NULL, &m));
    expect(zkr_mutex_acquire(m, -1, &grant));
    hold(grant);
    release(grant);
    zkr_mutex_free(m);
}

static void live(void)
{
    struct process *p = &world.processes[TELLER];

    acquires(&users[HOLDER]);
    fates = life.fates;
    heap_refused = life.allocation;
    if (open_session()) {
        acquire_mutex();
        acquire_deep();
        acquire_rwlock();
        acquire_unfair();
        leave_nothing();
        live_well();
        leave_nothing();
        told_free_listener(p);
        p->opened = false;
        (void)zkr_session_close(life.session); /* it may be cut off */
    } else {
        give_back(&users[HOLDER]);
    }
    report->done = is_met();
    fates = (struct fates){ 0 };
    heap_refused = 0;
}

/* Repeats lives until one ends before the fault comes. */
static void live_with(enum fate fate, enum fate next, uint32_t apart)
{
    for (uint32_t first = 0; first < REQUESTS_MAX; first++) {
        life.fates = (struct fates){
            .process = TELLER,
            .meanwhile = life.fates.meanwhile,
            .held = life.fates.held,
            .of = { { fate, first }, { next, first + apart } },
        };
        if (succeeds()->done == 0)
            return;
    }
    fail_msg("a life has more than %d requests", REQUESTS_MAX);
}

static void live_with_any(enum fate fate, bool retries)
{
    life.retries = retries;
    live_with(fate, FATE_NONE, 0);
    for (enum fate next = FATE_REFUSED; next < FATES; next++) {
        for (uint32_t apart = 1; apart <= most_apart; apart++)
            live_with(fate, next, apart);
    }
}

TEST(any_allocation_may_fail)
{
    life.fates = (struct fates){ 0 };
    for (life.allocation = 1; succeeds()->done != 0;)
        assert_true(life.allocation++ < ALLOCATIONS_MAX);
    life.allocation = 0;
}

static const struct {
    const char *name;
    enum fate fate;
} rows[] = {
    { "refused", FATE_REFUSED },
    { "throttled", FATE_THROTTLED },
    { "lost", FATE_REQUEST_LOST },
    { "answered in vain", FATE_ANSWER_LOST },
};

TEST_ROWS(any_request_may_be, rows, row)
{
    live_with_any(row->fate, true);
    live_with_any(row->fate, false);
}

/* -- a change while an answer is under way --------------------------------- */

#define STRANGER WORLD_PATH "/_c_57ca8e00-0000-4000-8000-000000000000-lock-"

static void on_strangers_go(void *arg, uint64_t tag)
{
    operator_deletes_all(WORLD_PATH, STRANGER);
}

/* Somebody removes the directory, makes it anew, and is the first in it. */
static void renew_directory(void *arg, uint64_t tag)
{
    operator_deletes_all(WORLD_PATH, "");
    operator_deletes(WORLD_PATH);
    operate(ZKR__ZK_CREATE, ZKR_CREATE_PERSISTENT, WORLD_PATH, "");
    operate(ZKR__ZK_CREATE, ZKR_CREATE_EPHEMERAL_SEQUENTIAL, STRANGER, "");
    events_at(sim_now + 100 * MS, on_strangers_go, NULL, 0);
}

static void renew_session(void *arg, uint64_t tag)
{
    int id = (int)zkr_session_id(life.session) - 1;

    if (id != NO_SESSION)
        ensemble_kill_session(id);
}

static void live_through(void (*meanwhile)(void *arg, uint64_t tag))
{
    life.retries = true;
    for (int i = 1; i <= 2; i++) {
        life.fates.meanwhile = meanwhile;
        life.fates.held = i * 300 * MS;
        live_with(FATE_ANSWER_HELD, FATE_NONE, 0);
    }
    life.fates = (struct fates){ 0 };
}

TEST(the_directory_may_be_another_at_any_answer)
{
    live_through(renew_directory);
}

TEST(the_session_may_be_another_at_any_answer)
{
    live_through(renew_session);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        most_apart = (uint32_t)strtoul(argv[1], NULL, 10);
    story = (struct story){ .tell = live, .granted = nothing };
    return test_run_all();
}
