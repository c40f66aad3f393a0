/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of snapshots, as they are and compressed, also by somebody who means
 * harm. */

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
static struct txnlogs logs;
static size_t nodes;
static bool seen; /* the node of the test */

static const char *in_dir(const char *name)
{
    static char path[128];

    PRINT(path, "%s/%s", dir, name);
    return path;
}

static void run(const char *command)
{
    char line[512];

    PRINT(line, "cd %s && %s", dir, command);
    assert_int_equal(system(line), 0);
}

static int setup(void)
{
    (void)strcpy(dir, "/tmp/zkrecipes-snapshot-XXXXXX");
    assert_non_null(mkdtemp(dir));
    logs = (struct txnlogs){ .notes = { NULL, 0 } };
    snap_begin(&out);
    snap_node(&out, "/l", "", 0x10, 1000, 0);
    snap_node(&out, "/l/lock-0000000007", "him", 0x11, 2000, 1);
    snap_end(&out, in_dir("snapshot.4f"));
    run("gzip -k snapshot.4f");
    return 0;
}

static int teardown(void)
{
    txnlogs_done(&logs);
    run("rm -r $PWD");
    return 0;
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

static bool read_file(const char *name, const char **ret_failure)
{
    nodes = 0;
    seen = false;
    *ret_failure = snapshot_read(in_dir(name), take, NULL);
    return *ret_failure == NULL;
}

TEST(a_snapshot_is_read_also_compressed)
{
    static const char *const names[] = { "snapshot.4f", "snapshot.4f.gz" };
    const char *failure;

    for (size_t i = 0; i < COUNT(names); i++) {
        assert_true(read_file(names[i], &failure));
        assert_true(seen);
        assert_int_equal(nodes, 3);
    }
}

static void write_bytes(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(in_dir(name), "we");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Behind the checksum of the snapshot are a few bytes that do not matter. */
TEST(damage_of_a_compressed_snapshot_is_noticed_or_does_not_matter)
{
    unsigned char bytes[4096];
    FILE *file = fopen(in_dir("snapshot.4f.gz"), "re");
    const char *failure;
    size_t whole = 0;
    size_t size;

    assert_non_null(file);
    size = fread(bytes, 1, sizeof(bytes), file);
    assert_int_equal(fclose(file), 0);
    for (size_t i = 0; i < size; i++) {
        write_bytes("cut", bytes, i);
        if (!read_file("cut", &failure))
            assert_has(failure, "damaged");
        else if (!seen || nodes != 3)
            fail_msg("%zu of %zu bytes", i, size);
        else
            whole++;
    }
    assert_in_range(whole, 1, 16);
    for (size_t i = 0; i < 8 * size; i++) {
        bytes[i / 8] ^= (unsigned char)(1u << i % 8);
        write_bytes("changed", bytes, size);
        if (read_file("changed", &failure) && (!seen || nodes != 3))
            fail_msg("bit %zu of byte %zu", i % 8, i / 8);
        bytes[i / 8] ^= (unsigned char)(1u << i % 8);
    }
}

static const char *offered(const char *file, int64_t zxid, void *user)
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
    FILE *log = log_begin(in_dir("log.51"));

    out_txn(&out, 1, 1, 0x51, 1000, TXN_ERROR);
    log_put(log, &out);
    log_end(log);
    write_bytes("snapshot.50.snappy", "\x82SNAPPY\0\0\0\0\1\0\0\0\1", 16);
    assert_int_equal(txnlogs_add(&logs, dir), 0);
    assert_int_equal(txnlogs_play(&logs, &player), 0);
    assert_int_equal(logs.notes.count, 1);
    assert_has(logs.notes.texts[0], "snapshot.50.snappy: ");
    assert_has(logs.notes.texts[0], "compressed with snappy");
}

TEST(other_compressed_files_are_refused)
{
    write_bytes("log.1", "ZKLG", 4);
    run("gzip log.1");
    assert_int_equal(txnlogs_add(&logs, in_dir("log.1.gz")), EX_NOINPUT);
    assert_has(lockctl_failure()->message, "log.1.gz: it is neither");
}
