/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out what is wrong with locks, as far as it can be seen from outside. */
#include "model/doctor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/shell.h"
#include "common/words.h"
#include "model/watching.h"

/* From this number on, sessions that one node wakes are a herd. */
#define HERD 3

/* docs/znodes.md */
#define SEQUENCE_LAST INT64_C(2147483647)
#define SEQUENCE_HIGH INT64_C(2130706432)

#define NAME_MAX_TEXT 300

/* --- findings --- */

static bool grow(struct findings *f)
{
    struct finding *grown;

    if ((f->count & (f->count - 1)) != 0) /* not full: 0, 1, 2, 4, ... */
        return true;
    grown =
        realloc(f->items, (f->count == 0 ? 1 : f->count * 2) * sizeof(*grown));
    if (grown == NULL)
        return false;
    f->items = grown;
    return true;
}

static void free_finding(struct finding *one)
{
    free(one->path);
    free(one->node);
    free(one->what);
    free(one->cure);
}

/* Takes `what` and `cure`, which asprintf() made, or not. */
static void add(struct findings *f, const char *check, const struct lock *lock,
                const struct contender *c, char *what, char *cure)
{
    struct finding one = {
        .check = check,
        .path = strdup(lock->path),
        .node = c == NULL ? NULL : strdup(c->node->name),
        .token = c == NULL ? 0 : c->node->token,
        .what = what,
        .cure = cure,
    };

    if (one.path == NULL || (c != NULL && one.node == NULL) || what == NULL ||
        cure == NULL || !grow(f)) {
        free_finding(&one);
        f->failed = true;
        return;
    }
    f->items[f->count++] = one;
}

