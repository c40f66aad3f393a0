/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of failures around zk-lockctl: each is reported in one line, with the
 * exit code of the manual. */

#include "look.h"
#include "net.h"

static char file[128];

static int setup(void)
{
    PRINT(file, "%s", cli_file("credentials"));
    return look_make_root();
}

FIXTURE(setup, look_remove_root)

/* Runs it, and expects that exit code and that text, in one line. */
static void assert_fails(int code, const char *text, const char *words)
{
    LOOK_ERR(code, text, "%s", words);
    assert_int_equal(strncmp(look_err, "zk-lockctl", 10), 0);
    assert_string_equal(look_out, "");
    if (strchr(look_err, '\n') != look_err + strlen(look_err) - 1)
        fail_msg("not one line: %s", look_err);
}

#define FAILS(code, text, ...) assert_fails(code, text, textf(__VA_ARGS__))

/* --- servers --- */

TEST(without_an_answer_it_is_69)
{
    server_pause(the_server);
    FAILS(69, "does not answer as ZooKeeper", "check --held --timeout 1s x");
    server_resume(the_server);
}

/* Regression: it took the whole --timeout. */
TEST(servers_that_refuse_are_not_waited_for)
{
    struct stopwatch *w = stopwatch_start();

    FAILS(69, "refused", "ls --timeout 30s --servers 127.0.0.1:1,127.0.0.1:2");
    assert_true(stopwatch_says(w, 0, 10000));
}

/* Two of three are gone: the third serves nobody. */
TEST(without_a_quorum_it_is_69)
{
    struct ensemble *e;

    assert_int_equal(ensemble_start(3, NULL, &e), SERVER_OK);
    look_on(ensemble_hosts(e));
    LOOK(0, "ls /");
    server_kill9(ensemble_server(e, 0));
    server_kill9(ensemble_server(e, 1));
    FAILS(69, "is up without a quorum (tried 3 servers: 1 accepted",
          "ls --timeout 2s");
    /* It reports that after a second, and again at the end. */
    LOOK_ERR(69, "without a quorum", "run --timeout 2s -n x true");
    assert_int_equal(strncmp(look_err, "zk-lockctl", 10), 0);
    assert_string_equal(look_out, "");
    ensemble_stop(e);
}

/* Regression: the client waited for a silent server for longer than the tool
 * waits for the client, so the tool failed when that server was the first. The
 * client begins with any of them. */
TEST(a_silent_server_is_passed_over)
{
    char silent[NET_ADDRESS]; /* it takes connections, and then says nothing */
    int fd = net_listen(silent);

    look_on(textf("%s,%s", silent, server_hosts(the_server)));
    for (int i = 0; i < 6; i++)
        LOOK(0, "ls --timeout 3s /");
    for (int i = 0; i < 2; i++)
        LOOK(0, "run -n --session-timeout 1s /silent true");
    (void)close(fd);
}

TEST(a_forbidden_node_is_77)
{
    const char *lock = in_root("lock");
    const char *node =
        in_root("lock/_c_00000000-0000-4000-8000-000000000000-lock-0000000000");
    long long token = look_make(admin, node, "", ZOO_EPHEMERAL);

    look_permit(node, ZOO_PERM_READ);
    FAILS(77, "not permitted", "revoke -q %s", lock);
    look_permit(lock, ZOO_PERM_ALL & ~ZOO_PERM_DELETE);
    FAILS(77, "not permitted", "break -q --yes --token %lld %s", token, lock);
    look_permit(lock, ZOO_PERM_ALL & ~ZOO_PERM_CREATE);
    FAILS(77, "not permitted", "run -w 1s %s true", lock);
    look_permit(lock, ZOO_PERM_ALL & ~ZOO_PERM_READ);
    FAILS(77, "not permitted", "show %s", lock);
    FAILS(77, "not permitted", "run -n %s true", lock);
    look_permit(lock, ZOO_PERM_ALL);
}

