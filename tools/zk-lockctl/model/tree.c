/* SPDX-License-Identifier: Apache-2.0 */
/* The directories and the children that a mirror knows, and what it asks the
 * servers to keep them up to date. */
#include "model/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/now.h"
#include "model/tally.h"
#include "protocol/node_name.h"
#include "protocol/owner.h"
#include "protocol/parts.h"
#include "protocol/roster.h"

enum {
    /* What the servers take from one session after a reconnect: client.h of the
     * library. */
    WATCHED_MAX = 4500,
    WATCHED_BYTES_MAX = 400000,
    DIRS_MAX = 100000,
    DEPTH_MAX = 32,
    READERS = 128,     /* nodes that are read at once */
    READ_MAX = 10000,  /* of one directory */
    POLL_MS = 10000,   /* for what has no watch */
    CHECK_MS = 300000, /* for the watch of a directory */
    POLLS_PER_TICK = 50,
    NAMES_PER_MS = 10, /* a list of 3,000 names makes a pause of 300 ms */
    LATE_MS = 500,     /* a server that answers tells of a change within this */
    PATIENCE_MS = 1000, /* before news that come no more are waited for */
};

static void watch_dir(struct dir *p);
static void list_dir(struct dir *p);
static void ask_dir(struct dir *p);
static void drop_dir(struct dir *p);

/* --- news --- */

static bool is_part(const char *name)
{
    return zkr__part_of_dir(name) != ZKR__PART_PATH;
}

/* The root is no lock. */
enum zkr__part dir_part(const struct dir *p)
{
    if (p->as == NULL || strcmp(p->as->in->path, "/") == 0)
        return ZKR__PART_PATH;
    return zkr__part_of_dir(p->as->name);
}

static void put_news(struct dir *p)
{
    struct tree *t = p->tree;

    if (p->changed)
        return;
    p->changed = true;
    p->changed_ms = clock_now_ms();
    p->next = NULL;
    *t->news_end = p;
    t->news_end = &p->next;
}

/* The lock that it is part of is first: whether it is a lock of its own is
 * known then. */
static void change_dir(struct dir *p)
{
    if (dir_part(p) != ZKR__PART_PATH && !p->dropped)
        put_news(p->as->in);
    put_news(p);
}

static void out_of_memory(struct tree *t)
{
    t->error = ZKR_ENOMEM;
}

/* --- one time --- */

/* The answer says something of the node: it comes neither from the connection
 * nor from the library. */
static bool is_of_the_node(int error)
{
    return error == ZKR_OK || error == ZKR_ZNONODE || error == ZKR_ZNOAUTH;
}

/* A picture that is taken one time, and late, is what was seen by then. */
static void give_up(struct tree *t, int error)
{
    if (t->error != ZKR_OK)
        return;
    if (error == ZKR_EUNREACHABLE && t->visited > 0) {
        t->late = true;
        return;
    }
    t->error = error;
    (void)snprintf(t->detail, sizeof(t->detail), "%s", zkr_error_detail());
}

static bool has_given_up(const struct tree *t)
{
    return t->opts.once && (t->late || t->error != ZKR_OK);
}

/* For a request: until the end of the one time, or for ever. */
static int64_t left_ms(const struct tree *t)
{
    int64_t left = t->opts.end_ms - clock_now_ms();

    return !t->opts.once ? -1 : left > 0 ? left : 1;
}

/* --- what is watched --- */

/* The servers get paths with the chroot. */
static bool may_watch(const struct tree *t, const char *path)
{
    return t->watches < WATCHED_MAX &&
           t->watched_bytes + t->opts.chroot_len + strlen(path) <
               WATCHED_BYTES_MAX;
}

static void count_watch(struct tree *t, const char *path)
{
    t->watches++;
    t->watched_bytes += t->opts.chroot_len + strlen(path);
}

static void free_watch(struct tree *t, zkr_watch **watch, size_t path_len)
{
    if (*watch == NULL)
        return;
    zkr_watch_free(*watch);
    *watch = NULL;
    t->watches--;
    t->watched_bytes -= t->opts.chroot_len + path_len;
}

static size_t kid_path_len(const struct kid *k)
{
    return strlen(k->in->path) + 1 + strlen(k->name);
}

static void unwatch_dir(struct dir *p)
{
    free_watch(p->tree, &p->watch, strlen(p->path));
    p->watched = false;
}

