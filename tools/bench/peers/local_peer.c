/* SPDX-License-Identifier: Apache-2.0 */
/* A mutex of this process, which no other process sees: what a lock costs that
 * needs no server. */
#include "peer.h"

#include <stddef.h>

#include <pthread.h>

#include "crowd.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void cycle(int member)
{
    (void)member;
    (void)pthread_mutex_lock(&mutex);
    crowd_granted();
    crowd_releasing();
    (void)pthread_mutex_unlock(&mutex);
}

static void prepare(void)
{
    crowd_start((int)peer_number("threads", 8), cycle);
}

int main(int argc, char **argv)
{
    static const struct peer_bench benches[] = {
        { "threads", prepare, crowd_run, crowd_stop },
        { NULL, NULL, NULL, NULL },
    };

    return peer_main(argc, argv, benches);
}
