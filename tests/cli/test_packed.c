/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of snapshots that are compressed, also by somebody who means harm. */

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/lockctl.h"
#include "model/snapshot.h"
#include "model/txnlogs.h"
#include "texts.h"
#include "txn_file.h"
#include "unit.h"

static char dir[64];
static struct wire_out out;
static size_t nodes;
static bool seen; /* the node of the test */

static const char *in_dir(const char *name)
{
    static char paths[2][128];
    static size_t next;
    char *path = paths[next++ % 2];

    (void)snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
    return path;
}

static void run(const char *format, const char *file)
{
    char command[512];

    PRINT(command, "cd %s && %s %s", dir, format, file);
    assert_int_equal(system(command), 0);
}

static int setup(void)
{
    (void)strcpy(dir, "/tmp/zkrecipes-packed-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snap_begin(&out);
    snap_node(&out, "/l", "", 0x10, 1000, 0);
    snap_node(&out, "/l/lock-0000000007", "him", 0x11, 2000, 1);
    snap_end(&out, in_dir("snapshot.4f"));
    return 0;
}

static int teardown(void)
{
    char command[128];

    PRINT(command, "rm -r %s", dir);
    return system(command);
}

FIXTURE(setup, teardown)

static void take(const struct node *node, void *user)
{
    static const char path[] = "/l/lock-0000000007";

    (void)user;
    nodes++;
    seen =
        seen || (node->path.size == strlen(path) &&
                 memcmp(node->path.at, path, strlen(path)) == 0 &&
                 node->czxid == 0x11 && node->owner == 1 &&
                 node->data.size == 3 && memcmp(node->data.at, "him", 3) == 0);
}

static int read_file(const char *name)
{
    nodes = 0;
    seen = false;
    return snapshot_read(in_dir(name), take, NULL);
}

TEST(a_compressed_snapshot_is_read)
{
    assert_int_equal(read_file("snapshot.4f"), 0);
    assert_true(seen);
    assert_int_equal(nodes, 3);
    run("gzip", "snapshot.4f");
    assert_int_equal(read_file("snapshot.4f.gz"), 0);
    assert_true(seen);
    assert_int_equal(nodes, 3);
}

/* --- damage --- */

static size_t read_bytes(const char *name, unsigned char bytes[4096])
{
    FILE *file = fopen(in_dir(name), "re");
    size_t size;

    assert_non_null(file);
    size = fread(bytes, 1, 4096, file);
    assert_int_equal(fclose(file), 0);
    return size;
}

static void write_bytes(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(in_dir(name), "we");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Behind the checksum of the snapshot are a few bytes that do not matter. */
TEST(a_compressed_snapshot_that_is_cut_is_damaged)
{
    unsigned char bytes[4096];
    size_t size;
    size_t whole = 0;

    run("gzip", "snapshot.4f");
    size = read_bytes("snapshot.4f.gz", bytes);
    for (size_t i = 0; i < size; i++) {
        int rc;

        write_bytes("cut", bytes, i);
        rc = read_file("cut");
        whole += rc == 0;
        if (rc != EBADMSG && (rc != 0 || !seen || nodes != 3))
            fail_msg("%zu of %zu bytes: %d", i, size, rc);
    }
    assert_in_range(whole, 1, 16);
}

TEST(a_changed_bit_is_noticed_or_does_not_matter)
{
    unsigned char bytes[4096];
    size_t size;

    run("gzip", "snapshot.4f");
    size = read_bytes("snapshot.4f.gz", bytes);
    for (size_t i = 0; i < 8 * size; i++) {
        bytes[i / 8] ^= (unsigned char)(1u << i % 8);
        write_bytes("changed", bytes, size);
        if (read_file("changed") == 0 && (!seen || nodes != 3))
            fail_msg("bit %zu of byte %zu", i % 8, i / 8);
        bytes[i / 8] ^= (unsigned char)(1u << i % 8);
    }
}

/* A node that has 2 GB of zeros, of which 100 MB are there in 100 KB. */
TEST(a_snapshot_unpacks_to_no_more_than_a_servers)
{
    snap_begin(&out);
    out_text(&out, "/l");
    out_number(&out, 0x7fffffff, 4);
    write_bytes("bomb", out.data, out.size);
    run("head -c 100000000 /dev/zero >>", "bomb");
    assert_int_equal(read_file("bomb"), EBADMSG); /* it ends too early */
    run("gzip", "bomb");
    assert_int_equal(read_file("bomb.gz"), PACKED_TOO_LARGE);
}

/* --- snappy --- */

static void assert_said_of(const char *file, const char *what)
{
    const char *message = lockctl_failure()->message;

    if (strstr(message, file) == NULL || strstr(message, what) == NULL)
        fail_msg("%s", message);
}

static int offered(const char *file, int64_t zxid, void *user)
{
    (void)zxid;
    (void)user;
    return snapshot_read(file, take, NULL);
}

static void no_txn(const struct txn *txn, void *user)
{
    (void)txn;
    (void)user;
}

/* Such snapshots were once said to be none of the server. */
TEST(a_snapshot_by_snappy_is_named_with_the_cause)
{
    static const struct player player = { .txn = no_txn, .snapshot = offered };
    struct txnlogs logs = { .notes = { NULL, 0 } };
    FILE *log;

    write_bytes("snapshot.50.snappy", "\x82SNAPPY\0\0\0\0\1\0\0\0\1", 16);
    assert_int_equal(read_file("snapshot.50.snappy"), PACKED_SNAPPY);
    assert_int_equal(txnlogs_add(&logs, in_dir("snapshot.50.snappy")),
                     EX_NOINPUT);
    assert_said_of("snapshot.50.snappy", "compressed with snappy");

    log = log_begin(in_dir("log.51"));
    out.size = 0;
    out_txn(&out, 1, 1, 0x51, 1000, TXN_ERROR);
    log_put(log, &out);
    log_end(log);
    assert_int_equal(txnlogs_add(&logs, dir), 0);
    assert_int_equal(txnlogs_play(&logs, &player), 0);
    assert_int_equal(logs.notes.count, 1);
    assert_has(logs.notes.texts[0], "snapshot.50.snappy: ");
    assert_has(logs.notes.texts[0], "compressed with snappy");
    txnlogs_done(&logs);
}

TEST(other_compressed_files_are_refused)
{
    struct txnlogs logs = { .notes = { NULL, 0 } };

    write_bytes("log.1", "ZKLG", 4);
    run("gzip", "log.1");
    assert_int_equal(txnlogs_add(&logs, in_dir("log.1.gz")), EX_NOINPUT);
    assert_said_of("log.1.gz", "it is compressed");
    txnlogs_done(&logs);
}
