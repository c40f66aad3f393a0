/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out which ensemble is meant, by options, environment and contexts.
 *
 * The ensemble is that of the first of these that is given:
 *
 *   --servers
 *   --context
 *   ZK_SERVERS
 *   ZK_LOCKCTL_CONTEXT
 *   the current context of the file
 *   127.0.0.1:2181
 *
 * The settings that a context has count where there is no option. A context is
 * for its ensemble: where --servers or ZK_SERVERS name one, only --context adds
 * a context to it, so that no credentials go to servers for which they are not
 * meant. An empty ZK_SERVERS is an error: whoever has set it did not mean
 * another ensemble. */
#include "common/lockctl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"

const char *lockctl_env(const char *name)
{
    const char *value = getenv(name);

    return value == NULL || value[0] == '\0' ? NULL : value;
}

const char *lockctl_name_context(const struct lockctl *ctl,
                                 const struct contexts *contexts,
                                 const char **ret_from)
{
    const char *env = lockctl_env("ZK_LOCKCTL_CONTEXT");

    *ret_from = ctl->context != NULL ? "option"
                : env != NULL        ? "environment"
                                     : "file";
    return ctl->context != NULL ? ctl->context
           : env != NULL        ? env
                                : contexts->current;
}

static void take_value(struct lockctl *ctl, enum setting setting,
                       const char *value, const char *from)
{
    if (ctl->settings[setting] != NULL || value == NULL)
        return;
    ctl->settings[setting] = value;
    ctl->from[setting] = from;
}

/* The settings of the context, where there is no option. */
static int take_context(struct lockctl *ctl)
{
    int code = contexts_read(&ctl->contexts);

    if (code != 0)
        return code;
    const char *from;
    const char *name = lockctl_name_context(ctl, &ctl->contexts, &from);
    if (name == NULL)
        return 0;
    ctl->used = contexts_find(&ctl->contexts, name);
    for (enum setting i = 0; ctl->used != NULL && i < SETTING_COUNT; i++)
        take_value(ctl, i, ctl->used->settings[i], "context");
    return ctl->used == NULL ? EX_CONFIG : 0;
}

int lockctl_settle(struct lockctl *ctl)
{
    const char **servers = &ctl->settings[SETTING_SERVERS];
    int code = 0;

    if (ctl->is_settled)
        return 0;
    if (ctl->context == NULL)
        take_value(ctl, SETTING_SERVERS, getenv("ZK_SERVERS"), "environment");
    if (*servers != NULL && (*servers)[0] == '\0')
        return lockctl_fail(EX_USAGE, "ZK_SERVERS is set, but empty: it must "
                                      "name the servers, or not be set");
    if (*servers == NULL || ctl->context != NULL)
        code = take_context(ctl);
    take_value(ctl, SETTING_SERVERS, "127.0.0.1:2181", "default");
    ctl->timeout_given = ctl->settings[SETTING_TIMEOUT] != NULL;
    if (ctl->timeout_given)
        (void)lockctl_parse_duration(ctl->settings[SETTING_TIMEOUT],
                                     &ctl->timeout_ms);
    ctl->is_settled = code == 0;
    return code;
}

size_t lockctl_chroot_len(const struct lockctl *ctl)
{
    const char *servers = ctl->settings[SETTING_SERVERS];
    struct zkr_hosts *hosts = NULL;

    if (servers == NULL || zkr_hosts_parse(servers, &hosts) != ZKR_OK)
        return 0;
    size_t len = strlen(hosts->chroot);
    zkr_hosts_free(hosts);
    return len;
}

const char *lockctl_ensemble(const struct lockctl *ctl, char text[ENSEMBLE_MAX])
{
    char raw[ENSEMBLE_MAX];

    (void)snprintf(
        raw, sizeof(raw), "%s%s%s%s", ctl->used == NULL ? "" : ctl->used->name,
        ctl->used == NULL ? "" : " (", ctl->settings[SETTING_SERVERS],
        ctl->used == NULL ? "" : ")");
    return escape_string(raw, text, ENSEMBLE_MAX);
}
