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

struct zkr__owner {
    const char *label; /* NULL: none */
    const char *claim; /* what tells it from our other records; NULL: nothing */
    int64_t within;    /* the session around ours; 0: none */
    bool of_thread;    /* the calling thread is the owner, and is named */
};

/* Fill `data` with a record and return its length. ZKR_ENOMEM is the only
 * error. */
int zkr__owner_write(const struct zkr__owner *owner,
                     char data[ZKR__OWNER_MAX + 1], size_t *ret_len);

#endif