/* Regression: the tool said "1 nodes could not be looked at" and "no locks",
 * and its exit code was 0. It did not say which node, why, or what helps, and
 * "no locks" was wrong. */
TEST(an_unreadable_tree_is_not_an_empty_one)
{
    static const char *const verbs[] = { "ls", "deadlocks", "doctor" };

    const char *closed = in_root("closed");
    const char *note =
        textf("%s could not be looked at: ZNOAUTH: not permitted; "
              "see --auth-file\n",
              closed);
    (void)look_make(admin, in_root("closed/lock-0000000000"), "", 0);
    look_permit(closed, ZOO_PERM_ALL & ~ZOO_PERM_READ);
    for (size_t i = 0; i < COUNT(verbs); i++) {
        LOOK_ERR(77, note, "%s %s", verbs[i], look_root);
        assert_has(look_err, "no locks seen, but some nodes may not be read\n");
    }
    assert_int_equal(admin_create(admin, in_root("other"), NULL), ZOK);
    look_permit(in_root("other"), ZOO_PERM_ALL & ~ZOO_PERM_READ);
    (void)look_make(admin, in_root("open/lock-0000000000"), "", 0);
    LOOK(0, "ls %s", look_root);
    assert_has(look_err, ", and 1 more node could not be looked at: ");
    look_permit(closed, ZOO_PERM_ALL);
    look_permit(in_root("other"), ZOO_PERM_ALL);
}

static const char *long_name(size_t size)
{
    static char name[2000];

    memset(name, 'd', size);
    name[size] = '\0';
    return in_root(name);
}

/* Regression: a holder whose path was longer than that of any lock was not
 * read, and doctor took it for one without a session. A longer lock was said to
 * have no valid path. */
TEST(long_paths_are_read_or_told)
{
    const char *lock = long_name(987);

    (void)look_make(admin, textf("%s/_c_%032d-lock-0000000000", lock, 0), "me",
                    ZOO_EPHEMERAL);
    LOOK(0, "doctor --no-4lw %s", look_root);
    LOOK(0, "ls --columns HOLDER %s", look_root);
    assert_string_equal(look_out, "HOLDER\nme\n");
    lock = long_name(1107);
    (void)look_make(admin, textf("%s/lock-0000000000", lock), "",
                    ZOO_EPHEMERAL);
    LOOK(82, "doctor --no-4lw %s", look_root);
    assert_has(look_err, "d could not be looked at: ZKR_ETOOLONG: longer than "
                         "the limit, 1024 bytes\n");
}

/* Runs it with -o json and with -o jsonl, and expects one object on stdout. */
static void fails_in_json(int code, const char *name, const char *cause,
                          const char *words)
{
    for (int lines = 0; lines < 2; lines++) {
        LOOK(code, "%s -o %s", words, lines ? "jsonl" : "json");
        assert_string_equal(
            look_jq(".error | [.code, .name, .cause] | map(tostring) | "
                    "join(' ')"),
            textf("%d %s %s", code, name, cause));
        /* the same sentence */
        assert_has(look_err, look_jq(".error.message"));
    }
}

/* Regression: there was nothing on stdout. */
TEST(with_json_failures_are_json)
{
    fails_in_json(65, "not_a_lock", "null",
                  textf("show %s/nothing", look_root));
    fails_in_json(64, "usage", "null", textf("break --yes %s", look_root));
    assert_int_equal(admin_create(admin, in_root("shut"), NULL), ZOK);
    look_permit(in_root("shut"), ZOO_PERM_ALL & ~ZOO_PERM_READ);
    fails_in_json(77, "forbidden", "ZNOAUTH",
                  textf("check --free %s/shut", look_root));
    look_permit(in_root("shut"), ZOO_PERM_ALL);
    fails_in_json(69, "unavailable", "ZKR_EREFUSED",
                  "doctor --servers 127.0.0.1:1");
    fails_in_json(78, "configuration", "ZKR_ENOCHROOT",
                  textf("ls --servers %s/no/such", server_hosts(the_server)));
}

