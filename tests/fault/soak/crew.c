/* SPDX-License-Identifier: Apache-2.0 */
/* The clients of a soak, as processes. */
#include "crew.h"

#include <errno.h>
#include <signal.h>

#include <sys/wait.h>

#include "spawn.h"
#include "wait.h"

enum { END_MS = 60000 };

bool crew_start_one(struct crew *c, int worker)
{
    char number[16];
    char generation[16];
    char *argv[] = { (char *)c->program,
                     (char *)c->dir,
                     number,
                     generation,
                     (char *)c->hosts[worker % 2],
                     c->trusting ? "control" : NULL,
                     NULL };
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    (void)snprintf(number, sizeof(number), "%d", worker);
    (void)snprintf(generation, sizeof(generation), "%d",
                   c->generations[worker]++);
    c->pids[worker] = spawn_bound(argv, null, c->log);
    (void)close(null);
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

static void reap(struct crew *c, int worker)
{
    while (waitpid(c->pids[worker], NULL, 0) < 0 && errno == EINTR)
        ;
    c->pids[worker] = 0;
    atomic_store(&c->board->seats[worker].grants, 0);
    atomic_store(&c->board->seats[worker].session, 0);
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
    reap(c, worker);
}

static bool has_ended(void *arg)
{
    const struct crew *c = arg;
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
    (void)wait_until(has_ended, c, END_MS);
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

static bool is_in(int worker, const int *workers, int count)
{
    for (int i = 0; i < count; i++) {
        if (workers[i] == worker)
            return true;
    }
    return false;
}

void crew_pick(const struct crew *c, bool holders, int count, int *workers)
{
    int found = 0;

    for (int round = 0; round < 2; round++) {
        int first = (int)(drand48() * WORKERS);

        for (int i = 0; i < WORKERS && found < count; i++) {
            int worker = (first + i) % WORKERS;
            bool holds = atomic_load(&c->board->seats[worker].grants) != 0;

            if ((holds || !holders || round == 1) &&
                !is_in(worker, workers, found))
                workers[found++] = worker;
        }
    }
}