static void unwatch_kid(struct kid *k)
{
    free_watch(k->tree, &k->watch, kid_path_len(k));
}

static char *join(const char *dir, const char *name)
{
    size_t size = strlen(dir) + strlen(name) + 2;
    char *path = malloc(size);

    if (path != NULL)
        (void)snprintf(path, size, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir,
                       name);
    return path;
}

static int64_t pause_of(const struct dir *p)
{
    return p->tree->opts.pause_ms + (int64_t)(p->count / NAMES_PER_MS);
}

/* --- children --- */

static void free_kid(struct kid *k)
{
    free((void *)(uintptr_t)k->node.data);
    free(k->name);
    free(k);
}

static void end_pending(struct kid *k)
{
    if (!k->pending)
        return;
    k->pending = false;
    k->in->pending--;
    k->tree->unsettled -= k->first;
    k->first = false;
}

static void begin_pending(struct kid *k)
{
    if (k->pending || k->read)
        return;
    k->pending = true;
    k->in->pending++;
    k->first = k->tree->opts.once || !k->in->settled;
    k->tree->unsettled += k->first;
}

/* A node that goes before anybody has taken the news of it has come and gone
 * unseen. */
static void drop_kid(struct kid *k)
{
    end_pending(k);
    k->in->missed += k->tree->started && !k->taken;
    unwatch_kid(k);
    if (k->dir != NULL)
        drop_dir(k->dir);
    k->dir = NULL;
    if (k->asking || k->queued)
        k->dropped = true;
    else
        free_kid(k);
}

static void take_data(struct kid *k, const struct zkr_reply *reply)
{
    size_t size = reply->len < ZKR_PARTICIPANT_DATA_MAX
                      ? reply->len
                      : ZKR_PARTICIPANT_DATA_MAX;
    char *data = malloc(size + 1);

    if (data == NULL) {
        out_of_memory(k->tree);
        size = 0;
    } else {
        if (size > 0)
            (void)memcpy(data, reply->data, size);
        data[size] = '\0';
    }
    free((void *)(uintptr_t)k->node.data);
    k->node.data = data;
    k->node.data_size = data == NULL ? 0 : size;
    k->node.full_size = reply->len;
}

static void take_stat(struct kid *k, const struct zkr_stat *stat)
{
    k->node.token = stat->czxid;
    k->node.session_id = stat->ephemeral_owner;
    k->node.since_ms = stat->ctime_ms;
}

/* The list of the directory follows, unless its watch is silent. */
static void expect_list(struct dir *p)
{
    int64_t end_ms = clock_now_ms() + pause_of(p) + LATE_MS;

    if (end_ms < p->check_ms)
        p->check_ms = end_ms;
}

static void settle_kids(struct dir *p);
static void queue_dir(struct dir *p);

/* One time: the next in the queue is read instead. Where all who contended have
 * gone, others may contend since. */
static void read_others(struct dir *p)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->kids[i]->contends && !p->kids[i]->deleted) {
            settle_kids(p);
            return;
        }
    }
    if (!p->answered)
        return;
    p->answered = false;
    p->tree->unsettled++;
    queue_dir(p);
}

/* If the list of the directory, when it is watched, came first, another node
 * may have the name already. */
static void take_deleted(struct kid *k)
{
    k->deleted = true;
    unwatch_kid(k);
    if (k->pending)
        change_dir(k->in);
    end_pending(k);
    if (k->tree->opts.once)
        read_others(k->in);
    else if (k->in->watch == NULL || !zkr__node_name_is_numbered(k->name))
        ask_dir(k->in);
    else
        expect_list(k->in);
}

static void make_dir(struct kid *k);
static void follow_kid(struct kid *k);

bool kid_is_directory(const struct kid *k)
{
    return k->dir != NULL ||
           (k->tree->opts.below && k->read && k->node.error == ZKR_OK &&
            !zkr__node_name_is_numbered(k->name) &&
            !zkr__owner_is_session(k->node.session_id));
}

/* A read of a node, by its watch or without. */
static void take_read(struct kid *k, int error, const struct zkr_reply *reply)
{
    struct dir *in = k->in;
    struct tree *t = in->tree;

    t->heard_ms = clock_now_ms();
    if (error == ZKR_ZNONODE) {
        take_deleted(k);
        return;
    }
    if (error != ZKR_OK)
        unwatch_kid(k); /* it would be repeated */
    k->node.error = error;
    if (error == ZKR_OK) {
        take_stat(k, &reply->stat);
        take_data(k, reply);
    }
    k->read = true;
    end_pending(k);
    in->seen_ms = clock_wall_ms();
    change_dir(in);
    if (kid_is_directory(k)) {
        unwatch_kid(k);
        make_dir(k);
    } else {
        follow_kid(k);
    }
}

