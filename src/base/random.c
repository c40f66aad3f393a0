/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers from the kernel, because the client re-seeds the generator of
 * the process. */
#include "base/random.h"

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

/* Version 4: a digit each of random bits, but for those that RFC 9562 sets. */
void zkr__random_uuid(char uuid[ZKR__UUID_LEN + 1])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char b[ZKR__UUID_LEN];

    fill(b, sizeof(b));
    for (size_t i = 0; i < ZKR__UUID_LEN; i++)
        uuid[i] = digits[b[i] % 16];
    uuid[8] = uuid[13] = uuid[18] = uuid[23] = '-';
    uuid[14] = '4';
    uuid[19] = digits[8 + b[19] % 4];
    uuid[ZKR__UUID_LEN] = '\0';
}
