/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle: compares the grants that clients report with the server's
 * transaction log. */
#pragma once

#include "fixture.h"

struct oracle;

/* For a lock path of exclusive contenders with UUIDs in their names, which it
 * makes. */
struct oracle *oracle_new(const char *directory);
void oracle_free(struct oracle *o);

/* This grant was just received; any thread. */
void oracle_granted(struct oracle *o, zkr_grant *g);

struct verdict {
    size_t grants;
    size_t nodes;    /* that the directory has had */
    int64_t longest; /* life of a node that was not granted, in ms */
};

/* Waits until the lock has no node. Fails the test when the judge (judge.h)
 * finds something: a token that is not the czxid of a node of this directory,
 * or belongs to two grants; a grant that came when a node created before its
 * own was still there; a node that is left. Or when two nodes of one UUID were
 * there together. */
struct verdict oracle_judge(struct oracle *o);
