/* SPDX-License-Identifier: Apache-2.0 */
/* An error of the library, said as a sentence and as an exit code. */
#include "common/lockctl.h"

#include <stdio.h>

#include "common/escape.h"

/* The codes of ZooKeeper that mean something to a user of the tool. */
int lockctl_exit_code(int rc)
{
    switch (rc) {
    case ZKR_EINVAL:
    case ZKR_EPATH:
    case ZKR_ETOOLONG:
        return EX_USAGE;
    case ZKR_EHOSTS:
    case ZKR_EREFUSED:
    case ZKR_ENOTZK:
    case ZKR_EUNREACHABLE:
    case ZKR_ZSSLCONNECTIONERROR:
        return EX_UNAVAILABLE;
    case ZKR_ENOCHROOT:
    case ZKR_ENOTSUP:
        return EX_CONFIG;
    case ZKR_ETIMEDOUT:
    case ZKR_EBUSY:
        return EX_TEMPFAIL;
    case ZKR_ELOST:
        return EX_LOST;
    case ZKR_EEXHAUSTED:
    case ZKR_ZNOCHILDRENFOREPHEMERALS:
        return EX_CANTCREAT;
    case ZKR_ZNOAUTH:
    case ZKR_ZAUTHFAILED:
    case ZKR_ZSESSIONCLOSEDREQUIRESASLAUTH:
        return EX_NOPERM;
    default:
        return zkr_error_is_transient(rc) || zkr_error_is_session_over(rc)
                   ? EX_UNAVAILABLE
                   : EX_SOFTWARE;
    }
}

int lockctl_cause;

/* The sentence may name a path that somebody else has chosen. */
const char *lockctl_explain(int rc, const char *detail,
                            char text[EXPLAINED_MAX])
{
    char escaped[1024];

    if (detail[0] == '\0')
        detail = zkr_strerror(rc);
    (void)snprintf(text, EXPLAINED_MAX, "%s%s",
                   escape_string(detail, escaped, sizeof(escaped)),
                   rc == ZKR_ZNOAUTH ? "; see --auth-file" : "");
    return text;
}

int lockctl_fail_error(int rc, const char *detail)
{
    char text[EXPLAINED_MAX];

    lockctl_cause = rc;
    return lockctl_fail(lockctl_exit_code(rc), "%s",
                        lockctl_explain(rc, detail, text));
}

int lockctl_fail_zkr(int rc)
{
    return lockctl_fail_error(rc, zkr_error_detail());
}
