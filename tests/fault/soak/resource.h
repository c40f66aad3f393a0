/* SPDX-License-Identifier: Apache-2.0 */
/* The resources that the locks of a soak protect: for each lock, a counter that
 * nothing else protects, and a store that refuses old tokens.
 *
 * counter-N  a number of 8 bytes, read when a section begins and written, one
 *            higher, when it ends.
 * store-N    every access that was accepted, in that order; each access is
 *            under fcntl(F_SETLKW).
 * fence-N    the fence of the store. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zkrecipes/fence.h>

struct resource {
    int counter;
    int store;
    zkr_fence *fence; /* NULL: the store takes everything */
};

/* An access that a store has accepted. */
struct access {
    int64_t token;
    int64_t writes; /* 0 or 1 */
};

/* False with errno. */
bool resource_create(const char *dir, int lock);
bool resource_open(struct resource *r, const char *dir, int lock, bool fenced);
void resource_close(struct resource *r);

int64_t resource_read(const struct resource *r);
void resource_write(const struct resource *r, int64_t value);

/* Access the store with this token. Returns whether it was accepted. */
bool resource_access(const struct resource *r, bool writes, int64_t token,
                     uint64_t handoff);

/* Returns all accesses that were accepted so far, to be freed. */
struct access *resource_accepted(const struct resource *r, size_t *ret_count);
