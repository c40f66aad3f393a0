/* SPDX-License-Identifier: Apache-2.0 */
#include "model/mirror.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "common/lockctl.h"
#include "common/now.h"
#include "common/words.h"
#include "model/tree.h"
#include "protocol/parts.h"
#include "protocol/roster.h"

/* --- the connection --- */

bool mirror_take_break(struct mirror *m, int64_t *ret_since_ms)
{
    (void)pthread_mutex_lock(&m->mutex);
    bool any = m->since_ms != 0;
    *ret_since_ms = m->since_ms;
    m->since_ms = 0;
    (void)pthread_mutex_unlock(&m->mutex);
    return any;
}

/* --- beginning and end --- */

static bool has_root(const struct mirror *m, const char *path)
{
    for (size_t i = 0; i < m->root_count; i++) {
        if (strcmp(m->roots[i]->path, path) == 0)
            return true;
    }
    return false;
}

static void add_roots(struct mirror *m)
{
    for (size_t i = 0; i < m->opts.path_count; i++) {
        char room[ZKR_PATH_MAX + 1];
        const char *path =
            scan_whole(m->opts.ctl->session, m->opts.paths[i], room);

        (void)pthread_mutex_lock(&m->mutex);
        if (!has_root(m, path))
            tree_add_root(m, path);
        tree_ask(m);
        (void)pthread_mutex_unlock(&m->mutex);
    }
}

int mirror_start(const struct mirror_opts *opts, struct mirror **ret_mirror)
{
    struct mirror *m = enough(calloc(1, sizeof(*m)));
    pthread_condattr_t attr;

    m->opts = *opts;
    m->chroot_len = lockctl_chroot_len(opts->ctl);
    m->reads.end = &m->reads.first;
    m->lists.end = &m->lists.first;
    m->news.end = &m->news.first;
    m->heard_ms = clock_now_ms();
    m->end_ms = m->heard_ms + opts->look.timeout_ms;
    (void)pthread_mutex_init(&m->mutex, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&m->changed, &attr);
    (void)pthread_condattr_destroy(&attr);
    m->roots = enough(calloc(opts->path_count + 1, sizeof(struct znode *)));
    *ret_mirror = m;
    int rc = sessions_add(m, opts->ctl->session);
    if (rc == ZKR_OK && opts->once)
        rc = zkr_session_sync(opts->ctl->session, opts->look.timeout_ms);
    if (rc == ZKR_OK)
        add_roots(m);
    return rc;
}

int mirror_follow(const struct lockctl *ctl, const char *path, uint32_t reads,
                  struct mirror **ret_mirror)
{
    const struct mirror_opts opts = { .ctl = ctl,
                                      .paths = &path,
                                      .path_count = 1,
                                      .foreign = reads < SCAN_NEXT,
                                      .look.reads = reads,
                                      .pause_ms = 100 };
    int rc = mirror_start(&opts, ret_mirror);

    return rc == ZKR_OK ? 0 : lockctl_fail_error(rc, zkr_error_detail());
}

/* What is under way still uses the mirror. */
static bool is_under_way(const struct mirror *t)
{
    return t->asking > 0 ||
           (t->unsettled > 0 && !t->late && t->error == ZKR_OK);
}

/* The error of the first of the paths that has one, which is not that it is
 * missing. */
