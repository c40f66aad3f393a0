/* SPDX-License-Identifier: Apache-2.0 */
/* Stories of the claims of one session: of their line, one for each condition
 * under which a claim is granted the lock by what its session knows, and for
 * each bug that was found there; of a lock that stays with them; and of an
 * unfair mutex. Each is told twice. One claim of another session acts in them,
 * too, the holder. */
#include "story.h"

#define CLAIMS 8
static struct asking ours[CLAIMS]; /* claims of the session */
static zkr_session *session;
static zkr_mutex *mutex;
static zkr_mutex *twin; /* another handle on the same path */
static zkr_rwlock *rwlock;
static zkr_unfair_mutex *unfair;
static zkr_mutex *staying; /* NULL: the lock does not stay */
static zkr_request *request;
static zkr_grant *reader; /* beside the writer, claim 0 */

void story_begins(void)
{
    memset(ours, 0, sizeof(ours));
    world.processes[TELLER].number = TELLER;
    expect(zkr_session_open(
        "a:1,b:2,c:3",
        OPTS(session, .session_timeout_ms = (uint32_t)(world.timeout / MS)),
        &session));
    expect(zkr_mutex_new(session, WORLD_PATH, NULL, &mutex));
    expect(zkr_mutex_new(session, WORLD_PATH, NULL, &twin));
    expect(zkr_rwlock_new(session, WORLD_PATH, NULL, &rwlock));
    expect(zkr_unfair_mutex_new(session, WORLD_PATH, NULL, &unfair));
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

/* Gives back what the story has left. The session of the holder is the same the
 * second time, or .anew. */
void story_ends(void)
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
    zkr_unfair_mutex_free(unfair);
    zkr_mutex_free(staying);
    staying = NULL;
    (void)zkr_session_close(session);
}

STEP(some_time, void, fiber_sleep(100 * MS))

/* -- claims ---------------------------------------------------------------- */

enum lock {
    PLAIN,
    TWIN,
    STAYING,
    UNFAIRLY,
    WRITE,
    READ,
};

static void ask_within(int i, enum lock which, int64_t timeout_ms,
                       zkr_request **ret_request)
{
    zkr_lockable *const locks[] = {
        mutex, twin, staying, unfair, rwlock, rwlock
    };
    bool reads = which == READ;

    ours[i] = (struct asking){ .attempt = oracle_asked(TELLER, reads, -1) };
    expect(zkr_lockable_acquire_async(
        locks[which], OPTS(acquire, .mode = reads ? ZKR_SHARED : ZKR_EXCLUSIVE),
        timeout_ms, on_asked, &ours[i], ret_request));
}

static void ask_for(int i, int64_t lock)
{
    ask_within(i, (enum lock)lock, -1, NULL);
}

static void ask_with_request(int i, int64_t lock)
{
    ask_within(i, (enum lock)lock, -1, &request);
}

STEP(try_once, int i, ask_within(i, PLAIN, 0, i == 0 ? &request : NULL))

static void cancel(void)
{
    (void)zkr_request_cancel(request);
    zkr_request_free(request);
}

STEP(cancel_all, void, expect(zkr_lockable_cancel(mutex)))

static void await_grant(int i)
{
    int64_t limit = sim_now + 20 * world.timeout;

    FIBER_WHILE(!ours[i].told && sim_now < limit, MS / 10);
    WRONG_IF(!ours[i].told || ours[i].rc != ZKR_OK,
             "claim %d is not granted the lock: %s", i,
             ours[i].told ? zkr_strerror(ours[i].rc) : "it waits");
}

static void await_grant_at_once(int i)
{
    int64_t now = sim_now;

    await_grant(i);
    WRONG_IF(sim_now - now > MS, "claim %d waits for an answer", i);
}

static void await_grant_with(int i, int64_t handoff)
{
    await_grant(i);
    WRONG_IF(zkr_grant_handoff(ours[i].grant) != (uint64_t)handoff,
             "claim %d is granted the lock with hand-off %llu", i,
             (unsigned long long)zkr_grant_handoff(ours[i].grant));
}

static void await_grant_state(int i, int64_t state)
{
    int64_t limit = sim_now + 20 * world.timeout;

    FIBER_WHILE((int)zkr_grant_state(ours[i].grant) != state && sim_now < limit,
                MS / 10);
    WRONG_IF((int)zkr_grant_state(ours[i].grant) != state,
             "the grant of claim %d is in another state", i);
}

