/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "common/now.h"
#include "model/tally.h"
#include "protocol/node_name.h"
#include "protocol/owner.h"
#include "protocol/parts.h"
#include "protocol/roster.h"

enum {
    REQUESTS = 128,    /* under way at once */
    READ_MAX = 10000,  /* of one directory */
    POLL_MS = 10000,   /* for what has no watch */
    CHECK_MS = 300000, /* for the watch of a directory */
    ASKED_PER_TICK = 50,
    NAMES_PER_MS = 10, /* a list of 3,000 names makes a pause of 300 ms */
    LATE_MS = 500,     /* a server that answers tells of a change within this */
    PATIENCE_MS = 1000, /* before news that come no more are waited for */
};

static const int64_t DUE_NOW = 0, NEVER_DUE = INT64_MAX;

static void watch_dir(struct znode *z);
static void ask(struct znode *z);
static void drop(struct znode *z);

/* --- news --- */

static bool is_part(const char *name)
{
    return zkr__part_of_dir(name) != ZKR__PART_PATH;
}

/* The root is no lock. */
enum zkr__part dir_part(const struct znode *z)
{
    if (z->in == NULL || strcmp(z->in->path, "/") == 0)
        return ZKR__PART_PATH;
    return zkr__part_of_dir(z->name);
}

static void enqueue(struct znode_queue *queue, struct znode **next,
                    struct znode *z)
{
    *next = NULL;
    *queue->end = z;
    queue->end = next;
}

void tree_put_news(struct znode *z)
{
    if (z->changed_ms != 0)
        return;
    z->changed_ms = clock_now_ms();
    enqueue(&z->tree->news, &z->next, z);
}

/* The lock that it is part of is first: whether it is a lock of its own is
 * known then. */
static void change_dir(struct znode *z)
{
    if (dir_part(z) != ZKR__PART_PATH)
        tree_put_news(z->in);
    tree_put_news(z);
}

/* --- waiting for a first answer --- */

static void begin_wait(struct znode *z, bool at_start)
{
    if (z->wait != WAIT_NONE || z->error != NO_ANSWER)
        return;
    z->wait = at_start ? WAIT_START : WAIT_NEWS;
    z->tree->unsettled += at_start;
    if (!z->is_dir)
        z->in->waits++;
}

static void end_wait(struct znode *z)
{
    if (z->wait == WAIT_NONE)
        return;
    z->tree->unsettled -= z->wait == WAIT_START;
    z->wait = WAIT_NONE;
    if (!z->is_dir)
        z->in->waits--;
}

/* --- one time --- */

/* The answer says something of the node: it comes neither from the connection
 * nor from the library. */
static bool is_of_the_node(int error)
{
    return error == ZKR_OK || error == ZKR_ZNONODE || error == ZKR_ZNOAUTH;
}

/* A picture that is taken one time, and late, is what was seen by then. */
static void give_up(struct mirror *t, int error)
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

static bool has_given_up(const struct mirror *t)
{
    return t->opts.once && (t->late || t->error != ZKR_OK);
}

/* For a request: until the end of the one time, or for ever. */
static int64_t left_ms(const struct mirror *t)
{
    int64_t left = t->end_ms - clock_now_ms();

    return !t->opts.once ? -1 : left > 0 ? left : 1;
}

/* --- znodes --- */

/* Its path is freed with it. */
static struct znode *new_znode(struct mirror *t, struct znode *in, char *path)
{
    struct znode *z = enough(calloc(1, sizeof(*z)));

    z->tree = t;
    z->in = in;
    z->session = in == NULL ? &t->sessions[0] : in->session;
    z->path = path;
    z->name = strrchr(path, '/') + 1;
    z->node.name = z->name;
    z->error = NO_ANSWER;
    z->due_ms = NEVER_DUE;
    return z;
}

static struct znode *new_kid(struct znode *in, const char *name)
{
    size_t size = strlen(in->path) + strlen(name) + 2;
    char *path = enough(malloc(size));

