/* SPDX-License-Identifier: Apache-2.0 */
/* Rivals: what the node that is in our way says of its owner, for people. */
#pragma once

#include <stddef.h>

#include "zk/zk.h"

#define ZKR__RIVAL_MAX 160

/* The data and the owner of a node, as they were read; the data may be any
 * bytes. */
struct zkr__rival;

/* Returns a copy, to be freed with free(), or NULL when there is no memory or
 * the data are longer than anybody writes. */
struct zkr__rival *zkr__rival_copy(const struct zkr__zk_reply *node);

/* Writes " (session 0x1, host 'a', pid 5, label 'x')", as far as is known. It
 * parses the data, so it is called for an error only. NULL: "". */
void zkr__rival_describe(const struct zkr__rival *rival,
                         char text[ZKR__RIVAL_MAX]);