STEP(has_lost_it, int i,
     WRONG_IF(zkr_grant_state(ours[i].grant) != ZKR_GRANT_LOST,
              "claim %d has not lost its node", i))

/* The first of so many claims has the lock. */
static void queue_up(int claims)
{
    for (int i = 0; i < claims; i++)
        ask_for(i, PLAIN);
    await_grant(0);
    some_time();
}

STEP(still_waits, int i,
     WRONG_IF(ours[i].told, "claim %d is told %s", i, zkr_strerror(ours[i].rc)))

static void was_told(int i, int64_t rc)
{
    WRONG_IF(!ours[i].told || ours[i].rc != rc, "claim %d is told %s", i,
             ours[i].told ? zkr_strerror(ours[i].rc) : "nothing");
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

STEP(forbid_deletes, int64_t duration,
     acls_deny(ZKR_PERMISSION_DELETE, 2, -1, duration))
STEP(forbid_reads, int64_t duration,
     acls_deny(ZKR_PERMISSION_READ, 3, TELLER, duration))
STEP(far, int64_t round_trip, server_far(round_trip / 2))

static void reconnect(void)
{
    server_reset_connections(TELLER);
    FIBER_WHILE(zkr_session_state(session) != ZKR_SESSION_RECONNECTED, MS / 10);
    some_time();
}

/* -- operators ------------------------------------------------------------- */

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

STEP(delete_child, const char *part, operator_deletes(find_child(part)->path))

/* Of the nth claim that the session has then. */
STEP(delete_node, int nth, operator_deletes(path_of(session, nth)))
STEP(write_to, const char *path,
     operate(ZKR__ZK_SET, ZKR_CREATE_PERSISTENT, path, "?"))
STEP(write_to_node, int nth, write_to(path_of(session, nth)))
STEP(write_to_holder, void, write_to(zkr_grant_node(users[HOLDER].grant)))

/* -- writes ---------------------------------------------------------------- */

static void on_written(int rc, zkr_txn *txn, void *user)
{
    writes_told(user, rc, zkr_txn_stat(txn, 0));
}

/* It creates one node each time. */
static void write_guarded(int64_t timeout)
{
    struct write *w =
        writes_asked(ours[0].attempt, ZKR__ZK_CREATE,
                     story.time == 0 ? "/locks/one" : "/locks/two", true);
    zkr_txn *txn = NULL;

    expect(zkr_txn_new_guarded(ours[0].grant, &txn));
    expect(zkr_txn_create(txn, w->path, w->data, strlen(w->data), NULL));
    expect(zkr_txn_commit_async(txn, timeout < 0 ? -1 : timeout / MS,
                                on_written, w));
    zkr_txn_free(txn);
}

/* -- readers --------------------------------------------------------------- */

/* A reader beside a writer, which another thread gives back. */
struct meddling {
    int64_t after;
    bool tries; /* to read, then */
};

static void *meddle(void *arg)
{
    const struct meddling *m = arg;

    fiber_sleep(m->after);
    play("refuse 10000 deletes"); /* its node stays for a while */
    oracle_over(ours[0].attempt);
    (void)zkr_grant_release_async(ours[0].grant, NULL, NULL);
    if (m->tries)
        ask_within(2, READ, 0, NULL);
    return NULL;
}

static void downgrade(int wanted)
{
    struct attempt *writer = ours[0].attempt;
    struct attempt *a = oracle_asked(TELLER, true, -1);

    a->beside = writer;
    writer->grant = NULL;
    writer->downgrading = ours[0].grant;
    int rc = zkr_rwlock_downgrade(rwlock, ours[0].grant, &reader);
    writer->downgrading = NULL;
    oracle_told(a, rc, reader);
    WRONG_IF(rc != wanted, "the reader is told %s: %s", zkr_strerror(rc),
             zkr_error_detail());
}

static void downgrade_with_meddling(int64_t after, bool tries, int wanted)
{
    (void)fiber_start(TELLER, meddle, ARENA_NEW(struct meddling, after, tries));
    downgrade(wanted);
}

STEP(downgrade_before_tries, int count,
     downgrade_with_meddling(10 * MS, count > 0, ZKR_OK))

/* The writer has been given back before. */
static void give_both_back(void)
{
    oracle_over_with(reader);
    (void)zkr_grant_release_async(reader, NULL, NULL);
    zkr_grant_free(reader);
    free_first();
}

/* -- a lock that stays ----------------------------------------------------- */

static void let_it_stay(void)
{
    uint32_t ms = (uint32_t)(100 * world.timeout / MS);

    expect(zkr_mutex_new(session, WORLD_PATH, OPTS(lockable, .retain_ms = ms),
                         &staying));
    world.processes[TELLER].stays.ms = ms;
}

/* -- ghosts ---------------------------------------------------------------- */

static void haunt_a_follower(void)
{
    int replica = client_replica(TELLER);

    while (replica == NO_REPLICA || replica == ensemble.leader) {
        server_reset_connections(TELLER);
        some_time();
        replica = client_replica(TELLER);
    }
    haunt(replica);
}

/* Our first claim has left out the ghost, and waits for the other node. */
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
    play("0 asks to read, 0 has its turn, holder takes"); /* gives out 0 */
    make(WORLD_PATH OTHER_WRITER "0000000000");
    haunt_a_follower(); /* behind a node of nobody */
    ask_for(0, READ);
    await_ghost_left_out();
}

