/* SPDX-License-Identifier: Apache-2.0 */
/* TLS where the client has none. */
#include "zk/tls.h"

#include <zkrecipes/error.h>

bool zkr__tls_supported(void)
{
    return false;
}

int zkr__tls_check(const struct zkr_session_opts *opts)
{
    (void)opts;
    return ZKR_ENOTSUP;
}

int zkr__tls_try(const struct zkr_session_opts *opts, int fd, int64_t deadline,
                 char *reason, size_t size)
{
    (void)opts;
    (void)fd;
    (void)deadline;
    (void)reason;
    (void)size;
    return ZKR_OK;
}
