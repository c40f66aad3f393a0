/* Who we are, as written into our nodes: one line of JSON. */
#ifndef ZKR__OWNER_H
#define ZKR__OWNER_H

#include <stdbool.h>
#include <stddef.h>

#define ZKR__OWNER_MAX 512

/* What Curator writes into a node, in its place, to ask for the lock. */
#define ZKR__REVOKE_MESSAGE "__REVOKE__"

/* Fill `data` with a record and return its length; it names the calling thread
 * when that is the owner. `label` may be NULL; so may `claim`, which tells it
 * from our other records. ZKR_ENOMEM is the only error. */
int zkr__owner_write(char data[ZKR__OWNER_MAX + 1], const char *label,
                     const char *claim, bool of_thread, size_t *ret_len);

#endif
