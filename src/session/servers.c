/* SPDX-License-Identifier: Apache-2.0 */
/* The servers of a session, which may change while it lives. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "session/connector.h"
#include "session/session.h"

/* Present and later handles take the new list. A handle that is being made
 * takes it when it is there. */
static int set_servers_locked(struct zkr_session *s,
                              struct zkr__hosts *hosts) ZKR__LOCKED
{
    struct zkr__hosts before = s->hosts;
    int rc = zkr__session_check_open_locked(s);

    if (rc != ZKR_OK)
        return rc;
    if (s->zk != NULL && zkr__zk_move(s->zk, hosts->plain) != ZKR_OK)
        return zkr__no_memory("session to", s->hosts.servers);
    s->hosts.servers = hosts->servers;
    s->hosts.plain = hosts->plain;
    hosts->servers = before.servers;
    hosts->plain = before.plain;
    free(zkr__attempt_take_locked(s));
    s->open_at = 0;
    zkr__connector_wake_locked(s);
    return ZKR_OK;
}

int zkr_session_set_servers(zkr_session *s, const char *text)
{
    struct zkr__hosts hosts;
    int rc = zkr__session_check(s, "session");

    if (rc == ZKR_OK)
        rc = zkr__hosts_parse(&hosts, text, NULL);
    if (rc != ZKR_OK)
        return rc;
    if (hosts.chroot[0] != '\0' && strcmp(hosts.chroot, s->hosts.chroot) != 0) {
        rc = zkr__fail(ZKR_EINVAL,
                       "hosts '%s': the chroot of the session is '%s', and "
                       "cannot change",
                       text, s->hosts.chroot);
    } else {
        zkr__session_lock(s);
        rc = set_servers_locked(s, &hosts);
        zkr__session_unlock(s);
    }
    zkr__hosts_done(&hosts);
    return rc;
}
