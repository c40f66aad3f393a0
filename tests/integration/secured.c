/* SPDX-License-Identifier: Apache-2.0 */
/* Every session of the tests over TLS or with SASL, when the environment says
 * so (ZKR_TEST_SECURITY): the calls of the test programs that open a session or
 * give it other servers come here.
 *
 * A session through a proxy, which looks into what it forwards, is not over
 * TLS; nor is one whose options or hosts the test has made so that they are
 * wrong. */
#include "secured.h"

#include "security.h"
#include "session/session.h"

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

struct secured {
    const char *hosts;
    const struct zkr_session_opts *opts;
    struct zkr_session_opts copy;
    struct tls_files files;
    char secure[512];
};

/* Leaves a call alone that has hosts or options to be left alone. */
static void secure(struct secured *call, const char *hosts,
                   const struct zkr_session_opts *opts)
{
    enum server_security security = security_of_environment();

    *call = (struct secured){ .hosts = hosts,
                              .opts = opts,
                              .copy = ZKR_SESSION_OPTS_INIT };
    if (security == SERVER_PLAIN || hosts == NULL ||
        (opts != NULL && opts->size != sizeof(*opts)))
        return;
    if (opts != NULL)
        call->copy = *opts;
    if (call->copy.tls_ca != NULL || call->copy.sasl_mechanism != NULL)
        return;
    if (security == SERVER_SASL) {
        with_sasl(&call->copy);
    } else {
        if (!server_find_secure(hosts, call->secure, sizeof(call->secure)))
            return;
        with_tls(&call->copy, &call->files, "ca", "client");
        call->hosts = call->secure;
    }
    call->opts = &call->copy;
}

__typeof__(zkr_session_open) __real_zkr_session_open, __wrap_zkr_session_open;

int __wrap_zkr_session_open(const char *hosts,
                            const struct zkr_session_opts *opts,
                            zkr_session **ret_session)
{
    struct secured call;

    secure(&call, hosts, opts);
    return __real_zkr_session_open(call.hosts, call.opts, ret_session);
}

__typeof__(zkr_session_open_async) __real_zkr_session_open_async,
    __wrap_zkr_session_open_async;

int __wrap_zkr_session_open_async(const char *hosts,
                                  const struct zkr_session_opts *opts,
                                  zkr_open_fn fn, void *user,
                                  zkr_session **ret_session)
{
    struct secured call;

    secure(&call, hosts, opts);
    return __real_zkr_session_open_async(call.hosts, call.opts, fn, user,
                                         ret_session);
}

__typeof__(zkr_session_set_servers) __real_zkr_session_set_servers,
    __wrap_zkr_session_set_servers;

int __wrap_zkr_session_set_servers(zkr_session *session, const char *hosts)
{
    char secure[512];

    if (session == NULL || session->opts.tls_ca == NULL || hosts == NULL ||
        !server_find_secure(hosts, secure, sizeof(secure)))
        return __real_zkr_session_set_servers(session, hosts);
    return __real_zkr_session_set_servers(session, secure);
}
