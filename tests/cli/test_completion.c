/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the completion scripts, in the shells that are installed. */
#include "look.h"

static zkr_session *session;

static int setup(void)
{
    session = open_session();
    return setenv("ZK_SERVERS", server_hosts(the_server), 1);
}

static int teardown(void)
{
    close_session(session);
    return 0;
}

FIXTURE(setup, teardown)

/* Returns the output of a shell that runs this script; $0 is the tool. */
static const char *said_by(const char *shell, const char *script)
{
    const char *args[] = { "-c", script, LOCKCTL, NULL };
    struct cli c;
    int code;

    cli_start(&c, shell, args);
    code = cli_end(&c);
    if (code != 0)
        fail_msg("%s ended with %d: %s", shell, code, cli_said(&c));
    return cli_said(&c);
}

/* The words that bash offers for a line, one on each line. */
static const char *bash_offers(const char *words)
{
    char script[1024];

    PRINT(script,
          "set -eu; eval \"$(\"$0\" completion bash)\"; "
          "COMP_LINE=\"$0 %s\"; COMP_POINT=${#COMP_LINE}; "
          "_zk_lockctl; printf '%%s\\n' \"${COMPREPLY[@]}\"",
          words);
    return said_by("/bin/bash", script);
}

/* The same for names of locks. On a busy machine the servers may answer too
 * late, and then nothing is offered; so this asks again, as a person presses
 * the key once more. */
static const char *bash_offers_locks(const char *words)
{
    int64_t deadline_ms = now_ms() + SOON_MS;
    const char *offered;

    do
        offered = bash_offers(words);
    while (strcmp(offered, "\n") == 0 && now_ms() < deadline_ms);
    return offered;
}

TEST(the_scripts_are_what_the_shells_understand)
{
    (void)said_by("/bin/bash", "set -o pipefail; \"$0\" completion bash | "
                               "bash -n");
    (void)said_by("/bin/bash", "set -o pipefail; \"$0\" completion zsh | "
                               "zsh -n /dev/stdin");
    (void)said_by("/bin/bash", "set -o pipefail; \"$0\" completion fish | "
                               "fish --no-execute /dev/stdin");
}

TEST(bash_offers_verbs_options_and_values)
{
    assert_string_equal(bash_offers("wat"), "watch\n");
    assert_has(bash_offers(""), "\nwatch\n");
    assert_string_equal(bash_offers("ls --dia"), "--dialect\n");
    assert_string_equal(bash_offers("ls --dialect k"), "kazoo\n");
    assert_string_equal(bash_offers("ls -o jsonl -o w"), "wide\n");
    assert_string_equal(bash_offers("top --sort lon"), "longest\n");
    assert_string_equal(bash_offers("help exit"), "exit-codes\n");
    assert_string_equal(bash_offers("--col"), "--columns\n--color\n");
}

/* Regression: bash listed files. */
TEST(values_are_offered_behind_an_equals_sign)
{
    assert_string_equal(bash_offers("run --on-suspend="), "continue\nterm\n");
    assert_string_equal(bash_offers("ls --dialect=k"), "kazoo\n");
    assert_string_equal(bash_offers("--color=ne"), "never\n");
    assert_string_equal(bash_offers("run --status-file="), "\n"); /* a file */
    assert_string_equal(said_by("/bin/bash",
                                "COMP_WORDBREAKS=' '; "
                                "eval \"$(\"$0\" completion bash)\"; "
                                "COMP_LINE=\"$0 ls --dialect=k\"; "
                                "COMP_POINT=${#COMP_LINE}; "
                                "_zk_lockctl; echo \"${COMPREPLY[@]}\""),
                        "--dialect=kazoo\n");
}

static void assert_takes_what_is_offered(const char *verb)
{
    (void)said_by("/bin/bash",
                  line("for option in $(\"$0\" completion words -- %s --); do "
                       "  said=$(\"$0\" %s $option= --help 2>&1); "
                       "  case $said in *nrecognized*) "
                       "    echo \"%s $option: $said\"; exit 1;; esac; "
                       "done",
                       verb, verb, verb));
}

/* Options are offered as the help texts say them. */
TEST(a_verb_takes_what_is_offered)
{
    char verbs[1024];
    char *rest = verbs;
    char *verb;

    PRINT(verbs, "%s", said_by("/bin/bash", "\"$0\" completion words -- ''"));
    while ((verb = strsep(&rest, "\n")) != NULL && *verb != '\0')
        assert_takes_what_is_offered(verb);
    assert_null(rest); /* none was left out */
}

/* Options stand in the manual as "\\-\\-no\\-4lw". */
static void assert_is_in(const char *manual, const char *option)
{
    char text[128];
    size_t used = 0;

    for (; *option != '\0'; option++)
        used += (size_t)sprintf(text + used, "%s%c", *option == '-' ? "\\" : "",
                                *option);
    if (strstr(manual, text) == NULL)
        fail_msg("%s is not in the manual", text);
}

TEST(the_manual_has_each_option)
{
    const char *manual = cli_read(MANUAL);
    char options[8192];
    char *rest = options;
    char *option;

    PRINT(options, "%s",
          said_by("/bin/bash",
                  "for v in $(\"$0\" completion words -- ''); do "
                  "  \"$0\" completion words -- $v --; done | sort -u"));
    assert_has(options, "--no-4lw");
    while ((option = strsep(&rest, "\n")) != NULL && *option != '\0')
        assert_is_in(manual, option);
}

