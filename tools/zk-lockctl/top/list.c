/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of top, in the order that the user wants, the cursor in them, and
 * what keys do to them. */
#include "top/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#define NCURSES_NOMACROS
#include <curses.h> /* for KEY_* only */

#include "common/grow.h"
#include "text/lock_fields.h"

/* --- the owners --- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct top_owner *find_owner(struct top *t, const char *who)
{
    for (size_t i = 0; i < t->owners.count; i++) {
        if (strcmp(t->owners.items[i].who, who) == 0)
            return &t->owners.items[i];
    }
    struct top_owner *added = GROW(&t->owners);
    added->held_ms = added->longest_ms = -1;
    (void)strcpy(added->who, who);
    return added;
}

/* An owner with several leases of a semaphore holds it once. */
static void add_holders(struct top *t, const struct lock *lock)
{
    for (size_t i = 0; i < lock->listed; i++) {
        const struct contender *c = &lock->items[i];
        char who[WHO_MAX];

        if (!c->node->holds)
            continue;
        struct top_owner *o = find_owner(t, contender_who(c, who));
        o->held_ms = larger(o->held_ms, c->age_ms);
        if (o->last == lock)
            continue;
        o->last = lock;
        o->locks++;
        o->waiters += lock->waiters;
        if (lock->waiters > 0)
            o->longest_ms = larger(o->longest_ms, lock->longest_wait_ms);
    }
}

static int by_locks(const void *a, const void *b)
{
    const struct top_owner *x = a;
    const struct top_owner *y = b;

    if (x->locks != y->locks)
        return x->locks < y->locks ? 1 : -1;
    if (x->waiters != y->waiters)
        return x->waiters < y->waiters ? 1 : -1;
    return strcmp(x->who, y->who);
}

/* --- the next look --- */

void top_take(struct top *t, struct scan *scan)
{
    scan_done(&t->scan);
    free(t->owners.items);
    t->owners.items = NULL;
    t->owners.count = 0;
    t->scan = *scan;
    *scan = (struct scan){ .locks = NULL };
    for (size_t i = 0; i < t->scan.count; i++)
        add_holders(t, &t->scan.locks[i]);
    sort_array(t->owners.items, t->owners.count, sizeof(*t->owners.items),
               by_locks);
    top_settle(t);
}

void top_done(struct top *t)
{
    scan_done(&t->scan);
    free(t->owners.items);
    free(t->rows);
    for (enum top_mode mode = 0; mode < TOP_MODES; mode++)
        free(t->lists[mode].follows);
}

/* --- the order of locks --- */

static int compare_by(enum top_key key, const struct lock *a,
                      const struct lock *b)
{
    char one[WHO_MAX];
    char other[WHO_MAX];

    return key == TOP_HOLDER
               ? strcmp(cell_holder(a, one), cell_holder(b, other))
               : field_compare(&lock_fields[key], a, b);
}

static int compare(const void *a, const void *b, void *user)
{
    const struct lock *const *x = a;
    const struct lock *const *y = b;
    const struct top *t = user;
    int result = compare_by(t->sort, *x, *y);

    if (t->sort == TOP_STATE) /* the held before the free */
        result = -result;
    if (result != 0)
        return t->reversed ? -result : result;
    /* A lock with a holder matters more than one without. */
    result = compare_by(TOP_HELD, *x, *y);
    return result != 0 ? result : strcmp((*x)->path, (*y)->path);
}

static bool is_held_by(const struct lock *lock, const char *filter)
{
    char who[WHO_MAX];

    for (size_t i = 0; i < lock->listed; i++) {
        const struct contender *c = &lock->items[i];

        if (c->node->holds &&
            (strcasestr(contender_who(c, who), filter) != NULL ||
             strcasestr(c->owner.label, filter) != NULL))
            return true;
    }
    return false;
}

static bool passes(const struct lock *lock, const char *filter)
{
    char path[PATH_TEXT_MAX];

    return filter[0] == '\0' ||
           strcasestr(cell_path(lock->path, path), filter) != NULL ||
           is_held_by(lock, filter);
}

/* --- the present list --- */

const struct lock *top_lock(const struct top *t)
{
    const struct lock key = { .path = t->lists[TOP_LOCKS].follows };

    return find_in_array(&key, t->scan.locks, t->scan.count, sizeof(key),
                         lock_by_path);
}

