/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of access control lists: good texts and bad ones. */
#include "unit.h"
#include "zk/acl.h"

#define R   1
#define W   2
#define C   4
#define D   8
#define A   16
#define ALL (R | W | C | D | A)

struct row {
    const char *text;
    struct {
        const char *scheme;
        const char *id;
        int32_t perms;
    } entries[3];
};

TEST(good_texts_are_read)
{
    static const struct row rows[] = {
        { "world:anyone:cdrwa", { { "world", "anyone", ALL } } },
        { "auth::cdrwa", { { "auth", "", ALL } } },
        { "world:anyone:r", { { "world", "anyone", R } } },
        { "world:anyone:w", { { "world", "anyone", W } } },
        { "world:anyone:c", { { "world", "anyone", C } } },
        { "world:anyone:d", { { "world", "anyone", D } } },
        { "world:anyone:a", { { "world", "anyone", A } } },
        { "world:anyone:rrr", { { "world", "anyone", R } } },
        { "digest:ann:Vx+8nQ/Z=:rw", { { "digest", "ann:Vx+8nQ/Z=", R | W } } },
        { "ip:2001:db8::1:r", { { "ip", "2001:db8::1", R } } },
        { "ip:10.0.0.0/8:rcd,world:anyone:r,auth::a",
          { { "ip", "10.0.0.0/8", R | C | D },
            { "world", "anyone", R },
            { "auth", "", A } } },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct zkr__acl acl;

        ok(zkr__acl_parse(&acl, rows[i].text));
        assert_in_range(acl.count, 1, COUNT(rows[i].entries));
        for (size_t j = acl.count; j < COUNT(rows[i].entries); j++)
            assert_null(rows[i].entries[j].scheme);
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
        unsigned entry; /* the number of the first wrong entry, from 1 */
        const char *texts[17];
    } rows[] = {
        { 1,
          { "", ",", ":", "::", "world", "world:anyone",
            "world:anyone:", ":anyone:r", "::r", "world:anyone:x",
            "world:anyone:R", "world:anyone:31", "world:anyone:r w",
            "world:anyone:r ", ",world:anyone:r" } },
        { 2,
          { "world:anyone:r,", "world:anyone:r,,auth::r",
            "world:anyone:r,auth:r" } },
        { 3, { "world:anyone:r,auth::r,ip:::" } },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        /* The error must not show the text: it may hold a digest. */
        const char *said = textf("acl: entry %u ", rows[i].entry);

        for (const char *const *text = rows[i].texts; *text != NULL; text++) {
            struct zkr__acl acl;

            memset(&acl, 0x5a, sizeof(acl));
            gave(ZKR_EINVAL, zkr__acl_parse(&acl, *text), *text);
            assert_ptr_equal(strstr(zkr_error_detail(), said),
                             zkr_error_detail());
            assert_null(acl.text);
            assert_null(acl.entries);
            assert_int_equal(acl.count, 0);
        }
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