void tree_unlock_and_wake(struct tree *t)
{
    void (*wake)(void *user) = t->opts.wake;
    void *user = t->opts.user;

    (void)pthread_cond_broadcast(&t->changed);
    (void)pthread_mutex_unlock(&t->mutex);
    if (wake != NULL)
        wake(user);
}

static void on_data(int error, const struct zkr_reply *reply,
                    enum zkr_watch_why why, void *user)
{
    struct kid *k = user;
    struct tree *t = k->tree;

    (void)why;
    (void)pthread_mutex_lock(&t->mutex);
    take_read(k, error, reply);
    tree_unlock_and_wake(t);
}

static void on_get(int error, const struct zkr_reply *reply, void *user)
{
    struct kid *k = user;
    struct tree *t = k->tree;

    (void)pthread_mutex_lock(&t->mutex);
    t->reading--;
    k->asking = false;
    if (k->dropped)
        free_kid(k);
    else if (t->opts.once && !is_of_the_node(error))
        give_up(t, error);
    else if (error != ZKR_ECLOSED)
        take_read(k, error, reply);
    tree_read_some(t);
    tree_unlock_and_wake(t);
}

static void read_one(struct kid *k)
{
    struct tree *t = k->tree;
    char *path = join(k->in->path, k->name);

    if (path != NULL && zkr_session_get_async(t->opts.session, path, left_ms(t),
                                              on_get, k) == ZKR_OK) {
        k->asking = true;
        t->reading++;
    } else {
        end_pending(k); /* a session that is over, or a name of nobody */
    }
    free(path);
}

static void list_dir(struct dir *p);

/* The nodes before the next directories: little time is between a list and the
 * reads of its nodes. */
void tree_read_some(struct tree *t)
{
    while (t->queue != NULL && t->reading < READERS && !has_given_up(t)) {
        struct kid *k = t->queue;

        t->queue = k->next;
        if (t->queue == NULL)
            t->queue_end = &t->queue;
        k->queued = false;
        if (k->dropped)
            free_kid(k);
        else
            read_one(k);
    }
    while (t->dirs_queue != NULL && t->reading + t->listing < READERS &&
           !has_given_up(t)) {
        struct dir *p = t->dirs_queue;

        t->dirs_queue = p->next_queued;
        if (t->dirs_queue == NULL)
            t->dirs_queue_end = &t->dirs_queue;
        list_dir(p);
    }
}

/* To be listed one time. */
static void queue_dir(struct dir *p)
{
    p->next_queued = NULL;
    *p->tree->dirs_queue_end = p;
    p->tree->dirs_queue_end = &p->next_queued;
}

/* The watch of a holder reads it, too. */
static bool watch_kid(struct kid *k)
{
    struct tree *t = k->tree;
    char *path = join(k->in->path, k->name);
    bool watched = path != NULL && !t->opts.once && may_watch(t, path) &&
                   zkr_session_watch(t->opts.session, path,
                                     ZKR_WATCH_DATA | ZKR_WATCH_UNTIL_DELETED,
                                     NULL, on_data, k, &k->watch) == ZKR_OK;

    if (watched)
        count_watch(t, path);
    free(path);
    return watched;
}

static void queue_kid(struct kid *k)
{
    struct tree *t = k->tree;

    k->queued = true;
    k->next = NULL;
    *t->queue_end = k;
    t->queue_end = &k->next;
    tree_read_some(t);
}

/* Reads a contender once, and watches it while it holds. */
static void follow_kid(struct kid *k)
{
    if (k->asking || k->queued || k->watch != NULL || k->deleted ||
        k->dir != NULL || k->node.error != ZKR_OK)
        return;
    begin_pending(k);
    if (k->holds && watch_kid(k))
        return;
    k->tree->unwatched += k->holds;
    if (!k->read)
        queue_kid(k);
}

