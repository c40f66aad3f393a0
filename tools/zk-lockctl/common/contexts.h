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
#include <stdbool.h>
#include <stddef.h>

/* Settings: what the tool must know to reach an ensemble. Each is an option of
 * every verb, and a key of a context, of the same name. */
enum setting {
    SETTING_SERVERS,
    SETTING_AUTH_FILE,
    SETTING_TIMEOUT,
    SETTING_TLS_CA,
    SETTING_TLS_CERT,
    SETTING_TLS_KEY,
    SETTING_TLS_PASSWORD_FILE,
    SETTING_TLS_VERIFY,
    SETTING_SASL_MECHANISM,
    SETTING_SASL_USER,
    SETTING_SASL_PASSWORD_FILE,
    SETTING_SASL_REALM,
    SETTING_SASL_SERVICE,
    SETTING_SASL_HOST,
    SETTING_COUNT,
};

/* Returns what is wrong with the value ("is not a duration"), or NULL. */
const char *setting_fault(enum setting setting, const char *value);

struct context {
    char *name;
    char *settings[SETTING_COUNT]; /* NULL: not there; files with their path */
    bool current;                  /* for who lists them */
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

/* --- files that tell the tool what to do, or a secret --- */

enum private_from {
    PRIVATE_WRITE, /* no other user may write it */
    PRIVATE_READ,  /* no other user may write or read it */
};

/* The whole file as a string in `text`; or a pipe, such as "/dev/fd/3". NULL,
 * or why it cannot be used; then `text` is wiped. */
const char *private_file_read(const char *path, enum private_from from,
                              char *text, size_t size);
