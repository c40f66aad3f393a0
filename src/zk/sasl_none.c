/* SPDX-License-Identifier: Apache-2.0 */
/* SASL where the client has none. */
#include "zk/sasl.h"

#include <stddef.h>

#include <zkrecipes/error.h>

bool zkr__sasl_supported(void)
{
    return false;
}

int zkr__sasl_check(const struct zkr_session_opts *opts)
{
    (void)opts;
    return ZKR_ENOTSUP;
}

struct zkr__sasl *zkr__sasl_new(const struct zkr_session_opts *opts)
{
    (void)opts;
    return NULL;
}

void zkr__sasl_free(struct zkr__sasl *sasl)
{
    (void)sasl;
}

const void *zkr__sasl_callbacks(const struct zkr__sasl *sasl)
{
    (void)sasl;
    return NULL;
}
