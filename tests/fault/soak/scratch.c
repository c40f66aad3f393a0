/* SPDX-License-Identifier: Apache-2.0 */
/* A scratch file system: its mount namespace ends with this process. */
#include "scratch.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static bool mount_memory(const char *dir, int megabytes)
{
    char options[64];

    (void)snprintf(options, sizeof(options), "mode=0700,size=%dm", megabytes);
    return mount("tmpfs", dir, "tmpfs", MS_NOSUID | MS_NODEV, options) == 0;
}

/* The guard stays outside, where the directory is empty. */
bool scratch_start(struct scratch *s)
{
    const char *tmp = getenv("TMPDIR");

    (void)snprintf(s->dir, sizeof(s->dir), "%s/zkrecipes-soak-XXXXXX",
                   tmp != NULL && *tmp != '\0' ? tmp : "/tmp");
    if (mkdtemp(s->dir) == NULL || guard_start(&s->guard, s->dir) != 0)
        return false;
    return unshare(CLONE_NEWNS) == 0 &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount_memory(s->dir, 4096) && setenv("TMPDIR", s->dir, 1) == 0;
}

static void path_in(const struct scratch *s, const char *name, const char *file,
                    char path[static PATH_MAX])
{
    (void)snprintf(path, PATH_MAX, "%s/%s%s", s->dir, name, file);
}

bool scratch_mount(const struct scratch *s, const char *name, int megabytes)
{
    char path[PATH_MAX];

    path_in(s, name, "", path);
    return mkdir(path, 0700) == 0 &&
           (megabytes == 0 || mount_memory(path, megabytes));
}

bool scratch_fill(const struct scratch *s, const char *name)
{
    static char zeros[1 << 16];
    char path[PATH_MAX];

    path_in(s, name, "/ballast", path);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    while (write(fd, zeros, sizeof(zeros)) > 0)
        ;
    (void)close(fd);
    return errno == ENOSPC;
}

void scratch_drain(const struct scratch *s, const char *name)
{
    char path[PATH_MAX];

    path_in(s, name, "/ballast", path);
    (void)unlink(path);
}

void scratch_keep(const struct scratch *s, const char *to)
{
    char *argv[] = { "cp", "-r", (char *)s->dir, (char *)to, NULL };

    (void)spawn_run(argv, STDERR_FILENO);
}
