/* SPDX-License-Identifier: Apache-2.0 */
/* Rivals: what the node that is in our way says of its owner, for people. */
#ifndef ZKR__RIVAL_H
#define ZKR__RIVAL_H

#include <stddef.h>

#include "zk/zk.h"

#define ZKR__RIVAL_MAX 160

/* Writes " (session 0x1, host 'a', pid 5, label 'x')", as far as the node that
 * was read tells. Its data may be any bytes. */
void zkr__rival_describe(const struct zkr__zk_reply *node,
                         char text[ZKR__RIVAL_MAX]);

#endif
