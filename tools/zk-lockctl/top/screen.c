/* SPDX-License-Identifier: Apache-2.0 */
#include "top/top.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

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
static void paint_line(int y, enum top_style style, const char *text)
{
    if (y >= LINES)
        return;
    (void)attrset((int)attributes_of(style));
    (void)move(y, 0);
    if (style == TOP_BAR || style == TOP_CURSOR)
        (void)hline((chtype)' ' | attributes_of(style), COLS);
    (void)addstr(text);
    (void)attrset(A_NORMAL);
}

void top_screen_draw(struct top *top)
{
    top->width = COLS;
    top->height = LINES;
    top->paint = paint_line;
    (void)erase();
    top_draw(top);
    (void)refresh();
}

/* Enter is always '\r', and Backspace TOP_KEY + KEY_BACKSPACE. */
bool top_screen_key(uint32_t *ret_key)
{
    wint_t key;
    int got = get_wch(&key);

    if (got == ERR)
        return false;
    if (got == KEY_CODE_YES)
        *ret_key = key == KEY_ENTER ? '\r' : TOP_KEY + key;
    else if (key == '\b' || key == 0x7f)
        *ret_key = TOP_KEY + KEY_BACKSPACE;
    else
        *ret_key = key == '\n' ? '\r' : key;
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
