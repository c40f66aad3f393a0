/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of the locks at and below some paths, which watches keep up to date.
 */
#include "model/mirror.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/grow.h"
#include "common/lockctl.h"
#include "common/now.h"
#include "common/words.h"
#include "model/tree.h"
#include "protocol/parts.h"
#include "protocol/roster.h"

struct mirror {
    struct tree tree;
    zkr_listener *listener;
    int64_t lost_ms;  /* since when there is no connection; 0: there is one */
    int64_t since_ms; /* of a break that was not taken; 0: none */
};

/* --- the connection --- */

static void take_state(struct mirror *m, enum zkr_session_state_kind state)
{
    switch (state) {
    case ZKR_SESSION_SUSPENDED:
    case ZKR_SESSION_LOST:
        m->tree.breaks++;
        if (m->lost_ms == 0)
            m->lost_ms = clock_wall_ms();
        break;
    case ZKR_SESSION_CONNECTED:
    case ZKR_SESSION_RECONNECTED:
        if (m->lost_ms != 0 && m->since_ms == 0)
            m->since_ms = m->lost_ms;
        m->lost_ms = 0;
        break;
    case ZKR_SESSION_CONNECTING:
    case ZKR_SESSION_AUTH_FAILED:
    case ZKR_SESSION_CLOSED:
        break;
    }
}

static void on_state(zkr_session *session,
                     const struct zkr_session_event *event, void *user)
{
    struct mirror *m = user;

    (void)session;
    (void)pthread_mutex_lock(&m->tree.mutex);
    take_state(m, event->state);
    tree_unlock_and_wake(&m->tree);
}

bool mirror_take_break(struct mirror *m, int64_t *ret_since_ms)
{
    bool any;

    (void)pthread_mutex_lock(&m->tree.mutex);
    any = m->since_ms != 0;
    *ret_since_ms = m->since_ms;
    m->since_ms = 0;
    (void)pthread_mutex_unlock(&m->tree.mutex);
    return any;
}

/* --- beginning and end --- */

static int begin(struct mirror *m)
{
    const struct mirror_opts *o = &m->tree.opts;
    int64_t left = o->end_ms - clock_now_ms();

    if (o->once)
        return zkr_session_sync(o->session, left > 0 ? left : 1);
    return zkr_session_listen(o->session, on_state, m, &m->listener);
}

const char *mirror_path(const struct mirror *m, size_t n)
{
    return n < m->tree.root_count ? m->tree.roots[n]->path : NULL;
}

static bool has_root(const struct mirror *m, const char *path)
{
    const char *root = "";

    for (size_t i = 0; root != NULL && strcmp(root, path) != 0; i++)
        root = mirror_path(m, i);
    return root != NULL;
}

static bool add_roots(struct mirror *m)
{
    struct tree *t = &m->tree;
    bool added = t->roots != NULL;

    for (size_t i = 0; added && i < t->opts.path_count; i++) {
        char room[ZKR_PATH_MAX + 1];
        const char *path = scan_whole(t->opts.session, t->opts.paths[i], room);

        (void)pthread_mutex_lock(&t->mutex);
        added = has_root(m, path) || tree_add_root(t, path);
        tree_read_some(t);
        (void)pthread_mutex_unlock(&t->mutex);
    }
    return added;
}

int mirror_start(const struct mirror_opts *opts, struct mirror **ret_mirror)
{
    struct mirror *m = calloc(1, sizeof(*m));
    struct tree *t = &m->tree;
    pthread_condattr_t attr;
    int rc;

    if (m == NULL)
        return ZKR_ENOMEM;
    t->opts = *opts;
    t->queue_end = &t->queue;
    t->dirs_queue_end = &t->dirs_queue;
    t->news_end = &t->news;
    t->heard_ms = clock_now_ms();
    (void)pthread_mutex_init(&t->mutex, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&t->changed, &attr);
    (void)pthread_condattr_destroy(&attr);
    t->roots = calloc(opts->path_count + 1, sizeof(struct dir *));
    *ret_mirror = m;
    rc = begin(m);
    if (rc != ZKR_OK)
        return rc;
    return add_roots(m) ? ZKR_OK : ZKR_ENOMEM;
}

