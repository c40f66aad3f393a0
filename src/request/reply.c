/* SPDX-License-Identifier: Apache-2.0 */
/* Replies for the program: copies of what the seam tells. */
#include "request/client.h"

#include <stdlib.h>
#include <string.h>

/* A path that is shorter than the chroot is none of ours. */
static const char *without_chroot(const char *path, size_t chroot_len)
{
    if (path == NULL || strlen(path) < chroot_len)
        return NULL;
    return path[chroot_len] == '\0' ? "/" : path + chroot_len;
}

/* Copies `len` bytes and a NUL to *end, and moves that. */
static const char *append(char **end, const char *bytes, size_t len)
{
    char *begin = *end;

    memcpy(begin, bytes, len);
    begin[len] = '\0';
    *end += len + 1;
    return begin;
}

static size_t size_of_names(const struct zkr__zk_reply *from)
{
    size_t size = from->name_count * sizeof(char *);

    for (size_t i = 0; i < from->name_count; i++)
        size += strlen(from->names[i]) + 1;
    return size;
}

struct zkr_reply *zkr__reply_copy(const struct zkr__zk_reply *from,
                                  size_t chroot_len)
{
    const char *path = without_chroot(from->path, chroot_len);
    size_t len = from->data == NULL ? 0 : from->data_len;
    struct zkr_reply *to =
        calloc(1, sizeof(*to) + size_of_names(from) + len + 1 +
                      (path == NULL ? 0 : strlen(path) + 1));
    const char **names;
    char *end;

    if (to == NULL)
        return NULL;
    names = (const char **)(to + 1);
    end = (char *)(names + from->name_count);
    for (size_t i = 0; i < from->name_count; i++)
        names[i] = append(&end, from->names[i], strlen(from->names[i]));
    to->names = from->name_count == 0 ? NULL : names;
    to->count = from->name_count;
    to->data = from->data == NULL ? NULL : append(&end, from->data, len);
    to->len = len;
    to->path = path == NULL ? NULL : append(&end, path, strlen(path));
    to->stat = from->stat;
    return to;
}

void zkr_reply_free(struct zkr_reply *reply)
{
    free(reply);
}
