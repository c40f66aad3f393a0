/* SPDX-License-Identifier: Apache-2.0 */
/* Finds locks, lists their queues, and understands what is in them. */
#include "model/scan.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/escape.h"
#include "common/lockctl.h"
#include "common/words.h"

/* How many locks are listed at once. */
#define LISTERS 8

/* Of one lock: nodes that are read, and those of which only the names count. */
#define READ_MAX  10000
#define NAMED_MAX 100000

const char *contender_who(const struct contender *c, char who[WHO_MAX])
{
    static const char asked[] = " (asked to release)";
    char id[WORD_MAX];
    size_t size = WHO_MAX - (c->owner.is_asked ? strlen(asked) : 0);

    owner_word(&c->owner, c->node->data, c->node->data_size, who, size);
    if (who[0] == '\0' && c->node->session_id != 0)
        (void)snprintf(who, WHO_MAX, "session %s",
                       word_id(c->node->session_id, id));
    else if (who[0] == '\0')
        (void)snprintf(who, WHO_MAX, "?");
    return c->owner.is_asked ? strcat(who, asked) : who;
}

const char *contender_to_stop(const struct contender *c, const char *else_word,
                              char text[STOP_MAX])
{
    static const char the_shell[] = "the shell that it holds the lock for, ";
    const struct owner *owner = &c->owner;

    if (!owner->is_record || strcmp(owner->program, OWNER_HOLD) != 0)
        return else_word;
    (void)strcpy(text, the_shell);
    (void)escape_string(owner->label, text + strlen(the_shell),
                        STOP_MAX - strlen(the_shell));
    return text;
}

bool contender_waits(const struct contender *c)
{
    return c->node->kind != ZKR_PARTICIPANT_FOREIGN && !c->node->holds;
}

bool contender_is_promised(const struct contender *c)
{
    return contender_is_lease(c->node) && !c->node->holds;
}

/* Everybody else who waits, waits for a contender. The one who was promised a
 * lease waits for what its lease waits for. */
bool contender_wants_permit(const struct lock *lock, const struct contender *c)
{
    size_t i = c->node->waits_for;

    return contender_waits(c) &&
           (i >= lock->listed || contender_is_lease(lock->items[i].node));
}

bool contender_is_read(const struct contender *c)
{
    return c->node->token != 0 || c->node->error != ZKR_OK;
}

const char *lock_state_name(enum lock_state state)
{
    static const char *const names[] = {
        [LOCK_FREE] = "free",     [LOCK_HELD] = "held",
        [LOCK_SHARED] = "shared", [LOCK_ENTERING] = "entering",
        [LOCK_READY] = "ready",   [LOCK_UNKNOWN] = "?",
    };

    return names[state];
}

static void understand_one(struct contender *c, const struct zkr_participant *p,
                           int64_t at_ms)
{
    c->node = p;
    owner_read(&c->owner, p->data, p->data_size);
    c->dialect = dialect_of(p, &c->owner);
    c->age_ms = p->token == 0         ? -1
                : at_ms > p->since_ms ? at_ms - p->since_ms
                                      : 0;
}

/* A contender that is not known may be of the same client as the others. One of
 * which only the name was read counts if that tells the client. */
static void count_dialect(struct lock *lock, const struct contender *c)
{
    if (!contender_is_read(c) && c->dialect == DIALECT_UNKNOWN)
        return;
    if (lock->dialect == DIALECT_NONE)
        lock->dialect = c->dialect;
    else if (lock->dialect != c->dialect && lock->dialect != DIALECT_MIXED)
        lock->dialect =
            lock->dialect == DIALECT_UNKNOWN || c->dialect == DIALECT_UNKNOWN
                ? DIALECT_UNKNOWN
                : DIALECT_MIXED;
}

static void count_one(struct lock *lock, const struct contender *c)
{
    lock->count++;
    count_dialect(lock, c);
    if (c->node->holds) {
        lock->holders++;
        if (lock->holder == NULL)
            lock->holder = c;
        if (lock->state != LOCK_HELD)
            lock->state = c->node->kind == ZKR_PARTICIPANT_SHARED ? LOCK_SHARED
                                                                  : LOCK_HELD;
        return;
    }
    if (contender_is_promised(c))
        return;
    lock->waiters++;
    if (c->age_ms > lock->longest_wait_ms)
        lock->longest_wait_ms = c->age_ms;
}