int mirror_follow(const struct lockctl *ctl, const char *path, uint32_t reads,
                  struct mirror **ret_mirror)
{
    const struct mirror_opts opts = { .session = ctl->session,
                                      .paths = &path,
                                      .path_count = 1,
                                      .chroot_len = lockctl_chroot_len(ctl),
                                      .foreign = reads < SCAN_NEXT,
                                      .reads = reads,
                                      .pause_ms = 100 };
    int rc = mirror_start(&opts, ret_mirror);

    return rc == ZKR_OK ? 0 : lockctl_fail_error(rc, zkr_error_detail());
}

/* What is under way still uses the mirror. */
static bool is_under_way(const struct tree *t)
{
    return t->reading + t->listing > 0 ||
           (t->unsettled > 0 && !t->late && t->error == ZKR_OK);
}

/* The error of the first of the paths that has one, which is not that it is
 * missing. */
static int check(const struct tree *t, char detail[SCAN_DETAIL_MAX])
{
    for (size_t i = 0; i < t->root_count; i++) {
        int error = t->roots[i]->error;

        if (error == ZKR_OK || error == ZKR_ZNONODE)
            continue;
        (void)snprintf(detail, SCAN_DETAIL_MAX, "cannot list %s: %s",
                       t->roots[i]->path, zkr_strerror(error));
        return error;
    }
    return ZKR_OK;
}

/* A path given that is no directory has no locks to show. */
int mirror_wait(struct mirror *m, char detail[SCAN_DETAIL_MAX])
{
    struct tree *t = &m->tree;
    int rc;

    (void)pthread_mutex_lock(&t->mutex);
    while (is_under_way(t))
        (void)pthread_cond_wait(&t->changed, &t->mutex);
    rc = t->error;
    (void)snprintf(detail, SCAN_DETAIL_MAX, "%s", t->detail);
    if (rc == ZKR_OK && t->opts.below)
        rc = check(t, detail);
    (void)pthread_mutex_unlock(&t->mutex);
    return rc;
}

static void free_news(struct tree *t)
{
    while (t->news != NULL) {
        struct dir *p = t->news;

        t->news = p->next;
        if (p->dropped)
            tree_free_dir(p);
    }
}

void mirror_end(struct mirror *m)
{
    if (m == NULL)
        return;
    zkr_listener_free(m->listener);
    tree_free_queue(&m->tree);
    free_news(&m->tree);
    for (size_t i = 0; i < m->tree.root_count; i++)
        tree_free_dir(m->tree.roots[i]);
    free(m->tree.roots);
    (void)pthread_cond_destroy(&m->tree.changed);
    (void)pthread_mutex_destroy(&m->tree.mutex);
    free(m);
}

/* --- its state --- */

bool mirror_is_ready(struct mirror *m, int64_t patience_ms, int *ret_error,
                     char detail[SCAN_DETAIL_MAX])
{
    struct tree *t = &m->tree;
    bool settled;

    detail[0] = '\0';
    (void)pthread_mutex_lock(&t->mutex);
    settled = t->unsettled == 0;
    t->started = t->started || settled;
    *ret_error = settled                                      ? check(t, detail)
                 : clock_now_ms() - t->heard_ms > patience_ms ? ZKR_EUNREACHABLE
                                                              : ZKR_OK;
    (void)pthread_mutex_unlock(&t->mutex);
    if (!settled && *ret_error != ZKR_OK)
        (void)strcpy(detail, "the servers do not answer in time");
    return settled || *ret_error != ZKR_OK;
}

static bool is_missing(const struct tree *t)
{
    bool missing = true;

    for (size_t i = 0; i < t->root_count; i++)
        missing = missing && t->roots[i]->error == ZKR_ZNONODE;
    return missing;
}

