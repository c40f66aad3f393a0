/* The session: states, epochs, listeners, opening and closing. */
#include "session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "claim.h"
#include "clock.h"
#include "error.h"
#include "keeper.h"
#include "log.h"
#include "opts.h"
#include "probe.h"
#include "retry.h"
#include "ring.h"

#define DEFAULT_SESSION_TIMEOUT_MS 10000
#define DEFAULT_CONNECT_TIMEOUT_MS 15000
#define DEFAULT_REPLY_TIMEOUT_MS   5000
/* After an open that failed: for the diagnosis, and for the keeper to end. */
#define AFTERMATH_MS 250

#define TO(state)        ZKR__BIT(ZKR_SESSION_##state)
#define ROW(state, next) [ZKR_SESSION_##state] = { #state, next }
#define TO_AN_END        (TO(LOST) | TO(AUTH_FAILED) | TO(CLOSED))

/* clang-format off */
static const struct zkr__sm_state table[] = {
    ROW(CONNECTING,  TO(CONNECTED) | TO_AN_END),
    ROW(CONNECTED,   TO(SUSPENDED) | TO_AN_END),
    ROW(SUSPENDED,   TO(RECONNECTED) | TO_AN_END),
    ROW(RECONNECTED, TO(SUSPENDED) | TO_AN_END),
    ROW(LOST,        TO(RECONNECTED) | TO_AN_END),
    ROW(AUTH_FAILED, TO(CLOSED)),
    ROW(CLOSED,      0),
};
/* clang-format on */

struct zkr_listener {
    struct zkr_session *session;
    unsigned refs; /* under the lock: the user's, and one while it runs */
    struct zkr__list link;
    struct zkr__notice notice;
    struct zkr__ring events;
    zkr_session_fn fn;
    void *user;
};

/* -- references and gates ------------------------------------------------- */

void zkr__session_ref(struct zkr_session *s)
{
    (void)atomic_fetch_add(&s->refs, 1);
}

void zkr__session_unref(struct zkr_session *s)
{
    if (atomic_fetch_sub(&s->refs, 1) != 1)
        return;
    zkr__dispatch_done(&s->dispatch);
    (void)pthread_cond_destroy(&s->keeper_wake);
    (void)pthread_cond_destroy(&s->changed);
    zkr__mtx_done(&s->lock);
    zkr__hosts_done(&s->hosts);
    zkr__acl_done(&s->acl);
    free(s->auth_scheme);
    if (s->auth != NULL)
        explicit_bzero(s->auth, strlen(s->auth));
    free(s->auth);
    free(s);
}

int zkr__session_check(const struct zkr_session *s, const char *what)
{
    if (s == NULL)
        return zkr__fail(ZKR_EINVAL, "%s is NULL", what);
    if (s->pid != getpid())
        return zkr__fail(ZKR_EFORKED,
                         "%s belongs to process %d, which forked this one",
                         what, (int)s->pid);
    return ZKR_OK;
}

bool zkr__session_connected(const struct zkr_session *s)
{
    return s->sm.state == ZKR_SESSION_CONNECTED ||
           s->sm.state == ZKR_SESSION_RECONNECTED;
}

/* -- states --------------------------------------------------------------- */

static void tell_locked(struct zkr_listener *l)
{
    struct zkr_session *s = l->session;

    zkr__ring_push(&l->events, (struct zkr__event){ .state = s->sm.state,
                                                    .epoch = s->epoch,
                                                    .session_id = s->id });
    zkr__dispatch_post_locked(s, &l->notice);
}

static void move_locked(struct zkr_session *s, enum zkr_session_state state,
                        const char *why)
{
    zkr__sm_move(&s->sm, (int)state, why);
    for (struct zkr__list *l = s->listeners.next; l != &s->listeners;
         l = l->next)
        tell_locked(ZKR__CONTAINER(l, struct zkr_listener, link));
    (void)pthread_cond_broadcast(&s->changed);
}

static void each_claim_locked(struct zkr_session *s,
                              void (*fn)(struct zkr__claim *))
{
    struct zkr__list *next;

    for (struct zkr__list *l = s->claims.next; l != &s->claims; l = next) {
        next = l->next;
        fn(ZKR__CONTAINER(l, struct zkr__claim, link));
    }
}

static void suspend_claim(struct zkr__claim *c)
{
    zkr__grant_suspend_locked(&c->grant);
}

static void resume_claim(struct zkr__claim *c)
{
    zkr__grant_resume_locked(&c->grant);
}

