/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the holds of a shell: "eval "$(zk-lockctl hold LOCK)"" leaves the id of
 * each in its environment. Pure. */
#ifndef RUN_SHELL_HOLDS_H
#define RUN_SHELL_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOLDS_VARIABLE "ZKLOCK_HOLDS"

enum {
    HOLDS_MAX = 32,
    HOLD_TEXT_MAX = 56, /* with its end, or the blank before the next */
    HOLDS_TEXT_MAX = HOLDS_MAX * HOLD_TEXT_MAX,
};

/* "0xSESSION-PID-FD-NUMBER", as "0x10000a1b2c30001-7d2-5-51c0ffee51c0ffee". */
struct hold {
    uint64_t session; /* through which it holds */
    uint32_t pid;     /* of its keeper */
    uint32_t fd;      /* of the keeper, see run/desk.h */
    uint64_t number;  /* random: the process of that pid is its keeper */
};

/* The oldest is first. Of more than HOLDS_MAX these are the newest. */
struct holds {
    struct hold items[HOLDS_MAX];
    size_t count;
};

/* Of the value of the variable; NULL, and what is not such a list, is none. */
void holds_read(struct holds *h, const char *text);
void holds_write(const struct holds *h, char text[HOLDS_TEXT_MAX]);

bool hold_is(const struct hold *a, const struct hold *b);
bool holds_have(const struct holds *h, const struct hold *hold);
void holds_add(struct holds *h, const struct hold *hold);
void holds_remove(struct holds *h, size_t i);

#endif
