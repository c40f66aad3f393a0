/* SPDX-License-Identifier: Apache-2.0 */
/* Ends the session of another client on a real server, at once and surely. */
#pragma once

#include <stdint.h>

/* Make the server at "127.0.0.1:port" close the session, as expiry would.  On
 * return that server has dropped its ephemeral nodes; its client learns
 * ZOO_EXPIRED_SESSION_STATE when it has reconnected: mostly at once, at times
 * after one or two pauses of 1/60 of its session timeout.
 *
 * That holds for servers of server.h, which read with one thread; with others,
 * one client in fifty may first hear nothing for 2/3 of its session timeout.
 *
 * Even a failing attempt with the wrong password breaks the connection of the
 * client, which then reconnects and keeps its session.
 *
 * 0, or a negative errno value: -ESRCH when the server knows no such session
 * or the password is wrong, -ETIMEDOUT when it is silent for 60 s, -EINVAL for
 * an address it cannot read, -ECONNREFUSED, -EIO. */
int session_kill(const char *host_port, int64_t session_id,
                 const char passwd[16]);

/* The same without the password, which ZooKeeper 3.8 derives from the id. */
int session_kill_by_id(const char *host_port, int64_t session_id);

/* Computes that password. */
void session_passwd(int64_t session_id, char passwd[16]);
