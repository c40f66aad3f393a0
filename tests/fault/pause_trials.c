/* SPDX-License-Identifier: Apache-2.0 */
/* Trials of the lease with pauses: a process is stopped before it is granted
 * the lock.
 *
 * Half of the processes wait for a lock when they are stopped, half ask for one
 * as soon as they go on. They are stopped for about a session timeout, so that
 * the leader may end their session just when they go on, and then some are
 * stopped again, before they can learn of it. Each asks every millisecond
 * whether it holds. ZKR_TRIALS is the number of trials, ZKR_SEED repeats the
 * times of an earlier run. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "holder.h"
#include "spawn.h"
#include "txn_log.h"

#define TICK_MS    2000 /* of the servers */
#define TIMEOUT_MS 4000
#define LONG_RUN   20 /* trials from which the negative control must show */

/* -- processes that are stopped and continued ------------------------------ */

enum { SLEEPERS = 16 };

/* Shared with the process. */
struct seat {
    atomic_bool acquire; /* set by the test: ask for the lock */
    atomic_bool ready;   /* it has a session, and waits for `acquire` */
    atomic_llong session_id;
    struct belief belief;
};

static struct seat *seats;
static int seats_fd; /* shared memory */

static void map_seats(int fd)
{
    seats_fd = fd;
    seats = mmap(NULL, SLEEPERS * sizeof(*seats), PROT_READ | PROT_WRITE,
                 MAP_SHARED, fd, 0);
    assert_true(seats != MAP_FAILED);
}

/* The process runs this, with the number of its seat, servers, and the path of
 * a lock. */
static _Noreturn void sleeper_main(char **argv)
{
    static struct holder h;
    bool asked = false;

    map_seats(STDIN_FILENO);
    struct seat *seat = &seats[atoi(argv[1])];
    holder_open(&h, argv[2], TIMEOUT_MS, argv[3]);
    atomic_store(&seat->session_id, h.session_id);
    atomic_store(&seat->ready, true);
    for (;;) {
        if (!asked && atomic_load(&seat->acquire)) {
            asked = true;
            holder_acquire(&h);
        }
        holder_ask(&h, &seat->belief);
        sleep_ms(1);
    }
}

/* -- the trials ------------------------------------------------------------ */

enum step { STOP, FREE_LOCK, GO_ON, STOP_AGAIN, GO_ON_AGAIN, STEPS };

struct plan {
    int64_t at[STEPS]; /* of now_ms(); 0: done, or not to be done */
    int64_t nap;       /* after the grant, in ms */
    int64_t woken;     /* by the clock of the lease, in ns */
};

static zkr_session *rival;
static pid_t pids[SLEEPERS];
static struct plan plans[SLEEPERS];
static zkr_mutex *mutexes[SLEEPERS];
static zkr_grant *held[SLEEPERS]; /* by the rival; NULL: no waiter */
static int survivors;
static int ended_asleep;

static bool waits(int i)
{
    return i % 2 == 0;
}

static void start_all(const struct server *server)
{
    for (int i = 0; i < SLEEPERS; i++) {
        const char *path = new_path();
        char *argv[] = { "/proc/self/exe", (char *)textf("%d", i),
                         (char *)server_hosts(server), (char *)path, NULL };

        seats[i] = (struct seat){ 0 };
        pids[i] = spawn_bound(argv, seats_fd, STDERR_FILENO);
        assert_true(pids[i] > 0);
        mutexes[i] = new_mutex(rival, path);
    }
    for (int i = 0; i < SLEEPERS; i++) {
        AWAIT(atomic_load(&seats[i].ready));
        if (!waits(i))
            continue;
        held[i] = acquire(mutexes[i]);
        atomic_store(&seats[i].acquire, true);
    }
    sleep_ms(TIMEOUT_MS); /* what proved them when they began is over */
}

static void free_lock(int i)
{
    if (waits(i)) {
        ok(zkr_grant_release_async(held[i], NULL, NULL));
        zkr_grant_free(held[i]);
        held[i] = NULL;
    } else {
        atomic_store(&seats[i].acquire, true);
    }
}

