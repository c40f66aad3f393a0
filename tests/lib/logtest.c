/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the reader of transaction logs, on logs made by hand. */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spawn.h"
#include "test.h"
#include "txn_log.h"
#include "wire.h"

static char dir[PATH_MAX - 32];
static struct guard guard;
static FILE *file;

static int set_up(void)
{
    ok(guard_make(&guard, dir, sizeof(dir)));
    ok(mkdir(textf("%s/version-2", dir), 0700));
    file = fopen(textf("%s/version-2/log.1", dir), "we");
    assert_non_null(file);
    assert_int_equal(fwrite("ZKLG\0\0\0\2\0\0\0\0\0\0\0\0", 16, 1, file), 1);
    return 0;
}

static int tear_down(void)
{
    guard_finish(&guard);
    return 0;
}

FIXTURE(set_up, tear_down)

/* A record that ends a session. */
static struct packet make_record(int64_t zxid)
{
    struct packet record = { .size = 0 };
    struct packet txn = { .size = 0 };

    put_number(&txn, 77, 8);
    put_number(&txn, 1, 4);
    put_number(&txn, zxid, 8);
    put_number(&txn, 1234, 8);
    put_number(&txn, TXN_CLOSE_SESSION, 4);
    put_number(&record, log_checksum(txn.bytes, txn.size), 8);
    put_number(&record, (int64_t)txn.size, 4);
    put_bytes(&record, txn.bytes, txn.size);
    put_bytes(&record, "B", 1);
    return record;
}

static bool add_zxid(void *user, const struct txn *t)
{
    int64_t *sum = user;

    assert_int_equal(t->type, TXN_CLOSE_SESSION);
    assert_int_equal(t->session, 77);
    assert_int_equal(t->time_ms, 1234);
    *sum = *sum * 10 + t->zxid;
    return true;
}

static const struct {
    const char *name;
    struct {
        int64_t zxid; /* 0: there is no more */
        enum { WHOLE, TORN, DAMAGED } state;
    } records[5];
    int64_t zxids; /* that are read, one digit each */
} rows[] = {
    { "records come in order", { { 1, WHOLE }, { 2, WHOLE } }, 12 },
    /* A server whose disk was full writes on after a torn record in the same
     * file. The reader once stopped there, and a committed transaction seemed
     * to be in only one log. */
    { "records behind a torn one are read",
      { { 1, WHOLE }, { 2, TORN }, { 2, WHOLE }, { 3, WHOLE } },
      123 },
    { "a torn record may be the last", { { 1, WHOLE }, { 2, TORN } }, 1 },
    /* The record is complete except for one byte. */
    { "a wrong checksum is no record", { { 1, DAMAGED }, { 2, WHOLE } }, 2 },
};

TEST_ROWS(log_with, rows, row)
{
    static const char zeros[8192];
    int64_t sum = 0;

    for (int i = 0; row->records[i].zxid != 0; i++) {
        struct packet record = make_record(row->records[i].zxid);

        if (row->records[i].state == DAMAGED)
            record.bytes[12] = 'x';
        if (row->records[i].state == TORN)
            record.size = 20;
        assert_int_equal(fwrite(record.bytes, record.size, 1, file), 1);
    }
    assert_int_equal(fwrite(zeros, sizeof(zeros), 1, file), 1);
    (void)fclose(file);
    assert_true(txn_log_read_dir(dir, add_zxid, &sum));
    assert_int_equal(sum, row->zxids);
}
