/* SPDX-License-Identifier: Apache-2.0 */
/* Stories of the claims of one session: of their line, one for each condition
 * under which a claim is granted the lock by what its session knows, and for
 * each bug that was found there; and of a lock that stays with them. Each is
 * told twice. One claim of another session acts in them, too, the holder. */
#include "story.h"

#include "lock/locks.h"
#include "oracle.h"
#include "session/session.h"

#define CLAIMS 8

static struct asking ours[CLAIMS]; /* claims of the session */

static zkr_session *session;
static zkr_mutex *mutex;
static zkr_mutex *twin; /* another handle on the same path */
static zkr_rwlock *rwlock;
static zkr_mutex *staying; /* NULL: the lock does not stay */

static void begin(void)
{
    memset(ours, 0, sizeof(ours));
    world.processes[TELLER].number = TELLER;
    session = own_session();
    expect(zkr_mutex_new(session, WORLD_PATH, NULL, &mutex));
    expect(zkr_mutex_new(session, WORLD_PATH, NULL, &twin));
    expect(zkr_rwlock_new(session, WORLD_PATH, NULL, &rwlock));
    world.processes[TELLER].session = session;
}

/* It does not wait for the delete. */
static void pass_on(int i)
{
    oracle_over(ours[i].attempt);
    (void)zkr_grant_release_async(ours[i].grant, NULL, NULL);
    zkr_grant_free(ours[i].grant);
    ours[i].grant = NULL;
}

/* Gives back what the story has left. */
static void end(void)
{
    for (int i = 0; i < CLAIMS; i++) {
        if (ours[i].grant != NULL)
            pass_on(i);
    }
    if (users[HOLDER].grant != NULL)
        give_back(&users[HOLDER]);
    world.processes[TELLER].session = NULL;
    zkr_mutex_free(mutex);
    zkr_mutex_free(twin);
    zkr_rwlock_free(rwlock);
    zkr_mutex_free(staying);
    staying = NULL;
    (void)zkr_session_close(session);
}

/* STORY_HERE(name) { ... } is a test that tells it between begin() and end();
 * the second time with the same session of the holder, or ANEW. */
#define STORY_WITH(test, ...)                                                  \
    static void plot_##test(void);                                             \
    STORY(test, __VA_ARGS__)                                                   \
    {                                                                          \
        begin();                                                               \
        plot_##test();                                                         \
        end();                                                                 \
    }                                                                          \
    static void plot_##test(void)

#define STORY_HERE(test) STORY_WITH(test, nothing)
#define STORY_ANEW(test) STORY_WITH(test, nothing, .anew = true)

static void some_time(void)
{
    fiber_sleep(100 * MS);
}

/* -- claims ---------------------------------------------------------------- */

static void ask_within(int i, zkr_mutex *m, int64_t timeout_ms,
                       zkr_request **request)
{
    ours[i] = (struct asking){ .attempt = oracle_asked(TELLER, false, -1) };
    expect(zkr_mutex_acquire_async(m, timeout_ms, on_asked, &ours[i], request));
}

static void ask_as(int i, zkr_mutex *m)
{
    ask_within(i, m, -1, NULL);
}

static void ask_for(int i)
{
    ask_as(i, mutex);
}

static void ask_to(int i, bool read, int64_t timeout_ms)
{
    ours[i] = (struct asking){ .attempt = oracle_asked(TELLER, read, -1) };
    expect((read ? zkr_rwlock_acquire_read_async
                 : zkr_rwlock_acquire_write_async)(rwlock, timeout_ms, on_asked,
                                                   &ours[i], NULL));
}

static void ask_write(int i)
{
    ask_to(i, false, -1);
}

static void ask_read(int i)
{
    ask_to(i, true, -1);
}

static void cancel(zkr_request *request)
{
    (void)zkr_request_cancel(request);
    zkr_request_free(request);
}

static void await_grant(int i)
{
    int64_t limit = sim_now + 20 * world.timeout;

    FIBER_WHILE(!ours[i].told && sim_now < limit, MS / 10);
    WRONG_IF(!ours[i].told || ours[i].rc != ZKR_OK,
             "claim %d is not granted the lock: %s", i,
             ours[i].told ? zkr_strerror(ours[i].rc) : "it waits");
}

/* The first of so many claims has the lock. */
static void queue_up(int claims)
{
    for (int i = 0; i < claims; i++)
        ask_for(i);
    await_grant(0);
    some_time();
}

static void still_waits(int i)
{
    WRONG_IF(ours[i].told, "claim %d is told %s", i, zkr_strerror(ours[i].rc));
}

static void waits_for(int64_t duration, int i)
{
    fiber_sleep(duration);
    still_waits(i);
}

static void free_first(void)
{
    zkr_grant_free(ours[0].grant);
    ours[0].grant = NULL;
}

static void take_and_pass_on(int i)
{
    await_grant(i);
    pass_on(i);
}

