/* SPDX-License-Identifier: Apache-2.0 */
/* The runs and holds around a command, the outermost first, as its environment
 * has them: "0x10000a1b2c30001", the session of a run, and "0xSESSION-PID-FD"
 * of a hold, whose desk (see desk.h) is that descriptor of that process. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AROUND_VARIABLE "ZKLOCK_SESSIONS"

struct around_item {
    int64_t session;
    uint32_t pid, fd; /* of a hold; 0: it is a run */
};

enum { AROUND_MAX = 32, AROUND_TEXT_MAX = AROUND_MAX * 40 };

/* Of more than AROUND_MAX these are the last. */
struct around {
    struct around_item items[AROUND_MAX];
    size_t count;
};

/* Of the value of the variable; NULL, and what around_write() has not written,
 * is none. */
void around_read(struct around *a, const char *text);
void around_write(const struct around *a, char text[AROUND_TEXT_MAX]);

bool around_has(const struct around *a, int64_t session);
void around_add(struct around *a, struct around_item item);
void around_remove(struct around *a, size_t i);
