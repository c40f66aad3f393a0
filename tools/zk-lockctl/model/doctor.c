/* SPDX-License-Identifier: Apache-2.0 */
#include "model/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/grow.h"
#include "common/words.h"
#include "model/breaking.h"

enum { NAME_ROOM = 300 }; /* of a node, escaped */

/* Clocks that are kept by NTP differ by less. */
#define SKEW_MS 10000

/* --- the list --- */

static void free_finding(struct finding *one)
{
    free(one->what);
    free(one->cure);
}

/* Adds one on a lock, or on a child of it (`c` is not NULL). The list takes the
 * texts. */
static void findings_add(struct findings *f, const char *check,
                         const char *path, const struct contender *c,
                         char *what, char *cure)
{
    *(struct finding *)GROW(f) =
        (struct finding){ check, path, c == NULL ? NULL : c->node, what, cure };
}

void findings_done(struct findings *f)
{
    for (size_t i = 0; i < f->count; i++)
        free_finding(&f->items[i]);
    free(f->items);
    *f = (struct findings){ .items = NULL };
}

static bool is_same(const struct finding *x, const struct finding *y)
{
    return strcmp(x->check, y->check) == 0 && strcmp(x->path, y->path) == 0 &&
           (x->node == NULL || y->node == NULL ||
            (x->node->token == y->node->token &&
             strcmp(x->node->name, y->node->name) == 0));
}

void findings_keep(struct findings *f, const struct findings *before)
{
    size_t n = 0;

    for (size_t i = 0; i < f->count; i++) {
        size_t k = 0;

        while (k < before->count && !is_same(&f->items[i], &before->items[k]))
            k++;
        if (k < before->count)
            f->items[n++] = f->items[i];
        else
            free_finding(&f->items[i]);
    }
    f->count = n;
}

/* --- sentences --- */

/* A text like that of printf(). */
__attribute__((format(printf, 1, 2))) static char *
finding_text(const char *format, ...)
{
    char *made = NULL;
    va_list args;

    va_start(args, format);
    if (vasprintf(&made, format, args) < 0)
        made = NULL;
    va_end(args);
    return enough(made);
}

/* "FIRST: zk-lockctl break --token TOKEN LOCK". */
static char *cure_break(const char *first, const struct contender *c)
{
    char *order = breaking_command(c, false, NULL);
    char *made = finding_text("%s: %s", first, order);
    free(order);
    return made;
}

/* --- nodes that spoil the queue --- */

static void check_session(struct findings *f, const struct contender *c)
{
    char name[NAME_ROOM];

    if (c->node->error != ZKR_OK || c->node->session_id != 0)
        return;
    findings_add(f, "persistent-contender", c->path, c,
                 finding_text("%s %s, but it belongs to no session: no server "
                              "will ever remove it",
                              escape_string(c->node->name, name, sizeof(name)),
                              c->node->holds ? "holds" : "stands in the queue"),
                 cure_break("see that nobody uses it, then remove it", c));
}

static void check_kind(struct findings *f, const struct lock *lock)
{
    if (lock->kind != ZKR__KIND_MIXED)
        return;
    findings_add(
        f, "mixed-recipes", lock->path, NULL,
        finding_text(
            "the contenders use recipes that do not exclude each other, such "
            "as a mutex and a read/write lock: more of them may hold than is "
            "shown"),
        finding_text("use one recipe on a path"));
}

/* --- what lasts for long --- */

static char *end_of_holder(const struct contender *c)
{
    char stop[STOP_MAX];
    char first[STOP_MAX + 32];

    if (c->owner.is_asked)
        return cure_break("it was asked already: stop that program, then", c);
    (void)snprintf(first, sizeof(first), "stop %s, then",
                   contender_to_stop(c, "that program", stop));
    return zkr__hears_requests(c->node, c->dialect)
               ? breaking_command(c, true, NULL)
               : cure_break(first, c);
}

static void check_age(struct findings *f, const struct lock *lock,
                      const struct contender *c, int64_t older_ms)
{
    char who[NAMED_MAX];
    char age[WORD_MAX];

    if (!c->node->holds || older_ms == 0 || c->age_ms < older_ms)
        return;
    findings_add(f, "old-holder", c->path, c,
                 finding_text("%s holds it; its node is %s old, %zu waiting",
                              contender_named(c, who), word_age(c->age_ms, age),
                              lock->waiters),
                 end_of_holder(c));
}

