/* SPDX-License-Identifier: Apache-2.0 */
/* The version of the library at run time. */
#include <zkrecipes/error.h>

const char *zkr_version(void)
{
    return ZKR_VERSION_STRING;
}