/* -- what is asked --------------------------------------------------------- */

static void only_these_were_asked(int creates, int lists)
{
    WRONG_IF(asked(ZKR__ZK_CREATE) != creates ||
                 asked(ZKR__ZK_CHILDREN) != lists,
             "there were %d creates and %d lists, not %d and %d",
             asked(ZKR__ZK_CREATE), asked(ZKR__ZK_CHILDREN), creates, lists);
}

/* -- operators ------------------------------------------------------------- */

static void make(const char *path)
{
    operate(ZKR__ZK_CREATE,
            strchr(path, '-') != NULL ? ZKR_CREATE_EPHEMERAL_SEQUENTIAL
                                      : ZKR_CREATE_PERSISTENT,
            path, "");
}

static void write_to(const char *path)
{
    operate(ZKR__ZK_SET, ZKR_CREATE_PERSISTENT, path, "?");
}

#define STRANGER     "/_c_57ca8e00-0000-4000-8000-000000000000-lock-"
#define OTHER_WRITER "/_c_57ca8e00-0000-4000-8000-000000000000-__WRIT__"
#define OTHER_READER "/_c_57ca8e00-0000-4000-8000-000000000000-__READ__"

static const struct node *find_child(const char *part)
{
    const struct node *dir = tree_find(WORLD_PATH, ensemble.committed);
    const struct node *n = dir == NULL ? NULL : dir->children;

    for (; n != NULL; n = n->next_sibling) {
        if (is_there(n) && strstr(n->path, part) != NULL)
            return n;
    }
    return NULL;
}

static void wait_for_holder(void)
{
    acquires(&users[HOLDER]);
    ask_for(0);
    some_time();
}

/* -- neighbours ------------------------------------------------------------ */

STORY_HERE(a_neighbour_is_next_without_a_request)
{
    queue_up(4);
    count_from_here();
    for (int i = 0; i < 3; i++) {
        int64_t now = sim_now;

        pass_on(i);
        await_grant(i + 1);
        WRONG_IF(sim_now - now > MS, "claim %d waits for an answer", i + 1);
    }
    only_these_were_asked(0, 0);
}

STORY_HERE(two_handles_have_one_line)
{
    ask_as(0, mutex);
    await_grant(0);
    ask_as(1, twin);
    some_time();
    count_from_here();
    pass_on(0);
    await_grant(1);
    only_these_were_asked(0, 0);
}

STORY_HERE(a_neighbour_without_its_node_is_not_next)
{
    queue_up(3);
    operator_deletes(path_of(session, 1));
    some_time();
    pass_on(0);
    await_grant(2); /* the other one has come to the end of the queue */
    still_waits(1);
    pass_on(2);
    take_and_pass_on(1);
}

/* The first of ours gives up, and others are still ahead of the next. */
STORY_HERE(our_first_claim_may_be_behind_others)
{
    zkr_request *request;

    acquires(&users[HOLDER]);
    ask_within(0, mutex, -1, &request);
    ask_for(1);
    some_time();
    cancel(request);
    some_time();
    still_waits(1);
    give_back(&users[HOLDER]);
    take_and_pass_on(1);
}

/* Both nodes go, and the events come in order: the third claim is next. */
STORY_HERE(a_lost_lock_passes_to_the_neighbour)
{
    queue_up(3);
    operator_deletes(path_of(session, 0));
    operator_deletes(path_of(session, 1));
    await_grant(2);
    WRONG_IF(zkr_grant_state(ours[0].grant) != ZKR_GRANT_LOST,
             "it is not lost");
    pass_on(0);
    pass_on(2);
    take_and_pass_on(1);
}

static void await_reconnect(void)
{
    server_reset_connections(TELLER);
    FIBER_WHILE(zkr_session_state(session) != ZKR_SESSION_RECONNECTED, MS / 10);
    some_time();
}

STORY_HERE(a_new_connection_begins_without_knowledge)
{
    queue_up(2);
    await_reconnect();
    count_from_here();
    pass_on(0);
    await_grant(1);
    WRONG_IF(asked(ZKR__ZK_CHILDREN) == 0,
             "what was known on the last connection counts");
}

/* Its own node is seen again, because somebody has written to it. */
STORY_HERE(a_new_connection_begins_without_knowing_others)
{
    wait_for_holder();
    await_reconnect();
    write_to(path_of(session, 0));
    some_time();
    count_from_here();
    give_back(&users[HOLDER]);
    await_grant(0);
    WRONG_IF(asked(ZKR__ZK_CHILDREN) == 0,
             "what was known on the last connection counts");
}

/* It lists on the new connection, because somebody has written to the node
 * before it; then it knows as much as before. */
STORY_HERE(a_list_on_a_new_connection_is_enough)
{
    wait_for_holder();
    await_reconnect();
    write_to(zkr_grant_node(users[HOLDER].grant));
    some_time();
    count_from_here();
    give_back(&users[HOLDER]);
    await_grant(0);
    only_these_were_asked(0, 0);
}