/* --- a list --- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_name(const void *a, const void *b)
{
    const struct kid *const *x = a;
    const struct kid *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

struct kid *dir_kid(const struct dir *p, const char *name)
{
    struct kid key = { .name = (char *)(uintptr_t)name };
    const struct kid *wanted = &key;
    struct kid **found = p->count == 0 ? NULL
                                       : bsearch(&wanted, p->kids, p->count,
                                                 sizeof(*p->kids), by_name);

    return found == NULL ? NULL : *found;
}

static struct kid *new_kid(struct dir *in, const char *name)
{
    struct kid *k = calloc(1, sizeof(*k));

    if (k == NULL || (k->name = strdup(name)) == NULL) {
        free(k);
        out_of_memory(in->tree);
        return NULL;
    }
    k->tree = in->tree;
    k->in = in;
    k->node.name = k->name;
    return k;
}

/* The node of that name is another one. */
static bool is_replaced(const struct kid *k)
{
    return k->deleted ||
           (k->dir != NULL && k->dir->error == ZKR_ZNONODE && k->dir->answered);
}

/* Returns how many nodes the list has that are new. */
static size_t merge(struct dir *p, const char **names, size_t count)
{
    struct kid **kids = calloc(count + 1, sizeof(struct kid *));
    size_t seen = 0;
    size_t n = 0;
    size_t i = 0;

    if (kids == NULL) {
        out_of_memory(p->tree);
        return 0;
    }
    for (size_t k = 0; k < count; k++) {
        struct kid *kid = NULL;

        while (i < p->count && strcmp(p->kids[i]->name, names[k]) < 0)
            drop_kid(p->kids[i++]);
        if (i < p->count && strcmp(p->kids[i]->name, names[k]) == 0)
            kid = p->kids[i++];
        if (kid != NULL && is_replaced(kid)) {
            drop_kid(kid);
            kid = NULL;
        }
        if (kid == NULL) {
            kid = new_kid(p, names[k]);
            seen++;
        }
        if (kid != NULL)
            kids[n++] = kid;
    }
    while (i < p->count)
        drop_kid(p->kids[i++]);
    free(p->kids);
    p->kids = kids;
    p->count = n;
    return seen;
}

/* The roster of its names: who contends, and, before all is read, who holds. */
static struct zkr_participant *order_names(const struct dir *p,
                                           size_t *ret_count)
{
    struct zkr_participant *items = calloc(p->count + 1, sizeof(*items));
    size_t n = 0;

    if (items == NULL)
        return NULL;
    for (size_t i = 0; i < p->count; i++) {
        if (!is_part(p->kids[i]->name) && !p->kids[i]->deleted)
            items[n++].name = p->kids[i]->name;
    }
    *ret_count = zkr__roster_order(items, n);
    zkr__roster_settle(items, *ret_count);
    return items;
}

static bool is_directory_here(const struct dir *p, const struct kid *k)
{
    if (!p->tree->opts.below)
        return p->as == NULL && is_part(k->name);
    return strcmp(p->path, "/") != 0 || strcmp(k->name, "zookeeper") != 0 ||
           p->tree->opts.chroot_len > 0;
}

/* Reads a contender that is new, or enters a directory. One with a name that no
 * server has given may be a directory. */
static void settle_kid(struct kid *k, bool reads)
{
    if (k->dir != NULL)
        return;
    if (k->contends &&
        (reads || k->holds ||
         (k->tree->opts.below && !zkr__node_name_is_numbered(k->name))))
        follow_kid(k);
    else if (!k->contends && !k->read && is_directory_here(k->in, k))
        make_dir(k);
    else if (reads && k->in->tree->opts.foreign)
        follow_kid(k);
}

/* How many of the first are read, beside those that hold. Among nodes of one
 * number the sessions decide who holds: all of them are read, or none. */
static size_t count_reads(const struct tree *t,
                          const struct zkr_participant *items, size_t count)
{
    size_t n = t->opts.reads == SCAN_ALL    ? READ_MAX
               : t->opts.reads >= SCAN_NEXT ? 1
                                            : t->opts.reads;

    if (t->opts.reads == SCAN_NEXT) {
        while (n < count && items[n - 1].holds)
            n++;
    }
    while (n < count && items[n].kind != ZKR_PARTICIPANT_FOREIGN &&
           items[n].sequence == items[n - 1].sequence)
        n++;
    return n;
}

/* A lock was found: no more directories when there are enough. */
static void count_lock(struct dir *p)
{
    if (p->counted || dir_part(p) != ZKR__PART_PATH)
        return;
    p->counted = true;
    p->tree->locks++;
}

