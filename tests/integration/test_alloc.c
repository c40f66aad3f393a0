/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that make every allocation of the library, and of jansson for it, fail
 * once, as well as each thread and descriptor: every call succeeds or fails
 * with ZKR_ENOMEM or ZKR_ESYSTEM, and leaves nothing behind.
 *
 * The scenario runs again and again, and in each run the next allocation fails,
 * until a run has no more. By default only every 13th fails; use
 * ZKR_ALLOC_STEP=1 for all, ZKR_ALLOC_FIRST=n to begin with the n-th.
 * Allocations of libzookeeper itself never fail here. */
#include "fixture.h"

#include <errno.h>
#include <jansson.h>

#include <sys/eventfd.h>

enum { FOR_EVER_MS = 600000 };

/* -- allocations that fail ------------------------------------------------ */

static atomic_long fails_at; /* 0: none */
static atomic_long allocations;
static atomic_bool has_failed;

static bool fails(void)
{
    if (atomic_fetch_add(&allocations, 1) + 1 != atomic_load(&fails_at))
        return false;
    atomic_store(&has_failed, true);
    errno = ENOMEM;
    return true;
}

void *faulty_malloc(size_t size);
void *faulty_calloc(size_t count, size_t size);
void *faulty_realloc(void *p, size_t size);
char *faulty_strdup(const char *text);
char *faulty_strndup(const char *text, size_t len);
FILE *faulty_fopen(const char *path, const char *mode);
int faulty_eventfd(unsigned count, int flags);
int faulty_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*start)(void *), void *arg);
int faulty_allocate_ACL_vector(struct ACL_vector *v, int32_t len);

void *faulty_malloc(size_t size)
{
    return fails() ? NULL : malloc(size);
}

void *faulty_calloc(size_t count, size_t size)
{
    return fails() ? NULL : calloc(count, size);
}

void *faulty_realloc(void *p, size_t size)
{
    return fails() ? NULL : realloc(p, size);
}

char *faulty_strdup(const char *text)
{
    return fails() ? NULL : strdup(text);
}

char *faulty_strndup(const char *text, size_t len)
{
    return fails() ? NULL : strndup(text, len);
}

FILE *faulty_fopen(const char *path, const char *mode)
{
    return fails() ? NULL : fopen(path, mode);
}

int faulty_eventfd(unsigned count, int flags)
{
    return fails() ? -1 : eventfd(count, flags);
}

int faulty_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*start)(void *), void *arg)
{
    return fails() ? EAGAIN : pthread_create(thread, attr, start, arg);
}

/* The client allocates, and does not check the result. */
int faulty_allocate_ACL_vector(struct ACL_vector *v, int32_t len)
{
    if (!fails())
        return allocate_ACL_vector(v, len);
    *v = (struct ACL_vector){ .count = len, .data = NULL };
    return 0;
}

/* -- the scenario --------------------------------------------------------- */

static bool used; /* the failure has been seen */
static const char *paths[24];
static size_t path_count;

static bool is_for_want(int rc)
{
    return rc == ZKR_ENOMEM || rc == ZKR_ESYSTEM;
}

/* One failed allocation explains one refused call. */
static bool can(int rc, const char *what)
{
    if (rc == ZKR_OK)
        return true;
    if (!is_for_want(rc) || !atomic_load(&has_failed) || used)
        fail_msg("%s: %d, %s: %s", what, rc, zkr_strerror(rc),
                 zkr_error_detail());
    used = true;
    return false;
}

#define CAN(call) can(call, #call)

static const char *a_path(const char *name)
{
    static char texts[24][64];
    char *path = texts[path_count];

    (void)snprintf(path, sizeof(texts[0]), "/alloc/%s", name);
    return paths[path_count++] = path;
}

static void give_back(zkr_grant *g)
{
    (void)CAN(zkr_grant_check(g));
    (void)CAN(zkr_grant_verify(g, SOON_MS));
    if (zkr_grant_release(g) != ZKR_OK)
        fail_msg("release: %s", zkr_error_detail());
    zkr_grant_free(g);
}

