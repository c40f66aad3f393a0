/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of node names: Curator's own vectors, the grammar, every dialect. */
#include <inttypes.h>

#include "protocol/node_name.h"
#include "protocol/queue.h"
#include "unit.h"

#define UUID "16176773-7d6f-4686-ab55-f4bd6230b745"
#define HEX  "161767737d6f4686ab55f4bd6230b745"
/* Curator's prefix, with a UUID that ends in two given digits. */
#define C(nn) "_c_00000000-0000-4000-8000-0000000000" nn "-"

#define UNTOUCHED INT64_C(-77777)

/* The markers of the recipes. */
enum {
    MUTEX =
        ZKR__MARKER_BIT(ZKR__CURATOR_LOCK) | ZKR__MARKER_BIT(ZKR__KAZOO_LOCK),
    RW = MUTEX | ZKR__MARKER_BIT(ZKR__CURATOR_WRITE) |
         ZKR__MARKER_BIT(ZKR__CURATOR_READ) | ZKR__MARKER_BIT(ZKR__KAZOO_READ)
};

struct vector {
    const char *name;
    const char *key; /* the sort key of Curator 5.4.0 */
    enum zkr__kind kind;
    int64_t seq;
};

/* clang-format off */

/* In the order of Curator's InterProcessMutex. */
static const struct vector mutex_vectors[] = {
    { "lock-",                    "",            ZKR__FOREIGN, UNTOUCHED },
    { C("06") "lock--2147483647", "-2147483647", ZKR__EXCLUSIVE, -2147483647 },
    { C("05") "lock--2147483648", "-2147483648", ZKR__EXCLUSIVE, INT64_C(-2147483648) },
    { "-x",                       "-x",          ZKR__FOREIGN, UNTOUCHED },
    { "0",                        "0",           ZKR__FOREIGN, UNTOUCHED },
    { "block-0000000008",         "0000000008",  ZKR__EXCLUSIVE, 8 },
    { "lock-0000000009",          "0000000009",  ZKR__EXCLUSIVE, 9 },
    { "00000000095",              "00000000095", ZKR__FOREIGN, UNTOUCHED },
    { C("0f") "lock-0000000010",  "0000000010",  ZKR__EXCLUSIVE, 10 },
    { C("01") "lock-0000000011",  "0000000011",  ZKR__EXCLUSIVE, 11 },
    { "_c_0123456789abcdef0123456789abcdef-lock-0000000012", "0000000012",  ZKR__EXCLUSIVE, 12 },
    { "my-lock-0000000007-lock-0000000020", "0000000020",  ZKR__EXCLUSIVE, 20 },
    /* Curator sorts kazoo's nodes by their whole names; we number them. */
    { "0123456789abcdef0123456789abcdef__lock__0000000003",
      "0123456789abcdef0123456789abcdef__lock__0000000003",
                                                 ZKR__EXCLUSIVE, 3 },
    { C("07") "lock-2147483647",  "2147483647",  ZKR__EXCLUSIVE, 2147483647 },
    { C("08") "__WRIT__0000000001", C("08") "__WRIT__0000000001", ZKR__FOREIGN, UNTOUCHED },
    { C("09") "latch-0000000001", C("09") "latch-0000000001", ZKR__FOREIGN, UNTOUCHED },
    { C("0a") "lease-0000000001", C("0a") "lease-0000000001", ZKR__FOREIGN, UNTOUCHED },
    { "abc",                      "abc",         ZKR__FOREIGN, UNTOUCHED },
    { "zzz",                      "zzz",         ZKR__FOREIGN, UNTOUCHED },
};

/* In the order of Curator's InterProcessReadWriteLock. */
static const struct vector rw_vectors[] = {
    { C("10") "__READ__0000000000", "0000000000", ZKR__SHARED, 0 },
    { C("11") "__READ__0000000001", "0000000001", ZKR__SHARED, 1 },
    { C("12") "__WRIT__0000000002", "0000000002", ZKR__EXCLUSIVE, 2 },
    { C("13") "__READ__0000000002", "0000000002", ZKR__SHARED, 2 },
    { C("14") "__READ__0000000003", "0000000003", ZKR__SHARED, 3 },
    { C("15") "__WRIT__0000000004", "0000000004", ZKR__EXCLUSIVE, 4 },
    { "5",                          "5",          ZKR__FOREIGN, UNTOUCHED },
    { C("16") "lock-0000000001", C("16") "lock-0000000001", ZKR__EXCLUSIVE, 1 },
    { "foo",                        "foo",        ZKR__FOREIGN, UNTOUCHED },
};

