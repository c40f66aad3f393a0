/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that make every allocation of the library, and of jansson for it, fail
 * once, as well as each thread and descriptor: every call succeeds or fails
 * with ZKR_ENOMEM or ZKR_ESYSTEM, and leaves nothing behind.
 *
 * There is a scenario for each recipe of the contract, and one for each further
 * part of the library. It runs again and again, each time in a session of its
 * own, and in each run the next allocation fails, until a run has no more.
 * ZKR_ALLOC_STEP=n lets only every n-th fail.
 * Allocations of libzookeeper itself never fail here. */
#include "contract/adapter.h"

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

/* The library calls these: see meson.build. */
#define FAULTY(type, name, parameters, arguments, failure)                     \
    type faulty_##name parameters;                                             \
    type faulty_##name parameters                                              \
    {                                                                          \
        return fails() ? (failure) : name arguments;                           \
    }

FAULTY(void *, malloc, (size_t size), (size), NULL)
FAULTY(void *, calloc, (size_t count, size_t size), (count, size), NULL)
FAULTY(void *, realloc, (void *p, size_t size), (p, size), NULL)
FAULTY(char *, strdup, (const char *text), (text), NULL)
FAULTY(char *, strndup, (const char *text, size_t len), (text, len), NULL)
FAULTY(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL)
FAULTY(int, eventfd, (unsigned count, int flags), (count, flags), -1)
FAULTY(int, pthread_create,
       (pthread_t * thread, const pthread_attr_t *attr, void *(*start)(void *),
        void *arg),
       (thread, attr, start, arg), EAGAIN)

/* The client allocates, and does not check the result. */
int faulty_allocate_ACL_vector(struct ACL_vector *v, int32_t len);
int faulty_allocate_ACL_vector(struct ACL_vector *v, int32_t len)
{
    if (!fails())
        return allocate_ACL_vector(v, len);
    *v = (struct ACL_vector){ .count = len, .data = NULL };
    return 0;
}

/* -- the scenarios -------------------------------------------------------- */

static const struct adapter *recipe = adapters; /* a mutex */
static struct recorder *events;
static bool used; /* the failure has been seen */
static const char *paths[4];
static size_t path_count;

/* One failed allocation explains one refused call. */
static bool can(int rc, const char *what)
{
    if (rc == ZKR_OK)
        return true;
    if ((rc != ZKR_ENOMEM && rc != ZKR_ESYSTEM) || !atomic_load(&has_failed) ||
        used)
        fail_msg("%s: %d, %s: %s", what, rc, zkr_strerror(rc),
                 zkr_error_detail());
    used = true;
    return false;
}

#define CAN(call) can(call, #call)

static const char *a_path(const char *name)
{
    return paths[path_count++] = textf("/alloc/%s", name);
}

static void give_back(zkr_grant *g)
{
    (void)CAN(zkr_grant_check(g));
    (void)CAN(zkr_grant_verify(g, SOON_MS));
    ok(zkr_grant_release(g));
    zkr_grant_free(g);
}

/* The holder has the lock alone, and once more if it is reentrant. */
static void hold(void *lock, void *other)
{
    zkr_grant *g = NULL, *again = NULL;
    struct zkr_counters all = ZKR_COUNTERS_INIT;

    if (!CAN(recipe->acquire(lock, SOON_MS, &g)))
        return;
    int rc = recipe->acquire(other, 0, &again);
    if (rc != ZKR_EBUSY)
        assert_false(can(rc, "try while another has it"));
    if ((recipe->traits & REENTRANT) != 0 &&
        CAN(recipe->acquire(lock, SOON_MS, &again))) {
        ok(recipe->release(lock, again));
        recipe->forget(lock, again);
    }
    (void)CAN(zkr_grant_check(g));
    (void)CAN(zkr_grant_verify(g, SOON_MS));
    if ((recipe->traits & CAMPAIGNS) == 0) /* it is a lockable */
        (void)CAN(zkr_lockable_stats(lock, &all));
    ok(recipe->release(lock, g));
    recipe->forget(lock, g);
}

