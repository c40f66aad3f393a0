/* SPDX-License-Identifier: Apache-2.0 */
#include "top/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "common/grow.h"

/* --- the cursor --- */

size_t top_view_count(const struct top_view *view,
                      const struct top_model *model, enum top_mode mode)
{
    const struct lock *lock = top_view_lock(view, model);

    return mode == TOP_MODE_OWNERS  ? model->owners.count
           : mode == TOP_MODE_LOCKS ? model->shown_count
           : lock == NULL           ? 0
                                    : lock->listed;
}

static void move(struct top_cursor *c, uint32_t key, size_t page, size_t size)
{
    size_t last = size > 0 ? size - 1 : 0;

    switch (key) {
    case KEY_IS_UP:
    case 'k':
        c->at -= c->at > 0;
        break;
    case KEY_IS_DOWN:
    case 'j':
        c->at++;
        break;
    case KEY_IS_PAGE_UP:
        c->at -= c->at > page ? page : c->at;
        break;
    case KEY_IS_PAGE_DOWN:
        c->at += page;
        break;
    case KEY_IS_HOME:
    case 'g':
        c->at = 0;
        break;
    case KEY_IS_END:
    case 'G':
        c->at = last;
        break;
    default:
        break;
    }
    if (c->at > last)
        c->at = last;
}

static void scroll(struct top_cursor *c, size_t page, size_t size)
{
    if (c->at >= size)
        c->at = size > 0 ? size - 1 : 0;
    if (c->first > c->at)
        c->first = c->at;
    if (c->at - c->first >= page)
        c->first = c->at - page + 1;
    if (c->first + page > size)
        c->first = size > page ? size - page : 0;
}

/* The cursor stays on its lock wherever that goes. On the first line it stays
 * there, because that line matters most. */
static void follow_lock(struct top_view *view, const struct top_model *model)
{
    size_t i = view->path == NULL ? 0 : top_model_find(model, view->path);

    if (i < model->shown_count || view->path == NULL)
        view->cursors[TOP_MODE_LOCKS].at = i;
}

/* The same in the queue. */
static void follow_contender(struct top_view *view,
                             const struct top_model *model)
{
    const struct lock *lock = top_view_lock(view, model);

    for (size_t i = 0; view->token != 0 && lock != NULL && i < lock->listed;
         i++) {
        if (lock->items[i].node->token == view->token)
            view->cursors[TOP_MODE_QUEUE].at = i;
    }
}

/* What the cursor is on now is what it follows. */
static void take_hold(struct top_view *view, const struct top_model *model)
{
    const struct lock *lock = top_view_lock(view, model);
    size_t at = view->cursors[view->mode].at;

    if (view->mode == TOP_MODE_LOCKS) {
        free(view->path);
        view->path = at > 0 && at < model->shown_count
                         ? enough(strdup(model->shown[at]->path))
                         : NULL;
    } else if (view->mode == TOP_MODE_QUEUE && lock != NULL) {
        view->token =
            at > 0 && at < lock->listed ? lock->items[at].node->token : 0;
    }
}

void top_view_settle(struct top_view *view, struct top_model *model,
                     size_t page)
{
    const struct top_order order = { view->sort, view->reversed, view->filter };

    view->page = page > 0 ? page : 1;
    top_model_arrange(model, &order);
    follow_lock(view, model);
    follow_contender(view, model);
    for (enum top_mode mode = 0; mode < TOP_MODE_HELP; mode++)
        scroll(&view->cursors[mode], view->page,
               top_view_count(view, model, mode));
}

const struct lock *top_view_lock(const struct top_view *view,
                                 const struct top_model *model)
{
    if (view->path != NULL)
        return top_model_lock(model, view->path);
    return model->shown_count > 0 ? model->shown[0] : NULL;
}

void top_view_done(struct top_view *view)
{
    free(view->path);
    view->path = NULL;
}

/* --- keys --- */

static void add_to_filter(struct top_view *view, uint32_t key)
{
    mbstate_t state = { 0 };
    char bytes[16];
    size_t used = strlen(view->filter);

    if (key >= KEY_FIRST || iswprint((wint_t)key) == 0)
        return;
    size_t size = wcrtomb(bytes, (wchar_t)key, &state);
    if (size == (size_t)-1 || used + size >= sizeof(view->filter))
        return;
    memcpy(view->filter + used, bytes, size);
    view->filter[used + size] = '\0';
}

/* The last character, whose bytes but the first are 10xxxxxx in UTF-8. */
static void shorten_filter(struct top_view *view)
{
    size_t used = strlen(view->filter);

    while (used > 0) {
        unsigned char byte = (unsigned char)view->filter[--used];

        view->filter[used] = '\0';
        if (MB_CUR_MAX == 1 || (byte & 0xc0u) != 0x80u)
            break;
    }
}

static void type(struct top_view *view, uint32_t key)
{
    switch (key) {
    case KEY_IS_ESCAPE:
        view->filter[0] = '\0';
        view->typing = false;
        break;
    case KEY_IS_ENTER:
        view->typing = false;
        break;
    case KEY_IS_BACKSPACE:
        shorten_filter(view);
        break;
    default:
        add_to_filter(view, key);
        break;
    }
}

