/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes lists of servers: an accepted list is complete, and a refused one is
 * explained. */
#include <arpa/inet.h>
#include <netinet/in.h>

#include <zkrecipes/session.h>

#include "base/error.h"
#include "base/path.h"
#include "fuzz.h"
#include "zk/hosts.h"

/* Only brackets around an IPv6 address are left. */
static bool are_good_brackets(const char *server, const char *colon)
{
    char address[INET6_ADDRSTRLEN] = "";
    struct in6_addr binary;
    size_t len = strcspn(server + 1, "%]");

    if (strpbrk(server, "[]") == NULL)
        return true;
    if (server[0] != '[' || colon[-1] != ']' || len >= sizeof(address) ||
        strcspn(server + 1, "[]") + 2 != (size_t)(colon - server))
        return false;
    memcpy(address, server + 1, len);
    return inet_pton(AF_INET6, address, &binary) == 1;
}

static bool is_good_server(const char *server)
{
    const char *colon = strrchr(server, ':');

    return colon != NULL && colon != server && colon[1] != '\0' &&
           are_good_brackets(server, colon) &&
           strpbrk(server, " \t\n\v\f\r@") == NULL &&
           colon[1 + strspn(colon + 1, "0123456789")] == '\0' &&
           strtoul(colon + 1, NULL, 10) >= 1 &&
           strtoul(colon + 1, NULL, 10) <= 65535;
}

/* The list, with the default port where a server has none; are they good? */
static char *with_ports(const char *text, size_t len, bool *ret_good)
{
    char *whole = calloc(1, len * sizeof(":2181") + 1);
    char *copy = strndup(text, len);
    char *rest = copy;

    CHECK(whole != NULL && copy != NULL);
    *ret_good = true;
    for (char *server; (server = strsep(&rest, ",")) != NULL;) {
        char *begin = whole + strlen(whole);
        size_t n = strlen(server);

        (void)strcat(begin, server);
        if (n > 0 && (strchr(server, ':') == NULL || server[n - 1] == ']'))
            (void)strcat(begin, ":2181");
        *ret_good = *ret_good && is_good_server(begin);
        (void)strcat(begin, rest != NULL ? "," : "");
    }
    free(copy);
    return whole;
}

static void check(const char *text, const char *apart)
{
    const char *whole = text;
    size_t len = strcspn(text += strncmp(text, "zk://", 5) == 0 ? 5 : 0, "/");
    const char *behind = text[len] == '\0' ? NULL : text + len;
    const char *chroot = behind != NULL ? behind : apart != NULL ? apart : "/";
    bool are_good;
    char *servers = with_ports(text, len, &are_good);
    bool good = are_good && (behind == NULL || apart == NULL) &&
                zkr__path_fault(chroot) == NULL &&
                strlen(chroot) <= ZKR_PATH_MAX / 2;
    struct zkr__hosts hosts;

    zkr__error_set_detail("");
    CHECK((zkr__hosts_parse(&hosts, whole, apart) == ZKR_OK) == good);
    if (good) {
        CHECK(strcmp(hosts.servers, servers) == 0);
        CHECK(strpbrk(hosts.plain, "[]") == NULL);
        CHECK(strlen(hosts.plain) <= strlen(servers));
        CHECK(strcmp(hosts.chroot, chroot[1] == '\0' ? "" : chroot) == 0);
    } else {
        CHECK(hosts.servers == NULL && hosts.chroot == NULL);
        CHECK(zkr_error_detail()[0] != '\0');
    }
    zkr__hosts_done(&hosts);
    free(servers);
}

/* Programs get what the session would take. */
static void check_list(const char *text)
{
    struct zkr_hosts *list;
    struct zkr__hosts hosts;
    int rc = zkr__hosts_parse(&hosts, text, NULL);

    CHECK(zkr_hosts_parse(text, &list) == rc);
    CHECK((list != NULL) == (rc == ZKR_OK));
    if (list != NULL) {
        const struct zkr_server *last = &list->servers[list->count - 1];

        CHECK(strcmp(list->chroot, hosts.chroot) == 0);
        CHECK(strstr(hosts.servers, list->servers[0].name) == hosts.servers);
        CHECK(strstr(hosts.plain, list->servers[0].host) == hosts.plain);
        CHECK(atoi(last->port) == atoi(strrchr(hosts.plain, ':') + 1));
    }
    zkr_hosts_free(list);
    zkr__hosts_done(&hosts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    size_t first = strlen(text);

    check(text, NULL);
    check_list(text);
    if (first < size) {
        char *chroot = fuzz_text(data + first + 1, size - first - 1);

        check(text, chroot);
        free(chroot);
    }
    free(text);
    return 0;
}