STORY_HERE(one_list_serves_all_that_wait)
{
    queue_up(3);
    await_reconnect();
    ask_for(3); /* its list serves all of them */
    some_time();
    count_from_here();
    for (int i = 0; i < 3; i++) {
        pass_on(i);
        await_grant(i + 1);
    }
    only_these_were_asked(0, 0);
}

STORY_HERE(nodes_that_stay_are_waited_for)
{
    queue_up(2);
    acls_deny(ZKR_PERMISSION_DELETE, 2, -1, world.timeout);
    pass_on(0);
    await_grant(1);
    pass_on(1);
    some_time();
    ask_for(2); /* waits for the nodes that stay, as others do */
    waits_for(world.timeout / 2, 2);
    take_and_pass_on(2); /* the session has ended */
}

STORY_HERE(neighbours_wait_for_nodes_that_stay)
{
    queue_up(3);
    acls_deny(ZKR_PERMISSION_DELETE, 2, -1, world.timeout);
    pass_on(0);
    await_grant(1);
    some_time(); /* the node of the first one stays */
    write_to(path_of(session, 2));
    some_time(); /* the third one has read its own */
    pass_on(1);
    waits_for(world.timeout / 2, 2);
    take_and_pass_on(2); /* the session has ended */
}

/* Somebody writes to the node of the nth claim, which is to be watched once
 * more; before that it goes, and no event tells. */
static void lose_the_watch(int nth)
{
    cut_of(TELLER, WAY_UP, world.timeout / 5);
    write_to(path_of(session, nth));
    fiber_sleep(20 * MS);
    operator_deletes(path_of(session, nth));
    fiber_sleep(20 * MS);
}

STORY_HERE(a_neighbour_that_is_not_watched_is_not_next)
{
    queue_up(2);
    lose_the_watch(1);
    pass_on(0);
    waits_for(20 * MS, 1);
    take_and_pass_on(1);
}

/* The second is about to be granted the lock, and the third could be. */
STORY_HERE(a_cancelled_claim_lets_nobody_in)
{
    ask_as(0, twin);
    ask_for(1);
    ask_for(2);
    await_grant(0);
    some_time();
    cut_of(TELLER, WAY_UP, world.timeout / 5);
    write_to(path_of(session, 1)); /* it is to be seen once more */
    fiber_sleep(20 * MS);
    pass_on(0);
    waits_for(20 * MS, 1);
    expect(zkr_lockable_cancel(mutex));
    some_time();
    for (int i = 1; i < 3; i++) {
        WRONG_IF(ours[i].rc != ZKR_ECANCELED, "claim %d is told %s", i,
                 zkr_strerror(ours[i].rc));
    }
}

/* The delete of the first one is delayed. */
STORY_HERE(a_claim_given_back_is_not_waited_for)
{
    ask_for(0);
    await_grant(0);
    const char *first = path_of(session, 0);
    refuse(ZKR__ZK_DELETE, NULL, INT32_MAX);
    pass_on(0);
    some_time();
    count_from_here();
    ask_for(1);
    await_grant(1);
    WRONG_IF(find_child(first) == NULL || asked(ZKR__ZK_GET) != 0,
             "it has waited for one that was given back");
    refuse(ZKR__ZK_DELETE, NULL, 0);
}

/* -- writes ---------------------------------------------------------------- */

static void on_written(int rc, zkr_txn *txn, void *user)
{
    writes_told(user, rc, zkr_txn_stat(txn, 0));
}

/* It creates one node each time. */
static void write_guarded(int64_t timeout_ms)
{
    struct write *w =
        writes_asked(ours[0].attempt, ZKR__ZK_CREATE,
                     story.time == 0 ? "/locks/one" : "/locks/two", true);
    zkr_txn *txn = NULL;

    expect(zkr_txn_new_guarded(ours[0].grant, &txn));
    expect(zkr_txn_create(txn, w->path, w->data, strlen(w->data), NULL));
    expect(zkr_txn_commit_async(txn, timeout_ms, on_written, w));
    zkr_txn_free(txn);
}

static void write_and_leave(int directions, int64_t timeout_ms)
{
    queue_up(2);
    cut_of(TELLER, directions, world.timeout / 5);
    write_guarded(timeout_ms);
    fiber_sleep(world.timeout / 10);
    pass_on(0);
    waits_for(world.timeout / 20, 1);
    take_and_pass_on(1);
}

STORY_HERE(a_write_is_over_before_the_next_is_granted)
{
    write_and_leave(WAY_DOWN, -1);
}

STORY_HERE(a_write_is_over_though_it_came_late)
{
    write_and_leave(WAY_UP, -1);
}

STORY_HERE(a_write_is_over_though_it_was_in_vain)
{
    write_and_leave(WAY_UP, 20);
}

