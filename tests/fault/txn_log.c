/* Reading transaction logs while they are written. */
#include "txn_log.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <glob.h>

enum {
    FILE_HEADER = 16,
    CLOSE_SESSION = -11,

    /* Before the header of a transaction: checksum and length. */
    LENGTH_AT = 8,
    RECORD_HEADER = 12,

    /* In the header: client, cxid, zxid, time, type. */
    TIME_AT = 20,
    TYPE_AT = 28,
    TXN_HEADER = 32,
};

static int64_t number(const unsigned char *data, int width)
{
    uint64_t value = (data[0] & 0x80) != 0 ? UINT64_MAX : 0;

    for (int i = 0; i < width; i++)
        value = value << 8 | data[i];
    return (int64_t)value;
}

/* Files are filled with zeros ahead of what has been written. */
static int64_t find_in(FILE *file, int64_t session_id)
{
    unsigned char head[RECORD_HEADER + TXN_HEADER];
    const unsigned char *txn = head + RECORD_HEADER;
    int64_t length;

    if (fseek(file, FILE_HEADER, SEEK_SET) != 0)
        return 0;
    while (fread(head, 1, sizeof(head), file) == sizeof(head)) {
        length = number(head + LENGTH_AT, 4);
        if (length < TXN_HEADER)
            return 0;
        if (number(txn + TYPE_AT, 4) == CLOSE_SESSION &&
            number(txn, 8) == session_id)
            return number(txn + TIME_AT, 8);
        /* and the byte that ends a record */
        if (fseek(file, (long)length - TXN_HEADER + 1, SEEK_CUR) != 0)
            return 0;
    }
    return 0;
}

int64_t txn_log_session_closed(const struct server *s, int64_t session_id)
{
    char pattern[PATH_MAX];
    glob_t logs;
    int64_t first = 0;

    (void)snprintf(pattern, sizeof(pattern), "%s/data/version-2/log.*",
                   server_dir(s));
    if (glob(pattern, 0, NULL, &logs) != 0)
        return 0;
    for (size_t i = 0; i < logs.gl_pathc; i++) {
        FILE *file = fopen(logs.gl_pathv[i], "re");
        int64_t time = file == NULL ? 0 : find_in(file, session_id);

        if (file != NULL)
            fclose(file);
        if (time != 0 && (first == 0 || time < first))
            first = time;
    }
    globfree(&logs);
    return first;
}