/* Nobody else has it: a second one is refused. */
static void hold(acquire_call *call, void *lock)
{
    zkr_grant *g = NULL;
    zkr_grant *other = NULL;

    if (!CAN(call(lock, SOON_MS, &g)))
        return;
    int rc = call(lock, 0, &other);
    if (rc != ZKR_EBUSY)
        assert_false(can(rc, "try while it is held"));
    give_back(g);
}

static void wait_for_outcome(struct recorder *r, bool granted)
{
    int code = 0;
    int64_t value = 0;

    assert_true(recorder_wait(r, 1, SOON_MS));
    assert_true(recorder_get(r, 0, &code, &value));
    if (!granted && code == ZKR_ECANCELED)
        return;
    assert_true(granted || code != ZKR_OK);
    if (can(code, "asynchronous acquire"))
        give_back((zkr_grant *)(intptr_t)value);
}

struct arrival {
    struct recorder *outcomes;
    const char *path;
};

/* Behind a holder: until it is released, or cancelled. */
static void wait_behind(zkr_mutex *m, bool cancels)
{
    struct arrival arrival = { recorder_new(), zkr_lockable_path(m) };
    zkr_request *request = NULL;
    zkr_grant *g = NULL;

    if (!CAN(zkr_mutex_acquire(m, SOON_MS, &g))) {
        recorder_free(arrival.outcomes);
        return;
    }
    bool asked = CAN(zkr_mutex_acquire_async(m, SOON_MS, record_acquire,
                                             arrival.outcomes, &request));
    if (asked) {
        int code = ZKR_ENOMEM;

        AWAIT(recorder_count(arrival.outcomes) > 0 ||
              count_children(arrival.path) == 2);
        assert_true(recorder_count(arrival.outcomes) == 0 ||
                    (recorder_get(arrival.outcomes, 0, &code, NULL) &&
                     code == ZKR_ENOMEM));
        if (cancels)
            (void)zkr_request_cancel(request);
    }
    give_back(g);
    if (asked)
        wait_for_outcome(arrival.outcomes, !cancels);
    zkr_request_free(request);
    recorder_free(arrival.outcomes);
}

static void use_mutex(zkr_session *s)
{
    zkr_mutex *m = NULL;

    if (!CAN(zkr_mutex_new(s, a_path("mutex/deep"),
                           OPTS(lockable, .label = "label"), &m)))
        return;
    hold(by_mutex, m);
    wait_behind(m, false);
    wait_behind(m, true);
    zkr_mutex_free(m);
}

/* Without a request: only one of the two has had a node made. */
static void hand_on(zkr_mutex *m)
{
    AUTO(recorder) outcomes = recorder_new();
    zkr_grant *g = NULL;

    if (CAN(zkr_mutex_acquire(m, SOON_MS, &g))) {
        bool asked = CAN(zkr_mutex_acquire_async(m, SOON_MS, record_acquire,
                                                 outcomes, NULL));

        give_back(g);
        if (asked)
            wait_for_outcome(outcomes, true);
    }
}

/* Twice, so that the second node comes when the first has been given up. */
static void use_what_stays(zkr_session *s)
{
    zkr_mutex *m = NULL;

    if (!CAN(zkr_mutex_new(s, a_path("stays"),
                           OPTS(lockable, .retain_ms = FOR_EVER_MS), &m)))
        return;
    for (int i = 0; i < 2; i++) {
        hold(by_mutex, m);
        hand_on(m);
        hold(by_mutex, m);
        ok(zkr_lockable_give_back(m));
    }
    hand_on(m);
    zkr_mutex_free(m);
}

static void use_rwlock(zkr_session *s, const char *name, uint32_t retain_ms)
{
    zkr_rwlock *l = NULL;
    zkr_grant *write = NULL;
    zkr_grant *read = NULL;

    if (!CAN(zkr_rwlock_new(s, a_path(name),
                            OPTS(lockable, .retain_ms = retain_ms), &l)))
        return;
    if (CAN(zkr_rwlock_acquire_write(l, SOON_MS, &write))) {
        if (!CAN(zkr_rwlock_downgrade(l, write, &read)))
            read = write; /* as it was */
        else
            zkr_grant_free(write);
        give_back(read);
    }
    if (CAN(zkr_rwlock_acquire_read(l, SOON_MS, &read)))
        give_back(read);
    zkr_rwlock_free(l);
}

