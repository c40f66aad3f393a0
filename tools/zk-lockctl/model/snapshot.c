/* SPDX-License-Identifier: Apache-2.0 */
#include "model/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/grow.h"

enum { PATH_MAX_BYTES = 1 << 20, STAT = 60 };

struct snapshot {
    FILE *file;
    uLong sum; /* of what was read */
    const char *failure;
    char *path;
    size_t room; /* for the path */
    char data[SNAPSHOT_DATA_MAX];
};

static void fail(struct snapshot *s, const char *failure)
{
    if (s->failure == NULL)
        s->failure = failure;
}

static void expect(struct snapshot *s, bool is_right)
{
    if (!is_right)
        fail(s, "damaged, or no snapshot");
}

/* --- the bytes of the file --- */

/* Nothing after a failure. */
static void take(struct snapshot *s, void *bytes, size_t size)
{
    if (s->failure != NULL || fread(bytes, 1, size, s->file) != size) {
        if (s->failure == NULL && ferror(s->file))
            fail(s, strerror(EIO));
        expect(s, false);
        return;
    }
    s->sum = adler32_z(s->sum, bytes, size);
}

static void skip(struct snapshot *s, int64_t size)
{
    unsigned char block[4096];
    size_t n;

    for (; size > 0 && s->failure == NULL; size -= (int64_t)n) {
        n = size < (int64_t)sizeof(block) ? (size_t)size : sizeof(block);
        take(s, block, n);
    }
}

static int64_t take_number(struct snapshot *s, size_t width)
{
    unsigned char bytes[8] = { 0 };
    struct wire w = { bytes, sizeof(bytes), false };

    take(s, bytes, width);
    return s->failure != NULL ? 0 : wire_number(&w, width);
}

/* --- its parts --- */

static void skip_lists_of_acls(struct snapshot *s)
{
    int64_t lists = take_number(s, 4);

    for (; lists > 0 && s->failure == NULL; lists--) {
        int64_t entries;

        skip(s, 8); /* the number of the list */
        for (entries = take_number(s, 4); entries > 0 && s->failure == NULL;
             entries--) {
            skip(s, 4);                 /* permissions */
            skip(s, take_number(s, 4)); /* scheme */
            skip(s, take_number(s, 4)); /* id */
        }
    }
}

static void skip_head(struct snapshot *s)
{
    char magic[8] = "";

    take(s, magic, sizeof(magic));
    if (memcmp(magic, "\x82SNAPPY", 7) == 0 ||
        memcmp(magic, "\x1f\x8b", 2) == 0)
        fail(s, "it is compressed, which is not read; gunzip a copy");
    expect(s, memcmp(magic, "ZKSN\0\0\0\2", sizeof(magic)) == 0);
    skip(s, 8);                           /* the database */
    skip(s, take_number(s, 4) * (8 + 4)); /* sessions: id, timeout */
    skip_lists_of_acls(s);
}

static void take_path(struct snapshot *s, struct node *node)
{
    int64_t length = take_number(s, 4);

    expect(s, length >= 0 && length <= PATH_MAX_BYTES);
    if (s->failure != NULL)
        return;
    grow_block(&s->path, &s->room, (size_t)length + 1);
    take(s, s->path, (size_t)length);
    node->path = (struct bytes){ s->path, (size_t)length };
    expect(s, memchr(s->path, '\0', (size_t)length) == NULL);
}

static void take_data(struct snapshot *s, struct node *node)
{
    int64_t length = take_number(s, 4);
    int64_t kept = length < 0                   ? 0
                   : length < SNAPSHOT_DATA_MAX ? length
                                                : SNAPSHOT_DATA_MAX;

    take(s, s->data, (size_t)kept);
    skip(s, length - kept);
    node->data = (struct bytes){ s->data, (size_t)kept };
}

/* A session has no bit set in the highest byte but for its server's id; the
 * owner of a container is INT64_MIN, and 0xff is the highest byte of a time to
 * live. */
static int64_t session_of(int64_t owner)
{
    return owner == INT64_MIN || (uint64_t)owner >> 56 == 0xff ? 0 : owner;
}

static void take_stat(struct snapshot *s, struct node *node)
{
    unsigned char bytes[STAT] = { 0 };
    struct wire w = { bytes, sizeof(bytes), false };

    take(s, bytes, sizeof(bytes));
    node->czxid = wire_long(&w);
    (void)wire_long(&w); /* mzxid */
    node->ctime_ms = wire_long(&w);
    (void)wire_long(&w); /* mtime */
    (void)wire_int(&w);  /* version, cversion, aversion */
    (void)wire_int(&w);
    (void)wire_int(&w);
    node->owner = session_of(wire_long(&w));
}

/* They end with the path "/", and the checksum of all before it. */
static void take_nodes(struct snapshot *s, snapshot_fn *fn, void *user)
{
    uLong sum;

    while (s->failure == NULL) {
        struct node node = { .czxid = 0 };

        take_path(s, &node);
        if (s->failure == NULL && node.path.size == 1 && node.path.at[0] == '/')
            break;
        take_data(s, &node);
        skip(s, 8); /* the number of its list of ACLs */
        take_stat(s, &node);
        if (s->failure == NULL)
            fn(&node, user);
    }
    sum = s->sum;
    expect(s, (uint64_t)take_number(s, 8) == sum);
}

const char *snapshot_read(const char *file, snapshot_fn *fn, void *user)
{
    struct snapshot s = { .file = fopen(file, "re"),
                          .sum = adler32(0, NULL, 0) };

    if (s.file == NULL)
        return strerror(errno);
    skip_head(&s);
    take_nodes(&s, fn, user);
    (void)fclose(s.file);
    free(s.path);
    return s.failure;
}
