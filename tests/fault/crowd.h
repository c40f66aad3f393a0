/* SPDX-License-Identifier: Apache-2.0 */
/* A crowd: sessions that a server has, and nobody uses. Each is a bare
 * connection, without the threads of a client. */
#pragma once

struct crowd;

/* `host` is "address:port". There are fewer, or none, where it cannot be
 * reached, or where the limit for open files is lower. */
struct crowd *crowd_open(const char *host, int count, int timeout_ms);
int crowd_size(const struct crowd *c);
/* All send a ping, and no other until the next call. */
void crowd_ping(const struct crowd *c);
void crowd_close(struct crowd *c);