static char *text(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static char *text(const char *format, ...)
{
    char *made = NULL;
    va_list args;

    va_start(args, format);
    if (vasprintf(&made, format, args) < 0)
        made = NULL;
    va_end(args);
    return made;
}

static const char *name_text(const char *name, char out[NAME_MAX_TEXT])
{
    (void)escape_string(name, out, NAME_MAX_TEXT);
    return out;
}

/* "zk-lockctl VERB LOCK" */
static char *command(const char *verb, const struct lock *lock)
{
    char *word = shell_word(lock->path);
    char *made = word == NULL ? NULL : text("zk-lockctl %s %s", verb, word);

    free(word);
    return made;
}

static char *breaking(const char *first, const struct lock *lock,
                      const struct contender *c)
{
    char verb[WORD_MAX + 32];
    char token[WORD_MAX];
    char *order;
    char *made;

    (void)snprintf(verb, sizeof(verb), "break --token %s",
                   word_token(c->node->token, token));
    order = command(verb, lock);
    made = order == NULL ? NULL : text("%s: %s", first, order);
    free(order);
    return made;
}

void findings_done(struct findings *f)
{
    for (size_t i = 0; i < f->count; i++)
        free_finding(&f->items[i]);
    free(f->items);
    *f = (struct findings){ .items = NULL };
}

static int by_subject(const void *a, const void *b)
{
    const struct finding *x = a;
    const struct finding *y = b;
    int order = strcmp(x->check, y->check);

    if (order == 0)
        order = strcmp(x->path, y->path);
    if (order == 0 && x->token != y->token)
        order = x->token < y->token ? -1 : 1;
    if (order == 0 && x->pzxid != y->pzxid)
        order = x->pzxid < y->pzxid ? -1 : 1;
    if (order != 0 || x->node == NULL || y->node == NULL)
        return order != 0 ? order : (x->node != NULL) - (y->node != NULL);
    return strcmp(x->node, y->node);
}

void findings_keep(struct findings *f, const struct findings *before)
{
    struct finding *sorted = calloc(before->count + 1, sizeof(*sorted));
    size_t n = 0;

    if (sorted == NULL) {
        f->failed = true;
        return;
    }
    if (before->count > 0)
        memcpy(sorted, before->items, before->count * sizeof(*sorted));
    qsort(sorted, before->count, sizeof(*sorted), by_subject);
    for (size_t i = 0; i < f->count; i++) {
        if (bsearch(&f->items[i], sorted, before->count, sizeof(*sorted),
                    by_subject) != NULL) {
            struct finding kept = f->items[i];

            f->items[i] = f->items[n];
            f->items[n++] = kept;
        }
    }
    while (f->count > n)
        free_finding(&f->items[--f->count]);
    free(sorted);
}

/* --- one lock --- */

static void check_sessions(struct findings *f, const struct lock *lock)
{
    char name[NAME_MAX_TEXT];

    for (size_t i = 0; i < lock->count; i++) {
        const struct contender *c = &lock->items[i];

        if (c->node->error != ZKR_OK || c->node->session_id != 0)
            continue;
        add(f, "persistent-contender", lock, c,
            text("%s %s, but it belongs to no session: no server will ever "
                 "remove it",
                 name_text(c->node->name, name),
                 c->node->holds ? "holds" : "stands in the queue"),
            breaking("see that nobody uses it, then remove it", lock, c));
    }
}

/* "leases/" or "locks/" of a semaphore, or "", is before the name. */
static size_t dir_len(const struct contender *c)
{
    const char *slash = strchr(c->node->name, '/');

    return slash == NULL ? 0 : (size_t)(slash - c->node->name) + 1;
}

/* Writes the first number of the queue that a foreign child is in; "" if
 * nobody is. */
static void write_first_number(const struct lock *lock,
                               const struct contender *foreign, char first[24])
{
    const char *dir = foreign->node->name;
    size_t len = dir_len(foreign);

    first[0] = '\0';
    for (size_t i = 0; i < lock->count && first[0] == '\0'; i++) {
        const struct contender *c = &lock->items[i];

        if (c->node->sequence >= 0 && dir_len(c) == len &&
            strncmp(c->node->name, dir, len) == 0)
            (void)snprintf(first, 24, "%010" PRId64, c->node->sequence);
    }
}

static void find_child_before_all(struct findings *f, const struct lock *lock,
                                  const struct contender *c)
{
    char name[NAME_MAX_TEXT];

    add(f, "foreign-child", lock, c,
        text("%s is no contender, but Curator takes every child for one, and "
             "this one sorts before all numbers: there nobody gets the lock",
             name_text(c->node->name, name)),
        text("remove that node by hand; keep other nodes out of the "
             "directory of a lock"));
}

static void find_child_of_leases(struct findings *f, const struct lock *lock,
                                 const struct contender *c)
{
    char name[NAME_MAX_TEXT];

    add(f, "foreign-child", lock, c,
        text("%s is no lease, but every child of that directory counts as "
             "one: it takes a permit for good",
             name_text(c->node->name, name)),
        text("remove that node by hand; keep other nodes out of the "
             "directories of a semaphore"));
}

/* Curator compares the text after its own marker, or otherwise the whole name.
 * Children of each directory are in a row. */
static void check_foreign(struct findings *f, const struct lock *lock)
{
    char first[24] = "";

    if (lock->dialect == DIALECT_KAZOO || lock->dialect == DIALECT_C_RECIPE ||
        lock->dialect == DIALECT_ZK_RUBY)
        return;
    for (size_t i = lock->count; i < lock->listed; i++) {
        const struct contender *c = &lock->items[i];
        size_t len = dir_len(c);

        if (i == lock->count || dir_len(c - 1) != len)
            write_first_number(lock, c, first);
        if (len == strlen("leases/"))
            find_child_of_leases(f, lock, c);
        else if (first[0] != '\0' && strcmp(c->node->name + len, first) < 0)
            find_child_before_all(f, lock, c);
    }
}

static void check_kind(struct findings *f, const struct lock *lock)
{
    if (lock->kind != KIND_MIXED)
        return;
    add(f, "mixed-recipes", lock, NULL,
        text("the contenders use recipes that do not exclude each other, such "
             "as a mutex and a read/write lock: more of them may hold than is "
             "shown"),
        text("use one recipe on a path"));
}

static void check_sequence(struct findings *f, const struct lock *lock)
{
    int64_t highest = 0;
    bool negative = false;

    for (size_t i = 0; i < lock->count; i++) {
        int64_t sequence = lock->items[i].node->sequence;

        highest = sequence > highest ? sequence : highest;
        negative = negative || sequence < 0;
    }
    if (highest < SEQUENCE_HIGH && !negative)
        return;
    add(f, "sequence-headroom", lock, NULL,
        negative || highest >= SEQUENCE_LAST
            ? text("the numbers of this directory are used up: servers give "
                   "the same one to all, and nobody can tell the order")
            : text("of the numbers of this directory %" PRId64 " are left",
                   SEQUENCE_LAST - highest),
        text("let the lock become free and have the directory removed: the "
             "numbers of a new one begin at 0"));
}

/* Only when it was asked for: with the default ACL of ZooKeeper every directory
 * is open to all. */
static void check_acl(struct findings *f, const struct lock *lock)
{
    static const struct {
        uint32_t permission;
        const char *what;
    } harm[] = {
        { ZKR_PERMISSION_DELETE, ", delete the nodes of others" },
        { ZKR_PERMISSION_WRITE, ", write data into it" },
        { ZKR_PERMISSION_ADMIN, ", change who may" },
    };
    uint32_t anyone = lock->list == NULL ? 0 : lock->list->anyone;
    char all[128] = "";
    size_t used = 0;

    for (size_t i = 0; i < sizeof(harm) / sizeof(harm[0]); i++) {
        if ((anyone & harm[i].permission) != 0)
            used += (size_t)snprintf(all + used, sizeof(all) - used, "%s",
                                     harm[i].what);
    }
    if (used > 0)
        add(f, "open-acl", lock, NULL, text("everybody may%s", all + 1),
            text("give the directory an ACL of its users; make new ones with "
                 "the acl option of their sessions"));
}

/* Clients cannot see whether a directory is a container. But a container whose
 * children have gone goes soon, so one that is still there later, and
 * unchanged, is no container. */
static void check_empty(struct findings *f, const struct lock *lock)
{
    size_t count = f->count;

    if (lock->error != ZKR_OK || lock->total > 0 || lock->pzxid == 0)
        return;
    add(f, "empty-directory", lock, NULL,
        text("its last child has gone and it stays, so it is no container: a "
             "lock that nobody uses, or something else"),
        text("delete it by hand if nothing needs it; use clients that make "
             "containers"));
    if (f->count > count)
        f->items[count].pzxid = lock->pzxid;
}

static char *end_of_holder(const struct lock *lock, const struct contender *c)
{
    char stop[STOP_MAX];
    char first[STOP_MAX + 32];

    if (c->owner.is_asked)
        return breaking("it was asked already: stop that program, then", lock,
                        c);
    (void)snprintf(first, sizeof(first), "stop %s, then",
                   contender_to_stop(c, "that program", stop));
    return contender_hears_requests(c->node, c->dialect)
               ? command("revoke", lock)
               : breaking(first, lock, c);
}

static void check_age(struct findings *f, const struct lock *lock,
                      const struct doctor_opts *opts)
{
    char who[WHO_MAX];
    char age[WORD_MAX];

    if (opts->older_ms == 0)
        return;
    for (size_t i = 0; i < lock->count; i++) {
        const struct contender *c = &lock->items[i];

        if (!c->node->holds || c->age_ms < opts->older_ms)
            continue;
        add(f, "old-holder", lock, c,
            text("%s holds it; its node is %s old, %zu waiting",
                 contender_who(c, who), word_age(c->age_ms, age),
                 lock->waiters),
            end_of_holder(lock, c));
    }
}

/* The one who wants a permit and has no lease yet, or one that does not hold:
 * the first in the queue. */
static const struct contender *first_for_permit(const struct lock *lock)
{
    for (size_t i = 0; i < lock->count; i++) {
        const struct contender *c = &lock->items[i];

        if (contender_wants_permit(lock, c) && !contender_is_promised(c))
            return c;
    }
    return NULL;
}

static const struct contender *oldest_lease(const struct lock *lock)
{
    const struct contender *oldest = NULL;

    for (size_t i = 0; i < lock->count; i++) {
        const struct contender *c = &lock->items[i];

        if (contender_is_lease(c->node) && c->node->holds &&
            (oldest == NULL || c->age_ms > oldest->age_ms))
            oldest = c;
    }
    return oldest;
}

/* How many permits there are is not on the servers. But when somebody has
 * waited for one for long, they are used up. */
static void check_permits(struct findings *f, const struct lock *lock,
                          const struct doctor_opts *opts)
{
    const struct contender *waits = first_for_permit(lock);
    const struct contender *lease = oldest_lease(lock);
    char who[WHO_MAX], whose[WHO_MAX];
    char age[WORD_MAX], since[WORD_MAX];

    if (opts->older_ms == 0 || waits == NULL || waits->age_ms < opts->older_ms)
        return;
    add(f, "no-permit", lock, waits,
        lease == NULL
            ? text("%s has waited for a permit for %s, and nobody has one",
                   contender_who(waits, who), word_age(waits->age_ms, age))
            : text(
                  "%s has waited for a permit for %s, %zu waiting; %zu lease%s "
                  "out, the oldest to %s, for <=%s",
                  contender_who(waits, who), word_age(waits->age_ms, age),
                  lock->waiters, lock->holders,
                  lock->holders == 1 ? " is" : "s are",
                  contender_who(lease, whose), word_age(lease->age_ms, since)),
        lease == NULL ? text("restart that program: it may wait for nothing")
                      : command("show", lock));
}

/* --- who is there --- */

/* It has died, or cannot reach the servers. */
static void check_clients(struct findings *f, const struct lock *lock,
                          const struct servers *servers)
{
    char who[WHO_MAX];
    char stop[STOP_MAX];
    char first[STOP_MAX + 128];

    for (size_t i = 0; i < lock->count; i++) {
        const struct contender *c = &lock->items[i];

        if (!c->node->holds || c->node->session_id == 0 ||
            servers_client(servers, c->node->session_id) != NULL)
            continue;
        (void)snprintf(first, sizeof(first),
                       "its node goes when its session has timed out; where "
                       "that is too long, see that %s is dead, then",
                       contender_to_stop(c, "the program", stop));
        add(f, "absent-holder", lock, c,
            text("%s %s, and its client is connected to no server; %zu waiting",
                 contender_who(c, who),
                 contender_is_lease(c->node) ? "has a permit" : "holds it",
                 lock->waiters),
            breaking(first, lock, c));
    }
}

/* --- who watches whom --- */

static void check_deaf(struct findings *f, const struct watching *w)
{
    char who[WHO_MAX];
    char name[NAME_MAX_TEXT];

    for (size_t i = 0; i < w->lock->count; i++) {
        const struct contender *c = &w->lock->items[i];

        if (c->node->holds || c->node->error != ZKR_OK ||
            watching_wakes(w, c) != ANSWER_NO)
            continue;
        add(f, "deaf-waiter", w->lock, c,
            text("%s at position %zu (%s) watches nobody before it: it will "
                 "not wake up, and block all behind it",
                 contender_who(c, who), i, name_text(c->node->name, name)),
            text("restart that program, or delete its node: a live client "
                 "enters the queue again"));
    }
}

static void check_herd(struct findings *f, const struct watching *w)
{
    size_t *watchers = watching_count(w);
    char name[NAME_MAX_TEXT];

    if (watchers == NULL) {
        f->failed = true;
        return;
    }
    for (size_t i = 0; i < w->lock->count; i++) {
        const struct contender *c = &w->lock->items[i];

        if (watchers[i] < HERD)
            continue;
        add(f, "herd", w->lock, c,
            text("%zu exclusive waiters watch %s: all of them wake up when it "
                 "goes, and one gets the lock",
                 watchers[i], name_text(c->node->name, name)),
            text("use a client in which each waiter watches only the one "
                 "before it"));
    }
    free(watchers);
}

static void check_watches(struct findings *f, const struct lock *lock,
                          const struct servers *servers)
{
    struct watching w;

    if (lock->waiters == 0)
        return;
    if (watching_read(&w, lock, servers, "")) {
        check_deaf(f, &w);
        check_herd(f, &w);
    } else {
        f->failed = true;
    }
    watching_done(&w);
}

/* --- all --- */

void doctor_examine(const struct scan *scan, const struct servers *servers,
                    const struct doctor_opts *opts, struct findings *f)
{
    for (size_t i = 0; i < scan->count; i++) {
        const struct lock *lock = &scan->locks[i];

        check_sessions(f, lock);
        check_foreign(f, lock);
        check_kind(f, lock);
        check_sequence(f, lock);
        check_age(f, lock, opts);
        check_permits(f, lock, opts);
        check_acl(f, lock);
        if (opts->empty)
            check_empty(f, lock);
        if (servers != NULL && servers_know_all(servers, SERVERS_CONS))
            check_clients(f, lock, servers);
        if (servers != NULL && servers_know_all(servers, SERVERS_WCHP))
            check_watches(f, lock, servers);
    }
}

void doctor_add_deadlocks(const struct deadlocks *all, struct findings *f)
{
    char who[WHO_MAX];

    for (size_t i = 0; i < all->count; i++) {
        const struct deadlock_member *m = all->items[i].youngest;

        if (!all->items[i].certain)
            continue;
        add(f, "deadlock", m->waits_lock, m->waits,
            all->items[i].count == 1
                ? text("%s waits for itself", contender_who(m->waits, who))
                : text("%s is the last of %zu owners who wait for each other",
                       contender_who(m->waits, who), all->items[i].count),
            text("zk-lockctl deadlocks shows it and what ends it"));
    }
}
