/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the list of semaphores, whose nodes are in two directories. The
 * nodes are made by hand, as Curator makes them. */
#include "onlooker.h"

#include "protocol/roster.h"

#define NOBODY SIZE_MAX
#define LEASE  "leases/_c_5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436-lease-000000000"
#define QUEUED "locks/_c_5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436-lock-000000000"

/* A semaphore with neither leases nor a queue. */
static int setup(void)
{
    ok(pair_setup());
    make("leases", NULL);
    make("locks", NULL);
    return 0;
}

FIXTURE(setup, pair_teardown)

/* The nodes of a list and both directories, last first. */
static struct zkr_participants *arrange(const struct zkr_participants *of)
{
    struct zkr_participant nodes[32] = { { .name = "leases" },
                                         { .name = "locks" } };
    size_t n = of->semaphore ? 2 : 0;

    assert_true(of->count + n <= 32);
    for (size_t i = of->count; i > 0; i--) {
        const struct zkr_participant *p = &of->items[i - 1];

        nodes[n++] = (struct zkr_participant){ .name = p->name,
                                               .token = p->token,
                                               .session_id = p->session_id,
                                               .since_ms = p->since_ms,
                                               .data = p->data,
                                               .data_size = p->data_size,
                                               .full_size = p->full_size,
                                               .error = p->error };
    }
    struct zkr_participants *list = zkr__roster_make(nodes, n);
    assert_non_null(list);
    return list;
}

/* It has so many. Arranged by themselves, its nodes are the same list. */
static struct zkr_participants *list_all(size_t count)
{
    struct zkr_participants *list = list_of(s, path, NULL);
    AUTO(participants) arranged = arrange(list);

    assert_int_equal(list->count, count);
    assert_int_equal(arranged->count, count);
    assert_int_equal(list->semaphore, arranged->semaphore);
    for (size_t i = 0; i < list->count; i++) {
        const struct zkr_participant *x = &list->items[i];
        const struct zkr_participant *y = &arranged->items[i];

        assert_string_equal(x->name, y->name);
        assert_string_equal(x->marker, y->marker);
        assert_string_equal(x->data, y->data);
        assert_int_equal(x->kind, y->kind);
        assert_int_equal(x->holds, y->holds);
        assert_int_equal(x->waits_for, y->waits_for);
        assert_int_equal(x->token, y->token);
        assert_int_equal(x->full_size, y->full_size);
    }
    return list;
}

/* Nodes as they are made, by the rival behind a "*"; and the list: "!" behind
 * those that hold, "?" behind foreign ones, and for whom the others wait. */
static const struct {
    const char *name;
    const char *nodes[6];
    const char *text;
} lists[] = {
    /* The first contender in the queue was shown as the holder of "locks", and
     * leases as foreign nodes of another directory. */
    { "leases hold, and the queue waits",
      { LEASE "4", LEASE "2", "*" QUEUED "8", QUEUED "9" },
      LEASE "2! " LEASE "4! " QUEUED "8 " QUEUED "9>2 " },
    /* Curator makes the lease first, then waits until there are no more than
     * permits. Here is one of a directory whose numbers began again. */
    { "the lease of the first waiter does not hold",
      { LEASE "1", "*" QUEUED "5", QUEUED "6", "*" LEASE "0" },
      LEASE "0 " LEASE "1! " QUEUED "5>0 " QUEUED "6>2 " },
    { "that of anybody else, or of before, does",
      { LEASE "1", QUEUED "6", "*" LEASE "0" },
      LEASE "0! " LEASE "1! " QUEUED "6 " },
    /* Curator counts each child of "leases"; in a queue others are foreign. */
    { "other nodes are foreign",
      { LEASE "1", "leases/lock-0000000000", "leases/notes",
        "locks/x__WRIT__0000000000", "other" },
      LEASE "1! other? leases/lock-0000000000? leases/notes? "
            "locks/x__WRIT__0000000000? " },
    { "a lock beside it has its own queue",
      { "lock-0000000003", "lock-0000000004", LEASE "1", "*" QUEUED "0" },
      "lock-0000000003! lock-0000000004>0 " LEASE "1! " QUEUED "0 " },
};

