/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A reply: what the servers answered to a request of the program (client.h,
 * watch.h).
 */
#ifndef ZKRECIPES_REPLY_H
#define ZKRECIPES_REPLY_H

#include <stddef.h>
#include <stdint.h>

#include <zkrecipes/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The state of a node besides its data. The names are those of ZooKeeper's own
 *  Stat; times are in milliseconds since 1970. */
struct zkr_stat {
    int64_t czxid;           /**< Of its creation: another one, another node. */
    int64_t mzxid;           /**< Of the last write of its data. */
    int64_t pzxid;           /**< Of the last change of its children. */
    int64_t ctime_ms;        /**< Of its creation, by the leader's clock. */
    int64_t mtime_ms;        /**< Of the last write, likewise. */
    int64_t ephemeral_owner; /**< The id of the session that it ends with; 0 of
                                  a persistent node. */
    int32_t version;         /**< Writes of its data: to expect in the next. */
    int32_t cversion;        /**< Changes of its children. */
    int32_t aversion;        /**< Changes of its ACL. */
    int32_t data_len;        /**< In bytes. */
    int32_t children;        /**< How many it has. */
};

/** Members that do not belong to the request are zero. */
struct zkr_reply {
    const char *data;         /**< get: NULL when there are none; else a NUL
                                   follows. */
    size_t len;               /**< get: in bytes, without that NUL. */
    const char *const *names; /**< children: in no order, without a path. */
    size_t count;             /**< children. */
    const char *path;         /**< create: as it was made, with the number of a
                                   sequential node, without the chroot. */
    struct zkr_stat stat;     /**< All but sync and delete. */
};

/**
 * Called once when a request has ended, with the value that the waiting call
 * would have returned. @p reply is NULL on error, and is valid during the call.
 */
typedef void (*zkr_reply_fn)(int error, const struct zkr_reply *reply,
                             void *user);

/** Free a reply that a waiting call returned. NULL is allowed. */
ZKR_API void zkr_reply_free(struct zkr_reply *reply);

#ifdef __cplusplus
}
#endif

#endif
