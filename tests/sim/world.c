/* SPDX-License-Identifier: Apache-2.0 */
/* The world of one schedule: processes, their threads, and its course. */

#include "oracle.h"

#include <stdarg.h>

OF_SCHEDULE struct world world;
const char *const world_paths[] = { "/locks/items", WORLD_PATH,
                                    "/locks/stock" };
struct world_limits world_limits = { .recipe = -1 };

void world_trace(const char *format, ...)
{
    va_list args;

    if (!world_limits.verbose)
        return;
    (void)printf("%9.3f  ", (double)(sim_now - SIM_BEGIN) / (double)MS);
    va_start(args, format);
    (void)vprintf(format, args);
    va_end(args);
    (void)printf("\n");
}

/* -- the heap of the library ----------------------------------------------- */

OF_SCHEDULE uint32_t heap_scarce;
uint32_t heap_refused;
static long blocks;

static bool gets_nothing(void)
{
    if (heap_refused > 0 && --heap_refused == 0)
        return true;
    return heap_scarce != 0 && one_in(heap_scarce);
}

static void *count(void *p)
{
    blocks += p != NULL;
    return p;
}

WRAP(void *, malloc, (size_t size))
{
    return gets_nothing() ? NULL : count(__real_malloc(size));
}

WRAP(void *, calloc, (size_t n, size_t size))
{
    return gets_nothing() ? NULL : count(__real_calloc(n, size));
}

WRAP(void *, realloc, (void *p, size_t size))
{
    if (p != NULL)
        return __real_realloc(p, size);
    return gets_nothing() ? NULL : count(__real_realloc(p, size));
}

WRAP(char *, strdup, (const char *text))
{
    return gets_nothing() ? NULL : count(__real_strdup(text));
}

WRAP(char *, strndup, (const char *text, size_t len))
{
    return gets_nothing() ? NULL : count(__real_strndup(text, len));
}

WRAP(void, free, (void *p))
{
    blocks -= p != NULL;
    __real_free(p);
}

/* -- the world ------------------------------------------------------------- */

static void on_log(enum zkr_log_level level, const char *line, void *user)
{
    world_trace("    [%d] %s", fiber_process(), line);
}

void world_talk(void)
{
    world_limits.verbose = true;
    zkr_log_set(ZKR_LOG_DEBUG, on_log, NULL);
}

void world_fail(const char *format, ...)
{
    char text[REPORT_MAX];
    va_list args;
    int len =
        snprintf(text, sizeof(text),
                 "at %.3f ms: ", (double)(sim_now - SIM_BEGIN) / (double)MS);

    va_start(args, format);
    (void)vsnprintf(text + len, sizeof(text) - (size_t)len, format, args);
    va_end(args);
    report_failure(text);
}

const char *process_sees(const struct process *p, const char *path)
{
    path += strlen(p->prefix);
    return path[0] == '\0' ? "/" : path;
}

int64_t process_patience(const struct process *p, int64_t timeout_ms)
{
    return (timeout_ms == 0 ? p->opts.reply_timeout_ms : timeout_ms) * MS;
}

int64_t process_stopped_for(int process)
{
    const struct process *p = &world.processes[process];

    return p->stopped_for +
           (fiber_stopped[process] ? sim_now - p->stopped_at : 0);
}

static void on_continue(void *arg, uint64_t tag)
{
    struct process *p = arg;

    world_trace("process %d: goes on", p->number);
    p->stopped_for += sim_now - p->stopped_at;
    fiber_stopped[p->number] = false;
    server_stop_process(p->number, false);
    clients_resume(p->number);
}

void process_stop(int process, int64_t duration)
{
    struct process *p = &world.processes[process];

    if (duration > world.calm - sim_now)
        duration = world.calm - sim_now;
    if (fiber_stopped[process] || duration <= 0)
        return;
    world_trace("process %d: stopped for %lld ms", process,
                (long long)(duration / MS));
    p->stopped_at = sim_now;
    fiber_stopped[process] = true;
    server_stop_process(process, true);
    events_at(sim_now + duration, on_continue, p, 0);
}

/* Runs one of the tasks that are ready; otherwise the next event in time. */
static void step(void)
{
    int fibers = fibers_ready();
    int clients = clients_ready();

    if (fibers + clients > 0) {
        int which = (int)mostly_first((uint32_t)(fibers + clients));

        if (world.fibers_first ? which >= fibers : which < clients)
            clients_run(world.fibers_first ? which - fibers : which);
        else
            fibers_run(world.fibers_first ? which : which - clients);
        return;
    }
    told_quiet();
    states_quiet();
    int64_t next = fibers_next();
    if (next > sim_now && next < events_next())
        sim_now = next;
    else if (next > sim_now)
        events_run_next();
    oracle_step();
}