static void lose_claim(struct zkr__claim *c)
{
    zkr__claim_lost_locked(c, "the session is over");
}

static void connected_locked(struct zkr_session *s)
{
    if (zkr__session_connected(s))
        return;
    s->id = zkr__zk_session_id(s->zk);
    s->timeout_ms = zkr__zk_timeout_ms(s->zk); /* may differ every time */
    move_locked(s,
                s->sm.state == ZKR_SESSION_CONNECTING ? ZKR_SESSION_CONNECTED
                                                      : ZKR_SESSION_RECONNECTED,
                "established");
    each_claim_locked(s, resume_claim);
    zkr__op_pump_locked(s);
}

static void disconnected_locked(struct zkr_session *s)
{
    if (!zkr__session_connected(s))
        return;
    move_locked(s, ZKR_SESSION_SUSPENDED, "connection lost");
    each_claim_locked(s, suspend_claim);
}

/* Whatever was held is lost at once. Those who wait enter again when the keeper
 * has closed the handle. */
static void expired_locked(struct zkr_session *s)
{
    s->epoch++;
    s->id = 0;
    move_locked(s, ZKR_SESSION_LOST, "expired");
    each_claim_locked(s, lose_claim);
}

static void end_locked(struct zkr_session *s, int code,
                       enum zkr_session_state state, const char *why)
{
    s->over = code;
    move_locked(s, state, why);
    each_claim_locked(s, lose_claim);
    zkr__claims_fail_locked(s, code, why);
}

static void handle_dead_locked(struct zkr_session *s)
{
    s->handle_dead = true;
    zkr__keeper_wake_locked(s);
}

void zkr__session_lost_locked(struct zkr_session *s, int code)
{
    if (s->handle_dead || s->over != 0 || s->zk == NULL)
        return;
    if (code == ZKR__ZAUTHFAILED)
        end_locked(s, code, ZKR_SESSION_AUTH_FAILED, "authentication failed");
    else
        expired_locked(s);
    handle_dead_locked(s);
}

void zkr__session_handle_locked(struct zkr_session *s, enum zkr__zk_event event)
{
    if (s->handle_dead || s->over != 0)
        return;
    switch (event) {
    case ZKR__ZK_CONNECTED:
        connected_locked(s);
        break;
    case ZKR__ZK_DISCONNECTED:
        disconnected_locked(s);
        break;
    case ZKR__ZK_EXPIRED:
        zkr__session_lost_locked(s, ZKR__ZSESSIONEXPIRED);
        break;
    case ZKR__ZK_AUTH_FAILED:
        zkr__session_lost_locked(s, ZKR__ZAUTHFAILED);
        break;
    }
}

void zkr__session_on_event(struct zkr_session *s, enum zkr__zk_event event)
{
    zkr__mtx_lock(&s->lock);
    if (s->zk != NULL) {
        zkr__session_handle_locked(s, event);
    } else if (s->opening) { /* the keeper has not got the handle yet */
        s->early = true;
        s->early_event = event;
    }
    zkr__mtx_unlock(&s->lock);
}

static void end_claim_of_past_epoch(struct zkr__claim *c)
{
    if (c->epoch != c->session->epoch || c->session->over != 0)
        zkr__claim_epoch_over_locked(c);
}

void zkr__session_flush_locked(struct zkr_session *s)
{
    int rc = s->over == 0             ? ZKR__ZSESSIONEXPIRED
             : s->over == ZKR_ECLOSED ? ZKR__ZCLOSING
                                      : s->over;

    zkr__op_flush_locked(s, s->over != 0, rc);
    each_claim_locked(s, end_claim_of_past_epoch);
    zkr__watch_flush_locked(s);
}

/* -- open ----------------------------------------------------------------- */

