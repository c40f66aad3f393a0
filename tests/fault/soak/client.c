/* SPDX-License-Identifier: Apache-2.0 */
/* A client of the soak: it takes locks at random, works, and writes down what
 * it was told.
 *
 *   soak_client DIR NUMBER GENERATION HOSTS [control]
 *
 * As a negative control it is a program that trusts a lock: no lease, no fence,
 * and no look at the grant before it writes. */
#include "records.h"
#include "scope.h"
#include "stopwatch.h"
#include "test.h"
#include "wait.h"

enum {
    PATIENCE_MS = 120000,
    NOTED_MS = 100, /* growth of a lease that is worth a line */
    LATE_MS = 1000,
    LATE_WRITES = 3,
};

struct held {
    int lock;
    bool writes;
    zkr_grant *grant;
    int depth; /* of a reentrant lock, else 1 */
    int64_t token;
    int64_t valid_until;
    long asked; /* how often it asked, at equal intervals */
    long sure;  /* how often the answer was yes */
    bool lost;
};

static bool trusting; /* the negative control */
static int number;
static int generation;
static struct board *board;
static struct seat *seat;
static zkr_session *session;
static zkr_lockable *locks[LOCKS];
static struct resource resources[LOCKS];

/* Each thread has its own. */
static _Thread_local int journal;
static _Thread_local unsigned short dice[3];

static void note(char kind, int64_t a, int64_t b, int64_t c)
{
    journal_write(journal, kind, a, b, c);
}

static double draw(void)
{
    return erand48(dice);
}

static int between(int least, int most)
{
    return least + (int)(draw() * (most - least + 1));
}

static void take_part(const char *dir, int thread)
{
    int64_t seed = getpid() ^ boot_ns() ^ thread;

    memcpy(dice, &seed, sizeof(dice));
    journal = journal_create(dir, number, generation, thread);
}

/* Callbacks of the session and of the lock; `user` is a journal */

#define MY_JOURNAL ((void *)(intptr_t)journal)

static void on_session(zkr_session *s, const struct zkr_session_event *event,
                       void *user)
{
    if (event->session_id == atomic_load(&seat->session))
        return;
    atomic_store(&seat->session, event->session_id);
    if (event->session_id != 0)
        journal_write((int)(intptr_t)user, NOTE_SESSION, event->session_id,
                      (int64_t)event->epoch, 0);
}

static void on_grant(zkr_grant *grant, const struct zkr_grant_event *event,
                     void *user)
{
    if (event->kind == ZKR_GRANT_STATE_CHANGED &&
        event->state == ZKR_GRANT_LOST)
        journal_write((int)(intptr_t)user, NOTE_LOST, zkr_grant_token(grant), 0,
                      0);
}

/* Locks */

static int acquire_reentrant(int64_t timeout_ms, struct held *h)
{
    zkr_reentrant_mutex *reentrant = locks[h->lock];
    int rc = zkr_reentrant_mutex_acquire(reentrant, timeout_ms);

    if (rc != ZKR_OK)
        return rc;
    h->grant = zkr_reentrant_mutex_grant(reentrant);
    if (draw() < 0.5 && zkr_reentrant_mutex_acquire(reentrant, 0) == ZKR_OK)
        h->depth++;
    if (zkr_reentrant_mutex_depth(reentrant) != (uint32_t)h->depth)
        note(NOTE_WRONG, WRONG_DEPTH, h->depth, 0);
    return ZKR_OK;
}

static int acquire(int64_t timeout_ms, struct held *h)
{
    uint32_t mode = h->writes ? ZKR_EXCLUSIVE : ZKR_SHARED;

    if (lock_specs[h->lock].recipe == RECIPE_REENTRANT)
        return acquire_reentrant(timeout_ms, h);
    return zkr_lockable_acquire(locks[h->lock], OPTS(acquire, .mode = mode),
                                timeout_ms, &h->grant);
}

static int release(struct held *h)
{
    int rc = ZKR_OK;

    if (lock_specs[h->lock].recipe == RECIPE_REENTRANT) {
        while (h->depth-- > 0)
            rc = zkr_reentrant_mutex_release(locks[h->lock]);
        return rc;
    }
    rc = zkr_grant_release(h->grant);
    zkr_grant_free(h->grant);
    return rc;
}

/* Asks for the grant, as a holder does before each step, and notes how far the
 * lease has grown. Without a lease it notes only a loss. */
static bool may_go_on(struct held *h)
{
    int rc = zkr_grant_check(h->grant);
    int64_t until = zkr_grant_valid_until(h->grant);

    if (until > h->valid_until + NOTED_MS) {
        h->valid_until = until;
        note(NOTE_VALID, until, 0, 0);
    }
    if (rc == ZKR_ELOST && !h->lost) {
        h->lost = true;
        note(NOTE_LOST, h->token, 0, 0);
    }
    return rc == ZKR_OK;
}

/* The section */

static void access_store(struct held *h)
{
    bool accepted = resource_access(&resources[h->lock], h->writes, h->token,
                                    zkr_grant_handoff(h->grant));

    note(NOTE_ACCESS, h->token, accepted, h->lost);
}

/* Work for a while; UNSURE is waited out. */
static void work(struct held *h)
{
    double lot = draw();
    int64_t end = now_ms() + (lot < 0.92    ? 0
                              : lot < 0.945 ? between(1, 20)
                                            : between(50, 400));
    bool good = true;

    if (end - now_ms() > 40 && draw() < 0.5)
        (void)zkr_grant_listen(h->grant, on_grant, MY_JOURNAL);
    while ((now_ms() < end || !good) && !h->lost) {
        sleep_ms(between(1, 5));
        good = trusting || may_go_on(h);
        h->asked += !trusting;
        h->sure += !trusting && good;
    }
}