    (void)snprintf(path, size, "%s/%s",
                   strcmp(in->path, "/") == 0 ? "" : in->path, name);
    return new_znode(in->tree, in, path);
}

static void free_znode(struct znode *z)
{
    session_unwatch(z);
    for (size_t i = 0; i < z->count; i++)
        free_znode(z->kids[i]);
    free(z->kids);
    free((void *)(uintptr_t)z->node.data);
    free(z->path);
    free(z);
}

static void free_if_over(struct znode *z)
{
    if (z->dropped && z->request == REQUEST_NONE && z->changed_ms == 0)
        free_znode(z);
}

static int64_t pause_of(const struct znode *z)
{
    return z->tree->opts.pause_ms + (int64_t)(z->count / NAMES_PER_MS);
}

int znode_refusal(const struct znode *z)
{
    return z->error == NO_ANSWER || z->error == ZKR_ZNONODE ? ZKR_OK : z->error;
}

bool znode_contends(const struct znode *z)
{
    return z->node.kind != ZKR_PARTICIPANT_FOREIGN;
}

bool znode_is_directory(const struct znode *z)
{
    return z->is_dir || (z->tree->opts.below && z->error == ZKR_OK &&
                         !zkr__node_name_is_numbered(z->name) &&
                         !zkr__owner_is_session(z->node.session_id));
}

/* --- what is asked --- */

/* So many znodes in turn need longer than POLL_MS. */
static int64_t next_poll_ms(const struct mirror *t)
{
    int64_t round_ms = (int64_t)(t->polled / ASKED_PER_TICK) * TICK_MS;

    return clock_now_ms() + (round_ms > POLL_MS ? round_ms : POLL_MS);
}

/* A directory without a watch, unless it is missing; a holder without one,
 * too. */
static bool is_polled(const struct znode *z)
{
    if (z->watch != NULL)
        return false;
    return z->is_dir ? z->due_ms != NEVER_DUE
                     : z->node.holds && z->error != NO_ANSWER &&
                           z->error != ZKR_ZNONODE;
}

static void start_polling(struct znode *z)
{
    z->due_ms = next_poll_ms(z->tree);
}

static void on_change(int error, const struct zkr_reply *reply,
                      enum zkr_watch_why why, void *user);

static int watch(struct znode *z)
{
    unsigned what = !z->is_dir ? ZKR_WATCH_DATA | ZKR_WATCH_UNTIL_DELETED
                    : z->error == ZKR_ZNONODE
                        ? ZKR_WATCH_EXISTS
                        : ZKR_WATCH_CHILDREN | ZKR_WATCH_UNTIL_DELETED;

    return session_watch(z, what, on_change);
}

/* The nodes before the next directories: little time is between a list and the
 * reads of its nodes. */
void tree_ask(struct mirror *t)
{
    while (t->asking < REQUESTS && !has_given_up(t)) {
        struct znode_queue *queue =
            t->reads.first != NULL ? &t->reads : &t->lists;
        struct znode *z = queue->first;

        if (z == NULL)
            return;
        queue->first = z->next_queued;
        if (queue->first == NULL)
            queue->end = &queue->first;
        z->request = REQUEST_NONE;
        if (z->dropped)
            free_if_over(z);
        else
            ask(z);
    }
}

static void ask_in_turn(struct znode *z)
{
    struct mirror *t = z->tree;

    if (z->request != REQUEST_NONE)
        return;
    z->request = REQUEST_QUEUED;
    enqueue(z->is_dir ? &t->lists : &t->reads, &z->next_queued, z);
}

/* The news of a lock are taken when nothing of it is under way. Under many
 * changes each list brings nodes that are to be read, and meanwhile comes the
 * next list: there would be no such moment. So no list is taken any more until
 * the news are, and then one is asked for. */
static bool is_held_back(const struct znode *z)
{
    return z->held_back || (dir_part(z) != ZKR__PART_PATH && z->in->held_back);
}

static void list_now(struct znode *z)
{
    if (is_held_back(z)) {
        z->due_ms = DUE_NOW;
    } else if (z->request == REQUEST_NONE) {
        session_sync(z->session);
        ask(z);
    }
}

