/* SPDX-License-Identifier: Apache-2.0 */
/* Copies for the program: of what it asks for in its own words, which is
 * checked first, and of what the seam answers. */
#pragma once

#include <zkrecipes/client.h>

#include "zk/acl.h"
#include "zk/zk.h"

struct zkr_session;

struct zkr__copy {
    struct zkr__zk_request request; /* with the chroot */
    struct zkr__zk_special special;
    struct zkr__acl acl;
    char *path; /* as the program gave it: for errors */
};

/* The request of a public function, said once for all the ways to call it. */
#define ZKR__ASKS(...)   (&(const struct zkr__zk_request){ __VA_ARGS__ })
#define ZKR__GET(p)      ZKR__ASKS(.type = ZKR__ZK_GET, .path = (p))
#define ZKR__EXISTS(p)   ZKR__ASKS(.type = ZKR__ZK_EXISTS, .path = (p))
#define ZKR__CHILDREN(p) ZKR__ASKS(.type = ZKR__ZK_CHILDREN, .path = (p))
#define ZKR__SYNC(p)     ZKR__ASKS(.type = ZKR__ZK_SYNC, .path = (p))
#define ZKR__CREATE(p, d, len)                                                 \
    ZKR__ASKS(.type = ZKR__ZK_CREATE, .path = (p), .data = (d),                \
              .data_len = (len))
#define ZKR__SET(p, d, len, v)                                                 \
    ZKR__ASKS(.type = ZKR__ZK_SET, .path = (p), .data = (d),                   \
              .data_len = (len), .version = (v))
#define ZKR__DELETE(p, v)                                                      \
    ZKR__ASKS(.type = ZKR__ZK_DELETE, .path = (p), .version = (v))
#define ZKR__CHECK(p, v)                                                       \
    ZKR__ASKS(.type = ZKR__ZK_CHECK, .path = (p), .version = (v))

/* Refuses what is wrong with `asked`, whose path is without the chroot, and
 * copies it. `opts` may be NULL. On error nothing has to be freed. */
int zkr__copy_init(struct zkr__copy *o, const struct zkr_session *s,
                   const struct zkr__zk_request *asked,
                   const struct zkr_create_opts *opts);

/* Leaves it empty. */
void zkr__copy_done(struct zkr__copy *o);

/* Returns the reason of a refusal with `rc`, for people: what is known besides
 * the code; or `why`. */
#define ZKR__REASON_MAX 200
const char *zkr__copy_reason(const struct zkr__copy *o, int rc, const char *why,
                             char text[ZKR__REASON_MAX]);

/* Returns the verb, for people: "get". */
const char *zkr__copy_verb(enum zkr__zk_type type);

/* Copies a reply; paths lose the first `chroot_len` bytes. All is one piece of
 * memory, for zkr_reply_free(). Returns NULL when out of memory. */
struct zkr_reply *zkr__reply_copy(const struct zkr__zk_reply *from,
                                  size_t chroot_len);
