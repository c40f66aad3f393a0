/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out of how many servers the ensemble is. */
#include "model/ensemble_size.h"

#include <stdlib.h>
#include <string.h>

/* One line for each: "server.1=zk1:2888:3888:participant;2181". A server that
 * stands alone has none. */
static size_t count_members(const char *config, size_t size)
{
    static const char key[] = "server.";
    const char *end = config + size;
    size_t count = 0;

    for (const char *line = config; line != NULL && line < end;) {
        size_t left = (size_t)(end - line);

        count += left >= strlen(key) && memcmp(line, key, strlen(key)) == 0;
        line = memchr(line, '\n', left);
        line += line != NULL;
    }
    return count > 0 ? count : 1;
}

/* The path is of no chroot, and may be read by everybody. */
static int get_config(const struct lockctl *ctl, const struct zkr_hosts *hosts,
                      struct zkr_reply **ret_reply)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    char *servers = strdup(ctl->settings[SETTING_SERVERS]);
    zkr_session *session = NULL;
    int rc = ZKR_ENOMEM;

    opts.connect_timeout_ms = (uint32_t)ctl->timeout_ms;
    if (servers != NULL) {
        servers[strlen(servers) - strlen(hosts->chroot)] = '\0';
        rc = zkr_session_open(servers, &opts, &session);
    }
    if (rc == ZKR_OK)
        rc = zkr_session_get(session, ENSEMBLE_CONFIG, ctl->timeout_ms,
                             ret_reply);
    (void)zkr_session_close(session);
    free(servers);
    return rc;
}

size_t ensemble_size(const struct lockctl *ctl, const struct zkr_hosts *hosts)
{
    struct zkr_reply *reply = NULL;
    bool has_chroot = lockctl_chroot(hosts)[0] != '\0';
    size_t count = 0;
    int rc = ZKR_ECLOSED;

    if (ctl->session != NULL)
        rc = has_chroot ? get_config(ctl, hosts, &reply)
                        : zkr_session_get(ctl->session, ENSEMBLE_CONFIG,
                                          ctl->timeout_ms, &reply);
    if (rc == ZKR_OK)
        count = count_members(reply->data, reply->len);
    zkr_reply_free(reply);
    return count;
}

/* A client may be connected, and may watch, where nobody has asked. */
