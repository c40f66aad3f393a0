/* SPDX-License-Identifier: Apache-2.0 */
/* What the client of the unit tests (threads, real time) and that of the
 * simulator (fibers, simulated time) do alike: nothing. */
#include "zk/zk.h"

#include "base/error.h"

unsigned zkr__zk_round(struct zkr__zk *zk)
{
    return 0;
}

void zkr__zk_take_fault(struct zkr__zk *zk, struct zkr__zk_fault *ret_fault)
{
    *ret_fault = (struct zkr__zk_fault){ 0 };
}

int zkr__zk_move(struct zkr__zk *zk, const char *servers)
{
    return ZKR_OK;
}

void *zkr__zk_raw(struct zkr__zk *zk)
{
    return zk;
}
