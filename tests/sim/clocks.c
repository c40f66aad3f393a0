/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, random numbers and owner records that repeat. This file takes the
 * place of clock.c and random.c, and of what writes the records. */
#include "base/clock.h"
#include "base/random.h"
#include "protocol/owner.h"
#include "world.h"

int64_t zkr__clock_now(void)
{
    return sim_now;
}

int64_t zkr__clock_boot(void)
{
    return sim_now;
}

int64_t zkr__clock_deadline(int64_t ms)
{
    if (ms < 0 || ms > (ZKR__NEVER - sim_now) / ZKR__MS)
        return ZKR__NEVER;
    return sim_now + ms * ZKR__MS;
}

int64_t zkr__clock_left_ms(int64_t deadline)
{
    if (deadline == ZKR__NEVER)
        return -1;
    return deadline <= sim_now ? 1
                               : (deadline - sim_now + ZKR__MS - 1) / ZKR__MS;
}

uint64_t zkr__random(void)
{
    return noise();
}

void zkr__random_uuid(char uuid[ZKR__UUID_LEN + 1])
{
    uint64_t n = noise();

    (void)snprintf(uuid, ZKR__UUID_LEN + 1, "%08x-0000-4000-8000-0000%08x",
                   (uint32_t)(n >> 32), (uint32_t)n);
}

WRAP(void, zkr__owner_start, (char text[ZKR__START_MAX]))
{
    text[0] = '\0';
}

WRAP(int, zkr__owner_write,
     (const struct zkr__owner *owner, char data[ZKR__OWNER_MAX + 1],
      size_t *ret_len))
{
    int len = snprintf(data, ZKR__OWNER_MAX + 1,
                       "{\"label\":\"%s\",\"claim\":\"%s\"}",
                       owner->label == NULL ? "" : owner->label,
                       owner->claim == NULL ? "" : owner->claim);

    *ret_len = (size_t)len;
    return ZKR_OK;
}
