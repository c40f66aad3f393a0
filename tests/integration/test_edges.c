/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of data that others have written: each reader is given each edge. */
#include "fixture.h"

static char longest[ZKR_DATA_MAX];

struct edge {
    const char *name, *data;
    size_t len;
    int64_t number; /* of 4 or 8 bytes */
};

#define REVOKE      "__REVOKE__"
#define BYTES(text) (text), sizeof(text) - 1

static const struct edge edges[] = {
    { "nothing", BYTES(""), 0 },
    { "one zero", BYTES("\0"), 0 },
    { "three bytes", BYTES("\0\0\1"), 0 },
    { "0", BYTES("\0\0\0\0"), 0 },
    { "1", BYTES("\0\0\0\1"), 1 },
    { "-1", BYTES("\377\377\377\377"), -1 },
    { "least of four bytes", BYTES("\200\0\0\0"), INT32_MIN },
    { "most of four bytes", BYTES("\177\377\377\377"), INT32_MAX },
    { "five bytes", BYTES("\0\0\0\0\1"), 0 },
    { "seven bytes", BYTES("\0\0\0\0\0\0\1"), 0 },
    { "0 in eight bytes", BYTES("\0\0\0\0\0\0\0\0"), 0 },
    { "-1 in eight bytes", BYTES("\377\377\377\377\377\377\377\377"), -1 },
    { "least", BYTES("\200\0\0\0\0\0\0\0"), INT64_MIN },
    { "most", BYTES("\177\377\377\377\377\377\377\377"), INT64_MAX },
    { "nine bytes", BYTES("\0\0\0\0\0\0\0\0\1"), 0 },
    { REVOKE, BYTES(REVOKE), 0 },
    { "less than " REVOKE, BYTES("__REVOKE_"), 0 },
    { "more than " REVOKE, BYTES(REVOKE "\0"), 0 },
    { "no object", BYTES("[]"), 0 },
    { "no text", BYTES("{\"host\":\377,\"pid\":-1}"), 0 },
    { "the longest", longest, sizeof(longest), 0 },
};

static zkr_session *s;
static const char *path;
static char node[128];

static int setup(void)
{
    memset(longest, '7', sizeof(longest));
    s = open_session();
    path = new_path();
    return 0;
}

static int teardown(void)
{
    return zkr_session_close(s);
}

FIXTURE(setup, teardown)

static void others_set(const struct edge *e, const char *at)
{
    ok(zkr_session_set(s, at, e->data, e->len, ZKR_ANY_VERSION, SOON_MS, NULL));
}

/* The directory of a lock, and a node in it. */
static void others_make_in_path(const struct edge *e, const char *name)
{
    ok(zkr_session_create(s, path, NULL, 0, NULL, SOON_MS, NULL));
    (void)snprintf(node, sizeof(node), "%s/%s", path, name);
    ok(zkr_session_create(s, node, e->data, e->len, NULL, SOON_MS, NULL));
}

/* -- numbers --------------------------------------------------------------- */

static void reads_number(const struct edge *e, uint32_t flags, size_t size)
{
    bool fits = e->len == size || e->len == 0;
    int64_t value = 7;

    AUTO(counter) c = NEW(counter, s, path, OPTS(counter, .flags = flags));
    assert_int_equal(zkr_counter_get(c, SOON_MS, &value, NULL),
                     fits ? ZKR_OK : ZKR_EDAMAGED);
    assert_true(value == (fits ? e->number : 0));
}

TEST_ROWS(a_counter, edges, e)
{
    ok(zkr_session_create(s, path, e->data, e->len, NULL, SOON_MS, NULL));
    reads_number(e, 0, 8);
    reads_number(e, ZKR_COUNTER_INT32, 4);
}

/* A number that is none leaves the limit as it was. */
TEST_ROWS(the_limit_of_a_semaphore, edges, e)
{
    const char *limit = textf("%s-limit", path);
    const struct zkr_lockable_opts *opts = OPTS(lockable, .limit_path = limit);
    uint32_t number = e->number < 0 ? 0 : (uint32_t)e->number;
    AUTO(semaphore) before = NEW(semaphore, s, path, 5, opts);
    AUTO(semaphore) sem = NULL;

    others_set(e, limit);
    if (e->len == 4) {
        AWAIT(zkr_semaphore_limit(before) == number);
        ok(zkr_semaphore_new(s, path, 5, opts, &sem));
        assert_int_equal(zkr_semaphore_limit(sem), number);
    } else {
        settle(s);
        assert_int_equal(zkr_semaphore_limit(before), 5);
        tells(zkr_semaphore_new(s, path, 5, opts, &sem), ZKR_EDAMAGED, limit);
        assert_null(sem);
    }
}

/* -- nodes of locks -------------------------------------------------------- */

static void holds_and_releases(zkr_grant *g)
{
    settle(s);
    assert_int_equal(zkr_grant_state(g), ZKR_GRANT_HELD);
    release(g);
    wait_children(path, 0);
}

/* Curator's text asks for the lock, and nothing else does. */
TEST_ROWS(the_node_of_a_holder, edges, e)
{
    AUTO(recorder) events = recorder_new();
    AUTO(mutex) m = new_mutex(s, path);
    zkr_grant *g = acquire(m);

    ok(zkr_grant_listen(g, record_grant, events));
    settle(s);
    others_set(e, zkr_grant_node(g));
    bool asks = strcmp(e->name, REVOKE) == 0;
    if (asks)
        assert_int_equal(recorded(events, 0), 100); /* no state */
    settle(s);
    assert_int_equal(recorder_count(events), asks);
    holds_and_releases(g);
}

/* Until it is deleted. */
static void is_waited_for(acquire_call *call, void *lock)
{
    assert_int_equal(call(lock, 0, &nil), ZKR_EBUSY);
    tells(call(lock, 100, &nil), ZKR_ETIMEDOUT, path);
    ok(zkr_session_delete(s, node, ZKR_ANY_VERSION, SOON_MS));
}

TEST_ROWS(the_node_ahead, edges, e)
{
    AUTO(mutex) m = new_mutex(s, path);

    others_make_in_path(e, "_c_57ca8e00-0000-4000-8000-000000000000-lock-"
                           "0000000000");
    is_waited_for(by_mutex, m);
    release(acquire(m));
}

/* The node is known by its data. */
TEST_ROWS(the_node_of_an_unfair_mutex, edges, e)
{
    AUTO(unfair_mutex) m = NEW(unfair_mutex, s, path, NULL);

    others_make_in_path(e, "holder");
    is_waited_for(zkr_unfair_mutex_acquire, m);
    zkr_grant *g = GRANT(unfair_mutex_acquire, m, SOON_MS);
    others_set(e, node);
    holds_and_releases(g);
}

TEST_ROWS(a_list_of_participants, edges, e)
{
    size_t shown =
        e->len < ZKR_PARTICIPANT_DATA_MAX ? e->len : ZKR_PARTICIPANT_DATA_MAX;

    others_make_in_path(e, "lock-0000000001");
    AUTO(participants) list = list_of(s, path, NULL);
    assert_int_equal(list->count, 1);
    const struct zkr_participant *p = &list->items[0];
    assert_int_equal(p->full_size, e->len);
    assert_int_equal(p->data_size, shown);
    assert_memory_equal(p->data, e->data, shown);
    assert_int_equal(p->data[shown], '\0');
}
