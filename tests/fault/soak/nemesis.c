/* SPDX-License-Identifier: Apache-2.0 */
/* The nemesis: injects faults one after the other, and measures the recovery
 * from each. */
#include "nemesis.h"

#include <signal.h>

#include <sys/wait.h>

#include "spawn.h"
#include "test.h"
#include "wait.h"

enum { END_MS = 60000 };

void nemesis_note(const struct nemesis *n, char kind, int64_t a, int64_t b)
{
    journal_write(n->journal, kind, a, b, 0);
}

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

/* Ask all locks at once: the time of each is its own. Returns how many were not
 * granted. */
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
    if (!cluster_find_cast(n->cluster, &s->cast)) {
        n->broken = true;
        return;
    }
    s->host = f->hit == ANY        ? random_between(1, SERVERS)
              : f->hit == LEADER   ? s->cast.leader
              : f->hit == FOLLOWER ? s->cast.follower
                                   : 0;
    nemesis_note(n, NOTE_FAULT, kind, 0);
    bool done = f->strike(n);
    if (done)
        sleep_ms(random_between(f->least_ms, f->most_ms));
    f->heal(n);
    nemesis_note(n, NOTE_HEALED, kind, 0);
    n->counts[kind] += done;
    if (!done)
        (void)fprintf(stderr, "soak: '%s' did not succeed\n", f->name);
    recover(n);
}

/* Clients */

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

void client_kill(struct nemesis *n, int worker)
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
    int64_t end = now_ms() + END_MS;
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

void clients_pick(const struct nemesis *n, bool holders, int count,
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