/* -- the steps ------------------------------------------------------------- */

/* The second claim watches the directory, and lists. */
static void settle(void)
{
    for (int i = 0; i < 2; i++)
        play("0 asks, 0 has its turn, pause");
}

const struct step steps[] = {
    { "pause", .alone = some_time },
    { "settle", .alone = settle },
    { "# asks", .two = ask_for, .other = PLAIN },
    { "# asks by the twin", .two = ask_for, .other = TWIN },
    { "# asks with a request", .two = ask_with_request, .other = PLAIN },
    { "# asks to write with a request", .two = ask_with_request,
      .other = WRITE },
    { "the request is cancelled", .alone = cancel },
    { "all are cancelled", .alone = cancel_all },
    { "# tries", .number = try_once },
    { "# asks unfairly", .two = ask_for, .other = UNFAIRLY },
    { "# asks to write", .two = ask_for, .other = WRITE },
    { "# asks to read", .two = ask_for, .other = READ },
    { "0 downgrades before # tries", .number = downgrade_before_tries },
    { "both are given back", .alone = give_both_back },
    { "it stays", .alone = let_it_stay },
    { "# asks for what stays", .two = ask_for, .other = STAYING },
    { "# queue up", .number = queue_up },
    { "# gets it", .number = await_grant },
    { "# gets it at once", .number = await_grant_at_once },
    { "# gets it by hand-off #", .two = await_grant_with },
    { "# waits", .number = still_waits },
    { "# is told EBUSY", .two = was_told, .other = ZKR_EBUSY },
    { "# is told ECANCELED", .two = was_told, .other = ZKR_ECANCELED },
    { "# becomes held", .two = await_grant_state, .other = ZKR_GRANT_HELD },
    { "# becomes suspended", .two = await_grant_state,
      .other = ZKR_GRANT_SUSPENDED },
    { "# becomes lost", .two = await_grant_state, .other = ZKR_GRANT_LOST },
    { "# has lost it", .number = has_lost_it },
    { "# passes", .number = pass_on },
    { "# has its turn", .number = take_and_pass_on },
    { "write", .lasts = write_guarded },
    { "write within #", .lasts = write_guarded },
    { "reconnect", .alone = reconnect },
    { "answers take #", .lasts = far },
    { "deletes are forbidden for #", .lasts = forbid_deletes },
    { "reads are forbidden for #", .lasts = forbid_reads },
    { "delete node #", .number = delete_node },
    { "delete the directory", .named = operator_deletes, .name = WORLD_PATH },
    { "delete the stranger", .named = delete_child, .name = STRANGER },
    { "delete the writer", .named = delete_child, .name = OTHER_WRITER },
    { "delete the reader", .named = delete_child, .name = OTHER_READER },
    { "delete what stays", .named = delete_child, .name = "-lock-" },
    { "make the directory", .named = make, .name = WORLD_PATH },
    { "make a stranger", .named = make, .name = WORLD_PATH STRANGER },
    { "make a writer", .named = make, .name = WORLD_PATH OTHER_WRITER },
    { "make a reader", .named = make, .name = WORLD_PATH OTHER_READER },
    { "write to node #", .number = write_to_node },
    { "write to the holder's node", .alone = write_to_holder },
    { "haunt a follower", .alone = haunt_a_follower },
    { "0 asks behind a ghost", .alone = ask_behind_a_ghost },
    COMMON_STEPS,
};