bool mirror_tick(struct mirror *m)
{
    bool is_time;

    (void)pthread_mutex_lock(&m->tree.mutex);
    is_time = tree_tick(&m->tree);
    (void)pthread_mutex_unlock(&m->tree.mutex);
    return is_time;
}

void mirror_poll_now(struct mirror *m)
{
    (void)pthread_mutex_lock(&m->tree.mutex);
    m->tree.round_ms = 0;
    (void)pthread_mutex_unlock(&m->tree.mutex);
}

/* --- a lock --- */

/* The directory with the leases, or with the queue, of a semaphore. */
static const struct dir *part_of(const struct dir *p, enum zkr__part part)
{
    const struct kid *k =
        strcmp(p->path, "/") == 0 ? NULL : dir_kid(p, zkr__part_dirs[part]);

    return k == NULL ? NULL : k->dir;
}

/* The nodes of a lock, for the roster. */
struct nodes {
    struct zkr_participant *items;
    size_t count;
    size_t room;
    char **names; /* of the nodes in the parts */
    size_t name_count;
};

/* A directory that is named like a contender is none. */
static bool is_node(const struct kid *k)
{
    return !k->contends || (!kid_is_directory(k) && (k->read || !k->deleted));
}

/* The parts are added with what is in them. */
static bool is_part(const struct kid *k)
{
    return zkr__part_of_dir(k->name) != ZKR__PART_PATH;
}

static bool reserve(struct nodes *nodes, size_t more)
{
    size_t room = nodes->count + more + 2;
    struct zkr_participant *items =
        realloc(nodes->items, room * sizeof(*items));
    char **names =
        items == NULL ? NULL : realloc(nodes->names, room * sizeof(*names));

    if (items != NULL)
        nodes->items = items;
    if (names != NULL)
        nodes->names = names;
    nodes->room = room;
    return names != NULL;
}

static bool add_part(struct nodes *nodes, const struct dir *p,
                     enum zkr__part part)
{
    const char *name = zkr__part_dirs[part];

    if (p == NULL || p->dropped || (!p->listed && p->error != ZKR_ZNOAUTH))
        return true;
    if (!reserve(nodes, p->count))
        return false;
    nodes->items[nodes->count++] = (struct zkr_participant){ .name = name };
    for (size_t i = 0; i < p->count; i++) {
        const struct kid *k = p->kids[i];
        size_t size = strlen(name) + strlen(k->name) + 2;
        char *full = is_node(k) ? malloc(size) : NULL;

        if (!is_node(k))
            continue;
        if (full == NULL)
            return false;
        (void)snprintf(full, size, "%s/%s", name, k->name);
        nodes->names[nodes->name_count++] = full;
        nodes->items[nodes->count] = k->node;
        nodes->items[nodes->count++].name = full;
    }
    return true;
}

static bool collect(struct nodes *nodes, const struct dir *p)
{
    if (!reserve(nodes, p->count))
        return false;
    for (size_t i = 0; i < p->count; i++) {
        if (is_node(p->kids[i]) && !is_part(p->kids[i]))
            nodes->items[nodes->count++] = p->kids[i]->node;
    }
    return add_part(nodes, part_of(p, ZKR__PART_LEASES), ZKR__PART_LEASES) &&
           add_part(nodes, part_of(p, ZKR__PART_QUEUE), ZKR__PART_QUEUE);
}

static void free_nodes(struct nodes *nodes)
{
    for (size_t i = 0; i < nodes->name_count; i++)
        free(nodes->names[i]);
    free(nodes->names);
    free(nodes->items);
}

/* A directory whose leases may not be read may be a semaphore: then the queue
 * alone would look like a mutex. */
static int error_of(const struct dir *p)
{
    const struct dir *leases = part_of(p, ZKR__PART_LEASES);

    if (p->error != ZKR_OK && p->error != ZKR_ZNONODE)
        return p->error;
    return leases != NULL && leases->error == ZKR_ZNOAUTH ? ZKR_ZNOAUTH
                                                          : ZKR_OK;
}

