/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the reader of transaction logs, on logs made by hand. */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spawn.h"
#include "test.h"
#include "txn_log.h"
#include "wire.h"

enum { TXN_SIZE = 32, RECORD_SIZE = 12 + TXN_SIZE + 1 };

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

static void write_record(int64_t zxid, size_t size)
{
    struct packet record = make_record(zxid);

    assert_int_equal(fwrite(record.bytes, size, 1, file), 1);
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

static void assert_reads(int64_t zxids)
{
    static const char zeros[8192];
    int64_t sum = 0;

    assert_int_equal(fwrite(zeros, sizeof(zeros), 1, file), 1);
    (void)fclose(file);
    assert_true(txn_log_read_dir(dir, add_zxid, &sum));
    assert_int_equal(sum, zxids);
}

TEST(records_come_in_order)
{
    write_record(1, RECORD_SIZE);
    write_record(2, RECORD_SIZE);
    assert_reads(12);
}

/* A server whose disk was full writes on after a torn record in the same file.
 * The reader once stopped there, and a committed transaction seemed to be in
 * only one log. */
TEST(records_behind_a_torn_one_are_read)
{
    write_record(1, RECORD_SIZE);
    write_record(2, 20);
    write_record(2, RECORD_SIZE);
    write_record(3, RECORD_SIZE);
    assert_reads(123);
}

TEST(a_torn_record_may_be_the_last)
{
    write_record(1, RECORD_SIZE);
    write_record(2, 20);
    assert_reads(1);
}

/* The record is complete except for one byte. */
TEST(a_wrong_checksum_is_no_record)
{
    struct packet record = make_record(1);

    record.bytes[12] = 'x';
    assert_int_equal(fwrite(record.bytes, record.size, 1, file), 1);
    write_record(2, RECORD_SIZE);
    assert_reads(2);
}
