/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a session at the moment when the client gets a transaction. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

/* The session that ends, at the next transaction of two operations or more; 0:
 * none, and again when it has ended. Programs wrap zoo_amulti: meson.build. */
extern _Atomic int64_t victim_id;
