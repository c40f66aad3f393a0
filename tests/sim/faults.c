/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of servers, links, processes and nodes, until the calm. */
#include "oracle.h"

static int64_t left(void)
{
    return world.calm - sim_now;
}

static int64_t some_time(void)
{
    int64_t duration =
        DRAW(int64_t, 20, 100, 300, 700, 1000, 1500, 2700, 4500, 7000, 12000) *
        MS;

    return duration < left() ? duration : left();
}

static int some_process(void)
{
    return (int)choose((uint32_t)world.process_count);
}

static int some_replica(void)
{
    return (int)choose((uint32_t)ensemble.places);
}

static void break_connections(void)
{
    int process = some_process();

    world_trace("process %d: connections are reset", process);
    server_reset_connections(process);
}

static void cut_one(void)
{
    int process = some_process();
    int replica = some_replica();

    server_cut(process, replica, (int)choose(3) + 1, some_time());
}

static void cut_all(void)
{
    int process = some_process();
    int directions = (int)choose(3) + 1;
    int64_t duration = some_time();

    for (int r = 0; r < PLACES; r++)
        server_cut(process, r, directions, duration);
}

static void stall_link(void)
{
    int from = (int)choose(REPLICAS);
    int to = (from + 1 + (int)choose(2)) % REPLICAS;
    int64_t duration = some_time();

    if (choose(3) < 2)
        ensemble_stall(from, to, duration);
    else
        ensemble_stall(to, from, duration);
    if (choose(2) == 1)
        ensemble_stall(to, from, some_time());
}

static void on_link_breaks(void *arg, uint64_t tag)
{
    ensemble_stall((int)tag / REPLICAS, (int)tag % REPLICAS, left());
}

/* Messages of the leader come late, and the answers to them are lost. */
static void stall_and_break(void)
{
    int leader = ensemble.leader;
    int follower = (leader + 1 + (int)choose(2)) % REPLICAS;
    int64_t duration = world.timeout * (int64_t)(2 + choose(7)) / 8;

    if (leader == NO_REPLICA || duration >= left())
        return;
    ensemble_stall(leader, follower, duration);
    events_at(sim_now + duration, on_link_breaks, NULL,
              (uint64_t)(follower * REPLICAS + leader));
}

static void isolate(void)
{
    int replica = choose(2) == 0 ? ensemble.leader : some_replica();
    int64_t detect = DRAW(int64_t, 10, 500, 2000, 5000) * MS;

    if (detect > world.sync_limit)
        detect = world.sync_limit;
    ensemble_isolate(replica, detect, some_time());
}

static void kill_session(void)
{
    if (ensemble.session_count > 0)
        ensemble_kill_session((int)choose((uint32_t)ensemble.session_count));
}

#define TURNS_PATH WORLD_PATH "/locks"

/* The directory of the lock; one of the two of a semaphore, or of those of
 * several locks. */
static const char *lock_dir(void)
{
    if (world.recipe == MULTI)
        return world_paths[choose(WORLD_PATHS)];
    if (world.recipe != SEMAPHORE)
        return WORLD_PATH;
    return choose(2) == 0 ? WORLD_PATH "/leases" : TURNS_PATH;
}

static struct node *some_node(const char *path)
{
    const struct node *dir = tree_find(path, ensemble.committed);
    size_t count = tree_count_children(dir, ensemble.committed);
    struct node *n;

    if (count == 0)
        return NULL;
    count = choose((uint32_t)count);
    for (n = dir->children; n != NULL; n = n->next_sibling) {
        if (is_there(n) && count-- == 0)
            break;
    }
    return n;
}

struct node *world_lock_node(void)
{
    return some_node(lock_dir());
}

/* Operators come to the double barrier, too, as soon as there is one. */
static const char *some_dir(void)
{
    return gathers_at_both() && choose(2) == 1 ? DOUBLE_PATH : lock_dir();
}

static void delete_node(void)
{
    const struct node *n = some_node(some_dir());

    if (n != NULL)
        operator_deletes(n->path);
}

/* A session ends, and one replica keeps its node. */
static void haunt(void)
{
    struct node *n = world_lock_node();

    if (n == NULL || n->session == NO_SESSION || world.recipe == UNFAIR ||
        strstr(n->name, "-lease-") != NULL)
        return;
    n->haunts = 1 + some_replica();
    world.ghosts++;
    world_trace("replica %d will keep %s", n->haunts - 1, n->path);
    ensemble_kill_session(n->session);
}

static void write_node(void)
{
    const struct node *n = some_node(some_dir());

    if (n != NULL)
        operate(ZKR__ZK_SET, ZKR_CREATE_PERSISTENT, n->path,
                choose(2) == 0 ? "__REVOKE__" : "?");
}

static void delete_directory(const char *path)
{
    if (tree_find(path, ensemble.committed) == NULL)
        return;
    operator_deletes_all(path, "");
    operator_deletes(path);
}

static void delete_some_directory(void)
{
    delete_directory(some_dir());
}

/* -- a directory that is made again --------------------------------------- */

#define STRANGER      "/_c_57ca8e00-0000-4000-8000-000000000000-"
#define STRANGERS_MAX 40

