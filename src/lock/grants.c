/* SPDX-License-Identifier: Apache-2.0 */
/* Several grants that were granted together. */
#include <zkrecipes/grant.h>

#include <stdio.h>

#include "base/error.h"

static int check_array(zkr_grant *const *grants, size_t count)
{
    return grants == NULL && count > 0
               ? zkr__fail(ZKR_EINVAL, "the array of grants is NULL")
               : ZKR_OK;
}

enum zkr_error zkr_grants_check(zkr_grant *const *grants, size_t count)
{
    int rc = check_array(grants, count);

    for (size_t i = 0; i < count && rc == ZKR_OK; i++)
        rc = zkr_grant_check(grants[i]);
    return rc;
}

enum zkr_error zkr_grants_release(zkr_grant *const *grants, size_t count)
{
    char detail[ZKR__DETAIL_MAX];
    int first = check_array(grants, count);

    for (size_t i = first == ZKR_OK ? count : 0; i-- > 0;) {
        int rc = zkr_grant_release(grants[i]);

        if (first != ZKR_OK || rc == ZKR_OK)
            continue;
        first = rc;
        (void)snprintf(detail, sizeof(detail), "%s", zkr_error_detail());
    }
    if (first != ZKR_OK && grants != NULL)
        zkr__error_set_detail(detail);
    return first;
}

void zkr_grants_free(zkr_grant **grants, size_t count)
{
    for (size_t i = grants == NULL ? 0 : count; i-- > 0;) {
        zkr_grant_free(grants[i]);
        grants[i] = NULL;
    }
}
