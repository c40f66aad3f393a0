/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the argument of a call that does something to one contender. */
#include "inspect/check.h"

#include "base/error.h"
#include "base/path.h"
#include "protocol/roster.h"
#include "session/session.h"

/* A lock path of ZKR_PATH_MAX and the name of a node, ours or another's. */
#define NODE_MAX (2 * ZKR_PATH_MAX)

int zkr__check_contender(const struct zkr_session *s, const char *noun,
                         const char *node)
{
    int rc = zkr__session_check_path(s, noun, "node", node, NODE_MAX);

    if (rc == ZKR_OK && !zkr__roster_is_contender(zkr__path_name(node)))
        rc = zkr__fail(ZKR_EPATH,
                       "%s '%.300s': the path does not end with the name of a "
                       "contender",
                       noun, node);
    return rc;
}