/* Names that are read alike; the sequence number of foreign ones is 0 here. */
static const struct reading {
    const char *name;
    uint32_t markers;
    enum zkr__kind kind;
    struct {
        const char *name;
        int64_t seq;
    } of[32];
} readings[] = {
    { "kazoo_names_are_contenders", MUTEX, ZKR__EXCLUSIVE,
      { { HEX "__lock__0000000003", 3 },
        { HEX "__lock__-2147483648", INT32_MIN } } },
    { "kazoo_names_are_contenders_of_rw", RW, ZKR__EXCLUSIVE, { { HEX "__lock__0000000005", 5 } } },
    { "kazoo_readers_are_contenders", RW, ZKR__SHARED, { { HEX "__rlock__0000000004", 4 } } },
    /* A lease of its semaphore has no sequence number. */
    { "a_kazoo_lease_is_no_contender", MUTEX, ZKR__FOREIGN, { { HEX, 0 } } },
    { "a_kazoo_reader_is_no_writer", MUTEX, ZKR__FOREIGN, { { HEX "__rlock__0000000004", 0 } } },
    { "sequence_is_read_with_its_sign", MUTEX, ZKR__EXCLUSIVE,
      { { "lock--0000000001", -1 }, { "lock--999999999", -999999999 },
        { "lock-2147483647", 2147483647 } } },
    { "sequence_of_a_reader_is_read_with_its_sign", RW, ZKR__SHARED,
      { { "__READ__-2147483648", INT32_MIN } } },
    { "sequence_of_a_writer_is_read_with_its_sign", RW, ZKR__EXCLUSIVE,
      { { "__WRIT__-17", -17 } } },
    { "only_one_sign_is_read", MUTEX, ZKR__FOREIGN,
      { { "lock---5", 0 }, { "__lock__--5", 0 }, { "lock-+5", 0 },
        { "lock- 5", 0 } } },
    { "sequence_of_another_width_is_read", MUTEX, ZKR__EXCLUSIVE,
      { { "lock-0", 0 }, { "lock-00000000000000000000000000000000005", 5 },
        { "lock-9223372036854775807", INT64_MAX },
        { "lock--9223372036854775807", -INT64_MAX } } },
    { "sequence_beyond_int64_is_foreign", MUTEX, ZKR__FOREIGN,
      { { "lock-9223372036854775808", 0 }, { "lock--9223372036854775809", 0 },
        { "lock-18446744073709551617", 0 },
        { "lock-99999999999999999999999999999999", 0 } } },
    { "fragments_of_names_are_foreign", MUTEX, ZKR__FOREIGN,
      { { "", 0 }, { "-", 0 }, { "--", 0 }, { "0", 0 }, { "0000000001", 0 },
        { "-5", 0 }, { "_", 0 }, { "lock-", 0 }, { "lock--", 0 }, { "lock", 0 },
        { "ock-1", 0 }, { "lock1", 0 }, { "-1-", 0 }, { "lock-1-", 0 },
        { "lock-1x", 0 }, { "lock-1-2", 0 }, { "lock-0x10", 0 },
        { "Lock-1", 0 }, { "/", 0 }, { "lock-1/", 0 }, { "__lock__", 0 },
        { "_lock__1", 0 }, { "__lock_1", 0 }, { "lock-1 ", 0 }, { "x", 0 },
        { "LOCK-1", 0 }, { "lock-gate-", 0 }, { "lock-gate-1", 0 } } },
    { "only_the_last_marker_counts", MUTEX, ZKR__EXCLUSIVE,
      { { "my-lock-0000000007-lock-0000000020", 20 }, { "lock-lock-3", 3 },
        { "__READ__lock-4", 4 } } },
    { "no_marker_before_the_last_counts", MUTEX, ZKR__FOREIGN,
      { { "lock-0000000007-other-0000000020", 0 }, { "lock-5__READ__6", 0 } } },
    { "only_the_last_marker_counts_of_a_reader", RW, ZKR__SHARED,
      { { "__WRIT__0000000001__READ__0000000002", 2 } } },
    { "only_the_last_marker_counts_of_a_writer", RW, ZKR__EXCLUSIVE,
      { { "__READ__0000000001__WRIT__0000000002", 2 } } },
    { "marker_may_follow_anything", MUTEX, ZKR__EXCLUSIVE,
      { { "lock-0000000001", 1 }, { "block-0000000008", 8 },
        { "_c_-lock-2", 2 },        { "7lock-3", 3 }, { "-lock-4", 4 } } },
    { "bytes_above_ascii_are_only_bytes", MUTEX, ZKR__EXCLUSIVE,
      { { "\xff\xfe\x80lock-0000000001", 1 },
        { "\xc3\xa9-lock-0000000002", 2 } } },
    { "no_byte_above_ascii_is_a_digit_or_a_letter", MUTEX, ZKR__FOREIGN,
      { { "lock-\xb2", 0 }, { "lock-0000000001\x80", 0 },
        { "lock-\xd9\xa3", 0 }, /* an Arabic 3 */
        { "lock\xe2\x80\x90" "0000000001", 0 }, /* a hyphen that is no '-' */
        { "lock-\xef\xbc\x91", 0 },          /* a full-width 1 */
        { "\xef\xbd\x8cock-0000000001", 0 } } }, /* a full-width l */
    { "nothing_contends_without_markers", 0, ZKR__FOREIGN,
      { { "lock-0000000001", 0 }, { "0000000001", 0 } } },
};