/* A list that was passed over. When it cannot be asked for, the next tick tries
 * it again. */
static void catch_up(struct znode *z)
{
    if (z->due_ms != DUE_NOW || z->request != REQUEST_NONE || z->dropped ||
        is_held_back(z))
        return;
    z->due_ms = clock_now_ms();
    ask(z);
}

/* --- a contender --- */

static void take_stat(struct znode *z, const struct zkr_stat *stat)
{
    z->node.token = stat->czxid;
    z->node.session_id = stat->ephemeral_owner;
    z->node.since_ms = stat->ctime_ms;
}

/* The list of the directory follows, unless its watch is silent. */
static void expect_list(struct znode *z)
{
    int64_t end_ms = clock_now_ms() + pause_of(z) + LATE_MS;

    if (end_ms < z->due_ms)
        z->due_ms = end_ms;
}

static void settle_kids(struct znode *z);

/* One time: the next in the queue is read instead. Where all who contended have
 * gone, others may contend since. */
static void read_others(struct znode *z)
{
    for (size_t i = 0; i < z->count; i++) {
        if (znode_contends(z->kids[i]) && z->kids[i]->error != ZKR_ZNONODE) {
            settle_kids(z);
            return;
        }
    }
    if (z->error == NO_ANSWER)
        return;
    z->error = NO_ANSWER;
    begin_wait(z, true);
    ask_in_turn(z);
}

/* If the list of the directory, when it is watched, came first, another node
 * may have the name already. */
static void take_deleted(struct znode *z)
{
    z->error = ZKR_ZNONODE;
    session_unwatch(z);
    if (z->wait != WAIT_NONE)
        change_dir(z->in);
    end_wait(z);
    if (z->tree->opts.once)
        read_others(z->in);
    else if (z->in->watch == NULL || !zkr__node_name_is_numbered(z->name))
        list_now(z->in);
    else
        expect_list(z->in);
}

static void enter(struct znode *z);

/* Reads a contender once, and watches it while it holds. */
static void follow(struct znode *z)
{
    if (z->request != REQUEST_NONE || z->watch != NULL || z->is_dir ||
        (z->error != NO_ANSWER && z->error != ZKR_OK))
        return;
    begin_wait(z, z->tree->opts.once || !z->in->settled);
    if (z->node.holds && !z->tree->opts.once && watch(z) == ZKR_OK)
        return;
    if (z->error == NO_ANSWER) {
        ask_in_turn(z);
        tree_ask(z->tree);
    }
}

/* A read of a node, by its watch or without. */
static void take_read(struct znode *z, int error, const struct zkr_reply *reply)
{
    z->tree->heard_ms = clock_now_ms();
    if (error == ZKR_ZNONODE) {
        take_deleted(z);
        return;
    }
    if (error != ZKR_OK)
        session_unwatch(z); /* it would be repeated */
    z->error = z->node.error = error;
    if (error == ZKR_OK) {
        take_stat(z, &reply->stat);
        node_set_data(&z->node, reply->data, reply->len);
    }
    end_wait(z);
    z->due_ms = next_poll_ms(z->tree);
    z->in->seen_ms = clock_wall_ms();
    change_dir(z->in);
    if (znode_is_directory(z))
        enter(z);
    else
        follow(z);
}

/* --- a list --- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_name(const void *a, const void *b)
{
    const struct znode *const *x = a;
    const struct znode *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

static struct znode *dir_kid(const struct znode *z, const char *name)
{
    struct znode key = { .name = name };
    const struct znode *wanted = &key;
    struct znode **found =
        find_in_array(&wanted, z->kids, z->count, sizeof(*z->kids), by_name);

    return found == NULL ? NULL : *found;
}

struct znode *dir_of_part(const struct znode *z, enum zkr__part part)
{
    struct znode *kid =
        strcmp(z->path, "/") == 0 ? NULL : dir_kid(z, zkr__part_dirs[part]);

    return kid != NULL && kid->is_dir ? kid : NULL;
}

void dir_each_part(const struct znode *z, void (*fn)(struct znode *part))
{
    for (enum zkr__part part = ZKR__PART_QUEUE; part > ZKR__PART_PATH; part--) {
        struct znode *kid = dir_of_part(z, part);

        if (kid != NULL)
            fn(kid);
    }
}

/* Returns how many nodes the list has that are new. A node of which the server
 * has told that it is deleted is another one. */