/* Behind a holder: until it is released, or cancelled. */
static void wait_behind(void *lock, const char *dir, bool cancels)
{
    bool has_node =
        (recipe->traits & QUEUES) != 0 && (recipe->traits & SHARES) == 0;
    AUTO(recorder) outcomes = recorder_new();
    AUTO(request) request = NULL;
    zkr_grant *g = NULL;

    if (!CAN(recipe->acquire(lock, SOON_MS, &g)))
        return;
    if (!CAN(recipe->acquire_async(lock, SOON_MS, record_acquire, outcomes,
                                   has_node || cancels ? &request : NULL))) {
        give_back(g);
        return;
    }
    if (has_node)
        AWAIT(recorder_count(outcomes) > 0 || count_children(dir) == 2);
    if (recorder_count(outcomes) > 0)
        assert_int_equal(recorded(outcomes, 0), ZKR_ENOMEM);
    if (cancels)
        (void)zkr_request_cancel(request);
    give_back(g);
    int code = recorded(outcomes, 0);
    if (cancels && code == ZKR_ECANCELED)
        return;
    assert_true(!cancels || code != ZKR_OK);
    if (can(code, "asynchronous acquire"))
        give_back(recorded_grant(outcomes, 0));
}

static void use_lock(void *lock, void *other, const char *dir)
{
    hold(lock, other);
    if (recipe->acquire_async != NULL && (recipe->traits & REENTRANT) == 0) {
        wait_behind(lock, dir, false);
        wait_behind(lock, dir, true);
    }
}

static void use_recipe(zkr_session *s)
{
    static const char *const path = "/alloc/recipe";
    const char *dir =
        a_path(recipe->below == NULL ? "recipe" : "recipe/leases");
    void *lock = NULL, *other = NULL;

    (void)a_path("recipe/locks");
    if (CAN(adapter_make(recipe, s, path, 0, &lock)) &&
        CAN(adapter_make(recipe, s, path, 0, &other))) {
        use_lock(lock, other, dir);
        if ((recipe->traits & SHARES) != 0) { /* the next has another node */
            ok(zkr_lockable_give_back(lock));
            use_lock(lock, other, dir);
        }
    }
    recipe->free(other);
    recipe->free(lock);
}

/* The second one stays. */
static void use_rwlocks(zkr_session *s)
{
    for (int i = 0; i < 2; i++) {
        const char *path = a_path(i == 0 ? "deep/rwlock" : "deep/staying");
        AUTO(rwlock) l = NULL;
        zkr_grant *write = NULL;
        zkr_grant *read = NULL;

        if (!CAN(zkr_rwlock_new(s, path,
                                OPTS(lockable, .label = "label",
                                     .retain_ms = i == 0 ? 0 : FOR_EVER_MS),
                                &l)))
            continue;
        if (CAN(zkr_rwlock_acquire_write(l, SOON_MS, &write))) {
            if (!CAN(zkr_rwlock_downgrade(l, write, &read)))
                read = write; /* as it was */
            else
                zkr_grant_free(write);
            give_back(read);
        }
        if (CAN(zkr_rwlock_acquire_read(l, SOON_MS, &read)))
            give_back(read);
    }
}

/* Two permits: both or none, and without a thread that waits. */
static void use_semaphore(zkr_session *s)
{
    AUTO(recorder) r = recorder_new();
    AUTO(semaphore) sem = NULL;
    zkr_grant *grants[2];

    (void)a_path("semaphore/leases");
    (void)a_path("semaphore/locks");
    if (!CAN(zkr_semaphore_new(s, "/alloc/semaphore", 2,
                               OPTS(lockable, .limit_path = "/alloc/limit"),
                               &sem)))
        return;
    if (CAN(zkr_semaphore_acquire_many(sem, 2, SOON_MS, grants))) {
        give_back(grants[0]);
        give_back(grants[1]);
    }
    if (CAN(zkr_semaphore_acquire_many_async(sem, 2, SOON_MS, record_grants, r,
                                             NULL))) {
        int code = recorded(r, 0);
        is_recorded(r, 0, code, can(code, "two leases") ? 2 : 0);
    }
}

static void use_counter(zkr_session *s)
{
    AUTO(counter) c = NULL;
    int64_t found;

    if (!CAN(zkr_counter_new(s, "/alloc-numbers/counter",
                             OPTS(counter, .lock_path = "/counter-lock"), &c)))
        return;
    (void)CAN(zkr_counter_add(c, 1, SOON_MS, NULL));
    (void)CAN(zkr_counter_compare_and_set(c, 7, 8, SOON_MS, &found));
}

