/* SPDX-License-Identifier: Apache-2.0 */
/* Stories: the users that act in them, and the repetitions. */
#include "story.h"

/* Each time, and the faults in it. */
#define TIMES 2

struct user users[2];
struct story story;

struct refused refused[ZKR__ZK_TYPES];

static int submitted[ZKR__ZK_TYPES];
static int before[ZKR__ZK_TYPES];

WRAP(int, zkr__zk_submit,
     (struct zkr__zk * zk, struct zkr__zk_request *r, uintptr_t id))
{
    struct refused *all = &refused[r->type];

    submitted[r->type]++;
    if (all->count > 0 &&
        (all->path == NULL || strcmp(r->path, all->path) == 0)) {
        all->count--;
        return ZKR_ENOMEM;
    }
    return __real_zkr__zk_submit(zk, r, id);
}

void refuse(enum zkr__zk_type type, const char *path, int count)
{
    refused[type] = (struct refused){ count, path };
}

void count_from_here(void)
{
    memcpy(before, submitted, sizeof(before));
}

int asked(enum zkr__zk_type type)
{
    return submitted[type] - before[type];
}

void await_asked(enum zkr__zk_type type)
{
    count_from_here();
    FIBER_WHILE(asked(type) == 0, MS / 10);
}

static int process_of(const struct user *u)
{
    return (int)(u - users);
}

static void open_session(struct user *u)
{
    struct process *p = &world.processes[process_of(u)];

    p->no_lease = story.no_lease;
    p->number = process_of(u);
    expect(zkr_session_open(
        "a:1,b:2,c:3",
        OPTS(session, .session_timeout_ms = (uint32_t)(world.timeout / MS),
             .retry = story.retry,
             .flags = story.no_lease ? ZKR_SESSION_NO_LEASE : 0,
             .lease_beacon = story.beacon ? WORLD_BEACON : NULL),
        &u->session));
    expect(zkr_mutex_new(u->session, WORLD_PATH, NULL, &u->mutex));
    expect(zkr_unfair_mutex_new(u->session, WORLD_PATH, NULL, &u->unfair));
    p->session = u->session;
    p->opened = true;
    told_of_session(p, NULL, NULL);
}

static void close_session(struct user *u)
{
    struct process *p = &world.processes[process_of(u)];

    zkr_mutex_free(u->mutex);
    zkr_unfair_mutex_free(u->unfair);
    p->opened = false;
    told_free_listener(p);
    (void)zkr_session_close(u->session);
    u->session = NULL;
    u->wanted = false;
}

/* From now on the oracle knows it. */
static void note_granted(struct user *u, zkr_grant *grant, zkr_grant_fn fn)
{
    struct attempt *a = oracle_asked(process_of(u), false, -1);

    oracle_told(a, ZKR_OK, grant);
    told_of_grant(a, grant, fn, NULL);
}

static void end_grant(zkr_grant **grant)
{
    oracle_over_with(*grant);
    (void)zkr_grant_release(*grant);
    told_free_grant(*grant);
    *grant = NULL;
}

void give_back(struct user *u)
{
    end_grant(&u->grant);
    fiber_wake(u);
}

static void acquire(struct user *u)
{
    u->rc = story.unfair ? zkr_unfair_mutex_acquire(u->unfair, -1, &u->grant)
                         : zkr_mutex_acquire(u->mutex, -1, &u->grant);
    if (u->rc == ZKR_OK)
        note_granted(u, u->grant, u == &users[WAITER] ? story.on_event : NULL);
    u->told = true;
    fiber_wake(u);
}

static void play_waiter(struct user *u)
{
    if (story.both) {
        expect(zkr_unfair_mutex_acquire(u->unfair, -1, &u->other));
        note_granted(u, u->other, NULL);
    }
    acquire(u);
    for (int i = 0; i < (story.once ? 1 : TIMES); i++) {
        if (story.then != NULL)
            play(story.then);
        else
            story.granted();
    }
    if (u->grant != NULL)
        give_back(u);
    if (u->other != NULL)
        end_grant(&u->other);
}