/* A double barrier has members, and the node "ready" as long as they may go. */
static void look_for_members(struct lock *lock)
{
    bool ready = false;

    for (size_t i = 0; i < lock->listed; i++) {
        const struct zkr_participant *p = lock->items[i].node;

        lock->members += contender_is_member(p);
        ready = ready || strcmp(p->name, "ready") == 0;
    }
    if (lock->members == 0)
        return;
    lock->kind = KIND_BARRIER;
    lock->state = ready ? LOCK_READY : LOCK_ENTERING;
}

/* The list is the lock's from here on. */
static int understand(struct lock *lock, struct zkr_participants *list)
{
    lock->list = list;
    lock->total = list->total;
    lock->listed = list->count;
    lock->items = calloc(list->count + 1, sizeof(*lock->items));
    if (lock->items == NULL)
        return ZKR_ENOMEM;
    for (size_t i = 0; i < list->count; i++) {
        understand_one(&lock->items[i], &list->items[i], lock->at_ms);
        lock->read += contender_is_read(&lock->items[i]);
        if (list->items[i].kind != ZKR_PARTICIPANT_FOREIGN)
            count_one(lock, &lock->items[i]);
    }
    lock->kind = kind_of(list->items, lock->count);
    if (list->semaphore && lock->kind == KIND_NONE)
        lock->kind = KIND_SEMAPHORE;
    if (lock->kind == KIND_NONE)
        look_for_members(lock);
    return ZKR_OK;
}

struct zkr_participants_opts lock_opts(uint32_t reads)
{
    struct zkr_participants_opts opts = ZKR_PARTICIPANTS_OPTS_INIT;

    opts.limit = reads == SCAN_ALL ? READ_MAX : NAMED_MAX;
    opts.reads = reads;
    if (reads == SCAN_HOLDERS || reads == SCAN_NEXT) {
        opts.reads = 1;
        opts.flags = ZKR_PARTICIPANTS_HOLDERS;
    }
    if (reads == SCAN_NEXT)
        opts.flags |= ZKR_PARTICIPANTS_NEXT;
    return opts;
}

int lock_of(const char *path, struct zkr_participants *list, int64_t at_ms,
            struct lock *ret_lock)
{
    struct lock lock = { .path = strdup(path),
                         .longest_wait_ms = -1,
                         .at_ms = at_ms };
    int rc = understand(&lock, list);

    if (rc == ZKR_OK && lock.path == NULL)
        rc = ZKR_ENOMEM;
    if (rc != ZKR_OK)
        lock_done(&lock);
    else
        *ret_lock = lock;
    return rc;
}

/* The list is the lock's, or freed. */
static int take_list(const char *path, const struct zkr_participants_opts *opts,
                     struct zkr_participants *list, struct lock *ret_lock)
{
    int rc = lock_of(path, list, clock_wall_ms(), ret_lock);

    if (rc == ZKR_OK)
        ret_lock->cut = ret_lock->total > opts->limit;
    return rc;
}

int lock_list(zkr_session *session, const char *path,
              const struct zkr_participants_opts *opts, struct lock *ret_lock)
{
    struct zkr_participants *list = NULL;
    int rc = zkr_participants_list(session, path, opts, &list);

    return rc == ZKR_OK ? take_list(path, opts, list, ret_lock) : rc;
}

static int list_reading(zkr_session *session, const char *path, uint32_t reads,
                        struct lock *ret_lock)
{
    struct zkr_participants_opts opts = lock_opts(reads);

    return lock_list(session, path, &opts, ret_lock);
}

static bool is_semaphore(zkr_session *session, const char *path)
{
    struct zkr_participants_opts opts = lock_opts(1);
    struct zkr_participants *list = NULL;
    bool is_one =
        zkr_participants_list(session, path, &opts, &list) == ZKR_OK &&
        list->semaphore;

    zkr_participants_free(list);
    return is_one;
}

const char *scan_whole(zkr_session *session, const char *path,
                       char room[ZKR_PATH_MAX + 1])
{
    const char *name = strrchr(path, '/');

    if (name == NULL || name == path ||
        (strcmp(name, "/leases") != 0 && strcmp(name, "/locks") != 0))
        return path;
    (void)snprintf(room, ZKR_PATH_MAX + 1, "%.*s", (int)(name - path), path);
    return is_semaphore(session, room) ? room : path;
}

