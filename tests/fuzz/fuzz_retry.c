/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the delays between retries: they stay within those of any policy. */
#include "base/error.h"
#include "fuzz.h"
#include "session/retry.h"

/* base, 2 base, 4 base, ... up to the cap. */
static uint64_t longest(const struct zkr_retry *policy, uint32_t retries)
{
    uint64_t delay = policy->base_ms;

    if (policy->kind == ZKR_RETRY_FIXED)
        return delay;
    delay = retries < 32 ? delay << retries : UINT64_MAX;
    return delay < policy->cap_ms ? delay : policy->cap_ms;
}

static void check_next(const struct zkr_retry *policy, uint32_t retries,
                       uint64_t elapsed_ms, uint64_t random)
{
    uint32_t delay = zkr__retry_delay(policy, retries, random);
    uint64_t most = longest(policy, retries);
    bool ends =
        policy->kind == ZKR_RETRY_NONE ||
        (policy->max_retries != 0 && retries >= policy->max_retries) ||
        (policy->max_elapsed_ms != 0 && elapsed_ms >= policy->max_elapsed_ms);
    uint32_t next = 0;

    CHECK(delay <= most && delay >= most - most / 2);
    CHECK(delay > 0);
    CHECK(policy->kind != ZKR_RETRY_FIXED || delay == policy->base_ms);
    CHECK(zkr__retry_delay(policy, retries, 0) == most);
    CHECK(zkr__retry_next(policy, retries, elapsed_ms, random, &next) == !ends);
    CHECK(next == (ends ? 0 : delay));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = { data, size };
    struct zkr_retry policy = { .kind = (uint32_t)fuzz_number(&in, 1) % 6 };
    bool good = policy.kind <= ZKR_RETRY_EXPONENTIAL;

    policy.base_ms = (uint32_t)fuzz_number(&in, 4);
    policy.cap_ms = (uint32_t)fuzz_number(&in, 4);
    policy.max_retries = (uint32_t)fuzz_number(&in, 4);
    policy.max_elapsed_ms = fuzz_number(&in, 8);
    good = good && (policy.kind <= ZKR_RETRY_NONE || policy.base_ms != 0);
    CHECK((zkr__retry_load(&policy) == ZKR_OK) == good);
    while (good && in.size > 0) {
        uint32_t retries = (uint32_t)fuzz_number(&in, 4);
        uint64_t elapsed_ms = fuzz_number(&in, 8);

        check_next(&policy, retries, elapsed_ms, fuzz_number(&in, 8));
    }
    return 0;
}
