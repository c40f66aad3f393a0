/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the error codes, of the outcome that each means, and of details. */
#include <zookeeper/zookeeper.h>

#include "base/error.h"
#include "unit.h"

/* All of enum ZOO_ERRORS of 3.8.0 but ZOK. A constant that is missing in our
 * table does not compile. */
/* clang-format off */
#define SAME(name) { #name, name, ZKR_##name }
static const struct {
    const char *name;
    int theirs, ours;
} constants[] = {
    SAME(ZSYSTEMERROR), SAME(ZRUNTIMEINCONSISTENCY), SAME(ZDATAINCONSISTENCY),
    SAME(ZCONNECTIONLOSS), SAME(ZMARSHALLINGERROR), SAME(ZUNIMPLEMENTED),
    SAME(ZOPERATIONTIMEOUT), SAME(ZBADARGUMENTS), SAME(ZINVALIDSTATE),
    SAME(ZNEWCONFIGNOQUORUM), SAME(ZRECONFIGINPROGRESS),
    SAME(ZSSLCONNECTIONERROR), SAME(ZAPIERROR), SAME(ZNONODE), SAME(ZNOAUTH),
    SAME(ZBADVERSION), SAME(ZNOCHILDRENFOREPHEMERALS), SAME(ZNODEEXISTS),
    SAME(ZNOTEMPTY), SAME(ZSESSIONEXPIRED), SAME(ZINVALIDCALLBACK),
    SAME(ZINVALIDACL), SAME(ZAUTHFAILED), SAME(ZCLOSING), SAME(ZNOTHING),
    SAME(ZSESSIONMOVED), SAME(ZNOTREADONLY), SAME(ZEPHEMERALONLOCALSESSION),
    SAME(ZNOWATCHER), SAME(ZRECONFIGDISABLED),
    SAME(ZSESSIONCLOSEDREQUIRESASLAUTH), SAME(ZTHROTTLEDOP)
};
/* clang-format on */

struct code {
    const char *name;
    int value;
};

static const struct code zk_codes[] = {
#define ZKR_X(name, value, text) { &(#name)[sizeof("ZKR")], value },
    ZKR_ZK_ERRORS(ZKR_X)
#undef ZKR_X
};

static const struct code our_codes[] = {
#define ZKR_X(name, value, text) { #name, value },
    ZKR_ERRORS(ZKR_X)
#undef ZKR_X
};

static void assert_described(const struct code *code)
{
    const char *text = zkr_strerror(code->value);
    size_t len = strlen(code->name);

    if (strncmp(text, code->name, len) != 0 ||
        strncmp(text + len, ": ", 2) != 0 || text[len + 2] == '\0')
        fail_msg("%s is '%s'", code->name, text);
}

TEST(constants_are_those_of_zookeeper)
{
    for (size_t i = 0; i < COUNT(constants); i++) {
        if (constants[i].ours != constants[i].theirs)
            fail_msg("%s is %d, not %d", constants[i].name, constants[i].ours,
                     constants[i].theirs);
    }
    /* One of a later release, and one of servers only. */
    assert_int_equal(ZKR_ZQUOTAEXCEEDED, -125);
    assert_int_equal(ZKR_ZUNKNOWNSESSION, -12);
    assert_int_equal(COUNT(zk_codes), COUNT(constants) + 2);
}

/* Of two codes with one value the first is found, so none is used twice. */
TEST(every_code_has_its_name_its_place_and_a_text)
{
    for (size_t i = 0; i < COUNT(zk_codes); i++) {
        assert_described(&zk_codes[i]);
        assert_in_range(-zk_codes[i].value, 1, 127);
    }
    for (size_t i = 0; i < COUNT(our_codes); i++) {
        assert_described(&our_codes[i]);
        assert_true(our_codes[i].value <= -1001);
    }
    assert_described(&(struct code){ "OK", ZKR_OK });
}

TEST(success_and_unknown_codes_are_done)
{
    static const int codes[] = { ZKR_OK, 1,     -10,       -128,
                                 -1000,  -1999, INT32_MIN, INT32_MAX };

    for (size_t i = 0; i < COUNT(codes); i++) {
        assert_int_equal(strcmp(zkr_strerror(codes[i]), "unknown error") == 0,
                         codes[i] != ZKR_OK);
        assert_int_equal(zkr__error_outcome(codes[i]), ZKR__DONE);
        assert_false(zkr_error_is_transient(codes[i]));
        assert_false(zkr_error_is_session_over(codes[i]));
        assert_false(zkr_error_is_unsure(codes[i]));
    }
}

/* After UNKNOWN the library searches for the node, after NOT_DONE it only sends
 * the request again: a code in the wrong column leaves a node behind, or makes
 * two. */
