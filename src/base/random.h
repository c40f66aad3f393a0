/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers from the kernel, because the client re-seeds the generator of
 * the process. */
#pragma once

#include <stdint.h>

#define ZKR__UUID_LEN 36

uint64_t zkr__random(void);

/* A version 4 UUID in lower-case canonical text. */
void zkr__random_uuid(char uuid[ZKR__UUID_LEN + 1]);
