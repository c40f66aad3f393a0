/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of the test's own, and the file of a fence in it. */
#pragma once

#include <zkrecipes/fence.h>

extern char dir[64];
extern char file[128];

int make_dir(void);
int remove_dir(void);

/* The result is valid until the next call. */
const char *in_dir(const char *name);

void write_file(const char *path, const char *text, size_t len);
zkr_fence *open_fence(void);
int64_t highest(zkr_fence *f);
