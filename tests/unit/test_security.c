/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the options for TLS and SASL: which go together, and what is said of
 * those that do not. Those with real certificates are integration tests. */
#include "scope.h"
#include "unit.h"

#include <sys/resource.h>

#include "zk/sasl.h"
#include "zk/security.h"
#include "zk/tls.h"

static void fails_with(int code, const struct zkr_session_opts *opts,
                       const char *word)
{
    struct zkr_session_opts copy = *opts;

    tells(zkr__security_load(&copy), code, word);
}

static void fails(const struct zkr_session_opts *opts, const char *word)
{
    fails_with(ZKR_EINVAL, opts, word);
}

TEST(tls_needs_all_its_files_and_a_known_check)
{
    ok(zkr__security_load(&(struct zkr_session_opts){ 0 }));
    fails(OPTS(session, .tls_ca = "a", .tls_cert = "c", .tls_key = "k",
               .tls_verify = ZKR_TLS_VERIFY_CHAIN + 1),
          "unknown tls_verify");
    fails(OPTS(session, .tls_cert = "c", .tls_key = "k"), "tls_ca");
    fails(OPTS(session, .tls_ca = "a", .tls_key = "k"), "tls_cert");
    fails(OPTS(session, .tls_ca = "a", .tls_cert = "c"), "tls_key");
    fails(OPTS(session, .tls_key = "k"), "tls_ca");
    fails(OPTS(session, .tls_password = "p"), "tls_ca");
    fails(OPTS(session, .tls_verify = ZKR_TLS_VERIFY_CHAIN), "tls_ca");
}

/* The client would cut the name there. */
TEST(no_name_has_a_comma)
{
    fails(OPTS(session, .tls_ca = "a,b", .tls_cert = "c", .tls_key = "k"),
          "tls_ca contains a comma");
    fails(OPTS(session, .tls_ca = "a", .tls_cert = "c", .tls_key = "k",
               .tls_password = "p,q"),
          "tls_password contains a comma");
    fails(OPTS(session, .tls_ca = "a", .tls_cert = "", .tls_key = "k"),
          "tls_cert is empty");
}

TEST(digest_needs_a_user_and_one_password)
{
    static const struct zkr_session_opts alone[] = {
        { .sasl_user = "u" },    { .sasl_password = "p" },
        { .sasl_host = "h" },    { .sasl_password_file = "f" },
        { .sasl_service = "s" }, { .sasl_realm = "r" },
    };

    for (size_t i = 0; i < COUNT(alone); i++)
        fails(&alone[i], "sasl_mechanism is missing");
    fails(OPTS(session, .sasl_mechanism = "DIGEST-MD5", .sasl_user = "u"),
          "sasl_password");
    fails(OPTS(session, .sasl_mechanism = "DIGEST-MD5", .sasl_password = "p"),
          "sasl_user");
    fails(OPTS(session, .sasl_mechanism = "DIGEST-MD5", .sasl_user = "u",
               .sasl_password = "p", .sasl_password_file = "f"),
          "exclude each other");
}

TEST(a_client_that_lacks_it_says_how_to_get_one)
{
    const struct zkr_session_opts *tls =
        OPTS(session, .tls_ca = "a", .tls_cert = "c", .tls_key = "k");
    zkr_session *s = NULL;

    if (ZKR__CLIENT_INSIDE)
        skip();
    gives(ZKR_ENOTSUP, zkr_session_open("a:1", tls, &s));
    fails_with(ZKR_ENOTSUP, tls, "tools/build-client.sh");
    fails_with(ZKR_ENOTSUP,
               OPTS(session, .sasl_mechanism = "DIGEST-MD5", .sasl_user = "u",
                    .sasl_password = "p"),
               "tools/build-client.sh");
    fails_with(ZKR_ENOTSUP, OPTS(session, .sasl_mechanism = "GSSAPI"),
               "no SASL");
    fails_with(ZKR_ENOTSUP,
               OPTS(session, .sasl_mechanism = "DIGEST-MD5", .sasl_user = "u",
                    .sasl_password_file = "f"),
               "no SASL");
}

/* Regression: OpenSSL has no words for an error of the system, so that a server
 * was said to have no TLS when this process had no descriptor left. */
TEST(want_of_descriptors_is_no_fault_of_a_file)
{
    char name[] = "/tmp/zkrecipes-XXXXXX";
    struct zkr_session_opts opts = { .tls_ca = name,
                                     .tls_cert = name,
                                     .tls_key = name };
    struct rlimit before;
    char reason[256];
    bool hangs_up;

    if (!ZKR__CLIENT_INSIDE)
        skip();
    int fd = mkstemp(name);
    ok(getrlimit(RLIMIT_NOFILE, &before));
    struct rlimit none = { 0, before.rlim_max };
    ok(setrlimit(RLIMIT_NOFILE, &none));
    int rc = ZKR__CLIENT_INSIDE ? zkr__tls_try(&opts, "a:1", fd, 0, reason,
                                               sizeof(reason), &hangs_up)
                                : 0;
    ok(setrlimit(RLIMIT_NOFILE, &before));
    (void)close(fd);
    (void)unlink(name);
    assert_int_equal(rc, ZKR_ESYSTEM);
    assert_has(reason, "tls_ca");
    assert_has(reason, strerror(EMFILE));
}

TEST(a_file_that_is_no_good_is_named)
{
    char name[] = "/tmp/zkrecipes-XXXXXX";
    AUTO(text) password = NULL;
    int fd = mkstemp(name);

    assert_int_equal(write(fd, "\r\np", 3), 3);
    (void)close(fd);
    /* Regression: it was "" where lines end with CR LF. */
    gives(ZKR_EINVAL, zkr__security_read_password(name, &password));
    gives(ZKR_ESYSTEM, zkr__security_fail_to_open("tls_ca", name, EMFILE));
    gives(ZKR_ESYSTEM, zkr__security_fail_to_open("tls_ca", name, ENFILE));
    if (ZKR__CLIENT_INSIDE) {
        fails(OPTS(session, .tls_ca = "/nowhere/ca", .tls_cert = name,
                   .tls_key = name),
              "tls_ca '/nowhere/ca': No such file");
        fails(OPTS(session, .tls_ca = name, .tls_cert = name, .tls_key = name),
              "no certificate (PEM)");
        fails(OPTS(session, .sasl_mechanism = "DIGEST-MD5", .sasl_user = "u",
                   .sasl_password_file = "/nowhere"),
              "sasl_password_file '/nowhere': No such file");
        fails(OPTS(session, .sasl_mechanism = "DIGEST-MD5", .sasl_user = "u",
                   .sasl_password_file = name),
              "has no password");
        fails(OPTS(session, .sasl_mechanism = "NO-SUCH",
                   .sasl_service = "zookeeper", .sasl_user = "u",
                   .sasl_password = "p"),
              "sasl_mechanism 'NO-SUCH'");
    }
    (void)unlink(name);
    if (!ZKR__CLIENT_INSIDE)
        skip();
}
