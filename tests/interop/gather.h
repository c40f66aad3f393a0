/* SPDX-License-Identifier: Apache-2.0 */
/* The counters and barriers of the C side. worker.h has the commands. */
#pragma once

#include <zkrecipes/zkrecipes.h>

enum { GATHERED_MAX = 512 };

/* Writes the answer. */
void gather(zkr_session *session, char **words, int count,
            char answer[GATHERED_MAX]);