static int64_t later(const struct dir *a, int64_t b)
{
    return a != NULL && a->seen_ms > b ? a->seen_ms : b;
}

static int64_t seen_ms(const struct dir *p)
{
    return later(part_of(p, ZKR__PART_LEASES),
                 later(part_of(p, ZKR__PART_QUEUE), p->seen_ms));
}

static bool is_in_semaphore(const struct dir *p)
{
    return dir_part(p) != ZKR__PART_PATH && p->as->in->semaphore;
}

/* ZKR_OK or ZKR_ENOMEM. */
static int make_lock(struct dir *p, int64_t at_ms, struct lock *ret_lock)
{
    struct nodes nodes = { .items = NULL };
    struct zkr_participants *list = NULL;
    int rc;

    if (is_in_semaphore(p) || collect(&nodes, p))
        list = zkr__roster_make(nodes.items, nodes.count);
    free_nodes(&nodes);
    if (list == NULL)
        return ZKR_ENOMEM;
    p->semaphore = list->semaphore;
    rc = lock_of(p->path, list, at_ms, ret_lock);
    if (rc != ZKR_OK)
        return rc;
    ret_lock->error = error_of(p);
    if (ret_lock->error != ZKR_OK)
        ret_lock->state = LOCK_UNKNOWN;
    return ZKR_OK;
}

/* --- news --- */

static bool is_idle(const struct dir *p)
{
    return p == NULL ||
           (p->pending == 0 && !p->asking && (p->answered || p->dropped));
}

/* Nothing of it is under way. */
static bool is_ready(const struct dir *p)
{
    if (p->dropped)
        return true;
    if (dir_part(p) != ZKR__PART_PATH && p->as->in->changed)
        return false;
    return is_idle(p) && is_idle(part_of(p, ZKR__PART_LEASES)) &&
           is_idle(part_of(p, ZKR__PART_QUEUE));
}

/* Takes the first that is ready off the list. */
static struct dir *next_news(struct tree *t)
{
    struct dir **at = &t->news;

    while (*at != NULL && !is_ready(*at)) {
        tree_hold_back_if_late(*at);
        at = &(*at)->next;
    }
    if (*at != NULL) {
        struct dir *p = *at;

        *at = p->next;
        if (t->news_end == &p->next)
            t->news_end = at;
        return p;
    }
    return NULL;
}

/* The first change counts. */
static void take_before(struct dir *p, struct news *news)
{
    if (p->before_ms != 0 &&
        (news->before_ms == 0 || p->before_ms < news->before_ms))
        news->before_ms = p->before_ms;
    p->before_ms = 0;
}

/* What was missed in a part of a semaphore was missed of the semaphore. */
static void take_missed(struct dir *p, struct news *news)
{
    take_before(p, news);
    news->missed += p->missed;
    news->lost = news->lost || p->lost;
    p->missed = 0;
    p->lost = false;
    tree_take_kids(p);
}

static void take_missed_of(struct dir *p, enum zkr__part part,
                           struct news *news)
{
    struct kid *k = dir_kid(p, zkr__part_dirs[part]);

    if (p->semaphore && k != NULL && k->dir != NULL)
        take_missed(k->dir, news);
}

static int take(struct dir *p, struct news *ret_news)
{
    int64_t at_ms = seen_ms(p);
    bool was = p->semaphore;
    int rc;

    *ret_news = (struct news){ .first = !p->taken && !p->fresh };
    rc = make_lock(p, at_ms, &ret_news->lock);
    take_missed(p, ret_news);
    take_missed_of(p, ZKR__PART_LEASES, ret_news);
    take_missed_of(p, ZKR__PART_QUEUE, ret_news);
    if (ret_news->before_ms == 0)
        ret_news->before_ms = tree_before_ms(p, at_ms);
    if (rc == ZKR_OK && was != p->semaphore)
        tree_change_parts(p);
    tree_take_news(p);
    return rc;
}

