/* SPDX-License-Identifier: Apache-2.0 */
/* Acquires without releases, or releases without acquires, so that the driver
 * can count the requests of each. */
#include <stdlib.h>
#include <string.h>

#include "peer.h"
#include "zkr_benches.h"
#include "zkr_locks.h"

enum { LOCKS = 64 };

static zkr_session *session;
static struct lock locks[LOCKS];
static bool are_held;
static bool is_release;

static void acquire(long n)
{
    for (long i = 0; i < n; i++)
        lock_acquire(&locks[i]);
    are_held = true;
}

static void release(long n)
{
    for (long i = 0; i < n; i++)
        lock_release(&locks[i]);
    are_held = false;
}

/* The number of locks is that of the batches. */
void steps_run(long n)
{
    long count = peer_number("locks", 25);
    bool wants_held = (n == 0) == is_release;

    if (n > 0 && n != count)
        peer_error("a batch has %ld cycles", count);
    if (wants_held && !are_held)
        acquire(count);
    if (!wants_held && are_held)
        release(count);
}

void steps_prepare(void)
{
    long count = peer_number("locks", 25);

    if (count > LOCKS)
        peer_error("more than %d locks", LOCKS);
    is_release = strcmp(peer_option("step", "acquire"), "release") == 0;
    session = open_session();
    for (long i = 0; i < count; i++)
        lock_new(&locks[i], session, peer_option("recipe", "mutex"),
                 path_of("step", i));
    acquire(count);
    release(count);
}

void steps_finish(void)
{
    for (long i = 0; i < peer_number("locks", 25); i++) {
        if (are_held)
            lock_release(&locks[i]);
        lock_free(&locks[i]);
    }
    (void)zkr_session_close(session);
}
