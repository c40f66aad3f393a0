/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl top: on a screen of tmux, and without one; and what it
 * does to locks. */

#include "tmux.h"

static zkr_session *session;
static char root[64];
static char paths[2][80];
static zkr_mutex *mutexes[2];
static zkr_grant *grants[2];

/* Makes two locks below a directory: "alpha" and "beta", both held. */
static int setup(void)
{
    static const char *const names[] = { "alpha", "beta" };
    static int number; /* short paths: they are to be read on a screen */

    session = open_session();
    PRINT(root, "/t%d", ++number);
    for (size_t i = 0; i < 2; i++) {
        PRINT(paths[i], "%s/%s", root, names[i]);
        mutexes[i] = new_mutex(session, paths[i]);
        grants[i] = acquire(mutexes[i]);
    }
    tmux_open(100, 30);
    return 0;
}

static int teardown(void)
{
    (void)tmux_close();
    server_resume(the_server); /* a test may have paused it */
    for (size_t i = 0; i < 2; i++) {
        zkr_grant_free(grants[i]);
        zkr_mutex_free(mutexes[i]);
    }
    (void)zkr_session_close(session);
    (void)admin_delete_tree(admin, root);
    return 0;
}

FIXTURE(setup, teardown)

static void give_back(int i)
{
    release(grants[i]);
    grants[i] = NULL;
}

/* --- on a screen --- */

static void type_top(const char *options)
{
    tmux_line("clear; %s top --servers %s %s %s", LOCKCTL,
              server_hosts(the_server), options, root);
}

/* Sorted by path. */
static void start(const char *options)
{
    type_top(textf("--sort lock %s", options));
    tmux_wait("2 locks, 2 held, 0 waiting");
}

/* The shell has its terminal as it was: it shows typed text, and its old
 * contents are on the screen again. */
static void assert_restored(void)
{
    tmux_wait(TMUX_PROMPT);
    assert_string_equal(tmux_say("#{alternate_on}"), "0");
    assert_string_equal(tmux_say("#{cursor_flag}"), "1");
    tmux_line("echo code $?; stty -a | grep -o ' icanon' | sed s/^/is/");
    tmux_wait("code 0\nis icanon");
    tmux_wait("stty -a");
}

static void quit(void)
{
    tmux_type("q");
    tmux_wait(TMUX_PROMPT);
}

TEST(locks_and_their_holders_are_shown)
{
    char host[256];

    start("");
    tmux_wait("  connected  ");
    (void)gethostname(host, sizeof(host));
    tmux_wait(paths[0]);
    tmux_wait(textf("held  %.12s", host));
    tmux_resize(120, 40);
    tmux_wait(textf("%lld", (long long)zkr_grant_token(grants[1])));
    (void)look_make(admin,
                    textf("%s/gate/5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436", root),
                    NULL, ZOO_EPHEMERAL);
    tmux_wait("1 member");
}

TEST(changes_are_shown)
{
    struct waiter w;

    tmux_line("export TERM=vt220"); /* Backspace is another key there */
    start("");
    tmux_type("/betax");
    tmux_key("BSpace");
    tmux_wait("1 with \"beta\"");
    tmux_key("Enter");
    waiter_start(&w, mutexes[1], SOON_MS);
    tmux_wait("1 waiting, longest");
    give_back(1);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    tmux_wait("0 waiting");
    release(w.grant);
    tmux_wait("1 lock, 1 held");
}

TEST(the_cursor_moves_and_opens_a_queue)
{
    struct waiter w;

    start("");
    tmux_key("Down");
    tmux_key("Enter");
    tmux_wait(textf("%s  mutex (zkrecipes)  held  1 in the queue", paths[1]));
    waiter_start(&w, mutexes[1], SOON_MS);
    tmux_wait("pos 0");
    tmux_wait("2 in the queue");
    tmux_type("q");
    tmux_wait("2 locks, 2 held, 1 waiting");
    tmux_line("k");
    tmux_wait(textf("%s  mutex", paths[0]));
    tmux_key("Escape");
    tmux_wait("2 locks");
    tmux_key("End");
    tmux_key("Enter");
    tmux_wait("2 in the queue");
    give_back(1);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    tmux_wait("1 in the queue");
    release(w.grant);
}