static void use_reentrant(zkr_session *s)
{
    zkr_reentrant_mutex *m = NULL;

    if (!CAN(zkr_reentrant_mutex_new(s, a_path("reentrant"), NULL, &m)))
        return;
    if (CAN(zkr_reentrant_mutex_acquire(m, SOON_MS))) {
        if (CAN(zkr_reentrant_mutex_acquire(m, SOON_MS)))
            ok(zkr_reentrant_mutex_release(m));
        assert_int_equal(zkr_reentrant_mutex_depth(m), 1);
        ok(zkr_reentrant_mutex_release(m));
    }
    zkr_reentrant_mutex_free(m);
}

static void use_unfair(zkr_session *s)
{
    zkr_unfair_mutex *m = NULL;

    if (!CAN(zkr_unfair_mutex_new(s, a_path("unfair"), NULL, &m)))
        return;
    hold(zkr_unfair_mutex_acquire, m);
    zkr_unfair_mutex_free(m);
}

static void look_on(zkr_session *s, const char *path)
{
    struct zkr_participants *list = NULL;

    if (CAN(zkr_participants_list(s, path, NULL, &list))) {
        assert_int_equal(list->count, 1);
        assert_true(list->items[0].holds);
        zkr_participants_free(list);
    }
}

/* All or none, and without a thread that waits. */
static void take_two(zkr_semaphore *sem)
{
    AUTO(recorder) r = recorder_new();
    zkr_grant *grants[2];
    int64_t count = 0;
    int code = 0;

    if (CAN(zkr_semaphore_acquire_many(sem, 2, SOON_MS, grants))) {
        give_back(grants[0]);
        give_back(grants[1]);
    }
    if (CAN(zkr_semaphore_acquire_many_async(sem, 2, SOON_MS, record_grants, r,
                                             NULL))) {
        assert_true(recorder_wait(r, 1, SOON_MS));
        assert_true(recorder_get(r, 0, &code, &count));
        assert_int_equal(count, can(code, "two leases") ? 2 : 0);
    }
}

static void use_all_as_one(zkr_session *s, zkr_semaphore *sem)
{
    zkr_multi_lock *all = NULL;

    if (!CAN(zkr_multi_lock_new(s, NULL, &all)))
        return;
    if (CAN(zkr_multi_lock_add(all, sem, NULL)))
        hold(zkr_multi_lock_acquire, all);
    (void)CAN(zkr_lockable_stats(
        all, &(struct zkr_counters){ .size = sizeof(struct zkr_counters) }));
    zkr_multi_lock_free(all);
}

static void use_semaphore(zkr_session *s)
{
    zkr_semaphore *sem = NULL;

    (void)a_path("semaphore/leases");
    (void)a_path("semaphore/locks");
    if (CAN(zkr_semaphore_new(s, "/alloc/semaphore", 1, NULL, &sem))) {
        hold(zkr_semaphore_acquire, sem);
        use_all_as_one(s, sem);
        zkr_semaphore_free(sem);
    }
    sem = NULL;
    if (CAN(zkr_semaphore_new(s, "/alloc/semaphore", 2,
                              OPTS(lockable, .limit_path = "/alloc/limit"),
                              &sem))) {
        take_two(sem);
        zkr_semaphore_free(sem);
    }
}

static void use_counter(zkr_session *s)
{
    zkr_counter *c = NULL;
    int64_t found;

    if (!CAN(zkr_counter_new(s, "/alloc-numbers/counter",
                             OPTS(counter, .lock_path = "/counter-lock"), &c)))
        return;
    (void)CAN(zkr_counter_add(c, 1, SOON_MS, NULL));
    (void)CAN(zkr_counter_compare_and_set(c, 7, 8, SOON_MS, &found));
    zkr_counter_free(c);
}