static void settle_kids(struct dir *p)
{
    size_t count = 0;
    struct zkr_participant *items = order_names(p, &count);
    size_t most;

    if (items == NULL) {
        out_of_memory(p->tree);
        return;
    }
    most = count_reads(p->tree, items, count);
    for (size_t i = 0; i < count; i++) {
        struct kid *k = dir_kid(p, items[i].name);

        if (k == NULL)
            continue;
        k->contends = items[i].kind != ZKR_PARTICIPANT_FOREIGN;
        k->holds = items[i].holds;
        if (k->contends && zkr__node_name_is_numbered(k->name))
            count_lock(p);
        settle_kid(k, i < most);
    }
    free(items);
    /* the queue first: list_leases_too() */
    for (enum zkr__part part = ZKR__PART_QUEUE; part > ZKR__PART_PATH; part--) {
        struct kid *k = dir_kid(p, zkr__part_dirs[part]);

        if (k != NULL)
            settle_kid(k, false);
    }
}

static void take_list(struct dir *p, const struct zkr_reply *reply)
{
    const char **names = malloc((reply->count + 1) * sizeof(*names));
    bool was = p->listed && p->stat.czxid == reply->stat.czxid;
    size_t seen;

    if (names == NULL) {
        out_of_memory(p->tree);
        return;
    }
    for (size_t i = 0; i < reply->count; i++)
        names[i] = reply->names[i];
    if (reply->count > 0)
        qsort(names, reply->count, sizeof(*names), by_text);
    if (p->listed && !was) { /* another directory of that name */
        p->lost = true;
        p->fresh = true;
        (void)merge(p, NULL, 0);
    }
    seen = merge(p, names, reply->count);
    free(names);
    if (was || p->fresh)
        p->missed += tally_missed(was ? tally_creates(&p->stat) : 0,
                                  &reply->stat, (uint32_t)seen);
    p->stat = reply->stat;
    p->listed = true;
    settle_kids(p);
    p->settled = true;
}

/* --- directories --- */

/* A child that ends with a session has no children: it is no directory. */
static void make_leaf(struct dir *p, const struct zkr_stat *stat)
{
    struct kid *k = p->as;

    take_stat(k, stat);
    k->read = true;
    k->dir = NULL;
    change_dir(k->in);
    drop_dir(p);
}

/* A claim of a semaphore leaves the queue after it has made its lease. So the
 * leases are listed after the queue: then no claim is missed. */
static void list_leases_too(struct dir *p)
{
    struct kid *leases;

    if (dir_part(p) != ZKR__PART_QUEUE)
        return;
    leases = dir_kid(p->as->in, zkr__part_dirs[ZKR__PART_LEASES]);
    if (leases != NULL && leases->dir != NULL && leases->dir->listed)
        list_dir(leases->dir);
}

static void set_pause(struct dir *p)
{
    if (zkr_watch_set_pause(p->watch, pause_of(p)) != ZKR_OK)
        p->tree->error = ZKR_EFORKED; /* it fails for nothing else */
}

/* A server tells of a change to what is watched in time, and it is listed after
 * the pause. Of what was not watched all the time, nothing is known since the
 * last list. */
int64_t tree_before_ms(const struct dir *p, int64_t now_ms)
{
    bool seamless = p->watched && p->breaks == p->tree->breaks;
    int64_t ms = now_ms - pause_of(p);

    return (seamless && ms > p->list_ms ? ms : p->list_ms) - LATE_MS;
}

/* What was listed last ends with this answer. */
static void end_list(struct dir *p)
{
    if (p->before_ms == 0)
        p->before_ms = tree_before_ms(p, p->seen_ms);
    p->list_ms = p->seen_ms;
    p->breaks = p->tree->breaks;
    p->check_ms = clock_now_ms() + CHECK_MS;
}

static void take_children(struct dir *p, const struct zkr_reply *reply)
{
    bool first = !p->listed;

    if (p->as != NULL && zkr__owner_is_session(reply->stat.ephemeral_owner)) {
        make_leaf(p, &reply->stat);
        return;
    }
    if (p->listed && p->stat.czxid == reply->stat.czxid &&
        tally_is_older(&reply->stat, &p->stat))
        return;
    end_list(p);
    take_list(p, reply);
    if (p->watch == NULL)
        watch_dir(p);
    else
        set_pause(p);
    if (!first)
        list_leases_too(p);
}