static int load_opts(struct zkr_session_opts *o,
                     const struct zkr_session_opts *opts)
{
    int rc = zkr__opts_load(o, sizeof(*o), sizeof(*o), opts, "session options");

    if (rc != ZKR_OK)
        return rc;
    if (o->session_timeout_ms == 0)
        o->session_timeout_ms = DEFAULT_SESSION_TIMEOUT_MS;
    if (o->session_timeout_ms < ZKR_SESSION_TIMEOUT_MIN_MS ||
        o->session_timeout_ms > ZKR_SESSION_TIMEOUT_MAX_MS)
        return zkr__fail(ZKR_EINVAL,
                         "session options: session_timeout_ms %u is not in "
                         "%u to %u",
                         o->session_timeout_ms, ZKR_SESSION_TIMEOUT_MIN_MS,
                         ZKR_SESSION_TIMEOUT_MAX_MS);
    if ((o->flags & ~(uint32_t)ZKR_SESSION_OWN_LOOP) != 0)
        return zkr__fail(ZKR_EINVAL, "session options: unknown flags %#x",
                         o->flags);
    if ((o->auth_scheme == NULL) != (o->auth == NULL))
        return zkr__fail(ZKR_EINVAL, "session options: auth and auth_scheme "
                                     "need each other");
    if (o->connect_timeout_ms == 0)
        o->connect_timeout_ms = DEFAULT_CONNECT_TIMEOUT_MS;
    if (o->reply_timeout_ms == 0)
        o->reply_timeout_ms = DEFAULT_REPLY_TIMEOUT_MS;
    return zkr__retry_load(&o->retry);
}

static int copy_auth(struct zkr_session *s)
{
    const char *acl = s->opts.acl;

    if (s->opts.auth != NULL) {
        s->auth_scheme = strdup(s->opts.auth_scheme);
        s->auth = strdup(s->opts.auth);
        if (s->auth_scheme == NULL || s->auth == NULL)
            return zkr__fail(ZKR_ENOMEM, "session: out of memory");
    }
    if (acl == NULL)
        acl = s->auth == NULL ? "world:anyone:cdrwa" : "auth::cdrwa";
    return zkr__acl_parse(&s->acl, acl);
}

static void init_lists(struct zkr_session *s)
{
    zkr__list_init(&s->queued);
    zkr__list_init(&s->delayed);
    zkr__list_init(&s->in_flight);
    zkr__list_init(&s->refused);
    zkr__list_init(&s->claims);
    zkr__list_init(&s->watches);
    zkr__list_init(&s->listeners);
}

static int new_session(const char *hosts, const struct zkr_session_opts *opts,
                       struct zkr_session **ret_session)
{
    struct zkr_session *s = calloc(1, sizeof(*s));
    int rc;

    if (s == NULL)
        return zkr__fail(ZKR_ENOMEM, "session: out of memory");
    atomic_init(&s->refs, 1);
    s->pid = getpid();
    s->epoch = 1;
    s->sm = (struct zkr__sm){ ZKR_SESSION_CONNECTING, table, "session" };
    init_lists(s);
    zkr__op_init(&s->hello, s);
    (void)zkr__mtx_init(&s->lock);
    (void)zkr__cond_init(&s->keeper_wake);
    (void)zkr__cond_init(&s->changed);
    rc = load_opts(&s->opts, opts);
    if (zkr__dispatch_init(&s->dispatch,
                           rc == ZKR_OK &&
                               (s->opts.flags & ZKR_SESSION_OWN_LOOP) != 0) !=
        ZKR_OK)
        rc = ZKR_ESYSTEM;
    if (rc == ZKR_OK)
        rc = zkr__hosts_parse(&s->hosts, hosts, s->opts.chroot);
    if (rc == ZKR_OK)
        rc = copy_auth(s);
    if (rc != ZKR_OK) {
        zkr__session_unref(s);
        return rc;
    }
    *ret_session = s;
    return ZKR_OK;
}

static int await_connection_unlocks(struct zkr_session *s, int64_t deadline)
{
    while (!zkr__session_connected(s) && s->over == 0 &&
           s->open_error == ZKR_OK &&
           zkr__cond_wait(&s->changed, &s->lock, deadline))
        ;
    if (zkr__session_connected(s))
        return ZKR_OK;
    if (s->over != 0)
        return zkr__fail(s->over, "session to %s: refused", s->hosts.servers);
    if (s->open_error != ZKR_OK)
        return zkr__fail(s->open_error, "session to %s: %s", s->hosts.servers,
                         s->open_error == ZKR_EHOSTS
                             ? "no host name can be resolved"
                             : zkr_strerror(s->open_error));
    return zkr__fail(ZKR_EUNREACHABLE, "session to %s: no answer in %u ms",
                     s->hosts.servers, s->opts.connect_timeout_ms);
}

static void on_greeting(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr_session *s = op->session;

    s->greeted = true;
    s->greeting = reply->rc;
    (void)pthread_cond_broadcast(&s->changed);
}