TEST(it_fits_every_size)
{
    start("");
    tmux_wait("WAIT LONGEST");
    tmux_resize(120, 40);
    tmux_wait("LABEL");
    tmux_resize(45, 15);
    tmux_wait_gone("LONGEST");
    tmux_resize(20, 3);
    tmux_wait_gone("STATE");
    tmux_resize(1, 1);
    tmux_resize(80, 24);
    tmux_wait("WAIT LONGEST");
    tmux_wait("q quit  ? help");
}

TEST(quitting_restores_the_terminal)
{
    start("");
    assert_string_equal(tmux_say("#{alternate_on}"), "1");
    tmux_type("q");
    assert_restored();
}

TEST(signals_end_it_and_restore_the_terminal)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

    for (size_t i = 0; i < COUNT(signals); i++) {
        start("");
        ok(kill(wait_child_of(tmux_shell(), "zk-lockctl"), signals[i]));
        assert_restored();
    }
    start("");
    tmux_key("C-c");
    assert_restored();
}

TEST(it_can_be_stopped_and_continued)
{
    start("");
    pid_t pid = wait_child_of(tmux_shell(), "zk-lockctl");
    for (int held = 1; held >= 0; held--) {
        tmux_key("C-z");
        tmux_wait("Stopped");
        tmux_wait(TMUX_PROMPT);
        assert_string_equal(tmux_say("#{alternate_on}"), "0");
        give_back(held);
        tmux_line("clear; fg");
        tmux_wait(textf(" %d held", held));
        assert_string_equal(tmux_say("#{alternate_on}"), "1");
    }
    assert_int_equal(kill(pid, SIGSTOP), 0); /* top cannot catch that */
    tmux_wait("Stopped");
    assert_int_equal(kill(pid, SIGCONT), 0);
    tmux_line("fg");
    tmux_wait(" 0 held");
    tmux_type("q");
    assert_restored();
}

/* --- what it does to locks --- */

static const char *token_of(zkr_grant *g)
{
    return textf("%lld", (long long)zkr_grant_token(g));
}

/* Presses a key that hands the terminal to a verb. */
static void hand_over(const char *key, const char *command)
{
    tmux_type(key);
    tmux_wait(command);
    tmux_wait("Enter runs it, anything else does not:");
}

static void go_back(void)
{
    tmux_wait("Enter goes back to top:");
    tmux_key("Enter");
    tmux_wait("  connected  ");
}

/* Answers the question of break. */
static void break_it(zkr_grant *g)
{
    tmux_wait("anything else not to:");
    tmux_line("%s", token_of(g));
    tmux_wait("broken: ");
}

TEST(a_holder_is_asked_after_a_question)
{
    start("");
    hand_over("R", "$ zk-lockctl revoke /t");
    ok(kill(wait_child_of(tmux_shell(), "zk-lockctl"), SIGTERM));
    assert_restored(); /* that was for top */
    start("");
    hand_over("R", "$ zk-lockctl revoke /t");
    tmux_line("x");
    tmux_wait("  connected  ");
    hand_over("R", "$ zk-lockctl revoke /t");
    tmux_key("Enter");
    tmux_wait("asked ");
    give_back(0);
    go_back();
    tmux_wait("1 lock, 1 held");
    quit();
    tmux_wait("asked "); /* it stays on the terminal */
}

