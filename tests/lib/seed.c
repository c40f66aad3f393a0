/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a server believe that a directory has had many children. */
#include "seed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "txn_log.h"
#include "wire.h"

enum { LOG_VERSION = 2, END_OF_RECORD = 0x42 };

int seed_sequence(const struct server *s, int64_t zxid, const char *child,
                  int32_t counter)
{
    struct packet record = { .size = 0 };
    struct packet file = { .size = 0 };
    char path[512];

    /* TxnHeader and CreateTxn of zookeeper.jute. */
    put_number(&record, 0, 8); /* client id */
    put_number(&record, 0, 4); /* cxid */
    put_number(&record, zxid, 8);
    put_number(&record, 0, 8); /* time */
    put_number(&record, TXN_CREATE, 4);
    put_text(&record, child);
    put_text(&record, "");
    put_number(&record, 1, 4);  /* one ACL: */
    put_number(&record, 31, 4); /* all */
    put_text(&record, "world");
    put_text(&record, "anyone");
    put_number(&record, 0, 1); /* ephemeral */
    put_number(&record, counter, 4);

    put_bytes(&file, "ZKLG", 4);
    put_number(&file, LOG_VERSION, 4);
    put_number(&file, 0, 8); /* database id */
    put_number(&file, log_checksum(record.bytes, record.size), 8);
    put_number(&file, (int64_t)record.size, 4);
    put_bytes(&file, record.bytes, record.size);
    put_number(&file, END_OF_RECORD, 1);

    (void)snprintf(path, sizeof(path), "%s/data/version-2/log.%llx",
                   server_dir(s), (unsigned long long)zxid);
    FILE *f = fopen(path, "wxe");
    if (f == NULL)
        return -1;
    int rc = fwrite(file.bytes, 1, file.size, f) == file.size ? 0 : -1;
    return fclose(f) == 0 ? rc : -1;
}

static bool note_zxid(void *zxid, const struct txn *t)
{
    *(int64_t *)zxid = t->zxid + 1;
    return true;
}

int64_t seed_next_zxid(const struct server *s)
{
    int64_t zxid = 0;

    return txn_log_read(s, note_zxid, &zxid) ? zxid : 0;
}

int64_t seed_last_zxid(const struct server *s)
{
    char *answer = server_4lw(s, "srvr");
    char *line = answer == NULL ? NULL : strstr(answer, "Zxid: ");
    int64_t zxid =
        line == NULL ? -1 : strtoll(line + strlen("Zxid: "), NULL, 16);

    free(answer);
    return zxid;
}
