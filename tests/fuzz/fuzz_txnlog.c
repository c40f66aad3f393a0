/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes what the history of locks is read from: the files of a server. Anybody
 * may have written them. */
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "model/history.h"
#include "safe.h"

/* The input as a file. */
static int file = -1;
static char path[64];

static void write_file(const void *bytes, size_t size)
{
    CHECK(write(file, bytes, size) == (ssize_t)size);
}

static void take_stay(struct stay *stay, void *user)
{
    struct contender c = stay_contender(stay);
    char who[WHO_MAX];

    (void)user;
    CHECK(stay->lock[0] == '/' && stay->name[0] != '\0');
    CHECK((stay->ending == ENDING_NONE) == (stay->ended_ms == 0) ||
          stay->ending != ENDING_NONE);
    CHECK(stay_held_for(stay, 0) >= -1 && stay_waited_for(stay, 0) >= -1);
    CHECK(is_safe(contender_who(&c, who)));
    CHECK(c.node->data_size <= ZKR_PARTICIPANT_DATA_MAX);
    CHECK(c.node->data[c.node->data_size] == '\0');
    stay_free(stay);
}

static void take_gap(const struct gap *gap, void *user)
{
    (void)user;
    CHECK(gap->zxid_after == 0 || gap->zxid_before < gap->zxid_after);
}

static const struct history_fns fns = { take_stay, take_gap, NULL };

static void put(unsigned char *bytes, uint64_t number, int width)
{
    for (int i = 0; i < width; i++)
        bytes[i] = (unsigned char)(number >> (width - 1 - i) * 8);
}

/* A good header and a good checksum, so that the body is read. */
static void write_record(int64_t zxid, int32_t type, const uint8_t *body,
                         size_t size)
{
    unsigned char bytes[12 + 32 + 256 + 1];

    put(bytes + 12, 7, 8);                  /* the session */
    put(bytes + 20, (uint64_t)zxid % 2, 4); /* asked for, or not */
    put(bytes + 24, (uint64_t)zxid, 8);
    put(bytes + 32, (uint64_t)zxid * 1000, 8);
    put(bytes + 40, (uint32_t)type, 4);
    if (size > 0)
        memcpy(bytes + 44, body, size);
    put(bytes, adler32(1, bytes + 12, (uInt)(32 + size)), 8);
    put(bytes + 8, 32 + size, 4);
    bytes[44 + size] = 'B';
    write_file(bytes, 45 + size);
}

/* Transactions. Of each: how far on its number is, its type, its length, and
 * its body. */
static void play_log(struct fuzz_input in)
{
    struct txnlogs logs = { .notes = { NULL, 0 } };
    struct history history;
    int64_t zxid = 1;

    write_file("ZKLG\0\0\0\2\0\0\0\0\0\0\0\0", 16);
    write_record(zxid, TXN_CREATE_SESSION, NULL, 0);
    while (in.size > 0) {
        zxid += 1 + (int64_t)fuzz_number(&in, 1) / 64;
        int32_t type = (int8_t)fuzz_number(&in, 1);
        size_t size = (size_t)fuzz_number(&in, 1);
        size = size < in.size ? size : in.size;
        write_record(zxid, type, in.data, size);
        in.data += size;
        in.size -= size;
    }
    history_init(&history, "", "/", &fns);
    CHECK(txnlogs_add(&logs, path) == 0);
    CHECK(history_play(&history, &logs) == 0);
    history_done(&history);
    txnlogs_done(&logs);
}

/* A file as it is. */
static void read_log(struct fuzz_input in)
{
    struct txnlog log;
    struct txn txn;

    write_file("ZKLG\0\0\0\2\0\0\0\0\0\0\0\0", 16);
    write_file(in.data, in.size);
    CHECK(txnlog_open(&log, path) == 0);
    while (txnlog_next(&log, &txn))
        CHECK(txn.body.size <= in.size);
    txnlog_close(&log);
}

static void take_node(const struct node *node, void *user)
{
    (void)user;
    CHECK(node->data.size <= SNAPSHOT_DATA_MAX);
    CHECK(node->path.size == 0 ||
          memchr(node->path.at, '\0', node->path.size) == NULL);
}

static void read_snapshot(struct fuzz_input in)
{
    write_file("ZKSN\0\0\0\2\0\0\0\0\0\0\0\0", 16);
    write_file(in.data, in.size);
    (void)snapshot_read(path, take_node, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const ways[])(struct fuzz_input in) = { play_log, read_log,
                                                          read_snapshot };
    struct fuzz_input in = { data, size };
    uint64_t way = fuzz_number(&in, 1);

    if (file < 0)
        file = memfd_create("txnlog", MFD_CLOEXEC);
    CHECK(file >= 0 && ftruncate(file, 0) == 0 &&
          lseek(file, 0, SEEK_SET) == 0);
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    ways[way % 3](in);
    return 0;
}
