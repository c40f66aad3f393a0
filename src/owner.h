/* Who we are, as written into our nodes: one line of JSON. */
#ifndef ZKR__OWNER_H
#define ZKR__OWNER_H

#include <stddef.h>

#define ZKR__OWNER_MAX 512

/* What Curator writes into a node, in its place, to ask for the lock. */
#define ZKR__REVOKE_MESSAGE "__REVOKE__"

/* Fill `data` with the record of the calling thread and return its length.
 * `label` may be NULL; so may `claim`, which tells it from our other records.
 * ZKR_ENOMEM is the only error. */
int zkr__owner_write(char data[ZKR__OWNER_MAX + 1], const char *label,
                     const char *claim, size_t *ret_len);

#endif
