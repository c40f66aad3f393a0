/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of access control lists: good texts and bad ones. */
#include "base/error.h"
#include "unit.h"
#include "zk/acl.h"

#define R 1
#define W 2
#define C 4
#define D 8
#define A 16

struct row {
    const char *text;
    size_t count;
    struct {
        const char *scheme;
        const char *id;
        int32_t perms;
    } entries[3];
};

TEST(good_texts_are_read)
{
    static const struct row rows[] = {
        { "world:anyone:cdrwa",
          1,
          { { "world", "anyone", R | W | C | D | A } } },
        { "auth::cdrwa", 1, { { "auth", "", R | W | C | D | A } } },
        { "world:anyone:r", 1, { { "world", "anyone", R } } },
        { "world:anyone:w", 1, { { "world", "anyone", W } } },
        { "world:anyone:c", 1, { { "world", "anyone", C } } },
        { "world:anyone:d", 1, { { "world", "anyone", D } } },
        { "world:anyone:a", 1, { { "world", "anyone", A } } },
        { "world:anyone:rrr", 1, { { "world", "anyone", R } } },
        { "digest:ann:Vx+8nQ/Z=:rw",
          1,
          { { "digest", "ann:Vx+8nQ/Z=", R | W } } },
        { "ip:2001:db8::1:r", 1, { { "ip", "2001:db8::1", R } } },
        { "ip:10.0.0.0/8:rcd,world:anyone:r,auth::a",
          3,
          { { "ip", "10.0.0.0/8", R | C | D },
            { "world", "anyone", R },
            { "auth", "", A } } },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct zkr__acl acl;

        ok(zkr__acl_parse(&acl, rows[i].text));
        assert_int_equal(acl.count, rows[i].count);
        for (size_t j = 0; j < acl.count; j++) {
            assert_string_equal(acl.entries[j].scheme,
                                rows[i].entries[j].scheme);
            assert_string_equal(acl.entries[j].id, rows[i].entries[j].id);
            assert_int_equal(acl.entries[j].perms, rows[i].entries[j].perms);
        }
        zkr__acl_done(&acl);
    }
}

TEST(bad_texts_are_refused_by_entry)
{
    static const struct {
        const char *text;
        unsigned entry; /* the number of the first wrong entry, from 1 */
    } rows[] = {
        { "", 1 },
        { ",", 1 },
        { ":", 1 },
        { "::", 1 },
        { "world", 1 },
        { "world:anyone", 1 },
        { "world:anyone:", 1 },
        { ":anyone:r", 1 },
        { "::r", 1 },
        { "world:anyone:x", 1 },
        { "world:anyone:R", 1 },
        { "world:anyone:31", 1 },
        { "world:anyone:r w", 1 },
        { "world:anyone:r ", 1 },
        { "world:anyone:r,", 2 },
        { ",world:anyone:r", 1 },
        { "world:anyone:r,,auth::r", 2 },
        { "world:anyone:r,auth:r", 2 },
        { "world:anyone:r,auth::r,ip:::", 3 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct zkr__acl acl;

        memset(&acl, 0x5a, sizeof(acl));
        if (zkr__acl_parse(&acl, rows[i].text) != ZKR_EINVAL)
            fail_msg("'%s' is not refused", rows[i].text);
        /* The error must not show the text: it may hold the digest of a
         * password. */
        assert_ptr_equal(
            strstr(zkr_error_detail(), textf("acl: entry %u ", rows[i].entry)),
            zkr_error_detail());
        assert_null(acl.text);
        assert_null(acl.entries);
        assert_int_equal(acl.count, 0);
    }
}

TEST(text_is_copied_and_freed_once)
{
    char text[] = "world:anyone:r";
    struct zkr__acl acl;

    ok(zkr__acl_parse(&acl, text));
    assert_string_equal(text, "world:anyone:r");
    memset(text, 'x', sizeof(text) - 1);
    assert_string_equal(acl.entries[0].scheme, "world");
    zkr__acl_done(&acl);
    assert_null(acl.entries);
    assert_int_equal(acl.count, 0);
    zkr__acl_done(&acl);
}