TEST(outcome_and_predicates_say_what_may_have_happened)
{
    for (size_t i = 0; i < COUNT(zk_codes); i++) {
        int code = zk_codes[i].value;
        enum zkr__outcome expected =
            ONE_OF(code, -1, -2, -4, -5, -7, -15, -116, -118) ? ZKR__UNKNOWN
            : ONE_OF(code, -119, -127)                        ? ZKR__NOT_DONE
            : ONE_OF(code, -9, -12, -112, -115)               ? ZKR__OVER
                                                              : ZKR__DONE;

        assert_int_equal(zkr__error_outcome(code), expected);
        assert_int_equal(zkr_error_is_transient(code),
                         expected == ZKR__UNKNOWN || expected == ZKR__NOT_DONE);
        assert_int_equal(zkr_error_is_session_over(code),
                         expected == ZKR__OVER);
        assert_int_equal(zkr_error_is_unsure(code), expected == ZKR__UNKNOWN);
    }
}

TEST(predicates_know_our_codes)
{
    for (size_t i = 0; i < COUNT(our_codes); i++) {
        int code = our_codes[i].value;

        assert_int_equal(zkr_error_is_transient(code),
                         ONE_OF(code, ZKR_ETIMEDOUT, ZKR_EBUSY, ZKR_EREFUSED,
                                ZKR_EUNREACHABLE));
        assert_int_equal(zkr_error_is_session_over(code),
                         ONE_OF(code, ZKR_ELOST, ZKR_ECLOSED));
        assert_int_equal(zkr_error_is_unsure(code),
                         ONE_OF(code, ZKR_EUNSURE, ZKR_EPENDING, ZKR_EUNKNOWN));
    }
}

TEST(codes_of_zookeeper_alone_are_added_to_the_sentence)
{
    gives(ZKR_EPATH, zkr__fail(ZKR_EPATH, "mutex '%s' %s", "/a/", "is bad"));
    assert_string_equal(zkr_error_detail(), "mutex '/a/' is bad");
    for (size_t i = 0; i < COUNT(our_codes); i++) {
        gives(our_codes[i].value, zkr__fail(our_codes[i].value, "it"));
        assert_string_equal(zkr_error_detail(), "it");
    }
    ok(zkr__fail(ZKR_OK, "nothing"));
    assert_string_equal(zkr_error_detail(), "nothing");
    assert_int_equal(zkr__fail(-102, "create '%s'", "/a"), -102);
    assert_string_equal(zkr_error_detail(),
                        "create '/a' (ZooKeeper -102, ZNOAUTH: not permitted)");
    assert_int_equal(zkr__fail(-126, "create"), -126); /* of a later release */
    assert_string_equal(zkr_error_detail(),
                        "create (ZooKeeper -126, unknown error)");
}

TEST(long_sentence_is_cut_and_ends)
{
    const char *text = textf("%0*d", 2 * ZKR__DETAIL_MAX, 0);

    struct {
        char detail[ZKR__DETAIL_MAX];
        char guard[8];
    } buf;

    memset(&buf, '#', sizeof(buf));
    zkr__error_format(buf.detail, ZKR_EPATH, "%s", text);
    assert_int_equal(strlen(buf.detail), ZKR__DETAIL_MAX - 1);
    assert_memory_equal(buf.guard, "########", 8);
    zkr__error_set_detail(text);
    assert_int_equal(strlen(zkr_error_detail()), ZKR__DETAIL_MAX - 1);
}

/* The header promises the code of ZooKeeper in every detail, and a path may be
 * longer than a detail: the code must not be what is cut off. */
TEST(long_sentence_keeps_the_code_of_zookeeper)
{
    /* the code does not fit, or its end */
    static const int lengths[] = { 1023, 480 };

    for (size_t i = 0; i < COUNT(lengths); i++) {
        tells(zkr__fail(-102, "create '/%0*d'", lengths[i] - 1, 0), -102,
              "ZNOAUTH");
    }
}

TEST(detail_can_be_handed_on)
{
    char detail[ZKR__DETAIL_MAX];

    (void)zkr__fail(ZKR_EINVAL, "before");
    zkr__error_format(detail, -4, "%s %d", "list", 7);
    assert_string_equal(zkr_error_detail(), "before");
    zkr__error_set_detail(detail);
    assert_string_equal(
        zkr_error_detail(),
        "list 7 (ZooKeeper -4, ZCONNECTIONLOSS: connection lost)");
}

TEST(detail_may_hold_percent_signs)
{
    (void)zkr__fail(ZKR_EINVAL, "'%s'", "%s%n%d");
    assert_string_equal(zkr_error_detail(), "'%s%n%d'");
    zkr__error_set_detail("%s%n%d");
    assert_string_equal(zkr_error_detail(), "%s%n%d");
}

struct from_thread {
    char at_first[ZKR__DETAIL_MAX], after[ZKR__DETAIL_MAX];
};

static void *fail_there(void *arg)
{
    struct from_thread *t = arg;

    PRINT(t->at_first, "%s", zkr_error_detail());
    (void)zkr__fail(ZKR_EBUSY, "there");
    PRINT(t->after, "%s", zkr_error_detail());
    return NULL;
}

TEST(each_thread_has_its_own_detail)
{
    struct from_thread t = { "unset", "unset" };

    (void)zkr__fail(ZKR_EINVAL, "here");
    thread_join(thread_start(fail_there, &t));
    assert_string_equal(t.at_first, "");
    assert_string_equal(t.after, "there");
    assert_string_equal(zkr_error_detail(), "here");
}
