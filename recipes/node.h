/* SPDX-License-Identifier: Apache-2.0 */
/* A node of a recipe, made and deleted by a caller who waits. */
#ifndef ZKR__NODE_H
#define ZKR__NODE_H

#include <zkrecipes/barrier.h>
#include <zkrecipes/client.h>

/* Loads the options of a barrier, which say how missing parents are made. */
int zkr__node_parents(const struct zkr_barrier_opts *opts, const char *noun,
                      enum zkr_create_mode *ret_parents);

/* Creates a node, and missing parents, as containers mostly. Errors: as of
 * zkr_session_create(), but instead of ZKR_ZNONODE ZKR_ENOCHROOT, or
 * ZKR_ETIMEDOUT when others delete the parents again until the deadline. */
int zkr__node_create(zkr_session *s, const char *path, const void *data,
                     size_t len, const struct zkr_create_opts *opts,
                     enum zkr_create_mode parents, int64_t deadline);

/* The next two do what may be done twice. So after an unknown outcome they ask
 * again, until it is known, and return ZKR_EUNKNOWN only when there is no time
 * left. */

/* Sees to it that the node is there: ZKR_OK, or ZKR_ZNODEEXISTS when it was, or
 * when a create before this answer has made it. It has no data. */
int zkr__node_put(zkr_session *s, const char *path, enum zkr_create_mode mode,
                  enum zkr_create_mode parents, int64_t deadline);

/* Sees to it that the node is not there. */
int zkr__node_remove(zkr_session *s, const char *path, int64_t deadline);

#endif
