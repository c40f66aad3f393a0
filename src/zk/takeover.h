/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a session on its server, with nothing but its id and password: for tests
 * of what a program does then. */
#ifndef ZKR__TAKEOVER_H
#define ZKR__TAKEOVER_H

#include <stdint.h>

#define ZKR__PASSWORD_SIZE 16

/* Makes the server, "10.0.0.1:2181" or "[::1]:2181" in numbers, close the
 * session. On success the server has dropped its ephemeral nodes; its client
 * learns of the end when it has reconnected. The wrong password breaks the
 * connection of the client only, which reconnects and keeps its session.
 *
 * Returns 0, or a negative errno value: -ESRCH when the server knows no such
 * session or the password is wrong, -EINVAL for an address that is no number,
 * -ETIMEDOUT when one request takes longer than `timeout_ms`, -ECONNREFUSED,
 * -EIO. */
int zkr__takeover_end(const char *server, int64_t session_id,
                      const char password[ZKR__PASSWORD_SIZE], int timeout_ms);

#endif