/* Returns true when something is left to do for this one. */
static bool follow_plan(int i, int64_t now)
{
    struct plan *p = &plans[i];
    bool is_left = false;

    for (enum step step = 0; step < STEPS; step++) {
        if (p->at[step] != 0 && now >= p->at[step]) {
            p->at[step] = 0;
            if (step == FREE_LOCK)
                free_lock(i);
            if (step == GO_ON)
                p->woken = boot_ns();
            if (step == STOP || step == STOP_AGAIN)
                (void)kill(pids[i], SIGSTOP);
            if (step == GO_ON || step == GO_ON_AGAIN)
                (void)kill(pids[i], SIGCONT);
        }
        is_left = is_left || p->at[step] != 0;
    }
    if (p->nap != 0 && seats[i].belief.granted != 0) {
        p->at[STOP_AGAIN] = now + p->nap;
        p->at[GO_ON_AGAIN] = p->at[STOP_AGAIN] + random_between(500, 2500);
        p->nap = 0;
        is_left = true;
    }
    return is_left;
}

static void follow_plans(void)
{
    int64_t now = now_ms();
    int64_t end = now + 3LL * TIMEOUT_MS + 3LL * TICK_MS;

    for (struct plan *p = plans; p < plans + SLEEPERS; p++) {
        int64_t stop = now + random_between(1, 2000);
        int64_t go_on =
            stop + random_between(TIMEOUT_MS - 1000, TIMEOUT_MS + TICK_MS);

        *p = (struct plan){
            .at = { stop, go_on - random_between(0, 100), go_on },
            .nap = drand48() < 0.7 ? random_between(1, 40) : 0,
        };
    }
    for (int left = 1; left > 0 && now < end; now = now_ms()) {
        left = now < end - TIMEOUT_MS / 2;
        for (int i = 0; i < SLEEPERS; i++)
            left += follow_plan(i, now);
        sleep_ms(1);
    }
    sleep_ms(1000); /* for all to be asked once more, and the log written */
}

static void take_sample(int i, const struct server *witness)
{
    struct belief *b = &seats[i].belief;
    int64_t closed =
        txn_log_session_closed(witness, atomic_load(&seats[i].session_id));
    int64_t end = real_to_boot(closed);

    if (closed == 0) {
        survivors++;
    } else if (end < plans[i].woken) {
        ended_asleep++;
        assert_int_equal(b->at[LAST_YES], 0);
    } else {
        believe(b, PINGED, plans[i].woken + TIMEOUT_MS * MS * 5 / 12);
        (void)sample_add(0, b, end);
    }
}

static void run_trial(void)
{
    struct cast cast = cluster_await_cast();

    start_all(cluster_server(cast.follower));
    follow_plans();
    for (int i = 0; i < SLEEPERS; i++)
        take_sample(i, cluster_server(cast.leader));
    for (int i = 0; i < SLEEPERS; i++) {
        (void)kill(pids[i], SIGKILL);
        (void)waitpid(pids[i], NULL, 0);
        zkr_grant_free(held[i]);
        held[i] = NULL;
        zkr_mutex_free(mutexes[i]);
    }
}

static int print_row(const char *name, enum instant instant)
{
    printf("%-19s", name);
    int late = print_margin(0, instant);
    printf("\n");
    return late;
}

/* A first lease took for granted that the client had pinged: 9 of 20 waiters
 * that were stopped and granted were told yes after their session's end. */
TEST(a_stopped_process_has_no_lease_beyond_its_session)
{
    int trials = number_from("ZKR_TRIALS", 1);

    for (int i = 0; i < trials; i++)
        run_trial();
    printf("%d processes: of their sessions %d lived on, %d ended while they "
           "were stopped\nseconds before the end of the other %d: least, "
           "median, most, how many late\n",
           trials * SLEEPERS, survivors, ended_asleep, sample_count);
    int yes_late = print_row("last yes", LAST_YES);
    int claimed_late = print_row("claimed end", CLAIMED_END);
    int pinged_late = print_row("5T/12 from going on", PINGED);
    assert_int_equal(yes_late, 0);
    assert_int_equal(claimed_late, 0);
    if (trials >= LONG_RUN)
        assert_true(pinged_late > 0); /* or the pauses were too weak */
}

static int open_rival(void)
{
    struct cast cast = cluster_await_cast();

    set_seed();
    map_seats(memfd_create("seats", MFD_CLOEXEC));
    ok(ftruncate(seats_fd, SLEEPERS * sizeof(*seats)));
    return zkr_session_open(server_hosts(cluster_server(cast.leader)),
                            OPTS(session, .session_timeout_ms = 40000), &rival);
}

static int close_rival(void)
{
    (void)zkr_session_close(rival);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4)
        sleeper_main(argv);
    int rc =
        run_with_cluster(&(struct cluster_opts){ 0 }, open_rival, close_rival);
    free(samples);
    return rc;
}