TEST_ROWS(a_semaphore_is_listed, lists, row)
{
    const char *text = "";
    size_t count = 0;

    for (; row->nodes[count] != NULL; count++) {
        bool theirs = row->nodes[count][0] == '*';

        make_by(theirs ? rival : admin, row->nodes[count] + theirs);
    }
    AUTO(participants) list = list_all(count);
    assert_true(list->semaphore);
    assert_int_equal(list->total, count);
    for (size_t i = 0; i < count; i++) {
        const struct zkr_participant *p = &list->items[i];
        bool foreign = p->kind == ZKR_PARTICIPANT_FOREIGN;

        text = textf("%s%s%s%s ", text, p->name,
                     p->holds  ? "!"
                     : foreign ? "?"
                               : "",
                     p->waits_for == NOBODY ? "" : textf(">%zu", p->waits_for));
    }
    assert_string_equal(text, row->text);
}

/* Only sessions say who has been promised a lease. */
TEST(leases_and_the_first_waiter_are_read)
{
    make_by(admin, LEASE "1");
    make_by(rival, QUEUED "5");
    make_by(admin, QUEUED "6");
    make_by(rival, LEASE "2");
    AUTO(participants) list = list_of(s, path, OPTS(participants, .reads = 1));
    assert_int_equal(list->count, 4);
    assert_string_equal(list->items[1].name, LEASE "2");
    assert_false(list->items[1].holds);
    assert_int_equal(list->items[1].kind, ZKR_PARTICIPANT_SHARED);
    assert_string_equal(list->items[1].marker, "lease-");
    assert_string_equal(list->items[1].data, "10.0.0.1");
    assert_string_equal(list->items[2].name, QUEUED "5");
    assert_int_equal(list->items[2].waits_for, 1);
    assert_int_equal(list->items[2].kind, ZKR_PARTICIPANT_EXCLUSIVE);
    assert_int_equal(list->items[2].session_id, admin_session_id(rival));
    assert_true(list->items[2].token != 0);
    assert_true(list->items[3].token == 0);
    AUTO(participants) head = list_of(s, path, OPTS(participants, .limit = 2));
    assert_int_equal(head->count, 2);
    assert_int_equal(head->total, 4);
}

TEST(the_nodes_of_a_semaphore_can_be_asked_and_broken)
{
    make_by(rival, LEASE "1");
    AUTO(participants) list = list_all(1);
    ok(zkr_participants_revoke(s, in_dir(list->items[0].name)));
    node_has(in_dir(LEASE "1"), "__REVOKE__");
    ok(zkr_participants_break(s, in_dir(list->items[0].name),
                              list->items[0].token, 0));
    AUTO(participants) none = list_all(0);
    assert_true(none->semaphore);
}

/* --- what is none --- */

static void assert_no_semaphore(const char *of, size_t count)
{
    AUTO(participants) list = list_of(s, in_dir(of), NULL);

    assert_false(list->semaphore);
    assert_int_equal(list->count, count);
}

/* "locks" and "leases" are names that people give to directories, too. */
TEST(directories_of_these_names_are_no_semaphore)
{
    make("a/locks", NULL);
    make_by(admin, "a/locks/lock-0000000001");
    assert_no_semaphore("a", 1);
    make("b/locks/orders", NULL);
    make("b/leases/flats", NULL);
    assert_no_semaphore("b", 2);
    make("c/locks", NULL);
    make("c/leases", NULL);
    make_by(admin, "c/leases/lock-0000000001");
    assert_no_semaphore("c", 2);
    make("d/leases", NULL);
    assert_no_semaphore("d", 1);
}

/* The path of its leases is longer than that of any lock. */
TEST(a_semaphore_has_a_path_of_any_length)
{
    char longest[ZKR_PATH_MAX + 1];

    memset(longest, 'a', ZKR_PATH_MAX);
    memcpy(longest, path, strlen(path));
    longest[strlen(path)] = '/';
    longest[ZKR_PATH_MAX] = '\0';
    AUTO(semaphore) sem = NEW(semaphore, s, longest, 1, NULL);
    AUTO(grant) g = GRANT(semaphore_acquire, sem, -1);
    AUTO(participants) list = list_of(s, longest, NULL);
    assert_true(list->semaphore);
    assert_int_equal(list->count, 1);
}

TEST(directories_that_may_not_be_read_are_told)
{
    AUTO(participants) list = NULL;

    make_by(admin, LEASE "1");
    forbid(in_dir("leases"), ZOO_PERM_ALL & ~ZOO_PERM_READ);
    assert_int_equal(zkr_participants_list(s, path, NULL, &list), ZKR_ZNOAUTH);
    make_by(admin, "lock-0000000001");
    list = list_of(s, path, NULL); /* a mutex does not need them */
    assert_false(list->semaphore);
    assert_string_equal(list->items[0].name, "lock-0000000001");
    assert_true(list->items[0].holds);
}
