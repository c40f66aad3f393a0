/* SPDX-License-Identifier: Apache-2.0 */
/* The critical section of the mix: a counter that nothing protects but the
 * lock, a fence, and a journal.  Section.java and worker.py have the same.
 *
 * Three files in a directory that the fleet shares:
 *
 * resource  "COUNTER SEEN WRITTEN\n", three numbers of 20 digits: the counter,
 *           the highest token that the resource has seen, and the highest that
 *           came with a write lock.  As rwlock.h asks of a resource, an access
 *           under a write lock is refused when its token is lower than SEEN,
 *           one under a read lock when it is lower than WRITTEN.  Each access
 *           is under fcntl(F_SETLKW), so that the fence itself is whole; but
 *           reading the counter and writing it are two accesses.
 * journal   "WHAT WORKER MODE NODE TOKEN VALUE\n", opened with O_APPEND, one
 *           write for each line: ENTER and LEAVE of a section; REFUSED instead
 *           of both when the fence does not let it in; STALL, see below.
 *           VALUE is the counter as read or written, -1 when refused.
 * stop-NAME if it is there, the worker comes to its end.
 *
 * A worker that finds the file stall-NAME-MODE in its section writes STALL and
 * waits in there until the file has gone: so it can be killed, or its session
 * ended, while it certainly holds the lock.
 *
 * The mode of a semaphore is the number of permits. Each lease has lines of its
 * own, nothing is written under it, and so the fence refuses none. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct section {
    const char *name; /* of the worker */
    const char *dir;
    int resource;
    int journal;
    int count;
};

/* False with errno. */
bool section_open(struct section *s, const char *name, const char *dir);
void section_close(struct section *s);

bool section_is_over(const struct section *s);

/* A lock node: its name. */
struct section_node {
    const char *name;
    int64_t token;
};

/* A lock has one node, a semaphore as many as permits. */
void section_work(struct section *s, const char *mode,
                  const struct section_node *nodes, size_t count);
