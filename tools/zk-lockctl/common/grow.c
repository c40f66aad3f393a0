/* SPDX-License-Identifier: Apache-2.0 */
#include "common/grow.h"

#include "common/lockctl.h"

void *enough(void *block)
{
    if (block == NULL)
        exit(lockctl_fail_error(ZKR_ENOMEM, ""));
    return block;
}
