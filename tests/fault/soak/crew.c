/* SPDX-License-Identifier: Apache-2.0 */
/* The clients of a soak, as processes. */
#include "crew.h"

#include <errno.h>
#include <signal.h>

#include <sys/wait.h>

#include "spawn.h"
#include "test.h"
#include "wait.h"

enum { END_MS = 60000 };

bool crew_start_one(struct crew *c, int worker)
{
    char *argv[] = { (char *)c->program,
                     (char *)c->dir,
                     (char *)textf("%d", worker),
                     (char *)textf("%d", c->generations[worker]++),
                     (char *)c->hosts[worker % 2],
                     c->trusting ? "control" : NULL,
                     NULL };

    c->pids[worker] = spawn_bound(argv, -1, c->log);
    return c->pids[worker] > 0;
}

bool crew_start(struct crew *c)
{
    for (int i = 0; i < WORKERS; i++) {
        if (!crew_start_one(c, i))
            return false;
    }
    return true;
}

void crew_signal(const struct crew *c, int worker, int signal)
{
    if (c->pids[worker] > 0)
        (void)kill(c->pids[worker], signal);
}

void crew_kill(struct crew *c, int worker)
{
    if (c->pids[worker] <= 0)
        return;
    crew_signal(c, worker, SIGKILL);
    while (waitpid(c->pids[worker], NULL, 0) < 0 && errno == EINTR)
        ;
    c->pids[worker] = 0;
    atomic_store(&c->board->seats[worker].grants, 0);
    atomic_store(&c->board->seats[worker].session, 0);
}

static bool has_ended(const struct crew *c)
{
    siginfo_t info;

    for (int i = 0; i < WORKERS; i++) {
        info.si_pid = 0;
        if (c->pids[i] > 0 &&
            waitid(P_PID, (id_t)c->pids[i], &info,
                   WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid == 0)
            return false;
    }
    return true;
}

int crew_finish(struct crew *c)
{
    int stuck = 0;
    int status;

    atomic_store(&c->board->stop, true);
    (void)COMES(has_ended(c), END_MS);
    for (int i = 0; i < WORKERS; i++) {
        if (c->pids[i] <= 0)
            continue;
        if (waitpid(c->pids[i], &status, WNOHANG) == 0) {
            crew_kill(c, i);
            stuck++;
        } else if (status != 0) {
            (void)fprintf(stderr, "client %d ended with %x\n", i,
                          (unsigned)status);
            stuck++;
        }
        c->pids[i] = 0;
    }
    return stuck;
}

void crew_pick(const struct crew *c, bool holders, int count, int *workers)
{
    bool taken[WORKERS] = { false };
    int found = 0;

    for (int round = 0; round < 2; round++) {
        int first = (int)(drand48() * WORKERS);

        for (int i = 0; i < WORKERS && found < count; i++) {
            int worker = (first + i) % WORKERS;
            bool holds = atomic_load(&c->board->seats[worker].grants) != 0;

            if ((holds || !holders || round == 1) && !taken[worker]) {
                taken[worker] = true;
                workers[found++] = worker;
            }
        }
    }
}