static void use_barriers(zkr_session *s)
{
    AUTO(double_barrier) m = NULL;
    zkr_barrier *b = NULL;

    if (CAN(zkr_barrier_new(s, "/alloc-barrier", NULL, &b)) &&
        CAN(zkr_barrier_remove(b, SOON_MS)))
        (void)CAN(zkr_barrier_wait(b, SOON_MS));
    zkr_barrier_free(b);
    if (CAN(zkr_double_barrier_new(s, "/alloc-double", 1, NULL, &m)) &&
        CAN(zkr_double_barrier_enter(m, SOON_MS)))
        (void)CAN(zkr_double_barrier_leave(m, SOON_MS));
}

/* A term that is lost is followed by another campaign. */
static void lead(zkr_leader *l)
{
    zkr_grant *g = NULL;

    if (!CAN(zkr_leader_campaign(l)) || !CAN(zkr_leader_wait(l, SOON_MS)) ||
        !CAN(zkr_leader_grant(l, &g)))
        return;
    delete_nth_child(zkr_leader_path(l), 0);
    wait_grant_state(g, ZKR_GRANT_LOST);
    (void)CAN(zkr_leader_wait(l, SOON_MS));
    zkr_grant_free(g);
    (void)zkr_leader_leave(l);
}

static void use_leader(zkr_session *s)
{
    zkr_leader *l = NULL;

    if (!CAN(zkr_leader_new(s, a_path("leader"),
                            OPTS(leader, .id = "id", .id_size = 2), NULL, NULL,
                            &l)))
        return;
    lead(l);
    zkr_leader_free(l);
}

static void use_participants(zkr_session *s, struct recorder *events)
{
    const char *path = a_path("participants");
    AUTO(mutex) m = NULL;
    zkr_grant *g = NULL;

    if (CAN(zkr_mutex_new(s, path, NULL, &m)) &&
        CAN(zkr_mutex_acquire(m, SOON_MS, &g))) {
        look_on(s, path);
        if (CAN(zkr_grant_listen(g, record_grant, events)) &&
            CAN(zkr_participants_revoke(s, zkr_grant_node(g))))
            (void)recorder_wait(events, 1, 100); /* not when it is ENOMEM */
        if (CAN(zkr_participants_break(s, zkr_grant_node(g), zkr_grant_token(g),
                                       SOON_MS)))
            (void)zkr_grant_release(g);
        else
            ok(zkr_grant_release(g));
        zkr_grant_free(g);
    }
}

static void write_together(zkr_session *s, const char *path)
{
    zkr_txn *t = NULL;

    if (!CAN(zkr_txn_new(s, NULL, &t)))
        return;
    if (CAN(zkr_txn_check(t, path, ZKR_ANY_VERSION)) &&
        CAN(zkr_txn_set(t, path, "ab", 2, ZKR_ANY_VERSION)) &&
        CAN(zkr_txn_delete(t, path, ZKR_ANY_VERSION)) &&
        CAN(zkr_txn_create(t, path, "abc", 3,
                           OPTS(create, .acl = "world:anyone:cdrwa"))))
        (void)CAN(zkr_txn_commit(t, SOON_MS));
    zkr_txn_free(t);
}

static void record_reply(int error, const struct zkr_reply *reply,
                         void *recorder)
{
    recorder_add(recorder, error, reply != NULL);
}

static void use_client(zkr_session *s)
{
    AUTO(recorder) answers = recorder_new();
    static const char *const path = "/alloc-client";
    struct zkr_reply *reply = NULL;

    if (CAN(zkr_session_create(s, path, "a", 1, NULL, SOON_MS, NULL))) {
        if (CAN(zkr_session_children(s, "/", SOON_MS, &reply)))
            zkr_reply_free(reply);
        if (CAN(zkr_session_get_async(s, path, SOON_MS, record_reply,
                                      answers))) {
            (void)can(recorded(answers, 0), "asynchronous get");
        }
        write_together(s, path);
        if (!CAN(zkr_session_delete(s, path, ZKR_ANY_VERSION, SOON_MS)))
            ok(zkr_session_delete(s, path, ZKR_ANY_VERSION, SOON_MS));
    }
}

static void use_listener(zkr_session *s, struct recorder *events)
{
    zkr_listener *l = NULL;

    if (CAN(zkr_session_listen(s, record_session, events, &l)))
        zkr_listener_free(l);
    (void)CAN(zkr_session_set_servers(s, server_hosts(the_server)));
}