/* A first request: does the server serve, and is there a chroot? */
static int greet_unlocks(struct zkr_session *s, int64_t deadline)
{
    const char *root = s->hosts.chroot[0] == '\0' ? "/" : s->hosts.chroot;

    zkr__op_start_locked(&s->hello, ZKR__ZK_EXISTS, root, ZKR__RETRY_ALWAYS,
                         on_greeting);
    while (!s->greeted && s->over == 0 &&
           zkr__cond_wait(&s->changed, &s->lock, deadline))
        ;
    if (s->over != 0)
        return zkr__fail(s->over, "session to %s: refused", s->hosts.servers);
    if (!s->greeted)
        return zkr__fail(ZKR_EUNREACHABLE,
                         "session to %s: connected, but no answer in %u ms",
                         s->hosts.servers, s->opts.connect_timeout_ms);
    if (s->greeting == ZKR__ZNONODE)
        return zkr__fail(ZKR_ENOCHROOT,
                         "session to %s: the chroot '%s' does not exist "
                         "(ZooKeeper -101, ZNONODE)",
                         s->hosts.servers, root);
    if (s->greeting != ZKR_OK)
        return zkr__fail(s->greeting, "session to %s: first request",
                         s->hosts.servers);
    return ZKR_OK;
}

/* True when the keeper has ended and been joined. */
static bool stop_keeper_unlocks(struct zkr_session *s, int64_t deadline)
{
    bool done;

    zkr__keeper_wake_locked(s);
    while (!s->keeper_done && zkr__cond_wait(&s->changed, &s->lock, deadline))
        ;
    done = s->keeper_done;
    zkr__mtx_unlock(&s->lock);
    if (done)
        (void)pthread_join(s->keeper, NULL);
    else
        (void)pthread_detach(s->keeper);
    zkr__mtx_lock(&s->lock);
    return done;
}

static int connect_unlocks(struct zkr_session *s)
{
    int64_t deadline = zkr__clock_deadline(s->opts.connect_timeout_ms);
    int rc = await_connection_unlocks(s, deadline);

    return rc == ZKR_OK ? greet_unlocks(s, deadline) : rc;
}

/* The keeper may be stuck in a name server: it cleans up when it returns. */
static void give_up_open(struct zkr_session *s)
{
    zkr__mtx_lock(&s->lock);
    end_locked(s, ZKR_ECLOSED, ZKR_SESSION_CLOSED, "open failed");
    (void)stop_keeper_unlocks(s, zkr__clock_deadline(AFTERMATH_MS));
    zkr__mtx_unlock(&s->lock);
}

int zkr_session_open(const char *hosts, const struct zkr_session_opts *opts,
                     zkr_session **ret_session)
{
    struct zkr_session *s = NULL;
    int rc;

    if (ret_session == NULL)
        return zkr__fail(ZKR_EINVAL, "ret_session is NULL");
    rc = new_session(hosts, opts, &s);
    if (rc != ZKR_OK)
        return rc;
    rc = zkr__keeper_start(s);
    if (rc == ZKR_OK) {
        zkr__mtx_lock(&s->lock);
        rc = connect_unlocks(s);
        zkr__mtx_unlock(&s->lock);
        if (rc == ZKR_OK)
            rc = zkr__dispatch_start(s);
        if (rc != ZKR_OK) {
            give_up_open(s);
            if (rc == ZKR_EUNREACHABLE)
                rc = zkr__probe(s->hosts.servers, AFTERMATH_MS);
        }
    }
    if (rc == ZKR_OK)
        *ret_session = s;
    else
        zkr__session_unref(s);
    return rc;
}

/* -- close ---------------------------------------------------------------- */

static int close_unlocks(struct zkr_session *s)
{
    bool had_session = s->id != 0;

    if (zkr__dispatch_inside_locked(s))
        return zkr__fail(ZKR_EDEADLK, "a callback cannot close its session");
    end_locked(s, ZKR_ECLOSED, ZKR_SESSION_CLOSED, "closed");
    (void)stop_keeper_unlocks(s, ZKR__NEVER);
    if (had_session && !s->told_server)
        return zkr__fail(ZKR_EPENDING,
                         "session to %s: closed without a connection; the "
                         "server keeps it for up to %u ms",
                         s->hosts.servers, s->timeout_ms);
    return ZKR_OK;
}

int zkr_session_close(zkr_session *s)
{
    int rc;

    if (s == NULL)
        return ZKR_OK;
    rc = zkr__session_check(s, "session");
    if (rc != ZKR_OK)
        return rc;
    zkr__mtx_lock(&s->lock);
    rc = close_unlocks(s);
    zkr__mtx_unlock(&s->lock);
    if (rc == ZKR_EDEADLK)
        return rc;
    zkr__dispatch_stop(s);
    zkr__session_unref(s);
    return rc;
}

