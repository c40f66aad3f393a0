/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the table of faults: counts the requests of each call, makes the call
 * once for each request and fault, and compares with the rows. */
#include "faults/table.h"

#include <errno.h>
#include <fnmatch.h>

enum {
    WORKERS = 32,
    DRY_RUNS = 3,
    LATE_TRIES = 3,
    CELLS_MAX = 20000,
    TICK_MS = 5,
    QUIET_MS = 60,   /* a call that has sent nothing for so long waits */
    LONG_MS = 500,   /* the same, of a call whose requests are not counted */
    LATE_MS = 30,    /* an answer that is late */
    SLACK_MS = 4000, /* beside the lateness of the machine */
    T_MS = 10000,    /* no session ends by itself */
    MULTI = 9,       /* in requests[] */
};

/* The requests, as the rows call them. */
static const struct request {
    const char *name;
    int32_t type;
} requests[] = {
    { "create", 15 },
    { "create", ZOO_CREATE_OP },
    { "container", 19 },
    { "delete", ZOO_DELETE_OP },
    { "exists", ZOO_EXISTS_OP },
    { "get", ZOO_GETDATA_OP },
    { "set", ZOO_SETDATA_OP },
    { "list", ZOO_GETCHILDREN2_OP },
    { "sync", ZOO_SYNC_OP },
    [MULTI] = { "multi", ZOO_MULTI_OP },
    { "unwatch", 18 },
    { "close", PROXY_CLOSE },
};

/* What meets the call as such. */
static const struct request none = { "none", PROXY_ANY };

/* A call of a recipe, or of none. */
struct subject {
    const struct adapter *recipe;
    const struct call *call;
    char name[96];
    char told_grant[160];
    long sent[COUNT(requests)];
    long waits_after; /* so many requests, before somebody helps it */
};

struct cell {
    struct subject *subject;
    const struct request *request; /* NULL: a dry run */
    int nth;
    const struct fault *fault;
    struct row row; /* all that the table says of it */
    bool met;       /* the request was sent, and the fault has come */
    int rc;
    char told_session[160];
    char told_grant[160];
    long sent[COUNT(requests)];
    long waits_after;
    char wrong[400];
};

/* Recipes that differ from another one in names, or in whom they belong to. */
static const char all_but_twins[] =
    "!(write lock in *|leadership in *|* that yields: *|reentrant *|"
    "write lock that stays: *|@(mutex *|write lock|multi-lock *|leadership): "
    "first acquire)";

static const char *only;       /* ZKR_TEST_ONLY */
static const char *only_fault; /* ZKR_FAULT */
static int one_in = 1; /* ZKR_FAULTS_STEP: one cell in so many, by chance */
static int seen_cells;
static struct stopwatch *clock_of_all; /* its thread works: one is enough */
static struct subject subjects[256];
static size_t subject_count;
static struct cell *cells;
static size_t cell_count;
static atomic_size_t next_cell;
static atomic_int path_number;

/* -- for calls ------------------------------------------------------------ */

void wrong(struct scene *s, const char *format, ...)
{
    va_list args;

    if (s->wrong[0] != '\0')
        return;
    va_start(args, format);
    (void)vsnprintf(s->wrong, sizeof(s->wrong), format, args);
    va_end(args);
}

/* Is it a fault that only a deadline ends? */
static bool is_silence(const struct fault *f)
{
    return f != NULL && (f->deed == NO_ANSWER || f->deed == NO_REQUEST ||
                         f->deed == NEVER || f->deed == CUT_OFF);
}

/* Where silence is tried, sessions wait for answers so short a time that a busy
 * machine may need longer. */
static bool is_late(const struct scene *s, int rc)
{
    return is_silence(s->fault) &&
           (rc == ZKR_ZOPERATIONTIMEOUT || rc == ZKR_EPENDING);
}

void must(struct scene *s, const char *what, int rc)
{
    if (rc != ZKR_OK && !is_late(s, rc))
        wrong(s, "%s: %s (%s)", what, zkr_strerror(rc), zkr_error_detail());
}