static void use_barriers(zkr_session *s)
{
    AUTO(double_barrier) m = NULL;
    AUTO(barrier) b = NULL;

    if (CAN(zkr_barrier_new(s, "/alloc-barrier", NULL, &b)) &&
        CAN(zkr_barrier_remove(b, SOON_MS)))
        (void)CAN(zkr_barrier_wait(b, SOON_MS));
    if (CAN(zkr_double_barrier_new(s, "/alloc-double", 1, NULL, &m)) &&
        CAN(zkr_double_barrier_enter(m, SOON_MS)))
        (void)CAN(zkr_double_barrier_leave(m, SOON_MS));
}

/* A term that is lost is followed by another campaign. */
static void use_leader(zkr_session *s)
{
    AUTO(leader) l = NULL;
    zkr_grant *g = NULL;

    if (!CAN(zkr_leader_new(s, a_path("leader"),
                            OPTS(leader, .id = "id", .id_size = 2), NULL, NULL,
                            &l)) ||
        !CAN(zkr_leader_campaign(l)) || !CAN(zkr_leader_wait(l, SOON_MS)) ||
        !CAN(zkr_leader_grant(l, &g)))
        return;
    delete_nth_child(zkr_leader_path(l), 0);
    wait_grant_state(g, ZKR_GRANT_LOST);
    (void)CAN(zkr_leader_wait(l, SOON_MS));
    zkr_grant_free(g);
    (void)zkr_leader_leave(l);
}

static void use_participants(zkr_session *s)
{
    const char *path = a_path("participants");
    AUTO(mutex) m = NULL;
    AUTO(grant) g = NULL;
    AUTO(participants) list = NULL;

    if (!CAN(zkr_mutex_new(s, path, NULL, &m)) ||
        !CAN(zkr_mutex_acquire(m, SOON_MS, &g)))
        return;
    if (CAN(zkr_participants_list(s, path, NULL, &list))) {
        assert_int_equal(list->count, 1);
        assert_true(list->items[0].holds);
    }
    if (CAN(zkr_grant_listen(g, record_grant, events)) &&
        CAN(zkr_participants_revoke(s, zkr_grant_node(g))))
        (void)recorder_wait(events, 1, 100); /* not when it is ENOMEM */
    if (CAN(zkr_participants_break(s, zkr_grant_node(g), zkr_grant_token(g),
                                   SOON_MS)))
        (void)zkr_grant_release(g);
    else
        ok(zkr_grant_release(g));
}

static void use_client(zkr_session *s)
{
    AUTO(recorder) answers = recorder_new();
    static const char *const path = "/alloc-client";
    AUTO(reply) reply = NULL;
    AUTO(txn) t = NULL;

    if (!CAN(zkr_session_create(s, path, "a", 1, NULL, SOON_MS, NULL)))
        return;
    (void)CAN(zkr_session_children(s, "/", SOON_MS, &reply));
    if (CAN(zkr_session_get_async(s, path, SOON_MS, record_reply, answers)))
        (void)can(recorded(answers, 0), "asynchronous get");
    if (CAN(zkr_txn_new(s, NULL, &t)) &&
        CAN(zkr_txn_check(t, path, ZKR_ANY_VERSION)) &&
        CAN(zkr_txn_set(t, path, "ab", 2, ZKR_ANY_VERSION)) &&
        CAN(zkr_txn_delete(t, path, ZKR_ANY_VERSION)) &&
        CAN(zkr_txn_create(t, path, "abc", 3,
                           OPTS(create, .acl = "world:anyone:cdrwa"))))
        (void)CAN(zkr_txn_commit(t, SOON_MS));
    if (!CAN(zkr_session_delete(s, path, ZKR_ANY_VERSION, SOON_MS)))
        ok(zkr_session_delete(s, path, ZKR_ANY_VERSION, SOON_MS));
}

static void use_listener(zkr_session *s)
{
    zkr_listener *l = NULL;

    if (CAN(zkr_session_listen(s, record_session, events, &l)))
        zkr_listener_free(l);
    (void)CAN(zkr_session_set_servers(s, server_hosts(the_server)));
}