/* Names that come near to the grammar are made of these. */
static const char *const pieces[] = {
    "lock-", "__lock__", "__rlock__", "x-", "ex", "sh", "holder", "__READ__",
    "__WRIT__", "_c_" UUID "-", HEX, "-", "-", "0", "7", "0000000012",
    "2147483647", "2147483648", "9223372036854775807", "00", "l", "ock-", "k-",
    "_", "__", "x", "/", ":", ".", "+", "9999999999999999999", " ", "\x80",
    "\xff", "\xd9\xa3", "\n"
};

/* Names of nobody, which come near to those of other recipes. */
static const char *const nobodies[] = {
    "", "x-", "x--0000000001", "x-1-", "x-1-000000001", "x-1-00000000001",
    "x-1-0000000001 ", "x-10000000000000000000-0000000001",
    "x-1000000000000000a-0000000001", "x---1-0000000001", "x---0000000001",
    "x-1G-0000000001", "y-1-0000000001", "ex", "ex000000001", "ex00000000011",
    "index0000000001", "sh000000000x", "SH0000000001", "holder0000000001",
    "a-holder"
};

/* clang-format on */

/* The name goes to the heap, in a block of exactly its size, so that a read
 * before or after it is detected. */
static void assert_parses(const char *name, uint32_t markers,
                          enum zkr__kind kind, int64_t seq)
{
    int64_t got_seq = UNTOUCHED;
    char *copy = strdup(name);

    assert_non_null(copy);
    enum zkr__kind got = zkr__node_name_parse(copy, markers, &got_seq);
    free(copy);
    if (got != kind || got_seq != seq)
        fail_msg("'%.80s': kind %d, sequence %" PRId64
                 "; expected %d and %" PRId64,
                 name, (int)got, got_seq, (int)kind, seq);
}

TEST_ROWS(names_are_read, readings, r)
{
    for (size_t i = 0; i < COUNT(r->of) && r->of[i].name != NULL; i++)
        assert_parses(r->of[i].name, r->markers, r->kind,
                      r->kind == ZKR__FOREIGN ? UNTOUCHED : r->of[i].seq);
}

/* Tells whether Curator's order of texts is an order of numbers, so that ours
 * must be the same. */
static bool is_comparable(const struct vector *v)
{
    return v->kind != ZKR__FOREIGN && strlen(v->key) == 10 &&
           strspn(v->key, "0123456789") == 10;
}

static size_t place_of(const struct zkr__queue *queue, const char *name)
{
    for (size_t i = 0; i < queue->count; i++) {
        if (strcmp(queue->all[i].name, name) == 0)
            return i;
    }
    fail_msg("'%s' is not in the queue", name);
    return ZKR__NOBODY;
}