/* Repeated beyond the calm: a create may be carried out late. */
static void on_strangers_go(void *arg, uint64_t tag)
{
    operator_deletes_all(arg, STRANGER);
    if (sim_now < world.calm + 5 * world.timeout)
        events_at(sim_now + 200 * MS, on_strangers_go, arg, tag);
}

/* Others make the directory again, and are the first in it: up to the numbers
 * that ours had, mostly. Some of them stay for a while. Strangers in the other
 * directory of a semaphore would take up its permits. */
static void remake_directory(void)
{
    const char *where = world.recipe == SEMAPHORE ? TURNS_PATH
                        : world.recipe == MULTI   ? lock_dir()
                                                  : WORLD_PATH;
    const struct node *dir = tree_find(where, ensemble.committed);
    uint32_t before = dir == NULL ? 0 : (uint32_t)dir->cversion;
    uint32_t count = before < STRANGERS_MAX && choose(4) > 0
                         ? before
                         : choose(STRANGERS_MAX);
    const char *marker = world.recipe == LATCH ? "latch-"
                         : world.recipe == RWLOCK
                             ? DRAW(char *, "lock-", "__WRIT__", "__READ__")
                             : "lock-";
    char path[128];

    delete_directory(where);
    operate(ZKR__ZK_CREATE, ZKR_CREATE_PERSISTENT, where, "");
    (void)snprintf(path, sizeof(path), "%s%s%s", where, STRANGER, marker);
    for (uint32_t i = 0; i < count; i++)
        operate(ZKR__ZK_CREATE, ZKR_CREATE_EPHEMERAL_SEQUENTIAL, path, "");
    for (uint32_t i = 0; i < count; i++) {
        (void)snprintf(path, sizeof(path), "%s%s%s%010u", where, STRANGER,
                       marker, i);
        if (i + 1 < count || choose(2) == 0)
            operator_deletes(path);
    }
    events_at(sim_now + some_time(), on_strangers_go,
              arena_copy(where, strlen(where)), 0);
}

/* All nodes of one session, or of all, and not the directory. */
static void delete_nodes(void)
{
    const struct node *dir = tree_find(some_dir(), ensemble.committed);
    uint32_t some = choose(2) == 0 ? 0 : choose(256);

    if (dir == NULL)
        return;
    for (const struct node *n = dir->children; n != NULL;
         n = n->next_sibling, some >>= 1) {
        if (is_there(n) && (some & 1) == 0)
            operator_deletes(n->path);
    }
}

static void create_stranger(void)
{
    operate(ZKR__ZK_CREATE, ZKR_CREATE_PERSISTENT,
            DRAW(char *, WORLD_PATH "/a", WORLD_PATH "/_c_-lock-",
                 WORLD_PATH "/x-1-0000000001", WORLD_PATH "/lock-x",
                 WORLD_PATH "/__WRIT__"),
            "");
}

static void on_calm_nerve(void *nerve, uint64_t tag)
{
    *(uint32_t *)nerve = 0;
}

static void touch_nerve(uint32_t *nerve, const char *what)
{
    uint32_t one_in = 2 + choose(40);
    int64_t duration = some_time();

    world_trace("for %lld ms, once in %u: %s", (long long)(duration / MS),
                one_in, what);
    *nerve = one_in;
    events_at(sim_now + duration, on_calm_nerve, nerve, 0);
}

/* A leader that does not know that there is another, and clients that come to
 * it. */
static void desert(void)
{
    ensemble_isolate(ensemble.leader, 10 * MS, some_time());
    touch_nerve(&nerves.cut, "a connection breaks");
}

/* A permission or two on the directory or the nodes of the lock, mostly. */
static void deny(void)
{
    uint32_t permissions = 1u << choose(5);
    int depth = DRAW(int, 2, 3, 2, 3, 2, 3, 1, 0);
    int process = choose(2) == 0 ? -1 : some_process();

    if (choose(2) == 0)
        permissions |= 1u << choose(5);
    acls_deny(permissions, depth, process, some_time());
}

static void on_near(void *arg, uint64_t tag)
{
    server_far(0);
}

/* Round trips of up to a third of a timeout. */
static void go_far(void)
{
    server_far(world.timeout * (int64_t)(1 + choose(8)) / 48);
    events_at(sim_now + some_time(), on_near, NULL, 0);
}

/* The leader takes its time between finding that sessions have run out and
 * closing them; and what tells it of a follower's clients comes late. */
static void crowd(void)
{
    int leader = ensemble.leader;
    int follower = (leader + 1 + (int)choose(2)) % REPLICAS;
    int64_t duration = world.timeout + world.tick * (int64_t)choose(9) / 8;

    ensemble.pass = (1 + choose(249)) * MS;
    if (leader != NO_REPLICA && duration < left() && choose(2) == 1)
        ensemble_stall(follower, leader, duration);
}

