/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions of the program: several writes and checks, all or none. */
#pragma once

#include <zkrecipes/client.h>

#include "request/request.h"

/* Whose node a transaction checks first. The strings live until the holder is
 * released. */
struct zkr__txn_guard {
    const struct zkr__guard *guard; /* NULL without */
    struct zkr__ref *holder;
    const char *noun; /* for errors: "mutex" */
    const char *name; /* for errors: the path of that mutex */
};

int zkr__txn_new(struct zkr_session *s, const struct zkr__txn_guard *guard,
                 zkr_txn **ret_txn);
