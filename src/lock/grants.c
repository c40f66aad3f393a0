/* SPDX-License-Identifier: Apache-2.0 */
/* Several grants that were granted together. */
#include <zkrecipes/grant.h>

#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "lock/claim.h"

static int check_array(zkr_grant *const *grants, size_t count)
{
    return grants == NULL && count > 0
               ? zkr__fail(ZKR_EINVAL, "the array of grants is NULL")
               : ZKR_OK;
}

int zkr_grants_check(zkr_grant *const *grants, size_t count)
{
    int rc = check_array(grants, count);

    for (size_t i = 0; i < count && rc == ZKR_OK; i++)
        rc = zkr_grant_check(grants[i]);
    return rc;
}

/* The first error, with its sentence. */
struct first {
    int rc;
    char detail[ZKR__DETAIL_MAX];
};

static void note(struct first *first, int rc)
{
    if (first->rc != ZKR_OK || rc == ZKR_OK)
        return;
    first->rc = rc;
    (void)snprintf(first->detail, sizeof(first->detail), "%s",
                   zkr_error_detail());
}

/* All deletes are one flight. */
int zkr_grants_release(zkr_grant *const *grants, size_t count)
{
    struct first first = { .rc = ZKR_OK };
    int64_t since = zkr__clock_now();
    int rc = check_array(grants, count);

    if (rc != ZKR_OK)
        return rc;
    for (size_t i = count; i-- > 0;)
        note(&first, zkr__grant_release_begin(grants[i]));
    for (size_t i = count; i-- > 0;)
        note(&first, zkr__grant_release_end(grants[i], since));
    if (first.rc != ZKR_OK)
        zkr__error_set_detail(first.detail);
    return first.rc;
}

void zkr_grants_free(zkr_grant **grants, size_t count)
{
    for (size_t i = grants == NULL ? 0 : count; i-- > 0;) {
        zkr_grant_free(grants[i]);
        grants[i] = NULL;
    }
}