static void assert_order(const struct vector *v, size_t count, uint32_t markers)
{
    const char *names[32];
    struct zkr__queue queue;

    assert_true(count <= COUNT(names));
    for (size_t i = 0; i < count; i++) /* backwards: nothing is sorted yet */
        names[i] = v[count - 1 - i].name;
    ok(zkr__queue_parse(&queue, names, count, markers));
    for (size_t i = 0; i < count; i++) {
        assert_parses(v[i].name, markers, v[i].kind, v[i].seq);
        for (size_t j = i + 1; j < count; j++) {
            if (is_comparable(&v[i]) && is_comparable(&v[j]) &&
                strcmp(v[i].key, v[j].key) != 0)
                assert_true(place_of(&queue, v[i].name) <
                            place_of(&queue, v[j].name));
        }
    }
    zkr__queue_done(&queue);
}

/* Builds a name of up to seven pieces that comes near to the grammar. */
static void random_name(char name[256], uint64_t *random)
{
    size_t count = unit_random(random) % 8;
    size_t len = 0;

    name[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *piece = pieces[unit_random(random) % COUNT(pieces)];

        len += (size_t)snprintf(name + len, 256 - len, "%s", piece);
        assert_true(len < 256);
    }
}

TEST(curators_vectors_are_read_in_its_order_where_both_number)
{
    assert_order(mutex_vectors, COUNT(mutex_vectors), MUTEX);
    assert_order(rw_vectors, COUNT(rw_vectors), RW);
}

TEST(very_long_names_are_read)
{
    enum { LONG = 64 * 1024 };
    static const struct {
        const char *head;
        char c;
        const char *tail;
        enum zkr__kind kind;
        int64_t seq;
    } rows[] = {
        { "", 'a', "lock-0000000042", ZKR__EXCLUSIVE, 42 },
        { "lock-", '0', "7", ZKR__EXCLUSIVE, 7 },
        { "lock-", '9', "", ZKR__FOREIGN, UNTOUCHED },
        { "lock-", '-', "5", ZKR__FOREIGN, UNTOUCHED },
        { "", '1', "", ZKR__FOREIGN, UNTOUCHED },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char *name = (char *)(uintptr_t)textf("%s%*s%s", rows[i].head, LONG, "",
                                              rows[i].tail);

        memset(name + strlen(rows[i].head), rows[i].c, LONG);
        assert_parses(name, MUTEX, rows[i].kind, rows[i].seq);
    }
}

TEST(curator_and_kazoo_layouts_are_built)
{
    char name[ZKR__NAME_MAX];

    zkr__node_name_build(name, ZKR__LAYOUT_CURATOR, UUID, ZKR__CURATOR_LOCK);
    assert_string_equal(name, "_c_" UUID "-lock-");
    zkr__node_name_build(name, ZKR__LAYOUT_CURATOR, UUID, ZKR__CURATOR_WRITE);
    assert_string_equal(name, "_c_" UUID "-__WRIT__");
    zkr__node_name_build(name, ZKR__LAYOUT_KAZOO, UUID, ZKR__KAZOO_LOCK);
    assert_string_equal(name, HEX "__lock__");
    zkr__node_name_build(name, ZKR__LAYOUT_KAZOO, UUID, ZKR__KAZOO_READ);
    assert_string_equal(name, HEX "__rlock__");
}

/* In every layout, with every marker: nothing is cut off, the tag is the name
 * without the marker, and the name that the server makes of it is parsed as the
 * same contender. */
