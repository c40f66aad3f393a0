/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl run in a terminal: who can read it, and job control. */

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "look.h"

static int terminal;       /* the end of the person */
static char screen[65536]; /* all that has appeared on it */
static size_t screen_len;
static size_t seen; /* up to where it has been waited for */
static pid_t leader;

static _Noreturn void become_leader(const char *name, char *const argv[])
{
    int fd;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setsid();
    fd = open(name, O_RDWR);
    (void)ioctl(fd, TIOCSCTTY, 0);
    (void)dup2(fd, 0);
    (void)dup2(fd, 1);
    (void)dup2(fd, 2);
    (void)close_range(3, ~0U, 0);
    (void)execvp(argv[0], argv);
    _exit(127);
}

/* Start a program as the leader of a session with a terminal of its own. */
static void start_in_terminal(char *const argv[])
{
    char name[64];

    screen_len = seen = 0;
    screen[0] = '\0';
    terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    assert_true(terminal >= 0);
    assert_int_equal(grantpt(terminal), 0);
    assert_int_equal(unlockpt(terminal), 0);
    assert_int_equal(ptsname_r(terminal, name, sizeof(name)), 0);
    leader = fork();
    if (leader == 0)
        become_leader(name, argv);
    assert_true(leader > 0);
}

static bool shows(void *text)
{
    char *found;
    ssize_t n;

    while ((n = read(terminal, screen + screen_len,
                     sizeof(screen) - 1 - screen_len)) > 0)
        screen_len += (size_t)n;
    screen[screen_len] = '\0';
    found = strstr(screen + seen, text);
    if (found != NULL)
        seen = (size_t)(found - screen) + strlen(text);
    return found != NULL;
}

/* Text up to the end of the last wait does not count. */
static void wait_shown(const char *text)
{
    if (!wait_until(shows, (void *)text, SOON_MS))
        fail_msg("'%s' does not appear; screen: %s", text, screen);
}

static void type(const char *text)
{
    assert_int_equal(write(terminal, text, strlen(text)), strlen(text));
}

static bool leader_has_ended(void *status)
{
    return waitpid(leader, status, WNOHANG) == leader;
}

