/* SPDX-License-Identifier: Apache-2.0 */
/* Monitoring: a program shows the counters of its session as lines that
 * Prometheus reads.
 *
 *   ./stats 127.0.0.1:2181 /locks/orders */
#include <inttypes.h>
#include <stdio.h>

#include <zkrecipes/zkrecipes.h>

static int fail(const char *what, int rc)
{
    (void)fprintf(stderr, "%s: %s\n  %s\n", what, zkr_strerror(rc),
                  zkr_error_detail());
    return 1;
}

static void show(const char *name, uint64_t count)
{
    (void)printf("app_locks_%s_total %" PRIu64 "\n", name, count);
}

/* The rows of Prometheus are cumulative, and their bounds are in seconds. */
static void show_times(const char *name, const uint64_t *rows, uint64_t sum_us)
{
    uint64_t count = 0;

    for (int i = 0; i < ZKR_STATS_ROWS; i++) {
        count += rows[i];
        if (i < ZKR_STATS_ROWS - 1)
            (void)printf("app_locks_%s_bucket{le=\"%g\"} %" PRIu64 "\n", name,
                         (double)(UINT64_C(2) << i) / 1e6, count);
    }
    (void)printf("app_locks_%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, count);
    (void)printf("app_locks_%s_sum %g\n", name, (double)sum_us / 1e6);
    (void)printf("app_locks_%s_count %" PRIu64 "\n", name, count);
}

static int show_all(zkr_session *session)
{
    struct zkr_counters n = ZKR_COUNTERS_INIT;
    int rc = zkr_session_stats(session, &n);

    if (rc != ZKR_OK)
        return fail("stats", rc);
    show("acquires", n.acquires);
    show("waits", n.waits);
    show("timeouts", n.timeouts);
    show("losses", n.losses);
    show("reconnects", n.reconnects);
    show("expiries", n.expiries);
    for (int i = ZKR_CAUSE_NONE + 1; i < ZKR_CAUSES; i++)
        (void)printf("app_locks_causes_total{cause=\"%s\"} %" PRIu64 "\n",
                     zkr_cause_name((enum zkr_cause)i), n.causes[i]);
    (void)printf("app_locks_held %" PRIu64 "\n",
                 n.grants - n.releases - n.losses);
    show_times("wait_seconds", n.wait_us_log2, n.wait_us);
    show_times("hold_seconds", n.hold_us_log2, n.hold_us);
    return 0;
}

static int use(zkr_mutex *mutex)
{
    zkr_grant *grant;
    int rc = zkr_mutex_acquire(mutex, 10000, &grant);

    if (rc != ZKR_OK)
        return fail("acquire", rc);
    rc = zkr_grant_release(grant);
    zkr_grant_free(grant);
    return rc == ZKR_OK ? 0 : fail("release", rc);
}

int main(int argc, char **argv)
{
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    const char *path = argc > 2 ? argv[2] : "/locks/orders";
    zkr_session *session;
    zkr_mutex *mutex;
    int status = 0;
    int rc = zkr_session_open(hosts, NULL, &session);

    if (rc != ZKR_OK)
        return fail("open", rc);
    rc = zkr_mutex_new(session, path, NULL, &mutex);
    if (rc != ZKR_OK) {
        status = fail("new", rc);
    } else {
        for (int i = 0; i < 10 && status == 0; i++)
            status = use(mutex);
        zkr_mutex_free(mutex);
    }
    if (status == 0)
        status = show_all(session);
    (void)zkr_session_close(session);
    return status;
}
