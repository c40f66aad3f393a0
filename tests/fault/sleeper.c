/* SPDX-License-Identifier: Apache-2.0 */
/* Sleepers: processes that are stopped and continued, and report what their
 * grants say. */
#include "sleeper.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holder.h"
#include "spawn.h"
#include "wait.h"

#define MS   1000000LL
#define SIZE (SLEEPERS * sizeof(struct seat))

static int shared_fd = -1;

static struct seat *map_seats(int fd)
{
    void *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return p == MAP_FAILED ? NULL : p;
}

static struct seat *seats(void)
{
    static struct seat *all;

    if (all != NULL)
        return all;
    shared_fd = memfd_create("seats", MFD_CLOEXEC);
    if (shared_fd < 0 || ftruncate(shared_fd, SIZE) != 0)
        return NULL;
    all = map_seats(shared_fd);
    return all;
}

int sleeper_start(struct sleeper *s, int number, const char *hosts,
                  uint32_t timeout_ms, const char *path)
{
    char seat[16];
    char timeout[16];
    char *argv[] = { "/proc/self/exe", seat,         (char *)hosts,
                     timeout,          (char *)path, NULL };

    if (seats() == NULL)
        return -1;
    (void)snprintf(seat, sizeof(seat), "%d", number);
    (void)snprintf(timeout, sizeof(timeout), "%u", timeout_ms);
    s->seat = &seats()[number];
    *s->seat = (struct seat){ 0 };
    s->pid = spawn_bound(argv, shared_fd, STDERR_FILENO);
    return s->pid < 0 ? -1 : 0;
}

void sleeper_stop(const struct sleeper *s)
{
    (void)kill(s->pid, SIGSTOP);
}

void sleeper_go_on(const struct sleeper *s)
{
    (void)kill(s->pid, SIGCONT);
}

void sleeper_end(const struct sleeper *s)
{
    (void)kill(s->pid, SIGKILL);
    (void)waitpid(s->pid, NULL, 0);
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

int sleeper_main(char **argv)
{
    static struct holder h;
    struct seat *seat = map_seats(STDIN_FILENO);
    bool asked = false;

    if (seat == NULL)
        return 1;
    seat += atoi(argv[1]);
    if (holder_open(&h, argv[2], (uint32_t)atoi(argv[3]), argv[4]) != ZKR_OK) {
        (void)fprintf(stderr, "sleeper: %s\n", zkr_error_detail());
        return 1;
    }
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