/* False when it takes longer than until then. */
#define COMES(condition, deadline)                                             \
    __extension__({                                                            \
        bool has_come;                                                         \
                                                                               \
        while (!(has_come = (condition)) && sim_now <= (deadline))             \
            step();                                                            \
        has_come;                                                              \
    })

static int64_t some_timeout(void)
{
    return (2 + choose(4)) * world.tick;
}

static int64_t note_timeout(int64_t timeout)
{
    if (timeout < world.shortest)
        world.shortest = timeout;
    if (timeout > world.timeout)
        world.timeout = timeout;
    return timeout;
}

static void choose_ensemble(void)
{
    world.tick = DRAW(int64_t, 1000, 500, 2000, 1000) * MS;
    world.shortest = world.timeout = some_timeout();
    world.sync_limit = DRAW(int64_t, 5, 2, 10, 3) * world.tick;
    /* In most schedules all ask for the same timeout. */
    int64_t usual = world.timeout;
    bool mixed = one_in(4);
    for (int i = 0; i < PROCESSES_MAX; i++) {
        world.processes[i].prefix = "";
        world.processes[i].timeout =
            mixed ? note_timeout(some_timeout()) : usual;
    }
    ensemble_reset(world.tick, world.sync_limit, world.shortest * 3 / 10);
    if (!one_in(8))
        return;
    /* Servers that grant another timeout than the server before, also to a
     * client that comes back to them. */
    for (int r = 0; r < REPLICAS; r++) {
        int64_t bound = note_timeout(some_timeout());

        if (choose(2) == 1)
            ensemble.replicas[r].least = bound;
        else
            ensemble.replicas[r].most = bound;
    }
    ensemble.gap = world.shortest * 3 / 10;
}

/* The directory may exist already, with numbers that are nearly used up. */
static void make_directory(void)
{
    if (choose(2) == 1)
        return;
    /* the lock of another program, outside every chroot */
    struct node *elsewhere = tree_create(tree_root, "/elsewhere", 0, 0);
    (void)tree_create(elsewhere, "/elsewhere/lock-0000000000", 0, 0);
    struct node *locks = tree_create(tree_root, "/locks", 0, 0);
    struct node *dir = tree_create(locks, WORLD_PATH, 0, 0);
    locks->container = true;
    dir->container = true;
    if (one_in(8))
        dir->cversion = INT32_MAX - (int32_t)choose(8);
}

static void begin(void)
{
    arena_reset();
    sim_now = SIM_BEGIN;
    tree_reset();
    world.recipe = world_limits.recipe >= 0 ? (enum recipe)world_limits.recipe
                                            : (enum recipe)choose(RECIPES);
    if (world.recipe == SEMAPHORE)
        world.limit = 1 + choose(3);
    world.preempt = one_in(4);
    world.fibers_first = one_in(3);
    world.no_containers = one_in(8);
    choose_ensemble();
    make_directory();
    acls.strict = choose(2) == 1;
    if (one_in(3))
        ensemble_observe();
    world.beacon = one_in(3);
    if (world.beacon)
        (void)tree_create(tree_root, WORLD_BEACON, 0, 0);
}

static int64_t after_calm(void)
{
    return sim_now > world.calm ? sim_now : world.calm;
}

void world_run(void)
{
    begin();
    long before = blocks;
    faults_start();
    apps_start();
    int64_t limit = world.timeout + 2 * world.tick + 10000 * MS;
    /* every claim may wait for every ghost, if there are some */
    WRONG_IF(!COMES(world.busy == 0, world.calm + 10 * limit) &&
                 !COMES(world.busy == 0,
                        world.calm + 10 * limit +
                            (int64_t)world.ghosts * 100 * world.timeout),
             "P6: threads have not come to an end");
    if (!COMES(oracle_nodes_left(false) == 0, after_calm() + 2 * limit)) {
        (void)oracle_nodes_left(true);
        world_fail("P6: nodes are left, and their sessions live");
    }
    if (!COMES(follows_agree(false), after_calm() + 2 * limit))
        (void)follows_agree(true);
    world.closing = true;
    fiber_wake(&world.closing);
    WRONG_IF(!COMES(fibers_alive() == 0, after_calm() + 10000 * MS),
             "sessions cannot be closed");
    WRONG_IF(!COMES(oracle_nodes_left(false) == 0, after_calm() + limit),
             "ephemeral nodes are left without a session");
    oracle_end();
    WRONG_IF(world.releases != 0, "of %d releases too many the end is told",
             -world.releases);
    WRONG_IF(clients_open() > 0, "%d handles are left", clients_open());
    WRONG_IF(blocks != before, "%ld blocks of memory are left",
             blocks - before);
}