/* -- neighbours ------------------------------------------------------------ */

TOLD(a_neighbour_is_next_without_a_request,
     "4 queue up, count, 0 passes, 1 gets it at once, 1 passes, "
     "2 gets it at once, 2 passes, 3 gets it at once, at most 0 creates, at "
     "most 0 lists")

TOLD(two_handles_have_one_line,
     "0 asks, 0 gets it, 1 asks by the twin, pause, count, 0 passes, "
     "1 gets it, at most 0 creates, at most 0 lists")

/* The second comes to the end of the queue. */
TOLD(a_neighbour_without_its_node_is_not_next,
     "3 queue up, delete node 1, pause, 0 passes, 2 gets it, 1 waits, "
     "2 passes, 1 has its turn")

/* The first of ours gives up, and others are still ahead of the next. */
TOLD(our_first_claim_may_be_behind_others,
     "holder takes, 0 asks with a request, 1 asks, pause, "
     "the request is cancelled, pause, 1 waits, holder gives, 1 has its turn")

TOLD(a_writer_that_gives_up_lets_the_readers_behind_it_in,
     "0 asks to read, 0 gets it, 1 asks to write with a request, "
     "2 asks to read, 3 asks to read, pause, 2 waits, 3 waits, "
     "the request is cancelled, pause, 1 is told ECANCELED, 2 gets it, "
     "3 gets it")

/* Both nodes go, and the events come in order: the third claim is next. */
TOLD(a_lost_lock_passes_to_the_neighbour,
     "3 queue up, delete node 0, delete node 1, 2 gets it, 0 has lost it, "
     "0 passes, 2 passes, 1 has its turn")

TOLD(a_new_connection_begins_without_knowledge,
     "2 queue up, reconnect, count, 0 passes, 1 gets it, at least 1 lists")

/* Its own node is seen again, because somebody has written to it. */
TOLD(a_new_connection_begins_without_knowing_others,
     "holder takes, 0 asks, pause, reconnect, write to node 0, pause, count, "
     "holder gives, 0 gets it, at least 1 lists")

/* It lists on the new connection, because somebody has written to the node
 * before it; then it knows as much as before. */
TOLD(
    a_list_on_a_new_connection_is_enough,
    "holder takes, 0 asks, pause, reconnect, write to the holder's node, "
    "pause, count, holder gives, 0 gets it, at most 0 creates, at most 0 lists")

/* The list of the last one. */
TOLD(one_list_serves_all_that_wait,
     "3 queue up, reconnect, 3 asks, pause, count, 0 passes, 1 gets it, "
     "1 passes, 2 gets it, 2 passes, 3 gets it, at most 0 creates, at most 0 "
     "lists")

/* The third waits for the nodes that stay, as others do, until they end. */
TOLD(nodes_that_stay_are_waited_for,
     "2 queue up, deletes are forbidden for T, 0 passes, 1 gets it, 1 passes, "
     "pause, 2 asks, sleep T/2, 2 waits, 2 has its turn")

/* The node of the first stays, and the third has read its own. */
TOLD(neighbours_wait_for_nodes_that_stay,
     "3 queue up, deletes are forbidden for T, 0 passes, 1 gets it, pause, "
     "write to node 2, pause, 1 passes, sleep T/2, 2 waits, 2 has its turn")

/* Somebody writes to its node, which is to be watched once more; before that it
 * goes, and no event tells. */
TOLD(a_neighbour_that_is_not_watched_is_not_next,
     "2 queue up, session is not heard for T/5, write to node 1, sleep 20ms, "
     "delete node 1, sleep 20ms, 0 passes, sleep 20ms, 1 waits, "
     "1 has its turn")

/* The second is about to be granted the lock, when its node has been seen once
 * more, and the third could be. */
TOLD(a_cancelled_claim_lets_nobody_in,
     "0 asks by the twin, 1 asks, 2 asks, 0 gets it, pause, "
     "session is not heard for T/5, write to node 1, sleep 20ms, 0 passes, "
     "sleep 20ms, 1 waits, all are cancelled, pause, 1 is told ECANCELED, "
     "2 is told ECANCELED")