bool is_over(struct scene *s)
{
    return atomic_load(&s->closing) || zkr_session_epoch(s->ours) != 1;
}

void must_unless_over(struct scene *s, const char *what, int rc)
{
    if (rc != ZKR_ELOST || !is_over(s))
        must(s, what, rc);
}

int nodes_in(struct scene *s, const char *dir)
{
    char **names;
    size_t count;
    int rc = admin_children(s->admin, dir, &names, &count);

    if (rc == ZNONODE)
        return 0;
    if (rc != ZOK) {
        wrong(s, "%s cannot be listed: %d", dir, rc);
        return -1;
    }
    admin_children_free(names, count);
    return (int)count;
}

static void tell(struct scene *s, char *told, size_t size, const char *word)
{
    (void)pthread_mutex_lock(&s->lock);
    size_t len = strlen(told);
    if (strcmp(told, word) != 0)
        (void)snprintf(told + len, size - len, "%s%s", len > 0 ? " " : "",
                       word);
    (void)pthread_mutex_unlock(&s->lock);
}

static void on_grant(zkr_grant *g, const struct zkr_grant_event *e, void *user)
{
    struct scene *s = user;

    tell(s, s->told_grant, sizeof(s->told_grant),
         e->kind == ZKR_GRANT_STATE_CHANGED ? zkr_grant_state_name(e->state)
                                            : "asked for");
}

void listen_and_be_watched(struct scene *s)
{
    if (s->wrong[0] != '\0')
        return;
    must(s, "a listener", zkr_grant_listen(s->grant, on_grant, s));
    s->listens = true;
    if (!COMES(proxy_requests(s->proxy, ZOO_GETDATA_OP) > 0, PATIENT_MS))
        wrong(s, "the node of the holder is not watched");
}

static void on_session(zkr_session *session, const struct zkr_session_event *e,
                       void *user)
{
    struct scene *s = user;
    const char *word = zkr_session_state_name(e->state);

    if (e->state != ZKR_SESSION_CONNECTED) /* when it begins */
        tell(s, s->told_session, sizeof(s->told_session), word);
}

/* -- the fault ------------------------------------------------------------ */

/* The call runs in the thread of its worker, and the fault in its own. */
struct disturbance {
    struct scene *scene;
    struct cell *cell;
    int64_t session_id;
    atomic_bool over; /* the call has returned */
    bool met;
    int64_t closed_ms; /* when the session was closed; or 0 */
};

static void set_rule(struct proxy *p, const struct cell *c, int nth,
                     enum deed deed)
{
    static const enum proxy_action actions[] = {
        [ANSWER_LATE] = PROXY_HOLD_REPLY,   [NO_ANSWER] = PROXY_HOLD_REPLY,
        [NEVER] = PROXY_HOLD_REPLY,         [NO_REQUEST] = PROXY_HOLD_REQUEST,
        [ANSWER_LOST] = PROXY_DROP_REPLY,   [OVER_AFTER] = PROXY_HOLD_REPLY,
        [CLOSED] = PROXY_HOLD_REPLY,        [REQUEST_LOST] = PROXY_DROP_REQUEST,
        [OVER_BEFORE] = PROXY_HOLD_REQUEST,
    };

    if (deed == REFUSED)
        proxy_rule_error(p, c->request->type, nth, c->fault->error);
    else
        proxy_rule(p, c->request->type, nth, actions[deed]);
}

static void end_session(const struct disturbance *d)
{
    struct scene *s = d->scene;

    /* It must not come back before it has ended. */
    proxy_rule(s->proxy, PROXY_CONNECT, 1, PROXY_HOLD_REQUEST);
    int rc = session_kill_by_id(server_hosts(the_server), d->session_id);
    if (rc != 0 && rc != -ESRCH) /* it has ended by itself */
        wrong(s, "the session cannot be ended: %d", rc);
    proxy_forget_rules(s->proxy);
    if (d->cell->fault->deed == OVER_AFTER) { /* the answer is lost, too */
        proxy_cut(s->proxy);
        proxy_heal(s->proxy);
    }
    proxy_release(s->proxy);
}

