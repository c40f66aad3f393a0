/* SPDX-License-Identifier: Apache-2.0 */
/* TLS by OpenSSL: checks the files, and why a server does not get along. */
#include "zk/tls.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <netdb.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <zkrecipes/session.h>

#include "base/clock.h"
#include "base/error.h"
#include "zk/security.h"

/* The reason of the error that OpenSSL has met first, and all are forgotten. */
static const char *openssl_reason(void)
{
    const char *reason = ERR_reason_error_string(ERR_peek_error());

    ERR_clear_error();
    return reason != NULL ? reason : "OpenSSL does not say why";
}

/* The error of a file that could not be loaded. OpenSSL has no words for an
 * error of the system. */
static int fail_to_load(const char *option, const char *name, const char *what)
{
    unsigned long code = ERR_peek_error();

    if (ERR_GET_LIB(code) == ERR_LIB_SYS)
        return zkr__security_fail_to_open(option, name, ERR_GET_REASON(code));
    return zkr__fail(ZKR_EINVAL, "session options: %s '%s': no %s: %s", option,
                     name, what, openssl_reason());
}

/* Without this OpenSSL would ask the user on the terminal. */
static int give_password(char *to, int size, int writing, void *password)
{
    (void)writing;
    if (password == NULL || size < 0 || strlen(password) > (size_t)size)
        return 0;
    memcpy(to, password, strlen(password));
    return (int)strlen(password);
}

/* OpenSSL compares the key with the certificate, too. */
static int load_key(SSL_CTX *ctx, const struct zkr_session_opts *o)
{
    SSL_CTX_set_default_passwd_cb(ctx, give_password);
    SSL_CTX_set_default_passwd_cb_userdata(ctx,
                                           (void *)(uintptr_t)o->tls_password);
    if (SSL_CTX_use_PrivateKey_file(ctx, o->tls_key, SSL_FILETYPE_PEM) == 1)
        return ZKR_OK;
    if (ERR_GET_REASON(ERR_peek_error()) != X509_R_KEY_VALUES_MISMATCH)
        return fail_to_load("tls_key", o->tls_key,
                            o->tls_password != NULL
                                ? "private key (PEM) that can be read with "
                                  "this tls_password"
                                : "private key (PEM) that can be read without "
                                  "a tls_password");
    return zkr__fail(ZKR_EINVAL,
                     "session options: tls_key '%s' does not belong to the "
                     "certificate of tls_cert '%s'",
                     o->tls_key, o->tls_cert);
}

static int load_files(SSL_CTX *ctx, const struct zkr_session_opts *o)
{
    if (SSL_CTX_load_verify_locations(ctx, o->tls_ca, NULL) != 1)
        return fail_to_load("tls_ca", o->tls_ca, "certificate (PEM)");
    if (SSL_CTX_use_certificate_chain_file(ctx, o->tls_cert) != 1)
        return fail_to_load("tls_cert", o->tls_cert, "certificate (PEM)");
    return load_key(ctx, o);
}

static int new_ctx(const struct zkr_session_opts *o, SSL_CTX **ret_ctx)
{
    SSL_CTX *ctx;

    ERR_clear_error();
    ctx = SSL_CTX_new(TLS_client_method());
    if (ctx == NULL)
        return zkr__no_memory("session", NULL);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    int rc = load_files(ctx, o);
    if (rc == ZKR_OK)
        *ret_ctx = ctx;
    else
        SSL_CTX_free(ctx);
    ERR_clear_error();
    return rc;
}

int zkr__tls_check(const struct zkr_session_opts *o)
{
    SSL_CTX *ctx;
    int rc = new_ctx(o, &ctx);

    if (rc == ZKR_OK)
        SSL_CTX_free(ctx);
    return rc;
}

/* Tells whether to go on after `rc` of an OpenSSL call: waits for what the call
 * needs, until the deadline. */
static bool await(SSL *ssl, int rc, int64_t deadline, int *ret_error)
{
    struct pollfd poller = { .fd = SSL_get_fd(ssl) };
    int64_t left = (deadline - zkr__clock_now()) / ZKR__MS;

    *ret_error = SSL_get_error(ssl, rc);
    if (*ret_error != SSL_ERROR_WANT_READ && *ret_error != SSL_ERROR_WANT_WRITE)
        return false;
    poller.events = *ret_error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
    return left > 0 && poll(&poller, 1, (int)left) == 1;
}