/* The delete of the first one is delayed. */
STORY(a_claim_given_back_is_not_waited_for, nothing)
{
    play("0 asks, 0 gets it");
    const char *first = path_of(session, 0);
    play("refuse 10000 deletes, 0 passes, pause, count, 1 asks, 1 gets it");
    WRONG_IF(find_child(first) == NULL || asked(ZKR__ZK_GET) != 0,
             "it has waited for one that was given back");
    play("refuse 0 deletes");
}

/* -- writes ---------------------------------------------------------------- */

TOLD(a_write_is_over_before_the_next_is_granted,
     "2 queue up, session hears nothing for T/5, write, sleep T/10, 0 passes, "
     "sleep T/20, 1 waits, 1 has its turn")

TOLD(a_write_is_over_though_it_came_late,
     "2 queue up, session is not heard for T/5, write, sleep T/10, 0 passes, "
     "sleep T/20, 1 waits, 1 has its turn")

TOLD(a_write_is_over_though_it_was_in_vain,
     "2 queue up, session is not heard for T/5, write within 20ms, "
     "sleep T/10, 0 passes, sleep T/20, 1 waits, 1 has its turn")

/* The answer is lost with the connection, and the node stays for a while. */
TOLD(a_write_without_an_answer_delays_the_next,
     "2 queue up, write, reconnect, refuse 10000 deletes, 0 passes, sleep T/2, "
     "1 waits, refuse 0 deletes, 1 has its turn")

/* The client refuses it until its deadline. */
STORY(a_write_that_was_not_made_delays_nobody, nothing)
{
    play("2 queue up");
    refuse(ZKR__ZK_MULTI, NULL, INT32_MAX);
    play("write within 20ms, sleep 40ms, refuse 10000 deletes, 0 passes, "
         "1 gets it at once, refuse 0 deletes");
    refuse(ZKR__ZK_MULTI, NULL, 0);
}

STORY(a_write_that_was_answered_delays_nobody, nothing)
{
    play("0 asks, 1 asks, 0 gets it, write, pause");
    const char *first = path_of(session, 0);
    play("session is not heard for T/5, 0 passes, 1 gets it");
    WRONG_IF(find_child(first) == NULL, "it has waited for the delete");
}

/* The client still waits for its connection then. */
STORY(a_grant_whose_proof_is_late_is_suspended, nothing)
{
    play("0 asks, 0 gets it, session hears nothing for T, 0 becomes suspended");
    WRONG_IF(zkr_session_state(session) == ZKR_SESSION_SUSPENDED,
             "it was the loss of the connection");
    play("0 becomes held");
}

/* -- the create alone ------------------------------------------------------ */

TOLD(the_create_alone_is_the_acquire,
     "settle, count, 0 asks, 0 has its turn, pause, 0 asks, 0 has its turn, "
     "pause, 0 asks, 0 has its turn, pause, at least 3 creates, at most 3 "
     "creates, at most 0 lists")

/* Others make the directory again, and theirs have the numbers of ours. The
 * last of them holds the lock. */
STORY(another_directory_has_other_numbers, nothing)
{
    settle();
    int32_t before_it = tree_find(WORLD_PATH, ensemble.committed)->cversion;
    play("delete the directory, make the directory");
    for (int32_t i = 0; i < before_it; i++)
        make(WORLD_PATH STRANGER);
    play("pause, pause");
    for (int32_t i = 0; i + 1 < before_it; i++)
        play("delete the stranger, pause");
    play("0 asks, sleep T/2, 0 waits, delete the stranger, 0 has its turn");
}

TOLD(a_gap_in_the_numbers_is_somebody,
     "settle, make a stranger, pause, 0 asks, sleep T/2, 0 waits, "
     "delete the stranger, 0 has its turn")

/* The second and the third have one list, which shows that the lock is free. */
TOLD(a_try_waits_for_no_neighbour,
     "settle, 0 tries, 1 tries, 2 tries, the request is cancelled, pause, "
     "1 gets it, 2 is told EBUSY")

/* -- the only node ahead --------------------------------------------------- */

TOLD(a_claim_that_waits_for_one_does_not_list,
     "holder takes, 0 asks, pause, count, holder gives, 0 gets it, "
     "at most 0 creates, at most 0 lists")

