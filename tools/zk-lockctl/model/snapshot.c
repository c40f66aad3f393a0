/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a snapshot of a server: all nodes, as they were around one moment. */
#include "model/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATH_MAX_BYTES = 1 << 20,
    VERSION = 2,
    STAT = 60,
};

struct snapshot {
    struct packed file;
    uint32_t sum; /* of what was read */
    bool failed;
    char *path;
    size_t room; /* for the path */
    char data[SNAPSHOT_DATA_MAX];
};

/* --- the bytes of the file --- */

/* `data` NULL: they are not kept. */
static void take(struct snapshot *s, char *data, size_t size)
{
    unsigned char block[4096];

    while (size > 0 && !s->failed) {
        size_t want = size < sizeof(block) ? size : sizeof(block);

        if (!packed_read(&s->file, block, want)) {
            s->failed = true;
            return;
        }
        s->sum = wire_adler(s->sum, block, want);
        if (data != NULL)
            data = (char *)memcpy(data, block, want) + want;
        size -= want;
    }
}

static int64_t take_number(struct snapshot *s, size_t width)
{
    unsigned char bytes[8] = { 0 };
    struct wire w = { bytes, sizeof(bytes), false };

    take(s, (char *)bytes, width);
    return s->failed ? 0 : wire_number(&w, width);
}

static void skip_text(struct snapshot *s)
{
    int64_t length = take_number(s, 4);

    if (length > 0)
        take(s, NULL, (size_t)length);
}

/* --- its parts --- */

static void skip_header(struct snapshot *s)
{
    char magic[4] = "";

    take(s, magic, sizeof(magic));
    s->failed = s->failed || memcmp(magic, "ZKSN", sizeof(magic)) != 0 ||
                take_number(s, 4) != VERSION;
    (void)take_number(s, 8); /* the database */
}

static void skip_sessions(struct snapshot *s)
{
    int64_t count = take_number(s, 4);

    for (; count > 0 && !s->failed; count--)
        take(s, NULL, 8 + 4); /* id, timeout */
}

static void skip_acls(struct snapshot *s)
{
    int64_t count = take_number(s, 4);

    for (; count > 0 && !s->failed; count--) {
        int64_t entries;

        (void)take_number(s, 8); /* the number of the list */
        for (entries = take_number(s, 4); entries > 0 && !s->failed;
             entries--) {
            (void)take_number(s, 4); /* permissions */
            skip_text(s);            /* scheme */
            skip_text(s);            /* id */
        }
    }
}

static bool make_room(struct snapshot *s, size_t size)
{
    char *grown;

    if (size <= s->room)
        return true;
    grown = realloc(s->path, size);
    if (grown == NULL)
        return false;
    s->path = grown;
    s->room = size;
    return true;
}

static void take_path(struct snapshot *s, struct node *node)
{
    int64_t length = take_number(s, 4);

    s->failed = s->failed || length < 0 || length > PATH_MAX_BYTES ||
                !make_room(s, (size_t)length + 1);
    if (s->failed)
        return;
    take(s, s->path, (size_t)length);
    node->path = (struct bytes){ s->path, (size_t)length };
    s->failed = s->failed || memchr(s->path, '\0', (size_t)length) != NULL;
}

static void take_data(struct snapshot *s, struct node *node)
{
    int64_t length = take_number(s, 4);
    size_t kept;

    if (length < 0)
        length = 0;
    kept = length < SNAPSHOT_DATA_MAX ? (size_t)length : SNAPSHOT_DATA_MAX;
    take(s, s->data, kept);
    take(s, NULL, (size_t)length - kept);
    node->data = (struct bytes){ s->data, kept };
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

    take(s, (char *)bytes, sizeof(bytes));
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
    uint32_t sum;

    while (!s->failed) {
        struct node node = { .czxid = 0 };

        take_path(s, &node);
        if (s->failed || (node.path.size == 1 && node.path.at[0] == '/'))
            break;
        take_data(s, &node);
        (void)take_number(s, 8); /* the number of its ACL */
        take_stat(s, &node);
        if (!s->failed)
            fn(&node, user);
    }
    sum = s->sum;
    s->failed = (uint64_t)take_number(s, 8) != sum || s->failed;
}

int snapshot_read(const char *file, snapshot_fn *fn, void *user)
{
    struct snapshot s = { .sum = 1 };
    int rc;

    if (!packed_open(&s.file, file))
        return s.file.error;
    skip_header(&s);
    skip_sessions(&s);
    skip_acls(&s);
    take_nodes(&s, fn, user);
    rc = !s.failed ? 0 : s.file.error != 0 ? s.file.error : EBADMSG;
    packed_close(&s.file);
    free(s.path);
    return rc;
}