/* Of the link between the observer and its leader, or a voter. */
static void stall_observer(void)
{
    int other = choose(2) == 0 ? ensemble.leader : (int)choose(REPLICAS);

    if (ensemble.places == REPLICAS || other == NO_REPLICA)
        return;
    if (choose(2) == 0)
        ensemble_stall(OBSERVER, other, some_time());
    else
        ensemble_stall(other, OBSERVER, some_time());
}

static void on_beacon(void *arg, uint64_t every)
{
    operate(ZKR__ZK_SET, ZKR_CREATE_PERSISTENT, WORLD_BEACON, "!");
    if (left() > 0)
        events_at(sim_now + (int64_t)every, on_beacon, arg, every);
}

/* Others write the beacon: a fleet, or a hostile client. */
static void write_beacon(int64_t every)
{
    events_at(sim_now + every, on_beacon, NULL, (uint64_t)every);
}

static void disturb_beacon(void)
{
    uint32_t how = world.beacon ? choose(4) : UINT32_MAX;

    if (how <= 1)
        operator_deletes(WORLD_BEACON);
    if (how == 1)
        operate(ZKR__ZK_CREATE, ZKR_CREATE_PERSISTENT, WORLD_BEACON, "");
    else if (how == 2)
        acls_deny(1u << choose(2), 1, -1, some_time());
    else if (how == 3)
        write_beacon((5 + choose(50)) * MS);
}

/* A fault, or what happens to a process or a replica for a while, or to one in
 * so many. */
static const struct fault {
    char letter;
    void (*fn)(void);
    void (*lasts)(int number, int64_t duration);
    int (*some)(void);
    uint32_t *nerve;
    const char *what;
    bool scarce; /* the library is refused memory */
} faults[] = {
    { 'r', .fn = break_connections },
    { 'c', .fn = cut_one },
    { 'C', .fn = cut_all },
    { 's', .lasts = process_stop, .some = some_process },
    { 'l', .fn = stall_link },
    { 'L', .fn = stall_and_break },
    { 'i', .fn = isolate },
    { 'x', .lasts = ensemble_crash, .some = some_replica },
    { 'p', .lasts = ensemble_pause, .some = some_replica },
    { 'k', .fn = kill_session },
    { 'd', .fn = delete_node },
    { 'w', .fn = write_node },
    { 'D', .fn = delete_some_directory },
    { 'N', .fn = delete_nodes },
    { 'R', .fn = remake_directory },
    { 'f', .fn = create_stranger },
    { 't', .nerve = &nerves.throttle, .what = "too many requests" },
    { 'n', .nerve = &nerves.cut, .what = "a connection breaks" },
    { 'e', .nerve = &nerves.kill, .what = "a session is ended" },
    { 'z', .nerve = &nerves.stop, .what = "a process is stopped" },
    { 'm', .nerve = &nerves.refuse, .what = "a client is out of memory",
      .scarce = true },
    { 'I', .fn = desert },
    { 'g', .fn = haunt },
    { 'a', .fn = deny },
    { 'M', .nerve = &heap_scarce, .what = "no memory", .scarce = true },
    { 'F', .fn = go_far },
    { 'T', .fn = crowd },
    { 'O', .fn = stall_observer },
    { 'B', .fn = disturb_beacon },
};

#define FAULTS (sizeof(faults) / sizeof(faults[0]))

/* The kinds of faults of this schedule: with fewer kinds each comes more often.
 * Source: Groce, Zhang, Eide, Chen, Regehr, "Swarm testing" (2012). */
static uint32_t kinds;

static bool is_allowed(size_t i)
{
    if (world_limits.faults != NULL)
        return strchr(world_limits.faults, faults[i].letter) != NULL;
    return (kinds >> i & 1) != 0;
}

static void on_fault(void *arg, uint64_t tag)
{
    uint32_t allowed = 0;

    for (size_t i = 0; i < FAULTS; i++)
        allowed += is_allowed(i);
    if (allowed == 0 || left() <= 0)
        return;
    uint32_t which = choose(allowed);
    const struct fault *f = faults;
    while (!is_allowed((size_t)(f - faults)) || which-- > 0)
        f++;
    world.scarce = world.scarce || f->scarce;
    if (f->fn != NULL)
        f->fn();
    if (f->lasts != NULL) {
        int number = f->some();

        f->lasts(number, some_time());
    }
    if (f->nerve != NULL)
        touch_nerve(f->nerve, f->what);
}

void faults_start(void)
{
    uint32_t count = choose(DRAW(uint32_t, 0, 2, 5, 12) + 1);
    uint32_t window = 1000 + choose(15000);
    uint32_t at = 0;

    kinds = choose(2) == 0 ? UINT32_MAX : choose(UINT32_C(1) << FAULTS);
    world.calm = sim_now + window * MS;
    pipe_slow_until = world.calm;
    if (world.beacon && choose(3) > 0)
        write_beacon(world.timeout * (int64_t)(1 + choose(4)) / 20);
    for (uint32_t i = 0; i < count; i++) {
        if (choose(2) == 0)
            at = choose(window);
        else /* together with the one before it, or soon after */
            at += DRAW(uint32_t, 0, 1, 5, 20, 100, 500, 2000);
        events_at(sim_now + at * MS, on_fault, NULL, 0);
    }
}
