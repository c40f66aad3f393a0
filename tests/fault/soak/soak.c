/* SPDX-License-Identifier: Apache-2.0 */
/* Three servers, sixteen clients, five locks, and everything that can go wrong
 * with them; then a negative control, in which it must.
 *
 * ZKR_SOAK_SECONDS  how long, at least each fault once (default: a third)
 * ZKR_SEED          the order of the faults, and their times
 * ZKR_FAULT         the name of a kind: this one only
 * ZKR_SOAK_KEEP     a directory for journals and logs, if a rule was broken */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <sched.h>

#include <sys/mount.h>
#include <sys/stat.h>

#include "check.h"
#include "nemesis.h"
#include "spawn.h"
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

/* A file system in memory that nobody else sees: it ends with this process. */
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

static int start_servers(void)
{
    struct cluster_opts opts = { .tick_ms = SOAK_TICK_MS,
                                 .sync_limit = SOAK_SYNC_LIMIT };

    for (int host = 1; host < HOSTS; host++) {
        opts.logs[host] = make_dir(textf("log%d", host));
        if (!mount_memory(opts.logs[host], LOG_MB))
            die(opts.logs[host]);
    }
    int rc = cluster_start(&opts);
    for (int host = 1; rc == SERVER_OK && host < HOSTS; host++)
        all_hosts = textf("%s%s%s", all_hosts, host > 1 ? "," : "",
                          server_hosts(cluster_server(host)));
    return rc;
}

/* -- the outcome, by journals, resources and the logs of the servers ------ */

struct outcome {
    double seconds;
    struct verdict verdict;
    long refused; /* accesses that a fence refused */
    long late_calls;
    long latest_ms;
    long broken_promises; /* about the depth of a reentrant lock, or a token */
    long leaks;
    long runs; /* number of client processes */
    long stuck_clients;
    long transactions; /* in the logs, on nodes of locks, and on sessions */
    long disputed;     /* in the log of only one server, so not believed */
    int usual_ms;      /* to the next grant: 99 of 100 are not longer */
    int faults, kinds; /* that were injected */
};

/* -- the truth: what really happened to the nodes, by the logs ------------ */

#define DIRECTORY "/soak/"

struct event {
    int64_t zxid;
    int64_t session;
    int64_t time_ms;
    int32_t type;
    unsigned int voters; /* a bit for each server */
    char path[104];
};

struct events {
    struct event *all;
    size_t count;
    unsigned int voter; /* whose log is being read */
    int64_t near_ms;    /* CLOCK_REALTIME of some time in the last half day */
};

/* Returns the true time for an instant of the clock of some process: without
 * the added days. The true time is within half a day of `near_ms`. */
static int64_t true_time(int64_t time_ms, int64_t near_ms)
{
    const int64_t day_ms = INT64_C(1000) * WALL_CLOCK_DAY;
    int64_t ahead = time_ms - near_ms + 128 * day_ms + day_ms / 2;

    return time_ms - (ahead / day_ms - 128) * day_ms;
}

static bool add_event(void *user, const struct txn *t)
{
    struct events *e = user;

    if (t->type != TXN_CLOSE_SESSION &&
        strncmp(t->path, DIRECTORY, strlen(DIRECTORY)) != 0)
        return true;
    struct event event = { .zxid = t->zxid,
                           .session = t->session,
                           .type = t->type,
                           .voters = e->voter,
                           .time_ms = true_time(t->time_ms, e->near_ms) };
    (void)snprintf(event.path, sizeof(event.path), "%.*s",
                   (int)sizeof(event.path) - 1, t->path);
    PUSH(e->all, e->count, event);
    return true;
}

static int by_zxid(const void *a, const void *b)
{
    return judge_compare(((const struct event *)a)->zxid,
                         ((const struct event *)b)->zxid);
}

/* A transaction is believed when two of the three have it: what a leader wrote
 * before it was cut off may never have been committed. */
static void read_truth(struct history truth[LOCKS], struct outcome *o)
{
    struct events events = { .near_ms = real_ms() };

    for (int host = 1; host < HOSTS; host++) {
        events.voter = 1u << host;
        if (!txn_log_read(cluster_server(host), add_event, &events))
            die("transaction logs");
        /* One transaction in several logs becomes one with several voters. */
        struct event *all = events.all;
        size_t kept = 0;
        qsort(all, events.count, sizeof(*all), by_zxid);
        for (size_t i = 0; i < events.count; i++) {
            if (kept > 0 && all[kept - 1].zxid == all[i].zxid)
                all[kept - 1].voters |= all[i].voters;
            else
                all[kept++] = all[i];
        }
        events.count = kept;
    }
    for (int i = 0; i < LOCKS; i++)
        truth[i].directory = lock_specs[i].path;
    o->transactions = (long)events.count;
    for (const struct event *e = events.all; e < events.all + events.count;
         e++) {
        struct txn txn = { .session = e->session,
                           .zxid = e->zxid,
                           .time_ms = e->time_ms,
                           .type = e->type };

        if ((e->voters & (e->voters - 1)) == 0) {
            o->disputed++;
            continue;
        }
        (void)snprintf(txn.path, sizeof(txn.path), "%s", e->path);
        for (int i = 0; i < LOCKS; i++) {
            if (!history_add(&truth[i], &txn))
                abort();
        }
    }
    free(events.all);
}

