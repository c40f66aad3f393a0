/* SPDX-License-Identifier: Apache-2.0 */
/* How a server of the tests secures its connections: the files that it needs,
 * and the lines of its configuration. */
#pragma once

#include <stdio.h>

#include "server.h"

/* What the environment asks for, by ZKR_TEST_SECURITY=tls or sasl. */
enum server_security security_of_environment(void);

/* Makes the files in the directory of a server. Complains on stderr. */
bool security_prepare(enum server_security security, const char *dir);

/* Writes jaas.conf there, with the password of SERVER_SASL_USER. */
bool security_write_logins(const char *dir, const char *password);

void security_write_config(enum server_security security, int secure_port,
                           FILE *config);

/* What the class path has in addition: "" or ":jar...". */
const char *security_class_path(enum server_security security);

/* An option for java, or NULL. It is written to `option`. */
char *security_java_option(enum server_security security, const char *dir,
                           char *option, size_t size);