/* -- what one can ask ----------------------------------------------------- */

enum zkr_session_state zkr_session_state(zkr_session *s)
{
    enum zkr_session_state state;

    if (zkr__session_check(s, "session") != ZKR_OK)
        return ZKR_SESSION_CLOSED;
    zkr__mtx_lock(&s->lock);
    state = (enum zkr_session_state)s->sm.state;
    zkr__mtx_unlock(&s->lock);
    return state;
}

int64_t zkr_session_id(zkr_session *s)
{
    int64_t id;

    if (zkr__session_check(s, "session") != ZKR_OK)
        return 0;
    zkr__mtx_lock(&s->lock);
    id = s->id;
    zkr__mtx_unlock(&s->lock);
    return id;
}

uint32_t zkr_session_timeout_ms(zkr_session *s)
{
    uint32_t timeout_ms;

    if (zkr__session_check(s, "session") != ZKR_OK)
        return 0;
    zkr__mtx_lock(&s->lock);
    timeout_ms = s->timeout_ms;
    zkr__mtx_unlock(&s->lock);
    return timeout_ms;
}

uint64_t zkr_session_epoch(zkr_session *s)
{
    uint64_t epoch;

    if (zkr__session_check(s, "session") != ZKR_OK)
        return 0;
    zkr__mtx_lock(&s->lock);
    epoch = s->epoch;
    zkr__mtx_unlock(&s->lock);
    return epoch;
}

const char *zkr_session_state_name(enum zkr_session_state state)
{
    if ((unsigned)state > ZKR_SESSION_CLOSED)
        return "UNKNOWN";
    return table[state].name;
}

/* -- listeners ------------------------------------------------------------ */

static void unref_listener(struct zkr_listener *l)
{
    struct zkr_session *s = l->session;
    bool last;

    zkr__mtx_lock(&s->lock);
    last = --l->refs == 0;
    zkr__mtx_unlock(&s->lock);
    if (!last)
        return;
    free(l);
    zkr__session_unref(s);
}

static void run_listener(struct zkr__notice *notice)
{
    struct zkr_listener *l =
        ZKR__CONTAINER(notice, struct zkr_listener, notice);
    struct zkr_session *s = l->session;
    struct zkr_session_event event;
    struct zkr__event e = { 0 };

    zkr__mtx_lock(&s->lock);
    l->refs++; /* the callback may free it */
    (void)zkr__ring_pop(&l->events, &e);
    if (l->events.count > 0)
        zkr__dispatch_post_locked(s, &l->notice);
    zkr__mtx_unlock(&s->lock);
    event.state = (enum zkr_session_state)e.state;
    event.epoch = e.epoch;
    event.session_id = e.session_id;
    l->fn(s, &event, l->user);
    unref_listener(l);
}

int zkr_session_listen(zkr_session *s, zkr_session_fn fn, void *user,
                       zkr_listener **ret_listener)
{
    struct zkr_listener *l;
    int rc = zkr__session_check(s, "session");

    if (rc != ZKR_OK)
        return rc;
    if (fn == NULL || ret_listener == NULL)
        return zkr__fail(ZKR_EINVAL, "%s is NULL",
                         fn == NULL ? "the callback" : "ret_listener");
    l = calloc(1, sizeof(*l));
    if (l == NULL)
        return zkr__fail(ZKR_ENOMEM, "listener: out of memory");
    zkr__session_ref(s);
    l->session = s;
    l->refs = 1;
    l->fn = fn;
    l->user = user;
    zkr__notice_init(&l->notice, run_listener);
    zkr__mtx_lock(&s->lock);
    zkr__list_append(&s->listeners, &l->link);
    *ret_listener = l;
    tell_locked(l);
    zkr__mtx_unlock(&s->lock);
    return ZKR_OK;
}

void zkr_listener_free(zkr_listener *l)
{
    struct zkr_session *s;

    if (l == NULL || zkr__session_check(l->session, "listener") != ZKR_OK)
        return;
    s = l->session;
    zkr__mtx_lock(&s->lock);
    zkr__list_remove(&l->link);
    (void)zkr__dispatch_withdraw_unlocks(s, &l->notice);
    zkr__mtx_unlock(&s->lock);
    unref_listener(l);
}
