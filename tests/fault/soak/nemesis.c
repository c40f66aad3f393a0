/* SPDX-License-Identifier: Apache-2.0 */
/* The nemesis: has the clients, injects faults one after the other, each of
 * which strikes and heals, and measures the recovery from each. */
#include "nemesis.h"

#include <errno.h>
#include <signal.h>

#include <sys/wait.h>

#include "expire.h"
#include "server_private.h"
#include "spawn.h"
#include "wait.h"

void nemesis_note(const struct nemesis *n, char kind, int64_t a, int64_t b)
{
    journal_write(n->journal, kind, a, b, 0);
}

/* -- clients -------------------------------------------------------------- */

void client_start(struct nemesis *n, int worker)
{
    char *argv[] = { (char *)n->program,
                     (char *)n->dir,
                     (char *)textf("%d", worker),
                     (char *)textf("%d", n->generations[worker]++),
                     (char *)n->hosts[worker % 2],
                     n->trusting ? "control" : NULL,
                     NULL };

    n->pids[worker] = spawn_bound(argv, -1, STDERR_FILENO);
    n->broken = n->broken || n->pids[worker] <= 0;
}

static void client_kill(struct nemesis *n, int worker)
{
    if (n->pids[worker] <= 0)
        return;
    (void)kill(n->pids[worker], SIGKILL);
    (void)waitpid(n->pids[worker], NULL, 0);
    n->pids[worker] = 0;
    atomic_store(&n->board->seats[worker].grants, 0);
    atomic_store(&n->board->seats[worker].session, 0);
}

int clients_finish(struct nemesis *n)
{
    int64_t end = now_ms() + HEALTHY_MS;
    int stuck = 0;

    atomic_store(&n->board->stop, true);
    for (int i = 0; i < WORKERS; i++) {
        int status = -1;

        if (n->pids[i] <= 0)
            continue;
        if (!COMES(waitpid(n->pids[i], &status, WNOHANG) != 0, end - now_ms()))
            client_kill(n, i);
        n->pids[i] = 0;
        if (status == 0)
            continue;
        (void)fprintf(stderr, "client %d ended with %x\n", i, (unsigned)status);
        stuck++;
    }
    return stuck;
}

/* Choose `count` different clients; with `holders`, those that hold a lock come
 * first. */
static void clients_pick(const struct nemesis *n, bool holders, int count,
                         int *workers)
{
    bool taken[WORKERS] = { false };
    int found = 0;

    for (int round = 0; round < 2; round++) {
        int first = (int)(drand48() * WORKERS);

        for (int i = 0; i < WORKERS && found < count; i++) {
            int worker = (first + i) % WORKERS;
            bool holds = atomic_load(&n->board->seats[worker].grants) != 0;

            if ((holds || !holders || round == 1) && !taken[worker]) {
                taken[worker] = true;
                workers[found++] = worker;
            }
        }
    }
}

/* -- the faults ----------------------------------------------------------- */

enum { FAILING_MS = 3000 }; /* for a server to notice that its disk is full */

static struct server *hit(const struct nemesis *n)
{
    return cluster_server(n->stroke.host);
}

/* A fault, or its end, by one call. */
#define STEP(name, call)                                                       \
    static void name(struct nemesis *n)                                        \
    {                                                                          \
        call;                                                                  \
    }

/* Servers */

static void restart(struct nemesis *n)
{
    if (cluster_restart(n->stroke.host) != SERVER_OK)
        n->broken = true;
}

STEP(kill_host, server_kill9(hit(n)))
STEP(pause_host, server_pause(hit(n)))
STEP(resume, server_resume(hit(n)))

/* A server that cannot write its log leaves the ensemble, or exits. */
static bool serves(const struct server *server)
{
    return server_has_mode(server, "leader") ||
           server_has_mode(server, "follower");
}

static const char *ballast(const struct nemesis *n)
{
    return textf("%s/log%d/ballast", n->scratch, n->stroke.host);
}

/* It is killed while the disk is full. When there is room again, a server goes
 * on behind the record that it could not finish; at its next start it skips the
 * rest of that file without a word, and shows nodes that are gone. */
