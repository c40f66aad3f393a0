/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of ids in the environment, by which a command knows the runs and holds
 * around it: sessions, "0x10000a1b2c30001", and holds,
 * "0xSESSION-PID-FD-NUMBER" (see desk.h). Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SESSIONS_VARIABLE "ZKLOCK_SESSIONS" /* the outermost run is first */
#define HOLDS_VARIABLE    "ZKLOCK_HOLDS"    /* the oldest is first */

enum {
    IDS_MAX = 32,
    ID_MAX = 56, /* with its end, or the blank before the next */
    IDS_TEXT_MAX = IDS_MAX * ID_MAX,
};

/* Of more than IDS_MAX these are the last. */
struct ids {
    char items[IDS_MAX][ID_MAX];
    size_t count;
};

/* Of the value of a variable; NULL, and what is no list of such ids, is
 * none. */
void ids_read(struct ids *ids, const char *text, bool is_id(const char *id));
bool id_is_session(const char *id);
bool id_is_hold(const char *id);
void ids_write(const struct ids *ids, char text[IDS_TEXT_MAX]);

bool ids_have(const struct ids *ids, const char *id);
void ids_add(struct ids *ids, const char *id);
/* All of a session. */
void ids_remove(struct ids *ids, int64_t session);

/* The session of an id; that of the last one, or 0. */
int64_t id_session(const char *id);
int64_t ids_last_session(const struct ids *ids);

/* "0xSESSION-PID-FD-NUMBER" */
struct hold {
    int64_t session; /* through which it holds */
    uint32_t pid;    /* of its keeper */
    uint32_t fd;     /* of the keeper, where its desk is */
    uint64_t number; /* random: the process of that pid is its keeper */
};

void hold_write(const struct hold *hold, char id[ID_MAX]);
bool hold_read(struct hold *hold, const char *id);
