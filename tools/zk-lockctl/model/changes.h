/* SPDX-License-Identifier: Apache-2.0 */
/* Waits until one lock may have changed: the children of its directory, and of
 * the two directories of a semaphore, are watched. While nothing changes,
 * nothing is asked. */
#ifndef MODEL_CHANGES_H
#define MODEL_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/lockctl.h"

struct changes;

/* The lock need not exist. A change from then on ends a wait. 0, or an exit
 * code after an error was said. */
int changes_start(const struct lockctl *ctl, const char *path,
                  struct changes **ret_changes);

/* Until there was a change since the last call, at most so long (-1: for ever).
 * The wait ends, too, when there is no connection, and some minutes after the
 * last change, because a watch may fail without a word. Changes in quick
 * succession count as one. */
void changes_wait(struct changes *changes, int64_t duration_ms);

/* NULL is allowed. */
void changes_end(struct changes *changes);

#endif
