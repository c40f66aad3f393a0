/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle: compares the grants that clients report with the server's
 * transaction log. */
#ifndef TEST_ORACLE_H
#define TEST_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#include <zkrecipes/zkrecipes.h>

#include "server.h"

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

#endif
