/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how locks were used: the grants of each lock or owner, how long they
 * were waited for, and for how long they were held. */
#pragma once

#include "text/stays.h"

/* What the grants are counted by. */
enum usage_by {
    USAGE_NONE,
    USAGE_BY_LOCK,
    USAGE_BY_OWNER,
};

extern const struct kind usage_kind;

/* Of all stays that held; prints the notes, too. An exit code. */
int usage_print(const struct lockctl *ctl, const struct past_rows *rows,
                enum usage_by by, const struct notes *notes);