static void section(struct held *h)
{
    const struct resource *r = &resources[h->lock];
    int64_t value = 0; /* of a counter that is still empty */

    access_store(h);
    if (pread(r->counter, &value, sizeof(value), 0) < 0)
        die("counter");
    work(h);
    if (h->writes && (trusting || may_go_on(h))) {
        value++;
        if (pwrite(r->counter, &value, sizeof(value), 0) != sizeof(value))
            die("counter");
        note(NOTE_UPDATE, value, h->token, 0);
    }
    if (!h->lost)
        access_store(h);
    /* The writes that were under way when the lock was lost come mostly after
     * another client has begun its section. */
    for (int i = 0; h->lost && i < LATE_WRITES; i++) {
        sleep_ms(between(50, 200));
        access_store(h);
    }
}

static void hold(struct held *h)
{
    h->token = zkr_grant_token(h->grant);
    h->valid_until = zkr_grant_valid_until(h->grant);
    note(NOTE_GRANTED, h->token, (int64_t)zkr_grant_handoff(h->grant),
         h->valid_until);
    atomic_fetch_add(&seat->grants, 1);
    atomic_fetch_add(&board->grants[h->lock], 1);
    section(h);
    if (zkr_grant_token(h->grant) != h->token || h->token <= 0)
        note(NOTE_WRONG, WRONG_TOKEN, h->token, 0);
    atomic_fetch_sub(&seat->grants, 1);
    note(NOTE_RELEASE, zkr_grant_valid_until(h->grant), h->asked, h->sure);
    note(NOTE_RELEASED, release(h), 0, 0);
}

/* Most acquires wait for other clients, up to two minutes, and a stopwatch for
 * each would load the machine. */
static void cycle(int lock)
{
    bool shared = lock_specs[lock].recipe == RECIPE_RWLOCK && draw() >= 0.3;
    struct held h = { .lock = lock, .writes = !shared, .depth = 1 };
    double lot = draw();
    int64_t timeout_ms = lot < 0.05   ? 0
                         : lot < 0.15 ? between(5, 500)
                                      : PATIENCE_MS;
    bool timed = timeout_ms > 0 && timeout_ms < PATIENCE_MS;

    note(NOTE_INVOKE, lock, h.writes, 0);
    struct stopwatch *w = timed ? stopwatch_start() : NULL;
    int64_t began = now_ms();
    int rc = acquire(timeout_ms, &h);
    struct lap lap = { .took_ns = (now_ms() - began) * MS };
    if (timed)
        lap = stopwatch_stop(w);
    if (timeout_ms > 0 && !lap_is_within(lap, 0, timeout_ms + LATE_MS))
        note(NOTE_WRONG, WRONG_LATE, lap.took_ns / MS - timeout_ms, 0);
    if (rc == ZKR_OK) {
        hold(&h);
        return;
    }
    note(NOTE_FAILED, rc, 0, 0);
    if (rc != ZKR_ETIMEDOUT)
        sleep_ms(between(1, 20));
}

/* Life */

static void open_session(const char *hosts)
{
    const struct zkr_session_opts *opts =
        OPTS(session, .session_timeout_ms = SESSION_MS,
             .flags = trusting ? ZKR_SESSION_NO_LEASE : 0);
    int rc;

    while ((rc = zkr_session_open(hosts, opts, &session)) != ZKR_OK) {
        (void)fprintf(stderr, "%.3f open %s: %s: %s\n", (double)boot_ns() / 1e9,
                      hosts, zkr_strerror(rc), zkr_error_detail());
        if (atomic_load(&board->stop))
            exit(1);
        sleep_ms(100);
    }
}

static void make_locks(const char *dir)
{
    for (int i = 0; i < LOCKS; i++) {
        const struct lock_spec *spec = &lock_specs[i];

        resources[i] = resource_open(dir, i, !trusting);
        switch (spec->recipe) {
        case RECIPE_MUTEX:
            locks[i] =
                NEW(mutex, session, spec->path,
                    OPTS(lockable, .retain_ms = spec->stays ? RETAIN_MS : 0,
                         .retain_max = RETAIN_MAX));
            break;
        case RECIPE_REENTRANT:
            locks[i] = NEW(reentrant_mutex, session, spec->path, NULL);
            break;
        case RECIPE_RWLOCK:
            locks[i] = NEW(rwlock, session, spec->path, NULL);
        }
    }
}

/* The second thread. Its pauses are shorter than the lock stays. */
static void *take_what_stays(void *dir)
{
    int lock = 0;

    while (!lock_specs[lock].stays)
        lock++;
    take_part(dir, 1);
    while (!atomic_load(&board->stop)) {
        cycle(lock);
        sleep_ms(between(1, 5));
    }
    (void)close(journal);
    return NULL;
}

static void run(const char *dir, const char *hosts)
{
    note(NOTE_BEGIN, count_fds(), count_threads(), 0);
    open_session(hosts);
    zkr_listener *listener =
        MADE(listener, session_listen, session, on_session, MY_JOURNAL);
    make_locks(dir);
    pthread_t second = thread_start(take_what_stays, (void *)dir);
    while (!atomic_load(&board->stop))
        cycle(between(0, LOCKS - 1));
    thread_join(second);
    for (int i = 0; i < LOCKS; i++) {
        zkr_lockable_free(locks[i]);
        resource_close(&resources[i]);
    }
    zkr_listener_free(listener);
    (void)zkr_session_close(session);
    note(NOTE_END, count_fds(), count_threads(), 0);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 64;
    number = atoi(argv[2]);
    generation = atoi(argv[3]);
    trusting = argc > 5;
    board = board_open(argv[1]);
    seat = &board->seats[number];
    take_part(argv[1], 0);
    run(argv[1], argv[4]);
    return 0;
}