static size_t merge(struct znode *z, const char **names, size_t count)
{
    struct znode **kids = enough(calloc(count + 1, sizeof(struct znode *)));
    size_t seen = 0;
    size_t i = 0;

    z->tree->locks -= z->counted; /* settle_kids() counts it again */
    z->counted = false;
    for (size_t k = 0; k < count; k++) {
        struct znode *kid = NULL;

        while (i < z->count && strcmp(z->kids[i]->name, names[k]) < 0)
            drop(z->kids[i++]);
        if (i < z->count && strcmp(z->kids[i]->name, names[k]) == 0)
            kid = z->kids[i++];
        if (kid != NULL && kid->error == ZKR_ZNONODE) {
            drop(kid);
            kid = NULL;
        }
        if (kid == NULL) {
            kid = new_kid(z, names[k]);
            seen++;
        }
        kids[k] = kid;
    }
    while (i < z->count)
        drop(z->kids[i++]);
    free(z->kids);
    z->kids = kids;
    z->count = count;
    return seen;
}

void tree_move_unseen(struct unseen *from, struct unseen *to)
{
    to->missed += from->missed;
    to->lost = to->lost || from->lost;
    *from = (struct unseen){ .missed = 0 };
}

/* The tree does not have it any more. A node that goes before anybody has taken
 * the news of it has come and gone unseen; of a directory that goes, the last
 * changes were not seen. A semaphore tells of those of its parts. */
static void drop(struct znode *z)
{
    struct mirror *t = z->tree;

    end_wait(z);
    session_unwatch(z);
    z->in->unseen.missed += t->started && !z->shown;
    if (z->is_dir) {
        z->unseen.lost = z->unseen.lost || z->listed;
        (void)merge(z, NULL, 0);
        if (dir_part(z) != ZKR__PART_PATH && z->in->semaphore)
            tree_move_unseen(&z->unseen, &z->in->unseen);
        z->listed = false;
        z->seen_ms = clock_wall_ms();
        t->dirs--;
        tree_put_news(z);
    }
    z->in = NULL;
    z->dropped = true;
    free_if_over(z);
}

/* The roster of its names: who contends, and, before all is read, who holds. */
static struct zkr_participant *order_names(const struct znode *z,
                                           size_t *ret_count)
{
    struct zkr_participant *items =
        enough(calloc(z->count + 1, sizeof(*items)));
    size_t n = 0;

    for (size_t i = 0; i < z->count; i++) {
        if (!is_part(z->kids[i]->name) && z->kids[i]->error != ZKR_ZNONODE)
            items[n++].name = z->kids[i]->name;
    }
    *ret_count = zkr__roster_order(items, n);
    zkr__roster_settle(items, *ret_count);
    return items;
}

static bool is_directory_here(const struct znode *z, const struct znode *kid)
{
    if (!z->tree->opts.below)
        return z->in == NULL && is_part(kid->name);
    return strcmp(z->path, "/") != 0 || strcmp(kid->name, "zookeeper") != 0 ||
           z->tree->chroot_len > 0;
}

/* Reads a contender that is new, or enters a directory. One with a name that no
 * server has given may be a directory. */
static void settle_kid(struct znode *z, bool reads)
{
    const struct mirror_opts *o = &z->tree->opts;

    if (z->is_dir)
        return;
    if (znode_contends(z) &&
        (reads || z->node.holds ||
         (o->below && !zkr__node_name_is_numbered(z->name))))
        follow(z);
    else if (!znode_contends(z) && z->error == NO_ANSWER &&
             is_directory_here(z->in, z))
        enter(z);
    else if (reads && o->foreign)
        follow(z);
}

