/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file of a server's transaction log, which may be damaged, and may be
 * written to while it is read. */
#include "model/txnlog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "common/grow.h"

enum {
    FILE_HEADER = 16,   /* "ZKLG", version, id of the database */
    RECORD_HEADER = 12, /* checksum, length */
    TXN_HEADER = 32,
    BUFFER = 1 << 16,
    /* Behind a torn record the next one is searched so far, and the records
     * that may be it have so many bytes together. */
    SEARCH_MAX = 1 << 20,
    SEARCH_BYTES = 64 << 20,
};

/* What begins at a place of the file: */
enum found { FOUND_RECORD, FOUND_END, FOUND_DAMAGE };

/* No more is read than the file has, whatever a damaged length says. */
static bool fits(const struct txnlog *log, int64_t end)
{
    struct stat st;

    return fstat(fileno(log->file), &st) == 0 && end <= st.st_size;
}

/* The bytes have a 'B' behind them. */
static bool is_record(const struct txnlog *log, uint64_t sum, size_t size,
                      struct txn *ret_txn)
{
    return log->body[size] == 'B' &&
           adler32_z(adler32(0, NULL, 0), (const Bytef *)log->body, size) ==
               sum &&
           txn_read(ret_txn, (struct bytes){ log->body, size }) &&
           (log->zxid == 0 || ret_txn->zxid > log->zxid);
}

/* What begins there; a record takes its length off the budget. 0, or an
 * errno. */
static int look(struct txnlog *log, int64_t at, int64_t *budget,
                struct txn *ret_txn, enum found *ret_found)
{
    static const char zeros[RECORD_HEADER];
    char head[RECORD_HEADER] = "";
    struct wire w = wire_of((struct bytes){ head, sizeof(head) });
    size_t length;
    uint64_t sum;

    *ret_found = FOUND_END;
    if (at != log->here && fseeko(log->file, at, SEEK_SET) != 0)
        return errno;
    log->here = -1;
    if (fread(head, 1, sizeof(head), log->file) < sizeof(head) &&
        ferror(log->file))
        return EIO;
    if (memcmp(head, zeros, sizeof(head)) == 0)
        return 0;
    *ret_found = FOUND_DAMAGE;
    sum = (uint64_t)wire_long(&w);
    length = (size_t)wire_int(&w);
    at += RECORD_HEADER + (int64_t)length + 1;
    if (sum > UINT32_MAX || length < TXN_HEADER || length > INT32_MAX ||
        (int64_t)length > *budget || (length >= log->room && !fits(log, at)))
        return 0;
    *budget -= (int64_t)length;
    if (!grow_block(&log->body, &log->room, length + 1))
        return ENOMEM;
    if (fread(log->body, 1, length + 1, log->file) != length + 1)
        return ferror(log->file) ? EIO : 0;
    if (!is_record(log, sum, length, ret_txn))
        return 0;
    log->at = log->here = at;
    log->zxid = ret_txn->zxid;
    *ret_found = FOUND_RECORD;
    return 0;
}

/* The first whole record behind a torn one. */
static int search(struct txnlog *log, struct txn *ret_txn,
                  enum found *ret_found)
{
    int64_t torn = log->at;
    int64_t budget = SEARCH_BYTES;
    int rc = 0;

    for (int64_t i = 1; rc == 0 && *ret_found != FOUND_RECORD; i++) {
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

int txnlog_open(struct txnlog *log, const char *file)
{
    char head[FILE_HEADER];
    int rc;

    *log = (struct txnlog){ .file = fopen(file, "re"),
                            .here = FILE_HEADER,
                            .at = FILE_HEADER };
    if (log->file == NULL)
        return errno;
    (void)setvbuf(log->file, NULL, _IOFBF, BUFFER);
    if (fread(head, 1, sizeof(head), log->file) == sizeof(head) &&
        memcmp(head, "ZKLG\0\0\0\2", 8) == 0)
        return 0;
    rc = ferror(log->file) ? EIO : EBADMSG;
    txnlog_close(log);
    return rc;
}

void txnlog_close(struct txnlog *log)
{
    if (log->file != NULL)
        (void)fclose(log->file);
    free(log->body);
    *log = (struct txnlog){ .file = NULL };
}