/* It waits for the holder then. */
TOLD(a_claim_that_was_behind_one_of_ours_lists_once,
     "holder takes, 0 asks with a request, 1 asks, pause, count, "
     "the request is cancelled, pause, at most 0 creates, at least 1 lists, at "
     "most 1 lists, holder gives, 1 gets it")

/* Its own node goes first, and the event comes first. */
TOLD(a_claim_without_a_node_is_not_next,
     "holder takes, 0 asks, 1 asks, pause, delete node 0, holder gives, "
     "1 gets it, 0 waits, 1 passes, 0 has its turn")

/* As that of a neighbour. */
TOLD(a_claim_that_does_not_watch_its_node_is_not_next,
     "holder takes, 0 asks, pause, session is not heard for T/5, "
     "write to node 0, sleep 20ms, delete node 0, sleep 20ms, holder gives, "
     "sleep 20ms, 0 waits, 0 has its turn")

/* A writer of another session puts a reader at its place, and goes. */
STORY(a_writer_ahead_may_be_a_reader_next, nothing)
{
    char path[128];

    acquires(&users[HOLDER]);
    const char *writer = zkr_grant_node(users[HOLDER].grant);
    play("0 asks to write, pause");
    (void)snprintf(path, sizeof(path), "%s%s%s", WORLD_PATH, OTHER_READER,
                   writer + strlen(writer) - 10);
    make(path);
    play("pause, holder gives, sleep T/2, 0 waits, delete the reader, "
         "0 has its turn");
}

/* -- ghosts ---------------------------------------------------------------- */

/* The leader's answer to one claim tells the other claims nothing. */
TOLD(each_asks_for_its_ghosts,
     "holder takes, haunt a follower, 2 queue up, 0 passes, sleep T/2, "
     "1 waits, 1 has its turn",
     .anew = true)

/* Meanwhile the session holds another lock, so that its lease runs; and its own
 * node is confirmed. */
TOLD(a_claim_that_leaves_out_a_ghost_is_confirmed,
     "0 asks behind a ghost, 1 asks unfairly, 1 gets it, sleep T, count, "
     "delete the writer, 0 gets it, at least 1 lists, 0 passes, 1 passes",
     .anew = true)

/* Both have one list: the third one's was under way. The event has come before
 * the second asks. */
TOLD(a_ghost_is_left_out_by_one,
     "0 asks behind a ghost, answers take 100ms, 2 asks to read, "
     "delete the writer, sleep 70ms, 1 asks to read, 0 gets it, "
     "answers take 0ms, sleep T/2, 1 waits, 2 waits, 0 passes, "
     "1 has its turn, 2 has its turn",
     .anew = true)

/* The node before it is read once more, because somebody has written to it;
 * meanwhile its own node goes, and then the connection. The read is sent
 * again later than the list. Regression: it listed at once, and began to
 * read with a request that was in flight. */
STORY(a_read_is_answered_before_the_next, nothing)
{
    play("holder takes, 0 asks, pause, answers take 200ms, "
         "write to the holder's node, sleep 350ms"); /* it reads */
    play("delete node 0, sleep 30ms"); /* the event is under way */
    refuse(ZKR__ZK_GET, zkr_grant_node(users[HOLDER].grant), 6);
    play("session loses its connection, answers take 0ms, sleep T, 0 waits");
    refuse(ZKR__ZK_GET, NULL, 0);
    fiber_sleep(world.timeout);
    WRONG_IF(find_child(path_of(session, 0)) == NULL,
             "it waits without a node");
    play("holder gives, 0 has its turn");
}

/* -- readers --------------------------------------------------------------- */

TOLD(readers_are_neighbours_of_a_writer,
     "0 asks to write, 1 asks to read, 2 asks to read, 3 asks to read, "
     "4 asks to write, 0 gets it, pause, count, 0 passes, 1 gets it, "
     "2 gets it, 3 gets it, 4 waits, 1 passes, 4 waits, 2 passes, 4 waits, "
     "3 passes, 4 gets it, at most 0 creates, at most 0 lists")

/* The next writer has listed before the create of the reader, and learns of
 * it when the writer has been given back. Regression: both were granted the
 * lock, the writer and then the reader. */
TOLD(a_reader_beside_its_writer_is_ahead_unseen,
     "0 asks to write, 0 gets it, pause, answers take 200ms, "
     "1 asks to write, sleep 10ms, 0 downgrades before 0 tries, 1 waits, "
     "answers take 0ms, refuse 0 deletes, sleep 300ms, 1 waits, "
     "both are given back, 1 has its turn")

