/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all verbs. */
#include "verbs/verbs.h"

#include <string.h>

/* clang-format off */
/* In the order in which help lists them. */
#define VERBS(DO)                                                              \
    DO(run) DO(lead) DO(hold) DO(release)                                      \
    DO(ls) DO(show) DO(check) DO(wait) DO(watch) DO(log) DO(top) DO(metrics)   \
    DO(revoke) DO(break) DO(deadlocks) DO(doctor)                              \
    DO(context) DO(completion) DO(help)
#define DECLARE(name) extern const struct verb verb_##name;
#define ADDRESS(name) &verb_##name,
VERBS(DECLARE)
const struct verb *const verbs[] = { VERBS(ADDRESS) NULL };
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

    for (size_t i = 0; verbs[i] != NULL; i++)
        names[i] = verbs[i]->name;
    const char *near = opt_nearest(name, names);
    return lockctl_fail(EX_USAGE, "unknown verb '%s'%s%s; see zk-lockctl help",
                        name, near == NULL ? "" : ", did you mean ",
                        near == NULL ? "" : near);
}
