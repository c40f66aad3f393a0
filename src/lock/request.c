/* SPDX-License-Identifier: Apache-2.0 */
/* The handle of an asynchronous acquire: of a claim, or of a chain of them. */
#include "lock/request.h"

#include "base/error.h"
#include "session/session.h"

int zkr_request_cancel(zkr_request *request)
{
    int rc;

    if (request == NULL)
        return zkr__fail(ZKR_EINVAL, "request is NULL");
    rc = zkr__session_check(request->session, "request");
    if (rc != ZKR_OK)
        return rc;
    zkr__session_lock(request->session);
    request->cancel(request);
    zkr__session_unlock(request->session);
    return ZKR_OK;
}

void zkr_request_free(zkr_request *request)
{
    if (request != NULL &&
        zkr__session_check(request->session, "request") == ZKR_OK)
        zkr__ref_drop(request->ref);
}