static int fail_missing(const char *path)
{
    char text[256];

    (void)escape_string(path, text, sizeof(text));
    return lockctl_fail(EX_DATAERR, "%s does not exist", text);
}

static int fail_no_lock(const struct lock *lock)
{
    char text[256];

    (void)escape_string(lock->path, text, sizeof(text));
    return lockctl_fail(EX_DATAERR,
                        "%s is not a lock: of its %zu children none "
                        "contends; zk-lockctl ls %s lists what is below",
                        text, lock->listed, text);
}

static int missing_lock(const char *path, struct lock *ret_lock)
{
    *ret_lock = (struct lock){ .path = strdup(path),
                               .longest_wait_ms = -1,
                               .at_ms = clock_wall_ms() };
    return ret_lock->path == NULL ? lockctl_fail_zkr(ZKR_ENOMEM) : 0;
}

int scan_again(zkr_session *session, const char *path, uint32_t reads,
               struct lock *ret_lock)
{
    char room[ZKR_PATH_MAX + 1];
    int rc;

    path = scan_whole(session, path, room);
    rc = list_reading(session, path, reads, ret_lock);
    if (rc == ZKR_ZNONODE)
        return missing_lock(path, ret_lock);
    return rc == ZKR_OK ? 0 : lockctl_fail_zkr(rc);
}

static int scan_one(zkr_session *session, const char *path, uint32_t reads,
                    bool *missing, bool barriers, struct lock *ret_lock)
{
    char room[ZKR_PATH_MAX + 1];
    struct lock lock;
    int rc;

    path = scan_whole(session, path, room);
    rc = list_reading(session, path, reads, &lock);
    if (missing != NULL)
        *missing = rc == ZKR_ZNONODE;
    if (rc == ZKR_ZNONODE && missing != NULL)
        return missing_lock(path, ret_lock);
    if (rc != ZKR_OK)
        return rc == ZKR_ZNONODE ? fail_missing(path) : lockctl_fail_zkr(rc);
    /* This is not `total`: a node that has gone since then may have been a
     * contender. */
    if (lock.count == 0 && lock.listed > 0 &&
        !(barriers && lock.kind == KIND_BARRIER)) {
        int code = fail_no_lock(&lock);

        lock_done(&lock);
        return code;
    }
    *ret_lock = lock;
    return 0;
}

int scan_lock(zkr_session *session, const char *path, uint32_t reads,
              bool *missing, struct lock *ret_lock)
{
    return scan_one(session, path, reads, missing, false, ret_lock);
}

int scan_shown(zkr_session *session, const char *path, uint32_t reads,
               struct lock *ret_lock)
{
    return scan_one(session, path, reads, NULL, true, ret_lock);
}

const struct contender *lock_holder(const struct lock *lock, int64_t token,
                                    const struct contender *last)
{
    size_t i = last == NULL ? 0 : (size_t)(last - lock->items) + 1;

    for (; i < lock->count; i++) {
        if (lock->items[i].node->holds && lock->items[i].node->token == token)
            return &lock->items[i];
    }
    return NULL;
}

/* --- many --- */

struct listing {
    zkr_session *session;
    const struct zkr_locks *found;
    struct zkr_participants_opts opts;
    struct lock *locks; /* as found->items; no path: it has gone */
    atomic_size_t next;
    atomic_bool failed;
    pthread_mutex_t mutex; /* of the first error: */
    int error;
    char *detail;
};

/* The sentence belongs to this thread. */
static void fail_listing(struct listing *l, int rc)
{
    (void)pthread_mutex_lock(&l->mutex);
    if (!atomic_exchange(&l->failed, true)) {
        l->error = rc;
        (void)snprintf(l->detail, SCAN_DETAIL_MAX, "%s", zkr_error_detail());
    }
    (void)pthread_mutex_unlock(&l->mutex);
}

/* The members of a barrier do not contend: they are told by their sessions. */
static int list_members(struct listing *l, const char *path, struct lock *lock)
{
    struct zkr_participants_opts opts = lock_opts(SCAN_ALL);

    if (lock->count > 0 || lock->read == lock->listed)
        return ZKR_OK;
    lock_done(lock);
    return lock_list(l->session, path, &opts, lock);
}

