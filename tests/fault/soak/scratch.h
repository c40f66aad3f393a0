/* SPDX-License-Identifier: Apache-2.0 */
/* A file system of the test's own, in memory, which nobody else sees. */
#pragma once

#include <stdbool.h>

#include "spawn.h"

struct scratch {
    char dir[128];
    struct guard guard; /* to be finished */
};

/* Make it, and have TMPDIR name it. Needs the right to mount: call it after
 * cluster_permitted(), before any thread is started. False with errno. */
bool scratch_start(struct scratch *s);

/* A file system of `megabytes` in there. */
bool scratch_mount(const struct scratch *s, const char *name, int megabytes);

/* Fill it up to the last byte, and make room again. */
bool scratch_fill(const struct scratch *s, const char *name);
void scratch_drain(const struct scratch *s, const char *name);

/* Copy what is in it to the directory `to`. */
void scratch_keep(const struct scratch *s, const char *to);
