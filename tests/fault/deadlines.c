/* No call returns later than it says, whatever the servers do.
 *
 * In each outage all calls of calls.c are made at once, each on a thread of its
 * own. A thread that only sleeps tells how late this machine wakes anybody.
 * ZKR_OUTAGES is the number of outages of each kind. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calls.h"
#include "cluster.h"
#include "oracle.h"
#include "outages.h"

#define MS 1000000LL

enum {
    SMOKE = 1,
    LATE_MS = 100, /* more than that is late */
    CALLS_MAX = 32,
};

struct timing {
    pthread_t thread;
    struct attempt attempt;
    int64_t late_ns; /* negative: early */
};

static struct cluster *cluster;

/* Over all outages. */
static int64_t worst_ns[CALLS_MAX];
static int64_t worst_noise_ns;
static int64_t worst_less_noise_ns; /* of the same outage */

static int64_t now_ns(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* -- one outage ----------------------------------------------------------- */

/* How late a thread wakes here that waits for nothing but the time. */
struct control {
    pthread_t thread;
    atomic_bool stop;
    int64_t noise_ns;
};

static void *control_main(void *arg)
{
    struct control *c = arg;

    while (!atomic_load(&c->stop)) {
        int64_t wake = now_ns() + 2 * MS;
        struct timespec ts = { wake / 1000000000, wake % 1000000000 };

        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
        if (now_ns() - wake > c->noise_ns)
            c->noise_ns = now_ns() - wake;
    }
    return NULL;
}

static void *timing_main(void *arg)
{
    struct timing *t = arg;
    int64_t start = now_ns();

    t->attempt.rc = t->attempt.call->run(&t->attempt);
    t->late_ns = now_ns() - start - t->attempt.call->limit_ms * MS;
    return NULL;
}

static void begin(struct timing *t, bool before)
{
    for (size_t i = 0; i < call_count; i++) {
        if (calls[i].begins_before == before)
            assert_int_equal(
                pthread_create(&t[i].thread, NULL, timing_main, &t[i]), 0);
    }
}

static void prepare(struct timing *t, zkr_session *s, const char *hosts)
{
    for (size_t i = 0; i < call_count; i++) {
        struct attempt *a = &t[i].attempt;

        *a =
            (struct attempt){ .call = &calls[i], .session = s, .hosts = hosts };
        (void)snprintf(a->path, sizeof(a->path), "%s", new_path());
        a->call->prepare(a);
    }
}

static bool is_misuse(int rc)
{
    return rc == ZKR_EINVAL || rc == ZKR_EDEADLK || rc == ZKR_EPATH ||
           rc == ZKR_ENOMEM || rc == ZKR_EPROTO || rc == ZKR_ECLOSED;
}

static void print_time(const struct timing *t)
{
    const char *text = zkr_strerror(t->attempt.rc);

    if (t->attempt.rc == ZKR_OK)
        text = "OK";
    printf("  %-26s %-18.*s %+9.1f ms\n", t->attempt.call->name,
           (int)strcspn(text, ":"), text, (double)t->late_ns / 1e6);
}

static void take_times(struct timing *t, int64_t noise_ns)
{
    if (noise_ns > worst_noise_ns)
        worst_noise_ns = noise_ns;
    for (size_t i = 0; i < call_count; i++) {
        print_time(&t[i]);
        assert_false(is_misuse(t[i].attempt.rc));
        if (t[i].late_ns > worst_ns[i])
            worst_ns[i] = t[i].late_ns;
        if (t[i].late_ns - noise_ns > worst_less_noise_ns)
            worst_less_noise_ns = t[i].late_ns - noise_ns;
    }
}

/* In the same session or the next. */
static void is_usable_again(zkr_session *s)
{
    zkr_mutex *m = new_mutex(s, new_path());

    release(acquire(m));
    zkr_mutex_free(m);
}

static void suffer(const struct outage *o)
{
    static struct timing t[CALLS_MAX];
    struct control control = { .stop = false };
    zkr_session *s = calls_session(o->hosts());

    prepare(t, s, o->hosts());
    assert_int_equal(
        pthread_create(&control.thread, NULL, control_main, &control), 0);
    begin(t, true);
    sleep_ms(DEADLINE_MS / 4); /* they have their places */
    o->strike();
    begin(t, false);
    for (size_t i = 0; i < call_count; i++)
        assert_int_equal(pthread_join(t[i].thread, NULL), 0);
    atomic_store(&control.stop, true);
    assert_int_equal(pthread_join(control.thread, NULL), 0);
    o->heal();
    printf("%s; the clock was late by %.1f ms\n", o->name,
           (double)control.noise_ns / 1e6);
    take_times(t, control.noise_ns);
    is_usable_again(s);
    for (size_t i = 0; i < call_count; i++)
        call_clean(&t[i].attempt);
    (void)zkr_session_close(s);
}

static void print_worst(int count)
{
    printf("latest in %d outages of each kind\n", count);
    for (size_t i = 0; i < call_count; i++)
        printf("  %-26s %+9.1f ms\n", calls[i].name, (double)worst_ns[i] / 1e6);
    printf("the clock was late by %.1f ms at most; less that, a call by %.1f "
           "ms\n",
           (double)worst_noise_ns / 1e6, (double)worst_less_noise_ns / 1e6);
}

static void no_call_returns_after_its_deadline(void **state)
{
    int count = number_from("ZKR_OUTAGES", SMOKE);

    (void)state;
    assert_true(call_count <= CALLS_MAX);
    for (size_t i = 0; i < CALLS_MAX; i++)
        worst_ns[i] = INT64_MIN;
    for (int i = 0; i < count; i++) {
        for (size_t j = 0; j < outage_count; j++)
            suffer(&outages[j]);
    }
    print_worst(count);
    assert_true(worst_less_noise_ns <= LATE_MS * MS);
}

/* -- setting up ----------------------------------------------------------- */

static int setup(void **state)
{
    (void)state;
    return outages_prepare(cluster) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    outages_done();
    return 0;
}

static int run_group(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_call_returns_after_its_deadline),
    };

    return cmocka_run_group_tests_name("deadlines", tests, setup, teardown);
}

int main(void)
{
    const struct cluster_opts opts = { .tick_ms = 500 };
    int rc;

    if (!cluster_permitted())
        return 77;
    rc = cluster_start(&opts, &cluster);
    if (rc != SERVER_OK)
        return rc == SERVER_MISSING ? 77 : 1;
    rc = run_with_server(NULL, run_group);
    cluster_stop(cluster);
    return rc;
}