static void take_deletion(struct dir *p, bool nothing_before)
{
    if (p->listed ? !nothing_before || p->breaks != p->tree->breaks : p->fresh)
        p->lost = true;
    end_list(p);
    (void)merge(p, NULL, 0);
    p->listed = false;
    p->fresh = true;
    unwatch_dir(p);
    if (p->as == NULL)
        watch_dir(p);
    else if (!p->tree->opts.once)
        ask_dir(p->as->in); /* there may be another of that name */
}

static void poll_dir(struct dir *p)
{
    if (!p->polled)
        p->tree->unwatched++;
    p->polled = true;
}

static void take_answer(struct dir *p, int error, const struct zkr_reply *reply,
                        bool nothing_before)
{
    struct tree *t = p->tree;
    bool was_missing = p->answered && p->error == ZKR_ZNONODE;

    t->heard_ms = clock_now_ms();
    t->visited++;
    if (!p->answered)
        t->unsettled--;
    p->answered = true;
    p->error = error;
    p->seen_ms = clock_wall_ms();
    change_dir(p);
    if (error == ZKR_OK) {
        take_children(p, reply);
    } else if (error == ZKR_ZNONODE) {
        if (!was_missing)
            take_deletion(p, nothing_before);
    } else { /* the watch would repeat it too often */
        unwatch_dir(p);
        poll_dir(p);
    }
}

/* --- lists that are held back --- */

/* The news of a lock are taken when nothing of it is under way. Under many
 * changes each list brings nodes that are to be read, and meanwhile comes the
 * next list: there would be no such moment. So no list is taken any more until
 * the news are, and then one is asked for. */

static bool is_held_back(const struct dir *p)
{
    return p->held_back ||
           (dir_part(p) != ZKR__PART_PATH && p->as->in->held_back);
}

/* How long the state before lasted, this list would have told. */
static void pass_over(struct dir *p)
{
    p->tree->heard_ms = clock_now_ms();
    p->check_ms = p->tree->heard_ms + CHECK_MS;
    p->checking = false;
    p->watched = false;
    p->again = true;
}

static void list_again(struct dir *p)
{
    if (!p->again || p->asking || p->dropped || is_held_back(p))
        return;
    list_dir(p);
    p->again = !p->asking; /* out of memory: see poll() */
}

void tree_hold_back_if_late(struct dir *p)
{
    if (clock_now_ms() - p->changed_ms > PATIENCE_MS)
        p->held_back = true;
}

static void let_go_on(struct dir *p)
{
    p->held_back = false;
    list_again(p);
    for (size_t i = 0; i < p->count; i++) {
        if (is_part(p->kids[i]->name) && p->kids[i]->dir != NULL)
            list_again(p->kids[i]->dir);
    }
}

/* --- answers --- */

static void on_children(int error, const struct zkr_reply *reply,
                        enum zkr_watch_why why, void *user)
{
    struct dir *p = user;
    struct tree *t = p->tree;

    (void)pthread_mutex_lock(&t->mutex);
    if (error == ZKR_OK && p->listed && is_held_back(p)) {
        pass_over(p);
    } else {
        take_answer(p, error, reply, why == ZKR_WATCH_ENDED);
        p->watched = p->watch != NULL;
    }
    tree_unlock_and_wake(t);
}

/* A path given that was missing, and exists now. */
static void on_exists(int error, const struct zkr_reply *reply,
                      enum zkr_watch_why why, void *user)
{
    struct dir *p = user;
    struct tree *t = p->tree;

    (void)reply;
    (void)why;
    (void)pthread_mutex_lock(&t->mutex);
    t->heard_ms = clock_now_ms();
    if (error == ZKR_OK) {
        unwatch_dir(p);
        p->error = ZKR_OK;
        watch_dir(p);
    }
    tree_unlock_and_wake(t);
}

/* A watch that works would have told this long ago. */
static bool was_silent(const struct dir *p, int error,
                       const struct zkr_reply *reply)
{
    if (!p->checking || p->watch == NULL)
        return false;
    if (error == ZKR_OK)
        return !p->listed || reply->stat.czxid != p->stat.czxid ||
               reply->stat.cversion != p->stat.cversion;
    return error == ZKR_ZNOAUTH || (error == ZKR_ZNONODE && p->listed);
}

