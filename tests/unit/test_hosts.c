/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of host lists: which are accepted, and how each mistake is reported;
 * and of the rotation: each server, and each address of a name, is in front
 * once, and all names stay in the list. */
#include "scope.h"
#include "unit.h"

#include <arpa/inet.h>
#include <netdb.h>

#include "zk/hosts.h"
#include "zk/rotation.h"

/* The client, which splits at the last colon and looks the rest up as it is,
 * gets no brackets. */
TEST(good_lists_are_split)
{
    static const struct {
        const char *text, *chroot_arg, *servers, *chroot;
        const char *plain; /* NULL: the same as the servers */
    } rows[] = {
        { "a:1", NULL, "a:1", "", NULL },
        /* Regression: Java and kazoo take this port, too. */
        { "a", NULL, "a:2181", "", NULL },
        { "a,b:1,c/app", NULL, "a:2181,b:1,c:2181", "/app", NULL },
        { "zk://[::1],a", "/app", "[::1]:2181,a:2181", "/app",
          "::1:2181,a:2181" },
        { "a:65535", NULL, "a:65535", "", NULL },
        /* Regression: the client takes that for octal. */
        { "a:02181,[::0]:01", NULL, "a:02181,[::0]:01", "", "a:2181,::0:1" },
        { "a:2181,b:2182,c:2183", NULL, "a:2181,b:2182,c:2183", "", NULL },
        { "10.0.0.1:2181", NULL, "10.0.0.1:2181", "", NULL },
        { "::1:2181", NULL, "::1:2181", "", NULL },
        { "[::1]:2181/app", NULL, "[::1]:2181", "/app", "::1:2181" },
        { "[::ffff:10.0.0.1]:1", NULL, "[::ffff:10.0.0.1]:1", "",
          "::ffff:10.0.0.1:1" },
        { "[fe80::1%eth0]:1", NULL, "[fe80::1%eth0]:1", "", "fe80::1%eth0:1" },
        { "[2001:db8::1]:2181,b:1,[::1]", NULL,
          "[2001:db8::1]:2181,b:1,[::1]:2181", "",
          "2001:db8::1:2181,b:1,::1:2181" },
        { "a:1,b:2/app/eu", NULL, "a:1,b:2", "/app/eu", NULL },
        { "a:1/", NULL, "a:1", "", NULL },
        { "a:1,b:2", "/app/eu", "a:1,b:2", "/app/eu", NULL },
        { "a:1", "/", "a:1", "", NULL },
        { "zk://a:1", "/app", "a:1", "/app", NULL },
        { "zk://a:1,[::1]:2/app/eu", NULL, "a:1,[::1]:2", "/app/eu",
          "a:1,::1:2" },
        { "zk://a:1/app@b", NULL, "a:1", "/app@b", NULL },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct zkr__hosts hosts;

        gave(ZKR_OK, zkr__hosts_parse(&hosts, rows[i].text, rows[i].chroot_arg),
             rows[i].text);
        assert_string_equal(hosts.servers, rows[i].servers);
        assert_string_equal(hosts.chroot, rows[i].chroot);
        assert_string_equal(hosts.plain, rows[i].plain != NULL
                                             ? rows[i].plain
                                             : rows[i].servers);
        zkr__hosts_done(&hosts);
        assert_null(hosts.servers);
        assert_null(hosts.chroot);
        zkr__hosts_done(&hosts); /* nothing is freed twice */
    }
}

static void refuses(const char *text, const char *chroot, int code,
                    const char *detail)
{
    struct zkr__hosts hosts;

    memset(&hosts, 0x5a, sizeof(hosts));
    int rc = zkr__hosts_parse(&hosts, text, chroot);
    if (rc != code || strncmp(zkr_error_detail(), detail, strlen(detail)) != 0)
        fail_msg("%d, '%s', not %d, '%s'", rc, zkr_error_detail(), code,
                 detail);
    assert_null(hosts.servers);
    assert_null(hosts.plain);
    assert_null(hosts.chroot);
}

