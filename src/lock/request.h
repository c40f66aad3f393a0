/* SPDX-License-Identifier: Apache-2.0 */
/* The handle of an asynchronous acquire: of a claim, or of a chain of them. */
#ifndef ZKR__LOCK_REQUEST_H
#define ZKR__LOCK_REQUEST_H

#include <zkrecipes/lockable.h>

#include "base/error.h"
#include "base/ref.h"
#include "session/locked.h"

struct zkr_session;

struct zkr_request { /* part of what was asked for; set once */
    struct zkr_session *session;
    struct zkr__ref *ref; /* of what was asked for; the user has one */
    /* Under the session lock. */
    void (*cancel)(struct zkr_request *r);
};

/* Its sentence, for this thread. `detail` is that of an error; NULL: there was
 * no memory for one. */
static inline void zkr__outcome_tell(int rc, const char *detail)
{
    if (rc == ZKR_OK)
        detail = "";
    zkr__error_set_detail(detail == NULL ? zkr_strerror(rc) : detail);
}

#endif
