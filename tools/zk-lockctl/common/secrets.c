/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets: credentials and passwords, in memory only while a session is
 * opened. */
#include "common/secrets.h"

#include <string.h>

#include "common/private_file.h"

/* The first line of the file, which must not be empty. Without such a file 0,
 * and "". */
static int read_line(const struct lockctl *ctl, enum setting setting,
                     char line[SECRET_MAX])
{
    const char *path = ctl->settings[setting];
    const char *fault;

    line[0] = '\0';
    if (path == NULL)
        return 0;
    fault = private_file_read(path, PRIVATE_READ, line, SECRET_MAX);
    line[strcspn(line, "\r\n")] = '\0';
    if (fault == NULL && line[0] == '\0')
        fault = "its first line is empty";
    return fault == NULL
               ? 0
               : lockctl_fail(EX_CONFIG, "%s '%s': %s",
                              setting_options[setting].name, path, fault);
}

/* "scheme:credentials". */
static int split_auth(struct secrets *secrets, const struct lockctl *ctl,
                      struct zkr_session_opts *opts)
{
    char *colon = strchr(secrets->auth, ':');

    if (ctl->settings[SETTING_AUTH_FILE] == NULL)
        return 0;
    if (colon == NULL || colon == secrets->auth)
        return lockctl_fail(EX_CONFIG, "auth-file '%s': not scheme:credentials",
                            ctl->settings[SETTING_AUTH_FILE]);
    *colon = '\0';
    opts->auth_scheme = secrets->auth;
    opts->auth = colon + 1;
    return 0;
}

int secrets_read(struct secrets *secrets, const struct lockctl *ctl,
                 struct zkr_session_opts *opts)
{
    int code = read_line(ctl, SETTING_AUTH_FILE, secrets->auth);

    if (code == 0)
        code = split_auth(secrets, ctl, opts);
    if (code == 0)
        code = read_line(ctl, SETTING_TLS_PASSWORD_FILE, secrets->tls_password);
    if (code == 0)
        code =
            read_line(ctl, SETTING_SASL_PASSWORD_FILE, secrets->sasl_password);
    if (secrets->tls_password[0] != '\0')
        opts->tls_password = secrets->tls_password;
    if (secrets->sasl_password[0] != '\0')
        opts->sasl_password = secrets->sasl_password;
    return code;
}

void secrets_wipe(struct secrets *secrets)
{
    explicit_bzero(secrets, sizeof(*secrets));
}
