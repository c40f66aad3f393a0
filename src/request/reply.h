/* SPDX-License-Identifier: Apache-2.0 */
/* Replies for the program: copies of what the seam tells. */
#ifndef ZKR__REPLY_H
#define ZKR__REPLY_H

#include <zkrecipes/client.h>

#include "zk/zk.h"

/* Copies a reply; paths lose the first `chroot_len` bytes. All is one piece of
 * memory, for zkr_reply_free(). Returns NULL when out of memory. */
struct zkr_reply *zkr__reply_copy(const struct zkr__zk_reply *from,
                                  size_t chroot_len);

#endif