/* The answer is lost with the connection, and the node stays for a while. */
STORY_HERE(a_write_without_an_answer_delays_the_next)
{
    queue_up(2);
    write_guarded(-1);
    await_reconnect();
    refuse(ZKR__ZK_DELETE, NULL, INT32_MAX);
    pass_on(0);
    waits_for(world.timeout / 2, 1);
    refuse(ZKR__ZK_DELETE, NULL, 0);
    take_and_pass_on(1);
}

STORY_HERE(a_write_that_was_answered_delays_nobody)
{
    ask_for(0);
    ask_for(1);
    await_grant(0);
    write_guarded(-1);
    some_time();
    const char *first = path_of(session, 0);
    cut_of(TELLER, WAY_UP, world.timeout / 5);
    pass_on(0);
    await_grant(1);
    WRONG_IF(find_child(first) == NULL, "it has waited for the delete");
}

/* -- the create alone ------------------------------------------------------ */

/* The second claim watches the directory, and lists. */
static void settle(void)
{
    for (int i = 0; i < 2; i++) {
        ask_for(0);
        take_and_pass_on(0);
        some_time();
    }
}

STORY_HERE(the_create_alone_is_the_acquire)
{
    settle();
    count_from_here();
    for (int i = 0; i < 3; i++) {
        ask_for(0);
        take_and_pass_on(0);
        some_time();
    }
    only_these_were_asked(3, 0);
}

/* Others make the directory again, and theirs have the numbers of ours. The
 * last of them holds the lock. */
STORY_HERE(another_directory_has_other_numbers)
{
    settle();
    int32_t before_it = tree_find(WORLD_PATH, ensemble.committed)->cversion;
    operator_deletes(WORLD_PATH);
    make(WORLD_PATH);
    for (int32_t i = 0; i < before_it; i++)
        make(WORLD_PATH STRANGER);
    some_time();
    some_time();
    for (int32_t i = 0; i + 1 < before_it; i++) {
        operator_deletes(find_child(STRANGER)->path);
        some_time();
    }
    ask_for(0);
    waits_for(world.timeout / 2, 0);
    operator_deletes(find_child(STRANGER)->path);
    take_and_pass_on(0);
}

STORY_HERE(a_gap_in_the_numbers_is_somebody)
{
    settle();
    make(WORLD_PATH STRANGER);
    some_time();
    ask_for(0);
    waits_for(world.timeout / 2, 0);
    operator_deletes(find_child(STRANGER)->path);
    take_and_pass_on(0);
}

/* The second and the third have one list, which shows that the lock is free. */
STORY_HERE(a_try_waits_for_no_neighbour)
{
    zkr_request *request;

    settle();
    ask_within(0, mutex, 0, &request);
    ask_within(1, mutex, 0, NULL);
    ask_within(2, mutex, 0, NULL);
    cancel(request);
    some_time();
    await_grant(1);
    WRONG_IF(!ours[2].told || ours[2].rc != ZKR_EBUSY,
             "a try waits behind another");
}

/* -- the only node ahead --------------------------------------------------- */

STORY_HERE(a_claim_that_waits_for_one_does_not_list)
{
    wait_for_holder();
    count_from_here();
    give_back(&users[HOLDER]);
    await_grant(0);
    only_these_were_asked(0, 0);
}

/* It waits for the holder then. */
STORY_HERE(a_claim_that_was_behind_one_of_ours_lists_once)
{
    zkr_request *first;

    acquires(&users[HOLDER]);
    ask_within(0, mutex, -1, &first);
    ask_for(1);
    some_time();
    count_from_here();
    cancel(first);
    some_time();
    only_these_were_asked(0, 1);
    give_back(&users[HOLDER]);
    await_grant(1);
}

/* Its own node goes first, and the event comes first. */
STORY_HERE(a_claim_without_a_node_is_not_next)
{
    acquires(&users[HOLDER]);
    ask_for(0);
    ask_for(1);
    some_time();
    operator_deletes(path_of(session, 0));
    give_back(&users[HOLDER]);
    await_grant(1);
    still_waits(0);
    pass_on(1);
    take_and_pass_on(0);
}

STORY_HERE(a_claim_that_does_not_watch_its_node_is_not_next)
{
    wait_for_holder();
    lose_the_watch(0);
    give_back(&users[HOLDER]);
    waits_for(20 * MS, 0);
    take_and_pass_on(0);
}

/* A writer of another session puts a reader at its place, and goes. */
STORY_HERE(a_writer_ahead_may_be_a_reader_next)
{
    char reader[128];

    acquires(&users[HOLDER]);
    const char *writer = zkr_grant_node(users[HOLDER].grant);
    ask_write(0);
    some_time();
    (void)snprintf(reader, sizeof(reader), "%s%s%s", WORLD_PATH, OTHER_READER,
                   writer + strlen(writer) - 10);
    operate(ZKR__ZK_CREATE, ZKR_CREATE_PERSISTENT, reader, "");
    some_time();
    give_back(&users[HOLDER]);
    waits_for(world.timeout / 2, 0);
    operator_deletes(reader);
    take_and_pass_on(0);
}

