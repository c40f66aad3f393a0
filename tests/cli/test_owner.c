/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the owner and the dialect that the tool reads from a node. */
#include <stdbool.h>

#include "model/dialect.h"
#include "model/owner.h"
#include "texts.h"
#include "unit.h"

#define UUID "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436"
#define HEX  "5a5bbc3873ea4b5a9f7396e8c4c6a436"

static struct owner owner;

/* The text is in a block of exactly its size, so that ASan sees a read behind
 * it. */
static void read_text(const char *text)
{
    size_t size = strlen(text);
    char *copy = malloc(size + 1);

    assert_non_null(copy);
    copy = realloc(copy, size > 0 ? size : 1);
    assert_non_null(copy);
    (void)memcpy(copy, text, size);
    owner_read(&owner, copy, size);
    free(copy);
}

TEST(our_record_is_read)
{
    char word[100];

    read_text("{\"host\":\"vm\",\"pid\":4231,\"thread\":\"peek\",\"tid\":4232,"
              "\"start\":\"2026-11-21T03:55:47Z\",\"program\":\"peek\","
              "\"label\":\"close the books\",\"library\":\"zkrecipes 0.1.0\"}");
    assert_true(owner.is_record);
    assert_false(owner.is_asked);
    assert_string_equal(owner.host, "vm");
    assert_int_equal(owner.pid, 4231);
    assert_int_equal(owner.tid, 4232);
    assert_string_equal(owner.thread, "peek");
    assert_string_equal(owner.program, "peek");
    assert_string_equal(owner.label, "close the books");
    assert_string_equal(owner.start, "2026-11-21T03:55:47Z");
    owner_word(&owner, "", 0, word, sizeof(word));
    assert_string_equal(word, "vm:4231/4232 peek");
}

TEST(the_session_around_is_read)
{
    static const struct {
        const char *text;
        int64_t session;
    } cases[] = {
        { "\"0x10000a1b2c30001\"", 0x10000a1b2c30001 },
        { "\"0xffffffffffffffff\"", -1 },
        { "\"0x8000000000000000\"", INT64_MIN },
        { "\"0x10000000000000000\"", 0 },
        { "\"0x\"", 0 },
        { "\"0x1 \"", 0 },
        { "\"-0x1\"", 0 },
        { "\"17\"", 0 },
        { "17", 0 },
        { "null", 0 },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[128];

        PRINT(text, "{\"library\":\"zkrecipes 9\",\"within\":%s}",
              cases[i].text);
        read_text(text);
        assert_true(owner.is_record);
        assert_int_equal(owner.within, cases[i].session);
    }
}

TEST(a_missing_field_is_empty)
{
    char word[100];

    read_text("{\"library\":\"zkrecipes 9\",\"pid\":\"x\",\"host\":[1]}");
    assert_true(owner.is_record);
    assert_string_equal(owner.host, "");
    assert_int_equal(owner.pid, 0);
    owner_word(&owner, "", 0, word, sizeof(word));
    assert_string_equal(word, ":0");
}

TEST(other_data_is_no_record)
{
    static const char *const others[] = {
        "",         "{",
        "{}",       "[]",
        "null",     "{\"library\":\"zk\"}",
        "hostA",    "{\"library\":\"zkrecipes\"} x",
        "10.1.2.3", " {\"library\":\"zkrecipes\"}",
    };
    char word[100];

    for (size_t i = 0; i < COUNT(others); i++) {
        read_text(others[i]);
        assert_false(owner.is_record);
        owner_word(&owner, others[i], strlen(others[i]), word, sizeof(word));
        assert_string_equal(word, others[i]);
    }
}

/* jansson limits the depth of its input; a text longer than a record is not
 * parsed. */
TEST(deep_and_long_data_is_no_record)
{
    char *deep = calloc(1, 100001);

    assert_non_null(deep);
    memset(deep, '[', 100000);
    (void)memcpy(deep, "{\"library\":", 11);
    read_text(deep);
    assert_false(owner.is_record);
    deep[1000] = '\0';
    read_text(deep);
    assert_false(owner.is_record);
    free(deep);
}