static void let_it_happen(struct disturbance *d)
{
    enum deed deed = d->cell->fault->deed;

    d->met = true;
    if (deed == ANSWER_LATE) {
        sleep_ms(LATE_MS);
        proxy_release(d->scene->proxy);
    } else if (deed == OVER_AFTER || deed == OVER_BEFORE) {
        end_session(d);
    } else if (deed == CLOSED) {
        /* the result says what is left; here it is the call's */
        atomic_store(&d->scene->closing, true);
        (void)zkr_session_close(d->scene->ours);
        d->closed_ms = now_ms();
    }
}

/* Does the proxy do it alone? Of two in a row the first is enough. */
static bool happens_by_itself(const struct fault *f)
{
    return f != NULL && f->deed != ANSWER_LATE && f->deed != OVER_AFTER &&
           f->deed != OVER_BEFORE && f->deed != CLOSED;
}

/* Does the call wait for somebody? A busy machine is silent, too, so it has to
 * have sent what it sends without a fault. */
static bool seems_to_wait(const struct disturbance *d, long sent,
                          int64_t for_ms)
{
    long waits_after = d->cell->subject->waits_after;

    if (waits_after == 0)
        return for_ms >= LONG_MS;
    return for_ms >= QUIET_MS &&
           (d->met || sent >= waits_after || for_ms >= PATIENT_MS / 4);
}

static void *disturb(void *arg)
{
    struct disturbance *d = arg;
    struct scene *s = d->scene;
    bool helped = s->call->meanwhile == NULL;
    bool happened = d->cell->fault == NULL;
    int64_t since_ms = now_ms();
    long sent = 0;

    while (!atomic_load(&d->over) && !(happened && helped)) {
        if (happened) {
            sleep_ms(TICK_MS);
        } else if (proxy_wait_rule(s->proxy, TICK_MS)) {
            let_it_happen(d);
            happened = true;
        }
        if (proxy_requests(s->proxy, PROXY_ANY) != sent)
            since_ms = now_ms();
        sent = proxy_requests(s->proxy, PROXY_ANY);
        if (!helped && seems_to_wait(d, sent, now_ms() - since_ms)) {
            d->cell->waits_after = sent;
            s->call->meanwhile(s);
            helped = true;
        }
    }
    /* A call that gives up may end before the answer that is to be lost. */
    if (!d->met && happens_by_itself(d->cell->fault) &&
        proxy_requests(s->proxy, d->cell->request->type) >= d->cell->nth)
        d->met = proxy_wait_rule(s->proxy, PATIENT_MS);
    return NULL;
}

/* The error names its object, and that of a server has its number. */
static void check_sentence(struct scene *s, int rc)
{
    const char *name = s->call->named != NULL ? s->call->named : s->path;
    const char *number = textf("%d", rc);

    if (s->fault != NULL && s->fault->deed == REFUSED && name[0] != '\0' &&
        rc == s->fault->error && strstr(zkr_error_detail(), number) == NULL)
        wrong(s, "'%s' says no %s", zkr_error_detail(), number);
    if (rc != ZKR_OK && strstr(zkr_error_detail(), name) == NULL)
        wrong(s, "%s is said so: '%s'", zkr_strerror(rc), zkr_error_detail());
}

