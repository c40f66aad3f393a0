/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of contexts: which ensemble is meant, what the file may say, and the
 * verb. */

#include "look.h"

static const char *config(void)
{
    return cli_file("zk-lockctl/config");
}

static int setup(void)
{
    look_on(""); /* no ZK_SERVERS */
    (void)unsetenv("ZK_LOCKCTL_CONTEXT");
    (void)unsetenv("ZK_LOCKCTL_CONFIG");
    (void)setenv("XDG_CONFIG_HOME", cli_file("."), 1);
    (void)mkdir(cli_file("zk-lockctl"), 0700);
    (void)unlink(config());
    return 0;
}

FIXTURE(setup, NULL)

/* Runs it with these words, and expects an error with that text, in one line.
 */
static void assert_refused(int code, const char *text, const char *words)
{
    LOOK_ERR(code, text, "%s", words);
    assert_string_equal(strchr(look_err, '\n'), "\n");
}

/* --- which ensemble --- */

static const char pair[] = "current = one\n"
                           "\n"
                           "[one]\n"
                           "servers = one:1/of-one\n"
                           "timeout = 1s\n"
                           "[two]\n"
                           "servers=two:2\n"
                           "auth-file = secrets/two\n";

/* The settings that count, with their sources: words, with one blank. */
static const char *shown(const char *words)
{
    static char all[1024];
    const json_t *item;
    size_t i;

    LOOK(0, "%s context show -o json", words);
    json_t *items = look_items("SettingList");
    all[0] = '\0';
    json_array_foreach(items, i, item)(void)
        sprintf(all + strlen(all), "%s,%s,%s\r\n", text_of(item, "setting"),
                text_of(item, "value"), text_of(item, "from"));
    return all;
}

TEST(the_first_that_is_given_counts)
{
    static const char by_one[] = "servers,one:1/of-one,context\r\n"
                                 "timeout,1s,context\r\n";

    assert_string_equal(shown(""), "servers,127.0.0.1:2181,default\r\n");
    cli_write(config(), pair, 0600);
    assert_string_equal(shown(""), textf("context,one,file\r\n%s", by_one));

    const char *two_file =
        textf("servers,two:2,context\r\nauth-file,%s,context\r\n",
              cli_file("./zk-lockctl/secrets/two"));
    (void)setenv("ZK_LOCKCTL_CONTEXT", "two", 1);
    assert_string_equal(shown(""),
                        textf("context,two,environment\r\n%s", two_file));

    /* Credentials of a context do not go to other servers. */
    look_on("env:3");
    assert_string_equal(shown(""), "servers,env:3,environment\r\n");
    assert_string_equal(shown("--tls-ca /x"),
                        "servers,env:3,environment\r\ntls-ca,/x,option\r\n");
    assert_string_equal(shown("--context one"),
                        textf("context,one,option\r\n%s", by_one));
    assert_string_equal(shown("--servers opt:4"), "servers,opt:4,option\r\n");
    assert_string_equal(shown("--servers=opt:4 --context one --timeout 2s"),
                        "context,one,option\r\nservers,opt:4,option\r\n"
                        "timeout,2s,option\r\n");
}

TEST(the_file_is_where_the_environment_says)
{
    char file[256];

    cli_write(strcpy(file, cli_file("elsewhere")), "[there]\nservers = a:1\n",
              0644);
    LOOK(0, "context");
    assert_string_equal(look_out, "");
    (void)setenv("ZK_LOCKCTL_CONFIG", file, 1);
    assert_has(shown("--context there"), "servers,a:1,context");
    (void)setenv("ZK_LOCKCTL_CONFIG", cli_file("nowhere"), 1);
    assert_refused(78, "nowhere: No such file", "ls /");
    (void)unsetenv("ZK_LOCKCTL_CONFIG");
    assert_refused(78, "no context 'there' in ", "ls --context there /");
    (void)setenv("XDG_CONFIG_HOME", "not/absolute", 1);
    (void)unsetenv("HOME");
    assert_refused(78, "no context 'there': HOME is not set",
                   "run --context there x true");
    assert_string_equal(shown(""), "servers,127.0.0.1:2181,default\r\n");
}

/* The digest of me:secret, as ZooKeeper's DigestAuthenticationProvider. */
TEST(all_settings_of_a_context_are_used)
{
    struct ACL acl = { ZOO_PERM_ALL,
                       { "digest", "me:016djjlksVQS5RgX3M7biBGyYwY=" } };
    struct ACL_vector acls = { 1, &acl };

    const char *path = textf("%s", new_path());
    const char *below = textf("%s/lock", path);
    assert_int_equal(admin_create(admin, path, NULL), ZOK);
    assert_int_equal(admin_create(admin, below, NULL), ZOK);
    assert_int_equal(admin_set_acl(admin, below, &acls), ZOK);
    cli_write(config(),
              textf("[real]\nservers = %s%s\nauth-file = me.auth\n"
                    "[open]\nservers = %s%s\n",
                    server_hosts(the_server), path, server_hosts(the_server),
                    path),
              0644);
    cli_write(cli_file("zk-lockctl/me.auth"), "digest:me:secret\n", 0600);
    LOOK(0, "run -v --context real /lock true");
    assert_has(look_err, "the ensemble is real (127.0.0.1:");
    LOOK(77, "run --context open /lock true");
    assert_int_equal(admin_delete(admin, below), ZOK);
    assert_int_equal(admin_delete(admin, path), ZOK);
}

