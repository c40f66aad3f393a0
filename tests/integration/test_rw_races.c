/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the read/write lock under load, and with sessions that end then. */
#include "fixture.h"

enum { SESSIONS = 3, THREADS = 12, ROUNDS = 60 };

static zkr_session *sessions[SESSIONS];
static zkr_rwlock *locks[SESSIONS];
static char path[64];

static int setup(void)
{
    (void)snprintf(path, sizeof(path), "%s", new_path());
    for (int i = 0; i < SESSIONS; i++) {
        sessions[i] = open_session();
        ok(zkr_rwlock_new(sessions[i], path,
                          OPTS(lockable, .flags = i == 0 ? ZKR_REENTRANT : 0),
                          &locks[i]));
    }
    return 0;
}

static int teardown(void)
{
    for (int i = 0; i < SESSIONS; i++) {
        zkr_rwlock_free(locks[i]);
        (void)zkr_session_close(sessions[i]);
    }
    return 0;
}

FIXTURE(setup, teardown)

struct crowd {
    bool sessions_end; /* then a grant may be lost at any moment */
    atomic_bool stop;
    atomic_int readers, writers, reads, writes, downgrades, given_up, wrong;
    atomic_int first_wrong;
};

struct member {
    struct crowd *crowd;
    zkr_rwlock *lock;
    unsigned seed;
    pthread_t thread;
};

static int up_to(struct member *m, int limit)
{
    return rand_r(&m->seed) % (limit + 1);
}

/* The first four are right at any time, the others while sessions end. */
static bool went_well(struct crowd *c, int rc)
{
    if (rc != ZKR_OK && rc != ZKR_ETIMEDOUT && rc != ZKR_EBUSY &&
        rc != ZKR_ECANCELED &&
        !(c->sessions_end && (rc == ZKR_ELOST || rc == ZCONNECTIONLOSS ||
                              rc == ZOPERATIONTIMEOUT || rc == ZKR_EPENDING))) {
        c->wrong++;
        atomic_store(&c->first_wrong, rc);
    }
    return rc == ZKR_OK;
}

/* When grants may be lost, counting cannot tell which holders overlap. */
static void expect_none(struct crowd *c, atomic_int *others)
{
    c->wrong += !c->sessions_end && atomic_load(others) != 0;
}

static void give_back(struct crowd *c, zkr_grant *g)
{
    (void)went_well(c, zkr_grant_release(g));
    zkr_grant_free(g);
}

static void end_reading(struct member *m, zkr_grant *g)
{
    sleep_ms(up_to(m, 2));
    expect_none(m->crowd, &m->crowd->writers);
    atomic_fetch_sub(&m->crowd->readers, 1);
    give_back(m->crowd, g);
}

/* From here on it is a reader, whichever way it became one. */
static void end_writing_reading(struct member *m, zkr_grant *writing)
{
    struct crowd *c = m->crowd;
    zkr_grant *reading = NULL;
    bool at_once = up_to(m, 1) == 0;

    expect_none(c, &c->readers);
    atomic_fetch_add(&c->readers, 1);
    atomic_fetch_sub(&c->writers, 1);
    if (!went_well(c, at_once
                          ? zkr_rwlock_downgrade(m->lock, writing, &reading)
                          : zkr_rwlock_acquire_read(m->lock, -1, &reading))) {
        atomic_fetch_sub(&c->readers, 1);
        give_back(c, writing);
        return;
    }
    c->downgrades++;
    if (at_once)
        zkr_grant_free(writing);
    else
        give_back(c, writing);
    end_reading(m, reading);
}

static void write_once(struct member *m, zkr_grant *writing)
{
    struct crowd *c = m->crowd;

    c->wrong += atomic_fetch_add(&c->writers, 1) != 0 && !c->sessions_end;
    expect_none(c, &c->readers);
    c->writes++;
    sleep_ms(up_to(m, 1));
    if (up_to(m, 1) != 0) {
        end_writing_reading(m, writing);
        return;
    }
    expect_none(c, &c->readers);
    atomic_fetch_sub(&c->writers, 1);
    give_back(c, writing);
}

static void read_once(struct member *m, zkr_grant *reading)
{
    atomic_fetch_add(&m->crowd->readers, 1);
    expect_none(m->crowd, &m->crowd->writers);
    m->crowd->reads++;
    end_reading(m, reading);
}

static void *member_main(void *arg)
{
    struct member *m = arg;

    for (int i = 0; !atomic_load(&m->crowd->stop) &&
                    (m->crowd->sessions_end || i < ROUNDS);
         i++) {
        int kind = up_to(m, 9);
        int64_t timeout_ms = kind == 0   ? 0
                             : kind <= 3 ? up_to(m, 20) + 1
                                         : SOON_MS;
        bool writes = up_to(m, 3) == 0;
        zkr_grant *g = NULL;

        if (kind == 4)
            (void)went_well(m->crowd, zkr_lockable_cancel(m->lock));
        else if (!went_well(m->crowd, (writes ? by_writing : by_reading)(
                                          m->lock, timeout_ms, &g)))
            m->crowd->given_up++;
        else
            (writes ? write_once : read_once)(m, g);
    }
    return NULL;
}

static void start(struct member *members, struct crowd *c)
{
    for (unsigned i = 0; i < THREADS; i++) {
        members[i] = (struct member){ .crowd = c,
                                      .lock = locks[i % SESSIONS],
                                      .seed = i + 1 };
        members[i].thread = thread_start(member_main, &members[i]);
    }
}

static bool was_a_race(const struct crowd *c)
{
    return c->reads > 50 && c->writes > 20 && c->downgrades > 5 &&
           c->given_up > 20;
}

static void finish(struct member *members, const struct crowd *c)
{
    for (int i = 0; i < THREADS; i++)
        thread_join(members[i].thread);
    if (c->wrong != 0)
        fail_msg("%d wrong, such as %s", c->wrong,
                 zkr_strerror(c->first_wrong));
    wait_children(path, 0);
    assert_true(was_a_race(c));
}

TEST(readers_writers_and_downgrades_never_overlap)
{
    struct crowd c = { .sessions_end = false };
    struct member members[THREADS];

    start(members, &c);
    finish(members, &c);
}

/* A busy machine may need more expiries until it was a race. */
TEST(sessions_that_end_under_them_leave_none_hanging)
{
    struct crowd c = { .sessions_end = true };
    struct member members[THREADS];

    start(members, &c);
    for (int i = 0; i < 15 || (!was_a_race(&c) && i < 150); i++) {
        zkr_session *victim = sessions[i % SESSIONS];

        AWAIT(zkr_session_state(victim) == ZKR_SESSION_CONNECTED ||
              zkr_session_state(victim) == ZKR_SESSION_RECONNECTED);
        expire(victim);
        sleep_ms(150);
    }
    atomic_store(&c.stop, true);
    finish(members, &c);
}
