/* Reads option structs, whose size tells the version of the caller, so that
 * older and newer callers work. */
#include "base/opts.h"

#include <string.h>

#include "base/error.h"

#define OPTS_SIZE_MAX 4096

int zkr__opts_load(void *dst, size_t dst_size, size_t v1_size, const void *src,
                   const char *what)
{
    const unsigned char *bytes = src;
    size_t size;

    memset(dst, 0, dst_size);
    if (src == NULL)
        return ZKR_OK;

    memcpy(&size, src, sizeof(size));
    if (size < v1_size || size > OPTS_SIZE_MAX)
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
