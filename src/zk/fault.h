/* SPDX-License-Identifier: Apache-2.0 */
/* Faults: what a line of the client's log says of a server that it has no
 * connection to. The client tells of it in no other way. Pure. */
#pragma once

#include <stdbool.h>

#include "zk/zk.h"

/* Reads a line. Returns true when it tells of a fault. The server of an earlier
 * line stays where this one names none. */
bool zkr__fault_read(const char *line, struct zkr__zk_fault *fault);
