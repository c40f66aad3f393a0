/* SPDX-License-Identifier: Apache-2.0 */
/* The board: a page of memory that the test and its clients share while they
 * run. */
#include "board.h"

#include <limits.h>
#include <stddef.h>

#include <sys/mman.h>

struct board *board_open(const char *dir, int flags)
{
    char path[PATH_MAX];
    struct board *board = MAP_FAILED;

    (void)snprintf(path, sizeof(path), "%s/board", dir);
    int fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600);
    if (fd >= 0 && ftruncate(fd, sizeof(*board)) == 0)
        board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED,
                     fd, 0);
    if (fd >= 0)
        (void)close(fd);
    return board != MAP_FAILED ? board : NULL;
}
