/* A name server that does not answer holds up the opening of a connection, and
 * nothing else: deadlines used to wait for it. */
#include "fixture.h"

#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

enum { SLOW_MS = 4000, DEADLINE_MS = 300 };

static atomic_bool is_slow;

typedef int (*resolver)(const char *, const char *, const struct addrinfo *,
                        struct addrinfo **);

/* Takes the place of the C library's, for the client too. */
int getaddrinfo(const char *node, const char *service,
                const struct addrinfo *hints, struct addrinfo **ret_info)
{
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    resolver real;
    char thread[16] = "";

    memcpy(&real, &symbol, sizeof(real)); /* as POSIX has it */
    (void)pthread_getname_np(pthread_self(), thread, sizeof(thread));
    if (atomic_load(&is_slow) && strcmp(thread, "zkr-opener") == 0)
        sleep_ms(SLOW_MS);
    return real(node, service, hints, ret_info);
}

static void note_time(int error, zkr_grant *g, void *recorder)
{
    (void)g;
    recorder_add(recorder, error, now_ms());
}

static void deadlines_do_not_wait_for_a_name_server(void **state)
{
    zkr_session *s = open_session();
    zkr_session *other = open_session();
    const char *path = new_path();
    zkr_mutex *m = new_mutex(s, path);
    zkr_mutex *rival = new_mutex(other, path);
    zkr_grant *held = acquire(rival);
    struct recorder *r = recorder_new();
    int64_t start = now_ms();
    int64_t told = 0;
    int code = 0;

    (void)state;
    atomic_store(&is_slow, true);
    ok(zkr_mutex_acquire_async(m, DEADLINE_MS, note_time, r, NULL));
    expire(s);
    assert_true(recorder_wait(r, 1, SOON_MS));
    assert_true(recorder_get(r, 0, &code, &told));
    assert_int_equal(code, ZKR_ETIMEDOUT);
    assert_in_range(told - start, DEADLINE_MS, SLOW_MS / 2);
    atomic_store(&is_slow, false);
    release(held);
    zkr_mutex_free(m);
    zkr_mutex_free(rival);
    close_session(s);
    close_session(other);
    recorder_free(r);
}

static void an_open_does_not_wait_for_a_name_server(void **state)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    zkr_session *s = NULL;
    int64_t start = now_ms();

    (void)state;
    opts.connect_timeout_ms = DEADLINE_MS;
    atomic_store(&is_slow, true);
    assert_true(zkr_session_open(server_hosts(the_server), &opts, &s) < 0);
    assert_in_range(now_ms() - start, DEADLINE_MS, SLOW_MS / 2);
    atomic_store(&is_slow, false);
    sleep_ms(SLOW_MS); /* for what was left behind to end: leaks show here */
}

static int run_group(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(deadlines_do_not_wait_for_a_name_server),
        cmocka_unit_test(an_open_does_not_wait_for_a_name_server),
    };

    return cmocka_run_group_tests_name("slow names", tests, NULL, NULL);
}

int main(void)
{
    return run_with_server(NULL, run_group);
}
