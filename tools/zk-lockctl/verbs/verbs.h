/* SPDX-License-Identifier: Apache-2.0 */
/* All verbs. Each is in the file of its name, but for lead, which is in run.c,
 * release, in hold.c, wait, in check.c, and help, in verbs.c. */
#pragma once

#include "common/lockctl.h"
#include "text/fields.h"

/* In the order in which help lists them; ends with NULL. */
extern const struct verb *const verbs[];

/* NULL: there is none of that name. */
const struct verb *verbs_find(const char *name);
/* Fails for a name that is none. */
int verbs_fail(const char *name);