static void wait_until(struct tree *t, int64_t end_ms)
{
    const struct timespec end = { .tv_sec = (time_t)(end_ms / 1000),
                                  .tv_nsec = (long)(end_ms % 1000) * 1000000 };

    (void)pthread_cond_timedwait(&t->changed, &t->mutex, &end);
}

static bool await(struct mirror *m, int64_t end_ms, struct news *ret_news,
                  int *ret_error)
{
    struct tree *t = &m->tree;
    struct dir *p;

    (void)pthread_mutex_lock(&t->mutex);
    for (;;) {
        int64_t now_ms = clock_now_ms();

        *ret_error = t->error;
        p = *ret_error == ZKR_OK ? next_news(t) : NULL;
        if (p != NULL || *ret_error != ZKR_OK || now_ms >= end_ms ||
            m->lost_ms != 0)
            break;
        (void)tree_tick(t);
        wait_until(t, end_ms - now_ms < TICK_MS ? end_ms : now_ms + TICK_MS);
    }
    if (p != NULL)
        *ret_error = take(p, ret_news);
    (void)pthread_mutex_unlock(&t->mutex);
    return p != NULL && *ret_error == ZKR_OK;
}

bool mirror_take(struct mirror *m, struct news *ret_news, int *ret_error)
{
    return await(m, 0, ret_news, ret_error);
}

/* The directories of a semaphore have news of their own. */
bool mirror_next(struct mirror *m, int64_t end_ms, struct lock *ret_lock,
                 int *ret_error)
{
    struct news news;

    while (await(m, end_ms, &news, ret_error)) {
        *ret_lock = news.lock;
        if (strcmp(news.lock.path, m->tree.roots[0]->path) == 0)
            return true;
        lock_done(ret_lock);
    }
    return false;
}

/* --- all of it --- */

/* A growing list of locks, and of what stands in the way. */
struct census {
    struct scan *scan;
    const struct dir *denied; /* the first */
    int rc;
};

/* A directory without children may be a lock that nobody wants at present. */
static bool is_empty_lock(const struct dir *p, const struct lock *lock)
{
    return !is_in_semaphore(p) && p->listed &&
           (lock->kind == ZKR__KIND_SEMAPHORE ||
            (p->stat.children == 0 && p->stat.data_len <= 0));
}

static bool is_wanted(const struct dir *p, const struct lock *lock)
{
    const struct mirror_opts *o = &p->tree->opts;

    if (lock->kind == ZKR__KIND_BARRIER)
        return o->barriers;
    if (!o->below)
        return p->as == NULL;
    return lock->count > 0 || (o->empty && is_empty_lock(p, lock));
}

static void count_lock(struct census *c, struct dir *p)
{
    struct lock *added = NULL;
    struct lock lock;

    c->rc = make_lock(p, c->scan->at_ms, &lock);
    if (c->rc != ZKR_OK)
        return;
    if (is_wanted(p, &lock)) {
        added = grow_array(&c->scan->locks, &c->scan->count, sizeof(lock));
        c->rc = added == NULL ? ZKR_ENOMEM : ZKR_OK;
    }
    if (added != NULL)
        *added = lock;
    else
        lock_done(&lock);
}

static bool is_denied(const struct dir *p)
{
    return p->answered && p->error != ZKR_OK && p->error != ZKR_ZNONODE;
}

static void count_dir(struct census *c, struct dir *p, bool locks)
{
    if (is_denied(p)) {
        if (c->denied == NULL)
            c->denied = p;
        c->scan->denied++;
    }
    if (locks && (p->listed || (is_denied(p) && !p->tree->opts.below)))
        count_lock(c, p);
    for (size_t i = 0; c->rc == ZKR_OK && i < p->count; i++) {
        if (p->kids[i]->dir != NULL)
            count_dir(c, p->kids[i]->dir, locks);
    }
}

