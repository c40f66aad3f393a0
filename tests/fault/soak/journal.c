/* SPDX-License-Identifier: Apache-2.0 */
/* The journal that a thread of a client writes, line by line. */
#include "journal.h"

#include <inttypes.h>
#include <limits.h>

#include "soak.h"
#include "wait.h"

static void make_path(char path[static PATH_MAX], const char *dir, int worker,
                      int generation, int thread)
{
    (void)snprintf(path, PATH_MAX, "%s/journal-%d.%d.%d", dir, worker,
                   generation, thread);
}

int journal_create(const char *dir, int worker, int generation, int thread)
{
    char path[PATH_MAX];

    make_path(path, dir, worker, generation, thread);
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

void journal_write(int journal, char kind, int64_t a, int64_t b, int64_t c)
{
    char line[128];
    int size = snprintf(line, sizeof(line),
                        "%c %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
                        kind, boot_ns(), a, b, c);

    if (write(journal, line, (size_t)size) != size)
        abort();
}

struct note *journal_read(const char *dir, int worker, int generation,
                          int thread, size_t *ret_count)
{
    char path[PATH_MAX];
    struct note *notes = NULL;
    size_t count = 0;
    struct note n;

    make_path(path, dir, worker, generation, thread);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return NULL;
    while (fscanf(file, " %c %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64,
                  &n.kind, &n.at, &n.a, &n.b, &n.c) == 5) {
        PUSH(notes, count, n);
    }
    (void)fclose(file);
    *ret_count = count;
    return notes;
}
