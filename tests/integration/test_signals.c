/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with signals and cancelled threads: signals reach the program's own
 * threads only, and neither a signal nor a cancelled thread disturbs a call. */
#include "fixture.h"

#include <dirent.h>
#include <signal.h>

enum { THREADS_MAX = 64, ROUNDS = 200, TIMEOUT_MS = 200, LATE_MS = 300 };

static int list_threads(long *tids)
{
    DIR *dir = opendir("/proc/self/task");
    struct dirent *e;
    int count = 0;

    assert_non_null(dir);
    while ((e = readdir(dir)) != NULL && count < THREADS_MAX) {
        if (e->d_name[0] != '.')
            tids[count++] = atol(e->d_name);
    }
    closedir(dir);
    return count;
}

/* All that anybody can block, except the two of the C library. */
static bool blocks_all(long tid)
{
    FILE *f = fopen(textf("/proc/self/task/%ld/status", tid), "re");
    char line[256];
    unsigned long long mask = 0;

    assert_non_null(f);
    while (fgets(line, sizeof(line), f) != NULL)
        (void)sscanf(line, "SigBlk: %llx", &mask);
    (void)fclose(f);
    for (int sig = 1; sig < 64; sig++) {
        if (sig != SIGKILL && sig != SIGSTOP && sig != 32 && sig != 33 &&
            (mask & (UINT64_C(1) << (sig - 1))) == 0)
            return false;
    }
    return true;
}

TEST(threads_of_a_session_block_all_signals)
{
    long before[THREADS_MAX], now[THREADS_MAX];
    int count = list_threads(before);
    OPEN_MUTEX(s, m);
    int others = 0;

    release(acquire(m));
    int all = list_threads(now);
    for (int i = 0; i < all; i++) {
        bool is_new = true;

        for (int k = 0; k < count; k++)
            is_new = is_new && before[k] != now[i];
        others += is_new;
        if (is_new && !blocks_all(now[i]))
            fail_msg("thread %ld lets signals in", now[i]);
    }
    assert_int_equal(others, 5);
}

static atomic_int signals;
static atomic_bool stop;

static void on_signal(int sig)
{
    signals++;
}

static void *interrupt(void *thread)
{
    while (!atomic_load(&stop)) {
        (void)pthread_kill(*(pthread_t *)thread, SIGUSR1);
        sleep_ms(1);
    }
    return NULL;
}

static void use_all(void)
{
    OPEN_MUTEX(s, m);
    AUTO(mutex) held = new_mutex(s, new_path());
    AUTO(grant) holding = acquire(held);

    for (int i = 0; i < ROUNDS; i++) {
        AUTO(held) g = acquire(m);

        wait_verified(g);
    }
    AUTO(participants) list = list_of(s, zkr_lockable_path(held), NULL);
    assert_int_equal(zkr_mutex_acquire(held, 0, &nil), ZKR_EBUSY);
    struct stopwatch *w = stopwatch_start();
    assert_int_equal(zkr_mutex_acquire(held, TIMEOUT_MS, &nil), ZKR_ETIMEDOUT);
    assert_true(stopwatch_says(w, TIMEOUT_MS, TIMEOUT_MS + LATE_MS));
}

TEST(a_thread_that_is_interrupted_all_the_time_gets_its_answers)
{
    struct sigaction action = { .sa_handler = on_signal }; /* no SA_RESTART */
    pthread_t self = pthread_self();

    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    pthread_t thread = thread_start(interrupt, &self);
    use_all();
    atomic_store(&stop, true);
    thread_join(thread);
    assert_true(signals > 100);
}

struct cancelled {
    zkr_mutex *mutex;
    zkr_grant *grant;
};

static void *acquire_and_end(void *arg)
{
    struct cancelled *c = arg;

    if (zkr_mutex_acquire(c->mutex, -1, &c->grant) == ZKR_OK)
        pthread_testcancel();
    return NULL;
}

/* Regression: it kept the lock of the session, and all calls hung. */
TEST(a_thread_that_is_cancelled_takes_no_lock_of_ours_along)
{
    OPEN_MUTEX(s, m);
    struct cancelled c = { .mutex = m };
    zkr_grant *g = acquire(m);

    pthread_t thread = thread_start(acquire_and_end, &c);
    wait_children(zkr_lockable_path(m), 2);
    assert_int_equal(pthread_cancel(thread), 0);
    AUTO(mutex) other = new_mutex(s, new_path());
    for (int i = 0; i < 3; i++)
        release(acquire(other));
    release(g);
    assert_ptr_equal(thread_join(thread), PTHREAD_CANCELED);
    release(c.grant);
}
