/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what the tool asks through a proxy, and waits until it asks no more.
 */
#include "quiet.h"

#include <stdbool.h>

#include <zookeeper/proto.h>

#include "fixture.h"

enum { REMOVE_WATCHES = 18 }; /* proto.h has no name for it */

long quiet_requests(struct proxy *p)
{
    static const int types[] = { ZOO_GETDATA_OP,      ZOO_GETCHILDREN_OP,
                                 ZOO_GETCHILDREN2_OP, ZOO_EXISTS_OP,
                                 ZOO_SYNC_OP,         REMOVE_WATCHES };
    long sum = 0;

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        sum += proxy_requests(p, types[i]);
    return sum;
}

/* For how long there was no request. It has `count` and the time of the last
 * one brought up to date. */
static int64_t quiet_ms(struct proxy *p, long *count, int64_t *since_ms)
{
    long requests = quiet_requests(p);

    if (requests != *count) {
        *count = requests;
        *since_ms = now_ms();
    }
    return now_ms() - *since_ms;
}

void quiet_wait(struct proxy *p, int64_t idle_ms)
{
    int64_t since_ms = now_ms();
    long count = quiet_requests(p);

    AWAIT(quiet_ms(p, &count, &since_ms) >= idle_ms);
}
