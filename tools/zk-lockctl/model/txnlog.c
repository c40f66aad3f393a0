/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file of a server's transaction log, which may be damaged, and may be
 * written to while it is read. */
#include "model/txnlog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FILE_HEADER = 16,   /* "ZKLG", version, id of the database */
    RECORD_HEADER = 12, /* checksum, length */
    TXN_HEADER = 32,
    VERSION = 2,
    BLOCK = 1 << 16,
    /* Behind a torn record the next one is searched so far, and the records
     * that may be it have so many bytes together. */
    SEARCH_MAX = 1 << 20,
    SEARCH_BYTES = 64 << 20,
};

/* --- the bytes of the file --- */

static bool make_room(struct txnlog *log, size_t size)
{
    unsigned char *grown;
    size_t room = log->room > 0 ? log->room : BLOCK;

    while (room < size)
        room *= 2;
    if (room == log->room)
        return true;
    grown = realloc(log->data, room);
    if (grown == NULL)
        return false;
    log->data = grown;
    log->room = room;
    return true;
}

/* Moves what is needed to the front, and reads as much as there is room for. 0,
 * or an errno. */
static int fill(struct txnlog *log, uint64_t at, size_t size)
{
    size_t skip = at - log->start;

    if (at < log->start || skip > log->count)
        log->count = 0;
    else if (skip > 0)
        memmove(log->data, log->data + skip, log->count -= skip);
    log->start = at;
    if (!make_room(log, size))
        return ENOMEM;
    while (log->count < size) {
        ssize_t n =
            pread(log->fd, log->data + log->count, log->room - log->count,
                  (off_t)(log->start + log->count));

        if (n < 0 && errno != EINTR)
            return errno;
        if (n == 0)
            return 0;
        log->count += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* So many bytes at that place, or as many as the file has. 0, or an errno. */
static int see(struct txnlog *log, uint64_t at, size_t size,
               struct bytes *ret_bytes)
{
    int rc = 0;

    if (at < log->start || at + size > log->start + log->count)
        rc = fill(log, at, size);
    if (rc != 0)
        return rc;
    ret_bytes->at = (const char *)log->data + (at - log->start);
    ret_bytes->size = log->start + log->count - at;
    if (ret_bytes->size > size)
        ret_bytes->size = size;
    return 0;
}

/* --- records --- */

enum found { FOUND_RECORD, FOUND_END, FOUND_DAMAGE };

static bool is_zero(struct bytes bytes)
{
    for (size_t i = 0; i < bytes.size; i++) {
        if (bytes.at[i] != 0)
            return false;
    }
    return true;
}

/* No more is read than the file has, whatever a damaged length says. */
static bool fits(struct txnlog *log, uint64_t end)
{
    off_t size = lseek(log->fd, 0, SEEK_END);

    return size >= 0 && end <= (uint64_t)size;
}

static bool read_body(struct txnlog *log, uint32_t sum, struct bytes body,
                      struct txn *ret_txn)
{
    return body.at[body.size - 1] == 'B' &&
           wire_adler(1, (const unsigned char *)body.at, body.size - 1) ==
               sum &&
           txn_read(ret_txn, (struct bytes){ body.at, body.size - 1 }) &&
           (log->zxid == 0 || ret_txn->zxid > log->zxid);
}

/* What begins here; a record takes its length off the budget. 0, or an
 * errno. */
static int look(struct txnlog *log, uint64_t at, int64_t *budget,
                struct txn *ret_txn, enum found *ret_found)
{
    struct bytes head, body;
    struct wire w;
    uint64_t sum;
    int32_t length;
    int rc = see(log, at, RECORD_HEADER, &head);

    *ret_found = FOUND_END;
    if (rc != 0 || is_zero(head))
        return rc;
    *ret_found = FOUND_DAMAGE;
    w = wire_of(head);
    sum = (uint64_t)wire_long(&w);
    length = wire_int(&w);
    if (w.failed || sum > UINT32_MAX || length < TXN_HEADER ||
        length > *budget ||
        !fits(log, at + RECORD_HEADER + (uint64_t)length + 1))
        return 0;
    *budget -= length;
    rc = see(log, at + RECORD_HEADER, (size_t)length + 1, &body);
    if (rc != 0 || body.size != (size_t)length + 1 ||
        !read_body(log, (uint32_t)sum, body, ret_txn))
        return rc;
    log->at = at + RECORD_HEADER + body.size;
    log->zxid = ret_txn->zxid;
    *ret_found = FOUND_RECORD;
    return 0;
}

/* The first whole record behind a torn one. */
static int search(struct txnlog *log, struct txn *ret_txn,
                  enum found *ret_found)
{
    uint64_t torn = log->at;
    int64_t budget = SEARCH_BYTES;
    int rc = 0;

    *ret_found = FOUND_DAMAGE;
    for (uint64_t i = 1; rc == 0 && *ret_found != FOUND_RECORD; i++) {
        if (i > SEARCH_MAX || !fits(log, torn + i + RECORD_HEADER))
            break;
        rc = look(log, torn + i, &budget, ret_txn, ret_found);
    }
    return rc;
}

int txnlog_next(struct txnlog *log, struct txn *ret_txn)
{
    int64_t budget = INT64_MAX;
    enum found found;
    int rc = look(log, log->at, &budget, ret_txn, &found);

    if (rc == 0 && found == FOUND_DAMAGE) {
        if (log->torn_at == 0)
            log->torn_at = log->at;
        rc = search(log, ret_txn, &found);
    }
    return rc != 0 ? -rc : found == FOUND_RECORD;
}

/* --- the file --- */

static int read_header(struct txnlog *log)
{
    struct bytes bytes;
    struct wire w;
    int rc = see(log, 0, FILE_HEADER, &bytes);

    if (rc != 0)
        return rc;
    w = wire_of(bytes);
    if (bytes.size < FILE_HEADER || memcmp(bytes.at, "ZKLG", 4) != 0)
        return EBADMSG;
    (void)wire_int(&w);
    log->at = FILE_HEADER;
    return wire_int(&w) == VERSION ? 0 : EBADMSG;
}

int txnlog_open(struct txnlog *log, const char *file)
{
    int rc;

    *log = (struct txnlog){ .fd = open(file, O_RDONLY | O_CLOEXEC) };
    if (log->fd < 0)
        return errno;
    rc = read_header(log);
    if (rc != 0)
        txnlog_close(log);
    return rc;
}

void txnlog_close(struct txnlog *log)
{
    if (log->fd >= 0)
        (void)close(log->fd);
    free(log->data);
    *log = (struct txnlog){ .fd = -1 };
}
