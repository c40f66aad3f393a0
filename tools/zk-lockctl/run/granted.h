/* SPDX-License-Identifier: Apache-2.0 */
/* The grants of all locks of a run, as one grant: it is held as long as each of
 * them is. */
#ifndef RUN_GRANTED_H
#define RUN_GRANTED_H

#include <stddef.h>
#include <stdint.h>

#include <zkrecipes/grant.h>

enum { GRANTS_MAX = 16 }; /* locks of one run */

struct grants {
    zkr_grant *items[GRANTS_MAX];
    size_t count; /* 0: nothing was granted */
};

/* Until when all of them are provably held; 0: one is not. */
int64_t grants_valid_until(const struct grants *g);
/* That of the one which is worst off. */
enum zkr_grant_state_kind grants_state(const struct grants *g);
/* The first that is lost; NULL: none. */
zkr_grant *grants_lost(const struct grants *g);

/* For each of them, as zkr_grant_listen() and so on. */
void grants_listen(const struct grants *g, zkr_grant_fn fn, void *user);
void grants_free(struct grants *g);

#endif