/* -- ghosts ---------------------------------------------------------------- */

static int come_to_a_follower(void)
{
    int replica = client_replica(TELLER);

    while (replica == NO_REPLICA || replica == ensemble.leader) {
        server_reset_connections(TELLER);
        some_time();
        replica = client_replica(TELLER);
    }
    return replica;
}

/* The answer that one claim has from the leader is no knowledge of the
 * others. */
STORY_ANEW(each_asks_for_its_ghosts)
{
    acquires(&users[HOLDER]);
    haunt(come_to_a_follower());
    queue_up(2);
    pass_on(0);
    waits_for(world.timeout / 2, 1);
    take_and_pass_on(1);
}

static void far(int64_t round_trip)
{
    server_far(round_trip / 2);
}

/* The first claim of ours has left out the ghost, and waits for the other
 * node. */
static void await_ghost_left_out(void)
{
    struct zkr__list *claims = &zkr__locks_of(session)->claims;

    for (;; fiber_sleep(MS)) {
        const struct zkr__claim *c =
            ZKR__CONTAINER(claims->next, struct zkr__claim, link);

        if (c->wait.watch != NULL &&
            strstr(c->wait.watch->path, OTHER_WRITER) != NULL)
            break;
    }
    fiber_sleep(5 * MS); /* it watches */
}

static void ask_behind_a_ghost(void)
{
    ask_read(0);
    take_and_pass_on(0); /* the number 0 is given out */
    acquires(&users[HOLDER]);
    operate(ZKR__ZK_CREATE, ZKR_CREATE_PERSISTENT,
            WORLD_PATH OTHER_WRITER "0000000000", "");
    haunt(come_to_a_follower()); /* behind a node of nobody */
    ask_read(0);
    await_ghost_left_out();
}

/* Meanwhile the session holds another lock, so that its lease runs. */
STORY_ANEW(a_claim_that_leaves_out_a_ghost_is_confirmed)
{
    zkr_unfair_mutex *unfair;
    zkr_grant *held;

    ask_behind_a_ghost();
    expect(zkr_unfair_mutex_new(session, WORLD_PATH, NULL, &unfair));
    expect(zkr_unfair_mutex_acquire(unfair, -1, &held));
    fiber_sleep(world.timeout);
    count_from_here();
    operator_deletes(find_child(OTHER_WRITER)->path);
    await_grant(0);
    WRONG_IF(asked(ZKR__ZK_CHILDREN) == 0, "its own node is not confirmed");
    pass_on(0);
    (void)zkr_grant_release(held);
    zkr_grant_free(held);
    zkr_unfair_mutex_free(unfair);
}

/* Both have one list: the third one's was under way. */
STORY_ANEW(a_ghost_is_left_out_by_one)
{
    ask_behind_a_ghost();
    far(100 * MS);
    ask_read(2);
    operator_deletes(find_child(OTHER_WRITER)->path);
    fiber_sleep(70 * MS); /* the event has come */
    ask_read(1);
    await_grant(0);
    far(0);
    waits_for(world.timeout / 2, 1);
    still_waits(2);
    pass_on(0);
    take_and_pass_on(1);
    take_and_pass_on(2);
}

/* The node before it is read once more, because somebody has written to it;
 * meanwhile its own node goes, and then the connection. The read is sent
 * again later than the list. Regression: it listed at once, and began to
 * read with a request that was in flight. */
STORY_HERE(a_read_is_answered_before_the_next)
{
    wait_for_holder();
    far(200 * MS);
    write_to(zkr_grant_node(users[HOLDER].grant));
    fiber_sleep(350 * MS); /* it has listed, and reads */
    operator_deletes(path_of(session, 0));
    fiber_sleep(30 * MS); /* the event is under way */
    refuse(ZKR__ZK_GET, zkr_grant_node(users[HOLDER].grant), 6);
    server_reset_connections(TELLER);
    far(0);
    waits_for(world.timeout, 0);
    refuse(ZKR__ZK_GET, NULL, 0);
    fiber_sleep(world.timeout);
    WRONG_IF(find_child(path_of(session, 0)) == NULL,
             "it waits without a node");
    give_back(&users[HOLDER]);
    take_and_pass_on(0);
}

/* -- readers --------------------------------------------------------------- */

STORY_HERE(readers_are_neighbours_of_a_writer)
{
    ask_write(0);
    for (int i = 1; i < 4; i++)
        ask_read(i);
    ask_write(4);
    await_grant(0);
    some_time();
    count_from_here();
    pass_on(0);
    for (int i = 1; i < 4; i++)
        await_grant(i);
    still_waits(4);
    for (int i = 1; i < 4; i++) {
        still_waits(4);
        pass_on(i);
    }
    await_grant(4);
    only_these_were_asked(0, 0);
}

