/* Paths of nodes that contend, given by those who look on. */
#include "inspect/contender_path.h"

#include <string.h>

#include "base/error.h"
#include "base/path.h"
#include "inspect/roster.h"
#include "session/session.h"

/* A lock path of ZKR_PATH_MAX and the name of a node, ours or another's. */
#define NODE_MAX (2 * ZKR_PATH_MAX)

static bool is_contender(const char *name)
{
    struct zkr_participant p = { .name = name };

    zkr__roster_read(&p);
    return p.kind != ZKR_PARTICIPANT_FOREIGN;
}

int zkr__contender_path_check(const struct zkr_session *s, const char *noun,
                              const char *node)
{
    const char *fault;

    if (node == NULL)
        return zkr__fail(ZKR_EINVAL, "%s: node is NULL", noun);
    fault = zkr__path_fault(node);
    if (fault == NULL && !is_contender(zkr__path_name(node)))
        fault = "does not end with the name of a contender";
    if (fault != NULL)
        return zkr__fail(ZKR_EPATH, "%s '%.300s': the path %s", noun, node,
                         fault);
    if (strlen(s->hosts.chroot) + strlen(node) > NODE_MAX)
        return zkr__fail(ZKR_ETOOLONG,
                         "%s '%.100s...': the path is longer than %d bytes",
                         noun, node, NODE_MAX);
    return ZKR_OK;
}
