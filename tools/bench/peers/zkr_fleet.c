/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that do nothing, or hold a lock each.
 *
 * This file has a function with the name of the client's zoo_async(); the
 * dynamic linker prefers it. It counts, and calls the real one. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include <zookeeper/zookeeper.h>

#include "fleet.h"
#include "peer.h"
#include "zkr_benches.h"
#include "zkr_locks.h"

static zkr_session *sessions[FLEET_MAX];
static struct lock locks[FLEET_MAX];
static atomic_long syncs;

int zoo_async(zhandle_t *zh, const char *path, string_completion_t completion,
              const void *data)
{
    int (*real)(zhandle_t *, const char *, string_completion_t, const void *);
    void *found = dlsym(RTLD_NEXT, "zoo_async");

    if (found == NULL)
        peer_error("there is no zoo_async");
    (void)memcpy(&real, &found, sizeof(found));
    atomic_fetch_add(&syncs, 1);
    return real(zh, path, completion, data);
}

/* A lock leaves its directory. */
static void make_beacon(const char *path)
{
    zkr_session *session = open_session();
    struct lock lock;

    lock_new(&lock, session, "mutex", path);
    lock_acquire(&lock);
    lock_release(&lock);
    lock_free(&lock);
    (void)zkr_session_close(session);
}

static void enter(long number)
{
    const char *beacon = peer_option("beacon", NULL);

    if (number == 0 && beacon != NULL)
        make_beacon(beacon);
    sessions[number] = open_session();
    if (peer_number("hold", 0) == 0)
        return;
    lock_new(&locks[number], sessions[number], "mutex",
             path_of("fleet", number));
    lock_acquire(&locks[number]);
}

static void leave(long number)
{
    if (locks[number].lockable != NULL) {
        lock_release(&locks[number]);
        lock_free(&locks[number]);
        locks[number].lockable = NULL;
    }
    (void)zkr_session_close(sessions[number]);
}

void fleet_of_zkr_run(long n)
{
    static const struct fleet fleet = { enter, leave };
    long before = atomic_load(&syncs);

    fleet_run(n, &fleet);
    if (n > 0)
        peer_figure("syncs",
                    (double)(atomic_load(&syncs) - before) / (double)n);
}
