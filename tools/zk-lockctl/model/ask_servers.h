/* SPDX-License-Identifier: Apache-2.0 */
/* Asks every server of --servers for its sessions and watches. */
#pragma once

#include "common/lockctl.h"
#include "common/notes.h"
#include "model/server_words.h"

/* Ask every server of --servers, all at once, each for two seconds, or for as
 * long as --timeout. It
 * keeps the watches on children of `lock`. Where a server does not tell, or the
 * ensemble has servers that are not in that list, there is a note, and the
 * answers are ANSWER_UNKNOWN. NULL: out of memory. */
struct servers *servers_ask(const struct lockctl *ctl, unsigned words,
                            const char *lock, struct notes *notes);