static int run_disturbed(struct scene *s, struct cell *c)
{
    struct disturbance d = { .scene = s,
                             .cell = c,
                             .session_id = zkr_session_id(s->ours) };
    bool cut_off = c->fault != NULL && c->fault->deed == CUT_OFF;
    struct lap before = stopwatch_lap(clock_of_all);
    pthread_t thread;

    proxy_reset_counts(s->proxy);
    if (cut_off) {
        proxy_cut(s->proxy);
        if (!COMES(zkr_session_state(s->ours) == ZKR_SESSION_SUSPENDED,
                   PATIENT_MS))
            wrong(s, "the session does not notice");
    } else if (c->fault != NULL) {
        set_rule(s->proxy, c, c->nth, c->fault->deed);
        if (c->fault->then != 0)
            set_rule(s->proxy, c, c->nth + 1, c->fault->then);
    }
    if (pthread_create(&thread, NULL, disturb, &d) != 0) {
        wrong(s, "no thread");
        return ZKR_ENOMEM;
    }
    int rc = s->call->run(s);
    int64_t ended_ms = now_ms();
    check_sentence(s, rc);
    for (size_t i = 0; i < COUNT(requests); i++)
        c->sent[i] = proxy_requests(s->proxy, requests[i].type);
    atomic_store(&d.over, true);
    (void)pthread_join(thread, NULL);
    if (d.closed_ms != 0) { /* the close itself waits a second for the answer */
        struct lap now = stopwatch_lap(clock_of_all);

        s->ours = NULL;
        if (ended_ms > d.closed_ms + (now.late_ns - before.late_ns) / 1000000)
            wrong(s, "it goes on after the close");
    }
    c->met = d.met || cut_off;
    return rc;
}

/* -- a scene -------------------------------------------------------------- */

static void await_count(struct scene *s, const char *when, int count)
{
    if (s->call->count != NULL &&
        !COMES(s->call->count(s) == count, PATIENT_MS / 4))
        wrong(s, "%s: %d are on the server, not %d", when, s->call->count(s),
              count);
}

static bool is_told(struct scene *s, const char *told, const char *pattern)
{
    (void)pthread_mutex_lock(&s->lock);
    bool fits = fnmatch(pattern, told, 0) == 0;
    (void)pthread_mutex_unlock(&s->lock);
    return fits;
}

/* The session is there, and has told so. */
static bool has_calmed_down(struct scene *s)
{
    enum zkr_session_state_kind state = zkr_session_state(s->ours);

    if (state == ZKR_SESSION_CONNECTED)
        return is_told(s, s->told_session, "");
    return state == ZKR_SESSION_RECONNECTED &&
           is_told(s, s->told_session, "*RECONNECTED");
}

static bool has_told_of_grant(struct scene *s)
{
    enum zkr_grant_state_kind state = zkr_grant_state(s->grant);

    if (state == ZKR_GRANT_SUSPENDED || state == ZKR_GRANT_UNSURE)
        return false; /* it ends soon, one way or the other */
    return (state == ZKR_GRANT_HELD && is_told(s, s->told_grant, "")) ||
           is_told(s, s->told_grant, textf("*%s", zkr_grant_state_name(state)));
}

/* What the result says of the server. */
static int change_of(struct scene *s, const struct cell *c, int rc)
{
    const struct fault *f = c->fault;
    bool done = rc == ZKR_OK || rc == ZKR_EPENDING;

    if (rc == ZKR_EUNKNOWN) /* has it done the request, or will it? */
        done = f != NULL && f->deed != REQUEST_LOST && f->deed != OVER_BEFORE &&
               f->deed != REFUSED;
    if (c->met && c->row.leaves != 0)
        return c->row.leaves - LEAVES(0);
    if (s->recipe != NULL && (s->recipe->traits & STAYS) == STAYS)
        return 0; /* see count() in locks.c */
    if (s->recipe != NULL && s->call->change > 0 && s->grant != NULL &&
        zkr_grant_state(s->grant) == ZKR_GRANT_LOST && is_over(s))
        return 0; /* granted, and then the session has ended */
    return done || rc == c->subject->call->ends_with ? s->call->change : 0;
}

/* The servers have done all that our session has sent, and what followed from
 * that; and its listener has been told. */
static void calm_down(struct scene *s)
{
    if (s->ours == NULL)
        return;
    for (int i = 0; i < 3; i++) {
        if (!COMES(has_calmed_down(s), PATIENT_MS))
            wrong(s, "the session is %s, and it told '%s'",
                  zkr_session_state_name(zkr_session_state(s->ours)),
                  s->told_session);
        if (i < 2)
            must(s, "a sync", zkr_session_sync(s->ours, PATIENT_MS));
    }
}

static void step(struct scene *s, void (*does)(struct scene *s))
{
    if (does != NULL)
        does(s);
}

