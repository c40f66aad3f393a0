/* SPDX-License-Identifier: Apache-2.0 */
/* Retries: computes when a request that failed is sent again. Pure. */
#include "session/retry.h"

#include "base/error.h"

#define DEFAULT_BASE_MS 20
#define DEFAULT_CAP_MS  2000

int zkr__retry_load(struct zkr_retry *p)
{
    switch ((enum zkr_retry_kind)p->kind) {
    case ZKR_RETRY_DEFAULT:
        p->kind = ZKR_RETRY_EXPONENTIAL;
        /* fall through */
    case ZKR_RETRY_NONE:
        p->base_ms = p->base_ms != 0 ? p->base_ms : DEFAULT_BASE_MS;
        break;
    case ZKR_RETRY_FIXED:
    case ZKR_RETRY_EXPONENTIAL:
        if (p->base_ms == 0)
            return zkr__fail(ZKR_EINVAL,
                             "retry policy: base_ms is 0, requests would be "
                             "repeated without a pause");
        break;
    default:
        return zkr__fail(ZKR_EINVAL, "retry policy: kind is %u", p->kind);
    }
    if (p->cap_ms == 0)
        p->cap_ms = DEFAULT_CAP_MS;
    return ZKR_OK;
}

uint32_t zkr__retry_delay(const struct zkr_retry *p, uint32_t retries,
                          uint64_t random)
{
    uint64_t delay = p->base_ms;

    if (p->kind == ZKR_RETRY_FIXED)
        return p->base_ms;
    for (uint32_t i = 0; i < retries && delay < p->cap_ms; i++)
        delay *= 2;
    if (delay > p->cap_ms)
        delay = p->cap_ms;
    return (uint32_t)(delay - random % (delay / 2 + 1));
}

bool zkr__retry_next(const struct zkr_retry *p, uint32_t retries,
                     uint64_t elapsed_ms, uint64_t random,
                     uint32_t *ret_delay_ms)
{
    if (p->kind == ZKR_RETRY_NONE)
        return false;
    if (p->max_retries != 0 && retries >= p->max_retries)
        return false;
    if (p->max_elapsed_ms != 0 && elapsed_ms >= p->max_elapsed_ms)
        return false;
    *ret_delay_ms = zkr__retry_delay(p, retries, random);
    return true;
}
