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
#include "oracle.h"
#include "spawn.h"
#include "txn_log.h"

#define DIRECTORY  "/pauses"
#define TICK_MS    2000 /* of the servers */
#define MS         1000000LL
#define TIMEOUT_MS 4000
#define LONG_RUN   20 /* trials from which the negative control must show */

/* -- processes that are stopped and continued ------------------------------ */

enum { SLEEPERS = 16 };

/* Shared with the process. Instants are nanoseconds of CLOCK_BOOTTIME, 0:
 * never. */
struct seat {
    atomic_bool acquire; /* set by the test: ask for the lock */
    atomic_bool ready;   /* it has a session, and waits for `acquire` */
    atomic_llong session_id;
    atomic_llong granted;     /* when it was seen */
    atomic_llong last_ok;     /* zkr_grant_check() was called, and said yes */
    atomic_llong valid_until; /* the latest that was claimed */
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

static void ask(struct seat *seat, struct holder *h)
{
    zkr_grant *g = atomic_load(&h->grant);
    int64_t now = boot_ns();

    /* A grant in a later session tells nothing about the one that ended. */
    if (g == NULL || zkr_session_epoch(h->session) != h->epoch)
        return;
    if (atomic_load(&seat->granted) == 0)
        atomic_store(&seat->granted, now);
    now = boot_ns();
    if (zkr_grant_check(g) == ZKR_OK)
        atomic_store(&seat->last_ok, now);
    int64_t until = zkr_grant_valid_until(g);
    if (until != 0 && (until + 1) * MS > atomic_load(&seat->valid_until))
        atomic_store(&seat->valid_until, (until + 1) * MS);
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
        ask(seat, &h);
        sleep_ms(1);
    }
}

/* -- the trials ------------------------------------------------------------ */

/* Instants of now_ms(); 0: done, or not to be done. */
struct plan {
    int64_t stop;
    int64_t free_lock; /* shortly before go_on */
    int64_t go_on;
    int64_t nap; /* after the grant, in ms */
    int64_t stop_again;
    int64_t go_on_again;
    int64_t woken; /* by the clock of the lease, in ns */
};

/* That of a wrong rule comes last: a lease of 5T/12 from going on. */
enum instant { LAST_YES, CLAIMED_END, PINGED, INSTANTS };

/* Instants before the end of a session, in ns; negative is too late. */
struct sample {
    bool believed; /* there was a yes; else the first two mean nothing */
    int64_t before[INSTANTS];
};

static struct cluster *cluster;
static zkr_session *rival;
static pid_t pids[SLEEPERS];
static struct plan plans[SLEEPERS];
static zkr_mutex *mutexes[SLEEPERS];
static zkr_grant *held[SLEEPERS]; /* by the rival; NULL: no waiter */
static struct sample *samples;
static int sample_count;
static int survivors;
static int ended_asleep;

static bool waits(int i)
{
    return i % 2 == 0;
}

