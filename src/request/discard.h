/* SPDX-License-Identifier: Apache-2.0 */
/* Discards: ephemeral nodes of the session that nobody waits for any more, and
 * that are deleted in the background. */
#ifndef ZKR__DISCARD_H
#define ZKR__DISCARD_H

#include "zk/zk.h"

struct zkr__discard;

/* Takes what it needs beforehand; `path` is without the chroot, and copied.
 * NULL when out of memory. */
struct zkr__discard *zkr__discard_new(struct zkr_session *s, const char *path);

/* Deletes the node, until there is an answer, or the session has ended and the
 * node with it; then frees it. A create of the session that is under way comes
 * before it. */
void zkr__discard_run(struct zkr__discard *d);

/* Frees one that was not run. NULL is allowed. */
void zkr__discard_free(struct zkr__discard *d);

#endif
