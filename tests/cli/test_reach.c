/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reach: all servers refuse only when each address of each one
 * does. */

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/reach.h"
#include "texts.h"
#include "unit.h"

enum { TIME_MS = 2000 };

/* Opens a socket on a port of its own, which refuses connections unless it
 * listens. */
static int new_socket(int family, bool listens, int *ret_port)
{
    struct sockaddr_storage any = { .ss_family = (sa_family_t)family };
    socklen_t size = family == AF_INET ? sizeof(struct sockaddr_in)
                                       : sizeof(struct sockaddr_in6);
    int fd = socket(family, SOCK_STREAM, 0);

    if (family == AF_INET)
        ((struct sockaddr_in *)&any)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        ((struct sockaddr_in6 *)&any)->sin6_addr = in6addr_loopback;
    if (fd < 0 || bind(fd, (struct sockaddr *)&any, size) != 0 ||
        (listens && listen(fd, 1) != 0) ||
        getsockname(fd, (struct sockaddr *)&any, &size) != 0)
        return -1;
    *ret_port =
        ntohs(family == AF_INET ? ((struct sockaddr_in *)&any)->sin_port
                                : ((struct sockaddr_in6 *)&any)->sin6_port);
    return fd;
}

static int refusing;
static int refusing_port;
static int listening;
static int listening_port;

static int setup(void)
{
    refusing = new_socket(AF_INET, false, &refusing_port);
    listening = new_socket(AF_INET, true, &listening_port);
    return refusing < 0 || listening < 0;
}

static int teardown(void)
{
    return close(refusing) != 0 || close(listening) != 0;
}

/* `format` has numbers for ports that refuse. */
#define REFUSE(format, ...)                                                    \
    (PRINT(text, format, __VA_ARGS__), reach_all_refuse(text, TIME_MS))

TEST(a_port_without_a_listener_refuses)
{
    char text[256];

    assert_true(REFUSE("127.0.0.1:%d", refusing_port));
    assert_true(REFUSE("127.0.0.1:%d/app", refusing_port));
    assert_true(REFUSE("zk://127.0.0.1:%d/app", refusing_port));
    assert_true(
        REFUSE("127.0.0.1:%d,127.0.0.1:%d", refusing_port, refusing_port));
}

/* Regression: the library said "timed out" of names that refuse, and -n took 15
 * s. */
TEST(a_name_refuses_too)
{
    char text[256];

    assert_true(REFUSE("localhost:%d", refusing_port));
    assert_false(REFUSE("localhost:%d", listening_port));
}

TEST(one_that_listens_is_enough)
{
    char text[256];

    assert_false(REFUSE("127.0.0.1:%d", listening_port));
    assert_false(
        REFUSE("127.0.0.1:%d,127.0.0.1:%d", listening_port, refusing_port));
    assert_false(
        REFUSE("127.0.0.1:%d,127.0.0.1:%d/x", refusing_port, listening_port));
}

TEST(a_text_without_an_address_refuses_nothing)
{
    static const char *const texts[] = { "", "/", ",", "host", ":", "a b:1" };

    for (size_t i = 0; i < COUNT(texts); i++)
        assert_false(reach_all_refuse(texts[i], TIME_MS));
}

TEST(an_address_of_ipv6_has_brackets_or_none)
{
    char text[256];
    int port;
    int fd = new_socket(AF_INET6, true, &port);

    if (fd < 0)
        skip();
    assert_false(REFUSE("[::1]:%d", port));
    assert_false(REFUSE("::1:%d", port));
    (void)close(fd);
    assert_true(REFUSE("[::1]:%d", port));
    assert_true(REFUSE("::1:%d", port));
}

int main(void)
{

    return test_run_between(setup, teardown);
}