static int end_terminal(void)
{
    int status = 0;

    if (!wait_until(leader_has_ended, &status, SOON_MS)) {
        (void)kill(leader, SIGKILL);
        (void)waitpid(leader, NULL, 0);
        fail_msg("it does not end; screen: %s", screen);
    }
    (void)shows(""); /* read the rest */
    (void)close(terminal);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void start_run(const char *what)
{
    char *argv[] = { LOCKCTL,
                     "run",
                     "--servers",
                     (char *)server_hosts(the_server),
                     (char *)new_path(),
                     COMMAND,
                     (char *)what,
                     NULL };

    start_in_terminal(argv);
}

#define PROMPT "ready> "

static void start_shell(void)
{
    char *argv[] = {
        "bash", "--norc", "--noprofile", "--noediting", "-i", NULL
    };

    start_in_terminal(argv);
    /* In two parts, because the terminal shows the typed line, too. */
    type("PS1='rea''dy> '; set -b\n");
    wait_shown(PROMPT);
}

/* `options` before the lock, `after` behind the command. */
static void type_run(const char *options, const char *what, const char *after)
{
    char line[512];

    PRINT(line, "%s run --servers %s %s %s %s %s %s\n", LOCKCTL,
          server_hosts(the_server), options, new_path(), COMMAND, what, after);
    type(line);
}

static void end_shell(void)
{
    type("exit\n");
    (void)end_terminal();
}

TEST(the_command_can_read_the_terminal)
{
    start_run("ask");
    wait_shown("who? ");
    type("Bob\n");
    wait_shown("hello Bob");
    assert_int_equal(end_terminal(), 0);
}

TEST(the_keys_for_signals_reach_the_command_once)
{
    start_run("signals");
    wait_shown("ready");
    type("\003");
    wait_shown("INT\r\n");
    type("\034");
    wait_shown("QUIT\r\n");
    type("\004");
    assert_int_equal(end_terminal(), 0);
    assert_lacks(screen + seen, "INT");
    assert_lacks(screen + seen, "QUIT");
}

/* There is no shell that would ever continue a stopped command. */
TEST(without_a_shell_the_key_for_stopping_does_nothing)
{
    start_run("signals");
    wait_shown("ready");
    type("\032");
    wait_shown("CONT\r\n");
    type("\004");
    assert_int_equal(end_terminal(), 0);
}

/* In a container the parent is in another namespace: its number is 0, which
 * getsid() takes for the caller. Regression: the tool took that for a shell. */
TEST(in_a_container_the_key_for_stopping_does_nothing)
{
    char *argv[] = { "unshare",
                     "--pid",
                     "--fork",
                     "--mount-proc",
                     "setsid",
                     "--ctty",
                     LOCKCTL,
                     "run",
                     "--servers",
                     (char *)server_hosts(the_server),
                     (char *)new_path(),
                     COMMAND,
                     "signals",
                     NULL };

    if (system("unshare --pid --fork --mount-proc true 2>/dev/null") != 0)
        skip(); /* only root may */
    start_in_terminal(argv);
    wait_shown("ready");
    type("\032");
    wait_shown("CONT\r\n");
    type("\004");
    assert_int_equal(end_terminal(), 0);
}

static bool tool_has_terminal(void *arg)
{
    (void)arg;
    return tcgetpgrp(terminal) == leader;
}

/* Nobody would continue this one either, but the key can end it. */
TEST(without_a_shell_a_stopped_command_ends_by_the_key)
{
    pid_t command;

    start_run("stop");
    command = wait_child_of(leader, "cli-command");
    wait_process_state(command, 'T');
    assert_true(wait_until(tool_has_terminal, NULL, SOON_MS));
    type("\003");
    assert_int_equal(end_terminal(), 128 + SIGINT);
}

TEST(the_shell_has_its_terminal_back_afterwards)
{
    start_shell();
    type_run("", "ask", "");
    wait_shown("who? ");
    type("Bob\n");
    wait_shown("hello Bob");
    wait_shown(PROMPT);
    type("echo code $?\n");
    wait_shown("code 0");
    end_shell();
}

TEST(a_job_can_be_stopped_and_continued)
{
    start_shell();
    type_run("", "signals", "");
    wait_shown("ready");
    type("\032");
    wait_shown("Stopped");
    wait_shown(PROMPT);
    type("fg\n");
    wait_shown("CONT\r\n");
    type("\003");
    wait_shown("INT\r\n");
    type("\004");
    wait_shown(PROMPT);
    type("echo code $?\n");
    wait_shown("code 0");
    end_shell();
}

/* A stopped tool cannot renew its lease. */
TEST(a_job_that_was_stopped_for_too_long_is_dead)
{
    start_shell();
    type_run("--session-timeout 4s", "signals", "");
    wait_shown("ready");
    type("\032");
    wait_shown("Stopped");
    wait_shown(PROMPT);
    sleep_ms(4500); /* the lease runs out */
    type("fg\n");
    wait_shown("LOCK LOST");
    wait_shown(PROMPT);
    type("echo code $?\n");
    wait_shown("code 79");
    end_shell();
}

TEST(a_job_in_the_background_can_be_brought_to_the_front)
{
    start_shell();
    type_run("", "ask", "&");
    wait_shown("Stopped");
    type("fg\n");
    wait_shown("fg\r\n");
    type("Bob\n");
    wait_shown("hello Bob");
    wait_shown(PROMPT);
    end_shell();
}

/* In a pipeline the command gets the terminal only when it asks for it. */
TEST(in_a_pipeline_the_command_can_read_the_terminal)
{
    start_shell();
    type_run("", "ask", "| cat");
    wait_shown("who? ");
    type("Bob\n");
    wait_shown("hello Bob");
    wait_shown(PROMPT);
    end_shell();
}

int main(void)
{
    return run_with_server(NULL, test_run_all);
}