TEST(a_request_is_exactly_one)
{
    read_text("__REVOKE__");
    assert_true(owner.is_asked);
    read_text("__REVOKE__ ");
    assert_false(owner.is_asked);
    read_text("__REVOKE_");
    assert_false(owner.is_asked);
    read_text("{\"library\":\"zkrecipes 1\",\"label\":\"x\"" OWNER_ASKED);
    assert_true(owner.is_asked && owner.is_record);
    assert_string_equal(owner.label, "x");
}

TEST(words_are_escaped_and_cut)
{
    static const char evil[] = "\033]0;x\a\xff";
    char word[12];

    owner_read(&owner, evil, sizeof(evil) - 1);
    owner_word(&owner, evil, sizeof(evil) - 1, word, sizeof(word));
    assert_string_equal(word, "\\x1B]0;x...");
}

static void assert_dialect(const char *name, const char *marker,
                           enum dialect dialect)
{
    struct zkr_participant p = { .name = name,
                                 .marker = marker,
                                 .kind = ZKR_PARTICIPANT_EXCLUSIVE,
                                 .data = "",
                                 .token = 1 };
    struct owner nobody = { .is_record = false };
    struct owner ours = { .is_record = true };

    assert_int_equal(dialect_of(&p, &nobody), dialect);
    if (dialect != DIALECT_C_RECIPE && dialect != DIALECT_ZK_RUBY)
        assert_int_equal(dialect_of(&p, &ours), DIALECT_ZKRECIPES);
    p.kind = ZKR_PARTICIPANT_FOREIGN;
    assert_int_equal(dialect_of(&p, &nobody), DIALECT_NONE);
}

TEST(dialects_are_told_by_the_whole_name)
{
    assert_dialect("_c_" UUID "-lock-0000000001", "lock-", DIALECT_CURATOR);
    assert_dialect("_c_" UUID "-__READ__0000000001", "__READ__",
                   DIALECT_CURATOR);
    assert_dialect("_c_" HEX "-lock-0000000001", "lock-", DIALECT_GO);
    assert_dialect(HEX "__lock__0000000001", "__lock__", DIALECT_KAZOO);
    assert_dialect(HEX "__rlock__0000000001", "__rlock__", DIALECT_KAZOO);
    assert_dialect("x-1-0000000001", "x-", DIALECT_C_RECIPE);
    assert_dialect("sh0000000001", "sh", DIALECT_ZK_RUBY);
    assert_dialect("lock-0000000001", "lock-", DIALECT_OTHER);
    assert_dialect("holder", "holder", DIALECT_OTHER);
    assert_dialect("my_c_" UUID "-lock-0000000001", "lock-", DIALECT_OTHER);
    assert_dialect("_c_" UUID "-x-lock-0000000001", "lock-", DIALECT_OTHER);
    assert_dialect("_c_5a5bbc3-lock-0000000001", "lock-", DIALECT_OTHER);
}

/* A mutex of ours that was asked to release was taken for one of Curator, which
 * "does not look at its own node". */
TEST(a_name_that_two_clients_make_tells_neither)
{
    static const struct {
        const char *name;
        const char *marker;
        enum dialect asked; /* or not read */
        enum dialect with_data;
    } cases[] = {
        { "_c_" UUID "-lock-0000000001", "lock-", DIALECT_UNKNOWN,
          DIALECT_CURATOR },
        { "_c_" UUID "-latch-0000000001", "latch-", DIALECT_UNKNOWN,
          DIALECT_UNKNOWN },
        { HEX "__lock__0000000001", "__lock__", DIALECT_UNKNOWN,
          DIALECT_KAZOO },
        { "holder", "holder", DIALECT_UNKNOWN, DIALECT_OTHER },
        { "_c_" HEX "-lock-0000000001", "lock-", DIALECT_GO, DIALECT_GO },
        { "lock-0000000001", "lock-", DIALECT_OTHER, DIALECT_OTHER },
        { "x-1-0000000001", "x-", DIALECT_C_RECIPE, DIALECT_C_RECIPE },
    };
    static const struct owner other, asked = { .is_asked = true };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct zkr_participant p = { .name = cases[i].name,
                                     .marker = cases[i].marker,
                                     .kind = ZKR_PARTICIPANT_EXCLUSIVE,
                                     .data = "" };

        assert_int_equal(dialect_of(&p, &other), cases[i].asked);
        p.token = 1;
        p.data = "node-1";
        p.data_size = strlen(p.data);
        assert_int_equal(dialect_of(&p, &asked), cases[i].asked);
        assert_int_equal(dialect_of(&p, &other), cases[i].with_data);
    }
}

