/* SPDX-License-Identifier: Apache-2.0 */
/* A preloaded library for zk-lockctl: each lock is found lost at its release,
 * as after a deletion in the instant before. */
#include <dlfcn.h>
#include <stddef.h>

#include <zkrecipes/zkrecipes.h>

enum zkr_error zkr_grant_release(zkr_grant *grant)
{
    enum zkr_error (*release)(zkr_grant *) = NULL;

    *(void **)&release = dlsym(RTLD_NEXT, "zkr_grant_release");
    if (release != NULL)
        (void)release(grant);
    return ZKR_ELOST;
}
