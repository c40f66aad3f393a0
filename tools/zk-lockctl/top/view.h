/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what the user of top looks at, and changes it when a key is pressed.
 * Pure. */
#pragma once

#include "top/model.h"

/* Keys as numbers: characters, and those that are none. */
enum {
    KEY_FIRST = 0x110000,
    KEY_IS_UP = KEY_FIRST,
    KEY_IS_DOWN,
    KEY_IS_PAGE_UP,
    KEY_IS_PAGE_DOWN,
    KEY_IS_HOME,
    KEY_IS_END,
    KEY_IS_ENTER,
    KEY_IS_ESCAPE,
    KEY_IS_BACKSPACE,
};

enum top_mode {
    TOP_MODE_LOCKS,
    TOP_MODE_QUEUE,
    TOP_MODE_OWNERS,
    TOP_MODE_HELP, /* no list */
};

/* A line of a list, and which part of the list is on the screen. */
struct top_cursor {
    size_t at;
    size_t first; /* on the screen */
};

/* A verb that the user wants to run on a lock. */
struct top_act {
    const char *verb;
    const char *path; /* of a lock of the model */
    int64_t token;    /* of the holder; 0: of whoever holds it */
};

struct top_view {
    enum top_mode mode;
    enum top_mode behind_help;
    enum top_key sort;
    bool reversed;
    bool typing; /* the filter */
    char filter[128];
    char *path; /* the lock of the cursor, which it follows; NULL: the first
                   line, whichever that is */
    struct top_cursor cursors[TOP_MODE_HELP]; /* of each list */
    int64_t token; /* the contender of the cursor in the queue, which it follows
                      likewise; 0: whichever is on its line */
    size_t page;   /* lines that fit */
    bool read_only;     /* it neither asks nor breaks */
    const char *said;   /* why not, until the next key; NULL: nothing */
    struct top_act act; /* of TOP_ACT */
};

enum top_action {
    TOP_GO_ON,
    TOP_LOOK_NOW,
    TOP_ACT, /* see top_view.act */
    TOP_QUIT,
};

/* Handles a key; returns what it asks for beyond the view. The model is
 * arranged anew. */
enum top_action top_view_key(struct top_view *view, struct top_model *model,
                             uint32_t key);

/* After a look, a key, or another size: the model is arranged, and the cursors
 * are on lines that exist, and on the screen. */
void top_view_settle(struct top_view *view, struct top_model *model,
                     size_t page);

/* The lines of that list. */
size_t top_view_count(const struct top_view *view,
                      const struct top_model *model, enum top_mode mode);

/* The lock that the cursor is on, or whose queue is shown; NULL. */
const struct lock *top_view_lock(const struct top_view *view,
                                 const struct top_model *model);

void top_view_done(struct top_view *view);