/* --- the file --- */

TEST(a_fault_of_the_file_has_its_line)
{
    static const struct {
        const char *text;
        const char *said;
    } faults[] = {
        { "[a]\nserver = x:1\n", ":2: a context has no 'server'" },
        { "[a]\nservers = x:1\n\npassword = x\n",
          ":4: a context has no 'password'" },
        { "servers = x:1\n", ":1: before the first [CONTEXT]" },
        { "[a]\nservers = x:1\ncurrent = a\n", ":3: a context has no" },
        { "[a]\n", ":1: no servers in the context 'a'" },
        { "# b\n[a]\ntls-ca = /a\n[b]\n", ":2: no servers in the context 'a'" },
        { "[a]\nservers = x:1\nservers = x:2\n", ":3: a second 'servers'" },
        { "[a]\nservers = x:1\n[a]\n", ":3: a second context 'a'" },
        { "current = a\ncurrent = b\n", ":2: a second 'current'" },
        { "[a]\nservers =  \n", ":2: no value of 'servers'" },
        { "[a]\nservers\n", ":2: neither [CONTEXT] nor KEY" },
        { "[a\n", ":1: neither [CONTEXT] nor KEY" },
        { "[a] # no\n", ":1: neither [CONTEXT] nor KEY" },
        { "[a b]\n", ":1: a name of a context has only" },
        { "[-a]\n", ":1: a name of a context has only" },
        { "[]\n", ":1: a name of a context has only" },
        { "[a]\nservers = x:1\ntimeout = soon\n",
          ":3: the value of timeout is not a duration" },
        { "[a]\nservers = x:1\ntls-verify = no\n",
          ":3: the value of tls-verify is not name or chain" },
        { "[a]\nservers = x:1\ntls-verify = chain\ncurrent = a\n",
          ":4: a context has no 'current'" },
        { "[a]\nservers = \033[2J\n", ":2: a control character" },
        { "= x\n", ":1: before the first" },
    };

    for (size_t i = 0; i < COUNT(faults); i++) {
        cli_write(config(), faults[i].text, 0600);
        assert_refused(78, faults[i].said, "context");
        assert_refused(78, faults[i].said, "ls /");
    }
    cli_write(config(), "current = gone\n", 0600);
    assert_refused(78, "there is no context 'gone' in ", "ls /");
    /* Nobody needs it here. */
    cli_write(config(), "nonsense\n", 0600);
    assert_string_equal(shown("--servers a:1"), "servers,a:1,option\r\n");
}

TEST(a_file_that_others_may_write_is_refused)
{
    static char big[70000];

    cli_write(config(), pair, 0620);
    assert_refused(78, "others may write it; chmod go-w", "ls /");
    cli_write(config(), pair, 0602);
    assert_refused(78, "others may write it; chmod go-w", "context show");
    cli_write(config(), pair, 0644);
    LOOK(0, "context");
    (void)memset(big, '\n', sizeof(big) - 1);
    cli_write(config(), big, 0644);
    assert_refused(78, "it is too long", "context");
    (void)unlink(config());
    assert_int_equal(mkdir(config(), 0700), 0);
    assert_refused(78, "neither a file nor a pipe", "context");
    assert_int_equal(rmdir(config()), 0);
}

/* --- the verb --- */

TEST(contexts_are_listed)
{
    cli_write(config(), pair, 0600);
    LOOK(0, "context");
    assert_string_equal(look_golden(), "CURRENT NAME SERVERS\n"
                                       "* one one:1/of-one\n"
                                       "- two two:2\n");
    (void)setenv("ZK_LOCKCTL_CONTEXT", "two", 1);
    LOOK(0, "context -o json");
    json_t *items = look_items("ContextList");
    assert_int_equal(json_array_size(items), 2);
    assert_true(
        json_is_false(json_object_get(json_array_get(items, 0), "current")));
    assert_true(
        json_is_true(json_object_get(json_array_get(items, 1), "current")));
    LOOK(0, "context show -o json");
    items = look_items("SettingList");
    assert_int_equal(json_array_size(items), 3);
    LOOK(0, "context -o jsonl");
    LOOK(78, "ls --context three -o json");
    look_assert_schema("failure");
    look_on("a:1");
    LOOK(0, "context -q");
    LOOK_ERR(0, "ZK_SERVERS is set: it counts", "context");
    assert_refused(64, "context: nothing, or show?", "context use x");
}

TEST(break_and_errors_name_the_ensemble)
{
    (void)look_make(admin, "/locks/named/lock-0000000000", "x", ZOO_EPHEMERAL);
    cli_write(config(),
              textf("[here]\nservers = %s\n[away]\nservers = 127.0.0.1:1\n",
                    server_hosts(the_server)),
              0600);
    LOOK(64, "break --no-4lw --context here named");
    assert_has(look_err, "  ensemble: here (127.0.0.1:");
    assert_refused(69, "context 'away': every server of 127.0.0.1:1 refused",
                   "ls --context away /");
    ok(admin_delete_tree(admin, "/locks/named"));
}
