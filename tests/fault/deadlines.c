/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that no call returns later than documented, whatever the servers do.
 *
 * In each outage all calls of calls.c are made at once, each on a thread of its
 * own. A stopwatch tells how late the machine was meanwhile.
 * ZKR_OUTAGES is the number of outages of each kind. */
#include "fixture.h"

#include "calls.h"
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
    struct stopwatch *watch; /* of all calls of the outage */
    struct attempt attempt;
    int64_t late_ns;  /* negative: early */
    int64_t noise_ns; /* the lateness of the machine meanwhile */
};

static struct cluster *cluster;

/* Over all outages. */
static int64_t worst_ns[CALLS_MAX];
static int64_t worst_noise_ns;
static int64_t worst_less_noise_ns; /* of the same call */

/* -- one outage ----------------------------------------------------------- */

static void *timing_main(void *arg)
{
    struct timing *t = arg;
    struct lap begin = stopwatch_lap(t->watch);

    t->attempt.rc = t->attempt.call->run(&t->attempt);
    struct lap end = stopwatch_lap(t->watch);
    t->late_ns = end.took_ns - begin.took_ns - t->attempt.call->limit_ms * MS;
    t->noise_ns = end.late_ns - begin.late_ns;
    return NULL;
}

static void begin(struct timing *t, bool before)
{
    for (size_t i = 0; i < call_count; i++) {
        if (calls[i].begins_before == before)
            t[i].thread = thread_start(timing_main, &t[i]);
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

static void take_times(struct timing *t)
{
    for (size_t i = 0; i < call_count; i++) {
        print_time(&t[i]);
        assert_false(is_misuse(t[i].attempt.rc));
        if (t[i].late_ns > worst_ns[i])
            worst_ns[i] = t[i].late_ns;
        if (t[i].noise_ns > worst_noise_ns)
            worst_noise_ns = t[i].noise_ns;
        if (t[i].late_ns - t[i].noise_ns > worst_less_noise_ns)
            worst_less_noise_ns = t[i].late_ns - t[i].noise_ns;
    }
}

/* The session itself may be over: then the next one is usable. */
static void is_usable_again(zkr_session *s)
{
    AUTO(mutex) m = new_mutex(s, new_path());

    release(acquire(m));
}

static void suffer(const struct outage *o)
{
    static struct timing t[CALLS_MAX];
    zkr_session *s = calls_session(o->hosts());

    prepare(t, s, o->hosts());
    struct stopwatch *watch = stopwatch_start();
    for (size_t i = 0; i < call_count; i++)
        t[i].watch = watch;
    begin(t, true);
    sleep_ms(DEADLINE_MS / 4); /* they have their places */
    o->strike();
    begin(t, false);
    for (size_t i = 0; i < call_count; i++)
        thread_join(t[i].thread);
    printf("%s; the machine was late by %.1f ms\n", o->name,
           (double)stopwatch_stop(watch).late_ns / 1e6);
    o->heal();
    take_times(t);
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
    printf("the machine was late by %.1f ms during a call at most; less that, "
           "a call by %.1f ms\n",
           (double)worst_noise_ns / 1e6, (double)worst_less_noise_ns / 1e6);
}

TEST(no_call_returns_after_its_deadline)
{
    int count = number_from("ZKR_OUTAGES", SMOKE);

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

static int setup(void)
{
    return outages_prepare(cluster) ? 0 : -1;
}

static int teardown(void)
{
    outages_done();
    return 0;
}

static int run_group(void)
{
    return test_run_between(setup, teardown);
}

int main(void)
{
    const struct cluster_opts opts = { .tick_ms = 500 };

    if (!cluster_permitted())
        return 77;
    int rc = cluster_start(&opts, &cluster);
    if (rc != SERVER_OK)
        return rc == SERVER_MISSING ? 77 : 1;
    rc = run_with_server(NULL, run_group);
    cluster_stop(cluster);
    return rc;
}