static void record_open(int error, void *recorder)
{
    recorder_add(recorder, error, 0);
}

static void open_another(void)
{
    AUTO(recorder) opened = recorder_new();
    zkr_session *s = NULL;

    if (CAN(zkr_session_open_async(server_hosts(the_server), NULL, record_open,
                                   opened, &s))) {
        assert_true(recorder_wait(opened, 1, SOON_MS));
        close_session(s);
    }
}

static void record_watch(int error, const struct zkr_reply *reply,
                         enum zkr_watch_why why, void *recorder)
{
    recorder_add(recorder, error, (int64_t)why);
}

/* What there is no memory for is told later. */
static void use_watch(zkr_session *s, enum zkr_watch_what what)
{
    AUTO(recorder) calls = recorder_new();
    zkr_watch *w = NULL;

    if (CAN(zkr_session_watch(s, "/alloc", what, NULL, record_watch, calls,
                              &w))) {
        assert_true(recorder_wait(calls, 1, SOON_MS));
        zkr_watch_free(w);
    }
}

/* The next session of the same handle. */
static void outlive_session(zkr_session *s)
{
    zkr_mutex *m = NULL;

    expire_and_wait(s);
    if (!CAN(zkr_mutex_new(s, a_path("second"), NULL, &m)))
        return;
    hold(by_mutex, m);
    zkr_mutex_free(m);
}

static void run_scenario(void)
{
    struct recorder *events = recorder_new();
    zkr_session *s = NULL;

    path_count = 0;
    if (!CAN(zkr_session_open(server_hosts(the_server),
                              OPTS(session, .session_timeout_ms = 10000,
                                   .acl = "world:anyone:cdrwa"),
                              &s))) {
        recorder_free(events);
        return;
    }
    use_mutex(s);
    use_what_stays(s);
    use_rwlock(s, "rwlock", 0);
    use_rwlock(s, "rwlock-that-stays", FOR_EVER_MS);
    use_reentrant(s);
    use_unfair(s);
    use_semaphore(s);
    use_leader(s);
    use_counter(s);
    use_barriers(s);
    use_participants(s, events);
    use_listener(s, events);
    use_watch(s, ZKR_WATCH_DATA);
    use_watch(s, ZKR_WATCH_CHILDREN);
    use_client(s);
    open_another();
    outlive_session(s);
    for (size_t i = 0; i < path_count; i++)
        wait_children(paths[i], 0);
    close_session(s);
    recorder_free(events); /* no event can come any more */
}

/* -- the runs ------------------------------------------------------------- */

static long number(const char *name, long otherwise)
{
    const char *text = getenv(name);

    return text == NULL ? otherwise : atol(text);
}

static bool run_with_failure(long n)
{
    atomic_store(&allocations, 0);
    atomic_store(&has_failed, false);
    atomic_store(&fails_at, n);
    used = false;
    run_scenario();
    atomic_store(&fails_at, 0);
    /* Directories are made anew in each run. */
    assert_int_equal(admin_delete_tree(admin, "/alloc"), ZOK);
    return atomic_load(&has_failed);
}

TEST(every_allocation_may_fail_once)
{
    long step = number("ZKR_ALLOC_STEP", 13);
    long n = number("ZKR_ALLOC_FIRST", 1);
    long runs = 0;
    long told = 0;
    bool again;

    assert_false(run_with_failure(0));
    int threads = count_threads();
    int fds = count_fds();
    do {
        if (getenv("ZKR_TEST_LOG") != NULL)
            (void)fprintf(stderr, "allocation %ld\n", n);
        again = run_with_failure(n);
        told += used;
        runs++;
        n += step;
    } while (again);
    print_message("%ld allocations, %ld runs, refused in %ld\n",
                  atomic_load(&allocations), runs, told);
    /* Threads and files that the first run has closed may have been there; the
     * last run may leave a handle that the client is closing. */
    AWAIT(count_threads() <= threads && count_fds() <= fds);
    assert_true(told > runs / 2);
}

static int run_group(void)
{
    json_set_alloc_funcs(faulty_malloc, free);
    return test_run_all();
}

int main(void)
{
    return run_with_server(NULL, run_group);
}
