/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a session that gets other servers, on an ensemble of three. */
#include "fixture.h"

enum { OPENS = 12 };

static struct ensemble *ensemble;

static const char *member(int i)
{
    return server_hosts(ensemble_server(ensemble, i));
}

static zkr_session *open_at(const char *hosts)
{
    return open_to(hosts, OPTS(session, .session_timeout_ms = SESSION_MS,
                               .connect_timeout_ms = SOON_MS));
}

/* At first while it is served, then when it is without a connection. */
TEST(a_session_goes_on_with_other_servers)
{
    AUTO(recorder) r = recorder_new();
    AUTO(session) s = open_at(member(0));
    int64_t id = zkr_session_id(s);
    AUTO(mutex) m = new_mutex(s, new_path());
    AUTO(held) g = acquire(m);

    AUTO(listener) l = MADE(listener, session_listen, s, record_session, r);
    assert_int_equal(recorded(r, 0), ZKR_SESSION_CONNECTED);
    for (int i = 0; i < 4; i++) {
        struct server *old = ensemble_server(ensemble, i % 3);
        const char *next = member((i + 1) % 3);
        size_t told = recorder_count(r);

        /* The server that serves it goes, and the session goes on at another,
         * which is on the same address: only the port differs. */
        if (i < 2)
            ok(zkr_session_set_servers(s, next));
        server_kill9(old);
        assert_int_equal(recorded(r, told), ZKR_SESSION_SUSPENDED);
        if (i >= 2) {
            /* Nobody is there: a client that has tried it in between stays
             * without a connection. */
            ok(zkr_session_set_servers(s, "127.0.0.1:1"));
            ok(zkr_session_set_servers(s, next));
        }
        assert_int_equal(recorded(r, told + 1), ZKR_SESSION_RECONNECTED);
        wait_verified(g);
        ok(server_restart(old));
    }
    assert_true(zkr_session_id(s) == id);
    assert_int_equal(zkr_session_epoch(s), 1);
}

/* Its name is the first of a session that begins anew. */
TEST(a_new_session_begins_at_the_new_servers)
{
    AUTO(session) s = open_at(member(0));
    AUTO(mutex) m = new_mutex(s, new_path());

    for (int i = 0; i < 2; i++) {
        ok(zkr_session_set_servers(s, member(i + 1)));
        tells(zkr_session_set_servers(s, textf("%s/app", member(i))),
              ZKR_EINVAL, "chroot");
        expire_and_wait(s);
        server_kill9(ensemble_server(ensemble, i));
        release(acquire(m));
        assert_int_equal(zkr_session_epoch(s), (uint64_t)i + 2);
        ok(server_restart(ensemble_server(ensemble, i)));
    }
}

TEST(an_open_that_waits_takes_the_new_servers)
{
    for (int i = 0; i < 2; i++) {
        AUTO(session) s =
            MADE(session, session_open_async, "127.0.0.1:1",
                 OPTS(session, .connect_timeout_ms = SOON_MS), NULL, NULL);

        ok(zkr_session_set_servers(s, member(i)));
        AUTO(mutex) m = new_mutex(s, new_path());
        release(acquire(m));
    }
}

/* A member of three that hangs made every third open fail, as the client stayed
 * with it for two thirds of the session timeout. */
TEST(a_silent_server_fails_no_open)
{
    AUTO(recorder) r = recorder_new();
    zkr_session *s[OPENS];
    int silent = ensemble_leader(ensemble) == 0 ? 1 : 0;

    server_pause(ensemble_server(ensemble, silent));
    for (int i = 0; i < OPENS; i++)
        ok(zkr_session_open_async(ensemble_hosts(ensemble),
                                  OPTS(session, .session_timeout_ms = 30000,
                                       .connect_timeout_ms = 15000),
                                  record_release, r, &s[i]));
    for (size_t i = 0; i < OPENS; i++)
        ok(recorded(r, i));
    server_resume(ensemble_server(ensemble, silent));
    for (int i = 0; i < OPENS; i++)
        close_session(s[i]);
}

static int setup(void)
{
    the_server = ensemble_server(ensemble, 0); /* ends sessions */
    return admin_open(ensemble_hosts(ensemble), &admin);
}

int main(void)
{
    return run_with_ensemble(3, NULL, &ensemble, setup, NULL);
}
