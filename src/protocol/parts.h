/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a lock on the servers. A semaphore has two directories below its
 * path, one for the leases that have its permits, one for the queue of those
 * who want one. Every other lock has all nodes in its path. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a node is, by its name below the path that was listed. */
enum zkr__part {
    ZKR__PART_PATH,   /* a child of the path itself */
    ZKR__PART_LEASES, /* "leases/..." */
    ZKR__PART_QUEUE,  /* "locks/..." */
};

#define ZKR__PARTS (ZKR__PART_QUEUE + 1)

extern const char *const zkr__part_dirs[ZKR__PARTS]; /* "", "leases", "locks" */

/* The part whose directory has that name; ZKR__PART_PATH: none has. */
enum zkr__part zkr__part_of_dir(const char *name);
/* The part that a node is in, by its name. */
enum zkr__part zkr__part_of(const char *name);
/* The markers with which a node contends there. */
uint32_t zkr__part_markers(enum zkr__part part);

/* The children of one of the directories. */
struct zkr__part_count {
    bool exists;
    size_t children;
    size_t fitting; /* contenders of a semaphore */
    size_t other;   /* contenders for something else */
};

/* Count one more child of that name. */
void zkr__part_count(struct zkr__part_count *count, enum zkr__part part,
                     const char *name);

/* Tells whether the directories are those of a semaphore. A lease in `leases`
 * says so. Without one, both directories must be there, nobody may contend in
 * `leases`, and somebody contends in `locks`, or both are empty: directories
 * with these names can also be directories of locks. */
bool zkr__is_semaphore(const struct zkr__part_count *leases,
                       const struct zkr__part_count *queue);
