/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the word by which the tool names the owner of a node. */
#include "model/lock_state.h"
#include "unit.h"

static const struct {
    const char *name;
    const char *data;
    const char *word;
} words[] = {
    { "of our record",
      "{\"library\":\"zkrecipes 0.1.0\",\"host\":\"vm\",\"pid\":4231,"
      "\"tid\":4232,\"program\":\"peek\"}",
      "vm:4231/4232 peek" },
    { "of a record without most",
      "{\"library\":\"zkrecipes 9\",\"pid\":\"x\",\"host\":[1]}", ":0" },
    { "of nothing", "", "" },
    { "of an address", "10.1.2.3", "10.1.2.3" },
    { "of another record", "{\"library\":\"zk\"}", "{\"library\":\"zk\"}" },
};

TEST_ROWS(a_word_says_who, words, row)
{
    struct zkr__known_owner owner;
    char word[24];

    zkr__owner_read(&owner, row->data, strlen(row->data));
    owner_word(&owner, row->data, strlen(row->data), word, sizeof(word));
    assert_string_equal(word, row->word);
}

TEST(words_are_escaped_and_cut)
{
    static const char evil[] = "\033]0;x\a\xff";
    struct zkr__known_owner owner;
    char word[12];

    zkr__owner_read(&owner, evil, sizeof(evil) - 1);
    owner_word(&owner, evil, sizeof(evil) - 1, word, sizeof(word));
    assert_string_equal(word, "\\x1B]0;x...");
}