TEST(an_answer_is_not_followed_by_an_error)
{
    assert_int_equal(admin_create(admin, in_root("shut"), NULL), ZOK);
    look_permit(in_root("shut"), ZOO_PERM_ALL & ~ZOO_PERM_READ);
    LOOK(77, "ls %s -o json", look_root);
    assert_jq(".kind == 'LockList' and .items == []");
    look_permit(in_root("shut"), ZOO_PERM_ALL);
    LOOK(75, "wait --held -w 0 %s/x -o json", look_root);
    assert_jq(".kind == 'LockList' and (.items | length) == 1");
}

/* --- credentials --- */

TEST(needs_of_tls_and_sasl_are_checked_first)
{
    cli_write(file, "\n", 0600);
    FAILS(78, "tls-password-file '", "ls --tls-password-file %s", file);
    cli_write(file, "secret\n", 0604);
    FAILS(78, "others may read it; chmod 600", "ls --sasl-password-file %s",
          file);
    cli_write(file, "secret\n", 0600);
    FAILS(64, "sasl_mechanism is missing", "ls --sasl-password-file %s", file);
    if (!ZKR__CLIENT_INSIDE)
        FAILS(78, "has no SASL; tools/build-client.sh makes one",
              "ls --sasl-mechanism DIGEST-MD5 --sasl-user me "
              "--sasl-password-file %s",
              file);
    FAILS(64, "tls_key is missing", "ls --tls-ca %s --tls-cert %s", file, file);
    if (ZKR__CLIENT_INSIDE)
        FAILS(64, "tls_ca '/nowhere/ca'",
              "ls --tls-ca /nowhere/ca --tls-cert %s --tls-key %s", file, file);
    else
        FAILS(78, "has no TLS; tools/build-client.sh makes one",
              "run --tls-ca %s --tls-cert %s --tls-key %s x true", file, file,
              file);
}

/* The digest of me:secret, as ZooKeeper's DigestAuthenticationProvider. */
TEST(credentials_open_what_is_closed)
{
    struct ACL acl = { ZOO_PERM_ALL,
                       { "digest", "me:016djjlksVQS5RgX3M7biBGyYwY=" } };
    struct ACL_vector acls = { 1, &acl };
    const char *lock = in_root("lock");

    assert_int_equal(admin_create(admin, lock, NULL), ZOK);
    assert_int_equal(admin_set_acl(admin, lock, &acls), ZOK);
    cli_write(file, "digest:me:secret\n", 0600);
    FAILS(77, "not permitted", "run %s true", lock);
    LOOK(0, "run --auth-file %s %s true", file, lock);
    ok(WEXITSTATUS(
        system(textf("printf digest:me:secret | %s ls --servers %s --auth-file "
                     "/dev/fd/0 %s 2>&1",
                     LOCKCTL, server_hosts(the_server), lock))));
    /* all settings of a context are used */
    const char *config = cli_file("config");
    cli_write(config,
              textf("[real]\nservers = %s%s\nauth-file = credentials\n"
                    "[open]\nservers = %s%s\n",
                    server_hosts(the_server), look_root,
                    server_hosts(the_server), look_root),
              0644);
    look_on("");
    (void)setenv("ZK_LOCKCTL_CONFIG", config, 1);
    LOOK_ERR(0, "the ensemble is real (127.0.0.1:",
             "run -v --context real /lock true");
    LOOK(77, "run --context open /lock true");
    (void)unsetenv("ZK_LOCKCTL_CONFIG");
    assert_int_equal(admin_delete(admin, lock), ZOK);
}

/* Regression: JSON had no reason, as getopt() had said it. */
TEST(a_wrong_option_is_named_in_json)
{
    LOOK(64, "ls --bogus -o json");
    look_assert_schema("failure");
    assert_has(look_out, "--bogus is no option");
    LOOK_OUT(64, "--bogus is no option", "ls x -o json --bogus");
}