static void start_all(const struct server *server)
{
    static int number;

    for (int i = 0; i < SLEEPERS; i++) {
        const char *path = textf(DIRECTORY "/%d", ++number);
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

static bool is_due(int64_t *instant, int64_t now)
{
    if (*instant == 0 || now < *instant)
        return false;
    *instant = 0;
    return true;
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

/* Returns true when nothing is left to do for this one. */
static bool follow_plan(int i, int64_t now)
{
    struct plan *p = &plans[i];

    if (is_due(&p->stop, now))
        (void)kill(pids[i], SIGSTOP);
    if (is_due(&p->free_lock, now))
        free_lock(i);
    if (is_due(&p->go_on, now)) {
        p->woken = boot_ns();
        (void)kill(pids[i], SIGCONT);
    }
    if (p->nap != 0 && atomic_load(&seats[i].granted) != 0) {
        p->stop_again = now + p->nap;
        p->go_on_again = p->stop_again + random_ms(500, 2500);
        p->nap = 0;
    }
    if (is_due(&p->stop_again, now))
        (void)kill(pids[i], SIGSTOP);
    if (is_due(&p->go_on_again, now))
        (void)kill(pids[i], SIGCONT);
    return p->go_on == 0 && p->stop_again == 0 && p->go_on_again == 0;
}

static void follow_plans(void)
{
    int64_t now = now_ms();
    int64_t end = now + 3LL * TIMEOUT_MS + 3LL * TICK_MS;

    for (struct plan *p = plans; p < plans + SLEEPERS; p++) {
        int64_t stop = now + random_ms(1, 2000);
        int64_t go_on =
            stop + random_ms(TIMEOUT_MS - 1000, TIMEOUT_MS + TICK_MS);

        *p = (struct plan){ .stop = stop,
                            .go_on = go_on,
                            .free_lock = go_on - random_ms(0, 100) };
        p->nap = drand48() < 0.7 ? random_ms(1, 40) : 0;
    }
    for (int left = 1; left > 0 && now < end; now = now_ms()) {
        left = now < end - TIMEOUT_MS / 2;
        for (int i = 0; i < SLEEPERS; i++)
            left += !follow_plan(i, now);
        sleep_ms(1);
    }
    sleep_ms(1000); /* for all to be asked once more, and the log written */
}

static void take_sample(int i, const struct server *witness)
{
    struct seat *seat = &seats[i];
    int64_t closed =
        txn_log_session_closed(witness, atomic_load(&seat->session_id));
    int64_t end = real_to_boot(closed);

    if (closed == 0) {
        survivors++;
    } else if (end < plans[i].woken) {
        ended_asleep++;
        assert_int_equal(atomic_load(&seat->last_ok), 0);
    } else {
        samples[sample_count++] = (struct sample){
            .believed = atomic_load(&seat->valid_until) != 0,
            .before = { end - atomic_load(&seat->last_ok),
                        end - atomic_load(&seat->valid_until),
                        end - plans[i].woken - TIMEOUT_MS * MS * 5 / 12 },
        };
    }
}

static void run_trial(void)
{
    int leader = cluster_await_leader(cluster, HEALTHY_MS);

    assert_int_not_equal(leader, 0);
    start_all(cluster_server(cluster, leader % SERVERS + 1));
    follow_plans();
    for (int i = 0; i < SLEEPERS; i++)
        take_sample(i, cluster_server(cluster, leader));
    for (int i = 0; i < SLEEPERS; i++) {
        (void)kill(pids[i], SIGKILL);
        (void)waitpid(pids[i], NULL, 0);
        zkr_grant_free(held[i]);
        held[i] = NULL;
        zkr_mutex_free(mutexes[i]);
    }
}

/* Prints how many there were, and the least; returns how many were late. */
static int print_margin(const char *name, enum instant instant)
{
    int count = 0;
    int late = 0;
    int64_t least = 0;

    for (int i = 0; i < sample_count; i++) {
        int64_t before = samples[i].before[instant];

        if (instant != PINGED && !samples[i].believed)
            continue;
        late += before < 0;
        if (count++ == 0 || before < least)
            least = before;
    }
    printf("%-34s %4d %+8.3f %4d\n", name, count, (double)least / 1e9, late);
    return late;
}

/* A first lease took for granted that the client had pinged: 9 of 20 waiters
 * that were stopped and granted were told yes after their session's end. */
TEST(a_stopped_process_has_no_lease_beyond_its_session)
{
    int trials = number_from("ZKR_TRIALS", 1);

    samples = calloc((size_t)trials * SLEEPERS, sizeof(*samples));
    assert_non_null(samples);
    for (int i = 0; i < trials; i++)
        run_trial();
    printf("%d processes: of their sessions %d lived on, %d ended while they "
           "were stopped\nseconds before the end of the others: how many, "
           "least, how many late\n",
           trials * SLEEPERS, survivors, ended_asleep);
    int yes_late = print_margin("last yes", LAST_YES);
    int claimed_late = print_margin("claimed end", CLAIMED_END);
    int pinged_late = print_margin("5T/12 from going on", PINGED);
    assert_int_equal(yes_late, 0);
    assert_int_equal(claimed_late, 0);
    if (trials >= LONG_RUN)
        assert_true(pinged_late > 0); /* or the pauses were too weak */
}

static int open_rival(void)
{
    int leader = cluster_await_leader(cluster, HEALTHY_MS);

    set_seed();
    map_seats(memfd_create("seats", MFD_CLOEXEC));
    ok(ftruncate(seats_fd, SLEEPERS * sizeof(*seats)));
    return zkr_session_open(server_hosts(cluster_server(cluster, leader)),
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
        run_with_cluster(NULL, DIRECTORY, &cluster, open_rival, close_rival);
    free(samples);
    return rc;
}
