/* SPDX-License-Identifier: Apache-2.0 */
/* All verbs. Each is in the file of its name, but for wait, which is in
 * check.c, and version, which is in help.c. */
#ifndef VERBS_VERBS_H
#define VERBS_VERBS_H

#include "common/lockctl.h"
#include "text/fields.h"

extern const struct verb verb_break;
extern const struct verb verb_check;
extern const struct verb verb_deadlocks;
extern const struct verb verb_doctor;
extern const struct verb verb_completion;
extern const struct verb verb_context;
extern const struct verb verb_help;
extern const struct verb verb_hold;
extern const struct verb verb_release;
extern const struct verb verb_run;
extern const struct verb verb_lead;
extern const struct verb verb_log;
extern const struct verb verb_ls;
extern const struct verb verb_metrics;
extern const struct verb verb_revoke;
extern const struct verb verb_show;
extern const struct verb verb_top;
extern const struct verb verb_version;
extern const struct verb verb_wait;
extern const struct verb verb_watch;

/* What they print. */
extern const struct field deadlock_fields[], member_fields[], place_fields[];
extern const struct field event_fields[];
extern const struct field finding_fields[];
extern const struct field queue_fields[];
extern const struct field setting_fields[];
const struct field *context_fields(void);

/* In the order in which help lists them; ends with NULL. */
extern const struct verb *const verbs[];

/* NULL: there is none of that name. */
const struct verb *verbs_find(const char *name);
/* Fails for a name that is none. */
int verbs_fail(const char *name);

#endif
