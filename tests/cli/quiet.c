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

struct quiet {
    struct proxy *proxy;
    int64_t idle_ms;
    long count;
    int64_t since_ms;
};

static bool is_quiet(void *arg)
{
    struct quiet *q = arg;
    long count = quiet_requests(q->proxy);

    if (count != q->count) {
        q->count = count;
        q->since_ms = now_ms();
    }
    return now_ms() - q->since_ms >= q->idle_ms;
}

void quiet_wait(struct proxy *p, int64_t idle_ms)
{
    struct quiet q = { p, idle_ms, quiet_requests(p), now_ms() };

    assert_true(wait_until(is_quiet, &q, SOON_MS));
}