TEST(bad_servers_are_told_by_name)
{
    static const struct {
        const char *text;
        const char *server;
        const char *detail; /* its beginning */
    } rows[] = {
        { ":1", ":1", "has no host" },
        { "a:", "a:", "has a port that is not in 1 to 65535" },
        { "a:0", "a:0", "has a port that is not in 1 to 65535" },
        { "a:65536", "a:65536", "has a port that is not in 1 to" },
        { "a:18446744073709553797", "a:18446744073709553797",
          "has a port that is not in 1 to 65535" }, /* 2^64 and 2181 */
        { "a:x", "a:x", "has a port that is not a number" },
        { "a:-1", "a:-1", "has a port that is not a number" },
        { "a:1 ", "a:1 ", "contains a space" },
        { "a:1, b:2", " b:2", "contains a space" },
        { "a:1,", "", "is empty" },
        { ",a:1", "", "is empty" },
        { "a:1,,b:2", "", "is empty" },
        { "[::1:2181", "[::1:2181", "has brackets, but no IPv6" },
        { "::1]:2181", "::1]:2181", "has brackets, but no IPv6" },
        { "[a]:1", "[a]:1", "has brackets, but no IPv6" },
        { "[10.0.0.1]:1", "[10.0.0.1]:1", "has brackets, but" },
        { "[]:1", "[]:1", "has brackets, but no IPv6" },
        { "[[::1]]:1", "[[::1]]:1", "has brackets, but no IPv6" },
        { "[1234:1234:1234:1234:1234:1234:1234:1234:1234:1234:1]:1",
          "[1234:1234:1234:1234:1234:1234:1234:1234:1234:1234:1]:1",
          "has brackets, but no IPv6" },
        { "[%x]:1", "[%x]:1", "has brackets, but no IPv6" },
        { "[fe80::1%e]:a]:2", "[fe80::1%e]:a]:2", "has brackets" },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        refuses(rows[i].text, NULL, ZKR_EINVAL,
                textf("hosts '%s': server '%s' %s", rows[i].text,
                      rows[i].server, rows[i].detail));
}

TEST(bad_lists_are_told_by_name)
{
    static const struct {
        const char *text;
        const char *chroot;
        int code;
        const char *detail; /* its beginning */
    } rows[] = {
        { NULL, NULL, ZKR_EINVAL, "hosts: is NULL" },
        { "", NULL, ZKR_EINVAL, "hosts: is empty" },
        { "/app", NULL, ZKR_EINVAL, "hosts '': server '' is empty" },
        { "zk://", NULL, ZKR_EINVAL, "hosts '': server '' is empty" },
        { "http://a:1", NULL, ZKR_EINVAL,
          "hosts 'http://a:1': 'http://' does not belong there: they are "
          "[zk://]host[:port]" },
        { "a,b://c:1", NULL, ZKR_EPATH, "chroot '//c:1' contains '//'" },
        { "zk://zk://a:1", NULL, ZKR_EINVAL,
          "hosts 'zk://a:1': 'zk://' does not belong there" },
        { "zk://anna:secret@a:1", NULL, ZKR_EINVAL,
          "hosts: no host has an '@', and what is wrong is not shown because "
          "of it; credentials are auth and auth_scheme of the session" },
        { "a:1,anna:secret@b:1", NULL, ZKR_EINVAL, "hosts: no host has an" },
        { "https://anna:secret@a:1", NULL, ZKR_EINVAL, "hosts: no host has" },
        { "anna:secret@a:1/app", "/b", ZKR_EINVAL, "hosts: no host has an" },
        /* Regression: with a slash in the password its parts were told. */
        { "anna:sec/ret@a:1", NULL, ZKR_EINVAL, "hosts: no host has an" },
        { "a:1,anna:sec/ret@b:1", NULL, ZKR_EINVAL, "hosts: no host has an" },
        { "http://anna:sec/ret@a:1", NULL, ZKR_EINVAL, "hosts: no host has" },
        { "anna:sec/ret@a:1", "/b", ZKR_EINVAL, "hosts: no host has an" },
        { "anna:1/sec//ret@a:1", NULL, ZKR_EPATH, "hosts: no host has an" },
        { "zk://a:1/app", "/b", ZKR_EINVAL,
          "hosts 'a:1/app': a chroot is given here and as '/b'" },
        { "a:1/", "/b", ZKR_EINVAL,
          "hosts 'a:1/': a chroot is given here and as '/b'" },
        { "a:1/app/", NULL, ZKR_EPATH, "chroot '/app/' ends with '/'" },
        { "a:1//app", NULL, ZKR_EPATH, "chroot '//app' contains '//'" },
        { "a:1/app/../b", NULL, ZKR_EPATH,
          "chroot '/app/../b' contains a '.'" },
        { "a:1/\x01", NULL, ZKR_EPATH, "chroot '/\x01' contains a control" },
        { "a:1", "", ZKR_EPATH, "chroot '' is empty" },
        { "a:1", "app", ZKR_EPATH, "chroot 'app' does not begin with '/'" },
        { "a:1", "/app/", ZKR_EPATH, "chroot '/app/' ends with '/'" },
        { "a:1", "/\xff", ZKR_EPATH, "chroot '/\xff' is not valid UTF-8" },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        refuses(rows[i].text, rows[i].chroot, rows[i].code, rows[i].detail);
}

TEST(programs_get_each_server_apart)
{
    static const char *const servers[][3] = { { "a:1", "a", "1" },
                                              { "[::1]:2181", "::1", "2181" },
                                              { "::2:3", "::2", "3" } };
    struct zkr_hosts *hosts = NULL;

    ok(zkr_hosts_parse("zk://a:1,[::1]:2181,::2:3/app", &hosts));
    assert_int_equal(hosts->count, 3);
    assert_string_equal(hosts->chroot, "/app");
    for (size_t i = 0; i < COUNT(servers); i++) {
        assert_string_equal(hosts->servers[i].name, servers[i][0]);
        assert_string_equal(hosts->servers[i].host, servers[i][1]);
        assert_string_equal(hosts->servers[i].port, servers[i][2]);
    }
    zkr_hosts_free(hosts);
    zkr_hosts_free(NULL);
    gives(ZKR_EINVAL, zkr_hosts_parse("a:1,b:x", &hosts));
    assert_null(hosts);
    assert_string_equal(zkr_error_detail(),
                        "hosts 'a:1,b:x': server 'b:x' has a port that is not "
                        "a number");
    gives(ZKR_EINVAL, zkr_hosts_parse("a:1", NULL));
}

/* The chroot leaves half of a path to the lock. */
TEST(chroot_has_a_limit)
{
    const char *chroot = textf("/%0*d", ZKR_PATH_MAX / 2, 0);
    struct zkr__hosts hosts;

    tells(zkr__hosts_parse(&hosts, "a:1", chroot), ZKR_ETOOLONG, "chroot");
    assert_has(zkr_error_detail(), "512");
    chroot = textf("/%0*d", ZKR_PATH_MAX / 2 - 1, 0);
    ok(zkr__hosts_parse(&hosts, "a:1", chroot));
    assert_string_equal(hosts.chroot, chroot);
    zkr__hosts_done(&hosts);
}

TEST(very_long_list_is_read_and_told)
{
    enum { SERVERS = 1000 };
    static char text[SERVERS * 7 + 1];
    struct zkr__hosts hosts;

    for (size_t i = 0; i < SERVERS; i++)
        memcpy(text + i * 7, "a:2181,", 7);
    text[SERVERS * 7 - 1] = '\0'; /* instead of the last comma */
    ok(zkr__hosts_parse(&hosts, text, NULL));
    assert_string_equal(hosts.servers, text);
    zkr__hosts_done(&hosts);
    text[SERVERS * 7 - 2] = 'x';
    gives(ZKR_EINVAL, zkr__hosts_parse(&hosts, text, NULL));
    assert_ptr_equal(strstr(zkr_error_detail(), "hosts 'a:2181,"),
                     zkr_error_detail());
}

enum { ADDRESSES = 3 };

static struct sockaddr_in6 socket_addresses[ADDRESSES];
static struct addrinfo addresses[ADDRESSES];

/* The linker sends the library's calls here: --wrap. The name "one" has an
 * address, "none" has none, and "three" has three. */
WRAP(int, getaddrinfo,
     (const char *node, const char *service, const struct addrinfo *hints,
      struct addrinfo **ret_info))
{
    int count = strcmp(node, "one") == 0 ? 1 : ADDRESSES;

    if (strcmp(node, "none") == 0)
        return EAI_AGAIN;
    for (int i = 0; i < count; i++) {
        struct sockaddr_in6 *a = &socket_addresses[i];

        memset(a, 0, sizeof(*a));
        a->sin6_family = AF_INET6;
        a->sin6_addr.s6_addr[15] = (uint8_t)(i + 1);
        a->sin6_port = htons((uint16_t)atoi(service));
        addresses[i] = (struct addrinfo){
            .ai_family = AF_INET6,
            .ai_addr = (struct sockaddr *)(void *)a,
            .ai_addrlen = sizeof(*a),
            .ai_next = i + 1 < count ? &addresses[i + 1] : NULL,
        };
    }
    *ret_info = addresses;
    return 0;
}

WRAP(void, freeaddrinfo, (struct addrinfo * info))
{
    assert_ptr_equal(info, addresses);
}

/* clang-format off */
static const struct fronts {
    const char *name;
    unsigned names;
    const char *lists[5]; /* the first is that of the user */
} fronts[] = {
    { "each name", 3, { "one:1,none:2,one:3", "none:2,one:3,one:1", "one:3,one:1,none:2" } },
    { "each address of a name", 2,
      { "one:1,three:2", "::1:2,three:2,one:1", "::2:2,three:2,one:1",
        "::3:2,three:2,one:1" } },
    { "one name with one address", 1, { "one:1" } },
    /* Regression: as people are told it, and no server at one followed. */
    { "an address in brackets", 1, { "[one]:1" } },
};
/* clang-format on */

TEST_ROWS(each_is_in_front_once, fronts, f)
{
    size_t count = count_texts(f->lists);

    assert_int_equal(zkr__servers_count(f->lists[0]), f->names);
    for (unsigned number = 0; number < 2 * count; number++) {
        size_t some = 0;
        AUTO(text) list = zkr__servers_rotated(f->lists[0], number, &some);

        assert_int_equal(some, count);
        assert_string_equal(list, f->lists[number % count]);
    }
}

/* Nobody has so many; but the list is the user's, and the fronts an array. */
TEST(the_first_64_are_in_front)
{
    char servers[70 * sizeof("one:70")] = "";
    size_t count = 0;

    for (int i = 1; i <= 70; i++)
        (void)sprintf(strchr(servers, '\0'), "%sone:%d", i == 1 ? "" : ",", i);
    AUTO(text) list = zkr__servers_rotated(servers, 64, &count);
    assert_int_equal(count, 64);
    assert_string_equal(list, servers);
}
