/* SPDX-License-Identifier: Apache-2.0 */
#include "top/screen.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Included only here, because it defines short names such as stdscr and
 * KEY_*. */
#include <curses.h>

#include "common/stop.h"

enum { GREEN = 1, RED, CYAN };

/* How long after ESC the rest of a key may come, in ms. */
enum { ESCAPE_DELAY = 25 };

static bool has_colors_here;

static bool can_move_the_cursor(void)
{
    const char *move_to = tigetstr("cup");

    return move_to != NULL && move_to != (char *)-1;
}

bool top_screen_start(bool colored)
{
    if (newterm(NULL, stdout, stdin) == NULL)
        return false;
    if (!can_move_the_cursor()) {
        (void)endwin();
        return false;
    }
    (void)atexit(top_screen_end);
    (void)cbreak();
    (void)noecho();
    (void)nonl();
    (void)curs_set(0);
    (void)keypad(stdscr, TRUE);
    (void)nodelay(stdscr, TRUE);
    (void)set_escdelay(ESCAPE_DELAY);
    has_colors_here = colored && has_colors() && start_color() == OK &&
                      use_default_colors() == OK;
    if (has_colors_here) {
        (void)init_pair(GREEN, COLOR_GREEN, -1);
        (void)init_pair(RED, COLOR_RED, -1);
        (void)init_pair(CYAN, COLOR_BLACK, COLOR_CYAN);
    }
    return true;
}

/* Leaving it twice would put the cursor where it was long ago. */
void top_screen_end(void)
{
    if (!isendwin())
        (void)endwin();
}

struct top_size top_screen_size(void)
{
    return (struct top_size){ .width = COLS, .height = LINES };
}

static attr_t attributes_of(enum top_style style)
{
    static const struct {
        attr_t plain;
        int pair;
        attr_t colored;
    } styles[] = {
        [TOP_PLAIN] = { A_NORMAL, 0, A_NORMAL },
        [TOP_DIM] = { A_DIM, 0, A_DIM },
        [TOP_BOLD] = { A_BOLD, 0, A_BOLD },
        [TOP_GOOD] = { A_BOLD, GREEN, A_NORMAL },
        [TOP_BAD] = { A_BOLD, RED, A_BOLD },
        [TOP_BAR] = { A_REVERSE, 0, A_REVERSE },
        [TOP_CURSOR] = { A_REVERSE | A_BOLD, CYAN, A_NORMAL },
    };

    return has_colors_here && styles[style].pair != 0
               ? styles[style].colored | (attr_t)COLOR_PAIR(styles[style].pair)
               : styles[style].plain;
}

/* Bars and the cursor reach from one side to the other. */
static void paint_line(int y, const struct top_line *line)
{
    bool whole = line->style == TOP_BAR || line->style == TOP_CURSOR;

    (void)attrset((int)attributes_of(line->style));
    (void)move(y, 0);
    if (whole)
        (void)hline((chtype)' ' | attributes_of(line->style), COLS);
    (void)addstr(line->text);
    (void)attrset(A_NORMAL);
    if (!whole)
        (void)clrtoeol();
}

void top_screen_paint(const struct top_picture *picture)
{
    (void)erase();
    for (int y = 0; y < picture->size.height && y < LINES; y++)
        paint_line(y, &picture->lines[y]);
    (void)refresh();
}

/* --- keys --- */

static uint32_t number_of(wint_t key)
{
    static const uint32_t keys[][2] = {
        { KEY_UP, KEY_IS_UP },         { KEY_DOWN, KEY_IS_DOWN },
        { KEY_PPAGE, KEY_IS_PAGE_UP }, { KEY_NPAGE, KEY_IS_PAGE_DOWN },
        { KEY_HOME, KEY_IS_HOME },     { KEY_END, KEY_IS_END },
        { KEY_ENTER, KEY_IS_ENTER },   { KEY_BACKSPACE, KEY_IS_BACKSPACE },
    };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (keys[i][0] == key)
            return keys[i][1];
    }
    return 0;
}

bool top_screen_key(uint32_t *ret_key)
{
    wint_t key;
    int got = get_wch(&key);

    if (got == ERR)
        return false;
    if (got == KEY_CODE_YES)
        *ret_key = number_of(key);
    else if (key == '\r' || key == '\n')
        *ret_key = KEY_IS_ENTER;
    else if (key == '\033')
        *ret_key = KEY_IS_ESCAPE;
    else if (key == '\b' || key == 0x7f)
        *ret_key = KEY_IS_BACKSPACE;
    else
        *ret_key = key;
    return true;
}

/* --- signals --- */

void top_screen_resize(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
        size.ws_col > 0)
        (void)resizeterm(size.ws_row, size.ws_col);
    (void)clearok(stdscr, TRUE);
}

void top_screen_restore(void)
{
    top_screen_end();
    (void)refresh();
    top_screen_resize();
}

void top_screen_stop(void)
{
    sigset_t stop;

    (void)endwin();
    signal_obey(SIGTSTP); /* here it stops */
    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGTSTP);
    (void)pthread_sigmask(SIG_BLOCK, &stop, NULL);
}
