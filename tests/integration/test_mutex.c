/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the mutex beyond the contract: its nodes, and whom it waits for. */
#include "usual.h"

#include <inttypes.h>

#include <jansson.h>

FIXTURE(usual_setup_two, usual_teardown)

/* -- what is on the server ------------------------------------------------ */

TEST(a_wait_that_times_out_says_for_whom_it_waited)
{
    AUTO(held) g = acquire(m);

    tells(zkr_mutex_acquire(m, GIVE_UP_MS, &nil), ZKR_ETIMEDOUT, path);
    assert_non_null(strstr(zkr_error_detail(), "lock-0000000000"));
    assert_non_null(strstr(zkr_error_detail(), "of this session"));
}

/* On a busy machine it may have no time to read who holds it. */
static void give_up_on_it(void)
{
    int64_t patience_ms = GIVE_UP_MS;

    do {
        assert_int_equal(zkr_mutex_acquire(m, patience_ms, &nil),
                         ZKR_ETIMEDOUT);
        patience_ms *= 2;
    } while (strstr(zkr_error_detail(), " (session 0x") == NULL);
}

#define FORTY "the forty bytes of the longest such word"

/* The answer to the watch has told what the others say of themselves. */
TEST(the_holder_is_named_where_it_is_known)
{
    AUTO(mutex) labelled =
        NEW(mutex, theirs, path, OPTS(lockable, .label = "nightly export"));
    AUTO(held) g = acquire(labelled);
    tells(zkr_mutex_acquire(m, 0, &nil), ZKR_EBUSY, "': is held by '_c_");
    assert_non_null(strstr(zkr_error_detail(), "lock-0000000000'"));
    give_up_on_it();
    assert_has(zkr_error_detail(),
               textf("(session 0x%" PRIx64 ", host '", zkr_session_id(theirs)));
    assert_has(zkr_error_detail(),
               textf(", pid '%d', label 'nightly export')", (int)getpid()));
    assert_int_equal(admin_set(admin, zkr_grant_node(g), FORTY), ZOK);
    give_up_on_it();
    assert_non_null(strstr(zkr_error_detail(), ", who says '" FORTY "')"));
    assert_int_equal(admin_set(admin, zkr_grant_node(g), FORTY "+"), ZOK);
    give_up_on_it();
    assert_null(strstr(zkr_error_detail(), "who says"));
    assert_int_equal(admin_set(admin, zkr_grant_node(g), "\033[2J"), ZOK);
    give_up_on_it();
    assert_null(strchr(zkr_error_detail(), '\033'));
}

TEST(the_node_says_who_holds_it)
{
    const char *label = "nightly \"export\" \xc3\xa4";
    char data[1024];
    struct Stat stat;

    AUTO(mutex) labelled = NEW(mutex, s, path, OPTS(lockable, .label = label));
    AUTO(held) g = acquire(labelled);
    ok(admin_get(admin, zkr_grant_node(g), data, sizeof(data)));
    assert_null(strchr(data, '\n'));
    json_t *record = json_loads(data, 0, NULL);
    assert_non_null(record);
    assert_string_equal(json_string_value(json_object_get(record, "label")),
                        label);
    assert_int_equal(json_integer_value(json_object_get(record, "pid")),
                     getpid());
    json_decref(record);
    assert_int_equal(admin_exists(admin, zkr_grant_node(g), &stat), ZOK);
    assert_true(stat.ephemeralOwner == zkr_session_id(s));
    assert_true(stat.czxid == zkr_grant_token(g));
}

static size_t count_watches(void)
{
    char *wchp = server_4lw(the_server, "wchp");
    size_t found = 0;

    for (char *p = wchp; p != NULL && (p = strstr(p, path)) != NULL; p++)
        found++;
    free(wchp);
    return found;
}

/* A herd would show as one node watched by many sessions. */
TEST(each_waiter_watches_only_the_node_before_it)
{
    enum { N = 4 };
    zkr_session *sessions[N];
    zkr_mutex *mutexes[N];
    struct waiter waiters[N];
    zkr_grant *g = acquire(m);

    for (size_t i = 0; i < N; i++) {
        sessions[i] = open_session();
        mutexes[i] = new_mutex(sessions[i], path);
        waiter_queue(&waiters[i], mutexes[i]);
    }
    AWAIT(count_watches() == N + 1); /* the holder's node and its own too */
    AUTO(text) wchp = server_4lw(the_server, "wchp");
    assert_non_null(wchp);
    for (size_t i = 0; i < N; i++) { /* "path\n\tsession\n..." */
        AUTO(text) name = nth_child(path, i);
        char *entry = strstr(wchp, name);
        size_t watchers = 0;

        assert_non_null(entry);
        for (char *line = strchr(entry, '\n'); line != NULL && line[1] == '\t';
             line = strchr(line + 1, '\n'))
            watchers++;
        /* the holder, and the one behind it, watch their own nodes too */
        assert_in_range(watchers, 1, i <= 1 ? 2 : 1);
    }
    release(g);
    for (size_t i = 0; i < N; i++) {
        release(waiter_grant(&waiters[i]));
        zkr_mutex_free(mutexes[i]);
        close_session(sessions[i]);
    }
}

/* Of Curator, go-zookeeper, one without protection, and kazoo. */
TEST(contenders_of_other_clients_are_waited_for)
{
    static const char *const names[] = {
        "_c_16176773-7d6f-4686-ab55-f4bd6230b745-lock-",
        "_c_16176773f4bd6230b745f4bd6230b745-lock-",
        "lock-",
        "5f1e6773f4bd6230b745f4bd6230b745__lock__",
    };
    char created[256];

    release(acquire(m));
    for (size_t i = 0; i < COUNT(names); i++) {
        ok(admin_create_flags(admin, textf("%s/%s", path, names[i]), NULL,
                              ZOO_SEQUENCE, created, sizeof(created)));
        assert_int_equal(zkr_mutex_acquire(m, 0, &nil), ZKR_EBUSY);
        assert_int_equal(zkr_mutex_acquire(m, GIVE_UP_MS, &nil), ZKR_ETIMEDOUT);
        assert_int_equal(admin_delete(admin, created), ZOK);
        wait_children(path, 0);
    }
}

/* go TestIntegration_MultiLevelLock */
TEST(missing_parents_are_created_below_existing_ones)
{
    ok(admin_create(admin, "/level1", NULL));
    const char *deep = textf("/level1/level2/level3/level4");
    AUTO(mutex) below = new_mutex(s, deep);
    release(acquire(below));
    assert_int_equal(admin_exists(admin, deep, NULL), ZOK);
    assert_int_equal(admin_delete_tree(admin, "/level1"), ZOK);
}

/* -- asynchronous --------------------------------------------------------- */

TEST(thousands_of_claims_wait_without_a_thread)
{
    enum { N = 1000 };
    AUTO(recorder) r = recorder_new();
    int threads = count_threads();
    int64_t last = 0;

    for (int i = 0; i < N; i++)
        ok(zkr_mutex_acquire_async(m, -1, record_acquire, r, NULL));
    assert_int_equal(count_threads(), threads);
    for (size_t i = 0; i < N; i++) {
        AUTO(grant) g = recorded_grant(r, i);
        assert_true(zkr_grant_token(g) > last);
        last = zkr_grant_token(g);
        ok(zkr_grant_release_async(g, NULL, NULL));
    }
    wait_children(path, 0);
}