/* -- journals ------------------------------------------------------------- */

static void add_journal_of_nemesis(const struct nemesis *nemesis,
                                   struct evidence *e)
{
    size_t count;
    struct note *notes = journal_read(nemesis->dir, NEMESIS, 0, 0, &count);
    struct window w = { .stopped = false };

    for (size_t i = 0; i < count; i++) {
        const struct note *n = &notes[i];
        struct excuse x = { .at = n->at, .lock = -1, .until = n->at };

        if (n->kind == NOTE_BEGIN)
            e->drift = llabs(e->boot_minus_real - (n->at - n->a * MS));
        else if (n->kind == NOTE_FAULT)
            w = (struct window){ .begin = n->at };
        else if (n->kind == NOTE_STOP)
            w.stopped = true;
        else if (n->kind == NOTE_HEALED) {
            w.end = n->at;
            PUSH(e->faults, e->fault_count, w);
        } else if (n->kind == NOTE_EXPIRE)
            x.session = n->a;
        else if (n->kind == NOTE_DELETE)
            x.token = n->a;
        else if (n->kind == NOTE_CLEAR) {
            x.lock = (int)n->a;
            x.at = n->b;
        }
        if (x.session != 0 || x.token != 0 || x.lock >= 0)
            PUSH(e->excuses, e->excuse_count, x);
    }
    free(notes);
}

/* A client that may have been stopped meanwhile may be late. */
static bool may_be_stopped(const struct evidence *e, int64_t from, int64_t to)
{
    for (size_t i = 0; i < e->fault_count; i++) {
        const struct window *w = &e->faults[i];

        if (w->stopped && w->begin < to && w->end > from)
            return true;
    }
    return false;
}

static void count_notes(const struct evidence *e, const struct note *notes,
                        size_t count, struct outcome *o)
{
    struct note begin = { .kind = 0 };

    for (size_t i = 0; i < count; i++) {
        const struct note *n = &notes[i];

        if (n->kind == NOTE_ACCESS)
            o->refused += n->b == 0;
        else if (n->kind == NOTE_BEGIN)
            begin = *n;
        else if (n->kind == NOTE_END)
            o->leaks += n->a > begin.a || n->b > begin.b;
        else if (n->kind == NOTE_WRONG && n->a != WRONG_LATE)
            o->broken_promises++;
        else if (n->kind == NOTE_WRONG &&
                 !may_be_stopped(e, n->at - n->b * MS, n->at)) {
            o->late_calls++;
            o->latest_ms = n->b > o->latest_ms ? n->b : o->latest_ms;
        }
    }
}