static void note_cuts(const struct tree *t, struct notes *notes)
{
    if ((t->cut & TREE_CUT_DEPTH) != 0 && t->opts.once)
        notes_add(notes, "what lies deeper was not looked at");
    if ((t->cut & TREE_CUT_VISITS) != 0 && t->opts.once)
        notes_add(notes, "only the first %zu nodes were looked at", t->visited);
    if (t->late)
        notes_add(notes, "the search took too long; it ended after %zu nodes",
                  t->visited);
    if (t->cut != 0 && !t->opts.once)
        notes_add(notes,
                  "there are more directories than can be watched: some are "
                  "looked at only every 10s, or not at all");
}

static void note(const struct mirror *m, const struct census *c,
                 struct notes *notes)
{
    char more[64] = "";
    char path[256];

    note_cuts(&m->tree, notes);
    if (c->denied == NULL)
        return;
    (void)escape_string(c->denied->path, path, sizeof(path));
    if (c->scan->denied > 1)
        (void)snprintf(more, sizeof(more), ", and %zu more node%s",
                       c->scan->denied - 1, word_plural(c->scan->denied - 1));
    notes_add(notes, "%s%s could not be looked at: %s%s", path, more,
              zkr_strerror(c->denied->error),
              c->denied->error == ZKR_ZNOAUTH ? "; see --auth-file" : "");
}

static void count_all_locked(struct mirror *m, struct census *c, bool locks)
{
    for (size_t i = 0; c->rc == ZKR_OK && i < m->tree.root_count; i++)
        count_dir(c, m->tree.roots[i], locks);
}

void mirror_note(struct mirror *m, struct notes *notes)
{
    struct scan scan = { .locks = NULL };
    struct census c = { .scan = &scan };

    (void)pthread_mutex_lock(&m->tree.mutex);
    if (m->tree.unwatched > 0)
        count_all_locked(m, &c, false);
    note(m, &c, notes);
    (void)pthread_mutex_unlock(&m->tree.mutex);
}

static void take_all_news(struct tree *t)
{
    while (t->news != NULL) {
        struct dir *p = t->news;

        t->news = p->next;
        tree_take_news(p);
    }
    t->news_end = &t->news;
}

/* One path may be below another. */
static void sort(struct scan *scan)
{
    size_t n = 0;

    if (scan->count == 0)
        return;
    qsort(scan->locks, scan->count, sizeof(*scan->locks), lock_by_path);
    for (size_t i = 1; i < scan->count; i++) {
        if (lock_by_path(&scan->locks[n], &scan->locks[i]) == 0)
            lock_done(&scan->locks[i]);
        else
            scan->locks[++n] = scan->locks[i];
    }
    scan->count = n + 1;
}

static void limit(struct mirror *m, struct scan *scan)
{
    size_t most = m->tree.opts.limit;

    if (most == 0 || scan->count <= most)
        return;
    notes_add(&scan->notes, "there are more locks than %zu", most);
    scan->cut = true;
    while (scan->count > most)
        lock_done(&scan->locks[--scan->count]);
}

int mirror_scan(struct mirror *m, struct scan *ret_scan)
{
    struct scan scan = { .at_ms = clock_wall_ms() };
    struct census c = { .scan = &scan };

    (void)pthread_mutex_lock(&m->tree.mutex);
    take_all_news(&m->tree);
    c.rc = m->tree.error;
    count_all_locked(m, &c, true);
    note(m, &c, &scan.notes);
    scan.cut = m->tree.cut != 0 || m->tree.late;
    scan.missing = is_missing(&m->tree);
    (void)pthread_mutex_unlock(&m->tree.mutex);
    if (c.rc != ZKR_OK) {
        scan_done(&scan);
        return c.rc;
    }
    sort(&scan);
    limit(m, &scan);
    *ret_scan = scan;
    return ZKR_OK;
}
