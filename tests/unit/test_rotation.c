/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the rotation: each server, and each address of a name, is in front
 * once, and all names stay in the list. */
#include "scope.h"
#include "unit.h"

#include <arpa/inet.h>
#include <netdb.h>

#include "zk/hosts.h"
#include "zk/rotation.h"

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

static void assert_lists(const char *servers, const char *const lists[],
                         size_t count)
{
    for (unsigned number = 0; number < 2 * count; number++) {
        size_t some = 0;
        AUTO(text) list = zkr__servers_rotated(servers, number, &some);

        assert_int_equal(some, count);
        assert_string_equal(list, lists[number % count]);
    }
}

TEST(each_name_is_in_front_once)
{
    static const char *const lists[] = { "one:1,none:2,one:3",
                                         "none:2,one:3,one:1",
                                         "one:3,one:1,none:2" };

    assert_lists(lists[0], lists, COUNT(lists));
    assert_int_equal(zkr__servers_count(lists[0]), 3);
}

TEST(each_address_of_a_name_is_in_front_once)
{
    static const char *const lists[] = { "one:1,three:2", "::1:2,three:2,one:1",
                                         "::2:2,three:2,one:1",
                                         "::3:2,three:2,one:1" };

    assert_lists(lists[0], lists, COUNT(lists));
}

TEST(one_name_with_one_address_is_one_list)
{
    static const char *const lists[] = { "one:1" };

    assert_lists(lists[0], lists, COUNT(lists));
    assert_int_equal(zkr__servers_count(lists[0]), 1);
}

/* Nobody has so many; but a list is a text of the user, and the fronts are an
 * array. */
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