static int check(const struct mirror *t, char detail[SCAN_DETAIL_MAX])
{
    for (size_t i = 0; i < t->root_count; i++) {
        int error = znode_refusal(t->roots[i]);

        if (error == ZKR_OK)
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
    (void)pthread_mutex_lock(&m->mutex);
    while (is_under_way(m))
        (void)pthread_cond_wait(&m->changed, &m->mutex);
    int rc = m->error;
    (void)snprintf(detail, SCAN_DETAIL_MAX, "%s", m->detail);
    if (rc == ZKR_OK && m->opts.below)
        rc = check(m, detail);
    (void)pthread_mutex_unlock(&m->mutex);
    return rc;
}

void mirror_end(struct mirror *m)
{
    if (m == NULL)
        return;
    tree_done(m);
    (void)pthread_cond_destroy(&m->changed);
    (void)pthread_mutex_destroy(&m->mutex);
    free(m);
}

/* The callbacks of a session may ask another one, until none does. */
void mirror_close(struct lockctl *ctl, struct mirror *m)
{
    if (m != NULL) {
        (void)pthread_mutex_lock(&m->mutex);
        m->over = true;
        (void)pthread_mutex_unlock(&m->mutex);
    }
    lockctl_disconnect(ctl);
    mirror_end(m);
}

/* --- its state --- */

bool mirror_is_ready(struct mirror *m, int64_t patience_ms, int *ret_error,
                     char detail[SCAN_DETAIL_MAX])
{
    detail[0] = '\0';
    (void)pthread_mutex_lock(&m->mutex);
    bool settled = m->unsettled == 0;
    if (settled && !m->started)
        tree_start(m);
    *ret_error = settled                                      ? check(m, detail)
                 : clock_now_ms() - m->heard_ms > patience_ms ? ZKR_EUNREACHABLE
                                                              : ZKR_OK;
    (void)pthread_mutex_unlock(&m->mutex);
    if (!settled && *ret_error != ZKR_OK)
        (void)strcpy(detail, "the servers do not answer in time");
    return settled || *ret_error != ZKR_OK;
}

bool mirror_tick(struct mirror *m)
{
    (void)pthread_mutex_lock(&m->mutex);
    bool is_time = tree_tick(m);
    (void)pthread_mutex_unlock(&m->mutex);
    return is_time;
}

/* --- a lock --- */

/* A directory that is named like a contender is none. */
static bool is_node(const struct znode *z)
{
    return !znode_contends(z) ||
           (!znode_is_directory(z) &&
            (node_is_read(&z->node) || z->error != ZKR_ZNONODE));
}

/* The parts of a semaphore are added with what is in them. */
static bool is_part(const struct znode *z)
{
    return zkr__part_of_dir(z->name) != ZKR__PART_PATH;
}

static bool may_be_part(const struct znode *z)
{
    return z != NULL && (z->listed || z->error == ZKR_ZNOAUTH);
}

/* The nodes of a lock, for the roster. Their names, "leases/NAME" in a part of
 * a semaphore, are the ends of their paths. */
static struct zkr_participant *collect(const struct znode *z, size_t *ret_count)
{
    const struct znode *dirs[] = { z, dir_of_part(z, ZKR__PART_LEASES),
                                   dir_of_part(z, ZKR__PART_QUEUE) };
    size_t skip = strlen(z->path) + (strcmp(z->path, "/") != 0);
    size_t room = 1;
    size_t n = 0;

    for (size_t i = 0; i < 3; i++)
        room += dirs[i] == NULL ? 0 : dirs[i]->count + 1;
    struct zkr_participant *items = enough(calloc(room, sizeof(*items)));
    for (size_t i = 0; i < 3; i++) {
        if (i > 0 && !may_be_part(dirs[i]))
            continue;
        if (i > 0)
            items[n++].name = dirs[i]->name;
        for (size_t k = 0; k < dirs[i]->count; k++) {
            const struct znode *kid = dirs[i]->kids[k];

            if (!is_node(kid) || (i == 0 && is_part(kid)))
                continue;
            items[n] = kid->node;
            items[n++].name = kid->path + skip;
        }
    }
    *ret_count = n;
    return items;
}

/* A directory whose leases may not be read may be a semaphore: then the queue
 * alone would look like a mutex. */
static int error_of(const struct znode *z)
{
    const struct znode *leases = dir_of_part(z, ZKR__PART_LEASES);
    int error = znode_refusal(z);

    return error == ZKR_OK && leases != NULL && leases->error == ZKR_ZNOAUTH
               ? ZKR_ZNOAUTH
               : error;
}

static int64_t later(const struct znode *a, int64_t b)
{
    return a != NULL && a->seen_ms > b ? a->seen_ms : b;
}

static int64_t seen_ms(const struct znode *z)
{
    return later(dir_of_part(z, ZKR__PART_LEASES),
                 later(dir_of_part(z, ZKR__PART_QUEUE), z->seen_ms));
}

static bool is_in_semaphore(const struct znode *z)
{
    return dir_part(z) != ZKR__PART_PATH && z->in->semaphore;
}

static struct lock make_lock(struct znode *z, int64_t at_ms)
{
    size_t count = 0;
    struct zkr_participant *nodes = collect(z, &count);
    struct zkr_participants *list =
        enough(zkr__roster_make(nodes, is_in_semaphore(z) ? 0 : count));
    struct lock lock = lock_of(z->path, list, at_ms);

    free(nodes);
    z->semaphore = list->semaphore;
    lock.error = error_of(z);
    if (lock.error != ZKR_OK)
        lock.state = LOCK_UNKNOWN;
    return lock;
}

/* --- news --- */

static void take_unseen(struct znode *z, struct unseen *all)
{
    tree_move_unseen(&z->unseen, all);
    tree_take_kids(z);
}

static void take(struct znode *z, struct news *ret_news)
{
    bool was = z->semaphore;

    *ret_news = (struct news){ .first = !z->taken && !z->fresh,
                               .lock = make_lock(z, seen_ms(z)) };
    take_unseen(z, &ret_news->unseen);
    for (enum zkr__part part = ZKR__PART_QUEUE; part > ZKR__PART_PATH; part--) {
        struct znode *kid = dir_of_part(z, part);

        if (z->semaphore && kid != NULL)
            take_unseen(kid, &ret_news->unseen);
    }
    if (was != z->semaphore)
        dir_each_part(z, tree_put_news);
    tree_take_news(z);
}

static void wait_until(struct mirror *t, int64_t end_ms)
{
    const struct timespec end = { .tv_sec = (time_t)(end_ms / 1000),
                                  .tv_nsec = (long)(end_ms % 1000) * 1000000 };

    (void)pthread_cond_timedwait(&t->changed, &t->mutex, &end);
}

static bool await(struct mirror *m, int64_t end_ms, struct news *ret_news)
{
    struct znode *z;

    (void)pthread_mutex_lock(&m->mutex);
    for (;;) {
        int64_t now_ms = clock_now_ms();

        z = tree_next_news(m);
        if (z != NULL || now_ms >= end_ms || m->lost > 0)
            break;
        (void)tree_tick(m);
        wait_until(m, end_ms - now_ms < TICK_MS ? end_ms : now_ms + TICK_MS);
    }
    if (z != NULL)
        take(z, ret_news);
    (void)pthread_mutex_unlock(&m->mutex);
    return z != NULL;
}

bool mirror_take(struct mirror *m, struct news *ret_news)
{
    return await(m, 0, ret_news);
}

/* The directories of a semaphore have news of their own. */
bool mirror_next(struct mirror *m, int64_t end_ms, struct lock *ret_lock)
{
    struct news news;

    while (await(m, end_ms, &news)) {
        *ret_lock = news.lock;
        if (strcmp(news.lock.path, m->roots[0]->path) == 0)
            return true;
        lock_done(ret_lock);
    }
    return false;
}

/* --- all of it --- */

static bool is_wanted(const struct znode *z, const struct lock *lock)
{
    const struct mirror_opts *o = &z->tree->opts;

    if (lock->kind == ZKR__KIND_BARRIER)
        return o->look.barriers;
    if (!o->below)
        return z->in == NULL;
    return lock->count > 0;
}

static void count_lock(struct scan *scan, struct znode *z)
{
    struct lock lock = make_lock(z, scan->at_ms);

    if (is_wanted(z, &lock))
        *(struct lock *)grow_array(&scan->locks, &scan->count, sizeof(lock)) =
            lock;
    else
        lock_done(&lock);
}

static void count_dir(struct scan *scan, struct znode *z, bool locks)
{
    bool denied = znode_refusal(z) != ZKR_OK;

    if (denied && scan->denied++ == 0)
        z->tree->denied = z;
    if (locks && (z->listed || (denied && !z->tree->opts.below)))
        count_lock(scan, z);
    for (size_t i = 0; i < z->count; i++) {
        if (z->kids[i]->is_dir || znode_refusal(z->kids[i]) != ZKR_OK)
            count_dir(scan, z->kids[i], locks);
    }
}

static void note_cuts(const struct mirror *t, struct notes *notes)
{
    if (t->cut && t->opts.once && t->made >= DIRS_MAX)
        notes_add(notes, "only the first %zu nodes were looked at", t->visited);
    if (t->late)
        notes_add(notes, "the search took too long; it ended after %zu nodes",
                  t->visited);
    if (t->cut && !t->opts.once)
        notes_add(notes,
                  "there are more directories than can be watched: some are "
                  "looked at only every 10s, or not at all");
}

static void count_all_locked(struct mirror *m, struct scan *scan, bool locks,
                             struct notes *notes)
{
    char more[64] = "";

    for (size_t i = 0; i < m->root_count; i++)
        count_dir(scan, m->roots[i], locks);
    note_cuts(m, notes);
    if (scan->denied == 0)
        return;
    if (scan->denied > 1)
        (void)snprintf(more, sizeof(more), ", and %zu more node%s",
                       scan->denied - 1, word_plural(scan->denied - 1));
    notes_add(notes, "%.1000s%s could not be looked at: %s%s", m->denied->path,
              more, zkr_strerror(m->denied->error),
              m->denied->error == ZKR_ETOOLONG
                  ? ", 1024 bytes"
                  : lockctl_advice(m->denied->error));
}

void mirror_note(struct mirror *m, struct notes *notes)
{
    struct scan scan = { .locks = NULL };

    (void)pthread_mutex_lock(&m->mutex);
    count_all_locked(m, &scan, false, notes);
    (void)pthread_mutex_unlock(&m->mutex);
}

/* One path may be below another. */
static void sort(struct scan *scan)
{
    size_t n = 0;

    sort_array(scan->locks, scan->count, sizeof(*scan->locks), lock_by_path);
    for (size_t i = 0; i < scan->count; i++) {
        if (n > 0 && lock_by_path(&scan->locks[n - 1], &scan->locks[i]) == 0)
            lock_done(&scan->locks[i]);
        else
            scan->locks[n++] = scan->locks[i];
    }
    scan->count = n;
}

static void limit(struct mirror *m, struct scan *scan)
{
    size_t most = m->opts.look.limit;

    if (most == 0 || scan->count <= most)
        return;
    notes_add(&scan->notes, "there are more locks than %zu", most);
    scan->cut = true;
    while (scan->count > most)
        lock_done(&scan->locks[--scan->count]);
}

struct scan mirror_scan(struct mirror *m)
{
    struct scan scan = { .at_ms = clock_wall_ms() };

    (void)pthread_mutex_lock(&m->mutex);
    tree_take_all_news(m);
    count_all_locked(m, &scan, true, &scan.notes);
    scan.cut = m->cut || m->late;
    scan.missing = true;
    for (size_t i = 0; i < m->root_count; i++)
        scan.missing = scan.missing && m->roots[i]->error == ZKR_ZNONODE;
    (void)pthread_mutex_unlock(&m->mutex);
    sort(&scan);
    limit(m, &scan);
    return scan;
}
