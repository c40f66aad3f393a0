/* SPDX-License-Identifier: Apache-2.0 */
/* The handle of an asynchronous acquire: of a claim, or of a chain of them. */
#ifndef ZKR__LOCK_REQUEST_H
#define ZKR__LOCK_REQUEST_H

#include <zkrecipes/lockable.h>

#include "session/locked.h"

struct zkr_session;

struct zkr__request_type {
    struct zkr_session *(*session)(const struct zkr_request *r);
    /* Under the session lock. */
    void (*cancel)(struct zkr_request *r);
    /* Drops the reference of the user. */
    void (*unref)(struct zkr_request *r);
};

struct zkr_request { /* part of what was asked for */
    const struct zkr__request_type *type;
};

#endif