static void *user_main(void *arg)
{
    struct user *u = arg;

    for (;;) {
        FIBER_UNTIL(u->wanted || story.time == TIMES, u);
        if (!u->wanted)
            break;
        if (u->session == NULL)
            open_session(u);
        FIBER_UNTIL(u->asks || story.time == TIMES, u);
        if (!u->asks)
            break;
        if (u == &users[WAITER]) {
            play_waiter(u);
        } else { /* the fiber that tells the story gives it back */
            acquire(u);
            FIBER_UNTIL(u->grant == NULL, u);
        }
        if (story.anew)
            close_session(u);
        u->asks = false;
        fiber_wake(u);
    }
    world.busy--;
    FIBER_UNTIL(world.closing, &world.closing);
    if (u->session != NULL)
        close_session(u);
    return NULL;
}

void start(struct user *u)
{
    u->wanted = true;
    fiber_wake(u);
    if (u->started)
        return;
    u->started = true;
    world.busy++;
    (void)fiber_start(process_of(u), user_main, u);
}

void ask(struct user *u)
{
    start(u);
    u->told = false;
    u->asks = true;
    fiber_wake(u);
}

void await_told(struct user *u)
{
    FIBER_WHILE(!u->told, MS);
}

void acquires(struct user *u)
{
    ask(u);
    await_told(u);
}

static void *tell_main(void *arg)
{
    for (; story.time < TIMES; story.time++) {
        if (story_begins != NULL)
            story_begins();
        if (story.says != NULL)
            play(story.says);
        else
            story.tell();
        if (story_ends != NULL)
            story_ends();
        for (int i = 0; i < 2; i++)
            FIBER_UNTIL(!users[i].asks, &users[i]);
    }
    fiber_wake(&users[WAITER]);
    fiber_wake(&users[HOLDER]);
    world.busy--;
    return NULL;
}

void apps_start(void)
{
    memset(users, 0, sizeof(users));
    story.time = 0;
    if (story.beacon) {
        (void)tree_create(tree_root, WORLD_BEACON, 0, 0);
        ensemble_observe();
    }
    world.process_count = 3;
    world.busy++;
    (void)fiber_start(TELLER, tell_main, NULL);
}

/* The fibers that tell the story begin and end the faults. */
void faults_start(void)
{
    world.calm = sim_now + 100 * world.timeout;
}

const struct report *succeeds(void)
{
    static struct report *r;

    if (r == NULL)
        r = report_new();
    runs_together = true;
    if (getenv("SIM_VERBOSE") != NULL)
        world_talk();
    world_limits.recipe = MUTEX;
    bool good = true;
    /* Nothing is drawn but the ticks of a timeout of four seconds, or of one,
     * and whether threads go before completions. */
    for (uint32_t order = 0; order < 2 && good; order++) {
        const uint32_t tame[] = { 0, order, 0,
                                  story.hurried       ? 1
                                  : story.short_ticks ? 0
                                                      : 2,
                                  story.short_ticks ? 2 : 0 };

        good = run_script(r, tame, 5, 1);
    }
    if (!good)
        fail_msg("%s", r->text);
    return r;
}

void cut_of(int process, int directions, int64_t duration)
{
    for (int r = 0; r < REPLICAS; r++)
        server_cut(process, r, directions, duration);
}

int replica_of_waiter(void)
{
    int replica;

    FIBER_WHILE((replica = client_replica(WAITER)) == NO_REPLICA, MS);
    return replica;
}

void connect_waiter_to(int replica, int64_t pause)
{
    while (replica_of_waiter() != replica) {
        server_reset_connections(WAITER);
        fiber_sleep(pause);
    }
}

const char *path_of(zkr_session *s, int nth)
{
    struct zkr__list *claims = &zkr__locks_of(s)->claims;
    struct zkr__list *l = claims->next;

    while (l != claims && nth-- > 0)
        l = l->next;
    WRONG_IF(l == claims, "there are no such claims");
    const char *path = ZKR__CONTAINER(l, struct zkr__claim, link)->node->path;
    return arena_copy(path, strlen(path));
}

void haunt(int replica)
{
    struct node *ghost =
        tree_find(zkr_grant_node(users[HOLDER].grant), ensemble.committed);

    ghost->haunts = 1 + replica;
    ensemble_kill_session(ghost->session);
}

void make(const char *path)
{
    operate(ZKR__ZK_CREATE,
            strchr("-_", path[strlen(path) - 1]) != NULL
                ? ZKR_CREATE_EPHEMERAL_SEQUENTIAL
                : ZKR_CREATE_PERSISTENT,
            path, "");
}

void expect(int rc)
{
    WRONG_IF(rc != ZKR_OK, "a call of the story ends with %s: %s",
             zkr_strerror(rc), zkr_error_detail());
}

