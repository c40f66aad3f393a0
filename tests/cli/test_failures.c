/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of failures around zk-lockctl: each is reported in one line, with the
 * exit code of the manual. */

#include "look.h"
#include "net.h"

FIXTURE(look_make_root, look_remove_root)

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
    look_permit(lock, ZOO_PERM_ALL);
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

/* --- credentials --- */

/* The digest of me:secret, as ZooKeeper's DigestAuthenticationProvider. */
TEST(credentials_open_what_is_closed)
{
    struct ACL acl = { ZOO_PERM_ALL,
                       { "digest", "me:016djjlksVQS5RgX3M7biBGyYwY=" } };
    struct ACL_vector acls = { 1, &acl };
    const char *lock = in_root("lock");

    assert_int_equal(admin_create(admin, lock, NULL), ZOK);
    assert_int_equal(admin_set_acl(admin, lock, &acls), ZOK);
    const char *file = textf("%s", cli_file("credentials"));
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

/* --- the page of metrics --- */

/* Regression: it named one of them. */
TEST(each_faulty_server_is_named_with_its_cause)
{
    AUTO(proxy) proxy = new_proxy();

    proxy_freeze(proxy);
    LOOK(69, "metrics --servers 127.0.0.1:1,%s --timeout 6s",
         proxy_hosts(proxy));
    assert_has(look_err, "; 127.0.0.1:1: refused");
    assert_has(look_err, textf("; %s: silent", proxy_hosts(proxy)));
    assert_lacks(look_out, "{cause=\"REFUSED\"} 0\n");
    assert_lacks(look_out, "{cause=\"SILENT\"} 0\n");
}

static struct cli served;
static double took_s; /* the last look that was served */

static bool page_has(const char *text)
{
    struct cli page;

    START_SH(&page,
             "exec 5<>/dev/tcp/127.0.0.1/%d; echo 'GET /metrics HTTP/1.0\r\n"
             "\r' >&5; cat <&5",
             (int)cli_said_pid(&served, "serving http://127.0.0.1:"));
    assert_int_equal(cli_end(&page), 0);
    const char *took = strstr(cli_said(&page), "\nzklock_scan_seconds ");
    if (took != NULL)
        (void)sscanf(took, "\nzklock_scan_seconds %lf", &took_s);
    return strstr(cli_said(&page), text) != NULL;
}

/* The page told for ever what the last look had seen; or that each look had
 * taken the time since the first. */
TEST(without_a_connection_it_serves_that_they_are_down)
{
    AUTO(proxy) proxy = new_proxy();

    START_CLI(&served, "metrics", "--listen", "127.0.0.1:0", "--servers",
              proxy_hosts(proxy), "/");
    cli_wait_said(&served, "/metrics");
    int64_t began_ms = now_ms();
    for (int round = 0; round < 2; round++) {
        /* between two pages the loop sees that it is connected */
        AWAIT(page_has("\nzklock_up 1\n") && page_has("\nzklock_up 1\n"));
        proxy_cut(proxy);
        AWAIT(page_has("\nzklock_up 0\n"));
        AWAIT(page_has("{cause=\"HUNG_UP\"}") &&
              !page_has("{cause=\"HUNG_UP\"} 0\n"));
        proxy_heal(proxy);
    }
    /* each loss once, and not after each page */
    assert_in_range(text_count(cli_said(&served), "connection lost"), 2, 5);
    (void)look_make(admin, in_root("a/lock-0000000000"), "", ZOO_EPHEMERAL);
    AWAIT(page_has(textf("{lock=\"%s\",kind=\"mutex\"} 1\n", in_root("a"))));
    assert_true(took_s * 1000 < (double)(now_ms() - began_ms) / 2);
    assert_int_equal(cli_kill(&served, SIGTERM), 0);
}
