/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of copies of replies: nothing of them is in the client's memory. */
#include "request/client.h"
#include "unit.h"

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
    struct zkr_reply *to = zkr__reply_copy(&from, strlen("/app"));

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
    zkr_reply_free(to);
}

TEST(fields_that_were_not_told_are_null)
{
    const struct zkr__zk_reply from = { .rc = ZKR_OK };
    struct zkr_reply *to = zkr__reply_copy(&from, 0);

    assert_non_null(to);
    assert_null(to->path);
    assert_null(to->data);
    assert_null(to->names);
    assert_int_equal(to->len, 0);
    zkr_reply_free(to);
    zkr_reply_free(NULL);
}

/* A server can answer with any path. */
TEST(a_path_outside_of_the_chroot_is_none)
{
    static const struct {
        const char *path, *without;
    } rows[] = { { "/a", NULL }, { "/app", "/" }, { "/app/x", "/x" } };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct zkr__zk_reply from = { .path = rows[i].path };
        struct zkr_reply *to = zkr__reply_copy(&from, strlen("/app"));

        assert_non_null(to);
        if (rows[i].without == NULL)
            assert_null(to->path);
        else
            assert_string_equal(to->path, rows[i].without);
        zkr_reply_free(to);
    }
}
