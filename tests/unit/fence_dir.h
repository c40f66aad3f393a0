/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of the test's own, and the file of a fence in it. */
#pragma once

#include <dirent.h>
#include <fcntl.h>

#include "scope.h"
#include "unit.h"

static char dir[64];
static char file[128];

/* The result is valid until the next call. */
static inline const char *in_dir(const char *name)
{
    static char path[128];

    PRINT(path, "%s/%s", dir, name);
    return path;
}

static inline int make_dir(void)
{
    PRINT(dir, "/tmp/zkrecipes-test-XXXXXX");
    if (mkdtemp(dir) == NULL)
        return -1;
    PRINT(file, "%s", in_dir("fence"));
    return 0;
}

static inline int remove_dir(void)
{
    DIR *d = opendir(dir);
    struct dirent *entry;

    while (d != NULL && (entry = readdir(d)) != NULL)
        (void)unlinkat(dirfd(d), entry->d_name, 0);
    if (d != NULL)
        (void)closedir(d);
    return rmdir(dir);
}

static inline void write_file(const char *path, const char *text, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, len), len);
    (void)close(fd);
}

static inline zkr_fence *open_fence(void)
{
    zkr_fence *f = NULL;

    if (zkr_fence_new(OPTS(fence, .file = file), &f) != ZKR_OK)
        fail_msg("%s", zkr_error_detail());
    return f;
}

static inline int64_t highest(zkr_fence *f)
{
    int64_t token = -1;

    ok(zkr_fence_highest(f, &token));
    return token;
}
