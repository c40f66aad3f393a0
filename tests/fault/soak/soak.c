/* SPDX-License-Identifier: Apache-2.0 */
/* Three servers, sixteen clients, five locks, and everything that can go wrong
 * with them; then a negative control, in which it must.
 *
 * ZKR_SOAK_SECONDS  how long, at least each fault once (default: a third)
 * ZKR_SEED          the order of the faults, and their times
 * ZKR_FAULT         the name of a kind: this one only
 * ZKR_SOAK_KEEP     a directory for journals and logs, when a rule was broken
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <time.h>

#include "outcome.h"
#include "test.h"
#include "wait.h"
#include "wall_clock.h"

enum {
    LOG_MB = 512,
    LONG_RUN_S = 1000, /* from there on the goals for numbers count */
    GOAL_GRANTS = 100000,
    GOAL_FAULTS = 300,
    GOAL_KINDS = 15,
    GOAL_REFUSED = 200,
    CONTROL_FAULTS = 8,
    CALM_MS = 2000, /* at most, between faults of a longer run */
    SETTLE_MS = 2000,
    SHORT = 3, /* one kind of fault in so many */
};

/* The kind of fault that makes stale accesses. */
#define STOPPED "clients stopped, > T"

static struct scratch scratch;
static struct cluster *cluster;
static struct proxy *proxy;
static char all_hosts[256];

/* Returns the path of a program or library beside this program, from argv[0]:
 * in a root of its own, /proc/self/exe may lead out of that root. */
static const char *beside(const char *name)
{
    static char paths[2][PATH_MAX];
    static int next;
    char *path = paths[next++ % 2];

    if (realpath(program_invocation_name, path) == NULL)
        die(program_invocation_name);
    (void)snprintf(strrchr(path, '/') + 1, 64, "%s", name);
    return path;
}

/* Servers */

static int start_servers(void)
{
    struct cluster_opts opts = { .tick_ms = SOAK_TICK_MS,
                                 .sync_limit = SOAK_SYNC_LIMIT };

    for (int host = 1; host < HOSTS; host++) {
        const char *name = textf("log%d", host);

        opts.logs[host] = textf("%s/%s", scratch.dir, name);
        if (!scratch_mount(&scratch, name, LOG_MB))
            die(name);
    }
    int rc = cluster_start(&opts, &cluster);
    for (int host = 1; rc == SERVER_OK && host < HOSTS; host++) {
        size_t used = strlen(all_hosts);

        (void)snprintf(all_hosts + used, sizeof(all_hosts) - used, "%s%s",
                       used > 0 ? "," : "",
                       server_hosts(cluster_server(cluster, host)));
    }
    return rc;
}

/* A part: the soak, or its negative control */

struct part {
    char dir[PATH_MAX];
    struct crew crew;
    struct nemesis nemesis;
    int64_t began_ms;
};

static void begin(struct part *p, const char *name, bool trusting)
{
    *p = (struct part){ .began_ms = now_ms() };
    PRINT(p->dir, "%s/%s", scratch.dir, name);
    if (!scratch_mount(&scratch, name, 0))
        die(p->dir);
    for (int i = 0; i < LOCKS; i++) {
        if (!resource_create(p->dir, i))
            die("resource");
    }
    p->crew = (struct crew){ .program = beside("soak_client"),
                             .dir = p->dir,
                             .hosts = { all_hosts, proxy_hosts(proxy) },
                             .trusting = trusting,
                             .board = board_open(p->dir, O_CREAT | O_TRUNC),
                             .log = STDERR_FILENO };
    p->nemesis =
        (struct nemesis){ .cluster = cluster,
                          .proxy = proxy,
                          .crew = &p->crew,
                          .scratch = &scratch,
                          .journal = journal_create(p->dir, NEMESIS, 0, 0) };
    if (p->crew.board == NULL || p->nemesis.journal < 0)
        die(p->dir);
    nemesis_note(&p->nemesis, NOTE_BEGIN, real_ms(), 0);
    if (admin_open(all_hosts, &p->nemesis.admin) != ZOK)
        die("admin");
    if (!crew_start(&p->crew) || !nemesis_wait_granted(&p->nemesis))
        die("clients");
}

static void strike(struct part *p, int kind)
{
    printf("%6.1f  %s\n", (double)(now_ms() - p->began_ms) / 1000,
           faults[kind].name);
    (void)fflush(stdout);
    nemesis_strike(&p->nemesis, kind);
}

/* How many clients did not come to their end. */
static int finish(struct part *p)
{
    int stuck = crew_finish(&p->crew);

    if (!nemesis_wait_healthy(&p->nemesis))
        p->nemesis.broken = true;
    if (p->nemesis.broken)
        printf("soak: a server or a client did not come back\n");
    sleep_ms(SETTLE_MS); /* for the last transactions to be everywhere */
    admin_close(p->nemesis.admin);
    (void)close(p->nemesis.journal);
    return stuck;
}

/* The soak */

