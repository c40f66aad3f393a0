/* SPDX-License-Identifier: Apache-2.0 */
/* The session as a client, for the library's own calls, which mostly make
 * several requests before one deadline. */
#pragma once

#include "request/copy.h"
#include "request/request.h"

/* zkr_session_get(), _set(), ...: `asked` says which (copy.h). When the
 * deadline has passed nothing is sent: ZKR_EUNREACHABLE. */
int zkr__session_ask(struct zkr_session *s, const struct zkr__zk_request *asked,
                     const struct zkr_create_opts *opts, int64_t deadline,
                     struct zkr_reply **ret_reply);

/* Lets the caller sleep until that instant, or until the session is over. */
void zkr__session_pause(struct zkr_session *s, int64_t until);

/* A sync for the node at `path`, before a read that must not be out of date.
 * Its errors name `noun` and `path`. */
int zkr__session_catch_up(struct zkr_session *s, const char *noun,
                          const char *path, int64_t deadline);

/* A request to delete an ephemeral node of the session in the background, which
 * takes what it needs beforehand. NULL when out of memory. */
struct zkr__request *zkr__discard_new(struct zkr_session *s, const char *path);

/* Deletes the node, until there is an answer, or the session has ended and the
 * node with it; and drops the reference. A create of the session that is under
 * way comes before it. */
void zkr__discard_run(struct zkr__request *discard);
