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
#include <libgen.h>
#include <limits.h>
#include <sched.h>

#include <sys/mount.h>
#include <sys/stat.h>

#include "outcome.h"
#include "spawn.h"
#include "test.h"
#include "wait.h"

enum {
    SCRATCH_MB = 4096,
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

static char scratch[128];
static int8_t *days_of;
static struct cluster *cluster;
static struct proxy *proxy;
static const char *all_hosts = "";

/* Returns the path of a program or library beside this program, from argv[0]:
 * in a root of its own, /proc/self/exe may lead out of that root. */
static const char *beside(const char *name)
{
    char path[PATH_MAX];

    if (realpath(program_invocation_name, path) == NULL)
        die(program_invocation_name);
    return textf("%s/%s", dirname(path), name);
}

/* A file system in memory, which nobody else sees: it ends with this
 * process. */
static bool mount_memory(const char *dir, int megabytes)
{
    return mount("tmpfs", dir, "tmpfs", MS_NOSUID | MS_NODEV,
                 textf("mode=0700,size=%dm", megabytes)) == 0;
}

/* The guard stays outside, where the directory is empty. */
static bool start_scratch(struct guard *guard)
{
    return guard_make(guard, scratch, sizeof(scratch)) == 0 &&
           unshare(CLONE_NEWNS) == 0 &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount_memory(scratch, SCRATCH_MB) &&
           setenv("TMPDIR", scratch, 1) == 0;
}

static const char *make_dir(const char *name)
{
    const char *dir = textf("%s/%s", scratch, name);

    if (mkdir(dir, 0700) != 0)
        die(dir);
    return dir;
}

/* For all children that are started from now on. */
static void start_wall_clocks(void)
{
    const char *file = textf("%s/wall-clock", scratch);

    days_of = map_file(file, WALL_CLOCK_PIDS);
    if (setenv(WALL_CLOCK_FILE, file, 1) != 0 ||
        setenv("LD_PRELOAD", beside("libsoak_clock.so"), 1) != 0)
        die("wall clocks");
}

static int start_servers(void)
{
    struct cluster_opts opts = { .tick_ms = SOAK_TICK_MS,
                                 .sync_limit = SOAK_SYNC_LIMIT };

    for (int host = 1; host < HOSTS; host++) {
        opts.logs[host] = make_dir(textf("log%d", host));
        if (!mount_memory(opts.logs[host], LOG_MB))
            die(opts.logs[host]);
    }
    int rc = cluster_start(&opts, &cluster);
    for (int host = 1; rc == SERVER_OK && host < HOSTS; host++)
        all_hosts = textf("%s%s%s", all_hosts, host > 1 ? "," : "",
                          server_hosts(cluster_server(cluster, host)));
    return rc;
}

/* A part: the soak, or its negative control */

static struct nemesis begin(const char *name, bool trusting)
{
    const char *dir = make_dir(name);
    struct nemesis n = { .cluster = cluster,
                         .proxy = proxy,
                         .scratch = scratch,
                         .days_of = days_of,
                         .program = beside("soak_client"),
                         .dir = dir,
                         .hosts = { all_hosts, proxy_hosts(proxy) },
                         .trusting = trusting,
                         .board = board_open(dir),
                         .journal = journal_create(dir, NEMESIS, 0, 0),
                         .began_ms = now_ms() };

    nemesis_note(&n, NOTE_BEGIN, real_ms(), 0);
    if (admin_open(all_hosts, &n.admin) != ZOK)
        die("admin");
    for (int i = 0; i < WORKERS; i++)
        client_start(&n, i);
    if (n.broken || !nemesis_wait_granted(&n))
        die("clients");
    return n;
}

static void strike(struct nemesis *n, int kind)
{
    printf("%6.1f  %s\n", (double)(now_ms() - n->began_ms) / 1000,
           faults[kind].name);
    (void)fflush(stdout);
    nemesis_strike(n, kind);
}

/* The end of all clients, and what they have done. */
static struct outcome finish(struct nemesis *n)
{
    struct outcome o = { .seconds = (double)(now_ms() - n->began_ms) / 1000 };

    o.stuck_clients = clients_finish(n);
    if (!cluster_find_cast(cluster, &n->stroke.cast))
        n->broken = true;
    if (n->broken)
        printf("soak: a server or a client did not come back\n");
    sleep_ms(SETTLE_MS); /* for the last transactions to be everywhere */
    admin_close(n->admin);
    (void)close(n->journal);
    outcome_find(n, &o);
    return o;
}

/* The soak */

static void strike_all(struct nemesis *n, long seconds)
{
    const char *only = getenv("ZKR_FAULT");
    int kind = only != NULL ? nemesis_find(only) : -1;
    int64_t end = now_ms() + seconds * 1000;
    int kinds[ROUND_MAX];

    if (only != NULL && kind < 0)
        die(only);
    do {
        int count = nemesis_round(seconds <= 0, kinds);

        if (seconds < 0) {
            count /= SHORT;
            kinds[0] = nemesis_find(STOPPED);
        }
        for (int i = 0; i < count; i++) {
            if (n->broken || (now_ms() > end && n->rounds > 0))
                return;
            strike(n, kind >= 0 ? kind : kinds[i]);
            if (seconds > 0)
                sleep_ms((int)(drand48() * CALM_MS));
        }
        n->rounds++;
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
    struct nemesis n = begin("soak", false);

    strike_all(&n, seconds);
    struct outcome o = finish(&n);
    report(&o, &n);
    free(n.recoveries);
    bool slow = o.seconds >= LONG_RUN_S && o.usual_ms > USUAL_MS;
    bool good = o.verdict.broken.violations == 0 && o.verdict.orphans == 0 &&
                o.late_calls == 0 && o.broken_promises == 0 && o.leaks == 0 &&
                o.stuck_clients == 0 && n.stuck == 0 && !n.broken && !slow;
    if (!good)
        printf("soak: a rule was broken\n");
    else if (!is_enough(&o, &n))
        printf("soak: too little was done\n");
    return good && is_enough(&o, &n);
}

/* The negative control: programs that trust the lock are stopped for longer
 * than the session timeout. If that shows nothing, the soak is blind. */
static bool control(void)
{
    printf("\nnegative control: no lease, no fence\n");
    struct nemesis n = begin("control", true);
    for (int i = 0; i < CONTROL_FAULTS; i++)
        strike(&n, nemesis_find(STOPPED));
    struct outcome o = finish(&n);
    const struct verdict *v = &o.verdict;
    const long *broken = v->broken.counts;
    free(n.recoveries);
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
    const char *keep = getenv("ZKR_SOAK_KEEP");
    struct guard guard;
    bool good = false;

    if (!server_installed() || !cluster_permitted() || !start_scratch(&guard))
        return 77;
    set_seed();
    start_wall_clocks();
    int rc = start_servers();
    if (rc == SERVER_OK && proxy_start(all_hosts, &proxy) == 0) {
        good = soak(test_number("ZKR_SOAK_SECONDS", -1));
        if (getenv("ZKR_FAULT") == NULL)
            good = control() && good;
        if (keep != NULL && *keep != '\0')
            (void)spawn_run(
                (char *[]){ "cp", "-r", scratch, (char *)keep, NULL },
                STDERR_FILENO);
        proxy_stop(proxy);
    }
    cluster_stop(cluster);
    guard_finish(&guard);
    return good ? 0 : 1;
}