/* How many of the first are read, beside those that hold. Among nodes of one
 * number the sessions decide who holds: all of them are read, or none. */
static size_t count_reads(const struct mirror *t,
                          const struct zkr_participant *items, size_t count)
{
    size_t n = t->opts.look.reads == SCAN_ALL    ? READ_MAX
               : t->opts.look.reads >= SCAN_NEXT ? 1
                                                 : t->opts.look.reads;

    if (t->opts.look.reads == SCAN_NEXT) {
        while (n < count && items[n - 1].holds)
            n++;
    }
    while (n < count && items[n].kind != ZKR_PARTICIPANT_FOREIGN &&
           items[n].sequence == items[n - 1].sequence)
        n++;
    return n;
}

static void settle_kids(struct znode *z)
{
    size_t count = 0;
    struct zkr_participant *items = order_names(z, &count);
    size_t most = count_reads(z->tree, items, count);

    for (size_t i = 0; i < count; i++) {
        struct znode *kid = dir_kid(z, items[i].name);

        if (kid == NULL)
            continue;
        kid->node.kind = items[i].kind;
        kid->node.holds = items[i].holds;
        if (!z->counted && znode_contends(kid) &&
            dir_part(z) == ZKR__PART_PATH &&
            zkr__node_name_is_numbered(kid->name)) {
            z->tree->locks++; /* there may be enough of them */
            z->counted = true;
        }
        settle_kid(kid, i < most);
    }
    free(items);
    /* the queue first: list_leases_too() */
    for (enum zkr__part part = ZKR__PART_QUEUE; part > ZKR__PART_PATH; part--) {
        struct znode *kid = dir_kid(z, zkr__part_dirs[part]);

        if (kid != NULL)
            settle_kid(kid, false);
    }
}

static void take_list(struct znode *z, const struct zkr_reply *reply)
{
    const char **names = enough(malloc((reply->count + 1) * sizeof(*names)));
    bool was = z->listed && z->stat.czxid == reply->stat.czxid;

    for (size_t i = 0; i < reply->count; i++)
        names[i] = reply->names[i];
    sort_array(names, reply->count, sizeof(*names), by_text);
    if (z->listed && !was) { /* another directory of that name */
        z->unseen.lost = true;
        z->fresh = true;
        (void)merge(z, NULL, 0);
    }
    size_t seen = merge(z, names, reply->count);
    free(names);
    if (was || z->fresh)
        z->unseen.missed += tally_missed(was ? tally_creates(&z->stat) : 0,
                                         &reply->stat, (uint32_t)seen);
    z->stat = reply->stat;
    z->listed = true;
    settle_kids(z);
    z->settled = true;
}

/* --- a directory --- */

/* A node that ends with a session has no children: it is no directory. */
static void take_leaf(struct znode *z, const struct zkr_stat *stat)
{
    session_unwatch(z);
    take_stat(z, stat);
    z->is_dir = false;
    z->tree->dirs--;
    change_dir(z->in);
}

/* A claim of a semaphore leaves the queue after it has made its lease. So the
 * leases are listed after the queue: then no claim is missed. */
static void list_leases_too(struct znode *z)
{
    if (dir_part(z) != ZKR__PART_QUEUE)
        return;
    struct znode *leases = dir_of_part(z->in, ZKR__PART_LEASES);
    if (leases != NULL && leases->listed && leases->request == REQUEST_NONE)
        ask(leases);
}

/* The library refuses a pause only in the child of a fork, and nothing forks
 * while there is a mirror. */
static void set_pause(struct znode *z)
{
    (void)!zkr_watch_set_pause(z->watch->watch, pause_of(z));
}

