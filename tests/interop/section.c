/* SPDX-License-Identifier: Apache-2.0 */
/* The critical section of the mix, in C. */
#include "section.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

enum { RESOURCE_SIZE = 63 };

static int open_in(const char *dir, const char *name, int flags)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    return open(path, flags | O_CLOEXEC);
}

bool section_open(struct section *s, const char *name, const char *dir)
{
    *s = (struct section){ .name = name, .dir = dir };
    s->resource = open_in(dir, "resource", O_RDWR);
    s->journal = open_in(dir, "journal", O_WRONLY | O_APPEND);
    return s->resource >= 0 && s->journal >= 0;
}

void section_close(struct section *s)
{
    (void)close(s->resource);
    (void)close(s->journal);
}

static bool has_file(const struct section *s, const char *name)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/%s", s->dir, name);
    return access(path, F_OK) == 0;
}

bool section_is_over(const struct section *s)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "stop-%s", s->name);
    return has_file(s, name);
}

static void pause_ms(long ms)
{
    struct timespec t = { 0, ms * 1000000 };

    (void)nanosleep(&t, NULL);
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* The value, or -1: refused. A write when `value` is not negative. */
static int64_t pass_fence(const struct section *s, bool writer, int64_t token,
                          int64_t value)
{
    char text[RESOURCE_SIZE + 1] = "";
    int64_t counter;
    int64_t seen;
    int64_t written;

    if (pread(s->resource, text, RESOURCE_SIZE, 0) != RESOURCE_SIZE ||
        sscanf(text, "%" SCNd64 " %" SCNd64 " %" SCNd64, &counter, &seen,
               &written) != 3)
        die("resource");
    if (token < (writer ? seen : written))
        return -1;
    seen = token > seen ? token : seen;
    written = writer ? token : written;
    counter = value >= 0 ? value : counter;
    (void)snprintf(text, sizeof(text),
                   "%020" PRId64 " %020" PRId64 " %020" PRId64 "\n", counter,
                   seen, written);
    if (pwrite(s->resource, text, RESOURCE_SIZE, 0) != RESOURCE_SIZE)
        die("resource");
    return counter;
}

static int64_t visit(const struct section *s, bool writer, int64_t token,
                     int64_t value)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    if (fcntl(s->resource, F_SETLKW, &whole) != 0)
        die("fcntl");
    value = pass_fence(s, writer, token, value);
    whole.l_type = F_UNLCK;
    if (fcntl(s->resource, F_SETLKW, &whole) != 0)
        die("fcntl");
    return value;
}

static void note(const struct section *s, const char *what, const char *mode,
                 const struct section_node *node, int64_t value)
{
    char line[256];
    int size =
        snprintf(line, sizeof(line), "%s %s %s %s %" PRId64 " %" PRId64 "\n",
                 what, s->name, mode, node->name, node->token, value);

    if (write(s->journal, line, (size_t)size) != size)
        die("journal");
}

void section_work(struct section *s, const char *mode,
                  const struct section_node *nodes, size_t count)
{
    bool writer = strcmp(mode, "write") == 0;
    int64_t value = -1;
    char stall[64];

    (void)snprintf(stall, sizeof(stall), "stall-%s-%s", s->name, mode);
    for (size_t i = 0; i < count; i++) {
        value = visit(s, writer, nodes[i].token, -1);
        note(s, value < 0 ? "REFUSED" : "ENTER", mode, &nodes[i], value);
        if (value < 0)
            return;
    }
    if (has_file(s, stall)) {
        note(s, "STALL", mode, &nodes[0], value);
        while (has_file(s, stall))
            pause_ms(2);
    }
    if (++s->count % 16 == 0)
        pause_ms(1);
    for (size_t i = 0; i < count; i++)
        note(s, "LEAVE", mode, &nodes[i],
             visit(s, writer, nodes[i].token, writer ? value + 1 : -1));
}
