/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the parser of answers to four letter words. */
#include <stdbool.h>

#include "model/server_words.h"
#include "texts.h"
#include "unit.h"

static struct servers *s;

static int setup(void)
{
    s = servers_new("", "/locks/orders");
    return s == NULL;
}

static int teardown(void)
{
    servers_free(s);
    return 0;
}

FIXTURE(setup, teardown)

static void hear(unsigned word, const char *text)
{
    assert_true(servers_read(s, word, "zk1:2181", text, strlen(text)));
}

TEST(clients_are_read_from_cons)
{
    const struct client *c;

    hear(SERVERS_CONS,
         " /127.0.0.1:43352[0](queued=0,recved=1,sent=0)\n"
         " /10.1.2.3:49160[1](queued=0,recved=11,sent=11,sid=0x10000fd2ae90001,"
         "lop=PING,est=1795244983198,to=4000,lcxid=0x4,lzxid=0x2d)\n"
         " /[0:0:0:0:0:0:0:1]:5[1](queued=0,sid=0x2,lop=PING,to=10000,x=)\n\n");
    c = servers_client(s, INT64_C(0x10000fd2ae90001));
    assert_non_null(c);
    assert_string_equal(c->address, "10.1.2.3:49160");
    assert_string_equal(c->server, "zk1:2181");
    assert_int_equal(c->timeout_ms, 4000);
    c = servers_client(s, 2);
    assert_non_null(c);
    assert_string_equal(c->address, "[0:0:0:0:0:0:0:1]:5");
    assert_int_equal(c->since_ms, 0);
    assert_int_equal(servers_client(s, INT64_C(0x10000fd2ae90001))->since_ms,
                     INT64_C(1795244983198));
    assert_null(servers_client(s, 3));
    assert_null(servers_client(s, 0));
}

static void hear_from(const char *server, unsigned word, const char *text)
{
    assert_true(servers_read(s, word, server, text, strlen(text)));
}

TEST(a_follower_with_observers_is_their_master)
{
    hear(SERVERS_MNTR, "zk_server_state\tleader\nzk_synced_observers\t2\n");
    hear(SERVERS_MNTR, "zk_server_state\tfollower\nzk_x\t1\n");
    hear(SERVERS_MNTR, "zk_server_state\tobserver\nzk_synced_observers\t2\n");
    assert_null(servers_observer_master(s));
    hear_from("zk2:2181", SERVERS_MNTR,
              "zk_server_state\tfollower\nzk_synced_observers\t2\n");
    hear(SERVERS_MNTR, "zk_server_state\tleader\nzk_synced_observers\t2\n");
    assert_string_equal(servers_observer_master(s), "zk2:2181");
}

TEST(words_that_a_server_lacks_are_not_known_of_all)
{
    assert_true(servers_know_all(s, SERVERS_CONS));
    assert_false(servers_know_all(s, SERVERS_MNTR));
    servers_lack(s, SERVERS_CONS | SERVERS_DUMP);
    assert_false(servers_know_all(s, SERVERS_CONS));
    assert_false(servers_know_all(s, SERVERS_CONS | SERVERS_DUMP));
    assert_true(servers_know_all(s, SERVERS_CONS | SERVERS_WCHP));
}

TEST(two_names_of_one_server_are_told_by_a_session)
{
    static const char one[] = "/h:1[1](x,sid=0x1,to=1)\n"
                              "/h:2[1](x,sid=0x2,to=1)\n";
    static const char two[] = "/h:2[1](x,sid=0x2,to=1)\n";

    hear(SERVERS_CONS, one);
    hear(SERVERS_CONS, two);
    hear_from("zk2:2181", SERVERS_CONS, "/h:3[1](x,sid=0x3,to=1)\n");
    assert_false(servers_tell_twice(s));
    hear_from("zk2:2181", SERVERS_CONS, two);
    assert_true(servers_tell_twice(s));
}