/* A reader beside a writer, which another thread gives back. */
struct meddling {
    int64_t after;
    bool tries; /* to read, then */
};

static void *meddle(void *arg)
{
    const struct meddling *m = arg;

    fiber_sleep(m->after);
    refuse(ZKR__ZK_DELETE, NULL, INT32_MAX); /* its node stays for a while */
    oracle_over(ours[0].attempt);
    (void)zkr_grant_release_async(ours[0].grant, NULL, NULL);
    if (m->tries)
        ask_to(2, true, 0);
    return NULL;
}

static int downgrade(zkr_grant **read)
{
    struct attempt *a = oracle_asked(TELLER, true, -1);

    a->beside = ours[0].attempt;
    ours[0].attempt->grant = NULL;
    ours[0].attempt->downgrading = ours[0].grant;
    int rc = zkr_rwlock_downgrade(rwlock, ours[0].grant, read);
    ours[0].attempt->downgrading = NULL;
    oracle_told(a, rc, *read);
    return rc;
}

static int downgrade_with_meddling(int64_t after, bool tries, zkr_grant **read)
{
    (void)fiber_start(TELLER, meddle, ARENA_NEW(struct meddling, after, tries));
    return downgrade(read);
}

static zkr_grant *read_with_meddling(bool tries)
{
    zkr_grant *read = NULL;

    expect(downgrade_with_meddling(10 * MS, tries, &read));
    return read;
}

/* The writer has been given back before. */
static void give_both_back(zkr_grant *read)
{
    oracle_over_with(read);
    (void)zkr_grant_release_async(read, NULL, NULL);
    zkr_grant_free(read);
    free_first();
}

static void begin_with_writer(void)
{
    ask_write(0);
    await_grant(0);
}

/* The next writer has listed before the create of the reader, and learns of
 * it when the writer has been given back. Regression: both were granted the
 * lock, the writer and then the reader. */
STORY_HERE(a_reader_beside_its_writer_is_ahead_unseen)
{
    begin_with_writer();
    some_time();
    far(200 * MS);
    ask_write(1);
    fiber_sleep(10 * MS);
    zkr_grant *read = read_with_meddling(false);
    still_waits(1);
    far(0);
    refuse(ZKR__ZK_DELETE, NULL, 0);
    waits_for(300 * MS, 1);
    give_both_back(read);
    take_and_pass_on(1);
}

/* The same; but when the next writer has listed, a reader of others is ahead
 * of it, the only one, and goes. */
STORY_HERE(a_reader_unseen_is_ahead_when_others_go)
{
    begin_with_writer();
    make(WORLD_PATH OTHER_READER);
    some_time();
    far(200 * MS);
    ask_write(1);
    fiber_sleep(10 * MS);
    zkr_grant *read = read_with_meddling(false);
    far(0);
    some_time();
    operator_deletes(find_child(OTHER_READER)->path);
    some_time();
    still_waits(1);
    refuse(ZKR__ZK_DELETE, NULL, 0);
    give_both_back(read);
    take_and_pass_on(1);
}

/* The reader shares its list with a try. To the reader the writer does not
 * count, because it stands beside it; to the try, because it has been given
 * back. */
STORY_HERE(a_writer_that_was_given_back_refuses_no_try)
{
    begin_with_writer();
    some_time();
    far(200 * MS);
    ask_read(1); /* its list is under way first */
    fiber_sleep(10 * MS);
    zkr_grant *read = read_with_meddling(true);
    far(0);
    await_grant(1);
    await_grant(2);
    refuse(ZKR__ZK_DELETE, NULL, 0);
    give_both_back(read);
}

/* The node of the writer has gone, and no event tells yet. A node that is
 * left from before it, and the list of a try, make the reader's number the
 * next one. */
STORY_HERE(a_reader_with_the_next_number_lists)
{
    zkr_grant *read = NULL;

    for (int i = 0; i < 2; i++) {
        ask_write(1);
        take_and_pass_on(1);
        some_time();
    }
    ask_write(1);
    await_grant(1);
    refuse(ZKR__ZK_DELETE, NULL, INT32_MAX);
    pass_on(1);
    ask_write(0);
    await_grant(0);
    operator_deletes(zkr_grant_node(ours[0].grant));
    fiber_sleep(5 * MS);
    ask_to(2, false, 0);
    int rc = downgrade(&read);
    WRONG_IF(rc != ZKR_ELOST, "it is told %s", zkr_strerror(rc));
    refuse(ZKR__ZK_DELETE, NULL, 0);
    free_first();
    some_time();
    if (ours[2].grant != NULL)
        pass_on(2);
}