TEST(a_lock_is_broken_by_its_token)
{
    const char *command = textf("break --token %s /t", token_of(grants[0]));
    start("");
    hand_over("K", command);
    tmux_key("Enter");
    tmux_wait("alpha is held by");
    tmux_wait("it is connected from 127.0.0.1:");
    tmux_wait("0 waiting; the next is granted at once");
    tmux_wait("anything else not to:");
    tmux_line("1");
    tmux_wait("not the token: nothing was done");
    go_back();
    hand_over("K", command);
    tmux_key("Enter");
    break_it(grants[0]);
    wait_grant_state(grants[0], ZKR_GRANT_LOST);
    go_back();
    quit();
    tmux_wait("broken: "); /* it stays on the terminal */
}

/* INT is for the verb; top goes on. */
TEST(danger_is_shown_before)
{
    start("");
    (void)look_make(admin,
                    textf("%s/zeta/0123456789abcdef0123456789abcdef__lock__"
                          "0000000000",
                          root),
                    "hostA:123", ZOO_EPHEMERAL);
    tmux_wait("3 locks, 3 held");
    tmux_key("End");
    hand_over("K", "/zeta");
    tmux_key("Enter");
    tmux_wait("zeta is held by hostA:123");
    tmux_wait("DANGER: a holder in the dialect kazoo");
    tmux_wait("Stop it first");
    tmux_wait("anything else not to:");
    tmux_key("C-c");
    go_back();
    tmux_wait("3 locks, 3 held");
    quit();
}

TEST(a_verb_is_stopped_and_continued_with_top)
{
    start("--timeout 7s");
    pid_t top = wait_child_of(tmux_shell(), "zk-lockctl");
    hand_over("K", "break --token ");
    tmux_key("Enter");
    tmux_wait("anything else not to:");
    ok(system(textf("grep -qze --timeout=7s /proc/%d/cmdline",
                    (int)wait_child_of(top, "exe"))));
    tmux_key("C-z");
    tmux_wait(TMUX_PROMPT);
    tmux_line("fg");
    ok(kill(top, SIGHUP)); /* it ends with the verb */
    tmux_line("%s", token_of(grants[0]));
    tmux_wait("broken: ");
    assert_restored();
}

TEST(one_of_several_is_chosen_in_the_queue)
{
    zkr_grant *readers[2];

    start("");
    zkr_rwlock *lock = NEW(rwlock, session, textf("%s/zeta", root), NULL);
    for (size_t i = 0; i < 2; i++)
        ok(zkr_rwlock_acquire_read(lock, SOON_MS, &readers[i]));
    tmux_wait("2 holders");
    tmux_key("End");
    tmux_type("K");
    tmux_wait("there are several holders: choose one in the queue");
    tmux_key("Enter");
    tmux_wait("2 in the queue");
    tmux_key("End");
    hand_over("K", "break --token ");
    tmux_key("Enter");
    break_it(readers[1]);
    wait_grant_state(readers[1], ZKR_GRANT_LOST);
    wait_verified(readers[0]);
    go_back();
    tmux_wait("1 in the queue");
    tmux_type("q");
    quit();
    for (size_t i = 0; i < 2; i++)
        zkr_grant_free(readers[i]);
    zkr_rwlock_free(lock);
}

TEST(with_read_only_there_are_no_questions)
{
    start("--read-only");
    tmux_type("R");
    tmux_wait("--read-only: nobody is asked, nothing is broken");
    tmux_key("Up");
    tmux_wait_gone("--read-only: nobody");
    tmux_type("K");
    tmux_wait("--read-only: nobody is asked, nothing is broken");
    quit();
}

/* --- the session of the tool --- */

/* Makes the server end all sessions but those of the test. */
static void expire_others(void)
{
    char *text = server_4lw(the_server, "cons");

    assert_non_null(text);
    for (const char *p = text; (p = strstr(p, "sid=0x")) != NULL; p++) {
        int64_t id = (int64_t)strtoull(p + 6, NULL, 16);

        if (id != zkr_session_id(session) && id != admin_session_id(admin))
            (void)session_kill_by_id(server_hosts(the_server), id);
    }
    free(text);
}