static void take_children(struct znode *z, const struct zkr_reply *reply)
{
    bool first = !z->listed;

    if (z->in != NULL && zkr__owner_is_session(reply->stat.ephemeral_owner)) {
        take_leaf(z, &reply->stat);
        return;
    }
    if (z->listed && z->stat.czxid == reply->stat.czxid &&
        tally_is_older(&reply->stat, &z->stat))
        return;
    z->breaks = z->tree->breaks;
    z->due_ms = clock_now_ms() + CHECK_MS;
    take_list(z, reply);
    if (z->watch == NULL)
        watch_dir(z);
    else
        set_pause(z);
    if (!first)
        list_leases_too(z);
}

static void take_deletion(struct znode *z, bool nothing_before)
{
    if (z->listed ? !nothing_before || z->breaks != z->tree->breaks : z->fresh)
        z->unseen.lost = true;
    z->breaks = z->tree->breaks;
    (void)merge(z, NULL, 0);
    z->listed = false;
    z->fresh = true;
    z->due_ms = NEVER_DUE;
    session_unwatch(z);
    if (z->in == NULL)
        watch_dir(z);
    else if (!z->tree->opts.once)
        list_now(z->in); /* there may be another of that name */
}

static void take_answer(struct znode *z, int error,
                        const struct zkr_reply *reply, bool nothing_before)
{
    bool was_missing = z->error == ZKR_ZNONODE;

    z->tree->heard_ms = clock_now_ms();
    z->tree->visited++;
    end_wait(z);
    z->error = error;
    z->seen_ms = clock_wall_ms();
    change_dir(z);
    if (error == ZKR_OK) {
        take_children(z, reply);
    } else if (error == ZKR_ZNONODE) {
        if (!was_missing)
            take_deletion(z, nothing_before);
    } else { /* the watch would repeat it too often */
        session_unwatch(z);
        start_polling(z);
    }
}

/* The texts have room for the path of a lock, not for all that servers take. */
static bool is_too_long(const struct znode *z)
{
    const struct znode *lock = dir_part(z) == ZKR__PART_PATH ? z : z->in;

    return z->tree->chroot_len + strlen(lock->path) > ZKR_PATH_MAX;
}

static void watch_dir(struct znode *z)
{
    struct mirror *t = z->tree;

    if (is_too_long(z)) {
        end_wait(z);
        z->error = ZKR_ETOOLONG;
        return;
    }
    if (t->opts.once) {
        if (z->error == NO_ANSWER)
            ask_in_turn(z);
        return;
    }
    int rc = watch(z);
    if (rc == NO_ROOM) {
        t->cut = true;
        start_polling(z);
        if (z->error == NO_ANSWER)
            list_now(z);
    } else if (rc == ZKR_OK) {
        set_pause(z);
    } else { /* a path that is none, or the session is over */
        end_wait(z);
        z->error = rc;
    }
}

/* Its first answer is waited for. */
static void begin_dir(struct znode *z)
{
    struct mirror *t = z->tree;

    z->is_dir = true;
    z->session = session_for_dir(z);
    z->fresh = t->started;
    z->seen_ms = clock_wall_ms();
    z->error = NO_ANSWER;
    z->due_ms = NEVER_DUE;
    t->dirs++;
    t->made++;
    begin_wait(z, true);
    watch_dir(z);
}

static bool is_full(const struct mirror *t)
{
    return (t->opts.look.limit > 0 && t->locks > t->opts.look.limit) ||
           (t->opts.once ? t->made : t->dirs) >= DIRS_MAX;
}

static void enter(struct znode *z)
{
    bool full = is_full(z->tree);

    z->tree->cut = z->tree->cut || full;
    if (z->request != REQUEST_NONE)
        return;
    session_unwatch(z);
    if (!full)
        begin_dir(z);
}

void tree_add_root(struct mirror *t, const char *path)
{
    struct znode *z = new_znode(t, NULL, enough(strdup(path)));

    t->roots[t->root_count++] = z;
    begin_dir(z);
}

/* --- answers --- */

static void pass_over(struct znode *z)
{
    z->tree->heard_ms = clock_now_ms();
    z->due_ms = DUE_NOW;
    z->checking = false;
}

/* A path given that was missing, and exists now. */
static void take_existence(struct znode *z, int error)
{
    z->tree->heard_ms = clock_now_ms();
    if (error != ZKR_OK)
        return;
    session_unwatch(z);
    z->error = ZKR_OK;
    watch_dir(z);
}