/* The result of a certificate counts first: OpenSSL says only that there was
 * one. Tells whether the server does no more than hang up. */
static bool describe(SSL *ssl, int error, char *reason, size_t size)
{
    long verified = SSL_get_verify_result(ssl);
    unsigned long code = ERR_peek_error();
    bool hangs_up = error == SSL_ERROR_SYSCALL ||
                    error == SSL_ERROR_ZERO_RETURN ||
                    ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING;

    if (verified != X509_V_OK)
        (void)snprintf(reason, size, "its certificate is refused: %s",
                       X509_verify_cert_error_string(verified));
    else if (hangs_up)
        (void)snprintf(reason, size,
                       "it hangs up: a port without TLS, or "
                       "one that takes no more clients");
    else
        (void)snprintf(reason, size, "%s", openssl_reason());
    ERR_clear_error();
    return hangs_up && verified == X509_V_OK;
}

/* With TLS 1.3 the server looks at the certificate of the client when the
 * client is done with the handshake. */
static bool shake(SSL *ssl, int64_t deadline, int *ret_error)
{
    char byte;
    int rc;

    while ((rc = SSL_connect(ssl)) != 1) {
        if (!await(ssl, rc, deadline, ret_error))
            return false;
    }
    while ((rc = SSL_read(ssl, &byte, 1)) != 1) {
        if (!await(ssl, rc, deadline, ret_error))
            return false;
    }
    return true;
}

/* OpenSSL writes without MSG_NOSIGNAL, on a thread of the program. */
static bool shake_without_signal(SSL *ssl, int64_t deadline, int *ret_error)
{
    const struct timespec none = { 0, 0 };
    sigset_t pipe;
    sigset_t before;
    sigset_t pending;

    (void)sigemptyset(&pipe);
    (void)sigaddset(&pipe, SIGPIPE);
    (void)sigpending(&pending);
    (void)pthread_sigmask(SIG_BLOCK, &pipe, &before);
    bool shaken = shake(ssl, deadline, ret_error);
    if (sigismember(&pending, SIGPIPE) != 1)
        (void)sigtimedwait(&pipe, NULL, &none);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return shaken;
}

/* As the client expects it (tools/client/05-names.patch), but for one name. */
static void expect_name(SSL *ssl, const struct zkr_session_opts *o,
                        const char *server)
{
    size_t length = strlen(server) - strlen(strrchr(server, ':'));
    char host[NI_MAXHOST];
    struct in6_addr address;

    (void)snprintf(host, sizeof(host), "%.*s", (int)length, server);
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (inet_pton(AF_INET, host, &address) != 1 &&
        inet_pton(AF_INET6, host, &address) != 1)
        (void)SSL_set_tlsext_host_name(ssl, host);
    if (o->tls_verify == ZKR_TLS_VERIFY_NAME)
        (void)SSL_set1_host(ssl, host);
}

int zkr__tls_try(const struct zkr_session_opts *o, const char *server, int fd,
                 int64_t deadline, char *reason, size_t size,
                 bool *ret_hangs_up)
{
    SSL_CTX *ctx = NULL;
    SSL *ssl = NULL;
    int error = SSL_ERROR_NONE;
    int rc = new_ctx(o, &ctx);

    if (rc != ZKR_OK) {
        (void)snprintf(reason, size, "%s", zkr_error_detail());
        return rc == ZKR_ESYSTEM ? rc : ZKR_ZSSLCONNECTIONERROR;
    }
    ssl = SSL_new(ctx);
    if (ssl != NULL)
        expect_name(ssl, o, server);
    if (ssl != NULL && SSL_set_fd(ssl, fd) == 1 &&
        !shake_without_signal(ssl, deadline, &error) &&
        error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
        *ret_hangs_up = describe(ssl, error, reason, size);
        rc = ZKR_ZSSLCONNECTIONERROR;
    }
    SSL_free(ssl);
    SSL_CTX_free(ctx);
    return rc;
}
