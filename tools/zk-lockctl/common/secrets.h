/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets: credentials and passwords, in memory only while a session is
 * opened. They come from files, never from the command line or the environment,
 * where others could read them. */
#pragma once

#include "common/lockctl.h"

enum { SECRET_MAX = 1024 };

struct secrets {
    char auth[SECRET_MAX]; /* the scheme, and behind its end the credentials */
    char tls_password[SECRET_MAX];
    char sasl_password[SECRET_MAX];
};

/* Read the files that the settings name, and let the options of the session
 * refer to what is in them. 0, or an exit code after an error was said. */
int secrets_read(struct secrets *secrets, const struct lockctl *ctl,
                 struct zkr_session_opts *opts);
/* Also after an error. */
void secrets_wipe(struct secrets *secrets);
