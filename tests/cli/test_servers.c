/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the parser of what servers answer to cons. */
#include <stdbool.h>

#include "model/cons.h"
#include "texts.h"
#include "unit.h"

static struct servers *s;

static int setup(void)
{
    s = calloc(1, sizeof(*s));
    return s == NULL;
}

static int teardown(void)
{
    servers_free(s);
    return 0;
}

FIXTURE(setup, teardown)

static void hear(const char *server, const char *text)
{
    servers_read(s, server, text, strlen(text));
}

/* A session above 2^63 is a negative number. */
TEST(clients_are_read_from_cons)
{
    static const struct client clients[] = {
        { INT64_C(0x10000fd2ae90001), 4000, INT64_C(1795244983198),
          "10.1.2.3:49160", "" },
        { 2, 10000, 0, "[0:0:0:0:0:0:0:1]:5", "" },
        { INT64_C(-0x37ffffffffffffff), 4000, 0, "10.1.2.3:5", "" },
    };

    hear("zk1:2181",
         " /127.0.0.1:43352[0](queued=0,recved=1,sent=0)\n"
         " /10.1.2.3:49160[1](queued=0,recved=11,sent=11,sid=0x10000fd2ae90001,"
         "lop=PING,est=1795244983198,to=4000,lcxid=0x4,lzxid=0x2d)\n"
         " /10.1.2.3:5[1](queued=0,sid=0xc800000000000001,lop=PING,to=4000,x)\n"
         " /[0:0:0:0:0:0:0:1]:5[1](queued=0,sid=0x2,lop=PING,to=10000,x=)\n\n");
    for (size_t i = 0; i < COUNT(clients); i++) {
        const struct client *c = servers_client(s, clients[i].session_id);

        assert_non_null(c);
        assert_string_equal(c->address, clients[i].address);
        assert_string_equal(c->server, "zk1:2181");
        assert_int_equal(c->timeout_ms, clients[i].timeout_ms);
        assert_int_equal(c->since_ms, clients[i].since_ms);
    }
    assert_int_equal(s->count, COUNT(clients));
    assert_null(servers_client(s, 3));
    assert_null(servers_client(NULL, 2));
}

TEST(two_names_of_one_server_are_told_by_a_session)
{
    static const char one[] = "/h:1[1](x,sid=0x1,to=1)\n"
                              "/h:2[1](x,sid=0x2,to=1)\n";
    static const char two[] = "/h:2[1](x,sid=0x2,to=1)\n";

    hear("zk1:2181", one);
    hear("zk1:2181", two);
    hear("zk2:2181", "/h:3[1](x,sid=0x3,to=1)\n");
    assert_false(servers_tell_twice(s));
    hear("zk2:2181", two);
    assert_true(servers_tell_twice(s));
}

/* The answers of a server that lies, or of another program that listens
 * there. */
TEST(nonsense_is_passed_over)
{
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
        "[/a[x,sid=x21,to=1\nb]/a,sid=0x22,to=1\n",
        "/a[x,sid=0x24\n/a[x,to=1\n",
        "This ZooKeeper instance is not currently serving requests\n",
        "\033]52;c;\a\xff\xfe",
    };

    for (size_t i = 0; i < COUNT(texts); i++)
        hear("zk1:2181", texts[i]);
    assert_int_equal(s->count, 0);
    hear("zk1:2181", "/a[x,sid=0x0,to=1\n");
    assert_null(servers_client(s, 0));
}

/* The answer is cut at each byte: ASan would see a read beyond the end. */
TEST(answers_may_be_cut_anywhere)
{
    static const char text[] =
        " /10.1.2.3:49160[1](queued=0,sid=0x10,lop=PING,to=4000,x)\n";

    for (size_t size = 0; size < sizeof(text); size++) {
        char *copy = malloc(size + 1);

        assert_non_null(copy);
        copy = realloc(copy, size > 0 ? size : 1);
        assert_non_null(copy);
        (void)memcpy(copy, text, size);
        servers_read(s, "x", copy, size);
        free(copy);
    }
    assert_non_null(servers_client(s, 0x10));
}
