/* SPDX-License-Identifier: Apache-2.0 */
/* Three real ZooKeeper servers on hosts of their own, and links that fail.
 *
 * A host is a network namespace of this process's own; a bridge joins them. A
 * link that is blocked loses every packet in that direction, without a word to
 * either side, while all other links stay. Call everything from the main
 * thread. */
#pragma once

#include "server.h"

enum {
    HERE = 0, /* this process; the servers are the hosts from 1 to SERVERS */
    SERVERS = 3,
    HOSTS = SERVERS + 1,
    OBSERVER = HOSTS, /* one more, which does not vote; a follower pings it */
    LEADERS_OBSERVER, /* the next one, which the leader pings */
};

/* Options of the servers; zero is the default of Debian. */
struct cluster_opts {
    int tick_ms;    /* 2000; the least session timeout is two of them */
    int sync_limit; /* 5; a follower is on its own for that many ticks at
                       most */
    int observers;  /* 0 to 2 */
    const char *logs[HOSTS]; /* where the transactions of each server go */
};

struct cluster;

/* Move this process into a network of its own. Before any thread is started.
 * False where that is not permitted, or there is no `ip`. */
bool cluster_permitted(void);

/* As server_start(); all defaults for NULL. */
int cluster_start(const struct cluster_opts *opts,
                  struct cluster **ret_cluster);
void cluster_stop(struct cluster *c);

struct server *cluster_server(const struct cluster *c, int host);

/* Start one that has been killed, or has ended, and wait until it serves. */
int cluster_restart(struct cluster *c, int host);

/* Wait until one host leads and both others follow, and return it; 0 when time
 * is up. */
int cluster_await_leader(struct cluster *c, int timeout_ms);

/* Wait until an observer is served by a server of that mode, "leader" or
 * "follower", and return which; 0 when time is up, as with followers before
 * 3.6. */
int cluster_await_master(struct cluster *c, const char *mode, int timeout_ms);

/* Lose what `from` sends to `to`. */
void cluster_block(const struct cluster *c, int from, int to);
void cluster_unblock(const struct cluster *c, int from, int to);

/* No host is blocked any more. */
void cluster_heal(const struct cluster *c);

/* Break the connections that `host` has with `peer`. The peer learns of it if
 * its link is not blocked. Where the kernel cannot do that, nothing happens. */
void cluster_break(const struct cluster *c, int host, int peer);
