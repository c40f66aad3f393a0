/* SPDX-License-Identifier: Apache-2.0 */
/* The security of connections: checks the options of TLS and SASL. */
#include "zk/security.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <zkrecipes/session.h>

#include "base/error.h"
#include "zk/sasl.h"
#include "zk/tls.h"

/* The longest first line of a file with a password. */
#define PASSWORD_MAX_BYTES 1024

static int lacks(const char *what)
{
    return zkr__fail(
        ZKR_ENOTSUP,
        "session options: the ZooKeeper client that this library "
        "was built with has no %s; tools/build-client.sh makes one "
        "that has, see docs/install.md",
        what);
}

/* The client takes the names as one list with commas in between. */
static int check_name(const char *option, const char *value)
{
    if (value == NULL)
        return zkr__fail(ZKR_EINVAL,
                         "session options: %s is missing; TLS needs tls_ca, "
                         "tls_cert and tls_key",
                         option);
    if (value[0] == '\0')
        return zkr__fail(ZKR_EINVAL, "session options: %s is empty", option);
    if (strchr(value, ',') != NULL)
        return zkr__fail(ZKR_EINVAL,
                         "session options: %s contains a comma, which the "
                         "ZooKeeper client takes for its end",
                         option);
    return ZKR_OK;
}

/* That this process gets no descriptor is no fault of the option. */
int zkr__security_fail_to_open(const char *option, const char *name, int error)
{
    bool wants = error == EMFILE || error == ENFILE;

    return zkr__fail(wants ? ZKR_ESYSTEM : ZKR_EINVAL,
                     "session options: %s '%s': %s", option, name,
                     strerror(error));
}

static int check_tls(const struct zkr_session_opts *o)
{
    const struct {
        const char *option;
        const char *name;
    } files[] = {
        { "tls_ca", o->tls_ca },
        { "tls_cert", o->tls_cert },
        { "tls_key", o->tls_key },
    };
    int rc = ZKR_OK;

    if (o->tls_verify > ZKR_TLS_VERIFY_CHAIN)
        return zkr__fail(ZKR_EINVAL, "session options: unknown tls_verify %d",
                         (int)o->tls_verify);
    for (size_t i = 0; i < 3 && rc == ZKR_OK; i++)
        rc = check_name(files[i].option, files[i].name);
    if (rc == ZKR_OK && o->tls_password != NULL)
        rc = check_name("tls_password", o->tls_password);
    if (rc == ZKR_OK)
        rc = ZKR__CLIENT_INSIDE ? zkr__tls_check(o) : lacks("TLS");
    return rc;
}

static int load_tls(const struct zkr_session_opts *o)
{
    if (o->tls_ca == NULL && o->tls_cert == NULL && o->tls_key == NULL &&
        o->tls_password == NULL && o->tls_verify == ZKR_TLS_VERIFY_NAME)
        return ZKR_OK;
    return check_tls(o);
}

int zkr__security_read_password(const char *name, char **ret_password)
{
    char line[PASSWORD_MAX_BYTES] = "";
    FILE *file = fopen(name, "re");
    int rc;

    if (file == NULL)
        return zkr__security_fail_to_open("sasl_password_file", name, errno);
    setbuf(file, NULL); /* nothing to wipe but the line */
    if (fgets(line, sizeof(line), file) == NULL || strcspn(line, "\r\n") == 0)
        rc = zkr__fail(ZKR_EINVAL,
                       "session options: sasl_password_file '%s': has no "
                       "password in its first line",
                       name);
    else if (strlen(line) == sizeof(line) - 1)
        rc = zkr__fail(ZKR_EINVAL,
                       "session options: sasl_password_file '%s': the first "
                       "line is too long",
                       name);
    else {
        line[strcspn(line, "\r\n")] = '\0';
        *ret_password = strdup(line);
        rc = *ret_password != NULL ? ZKR_OK : zkr__no_memory("session", NULL);
    }
    (void)fclose(file);
    explicit_bzero(line, sizeof(line));
    return rc;
}

static int check_sasl(const struct zkr_session_opts *o)
{
    if (o->sasl_password != NULL && o->sasl_password_file != NULL)
        return zkr__fail(ZKR_EINVAL, "session options: sasl_password and "
                                     "sasl_password_file exclude each other");
    if (o->sasl_mechanism == NULL)
        return zkr__fail(ZKR_EINVAL, "session options: sasl_mechanism is "
                                     "missing, for example DIGEST-MD5");
    if (strcmp(o->sasl_mechanism, "DIGEST-MD5") == 0 &&
        (o->sasl_user == NULL ||
         (o->sasl_password == NULL && o->sasl_password_file == NULL)))
        return zkr__fail(ZKR_EINVAL,
                         "session options: DIGEST-MD5 needs sasl_user, and "
                         "sasl_password or sasl_password_file");
    return ZKR__CLIENT_INSIDE ? ZKR_OK : lacks("SASL");
}

static int load_sasl(struct zkr_session_opts *o)
{
    char *password = NULL;

    if (o->sasl_mechanism == NULL && o->sasl_service == NULL &&
        o->sasl_host == NULL && o->sasl_realm == NULL && o->sasl_user == NULL &&
        o->sasl_password == NULL && o->sasl_password_file == NULL)
        return ZKR_OK;
    int rc = check_sasl(o);
    if (rc == ZKR_OK && o->sasl_password_file != NULL) {
        rc = zkr__security_read_password(o->sasl_password_file, &password);
        o->sasl_password = password;
    }
    return ZKR__CLIENT_INSIDE && rc == ZKR_OK ? zkr__sasl_check(o) : rc;
}

int zkr__security_load(struct zkr_session_opts *opts)
{
    int rc = load_tls(opts);

    return rc == ZKR_OK ? load_sasl(opts) : rc;
}
