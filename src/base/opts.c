/* SPDX-License-Identifier: Apache-2.0 */
/* What the caller hands over: options, answers, outputs. */
#include "base/opts.h"

#include <string.h>

#include "base/error.h"

#define SIZE_LIMIT 4096

int zkr__opts_load(void *dst, size_t dst_size, size_t v1_size, const void *src,
                   const char *what)
{
    const unsigned char *bytes = src;
    size_t size;

    memset(dst, 0, dst_size);
    if (src == NULL)
        return ZKR_OK;

    memcpy(&size, src, sizeof(size));
    if (size < v1_size || size > SIZE_LIMIT)
        return zkr__fail(ZKR_EINVAL,
                         "%s: size is %zu; initialize with the ..._INIT macro",
                         what, size);
    for (size_t i = dst_size; i < size; i++) {
        if (bytes[i] != 0)
            return zkr__fail(ZKR_EINVAL,
                             "%s: uses an option that this version of the "
                             "library does not know",
                             what);
    }
    memcpy(dst, src, size < dst_size ? size : dst_size);
    return ZKR_OK;
}

static size_t size_of(const void *of)
{
    size_t size;

    memcpy(&size, of, sizeof(size));
    return size;
}

int zkr__answer_begin(void *dst, size_t v1_size, const char *what)
{
    if (dst == NULL)
        return zkr__fail(ZKR_EINVAL, "%s: the struct for the answer is NULL",
                         what);
    if (size_of(dst) < v1_size || size_of(dst) > SIZE_LIMIT)
        return zkr__fail(ZKR_EINVAL,
                         "%s: the size of the struct for the answer is %zu; "
                         "initialize it with the ..._INIT macro",
                         what, size_of(dst));
    memset((char *)dst + sizeof(size_t), 0, size_of(dst) - sizeof(size_t));
    return ZKR_OK;
}

void zkr__answer_fill(void *dst, const void *src, size_t src_size)
{
    size_t size = size_of(dst) < src_size ? size_of(dst) : src_size;

    memcpy((char *)dst + sizeof(size), (const char *)src + sizeof(size),
           size - sizeof(size));
}

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