/* The same; but when the next writer has listed, a reader of others is ahead
 * of it, the only one, and goes. */
TOLD(a_reader_unseen_is_ahead_when_others_go,
     "0 asks to write, 0 gets it, make a reader, pause, answers take 200ms, "
     "1 asks to write, sleep 10ms, 0 downgrades before 0 tries, "
     "answers take 0ms, pause, delete the reader, pause, 1 waits, "
     "refuse 0 deletes, both are given back, 1 has its turn")

/* The reader shares its list with a try, after that of another, which is under
 * way first. To the reader the writer does not count, because it stands beside
 * it; to the try, because it has been given back. */
TOLD(a_writer_that_was_given_back_refuses_no_try,
     "0 asks to write, 0 gets it, pause, answers take 200ms, 1 asks to read, "
     "sleep 10ms, 0 downgrades before 1 tries, answers take 0ms, 1 gets it, "
     "2 gets it, refuse 0 deletes, both are given back")

/* The node of the writer has gone, and no event tells yet. A node that is
 * left from before it, and the list of a try, make the reader's number the
 * next one. */
STORY(a_reader_with_the_next_number_lists, nothing)
{
    play("1 asks to write, 1 has its turn, pause, 1 asks to write, "
         "1 has its turn, pause, 1 asks to write, 1 gets it, "
         "refuse 10000 deletes, 1 passes, 0 asks to write, 0 gets it");
    operator_deletes(zkr_grant_node(ours[0].grant));
    fiber_sleep(5 * MS);
    ask_within(2, WRITE, 0, NULL);
    downgrade(ZKR_ELOST);
    play("refuse 0 deletes");
    free_first();
    some_time();
    if (ours[2].grant != NULL)
        pass_on(2);
}

static void *make_directory_anew(void *arg)
{
    fiber_sleep(10 * MS);
    operator_deletes(zkr_grant_node(ours[0].grant));
    play("delete the directory, make the directory");
    return NULL;
}

/* Others make the directory again while the create of a reader is under way: it
 * has the number of its writer. Regression: that was taken for the last one
 * that the directory had given out. */
STORY(the_number_of_a_writer_is_not_given_out, nothing)
{
    play("make a stranger, pause, delete the stranger, make a stranger, "
         "pause, delete the stranger, 0 asks to write, 0 gets it, pause, "
         "answers take 200ms");
    (void)fiber_start(TELLER, make_directory_anew, NULL);
    downgrade(ZKR_ELOST);
    far(0);
    free_first();
    play("pause, make a writer, make a reader, pause, 1 asks to write, "
         "sleep T/2, 1 waits, delete the writer, delete the reader, "
         "1 has its turn");
}

/* The create of the reader fails, and the delete of the writer, too, for as
 * long as the next create takes. Regression: between its two creates the
 * reader was not in the line, and the next writer was granted the lock. The
 * node of the writer before it was still there, so the reader was granted
 * it, too. */
STORY(a_reader_beside_nobody_is_not_granted, nothing)
{
    play("0 asks to write, 1 asks to write, 0 gets it, pause");
    fates =
        (struct fates){ .process = TELLER, .of = { { FATE_THROTTLED, 0 } } };
    fates.of[1].number = UINT32_MAX;
    downgrade_with_meddling(5 * MS, false, ZKR_ELOST);
    play("refuse 0 deletes");
    free_first();
    take_and_pass_on(1);
}

/* -- a lock that stays -----------------------------------------------------
 *
 * Each fault happens twice in a life of the lock, too. */

#define FOUR_WAIT_FOR_IT                                                       \
    "it stays, 0 asks for what stays, 1 asks for what stays, "                 \
    "2 asks for what stays, 3 asks for what stays, 0 gets it by hand-off 0, "  \
    "0 passes, "

/* Others come in between: the members that wait have no node any more. */
TOLD(members_outlive_their_delegate, FOUR_WAIT_FOR_IT
     "1 gets it by hand-off 1, holder asks, pause, session is cut off for 2T, "
     "1 becomes lost, holder is told, pause, 2 waits, holder gives, "
     "2 gets it by hand-off 0, 1 passes, pause, session is cut off for 2T, "
     "2 becomes lost, 3 gets it by hand-off 0, 2 passes, pause")