static void *make_directory_anew(void *arg)
{
    fiber_sleep(10 * MS);
    operator_deletes(zkr_grant_node(ours[0].grant));
    operator_deletes(WORLD_PATH);
    make(WORLD_PATH);
    return NULL;
}

/* Others make the directory again while the create of a reader is under way: it
 * has the number of its writer. Regression: that was taken for the last one
 * that the directory had given out. */
STORY_HERE(the_number_of_a_writer_is_not_given_out)
{
    zkr_grant *read = NULL;

    for (int i = 0; i < 2; i++) {
        make(WORLD_PATH STRANGER);
        some_time();
        operator_deletes(find_child(STRANGER)->path);
    }
    ask_write(0);
    await_grant(0);
    some_time();
    far(200 * MS);
    (void)fiber_start(TELLER, make_directory_anew, NULL);
    WRONG_IF(downgrade(&read) != ZKR_ELOST, "it is granted the read lock");
    far(0);
    free_first();
    some_time();
    make(WORLD_PATH OTHER_WRITER);
    make(WORLD_PATH OTHER_READER);
    some_time();
    ask_write(1);
    waits_for(world.timeout / 2, 1);
    operator_deletes(find_child(OTHER_WRITER)->path);
    operator_deletes(find_child(OTHER_READER)->path);
    take_and_pass_on(1);
}

/* The create of the reader fails, and the delete of the writer, too, for as
 * long as the next create takes. Regression: between its two creates the
 * reader was not in the line, and the next writer was granted the lock. The
 * node of the writer before it was still there, so the reader was granted
 * it, too. */
STORY_HERE(a_reader_beside_nobody_is_not_granted)
{
    zkr_grant *read = NULL;

    ask_write(0);
    ask_write(1);
    await_grant(0);
    some_time();
    fates =
        (struct fates){ .process = TELLER, .of = { { FATE_THROTTLED, 0 } } };
    fates.of[1].number = UINT32_MAX;
    int rc = downgrade_with_meddling(5 * MS, false, &read);
    refuse(ZKR__ZK_DELETE, NULL, 0);
    WRONG_IF(rc != ZKR_ELOST, "it is told %s", zkr_strerror(rc));
    free_first();
    take_and_pass_on(1);
}

/* -- a lock that stays -----------------------------------------------------
 *
 * Each fault happens twice in a life of the lock, too. */

static void let_it_stay(void)
{
    struct zkr_lockable_opts opts = ZKR_LOCKABLE_OPTS_INIT;

    opts.retain_ms = (uint32_t)(100 * world.timeout / MS);
    expect(zkr_mutex_new(session, WORLD_PATH, &opts, &staying));
    world.processes[TELLER].stays.ms = opts.retain_ms;
}

static void await_grant_with(int i, uint64_t handoff)
{
    await_grant(i);
    WRONG_IF(zkr_grant_handoff(ours[i].grant) != handoff,
             "claim %d is granted the lock with hand-off %llu", i,
             (unsigned long long)zkr_grant_handoff(ours[i].grant));
}

static void await_grant_state(int i, enum zkr_grant_state_kind state)
{
    int64_t limit = sim_now + 20 * world.timeout;

    FIBER_WHILE(zkr_grant_state(ours[i].grant) != state && sim_now < limit,
                MS / 10);
    WRONG_IF(zkr_grant_state(ours[i].grant) != state,
             "the grant of claim %d is in another state", i);
}

static void four_wait_for_it(void)
{
    for (int i = 0; i < 4; i++)
        ask_as(i, staying);
    await_grant_with(0, 0);
    pass_on(0);
}

/* Others come in between: the members that wait have no node any more. */
STORY_HERE(members_outlive_their_delegate)
{
    let_it_stay();
    four_wait_for_it();
    await_grant_with(1, 1);
    ask(&users[HOLDER]);
    some_time();
    for (int i = 1; i < 3; i++) {
        cut_of(TELLER, WAY_UP | WAY_DOWN, 2 * world.timeout);
        await_grant_state(i, ZKR_GRANT_LOST);
        if (i == 1) {
            await_told(&users[HOLDER]);
            some_time();
            still_waits(2);
            give_back(&users[HOLDER]);
        }
        await_grant_with(i + 1, 0);
        pass_on(i);
        some_time();
    }
}

STORY_HERE(a_node_that_stays_may_be_deleted)
{
    let_it_stay();
    four_wait_for_it();
    for (int i = 1; i < 3; i++) {
        await_grant(i);
        some_time();
        operator_deletes(find_child("-lock-")->path);
        await_grant_with(i + 1, 0);
        WRONG_IF(zkr_grant_state(ours[i].grant) != ZKR_GRANT_LOST,
                 "claim %d has not lost its node", i);
        pass_on(i);
    }
}

