/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs: what a function gives through a pointer of the caller. */
#include "base/output.h"

#include <string.h>

#include "base/error.h"

void zkr__output_empty(void *ret, size_t size)
{
    if (ret != NULL)
        memset(ret, 0, size);
}

int zkr__output_begin(void *ret, size_t size, const char *name)
{
    zkr__output_empty(ret, size);
    return ret != NULL ? ZKR_OK : zkr__fail(ZKR_EINVAL, "%s is NULL", name);
}
