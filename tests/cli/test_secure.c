/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the tool over TLS and with SASL, by options and by contexts, against
 * real servers. */

#include "look.h"
#include "security.h"

/* A file of contexts with one, "safe", and nothing in the environment. */
static void set_context(const char *text)
{
    char file[128];

    look_on("");
    (void)unsetenv("ZK_LOCKCTL_CONTEXT");
    cli_write(strcpy(file, cli_file("config")), text, 0600);
    (void)setenv("ZK_LOCKCTL_CONFIG", file, 1);
}

/* Twice, because what a failure leaves behind shows the next time. */
static void assert_refused(int code, const char *text, const char *words)
{
    for (int i = 0; i < 2; i++)
        LOOK_ERR(code, text, "%s", words);
}

static void assert_works(const char *words)
{
    for (int i = 0; i < 2; i++)
        LOOK(0, "%s", words);
}

/* --- TLS --- */

/* "[safe]" with the certificate and the key of a client in these files. */
static void use_tls(const char *hosts, const char *ca, const char *key)
{
    set_context(
        textf("current = safe\n[safe]\nservers = %s\ntls-ca = %s/%s.pem\n"
              "tls-cert = %s/client.pem\ntls-key = %s/%s.key\n",
              hosts, server_keys(), ca, server_keys(), server_keys(), key));
}

TEST(locks_are_held_and_seen_over_tls)
{
    use_tls(server_secure_hosts(the_server), "ca", "client");
    assert_works("run over-tls true");
    assert_works("ls /");
    assert_works("context show");
    look_on(server_secure_hosts(the_server));
    assert_works(textf("run --tls-ca %s/ca.pem --tls-cert %s/client.pem "
                       "--tls-key=%s/client.key over-tls true",
                       server_keys(), server_keys(), server_keys()));
    assert_refused(69, "wants TLS", "ls --timeout 2s /");
}

TEST(a_key_with_a_password_needs_its_file)
{
    use_tls(server_secure_hosts(the_server), "ca", "locked");
    cli_write(cli_file("password"), "open sesame\n", 0600);
    const char *words =
        textf("ls --tls-password-file %s /", cli_file("password"));
    assert_works(words);
    cli_write(cli_file("password"), "open\n", 0600);
    assert_refused(64, "tls_key", words);
}

TEST(errors_of_tls_are_explained)
{
    use_tls(server_secure_hosts(the_server), "other", "client");
    assert_refused(69, "context 'safe': no TLS connection to server",
                   "ls --timeout 2s /");
    use_tls(server_hosts(the_server), "ca", "client");
    assert_refused(69, "port without TLS", "ls --timeout 2s /");
    use_tls(server_secure_hosts(the_server), "ca", "nobodys");
    assert_refused(64, "nobodys.key': No such file", "ls /");
}

/* Regression: with the tool nobody could ask for less than the name. */
TEST(a_certificate_for_another_host_may_be_asked_for)
{
    char store[600];
    const char *const lines[] = { store, NULL };
    const struct server_opts opts = { .security = SERVER_TLS,
                                      .cfg_lines = lines };
    struct server *server;

    (void)snprintf(store, sizeof(store),
                   "ssl.keyStore.location=%s/elsewhere.p12", server_keys());
    assert_int_equal(server_start(&opts, &server), SERVER_OK);
    use_tls(server_secure_hosts(server), "ca", "client");
    assert_refused(69, "IP address mismatch", "ls --timeout 2s /");
    assert_works("ls --tls-verify chain /");
    assert_refused(69, "IP address mismatch",
                   "ls --timeout 2s --tls-verify name /");
    assert_refused(64, "'none' is not name or chain", "ls --tls-verify none /");
    server_stop(server);
}

/* A port with TLS would not answer them. */
TEST(over_tls_no_words_are_sent)
{
    AUTO(session) s = open_session();
    AUTO(mutex) m = new_mutex(s, "/locks/over-tls");
    zkr_grant *g = acquire(m);

    use_tls(server_secure_hosts(the_server), "ca", "client");
    assert_works("show -o wide over-tls");
    assert_has(look_err, "note: with TLS the servers are not "
                         "asked who is connected");
    release(g);
}

/* --- SASL --- */

/* Without the password of bob: servers compare that of an unknown user with
 * that of whoever has logged in before (SaslServerCallbackHandler, 3.8.0). */
TEST(a_user_of_sasl_is_known_by_the_password)
{
    static const char *const lines[] = { "sessionRequireClientSASLAuth=true",
                                         NULL };
    static const struct server_opts opts = { .security = SERVER_SASL,
                                             .cfg_lines = lines };
    struct server *server;
    struct cli cli;

    assert_int_equal(server_start(&opts, &server), SERVER_OK);
    set_context(textf("current = safe\n[safe]\nservers = %s\n"
                      "sasl-mechanism = DIGEST-MD5\nsasl-user = %s\n"
                      "sasl-password-file = password\n",
                      server_hosts(server), SERVER_SASL_USER));
    cli_write(cli_file("password"), SERVER_SASL_PASSWORD "\nnot this\n", 0600);
    assert_works("run with-sasl true");
    assert_works("ls /");
    START_CLI(&cli, "run", "--session-timeout", "30s", "--timeout", "30s",
              "with-sasl", "sh", "-c", "echo ready; cat");
    cli_wait_said(&cli, "ready");
    assert_true(security_write_logins(server_dir(server), "another"));
    cli_write(cli_file("password"), "another\n", 0600); /* it was read once */
    assert_int_equal(server_restart(server), SERVER_OK);
    assert_int_equal(cli_end(&cli), 0);
    assert_lacks(cli_said(&cli), "may stay taken");
    START_SH(&cli, LOCKCTL " ls --sasl-password-file <(echo another) /");
    assert_end(&cli, 0, "no locks");
    cli_write(cli_file("password"), "wrong\n", 0600);
    assert_refused(77, "context 'safe': ", "ls /");
    assert_refused(77, "context 'safe': ", "ls --sasl-user nobody /");
    look_on(server_hosts(server));
    assert_refused(77, "requires authentication", "ls /");
    server_stop(server);
}

int main(void)
{
    static const struct server_opts opts = { .security = SERVER_TLS };

    return cli_run(&opts);
}
