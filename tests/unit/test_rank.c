/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the probe: why there is no connection; and whether a server leads,
 * where only a clear answer counts. */
#include <sys/socket.h>

#include <zkrecipes/session.h>

#include "net.h"
#include "unit.h"
#include "zk/probe.h"

/* A server that answers one connection, maybe without an end. */
static struct answer {
    const char *text;
    bool stays;
    size_t more; /* so many bytes before it */
} answer;
static int listener;

static void *serve(void *unused)
{
    int fd = accept(listener, NULL, NULL);
    char word[8] = "";

    assert_int_equal(recv(fd, word, sizeof(word), 0), 4);
    assert_string_equal(word, "srvr");
    for (size_t i = 0; i < answer.more; i++)
        (void)send(fd, "x", 1, MSG_NOSIGNAL);
    (void)send(fd, answer.text, strlen(answer.text), MSG_NOSIGNAL);
    if (answer.stays)
        (void)recv(fd, word, sizeof(word), 0); /* until the other end closes */
    (void)close(fd);
    return NULL;
}

/* Regression: a long name was cut, and its port with it. */
static const char *long_name(const char *name)
{
    return textf("0x%0230d7f%s", 0, name + strlen("127"));
}

static bool follows(struct answer a)
{
    char name[NET_ADDRESS];

    answer = a;
    listener = net_listen(name);
    pthread_t thread = thread_start(serve, NULL);
    bool said = zkr__probe_follows(long_name(name), a.stays ? 100 : 5000);
    (void)pthread_join(thread, NULL);
    (void)close(listener);
    return said;
}

TEST(only_a_server_that_says_so_follows)
{
    static const struct answer answers[] = {
        { .text = "Zxid: 0x1\nMode: follower\nNo\n" },
        { .text = "Zxid: 0x1\nMode: observer\nNo\n" },
        { .text = "Zxid: 0x1\nMode: leader\nNo\n" },
        { .text = "Zxid: 0x1\nMode: standalone\nNo\n" },
        { .text = "Zxid: 0x1\nMode: read-only\nNo\n" },
        { .text = "Zxid: 0x1\nMode: follower" },
        { "srvr is not executed because it is not in the whitelist.\n", 0, 0 },
        { "This ZooKeeper instance is not currently serving requests\n", 0, 0 },
        { .text = "" },
        { .text = "Zxid: 0x1\nMode: follower\n", .stays = true },
        { .text = "\nMode: follower\n", .more = 4096 },
    };

    for (size_t i = 0; i < COUNT(answers); i++) {
        if (follows(answers[i]) != (i < 2))
            fail_msg("'%s' is taken for another's", answers[i].text);
    }
    assert_false(zkr__probe_follows("127.0.0.1:1", 1000));
    assert_false(zkr__probe_follows("(unknown)", 1000));
}

/* How a connection has ended before the probe looks; 0: it has not. */
static int ended;
static enum zkr__verdict verdict;

WRAP(int, getsockopt,
     (int fd, int level, int name, void *value, socklen_t *len))
{
    assert_int_equal(name, SO_ERROR);
    assert_int_equal(*len, sizeof(ended));
    memcpy(value, &ended, sizeof(ended));
    return 0;
}

static const struct {
    const char *name;
    int ended, rc;
    enum zkr__verdict verdict;
} ends[] = {
    { "it stays", 0, ZKR_ENOTZK, ZKR__NO_VERDICT },
    /* as a server does that has too many clients: it is there */
    { "it is reset", ECONNRESET, ZKR_ENOTZK, ZKR__NO_VERDICT },
    { "it is broken", EPIPE, ZKR_ENOTZK, ZKR__NO_VERDICT },
    { "it is refused", ECONNREFUSED, ZKR_EREFUSED, ZKR__ALL_REFUSE },
    { "there is no way", EHOSTUNREACH, ZKR_EUNREACHABLE, ZKR__NO_VERDICT },
    { "it does not come", 0, ZKR_EUNREACHABLE, ZKR__NO_VERDICT },
};

TEST_ROWS(a_connection_that_ends_tells_of_its_server, ends, end)
{
    char name[NET_ADDRESS];
    bool full = end->ended == 0 && end->rc == ZKR_EUNREACHABLE; /* its queue */

    listener = net_listen(name);
    ok(listen(listener, 1));
    int one = full ? net_connect(name, 5000) : -1;
    int two = full ? net_connect(name, 5000) : -1;
    ended = end->ended;
    tells(zkr__probe(long_name(name), &(struct zkr_session_opts){ 0 },
                     full ? 100 : 5000, &verdict),
          end->rc, long_name(name));
    assert_int_equal(verdict, end->verdict);
    (void)close(one);
    (void)close(two);
    (void)close(listener);
}

/* It named the first one that accepts, which serves. */
TEST(a_server_that_says_nothing_is_named_beside_one_that_serves)
{
    char mute[NET_ADDRESS], name[NET_ADDRESS];
    int fd = net_listen(mute);

    ended = 0;
    answer = (struct answer){ .text = "Zxid: 0x1\nMode: leader\nNo\n" };
    listener = net_listen(name);
    pthread_t thread = thread_start(serve, NULL);
    tells(zkr__probe(textf("%s,%s", name, mute),
                     &(struct zkr_session_opts){ 0 }, 5000, &verdict),
          ZKR_ENOTZK, textf("server %s accepts", mute));
    (void)pthread_join(thread, NULL);
    (void)close(listener);
    (void)close(fd);
}
