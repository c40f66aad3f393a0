/* SPDX-License-Identifier: Apache-2.0 */
/* Session options for servers with TLS or SASL. */
#pragma once

#include <zkrecipes/session.h>

#include "server.h"

/* The names that the options point to. */
struct tls_files {
    char ca[512];
    char cert[512];
    char key[512];
};

/* `ca` and `client` are names of keys.sh: "ca" or "other", "client" or
 * "stranger". */
void with_tls(struct zkr_session_opts *opts, struct tls_files *files,
              const char *ca, const char *client);
void with_sasl(struct zkr_session_opts *opts);