/* The deadline ends it, and the sentence says so. */
static void run_in_silence(struct scene *s, struct cell *c)
{
    const char *why = c->fault->deed == CUT_OFF ? "no connection" : "deadline";
    struct lap before = stopwatch_lap(clock_of_all);

    s->timeout_ms = HASTY_MS;
    c->rc = run_disturbed(s, c);
    bool says = strstr(zkr_error_detail(), why) != NULL;
    struct lap lap = stopwatch_lap(clock_of_all);
    lap.took_ns -= before.took_ns;
    lap.late_ns -= before.late_ns;
    if (!c->met || c->rc == c->subject->call->ends_with)
        return;
    if (!lap_is_within(lap, c->fault->deed == CUT_OFF ? 0 : HASTY_MS,
                       HASTY_MS + SLACK_MS)) /* a try fails at once */
        wrong(s, "it has not ended at the deadline");
    if ((c->rc == ZKR_EUNKNOWN || c->rc == ZKR_EUNREACHABLE) && !says)
        wrong(s, "the error says only '%s'", zkr_error_detail());
}

/* What is unknown after a loss is not sent again: the program was told. A
 * holder sends the like by itself. And a server that throttles has not done it:
 * nobody searches for the node. */
static void check_requests(struct scene *s, const struct cell *c)
{
    long sent = proxy_requests(s->proxy, c->request->type);

    if (c->rc == ZKR_EUNKNOWN && !is_silence(c->fault) && !s->listens &&
        sent != c->nth)
        wrong(s, "the result is unknown, and it is sent %ld times", sent);
    if (strcmp(c->request->name, "create") == 0 &&
        c->fault->error == ZKR_ZTHROTTLEDOP &&
        c->sent[MULTI] > c->subject->sent[MULTI])
        wrong(s, "what was not done is searched for");
}

/* The server has the nodes of the row then, and after a close none of ours. */
static void check_end(struct scene *s, const struct cell *c, int before,
                      bool again)
{
    if (s->ours == NULL && c->fault != NULL && c->fault->deed == CLOSED) {
        if (s->recipe != NULL)
            await_count(s, "after the close", 0);
        return;
    }
    await_count(s, again ? "the second time" : "afterwards",
                before + change_of(s, c, c->rc));
    if (s->grant != NULL && s->listens && !again &&
        !COMES(has_told_of_grant(s), PATIENT_MS))
        wrong(s, "the grant is %s, and it told '%s'",
              zkr_grant_state_name(zkr_grant_state(s->grant)), s->told_grant);
}

/* The second round, which has no fault, equals the first one without any. */
static void play(struct scene *s, struct cell *c, bool again)
{
    const struct call *call = s->call;

    s->timeout_ms = PATIENT_MS;
    step(s, call->ready);
    int before = call->count == NULL ? 0 : call->count(s);
    if (is_silence(c->fault))
        run_in_silence(s, c);
    else
        c->rc = run_disturbed(s, c);
    bool late = c->fault == NULL && is_late(s, c->rc);
    if (c->request == NULL && !late && c->rc != call->ends_with)
        wrong(s, "%sit ends with %s (%s)", again ? "the second time " : "",
              zkr_strerror(c->rc), zkr_error_detail());
    if (c->fault != NULL && c->fault->deed == NEVER)
        proxy_cut(s->proxy);
    proxy_let_all_pass(s->proxy);
    calm_down(s);
    if (c->met)
        check_requests(s, c);
    if (!late)
        check_end(s, c, before, again);
    PRINT(c->told_session, "%s", s->told_session);
    PRINT(c->told_grant, "%s", s->told_grant);
    if (call->undo != NULL)
        call->undo(s, c->rc);
}

