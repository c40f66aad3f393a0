/* SPDX-License-Identifier: Apache-2.0 */
/* Makes handles of libzookeeper_mt, plain, with TLS, with SASL or both. */
#pragma once

#include <zookeeper/zookeeper.h>

struct zkr__zk_config;
struct zkr__sasl;

struct zkr__zk_init {
    const struct zkr__zk_config *config;
    const struct zkr__sasl
        *sasl; /* NULL without; lives as long as the handle */
    watcher_fn watcher;
    void *context; /* for the watcher */
    log_callback_fn log;
};

/* Returns 0, or the client's errno, and no handle. The client's threads get no
 * signals. */
int zkr__zk_init(const struct zkr__zk_init *init, zhandle_t **ret_zh);