TEST(built_names_are_the_tag_of_one_attempt_and_marker)
{
    static const enum zkr__layout layouts[] = { ZKR__LAYOUT_CURATOR,
                                                ZKR__LAYOUT_KAZOO };

    for (size_t i = 0; i < COUNT(layouts); i++) {
        size_t tag_len = zkr__node_name_tag_len(layouts[i]);

        for (size_t j = 0; j < ZKR__MARKER_COUNT; j++) {
            const struct zkr__marker_row *marker = &zkr__markers[j];
            char name[ZKR__NAME_MAX];
            char numbered[ZKR__NAME_MAX + ZKR__SEQ_DIGITS];

            if (marker->layout != layouts[0] && marker->layout != layouts[1])
                continue;
            memset(name, '#', sizeof(name));
            zkr__node_name_build(name, layouts[i], UUID, (enum zkr__marker)j);
            assert_string_equal(name + tag_len, marker->text);
            /* A UUID that differs in the last digit only. */
            zkr__node_name_build(numbered, layouts[i],
                                 "16176773-7d6f-4686-ab55-f4bd6230b746",
                                 (enum zkr__marker)j);
            assert_int_not_equal(strncmp(name, numbered, tag_len), 0);
            PRINT(numbered, "%s%010d", name, INT32_MIN);
            assert_parses(numbered, ZKR__MARKER_BIT(j), marker->kind,
                          INT32_MIN);
            PRINT(numbered, "%s%010d", name, 7);
            assert_parses(numbered, ZKR__MARKER_BIT(j), marker->kind, 7);
        }
    }
}

/* Each name has one reading, whatever the order of the table. */
TEST(no_name_has_two_markers)
{
    uint64_t random = UINT64_C(0x0dd);

    for (size_t i = 0; i < 200000; i++) {
        size_t found = 0;
        char name[256];
        int64_t seq;

        random_name(name, &random);
        for (unsigned k = 0; k < ZKR__MARKER_COUNT; k++)
            found += zkr__node_name_parse(name, ZKR__MARKER_BIT(k), &seq) !=
                     ZKR__FOREIGN;
        assert_true(found <= 1);
    }
}

static void assert_other(const char *name, enum zkr__kind kind,
                         const char *marker, int64_t seq)
{
    const struct zkr__marker_row *read =
        zkr__node_name_marker(name, ZKR__ALL_MARKERS, &(int64_t){ 0 });

    assert_parses(name, RW, ZKR__FOREIGN, UNTOUCHED);
    assert_parses(name, ZKR__ALL_MARKERS, kind, seq);
    assert_string_equal(read == NULL ? "none" : read->text, marker);
}

TEST(names_that_our_locks_ignore_are_known)
{
    assert_other("x-100000be8790000-0000000007", ZKR__EXCLUSIVE, "x-", 7);
    assert_other("x-72057645182812160-0000000007", ZKR__EXCLUSIVE, "x-", 7);
    assert_other("x--72057645182812160-0000000007", ZKR__EXCLUSIVE, "x-", 7);
    assert_other("x-a-0000000007", ZKR__EXCLUSIVE, "x-", 7);
    assert_other("x--7-0000000007", ZKR__EXCLUSIVE, "x-", 7);
    assert_other("x--9223372036854775808-0000000007", ZKR__EXCLUSIVE, "x-", 7);
    assert_other("x-ffffffffffffffff-2147483647", ZKR__EXCLUSIVE, "x-",
                 INT64_C(2147483647));
    assert_other("ex0000000000", ZKR__EXCLUSIVE, "ex", 0);
    assert_other("sh0000000012", ZKR__SHARED, "sh", 12);
    assert_other("holder", ZKR__EXCLUSIVE, "holder", 0);
    for (size_t i = 0; i < COUNT(nobodies); i++)
        assert_other(nobodies[i], ZKR__FOREIGN, "none", UNTOUCHED);
}

TEST(a_uuid_is_told_by_each_character)
{
    static const char *const others[] = {
        UUID "0", "1617677g-7d6f-4686-ab55-f4bd6230b745",
        "16176773_7d6f-4686-ab55-f4bd6230b745",
        "1617677\0-7d6f-4686-ab55-f4bd6230b745"
    };

    assert_true(zkr__node_name_is_uuid(UUID));
    for (size_t i = 0; i < COUNT(others); i++)
        assert_false(zkr__node_name_is_uuid(others[i]));
}

TEST(servers_number_with_ten_digits)
{
    assert_true(zkr__node_name_is_numbered("lock-0000000001"));
    assert_true(zkr__node_name_is_numbered("lock--2147483648"));
    assert_true(zkr__node_name_is_numbered("0000000001"));
    assert_false(zkr__node_name_is_numbered("lock-000000001"));
    assert_false(zkr__node_name_is_numbered("lock-00000000001"));
    assert_false(zkr__node_name_is_numbered("lock-0000000001x"));
    assert_false(zkr__node_name_is_numbered(""));
}
