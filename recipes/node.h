/* SPDX-License-Identifier: Apache-2.0 */
/* A node of a recipe, made and deleted by a caller who waits. */
#ifndef ZKR__NODE_H
#define ZKR__NODE_H

#include <zkrecipes/client.h>

/* Creates a node, and missing parents as containers. Errors: as of
 * zkr_session_create(), but instead of ZKR_ZNONODE ZKR_ENOCHROOT, or
 * ZKR_ETIMEDOUT when others delete the parents again until the deadline. */
int zkr__node_create(zkr_session *s, const char *path, const void *data,
                     size_t len, const struct zkr_create_opts *opts,
                     int64_t deadline);

/* The next two do what may be done twice. So after an unknown outcome they ask
 * again, until it is known, and return ZKR_EUNKNOWN only when there is no time
 * left. */

/* Sees to it that the node is there: ZKR_OK, or ZKR_ZNODEEXISTS when it was, or
 * when a create before this answer has made it. It has no data. */
int zkr__node_put(zkr_session *s, const char *path, enum zkr_create_mode mode,
                  int64_t deadline);

/* Sees to it that the node is not there. */
int zkr__node_remove(zkr_session *s, const char *path, int64_t deadline);

#endif