static void on_list(int error, const struct zkr_reply *reply, void *user)
{
    struct dir *p = user;
    struct tree *t = p->tree;
    bool dropped;
    bool silent;

    (void)pthread_mutex_lock(&t->mutex);
    dropped = p->dropped;
    silent = !dropped && was_silent(p, error, reply);
    t->listing--;
    p->asking = false;
    p->checking = false;
    if (silent)
        unwatch_dir(p); /* the answer makes another */
    if (dropped) {
        if (!p->changed)
            tree_free_dir(p);
    } else if (t->opts.once && !is_of_the_node(error)) {
        give_up(t, error);
    } else if (error == ZKR_OK || p->polled || silent || t->opts.once) {
        take_answer(p, error, reply, false);
    } else if (error != ZKR_ECLOSED) {
        change_dir(p); /* its watch tells why */
    }
    if (!dropped)
        list_again(p);
    tree_read_some(t);
    tree_unlock_and_wake(t);
}

static void list_dir(struct dir *p)
{
    struct tree *t = p->tree;
    int rc;

    if (p->asking || p->dropped)
        return;
    rc = zkr_session_children_async(t->opts.session, p->path, left_ms(t),
                                    on_list, p);
    p->asking = rc == ZKR_OK;
    t->listing += p->asking;
    if (rc == ZKR_EPATH || rc == ZKR_ETOOLONG)
        take_answer(p, ZKR_EPATH, NULL, false);
    else if (rc != ZKR_OK && t->opts.once)
        give_up(t, rc);
}

static void ask_dir(struct dir *p)
{
    if (is_held_back(p))
        p->again = true;
    else
        list_dir(p);
}

static void watch_dir(struct dir *p)
{
    struct tree *t = p->tree;
    bool missing = p->answered && p->error == ZKR_ZNONODE;

    if (t->opts.once) {
        if (!p->answered)
            queue_dir(p);
        return;
    }
    if (!may_watch(t, p->path)) {
        t->cut |= TREE_CUT_WATCHES;
        poll_dir(p);
        if (!p->answered)
            ask_dir(p);
        return;
    }
    if (zkr_session_watch(
            t->opts.session, p->path,
            missing ? ZKR_WATCH_EXISTS
                    : ZKR_WATCH_CHILDREN | ZKR_WATCH_UNTIL_DELETED,
            NULL, missing ? on_exists : on_children, p, &p->watch) != ZKR_OK)
        return; /* the session is over */
    count_watch(t, p->path);
    set_pause(p);
    p->polled = false;
}

static struct dir *new_dir(struct tree *t, char *path, struct kid *as)
{
    struct dir *p = path == NULL ? NULL : calloc(1, sizeof(*p));

    if (p == NULL) {
        free(path);
        out_of_memory(t);
        return NULL;
    }
    p->tree = t;
    p->path = path;
    p->as = as;
    p->depth = as == NULL ? 1 : as->in->depth + 1;
    p->fresh = t->started;
    p->list_ms = p->seen_ms = clock_wall_ms();
    t->dirs++;
    t->made++;
    t->unsettled++;
    return p;
}

/* The members of a barrier count for no depth: they make it one. */
static enum tree_cut cut_of(const struct kid *k)
{
    const struct tree *t = k->tree;

    if (t->opts.limit > 0 && t->locks > t->opts.limit)
        return TREE_CUT_LIMIT;
    if (k->in->depth >= (t->opts.depth == 0 ? DEPTH_MAX : t->opts.depth) &&
        t->opts.below && !zkr__node_name_is_uuid(k->name))
        return TREE_CUT_DEPTH;
    return (t->opts.once ? t->made : t->dirs) >= DIRS_MAX ? TREE_CUT_VISITS
                                                          : TREE_CUT_NONE;
}

static void make_dir(struct kid *k)
{
    struct tree *t = k->tree;
    enum tree_cut cut = cut_of(k);

    t->cut |= cut;
    if (cut != TREE_CUT_NONE)
        return;
    k->dir = new_dir(t, join(k->in->path, k->name), k);
    if (k->dir == NULL)
        return;
    watch_dir(k->dir);
    if (k->dir->watch == NULL && !k->dir->polled && !t->opts.once) {
        drop_dir(k->dir); /* a path that the library refuses */
        k->dir = NULL;
        k->read = true;
    }
}

/* The directory above does not have it any more. It is freed after its last
 * news. */