/* --- what the servers tell of clients --- */

/* It has died, or cannot reach the servers. */
static void check_client(struct findings *f, const struct lock *lock,
                         const struct contender *c,
                         const struct servers *servers)
{
    char who[NAMED_MAX];
    char stop[STOP_MAX];
    char first[STOP_MAX + 128];

    if (!c->node->holds || !servers_lack(servers, c->node->session_id))
        return;
    (void)snprintf(first, sizeof(first),
                   "its node goes when its session has timed out; where that "
                   "is too long, see that %s is dead, then",
                   contender_to_stop(c, "the program", stop));
    findings_add(
        f, "absent-holder", c->path, c,
        finding_text(
            "%s %s, and its client is connected to no server; %zu waiting",
            contender_named(c, who),
            zkr__is_lease(c->node) ? "has a permit" : "holds it",
            lock->waiters),
        cure_break(first, c));
}

/* --- all of it --- */

void doctor_examine(const struct scan *scan, const struct servers *servers,
                    const struct doctor_opts *opts, struct findings *f)
{
    for (size_t i = 0; i < scan->count; i++) {
        const struct lock *lock = &scan->locks[i];

        check_kind(f, lock);
        for (size_t k = 0; k < lock->count; k++) {
            const struct contender *c = &lock->items[k];

            check_session(f, c);
            check_age(f, lock, c, opts->older_ms);
            check_client(f, lock, c, servers);
        }
    }
}

static void add_deadlock(const struct deadlock *d, struct findings *f)
{
    const struct deadlock_member *m = d->youngest;
    char who[NAMED_MAX];

    findings_add(
        f, "deadlock", m->waits->path, m->waits,
        d->count == 1
            ? finding_text("%s waits for itself",
                           contender_named(m->waits, who))
            : finding_text(
                  "%s is the last of %zu owners who wait for each other",
                  contender_named(m->waits, who), d->count),
        finding_text("zk-lockctl deadlocks shows it and what ends it"));
}

static void add_own_node(const struct deadlock *d, struct findings *f)
{
    const struct deadlock_member *m = d->youngest;
    char who[NAMED_MAX];
    char age[WORD_MAX];

    findings_add(
        f, "own-node", m->waits->path, m->waits,
        finding_text("%s has waited for %s behind a node of its own session: "
                     "for ever, if one thread holds and waits",
                     contender_named(m->waits, who),
                     word_age(m->waits->age_ms, age)),
        finding_text("see the stacks of that program, and restart it "
                     "if it waits for itself"));
}

void doctor_add_deadlocks(const struct deadlocks *all,
                          const struct doctor_opts *opts, struct findings *f)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct deadlock *d = &all->items[i];

        if (d->certain)
            add_deadlock(d, f);
        else if (d->count == 1 && opts->older_ms > 0 &&
                 d->youngest->waits->age_ms >= opts->older_ms)
            add_own_node(d, f);
    }
}

/* Any numbers, as a server tells them. */
static int64_t later_by(int64_t ms, int64_t than_ms)
{
    return ms > than_ms ? ms - than_ms : 0;
}

int64_t doctor_skew_ms(const struct scan *scan, const struct servers *servers,
                       const struct doctor_opts *opts)
{
    const struct client *me = servers_client(servers, opts->session_id);
    int64_t behind = 0;

    for (size_t i = 0; i < scan->count; i++) {
        const struct lock *lock = &scan->locks[i];

        for (size_t k = 0; k < lock->count; k++) {
            int64_t ms = later_by(lock->items[k].node->since_ms, lock->at_ms);

            behind = ms > behind ? ms : behind;
        }
    }
    if (me != NULL && me->since_ms > 0 && behind == 0)
        behind = later_by(me->since_ms, scan->at_ms) -
                 later_by(opts->opened_ms, me->since_ms);
    return behind > -SKEW_MS && behind < SKEW_MS ? 0 : behind;
}
