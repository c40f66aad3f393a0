/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers from the kernel, because the client re-seeds the generator of
 * the process. */
#include "base/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void fill(void *buf, size_t len)
{
    if (getentropy(buf, len) != 0)
        abort(); /* ENOSYS: a kernel before 3.17 */
}

uint64_t zkr__random(void)
{
    uint64_t value;

    fill(&value, sizeof(value));
    return value;
}

void zkr__random_uuid(char uuid[ZKR__UUID_LEN + 1])
{
    unsigned char b[16];

    fill(b, sizeof(b));
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    (void)snprintf(uuid, ZKR__UUID_LEN + 1,
                   "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
                   "%02x%02x%02x%02x%02x%02x",
                   b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9],
                   b[10], b[11], b[12], b[13], b[14], b[15]);
}
