/* SPDX-License-Identifier: Apache-2.0 */
/* Paints the picture of top on the terminal and reads keys, with ncurses. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "top/picture.h"

/* False: this terminal cannot do it. Call it with the signals blocked that
 * ncurses would otherwise take. */
bool top_screen_start(bool colored);
/* The terminal is as it was before. */
void top_screen_end(void);

struct top_size top_screen_size(void);
void top_screen_paint(const struct top_picture *picture);

/* The next key that was pressed, as view.h numbers them; false: none. */
bool top_screen_key(uint32_t *ret_key);

/* On SIGWINCH. */
void top_screen_resize(void);
/* On SIGTSTP: stop, with the terminal as it was before. */
void top_screen_stop(void);
/* On SIGCONT: others have used the terminal meanwhile. */
void top_screen_restore(void);
