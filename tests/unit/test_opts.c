/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of option structs and answers: callers older and newer than the
 * library; and of copies of replies, of which the client's memory has none. */
#include "base/opts.h"
#include "request/client.h"
#include "scope.h"
#include "unit.h"

/* One struct in three releases; the library is of the second. */
struct v1 {
    size_t size;
    const char *label;
};

struct v2 {
    size_t size;
    const char *label;
    uint32_t flags;
    uint32_t reserved;
};

struct v3 {
    size_t size;
    const char *label;
    uint32_t flags;
    uint32_t reserved;
    uint64_t lease_ms;
    uint64_t limit;
};

/* Padding may hold rubbish, which a later version would read as a field. */
_Static_assert(sizeof(struct zkr_lockable_opts) ==
                   sizeof(size_t) + 2 * sizeof(char *) + 4 * sizeof(uint32_t),
               "zkr_lockable_opts has padding");
_Static_assert(sizeof(struct zkr_session_opts) ==
                   sizeof(size_t) + 10 * sizeof(uint32_t) +
                       17 * sizeof(char *) + sizeof(zkr_log_fn) +
                       sizeof(struct zkr_retry) + sizeof(int64_t),
               "zkr_session_opts has padding");
_Static_assert(sizeof(struct zkr_retry) ==
                   4 * sizeof(uint32_t) + sizeof(uint64_t),
               "zkr_retry has padding");

static int load(struct v2 *dst, const void *src)
{
    memset(dst, 0x5a, sizeof(*dst)); /* whatever was there before */
    return zkr__opts_load(dst, sizeof(*dst), sizeof(struct v1), src, "thing");
}

TEST(caller_of_the_same_version_is_copied_and_null_is_all_defaults)
{
    struct v2 caller = { sizeof(caller), "label", 3, 4 }, opts;

    ok(load(&opts, &caller));
    assert_memory_equal(&opts, &caller, sizeof(caller));
    ok(load(&opts, NULL));
    assert_memory_equal(&opts, &(struct v2){ 0 }, sizeof(opts));
}

TEST(older_caller_leaves_new_fields_unset)
{
    /* The memory after it belongs to something else, and is not zero. */
    struct {
        struct v1 caller;
        unsigned char beyond[sizeof(struct v2)];
    } memory = { .caller = { sizeof(struct v1), "label" } };
    struct v2 opts;

    memset(memory.beyond, 0xff, sizeof(memory.beyond));
    ok(load(&opts, &memory.caller));
    assert_ptr_equal(opts.label, memory.caller.label);
    assert_int_equal(opts.flags, 0);
    assert_int_equal(opts.reserved, 0);
}

TEST(newer_caller_must_leave_unset_what_we_do_not_know)
{
    struct v3 unset = { .size = sizeof(unset), .label = "label", .flags = 3 };
    struct v3 first = { .size = sizeof(first), .lease_ms = 1 };
    struct v3 last = { .size = sizeof(last),
                       .limit = UINT64_C(1) << 63 }; /* its last byte */
    struct v2 opts;

    ok(load(&opts, &unset));
    assert_ptr_equal(opts.label, unset.label);
    assert_int_equal(opts.flags, 3);

    tells(load(&opts, &first), ZKR_EINVAL, "thing: ");
    assert_has(zkr_error_detail(), "does not know");
    gives(ZKR_EINVAL, load(&opts, &last));
    assert_memory_equal(&opts, &(struct v2){ 0 }, sizeof(opts));
}

TEST(forgotten_size_is_told_and_others_that_cannot_be_are_refused)
{
    static const size_t sizes[] = { sizeof(struct v1) - 1, 4097, SIZE_MAX };
    struct v2 caller = { .label = "label" }, opts;

    tells(load(&opts, &caller), ZKR_EINVAL, "thing: size is 0");
    assert_has(zkr_error_detail(), "_INIT");
    assert_memory_equal(&opts, &(struct v2){ 0 }, sizeof(opts));
    for (size_t i = 0; i < COUNT(sizes); i++)
        gives(ZKR_EINVAL, load(&opts, &(struct v2){ .size = sizes[i] }));
}

