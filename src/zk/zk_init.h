/* SPDX-License-Identifier: Apache-2.0 */
/* Makes handles of libzookeeper_mt, plain, with TLS or with SASL. */
#ifndef ZKR__ZK_INIT_H
#define ZKR__ZK_INIT_H

#include <zookeeper/zookeeper.h>

struct zkr__zk_config;
struct zkr__sasl;

/* Returns NULL with errno, as the client does. The client's threads get no
 * signals. `sasl` is NULL without SASL, and must live as long as the handle. */
zhandle_t *zkr__zk_init(const struct zkr__zk_config *config,
                        const struct zkr__sasl *sasl, watcher_fn watcher,
                        void *context, log_callback_fn log);

#endif