/* Of all clients, the journals of that thread. */
static void add_journals(const struct nemesis *n, int thread,
                         struct evidence *e, struct outcome *o)
{
    for (int i = 0; i < WORKERS; i++) {
        for (int g = 0; g < n->generations[i]; g++) {
            size_t count;
            struct note *notes = journal_read(n->dir, i, g, thread, &count);

            if (notes == NULL)
                continue;
            evidence_add(e, (int)o->runs++, notes, count);
            count_notes(e, notes, count, o);
            free(notes);
        }
    }
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int percentile(const struct nemesis *n, int percent)
{
    size_t rank = (n->recovery_count * (size_t)percent + 99) / 100;

    return n->recovery_count == 0 ? 0 : n->recoveries[rank > 0 ? rank - 1 : 0];
}

/* Reads what the clients and the test have written, and sorts the recoveries.
 * Of clients that trust the locks it judges only what can be judged without the
 * logs of the servers. */
static void outcome_find(struct nemesis *n, struct outcome *o)
{
    struct history truth[LOCKS] = { { .count = 0 } };
    struct evidence e = {
        .truth = n->trusting ? NULL : truth,
        .leased = !n->trusting,
        .boot_minus_real = boot_ns() - clock_ns(CLOCK_REALTIME),
        .complaints = n->trusting ? NULL : stderr,
    };

    if (!n->trusting)
        read_truth(truth, o);
    add_journal_of_nemesis(n, &e);
    for (int thread = 0; thread < THREADS; thread++)
        add_journals(n, thread, &e, o);
    for (int i = 0; i < LOCKS; i++) {
        struct resource r = resource_open(n->dir, i, false);

        e.accepted[i] = resource_accepted(&r, &e.accepted_count[i]);
        resource_close(&r);
    }
    check(&e, &o->verdict);
    for (int i = 0; i < LOCKS; i++) {
        free((void *)e.accepted[i]);
        free(truth[i].lives);
    }
    evidence_free(&e);
    if (n->recovery_count > 0)
        qsort(n->recoveries, n->recovery_count, sizeof(int), by_value);
    o->usual_ms = percentile(n, 99);
    for (int i = 0; i < fault_count; i++) {
        o->faults += n->counts[i];
        o->kinds += n->counts[i] > 0;
    }
}

/* -- the report, line by line --------------------------------------------- */

static void report(const struct outcome *o, const struct nemesis *n)
{
    const struct verdict *v = &o->verdict;
    const long *broken = v->broken.counts;
    const struct {
        const char *what;
        long count;
    } lines[] = {
        { "overlaps of claims", broken[JUDGE_OVERLAP] },
        { "claims beyond the limit of a semaphore", broken[JUDGE_CROWDED] },
        { "claims beyond the end of their node", broken[JUDGE_LATE] },
        { "tokens not above those before", broken[JUDGE_DISORDER] },
        { "tokens, with hand-offs, of two grants", broken[JUDGE_TWICE] },
        { "tokens that no server knows", broken[JUDGE_UNKNOWN] },
        { "grants out of turn", broken[JUDGE_EARLY] },
        { "nodes that went before one ahead", broken[JUDGE_PASSED] },
        { "stale accesses accepted", broken[JUDGE_STALE] },
        { "nodes left at the end", broken[JUDGE_LEFT] },
        { "nodes there 2T after they were given up", v->orphans },
        { "updates lost (nothing promised)", v->lost_updates },
        { "calls 1 s beyond their deadline", o->late_calls },
        { "the latest of them, in ms", o->latest_ms },
        { "wrong depths and tokens in clients", o->broken_promises },
        { "clients that did not come to their end", o->stuck_clients },
        { "descriptors and threads left in clients", o->leaks },
    };

    printf("\n");
    for (int i = 0; i < fault_count; i++)
        printf("%-26s %5d\n", faults[i].name, n->counts[i]);
    printf("%-26s %5d of %d kinds\n", "faults", o->faults, o->kinds);
    printf("replies swallowed: %ld of creates, %ld of deletes; requests "
           "throttled: %ld\n",
           n->creates_swallowed, n->deletes_swallowed, n->throttled);
    printf("next grant after a fault has healed, in ms: median %d, p99 %d (at "
           "most %d), longest %d (at most %d); stuck: %d\n",
           percentile(n, 50), o->usual_ms, USUAL_MS, percentile(n, 100),
           LONGEST_MS, n->stuck);
    printf("\n%ld grants in %.0f s, %ld of them for writing, %ld over before "
           "they were told, %ld handed on; %ld nodes; %ld runs of threads\n",
           v->grants, o->seconds, v->writes, v->empty, v->handed_on, v->nodes,
           o->runs);
    printf("%ld transactions, %ld of them in one log only; stale accesses "
           "refused: %ld\n",
           o->transactions, o->disputed, o->refused);
    if (v->margin_ms != INT32_MAX)
        printf("least time between a lease and the end of its session: %ld "
               "ms\n",
               v->margin_ms);
    if (v->asked > 0)
        printf("share of the time that holders were told yes: %.2f %%\n",
               100.0 * (double)v->sure / (double)v->asked);
    for (size_t i = 0; i < COUNT(lines); i++)
        printf("%-44s %8ld\n", lines[i].what, lines[i].count);
    (void)fflush(stdout);
}

/* -- a part: the soak, or its negative control ---------------------------- */

static struct nemesis begin(const char *name, bool trusting)
{
    const char *dir = make_dir(name);
    struct nemesis n = { .proxy = proxy,
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
    if (!cluster_find_cast(&n->stroke.cast))
        n->broken = true;
    if (n->broken)
        printf("soak: a server or a client did not come back\n");
    sleep_ms(SETTLE_MS); /* for the last transactions to be everywhere */
    admin_close(n->admin);
    (void)close(n->journal);
    outcome_find(n, &o);
    return o;
}

/* -- the soak ------------------------------------------------------------- */

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
static bool is_enough(const struct outcome *o)
{
    if (getenv("ZKR_FAULT") != NULL)
        return true;
    if (o->seconds < LONG_RUN_S)
        return o->kinds >= fault_count / SHORT - 1 && o->verdict.handed_on > 0;
    return o->verdict.grants >= GOAL_GRANTS && o->faults >= GOAL_FAULTS &&
           o->kinds >= GOAL_KINDS && o->refused >= GOAL_REFUSED;
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
    else if (!is_enough(&o))
        printf("soak: too little was done\n");
    return good && is_enough(&o);
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
    const char *clocks = textf("%s/wall-clock", scratch);
    days_of = map_file(clocks, WALL_CLOCK_PIDS);
    if (setenv(WALL_CLOCK_FILE, clocks, 1) != 0 ||
        setenv("LD_PRELOAD", beside("libsoak_clock.so"), 1) != 0)
        die("wall clocks");
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
    cluster_stop();
    guard_finish(&guard);
    return good ? 0 : 1;
}