TEST(bash_offers_the_names_of_locks)
{
    static const char node[] = "/tests/it/b:1/lock-0000000001";
    char servers[128];

    PRINT(servers, "--servers=%s", server_hosts(the_server));
    (void)unsetenv("ZK_SERVERS");
    (void)look_make(admin, node, "", ZOO_EPHEMERAL);
    assert_string_equal(bash_offers_locks(line("show --servers %s /tests/it",
                                               server_hosts(the_server))),
                        "/tests/it/b:1\n");
    assert_string_equal(bash_offers_locks(line("%s watch /tests/it/", servers)),
                        "/tests/it/b:1\n");
    /* To bash, a word begins behind a colon. */
    assert_string_equal(
        bash_offers_locks(line("%s watch /tests/it/b:", servers)), "1\n");
    assert_int_equal(admin_delete(admin, node), 0);
}

TEST(a_lock_below_locks_is_offered_by_its_name)
{
    AUTO(mutex) m = new_mutex(session, "/locks/short");
    zkr_grant *g = acquire(m);

    assert_string_equal(bash_offers_locks("ls sh"), "short\n");
    assert_string_equal(bash_offers_locks("ls /locks/sh"), "/locks/short\n");
    release(g);
}

/* Regression: the search spent its time at "/" and did not come to "/locks". */
TEST(locks_are_looked_for_below_locks_first)
{
    enum { CROWD = 1000 };
    AUTO(mutex) m = new_mutex(session, "/locks/short");
    zkr_grant *g = acquire(m);
    AUTO(proxy) p = new_proxy();

    for (int i = 0; i < CROWD; i++)
        assert_ok(admin_create(admin, line("/crowd-%d", i), NULL));
    proxy_set_latency(p, 30);
    (void)setenv("ZK_SERVERS", proxy_hosts(p), 1);
    assert_has(bash_offers_locks("show "), "short\n");
    assert_has(bash_offers_locks("show /"), "/locks/short\n");
    for (int i = 0; i < CROWD; i++)
        assert_ok(admin_delete(admin, line("/crowd-%d", i)));
    release(g);
}

/* The shell puts an offered word on the command line as it is. */
TEST(no_name_reaches_a_shell_as_a_command)
{
    AUTO(mutex) m = new_mutex(session, "/locks/evil$(touch pwned);`x`");
    AUTO(mutex) good = new_mutex(session, "/locks/even");
    zkr_grant *g = acquire(m);
    zkr_grant *other = acquire(good);

    assert_string_equal(bash_offers_locks("ls e"), "even\n");
    assert_string_equal(bash_offers_locks("ls /locks/e"), "/locks/even\n");
    release(other);
    release(g);
}

TEST(nobody_waits_for_silent_servers)
{
    AUTO(proxy) p = new_proxy();
    struct stopwatch *w;

    proxy_freeze(p);
    (void)setenv("ZK_SERVERS", proxy_hosts(p), 1);
    w = stopwatch_start();
    assert_string_equal(bash_offers("ls /"), "\n");
    assert_true(stopwatch_says(w, 300, 3000)); /* 300 ms, and a shell */
}

TEST(fish_offers_the_same)
{
    assert_string_equal(
        said_by("/bin/bash",
                "cd \"${0%/*}\"; export HOME=/nonexistent; "
                "PATH=$PWD:$PATH fish --no-config -c 'zk-lockctl completion "
                "fish | source; complete -C \"zk-lockctl ls --dialect k\"; "
                "complete -C \"zk-lockctl wat\"; "
                "complete -C \"zk-lockctl ls --dialect=k\"'"),
        "kazoo\nwatch\n--dialect=kazoo\n");
}

/* Regression: the script passed a word that is not there yet as no word, or as
 * two, and fish offered files. */
TEST(fish_offers_at_an_empty_word)
{
    const char *offered;

    offered =
        said_by("/bin/bash", "cd \"${0%/*}\"; export HOME=/nonexistent; "
                             "PATH=$PWD:$PATH fish --no-config -c 'zk-lockctl "
                             "completion fish | source; "
                             "complete -C \"zk-lockctl \"; "
                             "complete -C \"zk-lockctl completion \"'");
    assert_int_equal(strncmp(offered, "break\ncheck\n", 12), 0);
    assert_has(offered, "\nwatch\nbash\nfish\nzsh\n");
    assert_lacks(offered, "zk-lockctl");
}

/* Outside of an editor zsh has no compadd and no compdef. */
TEST(zsh_offers_the_same)
{
    if (access("/usr/bin/zsh", X_OK) != 0)
        return;
    assert_string_equal(
        said_by("/usr/bin/zsh",
                "compdef() { }; compadd() { shift; print -l -- \"$@\" }; "
                "_files() { echo files }; "
                "eval \"$(\"$0\" completion zsh)\"; "
                "words=(\"$0\" ls --dialect k); CURRENT=4; _zk_lockctl; "
                "words=(\"$0\" wat); CURRENT=2; _zk_lockctl; "
                "words=(\"$0\" ls --dialect=k); CURRENT=3; _zk_lockctl; "
                "words=(\"$0\" run a ''); CURRENT=4; _zk_lockctl"),
        "kazoo\nwatch\n--dialect=kazoo\nfiles\n");
}
