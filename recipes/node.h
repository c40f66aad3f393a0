/* SPDX-License-Identifier: Apache-2.0 */
/* A node of a recipe, made and deleted by a caller who waits. */
#pragma once

#include <zkrecipes/barrier.h>
#include <zkrecipes/client.h>

/* What a handle begins with that is for one node, or for those below it. */
struct zkr__site {
    zkr_session *session;
    char *path;
    enum zkr_create_mode parents; /* that are missing */
};

/* Memory of `size`, zeroed, that begins with a site. `opts` say how missing
 * parents are made: as containers, mostly. */
int zkr__site_new(size_t size, const char *noun, zkr_session *s,
                  const char *path, const struct zkr_barrier_opts *opts,
                  void **ret_handle);
/* Every function begins with it: refuses a handle that is NULL, and a forked
 * child. */
int zkr__site_check(const void *handle, const char *noun);
/* Frees the handle, which has passed that check. */
void zkr__site_free(struct zkr__site *site);

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
int zkr__node_put(const struct zkr__site *at, const char *path,
                  enum zkr_create_mode mode, int64_t deadline);

/* Sees to it that the node is not there. */
int zkr__node_remove(const struct zkr__site *at, const char *path,
                     int64_t deadline);