const struct zkr__claim *await_state(enum zkr__claim_state state)
{
    struct zkr__list *claims = &zkr__locks_of(users[WAITER].session)->claims;

    for (;; fiber_sleep(MS / 10)) {
        for (struct zkr__list *l = claims->next; l != claims; l = l->next) {
            const struct zkr__claim *c =
                ZKR__CONTAINER(l, struct zkr__claim, link);

            if (c->sm.state == (int)state)
                return c;
        }
    }
}

void on_asked(int rc, zkr_grant *grant, void *asking)
{
    struct asking *a = asking;

    WRONG_IF(a->told, "it is told twice");
    *a = (struct asking){ a->attempt, true, rc, grant };
    if (a->attempt != NULL)
        oracle_told(a->attempt, rc, grant);
    fiber_wake(a);
}

void nothing(void)
{
}

/* -- steps ----------------------------------------------------------------- */

static const char *const types[] = {
    [ZKR__ZK_CREATE] = "creates", [ZKR__ZK_DELETE] = "deletes",
    [ZKR__ZK_EXISTS] = "reads",   [ZKR__ZK_GET] = "gets",
    [ZKR__ZK_SET] = "sets",       [ZKR__ZK_CHILDREN] = "lists",
    [ZKR__ZK_GET_ACL] = "ACLs",   [ZKR__ZK_SYNC] = "syncs",
    [ZKR__ZK_CHECK] = "checks",   NULL,
};

void refuse_some(int count, int64_t type)
{
    refuse((enum zkr__zk_type)type, NULL, count);
}

void at_least(int count, int64_t type)
{
    int were = asked((enum zkr__zk_type)type);

    WRONG_IF(were < count, "there are %d %s", were, types[type]);
}

void at_most(int count, int64_t type)
{
    int were = asked((enum zkr__zk_type)type);

    WRONG_IF(were > count, "there are %d %s", were, types[type]);
}

struct said {
    int64_t who;
    int64_t number; /* -1: none */
    int64_t other;
};

static bool is_number(struct said *said, const char **text)
{
    bool alone = **text == 'T';
    char *end = (char *)(uintptr_t)*text;

    if (!alone && (**text < '0' || **text > '9'))
        return false;
    int64_t n = alone ? 1 : strtoll(*text, &end, 10);
    if (*end == 'T') {
        n *= world.timeout;
        end++;
    } else if (strncmp(end, "ms", 2) == 0) {
        n *= MS;
        end += 2;
    }
    if (*end == '/')
        n /= strtoll(end + 1, &end, 10);
    *(said->number < 0 ? &said->number : &said->other) = n;
    *text = end;
    return true;
}

static const char *const processes[] = { "waiter", "holder", "session", NULL };

static bool is_name(const char *const *names, int64_t *which, const char **text)
{
    for (*which = 0; names[*which] != NULL; ++*which) {
        size_t len = strlen(names[*which]);

        if (strncmp(*text, names[*which], len) != 0)
            continue;
        *text += len;
        return true;
    }
    return false;
}

/* Returns what comes after the step, or NULL when the text says another. */
static const char *after(const char *says, const char *text, struct said *said)
{
    *said = (struct said){ .number = -1, .other = -1 };
    for (; *says != '\0'; says++) {
        if (*says == '#'   ? !is_number(said, &text)
            : *says == '%' ? !is_name(types, &said->other, &text)
            : *says == '@' ? !is_name(processes, &said->who, &text)
                           : *says != *text++)
            return NULL;
    }
    if (*text == '\0')
        return text;
    return strncmp(text, ", ", 2) == 0 ? text + 2 : NULL;
}

static void do_step(const struct step *s, const struct said *said)
{
    if (s->alone != NULL)
        s->alone();
    else if (s->user != NULL)
        s->user(&users[said->who]);
    else if (s->number != NULL)
        s->number((int)(said->number < 0 ? said->who : said->number));
    else if (s->two != NULL)
        s->two((int)said->number, said->other < 0 ? s->other : said->other);
    else if (s->lasts != NULL)
        s->lasts(said->number);
    else if (s->named != NULL)
        s->named(s->name);
    else
        cut_of((int)said->who, s->directions, said->number);
}

void play(const char *text)
{
    while (*text != '\0') {
        const struct step *s = steps;
        const char *next = NULL;
        struct said said;

        while (s->says != NULL && (next = after(s->says, text, &said)) == NULL)
            s++;
        WRONG_IF(next == NULL, "there is no such step: %s", text);
        do_step(s, &said);
        text = next;
    }
}