static void drop_dir(struct dir *p)
{
    struct tree *t = p->tree;

    unwatch_dir(p);
    if (!p->answered)
        t->unsettled--;
    else if (p->listed)
        p->lost = true; /* its own deletion was not seen */
    (void)merge(p, NULL, 0);
    p->answered = true;
    p->as = NULL;
    p->dropped = true;
    p->listed = false;
    p->seen_ms = clock_wall_ms();
    t->dirs--;
    put_news(p);
}

void tree_free_dir(struct dir *p)
{
    for (size_t i = 0; i < p->count; i++) {
        struct kid *k = p->kids[i];

        if (k->dir != NULL)
            tree_free_dir(k->dir);
        zkr_watch_free(k->watch);
        free_kid(k);
    }
    zkr_watch_free(p->watch);
    free(p->kids);
    free(p->path);
    free(p);
}

void tree_take_kids(struct dir *p)
{
    for (size_t i = 0; i < p->count; i++)
        p->kids[i]->taken = !p->kids[i]->deleted || p->kids[i]->read;
}

void tree_take_news(struct dir *p)
{
    p->changed = false;
    p->missed = 0;
    p->lost = false;
    p->before_ms = 0;
    p->taken = true;
    if (!p->dropped)
        let_go_on(p);
    else if (!p->asking)
        tree_free_dir(p);
}

void tree_change_parts(struct dir *p)
{
    for (size_t i = 0; i < p->count; i++) {
        if (is_part(p->kids[i]->name) && p->kids[i]->dir != NULL)
            put_news(p->kids[i]->dir);
    }
}

void tree_free_queue(struct tree *t)
{
    while (t->queue != NULL) {
        struct kid *k = t->queue;

        t->queue = k->next;
        if (k->dropped)
            free_kid(k);
    }
}

bool tree_add_root(struct tree *t, const char *path)
{
    struct dir *p = new_dir(t, strdup(path), NULL);

    if (p == NULL)
        return false;
    t->roots[t->root_count++] = p;
    watch_dir(p);
    return true;
}

/* --- what is not watched --- */

/* One tick on its way through the tree. */
struct tick {
    int64_t now_ms;
    size_t seen; /* of what is not watched */
    int left;
};

/* A round goes on where the tick before has ended. */
static bool is_turn(const struct tree *t, struct tick *w)
{
    return t->round_ms <= w->now_ms && w->seen++ >= t->polled && w->left > 0;
}

static void count_poll(struct tree *t, struct tick *w)
{
    t->polled++;
    w->left--;
}

static void check_dir(struct dir *p, struct tick *w)
{
    if (p->watch == NULL || !p->listed || p->asking || w->left == 0 ||
        p->check_ms > w->now_ms)
        return;
    p->check_ms = w->now_ms + CHECK_MS;
    ask_dir(p);
    p->checking = p->asking;
    w->left--;
}

static void poll_kid(struct kid *k, struct tick *w)
{
    if (!k->holds || !k->read || k->watch != NULL || k->deleted ||
        !is_turn(k->tree, w))
        return;
    if (!k->asking && !k->queued)
        queue_kid(k);
    count_poll(k->tree, w);
}

static void poll(struct dir *p, struct tick *w)
{
    list_again(p);
    check_dir(p, w);
    if (p->polled && is_turn(p->tree, w)) {
        ask_dir(p);
        count_poll(p->tree, w);
    }
    for (size_t i = 0; i < p->count; i++) {
        if (p->kids[i]->dir != NULL)
            poll(p->kids[i]->dir, w);
        else
            poll_kid(p->kids[i], w);
    }
}

static void tick(struct tree *t, int64_t now_ms)
{
    struct tick w = { .now_ms = now_ms, .left = POLLS_PER_TICK };

    if (t->polled == 0 && t->round_ms <= now_ms)
        t->began_ms = now_ms;
    for (size_t i = 0; i < t->root_count; i++)
        poll(t->roots[i], &w);
    if (t->round_ms <= now_ms && w.seen <= t->polled) {
        t->polled = 0; /* all had their turn */
        t->round_ms = t->began_ms + POLL_MS;
    }
}

bool tree_tick(struct tree *t)
{
    int64_t now_ms = clock_now_ms();

    if (now_ms < t->tick_ms + TICK_MS)
        return false;
    t->tick_ms = now_ms;
    tick(t, now_ms);
    return true;
}
