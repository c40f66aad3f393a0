/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all verbs. */
#include "verbs/verbs.h"

#include <string.h>

/* clang-format off */
const struct verb *const verbs[] = {
    &verb_run,
    &verb_lead,
    &verb_hold,
    &verb_release,
    &verb_ls,
    &verb_show,
    &verb_check,
    &verb_wait,
    &verb_watch,
    &verb_log,
    &verb_top,
    &verb_metrics,
    &verb_revoke,
    &verb_break,
    &verb_deadlocks,
    &verb_doctor,
    &verb_context,
    &verb_completion,
    &verb_help,
    &verb_version,
    NULL,
};
/* clang-format on */

const struct verb *verbs_find(const char *name)
{
    for (const struct verb *const *v = verbs; *v != NULL; v++) {
        if (strcmp((*v)->name, name) == 0)
            return *v;
    }
    return NULL;
}

int verbs_fail(const char *name)
{
    const char *names[sizeof(verbs) / sizeof(verbs[0])] = { NULL };
    const char *near;

    for (size_t i = 0; verbs[i] != NULL; i++)
        names[i] = verbs[i]->name;
    near = opt_nearest(name, names);
    return lockctl_fail(EX_USAGE, "unknown verb '%s'%s%s; see zk-lockctl help",
                        name, near == NULL ? "" : ", did you mean ",
                        near == NULL ? "" : near);
}