static void make_rows(struct top *t)
{
    const struct lock *lock = t->mode == TOP_QUEUE ? top_lock(t) : NULL;
    size_t most = t->mode == TOP_LOCKS    ? t->scan.count
                  : t->mode == TOP_OWNERS ? t->owners.count
                  : lock == NULL          ? 0
                                          : lock->listed;

    free(t->rows);
    t->rows = enough(calloc(most + 1, sizeof(*t->rows)));
    t->count = 0;
    for (size_t i = 0; i < most; i++) {
        if (t->mode == TOP_QUEUE)
            t->rows[t->count++] = &lock->items[i];
        else if (t->mode == TOP_OWNERS)
            t->rows[t->count++] = &t->owners.items[i];
        else if (passes(&t->scan.locks[i], t->filter))
            t->rows[t->count++] = &t->scan.locks[i];
    }
    if (t->mode == TOP_LOCKS)
        qsort_r(t->rows, t->count, sizeof(*t->rows), compare, t);
}

/* By which the cursor knows it again. */
static const char *name_of(const struct top *t, size_t row)
{
    const void *item = t->rows[row];

    return t->mode == TOP_LOCKS ? ((const struct lock *)item)->path
           : t->mode == TOP_OWNERS
               ? ((const struct top_owner *)item)->who
               : ((const struct contender *)item)->node->name;
}

static void follow(struct top *t, size_t row)
{
    struct top_list *l = &t->lists[t->mode];

    free(l->follows);
    l->follows = row < t->count ? enough(strdup(name_of(t, row))) : NULL;
}

void top_settle(struct top *t)
{
    struct top_list *l = &t->lists[t->mode];
    size_t page = top_page(t);

    make_rows(t);
    if (l->follows == NULL)
        l->at = 0;
    for (size_t i = 0; l->follows != NULL && i < t->count; i++) {
        if (strcmp(name_of(t, i), l->follows) == 0)
            l->at = i;
    }
    if (l->at >= t->count)
        l->at = t->count > 0 ? t->count - 1 : 0;
    if (l->first > l->at)
        l->first = l->at;
    if (l->at - l->first >= page)
        l->first = l->at - page + 1;
    if (l->first + page > t->count)
        l->first = t->count > page ? t->count - page : 0;
}

static void move_cursor(struct top *t, uint32_t key)
{
    struct top_list *l = &t->lists[t->mode];
    size_t last = t->count > 0 ? t->count - 1 : 0;
    size_t page = top_page(t);

    switch (key) {
    case TOP_KEY + KEY_UP:
    case 'k':
        l->at -= l->at > 0;
        break;
    case TOP_KEY + KEY_DOWN:
    case 'j':
        l->at++;
        break;
    case TOP_KEY + KEY_PPAGE:
        l->at -= l->at > page ? page : l->at;
        break;
    case TOP_KEY + KEY_NPAGE:
        l->at += page;
        break;
    case TOP_KEY + KEY_HOME:
    case 'g':
        l->at = 0;
        break;
    case TOP_KEY + KEY_END:
    case 'G':
        l->at = last;
        break;
    default:
        break;
    }
    if (l->at > last)
        l->at = last;
    follow(t, l->at > 0 ? l->at : SIZE_MAX);
}

/* --- the filter --- */

static void add_to_filter(struct top *t, uint32_t key)
{
    mbstate_t state = { 0 };
    char bytes[16];
    size_t used = strlen(t->filter);

    if (key >= TOP_KEY || iswprint((wint_t)key) == 0)
        return;
    size_t size = wcrtomb(bytes, (wchar_t)key, &state);
    if (size == (size_t)-1 || used + size >= sizeof(t->filter))
        return;
    memcpy(t->filter + used, bytes, size);
    t->filter[used + size] = '\0';
}

static void drop_last_character(char *text)
{
    char *last = text;

    for (int size = 0; *text != '\0'; text += size > 0 ? size : 1) {
        last = text;
        size = mblen(text, MB_CUR_MAX);
    }
    *last = '\0';
}