TOLD(a_node_that_stays_may_be_deleted, FOUR_WAIT_FOR_IT
     "1 gets it, pause, delete what stays, 2 gets it by hand-off 0, "
     "1 has lost it, 1 passes, 2 gets it, pause, delete what stays, "
     "3 gets it by hand-off 0, 2 has lost it, 2 passes")

/* Its node is watched when it goes. */
STORY(a_node_that_stays_may_be_deleted_unheld, nothing)
{
    let_it_stay();
    for (int i = 0; i < 3; i++) {
        ask_for(i, STAYING);
        await_grant_with(i, 0);
        pass_on(i);
        play("pause, count, delete what stays, pause, at most 0 creates, at "
             "most 0 lists");
    }
}

/* Nobody here knows yet that the connection is lost. The lease runs, and the
 * grant is in doubt until there is another one, and the delegate's is, too. */
TOLD(a_connection_goes_while_a_member_comes,
     "it stays, 0 asks for what stays, 0 gets it by hand-off 0, 0 passes, "
     "pause, session is cut off for T/2, 1 asks for what stays, "
     "1 gets it by hand-off 1, 1 becomes suspended, 1 becomes held, sleep T, "
     "1 passes, pause, session is cut off for T/2, 2 asks for what stays, "
     "2 gets it by hand-off 2, 2 becomes suspended, 2 becomes held, sleep T, "
     "2 passes, pause")

/* What is in doubt is not handed on: the next has a node of its own. */
STORY(a_connection_goes_while_a_member_waits, nothing)
{
    play("it stays, 0 asks for what stays, 0 gets it");
    for (int i = 1; i < 3; i++) {
        int64_t token = zkr_grant_token(ours[i - 1].grant);

        some_time();
        ask_for(i, STAYING);
        play("session is cut off for T/2");
        FIBER_WHILE(zkr_grant_state(ours[i - 1].grant) == ZKR_GRANT_HELD, MS);
        pass_on(i - 1);
        some_time();
        still_waits(i);
        await_grant_with(i, 0);
        WRONG_IF(zkr_grant_token(ours[i].grant) <= token,
                 "a node in doubt is handed on");
    }
}

/* Nor is it when nobody had it meanwhile; a proof is late. */
TOLD(a_connection_goes_before_a_member_asks,
     "it stays, 0 asks for what stays, 0 gets it, 0 passes, pause, "
     "session is cut off for T/2, sleep 2T/5, 1 asks for what stays, pause, "
     "1 waits, 1 gets it by hand-off 0, 1 passes, pause, "
     "session is cut off for T/2, sleep 2T/5, 2 asks for what stays, pause, "
     "2 waits, 2 gets it by hand-off 0")

/* -- unfair mutexes -------------------------------------------------------- */

/* Regression: the session did not know the node any more, and the next claim
 * did not know whether it had made it, because the answer came later than a
 * client waits: two grants had one token. An operator ends the session. */
STORY(a_node_that_stays_is_not_the_next_claims, nothing)
{
    play("0 asks unfairly, 0 gets it");
    int64_t token = zkr_grant_token(ours[0].grant);
    play("session hears nothing for 3T/4, 1 asks unfairly, sleep T, "
         "deletes are forbidden for 2T");
    oracle_over(ours[0].attempt);
    WRONG_IF(zkr_grant_release(ours[0].grant) != ZKR_ZNOAUTH,
             "it can be given back");
    free_first();
    expect(zkr_participants_revoke(session, UNFAIR_PATH));
    play("sleep T, 1 waits, 1 gets it");
    WRONG_IF(zkr_grant_token(ours[1].grant) <= token,
             "the token is not higher");
}

/* The answers to the creates of both come later than a client waits. The first
 * one was refused, and takes the node of the second one for its own, because it
 * may not read it. Regression: the second one took it, too, when it could read
 * again. */
TOLD(a_node_that_may_not_be_read_is_taken_once,
     "make the unfair node, pause, session hears nothing for 3T/4, "
     "0 asks unfairly, sleep 20ms, delete the unfair node, sleep 20ms, "
     "1 asks unfairly, sleep 40ms, reads are forbidden for 2T, sleep 5T, "
     "0 gets it at once, 1 waits, 0 passes, 1 has its turn")

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
STORY(a_short_timeout_is_enough_for_the_answer, nothing)
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
STORY(a_short_timeout_ends_with_the_answer, nothing)
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