static void fill_disk(struct nemesis *n)
{
    static const char zeros[1 << 16];
    int fd = open(ballast(n), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        die(ballast(n));
    while (write(fd, zeros, sizeof(zeros)) > 0)
        ;
    n->stroke.in_vain = errno != ENOSPC || !COMES(!serves(hit(n)), FAILING_MS);
    (void)close(fd);
    server_kill9(hit(n));
}

static void drain_disk(struct nemesis *n)
{
    (void)unlink(ballast(n));
    restart(n);
}

/* Links */

STEP(cut_follower, cluster_cut(n->stroke.cast.follower, n->stroke.cast.leader))
STEP(isolate_leader, cluster_isolate(n->stroke.cast.leader))
STEP(mend_servers, cluster_mend(n->stroke.host))

STEP(cut_requests, cluster_block(HERE, n->stroke.host))
STEP(cut_replies, cluster_block(n->stroke.host, HERE))

/* From two of the servers. */
static void cut_clients(struct nemesis *n)
{
    cluster_cut(HERE, n->stroke.host);
    cluster_cut(HERE, n->stroke.host % SERVERS + 1);
}

STEP(mend_clients, cluster_heal())

static void reset(struct nemesis *n)
{
    proxy_cut(n->proxy);
    for (int host = 1; host < HOSTS; host++)
        cluster_break(HERE, host);
}

STEP(open_proxy, proxy_heal(n->proxy))

static void restart_with(struct nemesis *n, const char *const *options)
{
    server_kill9(hit(n));
    server_set_java_opts(hit(n), options);
    restart(n);
}

/* A server takes one request at a time, and refuses those that had to wait. */
static void throttle(struct nemesis *n)
{
    static const char *const options[] = {
        "-Dzookeeper.request_throttle_max_requests=1",
        "-Dzookeeper.request_throttle_stall_time=20",
        "-Dzookeeper.throttled_op_wait_time=1", NULL
    };

    restart_with(n, options);
    reset(n); /* or it would have no clients */
    proxy_heal(n->proxy);
}

static void unthrottle(struct nemesis *n)
{
    long count = server_metric(hit(n), "zk_throttled_ops");

    n->throttled += count > 0 ? count : 0;
    restart_with(n, NULL);
}

enum { SWALLOWED = 8, SWALLOW_MS = 2000 };

/* Counts how many have been swallowed. */
static void swallow(struct nemesis *n, int32_t type, long *sum)
{
    int done = 0;

    for (int i = 0; i < SWALLOWED; i++) {
        proxy_rule(n->proxy, type, random_between(1, 3), PROXY_DROP_REPLY);
        done += proxy_wait_rule(n->proxy, SWALLOW_MS);
        proxy_forget_rules(n->proxy);
    }
    *sum += done;
    n->stroke.in_vain = done == 0;
}

STEP(swallow_creates, swallow(n, ZOO_CREATE2_OP, &n->creates_swallowed))
STEP(swallow_deletes, swallow(n, ZOO_DELETE_OP, &n->deletes_swallowed))
STEP(delay_replies, proxy_set_latency(n->proxy, random_between(50, 800)))
STEP(hurry, proxy_set_latency(n->proxy, 0))

/* Sessions and clients */

enum { EXPIRED = 4, STOPPED = 5, KILLED = 3, JUMPING = 5 };

static void expire(struct nemesis *n)
{
    const char *hosts = server_hosts(cluster_server(n->stroke.cast.leader));
    int workers[EXPIRED];
    int done = 0;

    clients_pick(n, true, EXPIRED, workers);
    for (int i = 0; i < EXPIRED; i++) {
        int64_t session = atomic_load(&n->board->seats[workers[i]].session);

        if (session == 0)
            continue;
        nemesis_note(n, NOTE_EXPIRE, session, 0);
        done += session_kill_by_id(hosts, session) == 0;
    }
    n->stroke.in_vain = done == 0;
}

static void choose_clients(struct nemesis *n, int count, char kind)
{
    struct stroke *s = &n->stroke;

    s->count = count;
    clients_pick(n, drand48() < 0.7, count, s->workers);
    for (int i = 0; i < count; i++)
        nemesis_note(n, kind, s->workers[i], 0);
}

static void signal_clients(struct nemesis *n, int signal)
{
    for (int i = 0; i < n->stroke.count; i++) {
        pid_t pid = n->pids[n->stroke.workers[i]];

        if (pid > 0)
            (void)kill(pid, signal);
    }
}

static void stop_clients(struct nemesis *n)
{
    choose_clients(n, STOPPED, NOTE_STOP);
    signal_clients(n, SIGSTOP);
}

STEP(continue_clients, signal_clients(n, SIGCONT))

static void kill_clients(struct nemesis *n)
{
    choose_clients(n, KILLED, NOTE_KILL);
    for (int i = 0; i < KILLED; i++)
        client_kill(n, n->stroke.workers[i]);
}

static void replace_clients(struct nemesis *n)
{
    for (int i = 0; i < n->stroke.count; i++)
        client_start(n, n->stroke.workers[i]);
}

/* Nodes */

/* It only ends a hang. */
#define DELETE_MS 90000

/* The first of the queue, or any. */
static bool delete_one(struct nemesis *n, int lock, bool first)
{
    struct Stat stat;
    char **names;
    size_t count;
    bool done = false;

    if (admin_children(n->admin, lock_specs[lock].path, &names, &count) != ZOK)
        return false;
    if (count > 0) {
        const char *name = names[first ? 0 : random_between(0, (int)count - 1)];
        const char *path = textf("%s/%s", lock_specs[lock].path, name);

        if (admin_exists(n->admin, path, &stat) == ZOK) {
            nemesis_note(n, NOTE_DELETE, stat.czxid, 0);
            done = admin_delete(n->admin, path) == ZOK;
        }
    }
    admin_children_free(names, count);
    return done;
}

static void delete_nodes(struct nemesis *n)
{
    int done = 0;

    for (int i = 0; i < 60 && done < 6; i++)
        done += delete_one(n, i % LOCKS, drand48() < 0.5);
    n->stroke.in_vain = done == 0;
}

/* New contenders come while nodes are deleted, and to a lock with many of them
 * sooner than one can delete: so each turn takes another lock. */
static void delete_parent(struct nemesis *n)
{
    int64_t end = boot_ns() + DELETE_MS * INT64_C(1000000);
    int rc = ZNOTEMPTY;

    while (rc != ZOK && boot_ns() < end) {
        int lock = random_between(0, LOCKS - 1);
        int64_t begin = boot_ns();

        rc = admin_delete_tree(n->admin, lock_specs[lock].path);
        nemesis_note(n, NOTE_CLEAR, lock, begin);
    }
    n->stroke.in_vain = rc != ZOK;
}

/* Clocks */

static void set_clocks(struct nemesis *n, int days)
{
    for (int i = -1; i < n->stroke.count; i++) {
        pid_t pid = i < 0 ? server_pid(hit(n)) : n->pids[n->stroke.workers[i]];

        if (pid > 0 && pid < WALL_CLOCK_PIDS)
            n->days_of[pid] = (int8_t)days;
    }
}

static void jump(struct nemesis *n)
{
    n->stroke.count = JUMPING;
    clients_pick(n, true, n->stroke.count, n->stroke.workers);
    set_clocks(n, drand48() < 0.5 ? random_between(1, 100)
                                  : -random_between(1, 100));
}

STEP(jump_back, set_clocks(n, 0))

enum { T = SESSION_MS, LONG = SESSION_MS + SOAK_TICK_MS };

const struct fault faults[] = {
    { "leader killed", 1, LEADER, 200, 2000, kill_host, restart },
    { "follower killed", 1, FOLLOWER, 200, 2000, kill_host, restart },
    { "leader stopped, < T", 1, LEADER, 200, T - 1000, pause_host, resume },
    { "leader stopped, > T", 1, LEADER, LONG, LONG + 1500, pause_host, resume },
    { "follower stopped", 1, FOLLOWER, 200, LONG + 1000, pause_host, resume },
    { "follower cut from leader", 1, FOLLOWER, LONG, LONG + 2000, cut_follower,
      mend_servers },
    { "leader isolated", 1, LEADER, LONG, LONG + 2000, isolate_leader,
      mend_servers },
    { "requests lost", 1, ANY, 300, T, cut_requests, mend_clients },
    { "replies lost", 1, ANY, 300, T, cut_replies, mend_clients },
    { "clients cut off", 1, ANY, 300, LONG, cut_clients, mend_clients },
    { "connections reset", 2, NONE, 0, 300, reset, open_proxy },
    { "create replies swallowed", 2, NONE, 0, 0, swallow_creates, NULL },
    { "delete replies swallowed", 2, NONE, 0, 0, swallow_deletes, NULL },
    { "replies delayed", 1, NONE, 300, T - 1000, delay_replies, hurry },
    { "sessions expired", 3, NONE, 0, 0, expire, NULL },
    { "clients stopped, < T", 2, NONE, T / 2, T - 100, stop_clients,
      continue_clients },
    { "clients stopped, > T", 2, NONE, LONG, LONG + 1000, stop_clients,
      continue_clients },
    { "clients killed", 1, NONE, 0, 500, kill_clients, replace_clients },
    { "nodes deleted", 2, NONE, 0, 0, delete_nodes, NULL },
    { "directory deleted", 2, NONE, 0, 0, delete_parent, NULL },
    { "disk full", 1, ANY, 0, 1000, fill_disk, drain_disk },
    { "throttled", 1, FOLLOWER, 500, 2000, throttle, unthrottle },
    { "wall clock jumps", 1, ANY, 200, 2000, jump, jump_back },
};

const int fault_count = COUNT(faults);
_Static_assert(COUNT(faults) <= KINDS_MAX, "too many");

/* -- one after the other -------------------------------------------------- */

int nemesis_find(const char *name)
{
    for (int i = 0; i < fault_count; i++) {
        if (strcmp(faults[i].name, name) == 0)
            return i;
    }
    return -1;
}

int nemesis_round(bool once, int ret[static ROUND_MAX])
{
    int count = 0;

    for (int i = 0; i < fault_count; i++) {
        int times = once ? 1 : faults[i].per_round;

        for (int j = 0; j < times && count < ROUND_MAX; j++)
            ret[count++] = i;
    }
    for (int i = count - 1; i > 0; i--) {
        int j = random_between(0, i);
        int kind = ret[i];

        ret[i] = ret[j];
        ret[j] = kind;
    }
    return count;
}

/* Recovery */

/* Asks all at once, each for its time. Returns how many were not granted. */
static int await_grants(struct nemesis *n, const long *before, int *took_ms)
{
    int64_t began = now_ms();
    int missing = LOCKS;

    for (int i = 0; i < LOCKS; i++)
        took_ms[i] = -1;
    while (missing > 0 && now_ms() < began + HEALTHY_MS) {
        for (int i = 0; i < LOCKS; i++) {
            if (took_ms[i] < 0 &&
                atomic_load(&n->board->grants[i]) > before[i]) {
                took_ms[i] = (int)(now_ms() - began);
                missing--;
            }
        }
        sleep_ms(2);
    }
    return missing;
}

static void recover(struct nemesis *n)
{
    long before[LOCKS];
    int took_ms[LOCKS];

    for (int i = 0; i < LOCKS; i++)
        before[i] = atomic_load(&n->board->grants[i]);
    (void)await_grants(n, before, took_ms);
    for (int i = 0; i < LOCKS; i++) {
        if (took_ms[i] < 0 || took_ms[i] > LONGEST_MS) {
            n->stuck++;
            nemesis_note(n, NOTE_STUCK, i, took_ms[i]);
        }
        if (took_ms[i] < 0)
            continue;
        nemesis_note(n, NOTE_RECOVERED, i, took_ms[i]);
        PUSH(n->recoveries, n->recovery_count, took_ms[i]);
    }
}

bool nemesis_wait_granted(struct nemesis *n)
{
    const long none[LOCKS] = { 0 };
    int took_ms[LOCKS];

    return await_grants(n, none, took_ms) == 0;
}

void nemesis_strike(struct nemesis *n, int kind)
{
    const struct fault *f = &faults[kind];
    struct stroke *s = &n->stroke;

    *s = (struct stroke){ .count = 0 };
    if (!cluster_find_cast(&s->cast)) {
        n->broken = true;
        return;
    }
    s->host = f->hit == ANY        ? random_between(1, SERVERS)
              : f->hit == LEADER   ? s->cast.leader
              : f->hit == FOLLOWER ? s->cast.follower
                                   : 0;
    nemesis_note(n, NOTE_FAULT, kind, 0);
    f->strike(n);
    if (!s->in_vain)
        sleep_ms(random_between(f->least_ms, f->most_ms));
    if (f->heal != NULL)
        f->heal(n);
    nemesis_note(n, NOTE_HEALED, kind, 0);
    n->counts[kind] += !s->in_vain;
    if (s->in_vain)
        (void)fprintf(stderr, "soak: '%s' did not succeed\n", f->name);
    recover(n);
}
