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

static void assert_place(const struct zkr_participants *list, size_t i,
                         const char *name, bool holds, size_t waits_for)
{
    assert_true(i < list->count);
    assert_string_equal(list->items[i].name, name);
    assert_int_equal(list->items[i].holds, holds);
    assert_int_equal(list->items[i].waits_for, waits_for);
}

/* The first contender in the queue was shown as the holder of "locks", and
 * leases as foreign nodes of another directory. */
TEST(leases_hold_and_the_queue_waits)
{
    make_by(admin, LEASE "4");
    make_by(admin, LEASE "2");
    make_by(rival, QUEUED "8");
    make_by(admin, QUEUED "9");
    AUTO(participants) list = list_all(4);
    assert_true(list->semaphore);
    assert_int_equal(list->total, 4);
    assert_place(list, 0, LEASE "2", true, NOBODY);
    assert_place(list, 1, LEASE "4", true, NOBODY);
    assert_place(list, 2, QUEUED "8", false, NOBODY);
    assert_place(list, 3, QUEUED "9", false, 2);
    assert_int_equal(list->items[0].kind, ZKR_PARTICIPANT_SHARED);
    assert_string_equal(list->items[0].marker, "lease-");
    assert_int_equal(list->items[2].kind, ZKR_PARTICIPANT_EXCLUSIVE);
    assert_int_equal(list->items[2].session_id, admin_session_id(rival));
    assert_string_equal(list->items[0].data, "10.0.0.1");
}

/* Curator makes the lease first, and then waits until there are no more of them
 * than permits. */
TEST(the_lease_of_the_first_waiter_does_not_hold)
{
    make_by(admin, LEASE "1");
    make_by(rival, QUEUED "5");
    make_by(admin, QUEUED "6");
    make_by(rival, LEASE "0"); /* of a directory whose numbers began again */
    AUTO(participants) list = list_all(4);
    assert_place(list, 0, LEASE "0", false, NOBODY);
    assert_place(list, 1, LEASE "1", true, NOBODY);
    assert_place(list, 2, QUEUED "5", false, 0);
    assert_place(list, 3, QUEUED "6", false, 2);
    zkr_participants_free(list);
    /* nobody else's lease, nor one that was there before */
    assert_int_equal(admin_delete(admin, in_dir(QUEUED "5")), ZOK);
    list = list_all(3);
    assert_place(list, 0, LEASE "0", true, NOBODY);
    assert_place(list, 1, LEASE "1", true, NOBODY);
    assert_place(list, 2, QUEUED "6", false, NOBODY);
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
    assert_place(list, 1, LEASE "2", false, NOBODY);
    assert_place(list, 2, QUEUED "5", false, 1);
    assert_true(list->items[2].token != 0);
    assert_true(list->items[3].token == 0);
    zkr_participants_free(list);
    list = list_of(s, path, OPTS(participants, .limit = 2));
    assert_int_equal(list->count, 2);
    assert_int_equal(list->total, 4);
}

/* Curator counts each child of "leases"; in a queue others are foreign. */
TEST(other_nodes_in_a_semaphore_are_foreign)
{
    make_by(admin, LEASE "1");
    make("leases/lock-0000000000", NULL);
    make("leases/notes", NULL);
    make("locks/x__WRIT__0000000000", NULL);
    make("other", NULL);
    AUTO(participants) list = list_all(5);
    assert_place(list, 0, LEASE "1", true, NOBODY);
    for (size_t i = 1; i < 5; i++)
        assert_int_equal(list->items[i].kind, ZKR_PARTICIPANT_FOREIGN);
}

TEST(a_lock_beside_a_semaphore_has_its_own_queue)
{
    make_by(admin, "lock-0000000003");
    make_by(admin, "lock-0000000004");
    make_by(admin, LEASE "1");
    make_by(rival, QUEUED "0");
    AUTO(participants) list = list_all(4);
    assert_place(list, 0, "lock-0000000003", true, NOBODY);
    assert_place(list, 1, "lock-0000000004", false, 0);
    assert_place(list, 2, LEASE "1", true, NOBODY);
    assert_place(list, 3, QUEUED "0", false, NOBODY);
}

TEST(the_nodes_of_a_semaphore_can_be_asked_and_broken)
{
    make_by(rival, LEASE "1");
    AUTO(participants) list = list_all(1);
    ok(zkr_participants_revoke(s, in_dir(list->items[0].name)));
    node_has(in_dir(LEASE "1"), "__REVOKE__");
    ok(zkr_participants_break(s, in_dir(list->items[0].name),
                              list->items[0].token, 0));
    zkr_participants_free(list);
    list = list_all(0);
    assert_true(list->semaphore);
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
    assert_place(list, 0, "lock-0000000001", true, NOBODY);
}