static int list_one(struct listing *l, size_t i)
{
    struct zkr_locks_item *item = &l->found->items[i];
    struct zkr_participants *list = item->list;
    const char *path = item->path;
    int rc;

    item->list = NULL;
    rc = list == NULL ? lock_list(l->session, path, &l->opts, &l->locks[i])
                      : take_list(path, &l->opts, list, &l->locks[i]);

    if (rc == ZKR_OK)
        rc = list_members(l, path, &l->locks[i]);
    if (rc == ZKR_ZNONODE || rc == ZKR_EPATH) /* the root is no lock */
        return ZKR_OK;
    if (rc != ZKR_ZNOAUTH)
        return rc;
    l->locks[i] = (struct lock){ .path = strdup(path),
                                 .error = rc,
                                 .state = LOCK_UNKNOWN,
                                 .longest_wait_ms = -1,
                                 .at_ms = clock_wall_ms() };
    return l->locks[i].path == NULL ? ZKR_ENOMEM : ZKR_OK;
}

static void *list_some(void *arg)
{
    struct listing *l = arg;

    while (!atomic_load(&l->failed)) {
        size_t i = atomic_fetch_add(&l->next, 1);
        int rc;

        if (i >= l->found->count)
            break;
        rc = list_one(l, i);
        if (rc != ZKR_OK)
            fail_listing(l, rc);
    }
    return NULL;
}

/* This thread is one of them, so it goes on when no other can be made. */
static bool list_all(struct listing *l)
{
    pthread_t threads[LISTERS - 1];
    size_t n = 0;

    while (n < LISTERS - 1 && n + 1 < l->found->count &&
           pthread_create(&threads[n], NULL, list_some, l) == 0)
        n++;
    (void)list_some(l);
    while (n > 0)
        (void)pthread_join(threads[--n], NULL);
    return !atomic_load(&l->failed);
}

static void note_skipped(struct notes *notes, const struct zkr_locks *found)
{
    const char *first = found->skipped_path == NULL ? "?" : found->skipped_path;
    char path[256];
    char more[64] = "";

    (void)escape_string(first, path, sizeof(path));
    if (found->skipped > 1)
        (void)snprintf(more, sizeof(more), ", and %zu more node%s",
                       found->skipped - 1, word_plural(found->skipped - 1));
    notes_add(notes, "%s%s could not be looked at: %s%s", path, more,
              zkr_strerror(found->skipped_error),
              found->skipped_error == ZKR_ZNOAUTH ? "; see --auth-file" : "");
}

static void note_cuts(struct scan *scan, const struct zkr_locks *found)
{
    scan->cut = found->cut != 0;
    if ((found->cut & ZKR_LOCKS_CUT_LIMIT) != 0)
        notes_add(&scan->notes, "there are more locks than %zu", found->count);
    if ((found->cut & ZKR_LOCKS_CUT_DEPTH) != 0)
        notes_add(&scan->notes, "what lies deeper was not looked at");
    if ((found->cut & ZKR_LOCKS_CUT_VISITS) != 0)
        notes_add(&scan->notes, "only the first %zu nodes were looked at",
                  found->visited);
    if ((found->cut & ZKR_LOCKS_CUT_TIME) != 0)
        notes_add(&scan->notes,
                  "the search took too long; it ended after %zu nodes",
                  found->visited);
    scan->denied = found->skipped;
    if (found->skipped > 0)
        note_skipped(&scan->notes, found);
}

static void note_lock(struct scan *scan, const struct lock *lock)
{
    char path[256];

    (void)escape_string(lock->path, path, sizeof(path));
    if (lock->error != ZKR_OK)
        notes_add(&scan->notes, "%s: %s", path, zkr_strerror(lock->error));
    if (lock->cut)
        notes_add(&scan->notes, "%s: only %zu of %zu children are listed", path,
                  lock->listed, lock->total);
}

static void collect(struct scan *scan, const struct zkr_locks *found)
{
    note_cuts(scan, found);
    for (size_t i = 0; i < found->count; i++) {
        struct lock *lock = &scan->locks[i];

        if (lock->path == NULL)
            continue;
        if (found->items[i].pzxid != found->items[i].czxid)
            lock->pzxid = found->items[i].pzxid;
        note_lock(scan, lock);
        scan->locks[scan->count] = *lock;
        if (scan->count++ != i)
            *lock = (struct lock){ .path = NULL };
    }
}

bool scan_take_within(struct scan_opts *opts)
{
    int64_t ms;

    if (!lockctl_take_duration("--within", &ms))
        return false;
    opts->timeout_ms = ms > 0 ? (uint32_t)ms : 1;
    return true;
}

