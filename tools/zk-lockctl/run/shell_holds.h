/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the holds of a shell: "eval "$(zk-lockctl hold LOCK)"" leaves the id of
 * each in its environment. Pure. */
#ifndef RUN_SHELL_HOLDS_H
#define RUN_SHELL_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOLDS_VARIABLE "ZKLOCK_HOLDS"

/* "SESSION-RANDOM", as "0x10000a1b2c30001-51c0ffee51c0ffee". */
enum {
    HOLDS_MAX = 32,
    HOLD_ID_MAX = 48,
    HOLDS_TEXT_MAX = HOLDS_MAX * (HOLD_ID_MAX + 1),
};

/* The oldest is first. Of more than HOLDS_MAX these are the newest. */
struct holds {
    char ids[HOLDS_MAX][HOLD_ID_MAX + 1];
    size_t count;
};

/* Of the value of the variable; NULL, and what is not such a list, is none. */
void holds_read(struct holds *h, const char *text);
void holds_write(const struct holds *h, char text[HOLDS_TEXT_MAX]);

bool holds_have(const struct holds *h, const char *id);
void holds_add(struct holds *h, const char *id);
void holds_remove(struct holds *h, size_t i);

/* Returns the session through which it holds. */
int64_t hold_session(const char *id);

#endif
