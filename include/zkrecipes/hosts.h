/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Lists of servers: how they are written, and the parser of the library.
 *
 * Wherever the library is given servers, they are written
 *
 *     [zk://]host:port[,host:port...][/chroot]
 *
 * A host is a name or an address: "zk1", "10.0.0.1", "[2001:db8::1]", or
 * without the brackets "2001:db8::1". The port is what follows the last colon.
 * "zk://" in front changes nothing. Credentials have no place there ("zk://
 * user:password@..."): they are options of the session.
 *
 * A program that only opens sessions needs nothing of this header. It is for
 * programs that check a list before they use it, or that speak to the servers
 * themselves.
 */
#ifndef ZKRECIPES_HOSTS_H
#define ZKRECIPES_HOSTS_H

#include <stddef.h>

#include <zkrecipes/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One server of the list. */
struct zkr_server {
    const char *host; /**< A name, or an address without brackets. */
    const char *port; /**< A number in 1 to 65535. */
    const char *name; /**< "[::1]:2181", as it was written. */
};

/** A list of servers, in its parts. */
struct zkr_hosts {
    const struct zkr_server *servers; /**< In the order of the list. */
    size_t count;                     /**< At least 1. */
    const char *chroot;               /**< "/app"; "" without one. */
};

/**
 * Take a list of servers apart. No name is resolved.
 *
 * Threads   Any.
 * Owns      The caller frees the result with zkr_hosts_free().
 * Errors    ZKR_EINVAL: zkr_error_detail() tells which server is wrong.
 *           ZKR_EPATH and ZKR_ETOOLONG: the chroot is. ZKR_ENOMEM.
 */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_hosts_parse(const char *text, struct zkr_hosts **ret_hosts);

/** NULL is allowed. */
ZKR_API void zkr_hosts_free(struct zkr_hosts *hosts);

#ifdef __cplusplus
}
#endif

#endif