TEST(the_largest_size_is_read)
{
    union {
        struct v2 caller;
        unsigned char bytes[5000];
    } u = { .caller = { .size = 4096, .flags = 9 } };
    struct v2 opts;

    memset(u.bytes + sizeof(u.caller), 0, sizeof(u) - sizeof(u.caller));
    ok(load(&opts, &u));
    assert_int_equal(opts.flags, 9);
    u.bytes[4095] = 1;
    gives(ZKR_EINVAL, load(&opts, &u));
}

/* -- answers -------------------------------------------------------------- */

static const struct v2 facts = { .label = "orders", .flags = 5, .reserved = 7 };

TEST(an_answer_is_copied_to_a_caller_of_any_version)
{
    struct v1 older = { .size = sizeof(older) };
    struct v3 newer = { .size = sizeof(newer), .lease_ms = 9 };

    ok(zkr__answer_begin(&older, sizeof(older), "thing"));
    zkr__answer_fill(&older, &facts, sizeof(facts));
    assert_int_equal(older.size, sizeof(older));
    assert_string_equal(older.label, "orders");
    ok(zkr__answer_begin(&newer, sizeof(older), "thing"));
    zkr__answer_fill(&newer, &facts, sizeof(facts));
    assert_int_equal(newer.size, sizeof(newer));
    assert_int_equal(newer.reserved, 7);
    assert_int_equal(newer.lease_ms, 0);
}

TEST(an_answer_needs_a_size)
{
    struct v2 dst = { .size = sizeof(struct v1) - 1 };

    gives(ZKR_EINVAL, zkr__answer_begin(NULL, sizeof(struct v1), "thing"));
    tells(zkr__answer_begin(&dst, sizeof(struct v1), "thing"), ZKR_EINVAL,
          "..._INIT");
    dst.size = 4097;
    gives(ZKR_EINVAL, zkr__answer_begin(&dst, sizeof(struct v1), "thing"));
}

TEST(a_copy_has_all_that_was_told)
{
    char data[] = { 'a', '\0', 'b' };
    char name[] = "child";
    const char *names[] = { name, "" };
    const struct zkr__zk_reply from = { .path = "/app/node",
                                        .stat.czxid = 7,
                                        .names = names,
                                        .name_count = 2,
                                        .data = data,
                                        .data_len = sizeof(data) };
    AUTO(reply) to = zkr__reply_copy(&from, strlen("/app"));

    assert_non_null(to);
    memset(data, 'x', sizeof(data));
    memset(name, 'x', sizeof(name));
    assert_string_equal(to->path, "/node");
    assert_int_equal(to->stat.czxid, 7);
    assert_int_equal(to->count, 2);
    assert_string_equal(to->names[0], "child");
    assert_string_equal(to->names[1], "");
    assert_int_equal(to->len, 3);
    assert_memory_equal(to->data, "a\0b", 4); /* a NUL follows */
}

/* A server can answer with any path. */
TEST(a_path_outside_of_the_chroot_is_none_and_what_was_not_told_is_null)
{
    static const struct {
        const char *path, *without;
    } rows[] = {
        { NULL, NULL }, { "/a", NULL }, { "/app", "/" }, { "/app/x", "/x" }
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct zkr__zk_reply from = { .path = rows[i].path };
        AUTO(reply) to = zkr__reply_copy(&from, strlen("/app"));

        assert_non_null(to);
        if (rows[i].without == NULL)
            assert_null(to->path);
        else
            assert_string_equal(to->path, rows[i].without);
        assert_null(to->data);
        assert_null(to->names);
        assert_int_equal(to->len, 0);
    }
    zkr_reply_free(NULL);
}
