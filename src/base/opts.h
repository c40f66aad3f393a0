/* SPDX-License-Identifier: Apache-2.0 */
/* What the caller hands over: structs whose size tells their version, so that
 * older and newer callers work (options, which are read, and answers, which are
 * written), and outputs, which are given through a pointer. */
#pragma once

#include <stddef.h>

/* Copies the caller's options over ours. NULL is all defaults; a shorter struct
 * of an older caller leaves the rest zero; a longer one of a newer caller is
 * accepted when the members that we do not know are zero. `what` names the
 * struct in the error. */
int zkr__opts_load(void *dst, size_t dst_size, size_t v1_size, const void *src,
                   const char *what);

/* Sets all of an answer to zero, but for its size, which the caller has set and
 * which `v1_size` is the least of. `what` names the object in the error. */
int zkr__answer_begin(void *dst, size_t v1_size, const char *what);

/* Copies what the caller knows of; both structs begin with their size, which
 * stays. */
void zkr__answer_fill(void *dst, const void *src, size_t src_size);

/* Outputs, ret_..., are empty (NULL, zero) unless the call succeeds. */

/* Empties an output that the caller need not want. */
#define ZKR__OUTPUT_IF_ANY(ret) zkr__output_empty((ret), sizeof(*(ret)))

/* Empties an output that the caller must want: else ZKR_EINVAL. */
#define ZKR__OUTPUT(ret) zkr__output_begin((ret), sizeof(*(ret)), #ret)

void zkr__output_empty(void *ret, size_t size);

int zkr__output_begin(void *ret, size_t size, const char *name);
