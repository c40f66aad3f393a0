/* SPDX-License-Identifier: Apache-2.0 */
/* top: shows the locks at and below a path on a screen: a sorted list with a
 * cursor, and keys that start other verbs. The lists (list.c) and what is drawn
 * of them (picture.c) are pure; screen.c has the terminal, and live.c all that
 * comes while it runs. */
#pragma once

#include "common/lockctl.h"
#include "common/words.h"
#include "model/scan.h"
#include "text/grid.h"

/* The columns that locks can be sorted by: the first of lock_fields. */
enum top_key {
    TOP_LOCK,
    TOP_KIND,
    TOP_DIALECT,
    TOP_STATE,
    TOP_HOLDER,
    TOP_HELD,
    TOP_WAIT,
    TOP_LONGEST,
    TOP_TOKEN,
    TOP_KEYS,
};

/* The lists, and the items of their rows. */
enum top_mode {
    TOP_LOCKS,  /* struct lock */
    TOP_QUEUE,  /* struct contender, of one lock */
    TOP_OWNERS, /* struct top_owner */
    TOP_MODES,
};

/* The sums of what a process holds. */
struct top_owner {
    char who[WHO_MAX];  /* fit for a terminal */
    size_t locks;       /* it holds, or is among their holders */
    size_t waiters;     /* of these locks */
    int64_t held_ms;    /* the lock that it holds longest, at most; -1: none */
    int64_t longest_ms; /* the longest wait for one of them; -1: none */
    const struct lock *last; /* that was added */
};

struct top_list {
    struct grid grid; /* its widths are kept, so that columns do not jump */
    size_t at;        /* the row of the cursor */
    size_t first;     /* on the screen */
    char *follows;    /* the path, the node or the owner that the cursor stays
                         with, wherever its row goes; NULL: it stays on the first
                         row, which matters most */
};

enum top_style {
    TOP_PLAIN,
    TOP_DIM,
    TOP_BOLD,
    TOP_GOOD,
    TOP_BAD,
    TOP_BAR, /* heads of columns, keys */
    TOP_CURSOR,
};

struct top {
    /* what was asked for */
    struct lockctl *ctl; /* its session ends with the verb */
    const char *root;
    enum top_key sort;
    bool reversed;
    bool read_only; /* it neither asks nor breaks */

    /* the last look */
    struct scan scan; /* at_ms 0: none yet */
    struct {
        struct top_owner *items;
        size_t count;
    } owners;         /* who holds most is first */
    char error[1024]; /* why the next has failed, escaped; "" */

    /* what the user looks at */
    enum top_mode mode;
    struct top_list lists[TOP_MODES];
    const void **rows; /* of the present list, in order */
    size_t count;
    bool help;        /* in place of the list */
    bool typing;      /* the filter: */
    char filter[128]; /* part of a path, a holder or a label; "": all */
    const char *said; /* why a key does nothing, until the next; NULL */
    /* the verb that the user wants to run, of TOP_ACT */
    const char *verb;
    const struct lock *lock;
    int64_t token; /* of the holder; 0: of whoever holds it */

    /* the screen */
    int width, height;
    void (*paint)(int y, enum top_style style, const char *text);
    char ensemble[ENSEMBLE_MAX]; /* escaped */
    const char *state;           /* of the session */
    bool is_connected;
    int64_t now_ms; /* since 1970 */
};

/* --- list.c --- */

/* Takes the next look, with the contents of the scan. */
void top_take(struct top *top, struct scan *scan);
/* After another size of the screen, too: the present list is made anew, and the
 * cursor is on a row that exists, and on the screen. */
void top_settle(struct top *top);
void top_done(struct top *top);

/* The lock whose queue is shown; NULL: nobody uses it now. */
const struct lock *top_lock(const struct top *top);

/* A key is a character, or this and a number of curses.h. */
enum { TOP_KEY = 0x110000 };

/* A key may ask for more than the list. */
enum top_action {
    TOP_GO_ON,
    TOP_ACT,
    TOP_QUIT,
};
enum top_action top_press(struct top *top, uint32_t key);

/* --- picture.c --- */

extern const char top_keys[]; /* the help: lines */

/* How many rows of a list fit. */
size_t top_page(const struct top *top);
/* Paints each line that is not empty; none is wider than the screen. */
void top_draw(struct top *top);

/* --- screen.c: paints on the terminal and reads keys, with ncurses --- */

/* False: this terminal cannot do it. Call it with the signals blocked that
 * ncurses would otherwise take. */
bool top_screen_start(bool colored);
/* The terminal is as it was before. */
void top_screen_end(void);
void top_screen_draw(struct top *top);
/* The next key that was pressed; false: none. */
bool top_screen_key(uint32_t *ret_key);
/* On SIGWINCH. */
void top_screen_resize(void);
/* On SIGTSTP: stop, with the terminal as it was before. */
void top_screen_stop(void);
/* On SIGCONT: others have used the terminal meanwhile. */
void top_screen_restore(void);

/* --- live.c --- */

/* Until the user quits, a signal ends it, or the session is over. The exit
 * code; an error was said unless it is 0. */
int top_live(struct top *top);
/* There is no screen: says what prints the same. The exit code. */
int top_has_no_screen(void);
