/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The version that a program was compiled against, and the one it runs with.
 */
#ifndef ZKRECIPES_VERSION_H
#define ZKRECIPES_VERSION_H

#include <zkrecipes/declare.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZKR_VERSION_MAJOR  0       /**< Of the headers. */
#define ZKR_VERSION_MINOR  1       /**< Of the headers. */
#define ZKR_VERSION_PATCH  0       /**< Of the headers. */
#define ZKR_VERSION_STRING "0.1.0" /**< Of the headers. */

/**
 * The version of the library at run time, such as "0.1.0".
 *
 * Threads   Any.
 */
ZKR_API const char *zkr_version(void);

#ifdef __cplusplus
}
#endif

#endif
