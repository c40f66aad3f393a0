/* SPDX-License-Identifier: Apache-2.0 */
/* Three real ZooKeeper servers on hosts of their own, and links that fail.
 *
 * A host is a network namespace of this process's own; a bridge joins them. A
 * link that is blocked loses every packet in that direction, without a word to
 * either side, while all other links stay. Call everything from the main
 * thread. */
#pragma once

#include "server.h"
#include "test.h"

#define MS INT64_C(1000000)

enum {
    HERE = 0, /* this process; the servers are the hosts from 1 to SERVERS */
    SERVERS = 3,
    HOSTS = SERVERS + 1,
    OBSERVER = HOSTS, /* one more, which does not vote; a follower pings it */
    LEADERS_OBSERVER, /* the next one, which the leader pings */

    HEALTHY_MS = 90000, /* for servers and grants to come back */
};

/* Options of the servers; zero is the default of Debian. */
struct cluster_opts {
    int tick_ms;    /* 2000; the least session timeout is two of them */
    int sync_limit; /* 5; a follower is on its own for that many ticks at
                       most */
    int observers;  /* 0 to 2 */
    const char *logs[HOSTS]; /* where the transactions of each server go */
};

/* Move this process into a network of its own. Before any thread is started.
 * False where that is not permitted, or there is no `ip`. */
bool cluster_permitted(void);

/* As server_start(). There is one cluster in a process. */
int cluster_start(const struct cluster_opts *opts);
void cluster_stop(void);

struct server *cluster_server(int host);

/* Start one that has been killed, or has ended, and wait until it serves. */
int cluster_restart(int host);

/* The part of each server in a trial; which follower is which is chosen at
 * random. */
struct cast {
    int leader;
    int follower;
    int other;
};

/* Wait until one host leads and both others follow; false when time is up. */
bool cluster_find_cast(struct cast *cast);
/* The same; or the test fails. */
struct cast cluster_await_cast(void);

/* Wait until an observer is served by a server of that mode, "leader" or
 * "follower", and return which. The test fails when time is up, as with
 * followers before 3.6. */
int cluster_await_master(const char *mode);

/* Lose what `from` sends to `to`. */
void cluster_block(int from, int to);
void cluster_unblock(int from, int to);
/* In both directions. */
void cluster_cut(int a, int b);

/* No host is blocked any more. */
void cluster_heal(void);

/* Break the connections that `host` has with `peer`. The peer learns of it if
 * its link is not blocked. Where the kernel cannot do that, nothing happens. */
void cluster_break(int host, int peer);
/* Of both. */
void cluster_reset(int a, int b);

/* Cut the leader off from its followers. They notice at once, and elect; the
 * leader does not, nor does an observer. */
void cluster_isolate(int leader);
/* Heal, and break what that server and others have: connections that were cut
 * would wait for a retransmission, for seconds. */
void cluster_mend(int host);

/* The number that the environment gives, and then the test may take as long as
 * it takes; or `otherwise`. */
int number_from(const char *name, int otherwise);
/* Prints the seed of the random numbers of this run, and sets it: ZKR_SEED. */
void set_seed(void);
/* Each as likely as another, `most` too. */
int random_between(int least, int most);

/* Returns when that was, in ns of CLOCK_BOOTTIME; the argument is in ms of
 * CLOCK_REALTIME. */
int64_t real_to_boot(int64_t instant_ms);

/* The main() of trials with a cluster, which is up while the tests run and has
 * the directory of new_path(); where that is not permitted, it skips them. */
int run_with_cluster(const struct cluster_opts *opts, test_step *setup,
                     test_step *teardown);
/* Makes a node, at any server of the cluster. A code of ZooKeeper. */
int cluster_create(const char *path);
