/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: ensembles by name, with the settings for each, in a file of the
 * user: $ZK_LOCKCTL_CONFIG, else $XDG_CONFIG_HOME/zk-lockctl/config, else
 * ~/.config/zk-lockctl/config.
 *
 *   # a comment is a line of its own
 *   current = staging
 *
 *   [staging]
 *   servers = zk1:2181,zk2:2181
 *   auth-file = staging.auth
 *
 * Keys are the names of settings; `servers` must be there. A value is the rest
 * of the line, without the blanks around it: there are no quotes and no
 * escapes. Names of files are relative to the directory of this one. Secrets
 * are in files of their own, because this one is shown, and shared. */
#pragma once

#include <limits.h>
#include <stddef.h>

#include "common/settings.h"

struct context {
    char *name;
    char *settings[SETTING_COUNT]; /* NULL: not there; files with their path */
};

struct contexts {
    char file[PATH_MAX]; /* "": no directory to look in */
    struct context *items;
    size_t count;
    char *current; /* NULL: not said */
};

/* All of the file; none when there is no file. 0, or an exit code after an
 * error was said. */
int contexts_read(struct contexts *contexts);
void contexts_done(struct contexts *contexts);

/* NULL after an error was said: there is no context of that name. */
const struct context *contexts_find(const struct contexts *contexts,
                                    const char *name);