/* `common` is to all scenes of a worker. */
static void play_cell(const struct scene *common, struct cell *c)
{
    struct scene s = { .call = c->subject->call,
                       .recipe = c->subject->recipe,
                       .fault = c->fault,
                       .theirs = common->theirs,
                       .admin = common->admin,
                       .lock = PTHREAD_MUTEX_INITIALIZER };
    zkr_listener *listener = NULL;

    PRINT(s.path, "/tests/faults-%d", atomic_fetch_add(&path_number, 1));
    PRINT(s.dir, "%s%s", s.path,
          s.recipe != NULL && s.recipe->below != NULL ? s.recipe->below : "");
    if (proxy_start(server_hosts(the_server), &s.proxy) != 0) {
        PRINT(c->wrong, "no proxy");
        return;
    }
    uint32_t t = s.call->session_ms != 0 ? s.call->session_ms : T_MS;
    uint32_t reply = is_silence(c->fault) ? HASTY_MS : PATIENT_MS;
    must(&s, "a session",
         zkr_session_open(
             proxy_hosts(s.proxy),
             OPTS(session, .session_timeout_ms = t, .reply_timeout_ms = reply),
             &s.ours));
    if (s.wrong[0] == '\0')
        must(&s, "a listener",
             zkr_session_listen(s.ours, on_session, &s, &listener));
    if (s.wrong[0] == '\0')
        step(&s, s.call->make);
    if (s.wrong[0] == '\0')
        play(&s, c, false);
    if (s.wrong[0] == '\0' && s.ours != NULL)
        play(&s, &(struct cell){ .subject = c->subject }, true);
    proxy_let_all_pass(s.proxy);
    step(&s, s.call->end);
    zkr_listener_free(listener);
    if (s.ours != NULL)
        (void)zkr_session_close(s.ours);
    proxy_stop(s.proxy);
    (void)admin_delete_tree(s.admin, s.path);
    PRINT(c->wrong, "%s", s.wrong);
}

/* A busy machine may be late, but not always: then an answer before the fault
 * comes later than such a session waits for it. */
static void play_in_time(const struct scene *common, struct cell *c)
{
    const struct cell before = *c;
    bool late = true;

    for (int i = 0; i < LATE_TRIES && late; i++) {
        *c = before;
        play_cell(common, c);
        late = c->met && is_silence(c->fault) && c->rc != c->row.ends_with &&
               (c->rc == ZKR_ZOPERATIONTIMEOUT || c->rc == ZKR_EPENDING);
    }
}

/* -- all of them ---------------------------------------------------------- */

static void *work(void *arg)
{
    struct scene common = { .theirs = NULL };
    size_t i;

    if (zkr_session_open(server_hosts(the_server),
                         OPTS(session, .session_timeout_ms = T_MS),
                         &common.theirs) != ZKR_OK ||
        admin_open(server_hosts(the_server), &common.admin) != 0)
        return NULL; /* its cells are missed below */
    while ((i = atomic_fetch_add(&next_cell, 1)) < cell_count)
        play_in_time(&common, &cells[i]);
    (void)zkr_session_close(common.theirs);
    admin_close(common.admin);
    return NULL;
}

/* Outside of a test nothing can be asserted. */
static void give_up(const char *why)
{
    (void)fprintf(stderr, "faults: %s\n", why);
    abort();
}

static void play_all(void)
{
    pthread_t threads[WORKERS];

    clock_of_all = stopwatch_start();
    atomic_store(&next_cell, 0);
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            give_up("no thread");
    for (int i = 0; i < WORKERS; i++)
        (void)pthread_join(threads[i], NULL);
    (void)stopwatch_stop(clock_of_all);
    if (atomic_load(&next_cell) < cell_count)
        give_up("no session for the tests");
}

static bool is_like(const char *pattern, const char *name)
{
    return fnmatch(pattern, name, FNM_EXTMATCH) == 0;
}

static struct cell *add_cell(struct subject *subject)
{
    if (cell_count == CELLS_MAX)
        give_up("too many requests and faults");
    cells[cell_count] = (struct cell){ .subject = subject };
    return &cells[cell_count++];
}

