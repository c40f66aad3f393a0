/* SPDX-License-Identifier: Apache-2.0 */
/* The owner record that we write into our nodes: one line of JSON that says who
 * we are. */
#ifndef ZKR__OWNER_H
#define ZKR__OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZKR__OWNER_MAX 512

/* Curator replaces the record by this text to ask for the lock. */
#define ZKR__REVOKE_MESSAGE "__REVOKE__"

#define ZKR__START_MAX 32

struct zkr__thread_id;

struct zkr__owner {
    const char *start; /* from zkr__owner_start() */
    const char *label; /* NULL: none */
    uint32_t limit;    /* how many may hold it at once; 0: it is not told */
    const char *claim; /* what tells it from our other records; NULL: nothing */
    int64_t within;    /* the session around ours; 0: none */
    const struct zkr__thread_id *thread; /* is the owner; NULL: none is named */
};

/* Writes when this process started, by the wall clock, to the nearest second,
 * in RFC 3339: with it, a process id means one process only. It reads a file;
 * and the records of a session are to agree when the clock is set. So it is
 * called once for a session. */
void zkr__owner_start(char text[ZKR__START_MAX]);

/* Fill `data` with a record and return its length. ZKR_ENOMEM is the only
 * error. */
int zkr__owner_write(const struct zkr__owner *owner,
                     char data[ZKR__OWNER_MAX + 1], size_t *ret_len);

#endif