static struct zkr_locks_opts find_opts(const struct scan_opts *opts)
{
    struct zkr_locks_opts find = ZKR_LOCKS_OPTS_INIT;

    if (opts->empty)
        find.flags |= ZKR_LOCKS_EMPTY;
    if (opts->barriers)
        find.flags |= ZKR_LOCKS_BARRIERS;
    find.depth = opts->depth;
    find.limit = opts->limit;
    find.timeout_ms = opts->timeout_ms;
    return find;
}

static struct listing new_listing(zkr_session *session,
                                  const struct scan_opts *opts, char *detail)
{
    struct listing l = { .session = session,
                         .opts = lock_opts(opts->reads),
                         .mutex = PTHREAD_MUTEX_INITIALIZER,
                         .detail = detail };

    if (opts->acl)
        l.opts.flags |= ZKR_PARTICIPANTS_ACL;
    return l;
}

static int list_found(struct listing *l, struct scan *ret_scan)
{
    struct scan scan = { .at_ms = clock_wall_ms() };

    scan.locks = calloc(l->found->count + 1, sizeof(*scan.locks));
    l->locks = scan.locks;
    if (scan.locks == NULL)
        return ZKR_ENOMEM;
    if (list_all(l)) {
        collect(&scan, l->found);
        *ret_scan = scan;
        return ZKR_OK;
    }
    scan.count = l->found->count;
    scan_done(&scan);
    return l->error;
}

int locks_list(zkr_session *session, const char *root,
               const struct scan_opts *opts, struct scan *ret_scan,
               char detail[SCAN_DETAIL_MAX])
{
    struct zkr_locks_opts find = find_opts(opts);
    struct zkr_locks *found = NULL;
    struct listing l = new_listing(session, opts, detail);
    int64_t began_ms = clock_wall_ms();
    char room[ZKR_PATH_MAX + 1];
    int rc;

    find.participants = &l.opts;
    rc =
        zkr_locks_find(session, scan_whole(session, root, room), &find, &found);
    detail[0] = '\0';
    if (rc != ZKR_OK) {
        (void)snprintf(detail, SCAN_DETAIL_MAX, "%s", zkr_error_detail());
        return rc;
    }
    l.found = found;
    rc = list_found(&l, ret_scan);
    if (rc == ZKR_OK)
        ret_scan->began_ms = began_ms;
    zkr_locks_free(found);
    return rc;
}

int scan_below(zkr_session *session, const char *root,
               const struct scan_opts *opts, struct scan *ret_scan)
{
    char detail[SCAN_DETAIL_MAX];
    int rc = locks_list(session, root, opts, ret_scan, detail);

    if (rc == ZKR_OK)
        return 0;
    return rc == ZKR_ZNONODE ? fail_missing(root)
                             : lockctl_fail_error(rc, detail);
}

int scan_some(zkr_session *session, const struct scan *of, const bool *wanted,
              const struct scan_opts *opts, struct scan *ret_scan)
{
    char detail[SCAN_DETAIL_MAX] = "";
    struct listing l = new_listing(session, opts, detail);
    struct zkr_locks some = { .items = NULL };
    int rc = ZKR_ENOMEM;

    some.items = calloc(of->count + 1, sizeof(*some.items));
    for (size_t i = 0; some.items != NULL && i < of->count; i++) {
        if (wanted[i])
            some.items[some.count++].path = of->locks[i].path;
    }
    l.found = &some;
    if (some.items != NULL)
        rc = list_found(&l, ret_scan);
    free(some.items);
    return rc == ZKR_OK ? 0 : lockctl_fail_error(rc, detail);
}

int scan_code(const struct scan *scan, int code)
{
    if (code != 0 || scan->count > 0 || scan->denied == 0)
        return code;
    return lockctl_fail(EX_NOPERM,
                        "no locks seen, but some nodes may not be read");
}

void lock_done(struct lock *lock)
{
    zkr_participants_free(lock->list);
    free(lock->items);
    free(lock->path);
    *lock = (struct lock){ .path = NULL };
}

void scan_done(struct scan *scan)
{
    for (size_t i = 0; i < scan->count; i++)
        lock_done(&scan->locks[i]);
    free(scan->locks);
    notes_done(&scan->notes);
    *scan = (struct scan){ .locks = NULL };
}
