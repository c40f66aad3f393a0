/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a graph of owners and locks as Graphviz reads it. */
#ifndef TEXT_DOT_H
#define TEXT_DOT_H

#include <stdbool.h>

#include "model/scan.h"

void dot_begin(void);
/* Nodes are told apart by their ids; the same may be written twice. */
void dot_owner(const char *id, const struct contender *c, bool bad);
void dot_lock(const char *id, const struct lock *lock, bool bad);
/* An arrow with a text, which must be the tool's own. */
void dot_edge(const char *from, const char *to, const char *text, bool bad);
void dot_end(void);

/* Ids of an owner and of a lock: of bytes that are safe in DOT. */
enum { DOT_ID_MAX = 64 };
const char *dot_lock_id(const struct scan *scan, const struct lock *lock,
                        char id[DOT_ID_MAX]);
const char *dot_owner_id(const struct scan *scan, const struct lock *lock,
                         const struct contender *c, char id[DOT_ID_MAX]);

#endif