/* The watch of a znode has fired, or has read it for the first time. */
static void on_change(int error, const struct zkr_reply *reply,
                      enum zkr_watch_why why, void *user)
{
    struct tree_watch *w = user;
    struct znode *z;

    session_lock(w->session);
    z = w->z;
    if (z == NULL) {
        /* another session has seen why before */
    } else if (!z->is_dir) {
        take_read(z, error, reply);
    } else if (z->error == ZKR_ZNONODE) {
        take_existence(z, error);
    } else if (error == ZKR_OK && z->listed && is_held_back(z)) {
        pass_over(z);
    } else {
        take_answer(z, error, reply, why == ZKR_WATCH_ENDED);
    }
    session_unlock(w->session->tree);
}

/* A watch that works would have told this long ago. */
static bool was_silent(const struct znode *z, int error,
                       const struct zkr_reply *reply)
{
    if (!z->checking || z->watch == NULL)
        return false;
    if (error == ZKR_OK)
        return !z->listed || reply->stat.czxid != z->stat.czxid ||
               reply->stat.cversion != z->stat.cversion;
    return error == ZKR_ZNOAUTH || (error == ZKR_ZNONODE && z->listed);
}

static void take_listed(struct znode *z, int error,
                        const struct zkr_reply *reply)
{
    bool silent = was_silent(z, error, reply);

    z->checking = false;
    if (silent)
        session_unwatch(z); /* the answer makes another */
    if (error == ZKR_OK || is_polled(z) || silent || z->tree->opts.once)
        take_answer(z, error, reply, false);
    else if (error != ZKR_ECLOSED)
        change_dir(z); /* its watch tells why */
    catch_up(z);
}

/* Meanwhile the znode may have turned out to be no directory. */
static void on_answer(int error, const struct zkr_reply *reply, void *user)
{
    struct znode *z = user;
    struct mirror *t = z->tree;

    session_lock(z->session);
    bool is_list = z->request == REQUEST_LIST;
    t->asking--;
    z->request = REQUEST_NONE;
    if (z->dropped)
        free_if_over(z);
    else if (t->opts.once && !is_of_the_node(error))
        give_up(t, error);
    else if (is_list && z->is_dir)
        take_listed(z, error, reply);
    else if (!is_list && error != ZKR_ECLOSED)
        take_read(z, error, reply);
    tree_ask(t);
    session_unlock(t);
}

static void ask(struct znode *z)
{
    struct mirror *t = z->tree;
    zkr_session *s = z->session->session;
    int rc =
        t->over ? ZKR_ECLOSED
        : z->is_dir
            ? zkr_session_children_async(s, z->path, left_ms(t), on_answer, z)
            : zkr_session_get_async(s, z->path, left_ms(t), on_answer, z);

    if (rc == ZKR_OK) {
        z->request = z->is_dir ? REQUEST_LIST : REQUEST_READ;
        t->asking++;
    } else if (rc == ZKR_EPATH || rc == ZKR_ETOOLONG) {
        if (z->is_dir)
            take_answer(z, rc, NULL, false);
        else
            take_read(z, rc, NULL);
    } else if (!z->is_dir) {
        end_wait(z); /* a session that is over */
    } else if (t->opts.once) {
        give_up(t, rc);
    }
}

/* --- taking news --- */

static bool is_idle(const struct znode *z)
{
    return z == NULL || (z->waits == 0 && z->request == REQUEST_NONE &&
                         z->error != NO_ANSWER);
}

/* Nothing of it is under way. */
static bool is_ready(const struct znode *z)
{
    if (z->dropped)
        return true;
    if (dir_part(z) != ZKR__PART_PATH && z->in->changed_ms != 0)
        return false;
    return is_idle(z) && is_idle(dir_of_part(z, ZKR__PART_LEASES)) &&
           is_idle(dir_of_part(z, ZKR__PART_QUEUE));
}