TEST(sessions_are_read_from_every_form_of_dump)
{
    assert_int_equal(servers_session_lives(s, 1), ANSWER_UNKNOWN);
    hear(SERVERS_DUMP, "SessionTracker dump:\n"
                       "Session Sets (2)/(1):\n"
                       "1 expire at Sat Nov 21 07:10:12 UTC 2026:\n"
                       "\t0x1\n"
                       "ephemeral nodes dump:\n"
                       "Sessions with Ephemerals (1):\n"
                       "0x2:\n"
                       "\t/locks/orders/0x5\n"
                       "Global Sessions(1):\n"
                       "0x3\t4000ms\n"
                       "\tip: /127.0.0.1:1 sessionId: 0x4\n");
    for (int64_t id = 1; id <= 3; id++)
        assert_int_equal(servers_session_lives(s, id), ANSWER_YES);
    assert_int_equal(servers_session_lives(s, 4), ANSWER_NO);
    assert_int_equal(servers_session_lives(s, 5), ANSWER_NO);
}

TEST(watches_of_this_lock_are_read_from_wchp)
{
    hear(SERVERS_WCHP, "/locks/orders/a\n\t0x2\n\t0x1\n"
                       "/locks/others/a\n\t0x3\n"
                       "/locks/orders\n\t0x4\n"
                       "/locks/orders/b\n\t0x2\n");
    assert_true(servers_watches(s, 1, "/locks/orders/a"));
    assert_true(servers_watches(s, 2, "/locks/orders/a"));
    assert_true(servers_watches(s, 2, "/locks/orders/b"));
    assert_false(servers_watches(s, 1, "/locks/orders/b"));
    assert_false(servers_watches(s, 3, "/locks/others/a"));
    for (int64_t id = -1; id <= 4; id++)
        assert_int_equal(servers_watches(s, id, NULL), id == 1 || id == 2);
    assert_true(servers_know_all(s, SERVERS_WCHP));
}

/* The answers of a server that lies, or of another program that listens
 * there. */
TEST(nonsense_is_passed_over)
{
    static const unsigned words[] = { SERVERS_CONS, SERVERS_DUMP,
                                      SERVERS_WCHP };
    static const char *const texts[] = {
        "",
        "\n\r\n",
        "/",
        "[",
        "/[",
        "[/,sid=0x1,to=",
        "/a[,sid=,to=1",
        "/a[,sid=0x11111111111111111,to=1",
        "0x",
        "0xffffffffffffffffff\n",
        "\t0x1",
        "/locks/orders/\n0x7",
        "This ZooKeeper instance is not currently serving requests\n",
        "\033]52;c;\a\xff\xfe",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        for (size_t k = 0; k < COUNT(words); k++)
            hear(words[k], texts[i]);
    }
    hear(SERVERS_CONS, "[/a[x,sid=0x21,to=1\nb]/a,sid=0x22,to=1\n"
                       "[]/a[x,sid=0x23,to=1\n/a[x,sid=0x24\n/a[x,to=1\n");
    hear(SERVERS_DUMP, "0x25 4000ms\n0x26x\n26:\n0xg:\n");
    assert_null(servers_client(s, 0x11));
    for (int64_t id = 0x21; id <= 0x26; id++) {
        assert_null(servers_client(s, id));
        assert_int_equal(servers_session_lives(s, id), ANSWER_NO);
    }
    hear(SERVERS_CONS, "/a[x,sid=0x0,to=1\n");
    assert_null(servers_client(s, 0));
}

/* The answer is cut at each byte: ASan would see a read beyond the end. */
TEST(answers_may_be_cut_anywhere)
{
    static const char text[] =
        " /10.1.2.3:49160[1](queued=0,sid=0x10,lop=PING,to=4000,x)\n"
        "\t0x1\n/locks/orders/a\n\t0x2\n";

    for (size_t size = 0; size < sizeof(text); size++) {
        char *copy = malloc(size + 1);

        assert_non_null(copy);
        copy = realloc(copy, size > 0 ? size : 1);
        assert_non_null(copy);
        (void)memcpy(copy, text, size);
        assert_true(servers_read(s, SERVERS_CONS, "x", copy, size));
        assert_true(servers_read(s, SERVERS_DUMP, "x", copy, size));
        assert_true(servers_read(s, SERVERS_WCHP, "x", copy, size));
        free(copy);
    }
    assert_non_null(servers_client(s, 0x10));
}