static void open_another(zkr_session *unused)
{
    AUTO(recorder) opened = recorder_new();
    zkr_session *s = NULL;

    if (CAN(zkr_session_open(server_hosts(the_server),
                             OPTS(session, .acl = "world:anyone:cdrwa"), &s)))
        close_session(s);
    s = NULL;
    if (CAN(zkr_session_open_async(server_hosts(the_server), NULL,
                                   record_release, opened, &s))) {
        assert_true(recorder_wait(opened, 1, SOON_MS));
        close_session(s);
    }
}

/* What there is no memory for is told later. */
static void use_watches(zkr_session *s)
{
    for (int i = 0; i < 2; i++) {
        AUTO(recorder) calls = recorder_new();
        AUTO(watch) w = NULL;

        if (CAN(zkr_session_watch(s, "/alloc",
                                  i == 0 ? ZKR_WATCH_DATA : ZKR_WATCH_CHILDREN,
                                  NULL, record_watch, calls, &w)))
            assert_true(recorder_wait(calls, 1, SOON_MS));
    }
}

/* The next session of the same handle. */
static void outlive_session(zkr_session *s)
{
    expire_and_wait(s);
    use_recipe(s);
}

/* -- the runs ------------------------------------------------------------- */

typedef void scenario(zkr_session *s);

static long step = 13; /* ZKR_ALLOC_STEP */
static long all_allocations;
static long runs;
static long told;

/* The opening of that session is no part of it: see open_another(). */
static bool run_with_failure(scenario *play, long n)
{
    if (getenv("ZKR_TEST_LOG") != NULL)
        (void)fprintf(stderr, "allocation %ld of %s\n", n, recipe->name);
    zkr_session *s =
        OPEN(.session_timeout_ms = 10000, .acl = "world:anyone:cdrwa");

    events = recorder_new();
    path_count = 0;
    used = false;
    atomic_store(&allocations, 0);
    atomic_store(&has_failed, false);
    atomic_store(&fails_at, n);
    play(s);
    for (size_t i = 0; i < path_count; i++)
        wait_children(paths[i], 0);
    close_session(s);
    atomic_store(&fails_at, 0);
    recorder_free(events); /* no event can come any more */
    /* Directories are made anew in each run. */
    assert_int_equal(admin_delete_tree(admin, "/alloc"), ZOK);
    return atomic_load(&has_failed);
}

/* Returns where the next scenario begins, so that of all allocations of all
 * scenarios every n-th fails. */
static long run_with_each_failure(scenario *play, long n)
{
    while (run_with_failure(play, n)) {
        told += used;
        runs++;
        n += step;
    }
    all_allocations += atomic_load(&allocations);
    return n > atomic_load(&allocations) ? n - atomic_load(&allocations) : 1;
}

TEST(every_allocation_may_fail_once)
{
    static scenario *const scenarios[] = {
        use_rwlocks,  use_semaphore,    use_leader,      use_counter,
        use_barriers, use_participants, use_listener,    use_watches,
        use_client,   open_another,     outlive_session,
    };
    long n = 1;

    step = test_number("ZKR_ALLOC_STEP", step);
    for (size_t i = 0; i < COUNT(scenarios); i++)
        assert_false(run_with_failure(scenarios[i], 0));
    int threads = count_threads();
    int fds = count_fds();
    for (size_t i = 0; i < COUNT(scenarios); i++)
        n = run_with_each_failure(scenarios[i], n);
    for (size_t i = 0; i < adapter_count; i++) {
        recipe = &adapters[i];
        assert_false(run_with_failure(use_recipe, 0));
        n = run_with_each_failure(use_recipe, n);
    }
    print_message("%ld allocations, %ld runs, refused in %ld\n",
                  all_allocations, runs, told);
    /* Threads and files that the first run has closed may have been there; the
     * last run may leave a handle that the client is closing. */
    AWAIT(count_threads() <= threads && count_fds() <= fds);
    assert_true(told > runs / 2);
}

int main(void)
{
    json_set_alloc_funcs(faulty_malloc, free);
    test_patience_s = 800; /* of all allocations, on a busy machine */
    return run_with_server(NULL, test_run_all);
}
