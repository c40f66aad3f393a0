/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a session at the moment when the client gets a transaction. It is for
 * one file of a program, which wraps zoo_amulti: meson.build. */
#pragma once

#include "fixture.h"

/* The session that ends, at the next transaction of two operations or more; 0:
 * none, and again when it has ended. */
static _Atomic int64_t victim_id;

__typeof__(zoo_amulti) __real_zoo_amulti, __wrap_zoo_amulti;

int __wrap_zoo_amulti(zhandle_t *zh, int count, const zoo_op_t *ops,
                      zoo_op_result_t *results, void_completion_t completion,
                      const void *context)
{
    int64_t id = count >= 2 ? atomic_exchange(&victim_id, 0) : 0;

    if (id != 0) {
        (void)session_kill_by_id(server_hosts(the_server), id);
        sleep_ms(500); /* for something not to happen */
    }
    return __real_zoo_amulti(zh, count, ops, results, completion, context);
}