static void sort_by(struct top_view *view, int step)
{
    view->sort = (enum top_key)(((int)view->sort + TOP_KEYS + step) % TOP_KEYS);
    view->reversed = false;
}

static enum top_action back(struct top_view *view, uint32_t key)
{
    if (view->mode == TOP_MODE_HELP)
        view->mode = view->behind_help;
    else if (view->mode != TOP_MODE_LOCKS)
        view->mode = TOP_MODE_LOCKS;
    else if (key == 'q')
        return TOP_QUIT;
    else
        view->filter[0] = '\0';
    return TOP_GO_ON;
}

/* The locks of the owner: those that a filter of its name shows. */
static void enter_owner(struct top_view *view, const struct top_model *model)
{
    size_t at = view->cursors[TOP_MODE_OWNERS].at;

    if (at >= model->owners.count)
        return;
    (void)snprintf(view->filter, sizeof(view->filter), "%s",
                   model->owners.items[at].who);
    view->mode = TOP_MODE_LOCKS;
}

static void enter(struct top_view *view, const struct top_model *model)
{
    if (view->mode == TOP_MODE_OWNERS) {
        enter_owner(view, model);
        return;
    }
    if (view->mode != TOP_MODE_LOCKS || model->shown_count == 0)
        return;
    /* Here it stays with this lock, also with that of the first line. */
    free(view->path);
    view->path =
        enough(strdup(model->shown[view->cursors[TOP_MODE_LOCKS].at]->path));
    view->cursors[TOP_MODE_QUEUE] = (struct top_cursor){ .at = 0 };
    view->token = 0;
    view->mode = TOP_MODE_QUEUE;
}

/* The lock of the cursor, and in its queue the contender; NULL. */
static const struct lock *chosen(const struct top_view *view,
                                 const struct top_model *model,
                                 const struct contender **ret_contender)
{
    size_t at = view->cursors[view->mode].at;
    const struct lock *lock = view->mode == TOP_MODE_QUEUE
                                  ? top_view_lock(view, model)
                              : at < model->shown_count ? model->shown[at]
                                                        : NULL;

    *ret_contender = NULL;
    if (lock != NULL && view->mode == TOP_MODE_QUEUE && at < lock->listed)
        *ret_contender = &lock->items[at];
    return lock;
}

/* Why nobody can be asked, or broken; NULL: the verb will tell. */
static const char *refuse(const struct top_view *view, const struct lock *lock,
                          const struct contender *c, bool breaks)
{
    if (view->read_only)
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

static enum top_action act_on_lock(struct top_view *view,
                                   const struct top_model *model, bool breaks)
{
    const struct contender *c;
    const struct lock *lock = chosen(view, model, &c);

    if (lock == NULL)
        return TOP_GO_ON;
    view->said = refuse(view, lock, c, breaks);
    if (view->said != NULL)
        return TOP_GO_ON;
    c = c == NULL ? lock->holder : c;
    view->act = (struct top_act){
        .verb = breaks ? "break" : "revoke",
        .path = lock->path,
        .token = breaks && c != NULL ? c->node->token : 0,
    };
    return TOP_ACT;
}

/* Keys of the list of locks alone. False: it is none of them. */
static bool act_on_locks(struct top_view *view, uint32_t key)
{
    switch (key) {
    case '/':
        view->typing = true;
        return true;
    case 's':
    case '>':
        sort_by(view, 1);
        return true;
    case '<':
        sort_by(view, -1);
        return true;
    case 'o':
        view->cursors[TOP_MODE_OWNERS] = (struct top_cursor){ .at = 0 };
        view->mode = TOP_MODE_OWNERS;
        return true;
    case 'r':
        view->reversed = !view->reversed;
        return true;
    default:
        return false;
    }
}

static void act_on_list(struct top_view *view, struct top_model *model,
                        uint32_t key)
{
    if (view->mode == TOP_MODE_LOCKS && act_on_locks(view, key))
        return;
    move(&view->cursors[view->mode], key, view->page,
         top_view_count(view, model, view->mode));
    take_hold(view, model);
}

static enum top_action act(struct top_view *view, struct top_model *model,
                           uint32_t key)
{
    switch (key) {
    case 'q':
    case KEY_IS_ESCAPE:
        return back(view, key);
    case 'h':
    case '?':
        if (view->mode != TOP_MODE_HELP)
            view->behind_help = view->mode;
        view->mode = TOP_MODE_HELP;
        return TOP_GO_ON;
    case ' ':
        return TOP_LOOK_NOW;
    case KEY_IS_ENTER:
        enter(view, model);
        return TOP_GO_ON;
    case 'R':
    case 'K':
        return view->mode == TOP_MODE_HELP || view->mode == TOP_MODE_OWNERS
                   ? TOP_GO_ON
                   : act_on_lock(view, model, key == 'K');
    default:
        if (view->mode != TOP_MODE_HELP)
            act_on_list(view, model, key);
        return TOP_GO_ON;
    }
}

enum top_action top_view_key(struct top_view *view, struct top_model *model,
                             uint32_t key)
{
    enum top_action action = TOP_GO_ON;

    view->said = NULL;
    top_view_settle(view, model, view->page); /* a look may have come */
    if (view->typing)
        type(view, key);
    else
        action = act(view, model, key);
    top_view_settle(view, model, view->page);
    return action;
}
