/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the completion scripts, in the shells that are installed. */
#include "look.h"

/* Returns the output of a shell that runs this script; $0 is the tool. */
static const char *said_by(const char *shell, const char *script)
{
    const char *args[] = { "-c", script, LOCKCTL, NULL };
    struct cli c;

    cli_start(&c, shell, args);
    int code = cli_end(&c);
    if (code != 0)
        fail_msg("%s ended with %d: %s", shell, code, cli_said(&c));
    return cli_said(&c);
}

/* The words that bash offers for a line, one on each line. */
static const char *bash_offers(const char *words)
{
    return said_by(
        "/bin/bash",
        textf("set -eu; eval \"$(\"$0\" completion bash)\"; "
              "COMP_WORDS=(\"$0\" %s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
              "_zk_lockctl; printf '%%s\\n' \"${COMPREPLY[@]-}\"",
              words));
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

/* Bash takes '=' for a word of its own, unless the user has said otherwise. */
TEST(bash_offers_verbs_options_and_values)
{
    assert_string_equal(bash_offers("wat"), "watch\n");
    assert_has(bash_offers("''"), "\nwatch\n");
    assert_string_equal(bash_offers("ls --dia"), "--dialect\n");
    assert_string_equal(bash_offers("ls --dialect k"), "kazoo\n");
    assert_string_equal(bash_offers("ls --dialect = k"), "kazoo\n");
    assert_string_equal(bash_offers("run --on-revoke ="), "ignore\nterm\n");
    assert_string_equal(bash_offers("ls --dialect=k"), "--dialect=kazoo\n");
    assert_string_equal(bash_offers("ls -o jsonl -o w"), "wide\n");
    assert_string_equal(bash_offers("--output = jsonl"), "jsonl\n");
    assert_string_equal(bash_offers("top --sort lon"), "longest\n");
    assert_string_equal(bash_offers("help exit"), "exit-codes\n");
    assert_string_equal(bash_offers("help wat"), "watch\n");
    assert_string_equal(bash_offers("--ver"), "--verbose\n--version\n");
    assert_string_equal(bash_offers("run --why ''"), "\n"); /* a file */
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
          said_by("/bin/bash", "\"$0\" completion bash | "
                               "grep -oE -e '--[a-z0-9-]+' | sort -u"));
    assert_has(options, "--lost-exit-code");
    while ((option = strsep(&rest, "\n")) != NULL && *option != '\0')
        assert_is_in(manual, option);
}

TEST(fish_offers_the_same)
{
    const char *offered =
        said_by("/bin/bash",
                "cd \"${0%/*}\"; export HOME=/nonexistent; "
                "PATH=$PWD:$PATH fish --no-config -c 'zk-lockctl completion "
                "fish | source; complete -C \"zk-lockctl ls --dialect k\"; "
                "complete -C \"zk-lockctl wat\"; "
                "complete -C \"zk-lockctl ls --dialect=k\"; "
                "complete -C \"zk-lockctl completion \"; "
                "complete -C \"zk-lockctl help wat\"'");

    assert_has(offered, "kazoo\nwatch\tTell what");
    assert_has(offered, "\n--dialect=kazoo\nbash\nfish\nzsh\nwatch\n");
}

/* Outside of an editor zsh has nothing to complete, so its compgen is that of
 * bash. */
TEST(zsh_offers_the_same)
{
    if (access("/usr/bin/zsh", X_OK) != 0)
        return;
    assert_string_equal(
        said_by("/usr/bin/zsh",
                "bashcompinit() { }; complete() { }; emulate -L sh; "
                "setopt kshglob; compgen() { bash -c 'compgen \"$@\"' bash "
                "\"$@\" }; eval \"$(\"$0\" completion zsh | "
                "grep -v ^autoload)\"; "
                "COMP_WORDS=(\"$0\" ls --dialect k); COMP_CWORD=3; "
                "setopt ksharrays; _zk_lockctl; echo \"${COMPREPLY[@]}\"; "
                "COMP_WORDS=(\"$0\" ls --dialect=k); COMP_CWORD=2; "
                "_zk_lockctl; echo \"${COMPREPLY[@]}\""),
        "kazoo\n--dialect=kazoo\n");
}