/* Regression: it said that the lock is free. */
TEST(an_unreadable_lock_is_not_free)
{
    start("");
    look_permit(root, ZOO_PERM_ALL & ~ZOO_PERM_READ);
    expire_others(); /* all is listed anew */
    tmux_wait("cannot list ");
    look_permit(root, ZOO_PERM_ALL);
    look_permit(paths[0], ZOO_PERM_ALL & ~ZOO_PERM_READ);
    expire_others();
    tmux_wait("could not be looked at");
    assert_lacks(tmux_screen(), "free");
    quit();
    look_permit(paths[0], ZOO_PERM_ALL);
}

TEST(it_goes_on_with_a_new_session)
{
    start("");
    for (int i = 0; i < 2; i++) {
        expire_others();
        tmux_type(i == 0 ? "r" : "s");
        tmux_wait(i == 0 ? "sorted by LOCK reversed" : "sorted by KIND");
        tmux_wait("  connected  ");
    }
    give_back(0);
    tmux_wait("1 lock, 1 held");
    quit();
}

/* --- servers that are away --- */

TEST(while_the_server_hangs_keys_work)
{
    start("");
    server_pause(the_server);
    tmux_wait("STALE, ");
    tmux_wait_gone("STALE, 0.0s");
    tmux_type("r");
    tmux_key("Down");
    tmux_key("Enter");
    tmux_wait("alpha  mutex");
    tmux_wait("STALE, ");
    tmux_type("q");
    tmux_wait(paths[1]); /* the last picture */
    server_resume(the_server);
    tmux_wait("sorted by LOCK reversed");
}

TEST(it_ends_while_the_server_hangs)
{
    start("");
    server_pause(the_server);
    tmux_wait("STALE, ");
    struct stopwatch *w = stopwatch_start();
    quit();
    assert_true(stopwatch_says(w, 0, 4000)); /* not the 5 s of a request */
    assert_restored();
    server_resume(the_server);
}

TEST(it_outlives_the_server)
{
    start("");
    server_kill9(the_server);
    tmux_wait("STALE, ");
    tmux_wait("connection lost");
    restart_server();
    tmux_wait("sorted by LOCK");
    tmux_wait("  connected  ");
}

/* --- what reaches the terminal --- */

/* All that top has written there, when it has ended. It goes through a pipe,
 * and may be on the screen before. */
static const char *read_file(const char *name)
{
    AWAIT(strstr(cli_read(name), "\033[?1049l") != NULL);
    return cli_read(name);
}

#define TITLE "\033]0;owned\a\033[2J\xff"

TEST(nothing_hostile_reaches_the_terminal)
{
    const char *file = cli_file("bytes");
    char node[200];

    PRINT(node, "%s/\u202e\u65e5e\u0301", root);
    assert_int_equal(admin_create(admin, node, NULL), 0);
    (void)strcat(node, "/\u202elock-0000000000");
    assert_int_equal(admin_create(admin, node, TITLE), 0);
    tmux_record(file);
    type_top("");
    tmux_wait("3 locks, 3 held");
    tmux_wait("\\x1B]0;owned");
    tmux_wait("\\xE2\\x80\\xAE\u65e5e\u0301");
    tmux_type("/xAExx");
    tmux_key("BSpace");
    tmux_key("C-h"); /* Backspace of old terminals */
    tmux_key("Enter");
    tmux_key("Enter");
    tmux_wait("1 in the queue");
    tmux_resize(200, 24);
    tmux_wait("NODE");
    tmux_type("K");
    tmux_wait("Enter runs it");
    tmux_key("Enter");
    tmux_wait("is held by");
    tmux_key("Enter");
    tmux_wait("Enter goes back to top:");
    tmux_key("Enter");
    tmux_wait("1 in the queue");
    tmux_type("q");
    quit();
    assert_lacks(tmux_say("#{pane_title}"), "owned");
    const char *bytes = read_file(file);
    assert_has(bytes, "x1B]0;owned");
    assert_lacks(bytes, "\033]0;owned");
    assert_lacks(bytes, "\u202e");
    assert_null(strchr(bytes, '\xff'));
}