static void type(struct top *t, uint32_t key)
{
    if (key == '\033')
        t->filter[0] = '\0';
    if (key == '\033' || key == '\r')
        t->typing = false;
    else if (key == TOP_KEY + KEY_BACKSPACE)
        drop_last_character(t->filter);
    else
        add_to_filter(t, key);
}

/* --- other keys --- */

static void sort_by(struct top *t, int step)
{
    t->sort = (enum top_key)(((int)t->sort + TOP_KEYS + step) % TOP_KEYS);
    t->reversed = false;
}

static void open_list(struct top *t, enum top_mode mode)
{
    t->mode = mode;
    t->lists[mode].at = 0;
    follow(t, SIZE_MAX);
}

/* The queue of a lock; the locks of an owner: those that a filter of its name
 * shows. */
static void enter(struct top *t)
{
    size_t at = t->lists[t->mode].at;

    if (at >= t->count)
        return;
    if (t->mode == TOP_OWNERS) {
        (void)snprintf(t->filter, sizeof(t->filter), "%s", name_of(t, at));
        t->mode = TOP_LOCKS;
    } else if (t->mode == TOP_LOCKS) {
        /* here it stays with this lock, also with that of the first line */
        follow(t, at);
        open_list(t, TOP_QUEUE);
    }
}

static enum top_action back(struct top *t, uint32_t key)
{
    if (t->help)
        t->help = false;
    else if (t->mode != TOP_LOCKS)
        t->mode = TOP_LOCKS;
    else if (key == 'q')
        return TOP_QUIT;
    else
        t->filter[0] = '\0';
    return TOP_GO_ON;
}

/* Why nobody can be asked, or broken; NULL: the verb will tell. */
static const char *refuse(const struct top *t, const struct lock *lock,
                          const struct contender *c, bool breaks)
{
    if (t->read_only)
        return "--read-only: nobody is asked, nothing is broken";
    if (lock->state == LOCK_UNKNOWN)
        return "the last look has not seen it";
    if (lock->holders == 0)
        return "nobody holds it";
    if (c != NULL && !c->node->holds)
        return "the cursor is on one who does not hold it";
    if (breaks && c == NULL && lock->holders > 1)
        return "there are several holders: choose one in the queue (Enter)";
    return NULL;
}

/* On the lock of the cursor, or on its contender in the queue. */
static enum top_action act_on_lock(struct top *t, bool breaks)
{
    size_t at = t->lists[t->mode].at;
    const struct contender *c = NULL;

    if (at >= t->count || t->mode == TOP_OWNERS)
        return TOP_GO_ON;
    t->lock = t->mode == TOP_QUEUE ? top_lock(t) : t->rows[at];
    if (t->mode == TOP_QUEUE)
        c = t->rows[at];
    t->said = refuse(t, t->lock, c, breaks);
    if (t->said != NULL)
        return TOP_GO_ON;
    c = c == NULL ? t->lock->holder : c;
    t->verb = breaks ? "break" : "revoke";
    t->token = breaks && c != NULL ? c->node->token : 0;
    return TOP_ACT;
}

/* Keys of the list of locks alone. False: it is none of them. */
static bool act_on_locks(struct top *t, uint32_t key)
{
    if (key == '/')
        t->typing = true;
    else if (key == 's' || key == '>')
        sort_by(t, 1);
    else if (key == '<')
        sort_by(t, -1);
    else if (key == 'o')
        open_list(t, TOP_OWNERS);
    else if (key == 'r')
        t->reversed = !t->reversed;
    else
        return false;
    return true;
}

static enum top_action act(struct top *t, uint32_t key)
{
    if (key == 'q' || key == '\033')
        return back(t, key);
    if (key == 'h' || key == '?')
        t->help = true;
    if (t->help)
        return TOP_GO_ON;
    if (key == 'R' || key == 'K')
        return act_on_lock(t, key == 'K');
    if (key == '\r')
        enter(t);
    else if (t->mode != TOP_LOCKS || !act_on_locks(t, key))
        move_cursor(t, key);
    return TOP_GO_ON;
}

enum top_action top_press(struct top *t, uint32_t key)
{
    enum top_action action = TOP_GO_ON;

    t->said = NULL;
    if (t->typing)
        type(t, key);
    else
        action = act(t, key);
    top_settle(t);
    return action;
}
