/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs: what a function gives through a pointer of the caller, ret_... An
 * output is empty (NULL, zero) unless the call succeeds. */
#ifndef ZKR__OUTPUT_H
#define ZKR__OUTPUT_H

#include <stddef.h>

/* Empties an output that the caller need not want. */
#define ZKR__OUTPUT_IF_ANY(ret) zkr__output_empty((ret), sizeof(*(ret)))

/* Empties an output that the caller must want: else ZKR_EINVAL. */
#define ZKR__OUTPUT(ret) zkr__output_begin((ret), sizeof(*(ret)), #ret)

void zkr__output_empty(void *ret, size_t size);

int zkr__output_begin(void *ret, size_t size, const char *name);

#endif