static void add_subject(const struct adapter *recipe, const struct call *call)
{
    struct subject s = { .recipe = recipe, .call = call };

    PRINT(s.name, "%s%s%s", recipe != NULL ? recipe->name : "",
          recipe != NULL ? ": " : "", call->name);
    if (!is_like(only != NULL ? only : all_but_twins, s.name))
        return;
    if (subject_count == COUNT(subjects))
        give_up("too many calls");
    subjects[subject_count++] = s;
}

static void list_subjects(void)
{
    for (size_t i = 0; i < adapter_count; i++) {
        for (size_t k = 0; k < lock_call_count; k++) {
            const struct call *call = &lock_calls[k];

            if (call->not_for == 0 ||
                (adapters[i].traits & call->not_for) != call->not_for)
                add_subject(&adapters[i], call);
        }
    }
    for (size_t i = 0; i < other_call_count; i++)
        add_subject(NULL, &other_calls[i]);
}

/* A busy machine makes it send more at times: its heartbeat, say. */
static bool count_requests(void)
{
    int failed = 0;

    for (size_t i = 0; i < subject_count; i++) {
        for (int k = 0; k < DRY_RUNS; k++)
            (void)add_cell(&subjects[i]);
    }
    play_all();
    for (size_t i = 0; i < cell_count; i++) {
        struct subject *s = cells[i].subject;

        if (cells[i].wrong[0] != '\0') {
            print_message("%s without a fault: %s\n", s->name, cells[i].wrong);
            failed++;
        }
        for (size_t k = 0; k < COUNT(requests); k++) {
            if (i % DRY_RUNS == 0 || cells[i].sent[k] < s->sent[k])
                s->sent[k] = cells[i].sent[k];
        }
        if (i % DRY_RUNS == 0 || cells[i].waits_after < s->waits_after)
            s->waits_after = cells[i].waits_after;
        PRINT(s->told_grant, "%s", cells[i].told_grant);
    }
    return failed == 0;
}

static bool is_request(const char *pattern, const struct request *r, int nth)
{
    char name[32];

    (void)snprintf(name, sizeof(name), "%s %d", r->name, nth);
    return is_like(pattern, r == &none ? r->name : name);
}

/* The last row that fits counts, and what it leaves out says one before. */
static struct row row_of(const struct cell *c)
{
    struct row all = { .ends_with = AS_EVER,
                       .session_is_told = "",
                       .grant_is_told = c->subject->told_grant };

    for (struct row *r = rows; r < rows + row_count; r++) {
        if ((!is_like(r->call, c->subject->name) &&
             !is_like(r->call, c->subject->call->name)) ||
            !is_request(r->request, c->request, c->nth) ||
            !is_like(r->fault, c->fault->name))
            continue;
        r->seen = true;
        if (r->ends_with != 0) {
            all.ends_with = r->ends_with;
            all.or_with = r->or_with;
        }
        if (r->leaves != 0)
            all.leaves = r->leaves;
        if (r->session_is_told != NULL)
            all.session_is_told = r->session_is_told;
        if (r->grant_is_told != NULL)
            all.grant_is_told = r->grant_is_told;
    }
    if (all.ends_with == AS_EVER)
        all.ends_with = c->subject->call->ends_with;
    else if (all.ends_with == ITS_ERROR)
        all.ends_with = c->fault->error;
    return all;
}

static void add_faults_of(struct subject *s, const struct request *r, int nth)
{
    /* It is told nothing of a close. */
    bool is_told = s->call->named != NULL && s->call->named[0] == '\0';

    for (size_t i = 0; i < fault_count; i++) {
        if ((faults[i].deed == CUT_OFF) != (r == &none) ||
            (faults[i].deed == CLOSED && (is_told || r->type == PROXY_CLOSE)) ||
            (only_fault != NULL && !is_like(only_fault, faults[i].name)))
            continue;
        if (s->call->not_its != NULL && is_request(s->call->not_its, r, nth))
            return;
        if (seen_cells++ % one_in != getpid() % one_in)
            continue;
        struct cell *c = add_cell(s);
        c->request = r;
        c->nth = nth;
        c->fault = &faults[i];
        c->row = row_of(c);
    }
}