static bool hears(const char *name, const char *marker, enum dialect dialect)
{
    struct zkr_participant p = { .name = name,
                                 .marker = marker,
                                 .kind = ZKR_PARTICIPANT_EXCLUSIVE };

    return contender_hears_requests(&p, dialect);
}

TEST(of_two_clients_both_must_hear)
{
    assert_true(hears("_c_" UUID "-lock-0000000001", "lock-", DIALECT_UNKNOWN));
    assert_false(
        hears("_c_" UUID "-latch-0000000001", "latch-", DIALECT_UNKNOWN));
    assert_false(
        hears(HEX "__rlock__0000000001", "__rlock__", DIALECT_UNKNOWN));
    assert_true(
        hears("_c_" UUID "-latch-0000000001", "latch-", DIALECT_ZKRECIPES));
}

static void assert_kind(const char *const *markers, enum lock_kind kind)
{
    struct zkr_participant items[4] = { { .name = "" } };
    size_t n = 0;

    for (; markers[n] != NULL; n++) {
        items[n].name = "";
        items[n].marker = markers[n];
        items[n].kind = strcmp(markers[n], "sh") == 0
                            ? ZKR_PARTICIPANT_SHARED
                            : ZKR_PARTICIPANT_EXCLUSIVE;
    }
    assert_int_equal(kind_of(items, n), kind);
}

TEST(kinds_are_told_by_the_markers)
{
#define MARKERS(...) (const char *const[]){ __VA_ARGS__, NULL }
    assert_int_equal(kind_of(NULL, 0), KIND_NONE);
    assert_kind(MARKERS("lock-"), KIND_MUTEX);
    assert_kind(MARKERS("__lock__"), KIND_MUTEX);
    assert_kind(MARKERS("lock-", "__lock__"), KIND_MUTEX);
    assert_kind(MARKERS("__lock__", "__rlock__"), KIND_RW);
    assert_kind(MARKERS("__WRIT__"), KIND_RW);
    assert_kind(MARKERS("__READ__", "__lock__"), KIND_RW);
    assert_kind(MARKERS("lock-", "__WRIT__"), KIND_MIXED);
    assert_kind(MARKERS("holder"), KIND_UNFAIR);
    assert_kind(MARKERS("holder", "lock-"), KIND_MIXED);
    assert_kind(MARKERS("x-"), KIND_MUTEX);
    assert_kind(MARKERS("x-", "__lock__"), KIND_MIXED);
    assert_kind(MARKERS("ex"), KIND_MUTEX);
    assert_kind(MARKERS("ex", "sh"), KIND_RW);
    assert_kind(MARKERS("latch-"), KIND_LATCH);
    assert_kind(MARKERS("latch-", "lock-"), KIND_MIXED);
    assert_kind(MARKERS("lease-"), KIND_SEMAPHORE);
    assert_kind(MARKERS("lease-", "lock-"), KIND_MIXED);
}

TEST(the_queue_of_a_semaphore_is_no_mutex)
{
    struct zkr_participant items[] = {
        { .name = "leases/a-lease-0000000001",
          .marker = "lease-",
          .kind = ZKR_PARTICIPANT_SHARED },
        { .name = "locks/a-lock-0000000001",
          .marker = "lock-",
          .kind = ZKR_PARTICIPANT_EXCLUSIVE },
        { .name = "lock-0000000001",
          .marker = "lock-",
          .kind = ZKR_PARTICIPANT_EXCLUSIVE },
    };

    assert_int_equal(kind_of(items, 2), KIND_SEMAPHORE);
    assert_int_equal(kind_of(items + 1, 1), KIND_SEMAPHORE);
    assert_int_equal(kind_of(items, 3), KIND_MIXED);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(contender_is_seen(&items[i], KIND_MUTEX), i == 2);
    assert_dialect("locks/_c_" UUID "-lock-0000000001", "lock-",
                   DIALECT_CURATOR);
}
