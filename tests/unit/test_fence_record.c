/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the record of a fence: the rule that accepts a token, and the text
 * form. */
#include "fence/fence_record.h"
#include "unit.h"

TEST(writers_never_go_back)
{
    struct zkr__fence_record r = { 0, 0, 0 };

    assert_true(zkr__fence_record_accept(&r, 5, 0, false));
    assert_true(zkr__fence_record_accept(&r, 5, 0, false));
    assert_false(zkr__fence_record_accept(&r, 4, 0, false));
    assert_true(zkr__fence_record_accept(&r, INT64_MAX, 0, false));
    assert_false(zkr__fence_record_accept(&r, INT64_MAX - 1, 0, false));
    assert_true(r.highest == INT64_MAX && r.exclusive == INT64_MAX);
}

/* Neighbours have the lock node, and so the token, one after the other: without
 * the count a late write of the first one overwrote that of the next. */
TEST(a_neighbour_is_older_by_its_hand_off_count)
{
    struct zkr__fence_record r = { 0, 0, 0 };

    assert_true(zkr__fence_record_accept(&r, 5, 3, false));
    assert_true(zkr__fence_record_accept(&r, 5, 3, false));
    assert_true(zkr__fence_record_accept(&r, 5, UINT64_MAX, false));
    assert_false(zkr__fence_record_accept(&r, 5, UINT64_MAX - 1, false));
    assert_false(zkr__fence_record_accept(&r, 4, UINT64_MAX, false));
    assert_true(zkr__fence_record_accept(&r, 5, 0, true)); /* downgraded */
    assert_true(zkr__fence_record_accept(&r, 6, 0, true));
    assert_true(zkr__fence_record_accept(&r, 6, 2, false));
    assert_false(zkr__fence_record_accept(&r, 6, 1, false));
    assert_true(zkr__fence_record_accept(&r, 7, 0, false)); /* counts anew */
    assert_true(r.highest == 7 && r.exclusive == 7 && r.handoff == 0);
}

/* The counter begins again at 0 in each epoch. */
TEST(tokens_grow_from_one_epoch_to_the_next)
{
    struct zkr__fence_record r = { 0, 0, 0 };

    assert_true(zkr__fence_record_accept(&r, INT64_C(0x1ffffffff), 0, false));
    assert_true(zkr__fence_record_accept(&r, INT64_C(0x200000001), 0, false));
    assert_false(zkr__fence_record_accept(&r, INT64_C(0x1ffffffff), 0, false));
    assert_false(zkr__fence_record_accept(&r, INT64_C(0x1ffffffff), 0, true));
}

/* Several readers have the lock at once, each with its own token. */
TEST(readers_are_only_older_than_writers)
{
    struct zkr__fence_record r = { 0, 0, 0 };

    assert_true(zkr__fence_record_accept(&r, 5, 0, false));
    assert_true(zkr__fence_record_accept(&r, 9, 0, true));
    assert_true(zkr__fence_record_accept(&r, 7, 0, true));
    assert_true(r.highest == 9 && r.exclusive == 5);
    assert_false(zkr__fence_record_accept(&r, 4, 0, true));
    assert_false(zkr__fence_record_accept(&r, 8, 0, false));
    assert_true(zkr__fence_record_accept(&r, 5, 0, true)); /* downgraded */
    assert_true(zkr__fence_record_accept(&r, 9, 0, false));
    assert_false(zkr__fence_record_accept(&r, 8, 0, true));
    assert_true(r.highest == 9 && r.exclusive == 9);
}

TEST(the_text_is_for_people_and_for_crc32)
{
    char text[ZKR__FENCE_TEXT_MAX];
    struct zkr__fence_record r = { 123456, 42, 0 };
    size_t len = zkr__fence_record_format(&r, text);

    assert_int_equal(len, strlen(text));
    assert_string_equal(text, "zkrecipes fence 1, highest 123456, exclusive "
                              "42, crc32 c691fd30\n");
    r.handoff = 7; /* a version that older libraries refuse */
    len = zkr__fence_record_format(&r, text);
    assert_int_equal(len, strlen(text));
    assert_string_equal(text, "zkrecipes fence 2, highest 123456, exclusive "
                              "42, handoff 7, crc32 ebc2f7b6\n");
}

/* But a writer's token above the highest of all is no record of ours, even with
 * a correct checksum. */
TEST(a_written_text_is_read_unless_it_contradicts_itself)
{
    static const struct zkr__fence_record records[] = {
        { 0, 0, 0 },
        { 1, 0, 0 },
        { 9, 9, 1 },
        { INT64_MAX, INT64_MAX, 0 },
        { INT64_MAX, INT64_MAX, UINT64_MAX },
        { 1, 2, 0 }, /* contradicts itself */
        { 1, -1, 0 }
    };

    for (size_t i = 0; i < COUNT(records); i++) {
        char text[ZKR__FENCE_TEXT_MAX];
        struct zkr__fence_record r = { -1, -1, 1 };
        size_t len = zkr__fence_record_format(&records[i], text);

        assert_int_equal(zkr__fence_record_parse(text, len, &r), i < 5);
        if (i >= 5)
            continue;
        assert_true(r.highest == records[i].highest);
        assert_true(r.exclusive == records[i].exclusive);
        assert_true(r.handoff == records[i].handoff);
    }
}

TEST(anything_else_is_refused)
{
    static const char *const others[] = {
        "",
        "0\n",
        "zkrecipes fence 1, highest 0, exclusive 0, crc32 00000000\n",
        "zkrecipes fence 2, highest 0, exclusive 0, crc32 00000000\n",
        ("zkrecipes fence 1, highest 99999999999999999999, exclusive 1, crc32 "
         "00000000\n"),
    };
    struct zkr__fence_record good = { 123456789, 123456000, 12 };
    struct zkr__fence_record r = { -1, -1, 0 };
    char text[2 * ZKR__FENCE_TEXT_MAX] = "";
    size_t len = zkr__fence_record_format(&good, text);

    for (size_t i = 0; i < COUNT(others); i++)
        assert_false(zkr__fence_record_parse(others[i], strlen(others[i]), &r));
    for (size_t i = 0; i < len; i++) {
        assert_false(zkr__fence_record_parse(text, i, &r)); /* cut */
        for (int bit = 0; bit < 8; bit++) {
            text[i] = (char)(text[i] ^ 1 << bit);
            assert_false(zkr__fence_record_parse(text, len, &r));
            text[i] = (char)(text[i] ^ 1 << bit);
        }
    }
    text[len] = '\n';
    assert_false(zkr__fence_record_parse(text, len + 1, &r));
    assert_false(zkr__fence_record_parse(text, sizeof(text), &r));
    assert_true(r.highest == -1 && r.exclusive == -1);
}