static void strike_all(struct part *p, long seconds)
{
    const char *only = getenv("ZKR_FAULT");
    int kind = only != NULL ? nemesis_find(only) : -1;
    int64_t end = now_ms() + seconds * 1000;
    int kinds[ROUND_MAX];
    int count;

    if (only != NULL && kind < 0)
        die(only);
    do {
        count = nemesis_round(seconds <= 0, kinds);
        if (seconds < 0) {
            count /= SHORT;
            kinds[0] = nemesis_find(STOPPED);
        }
        for (int i = 0; i < count; i++) {
            if (p->nemesis.broken)
                return;
            if (now_ms() > end && p->nemesis.rounds > 0)
                return;
            strike(p, kind >= 0 ? kind : kinds[i]);
            if (seconds > 0)
                sleep_ms((int)(drand48() * CALM_MS));
        }
        p->nemesis.rounds++;
    } while (now_ms() < end);
}

/* In a short run it may be that nobody is stopped just before an access. */
static bool is_enough(const struct outcome *o, const struct nemesis *n)
{
    int done = 0;
    int kinds = 0;

    for (int i = 0; i < fault_count; i++) {
        done += n->counts[i];
        kinds += n->counts[i] > 0;
    }
    if (getenv("ZKR_FAULT") != NULL)
        return true;
    if (o->seconds < LONG_RUN_S)
        return kinds >= fault_count / SHORT - 1 && o->verdict.handed_on > 0;
    return o->verdict.grants >= GOAL_GRANTS && done >= GOAL_FAULTS &&
           kinds >= GOAL_KINDS && o->refused >= GOAL_REFUSED;
}

static bool soak(long seconds)
{
    static struct part p;
    struct server *servers[SERVERS];
    struct outcome o = { .runs = 0 };
    const struct verdict *v = &o.verdict;
    const struct nemesis *n = &p.nemesis;
    struct truth truth;

    begin(&p, "soak", false);
    strike_all(&p, seconds);
    o.seconds = (double)(now_ms() - p.began_ms) / 1000;
    o.stuck_clients = finish(&p);
    for (int i = 0; i < SERVERS; i++)
        servers[i] = cluster_server(cluster, i + 1);
    if (!truth_read(servers, SERVERS, real_ms(), &truth))
        die("transaction logs");
    o.transactions = truth.transactions;
    o.disputed = truth.disputed;
    outcome_find(&p.crew, &truth, &o);
    truth_free(&truth);
    report(&o, n);
    bool slow = o.seconds >= LONG_RUN_S &&
                percentile(n->recoveries, n->recovery_count, 99) > USUAL_MS;
    free(n->recoveries);
    bool good = v->broken.violations == 0 && v->orphans == 0 &&
                o.late_calls == 0 && o.broken_promises == 0 && o.leaks == 0 &&
                o.stuck_clients == 0 && n->stuck == 0 && !n->broken && !slow;
    if (!good)
        printf("soak: a rule was broken\n");
    else if (!is_enough(&o, n))
        printf("soak: too little was done\n");
    return good && is_enough(&o, n);
}

/* The negative control: programs that trust the lock are stopped for longer
 * than the session timeout. If that shows nothing, the soak is blind. */
static bool control(void)
{
    static struct part p;
    struct outcome o = { .runs = 0 };
    const struct verdict *v = &o.verdict;
    const long *broken = v->broken.counts;
    int kind = nemesis_find(STOPPED);

    printf("\nnegative control: no lease, no fence\n");
    begin(&p, "control", true);
    for (int i = 0; i < CONTROL_FAULTS; i++)
        strike(&p, kind);
    (void)finish(&p);
    outcome_find(&p.crew, NULL, &o);
    free(p.nemesis.recoveries);
    printf("%ld grants, %ld overlaps, %ld stale accesses accepted, %ld updates "
           "lost\n",
           v->grants, broken[JUDGE_OVERLAP], broken[JUDGE_STALE],
           v->lost_updates);
    if (broken[JUDGE_OVERLAP] > 0 && broken[JUDGE_STALE] > 0 &&
        v->lost_updates > 0)
        return true;
    printf("soak: the negative control shows nothing\n");
    return false;
}

int main(void)
{
    long seed = test_number("ZKR_SEED", time(NULL) % 1000000);
    const char *keep = getenv("ZKR_SOAK_KEEP");
    bool good = false;

    if (!server_installed() || !cluster_permitted() || !scratch_start(&scratch))
        return 77;
    printf("ZKR_SEED=%ld\n", seed);
    srand48(seed);
    if (!wall_clock_start(beside("libsoak_clock.so"), scratch.dir))
        die("wall clock");
    int rc = start_servers();
    if (rc == SERVER_OK && proxy_start(all_hosts, &proxy) == 0) {
        good = soak(test_number("ZKR_SOAK_SECONDS", -1));
        if (getenv("ZKR_FAULT") == NULL)
            good = control() && good;
        if (keep != NULL && *keep != '\0')
            scratch_keep(&scratch, keep);
        proxy_stop(proxy);
    }
    cluster_stop(cluster);
    guard_finish(&scratch.guard);
    return good ? 0 : 1;
}
