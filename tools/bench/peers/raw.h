/* SPDX-License-Identifier: Apache-2.0 */
/* What the peers share that use the ZooKeeper client without any recipe. */
#pragma once

#include <zookeeper/zookeeper.h>

enum { RAW_NODE_MAX = 128 };

/* The directory of this process, and the name that all nodes in it begin with;
 * both are like those of a lock. */
extern char raw_dir[64];

/* Ends the process with an error, if it is one. */
void raw_check(const char *what, int rc);

/* An answer has come; wait for so many, and forget them. */
void raw_answered(void);
void raw_await(long count);

/* Opens a handle, and waits until it is connected. As it comes, the client
 * resolves the names of its servers each time that it looks for something to
 * do; resolve=0 on the command line keeps it from that. */
zhandle_t *raw_open(void);
/* Makes the directory. */
void raw_make_dir(zhandle_t *zh);

/* Creates a node with as much data as that of a lock. */
void raw_create(zhandle_t *zh, string_stat_completion_t done, const void *user);