static void list_cells(void)
{
    cell_count = 0;
    for (size_t i = 0; i < subject_count; i++) {
        for (size_t k = 0; k < COUNT(requests); k++) {
            for (int n = 1; n <= subjects[i].sent[k]; n++)
                add_faults_of(&subjects[i], &requests[k], n);
        }
        add_faults_of(&subjects[i], &none, 1);
    }
}

/* -- the rows ------------------------------------------------------------- */

/* "ZNOAUTH" */
static const char *name_of(int rc)
{
    const char *sentence = zkr_strerror(rc);

    return textf("%.*s", (int)strcspn(sentence, ":"), sentence);
}

static void print(const struct cell *c, bool right)
{
    const struct row *row = &c->row;

    print_message("%s%s | %s %d | %s | %s | %s | %s\n",
                  right ? "" : "WRONG: ", c->subject->name, c->request->name,
                  c->nth, c->fault->name,
                  c->met ? name_of(c->rc) : "has not come", c->told_session,
                  c->told_grant);
    if (right)
        return;
    print_message("    by the table: %s%s%s | %s | %s%s%s\n",
                  name_of(row->ends_with), row->or_with != 0 ? " or " : "",
                  row->or_with != 0 ? name_of(row->or_with) : "",
                  row->session_is_told, row->grant_is_told,
                  c->wrong[0] != '\0' ? "\n    besides: " : "", c->wrong);
}

static bool judge(const struct cell *c)
{
    const struct row *row = &c->row;
    bool right = c->wrong[0] == '\0';

    if (c->met) {
        right = right && (c->rc == row->ends_with ||
                          (row->or_with != 0 && c->rc == row->or_with));
        right = right && fnmatch(row->session_is_told, c->told_session, 0) == 0;
        right = right && fnmatch(row->grant_is_told, c->told_grant, 0) == 0;
    }
    if (!right || getenv("ZKR_FAULTS") != NULL)
        print(c, right);
    return right;
}

/* The rows that nothing is as. */
static void each_row_says_something(const void *nothing)
{
    size_t count = 0;

    for (size_t i = 0; i < row_count; i++) {
        if (rows[i].seen || rows[i].is_rare)
            continue;
        print_message("nothing is as in the row %s | %s | %s\n", rows[i].call,
                      rows[i].request, rows[i].fault);
        count++;
    }
    assert_int_equal(count, 0);
}

/* -- the tests: one for each call ----------------------------------------- */

static void is_as_the_table_says(const void *arg)
{
    const struct subject *s = arg;
    size_t failed = 0;

    for (size_t i = 0; i < cell_count; i++) {
        if (cells[i].subject == s && !judge(&cells[i]))
            failed++;
    }
    if (failed > 0)
        fail_msg("%zu faults of '%s' end otherwise", failed, s->name);
}

static void register_tests(void)
{
    static struct test_case tests[COUNT(subjects) + 1];
    size_t n = 0;

    for (; n < subject_count; n++) {
        tests[n] = (struct test_case){ .name = subjects[n].name,
                                       .run = is_as_the_table_says,
                                       .arg = &subjects[n] };
        test_register(&tests[n]);
    }
    tests[n] = (struct test_case){ .name = "each row says something",
                                   .run = each_row_says_something };
    if (only == NULL && only_fault == NULL && one_in == 1)
        test_register(&tests[n]);
}

/* All calls are walked at once, so that those who wait do so together. */
static int play_and_judge(void)
{
    cells = calloc(CELLS_MAX, sizeof(*cells));
    if (cells == NULL || !count_requests())
        return 1;
    list_cells();
    play_all();
    int failed = test_run_all();
    free(cells);
    return failed;
}

int main(void)
{
    static const struct server_opts opts = { .tick_ms = 2000 };

    only = getenv("ZKR_TEST_ONLY");
    only_fault = getenv("ZKR_FAULT");
    one_in = (int)test_number("ZKR_FAULTS_STEP", one_in);
    list_subjects();
    register_tests();
    (void)unsetenv("ZKR_TEST_ONLY"); /* the others are not registered */
    return run_with_server(&opts, play_and_judge);
}
