/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what zk-lockctl top does to locks, of what the servers tell it about
 * a queue: on a screen of tmux. */

#include "look.h"
#include "tmux.h"

static zkr_session *session;
static char root[64];
static char path[80];
static zkr_mutex *mutex;
static zkr_grant *grant;

/* Makes a lock that is held: "alpha", below a directory. */
static int setup(void)
{
    static int number; /* short paths: they are to be read on a screen */

    session = open_session();
    PRINT(root, "/a%d", ++number);
    PRINT(path, "%s/alpha", root);
    mutex = new_mutex(session, path);
    grant = acquire(mutex);
    tmux_open(100, 30);
    return 0;
}

static int teardown(void)
{
    tmux_close();
    zkr_grant_free(grant);
    zkr_mutex_free(mutex);
    (void)zkr_session_close(session);
    (void)admin_delete_tree(admin, root);
    return 0;
}

FIXTURE(setup, teardown)

static void start_at(const char *hosts, const char *options)
{
    tmux_line("clear; %s top --servers %s --interval 100ms --sort lock %s %s",
              LOCKCTL, hosts, options, root);
    tmux_wait("connected  every");
    tmux_wait(path);
}

static void start(const char *options)
{
    start_at(server_hosts(the_server), options);
}

static void quit(void)
{
    tmux_type("q");
    tmux_wait(TMUX_PROMPT);
}

static const char *token_of(zkr_grant *g)
{
    static char text[32];

    PRINT(text, "%lld", (long long)zkr_grant_token(g));
    return text;
}

/* A holder whose client looks at nothing but its turn. */
static void make_kazoo(const char *name)
{
    (void)look_make(admin,
                    line("%s/%s/0123456789abcdef0123456789abcdef__lock__"
                         "0000000000",
                         root, name),
                    "hostA:123", ZOO_EPHEMERAL);
}

/* Presses a key that hands the terminal to a verb. */
static void hand_over(const char *key, const char *command)
{
    tmux_type(key);
    tmux_wait(command);
    tmux_wait("Enter runs it, anything else does not:");
}

static void run_it(void)
{
    tmux_key("Enter");
}

static void go_back(void)
{
    tmux_wait("Enter goes back to top:");
    tmux_key("Enter");
    tmux_wait("connected  every");
}

/* Answers the question of break. */
static void break_it(zkr_grant *g)
{
    tmux_wait("anything else not to:");
    tmux_line("%lld", (long long)zkr_grant_token(g));
    tmux_wait("broken: ");
}

/* --- asking --- */

TEST(a_holder_is_asked_after_a_question)
{
    start("");
    hand_over("R", "$ zk-lockctl revoke /a");
    tmux_line("x");
    tmux_wait("connected  every");
    hand_over("R", "$ zk-lockctl revoke /a");
    run_it();
    tmux_wait("asked ");
    release(grant);
    grant = NULL;
    go_back();
    tmux_wait("0 held");
    quit();
    tmux_wait("asked "); /* it stays on the terminal */
}

/* --- breaking --- */

TEST(a_lock_is_broken_by_its_token)
{
    char command[64];

    PRINT(command, "break --token %s /a", token_of(grant));
    start("");
    hand_over("K", command);
    run_it();
    tmux_wait("alpha is held by");
    tmux_wait("it is connected from 127.0.0.1:");
    tmux_wait("0 waiting; the next is granted at once");
    tmux_wait("anything else not to:");
    tmux_line("1");
    tmux_wait("not the token: nothing was done");
    go_back();
    hand_over("K", command);
    run_it();
    break_it(grant);
    wait_grant_state(grant, ZKR_GRANT_LOST);
    go_back();
    quit();
    tmux_wait("broken: "); /* it stays on the terminal */
}

/* INT is for the verb; top goes on. */
TEST(danger_is_shown_before)
{
    make_kazoo("zeta");
    start("");
    tmux_wait("2 locks, 2 held");
    tmux_key("End");
    hand_over("K", "/zeta");
    run_it();
    tmux_wait("zeta is held by hostA:123");
    tmux_wait("DANGER: a holder in the dialect kazoo");
    tmux_wait("Stop it first");
    tmux_wait("anything else not to:");
    tmux_key("C-c");
    go_back();
    tmux_wait("2 locks, 2 held");
    quit();
}

TEST(a_verb_is_stopped_and_continued_with_top)
{
    start("");
    hand_over("K", "break --token ");
    run_it();
    tmux_wait("anything else not to:");
    tmux_key("C-z");
    tmux_wait(TMUX_PROMPT);
    tmux_line("fg");
    tmux_line("%s", token_of(grant));
    tmux_wait("broken: ");
    go_back();
    quit();
}

TEST(one_of_several_is_chosen_in_the_queue)
{
    char name[80];
    zkr_rwlock *lock;
    zkr_grant *readers[2];

    PRINT(name, "%s/zeta", root);
    ok(zkr_rwlock_new(session, name, NULL, &lock));
    for (size_t i = 0; i < 2; i++)
        ok(zkr_rwlock_acquire_read(lock, SOON_MS, &readers[i]));
    start("");
    tmux_wait("2 holders");
    tmux_key("End");
    tmux_type("K");
    tmux_wait("there are several holders: choose one in the queue");
    tmux_key("Enter");
    tmux_wait("2 in the queue");
    tmux_key("End");
    hand_over("K", "break --token ");
    run_it();
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
    tmux_type(" ");
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
    tmux_wait("1 lock, 1 held");
    look_permit(path, ZOO_PERM_ALL & ~ZOO_PERM_READ);
    expire_others(); /* all is listed anew */
    tmux_wait("could not be looked at");
    assert_lacks(tmux_screen(), "free");
    quit();
    look_permit(path, ZOO_PERM_ALL);
}

TEST(it_goes_on_with_a_new_session)
{
    start("");
    for (int i = 0; i < 2; i++) {
        expire_others();
        tmux_type(i == 0 ? "r" : "s");
        tmux_wait(i == 0 ? "sorted by LOCK reversed" : "sorted by KIND");
        tmux_wait("connected  every");
    }
    release(grant);
    grant = NULL;
    tmux_wait("0 locks, 0 held");
    quit();
}

int main(void)
{
    return tmux_run(test_run_all);
}
