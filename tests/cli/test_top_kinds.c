/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl top with what is not a mutex: semaphores, double
 * barriers and counters, on a screen of tmux. */

#include "tmux.h"

#define MEMBER "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a43"

static zkr_session *session;
static char root[64];

static int setup(void)
{
    static int number; /* short paths: they are to be read on a screen */

    session = open_session();
    PRINT(root, "/k%d", ++number);
    assert_int_equal(admin_create(admin, root, NULL), ZOK);
    tmux_open(100, 30);
    return 0;
}

static int teardown(void)
{
    tmux_close();
    (void)zkr_session_close(session);
    (void)admin_delete_tree(admin, root);
    return 0;
}

FIXTURE(setup, teardown)

static const char *full(const char *name)
{
    static char text[4][256];
    static size_t next;
    char *buffer = text[next++ % 4];

    (void)snprintf(buffer, sizeof(text[0]), "%s/%s", root, name);
    return buffer;
}

static void start(void)
{
    char line[512];

    PRINT(line, "clear; %s top --servers %s --interval 100ms --sort lock %s",
          LOCKCTL, server_hosts(the_server), root);
    tmux_type(line);
    tmux_key("Enter");
    tmux_wait("connected  every");
}

static void quit(void)
{
    tmux_type("q");
    tmux_wait(TMUX_PROMPT);
}

static void type_token_of(zkr_grant *g)
{
    char token[32];

    PRINT(token, "%lld", (long long)zkr_grant_token(g));
    tmux_wait("anything else not to:");
    tmux_type(token);
    tmux_key("Enter");
}

static void ignore(int rc, zkr_grant *g, void *user)
{
    zkr_grant **ret = user;

    if (rc == ZKR_OK)
        *ret = g;
}

/* A lease that is broken makes room for the next in the queue, and the others
 * stay. */
TEST(a_semaphore_has_leases_and_a_queue)
{
    zkr_semaphore *pool;
    zkr_grant *leases[3] = { NULL };
    zkr_request *request;

    ok(zkr_semaphore_new(session, full("pool"), 2, NULL, &pool));
    for (size_t i = 0; i < 2; i++)
        ok(zkr_semaphore_acquire(pool, SOON_MS, &leases[i]));
    ok(zkr_semaphore_acquire_async(pool, SOON_MS, ignore, &leases[2],
                                   &request));
    start();
    tmux_wait("semaphore shared 2 of 2 leases");
    tmux_wait("1 lock, 1 held, 1 waiting");
    tmux_type("K");
    tmux_wait("there are several holders: choose one in the queue");
    tmux_key("Enter");
    tmux_wait("semaphore (zkrecipes)  shared  2 of 2 leases, 1 waiting");
    tmux_wait("a permit");
    tmux_key("Down");
    tmux_type("K");
    tmux_wait("Enter runs it");
    tmux_key("Enter");
    tmux_wait("a lease of ");
    tmux_wait("its permit is free at once, for the next of them");
    type_token_of(leases[1]);
    tmux_wait("broken: ");
    wait_grant_state(leases[1], ZKR_GRANT_LOST);
    tmux_wait("Enter goes back to top:");
    tmux_key("Enter");
    tmux_wait("2 of 2 leases, 0 waiting");
    wait_verified(leases[0]);
    zkr_request_free(request);
    tmux_type("q");
    quit();
    for (size_t i = 0; i < 3; i++)
        zkr_grant_free(leases[i]);
    zkr_semaphore_free(pool);
}

static void make_member(const char *name)
{
    assert_ok(admin_create_flags(admin, full(name), "10.0.0.1", ZOO_EPHEMERAL,
                                 NULL, 0));
}

/* Nobody holds a barrier, so nothing is asked or broken. */
TEST(a_double_barrier_has_members)
{
    assert_int_equal(admin_create(admin, full("start"), NULL), ZOK);
    make_member("start/" MEMBER "1");
    make_member("start/" MEMBER "2");
    start();
    tmux_wait("barrier entering 2 members");
    tmux_type("K");
    tmux_wait("nobody holds it");
    tmux_key("Enter");
    tmux_wait("barrier (-)  entering  2 members");
    tmux_wait("member");
    assert_int_equal(admin_create(admin, full("start/ready"), NULL), ZOK);
    tmux_wait("ready  2 members");
    tmux_type("R");
    tmux_wait("nobody holds it");
    tmux_type("q");
    quit();
}

/* A counter is no lock. The mutex that takes turns for it is one. */
TEST(of_a_counter_the_mutex_is_shown)
{
    struct zkr_counter_opts opts = ZKR_COUNTER_OPTS_INIT;
    zkr_counter *counter;
    zkr_mutex *mutex;
    zkr_grant *grant;

    opts.lock_path = full("turns");
    ok(zkr_counter_new(session, full("total"), &opts, &counter));
    ok(zkr_counter_add(counter, 260, SOON_MS, NULL));
    mutex = new_mutex(session, full("turns"));
    grant = acquire(mutex);
    start();
    tmux_wait("1 lock, 1 held");
    tmux_wait(full("turns"));
    tmux_wait_gone(full("total"));
    quit();
    release(grant);
    zkr_mutex_free(mutex);
    zkr_counter_free(counter);
}

int main(void)
{
    return tmux_run(test_run_all);
}
