/* Every session of the tests over TLS or with SASL, when the environment says
 * so (ZKR_TEST_SECURITY): zkr_session_open() of the test programs comes here.
 *
 * A session through a proxy, which looks into what it forwards, is not over
 * TLS; nor is one whose options or hosts the test has made so that they are
 * wrong. */
#include "secured.h"

#include <stdio.h>

#include "security.h"

void with_tls(struct zkr_session_opts *opts, struct tls_files *files,
              const char *ca, const char *client)
{
    const char *dir = server_keys();

    (void)snprintf(files->ca, sizeof(files->ca), "%s/%s.pem", dir, ca);
    (void)snprintf(files->cert, sizeof(files->cert), "%s/%s.pem", dir, client);
    (void)snprintf(files->key, sizeof(files->key), "%s/%s.key", dir, client);
    opts->tls_ca = files->ca;
    opts->tls_cert = files->cert;
    opts->tls_key = files->key;
}

void with_sasl(struct zkr_session_opts *opts)
{
    opts->sasl_mechanism = "DIGEST-MD5";
    opts->sasl_user = SERVER_SASL_USER;
    opts->sasl_password = SERVER_SASL_PASSWORD;
}

int __real_zkr_session_open(const char *hosts,
                            const struct zkr_session_opts *opts,
                            zkr_session **ret_session);
int __wrap_zkr_session_open(const char *hosts,
                            const struct zkr_session_opts *opts,
                            zkr_session **ret_session);

static int open_tls(const char *hosts, struct zkr_session_opts *opts,
                    zkr_session **ret_session)
{
    char secure[512];
    struct tls_files files;

    if (!server_find_secure(hosts, secure, sizeof(secure)))
        return __real_zkr_session_open(hosts, opts, ret_session);
    with_tls(opts, &files, "ca", "client");
    return __real_zkr_session_open(secure, opts, ret_session);
}

int __wrap_zkr_session_open(const char *hosts,
                            const struct zkr_session_opts *opts,
                            zkr_session **ret_session)
{
    enum server_security security = security_of_environment();
    struct zkr_session_opts copy = ZKR_SESSION_OPTS_INIT;

    if (security == SERVER_PLAIN || hosts == NULL ||
        (opts != NULL && opts->size != sizeof(copy)))
        return __real_zkr_session_open(hosts, opts, ret_session);
    if (opts != NULL)
        copy = *opts;
    if (copy.tls_ca != NULL || copy.sasl_mechanism != NULL)
        return __real_zkr_session_open(hosts, opts, ret_session);
    if (security == SERVER_TLS)
        return open_tls(hosts, &copy, ret_session);
    with_sasl(&copy);
    return __real_zkr_session_open(hosts, &copy, ret_session);
}