STORY_HERE(a_node_that_stays_may_be_deleted_unheld)
{
    let_it_stay();
    for (int i = 0; i < 3; i++) {
        ask_as(i, staying);
        await_grant_with(i, 0);
        pass_on(i);
        some_time(); /* its node is watched */
        count_from_here();
        operator_deletes(find_child("-lock-")->path);
        some_time();
        only_these_were_asked(0, 0);
    }
}

/* Nobody here knows yet that the connection is lost. The lease runs, and the
 * grant is in doubt until there is another one. */
STORY_HERE(a_connection_goes_while_a_member_comes)
{
    let_it_stay();
    ask_as(0, staying);
    await_grant_with(0, 0);
    pass_on(0);
    some_time();
    for (int i = 1; i < 3; i++) {
        cut_of(TELLER, WAY_UP | WAY_DOWN, world.timeout / 2);
        ask_as(i, staying);
        await_grant_with(i, (uint64_t)i);
        await_grant_state(i, ZKR_GRANT_SUSPENDED);
        await_grant_state(i, ZKR_GRANT_HELD);
        fiber_sleep(world.timeout); /* that of the delegate, too */
        pass_on(i);
        some_time();
    }
}

/* What is in doubt is not handed on: the next has a node of its own. */
STORY_HERE(a_connection_goes_while_a_member_waits)
{
    let_it_stay();
    ask_as(0, staying);
    await_grant(0);
    for (int i = 1; i < 3; i++) {
        int64_t token = zkr_grant_token(ours[i - 1].grant);

        some_time();
        ask_as(i, staying);
        cut_of(TELLER, WAY_UP | WAY_DOWN, world.timeout / 2);
        FIBER_WHILE(zkr_grant_state(ours[i - 1].grant) == ZKR_GRANT_HELD, MS);
        pass_on(i - 1);
        some_time();
        still_waits(i);
        await_grant_with(i, 0);
        WRONG_IF(zkr_grant_token(ours[i].grant) <= token,
                 "a node in doubt is handed on");
    }
}

/* Nor is it when nobody had it meanwhile. */
STORY_HERE(a_connection_goes_before_a_member_asks)
{
    let_it_stay();
    ask_as(0, staying);
    await_grant(0);
    for (int i = 1; i < 3; i++) {
        pass_on(i - 1);
        some_time();
        cut_of(TELLER, WAY_UP | WAY_DOWN, world.timeout / 2);
        fiber_sleep(2 * world.timeout / 5); /* a proof is late */
        ask_as(i, staying);
        some_time();
        still_waits(i);
        await_grant_with(i, 0);
    }
}

/* -- short timeouts -------------------------------------------------------- */

enum { ANSWER = 60, PATIENCE = 100 }; /* ms */

/* Asks for a millisecond, of the oracle's knowledge; the answers come after so
 * many. Returns after how many the call has ended. */
static int64_t acquire_briefly(zkr_mutex *m, int answer_ms, int expected)
{
    struct attempt *a = oracle_asked(TELLER, false, PATIENCE);
    int64_t began = sim_now;

    cut_of(TELLER, WAY_DOWN, answer_ms * MS);
    int rc = zkr_mutex_acquire(m, 1, &ours[0].grant);
    ours[0].attempt = a;
    oracle_told(a, rc, ours[0].grant);
    WRONG_IF(rc != expected, "it ends with %d, not %d: %s", rc, expected,
             zkr_error_detail());
    return (sim_now - began) / MS;
}

static void ends_between(int64_t took_ms, int least, int most)
{
    WRONG_IF(took_ms < least || took_ms > most, "it took %lld ms",
             (long long)took_ms);
}

/* Regression: a free lock was not had with a timeout that is shorter than the
 * way to the servers and back; a try, which has no time at all, had it. */
STORY_HERE(a_short_timeout_is_enough_for_the_answer)
{
    let_it_stay();
    zkr_mutex *m[] = { mutex, staying };
    for (int i = 0; i < 2; i++) {
        ends_between(acquire_briefly(m[i], ANSWER, ZKR_OK), ANSWER - 20,
                     PATIENCE);
        pass_on(0);
        zkr_mutex_free(i == 0 ? NULL : staying);
        some_time();
    }
    staying = NULL;
}

/* And no longer than that: others have the lock, or the servers are silent. */
STORY_HERE(a_short_timeout_ends_with_the_answer)
{
    acquires(&users[HOLDER]);
    let_it_stay();
    zkr_mutex *m[] = { mutex, staying };
    for (int i = 0; i < 2; i++) {
        ends_between(acquire_briefly(m[i], ANSWER, ZKR_ETIMEDOUT), ANSWER - 20,
                     PATIENCE - 10);
        some_time();
        ends_between(acquire_briefly(m[i], 2 * PATIENCE, ZKR_ETIMEDOUT),
                     PATIENCE, PATIENCE + 1);
        some_time();
        ends_between(acquire_briefly(m[i], 0, ZKR_ETIMEDOUT), 1, 20);
        some_time();
    }
}
