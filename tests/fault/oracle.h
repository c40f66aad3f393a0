/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle: compares the grants that clients report with the server's
 * transaction log. */
#pragma once

#include <zkrecipes/zkrecipes.h>

#include "cluster.h"
#include "test.h"

struct oracle;

/* For a lock path of exclusive contenders with UUIDs in their names. */
struct oracle *oracle_new(const char *directory);
void oracle_free(struct oracle *o);

/* This grant was just received; any thread. */
void oracle_granted(struct oracle *o, zkr_grant *g);

struct verdict {
    size_t grants;
    size_t nodes;    /* that the directory has had */
    size_t twins;    /* two nodes of one UUID that were there together */
    int64_t longest; /* life of a node that was not granted, in ms */
};

/* Fails the test when the judge (judge.h) finds something: a token that is not
 * the czxid of a node of this directory, or belongs to two grants; a grant that
 * came when a node created before its own was still there; a node that is left.
 */
struct verdict oracle_judge(struct oracle *o, const struct server *s);

/* The number that the environment gives, and then the test may take as long as
 * it takes; or `otherwise`. */
int number_from(const char *name, int otherwise);
/* Prints the seed of the random numbers of this run, and sets it: ZKR_SEED. */
void set_seed(void);
int random_ms(int least, int most);

/* Returns when that was, in ns of CLOCK_BOOTTIME; the argument is in ms of
 * CLOCK_REALTIME. */
int64_t real_to_boot(int64_t instant_ms);

/* The main() of trials with a cluster, which is up while the tests run and has
 * that directory; where that is not permitted, they are skipped. */
int run_with_cluster(const struct cluster_opts *opts, const char *directory,
                     struct cluster **ret_cluster, test_step *setup,
                     test_step *teardown);
/* Makes a node, at any server of the cluster. A code of ZooKeeper. */
int cluster_create(const struct cluster *c, const char *path);