static int by_path(const void *a, const void *b)
{
    const struct znode *const *x = a;
    const struct znode *const *y = b;

    return strcmp((*x)->path, (*y)->path);
}

void tree_start(struct mirror *t)
{
    struct {
        struct znode **items;
        size_t count;
    } all = { .items = NULL };

    t->started = true;
    for (struct znode *z = t->news.first; z != NULL; z = z->next)
        *(struct znode **)GROW(&all) = z;
    sort_array(all.items, all.count, sizeof(*all.items), by_path);
    t->news.end = &t->news.first;
    for (size_t i = 0; i < all.count; i++)
        enqueue(&t->news, &all.items[i]->next, all.items[i]);
    free(all.items);
}

struct znode *tree_next_news(struct mirror *t)
{
    for (struct znode **at = &t->news.first; *at != NULL; at = &(*at)->next) {
        struct znode *z = *at;

        if (!is_ready(z)) {
            z->held_back =
                z->held_back || clock_now_ms() - z->changed_ms > PATIENCE_MS;
            continue;
        }
        *at = z->next;
        if (t->news.end == &z->next)
            t->news.end = at;
        return z;
    }
    return NULL;
}

void tree_take_kids(struct znode *z)
{
    for (size_t i = 0; i < z->count; i++)
        z->kids[i]->shown =
            z->kids[i]->error != ZKR_ZNONODE || node_is_read(&z->kids[i]->node);
}

void tree_take_news(struct znode *z)
{
    z->changed_ms = 0;
    z->unseen = (struct unseen){ .missed = 0 };
    z->taken = true;
    z->held_back = false;
    if (z->dropped) {
        free_if_over(z);
        return;
    }
    catch_up(z);
    dir_each_part(z, catch_up);
}

void tree_take_all_news(struct mirror *t)
{
    while (t->news.first != NULL) {
        struct znode *z = t->news.first;

        t->news.first = z->next;
        if (t->news.first == NULL)
            t->news.end = &t->news.first;
        tree_take_news(z);
    }
}

/* Znodes that were dropped are in the queues alone. */
static void empty(struct znode_queue *queue)
{
    while (queue->first != NULL) {
        struct znode *z = queue->first;

        queue->first = z->next_queued;
        z->request = REQUEST_NONE;
        free_if_over(z);
    }
}

void tree_done(struct mirror *t)
{
    empty(&t->reads);
    empty(&t->lists);
    t->over = true;
    tree_take_all_news(t);
    for (size_t i = 0; i < t->root_count; i++)
        free_znode(t->roots[i]);
    free(t->roots);
    sessions_done(t);
}

/* --- what is due --- */

/* One tick on its way through the tree. */
struct tick {
    int64_t now_ms;
    size_t polled;
    int left;
};

static void ask_by_tick(struct znode *z, struct tick *w)
{
    bool checking = z->watch != NULL && z->due_ms != DUE_NOW;

    w->left--;
    z->due_ms = z->watch != NULL ? w->now_ms + CHECK_MS : next_poll_ms(z->tree);
    if (z->is_dir)
        ask(z);
    else
        ask_in_turn(z);
    z->checking = checking && z->request == REQUEST_LIST;
}

static void tick_znode(struct znode *z, struct tick *w)
{
    bool polled = is_polled(z);

    w->polled += polled;
    if ((z->is_dir || polled) && z->due_ms <= w->now_ms && w->left > 0 &&
        z->request == REQUEST_NONE && !is_held_back(z))
        ask_by_tick(z, w);
    for (size_t i = 0; i < z->count; i++)
        tick_znode(z->kids[i], w);
}

bool tree_tick(struct mirror *t)
{
    struct tick w = { .now_ms = clock_now_ms(), .left = ASKED_PER_TICK };

    if (w.now_ms < t->tick_ms + TICK_MS)
        return false;
    t->tick_ms = w.now_ms;
    for (size_t i = 0; i < t->root_count; i++)
        tick_znode(t->roots[i], &w);
    t->polled = w.polled;
    tree_ask(t);
    return true;
}
