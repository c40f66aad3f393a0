/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and splits the list of servers. Pure. */
#include "zk/hosts.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <zkrecipes/session.h>

#include "base/error.h"
#include "base/list.h"
#include "base/opts.h"
#include "base/path.h"

/* Tells whether it is an address such as "[::1]" or "[fe80::1%eth0]". */
static bool is_bracketed_address(const char *host, size_t len)
{
    char address[INET6_ADDRSTRLEN];
    unsigned char binary[sizeof(struct in6_addr)];

    if (len < 2 || host[0] != '[' || host[len - 1] != ']' ||
        memchr(host + 1, '[', len - 2) != NULL ||
        memchr(host + 1, ']', len - 2) != NULL)
        return false;
    const char *zone = memchr(host, '%', len);
    len = (zone != NULL ? (size_t)(zone - host) : len - 1) - 1;
    if (len >= sizeof(address))
        return false;
    memcpy(address, host + 1, len);
    address[len] = '\0';
    return inet_pton(AF_INET6, address, binary) == 1;
}

/* Returns why "host:port" is wrong, or NULL. The client would take port 99999
 * for 34463. */
static const char *server_fault(const char *server, size_t len)
{
    bool brackets =
        memchr(server, '[', len) != NULL || memchr(server, ']', len) != NULL;
    size_t colon = len;
    long port = 0;

    while (colon > 0 && server[colon - 1] != ':')
        colon--;
    if (colon <= 1)
        return "has no host";
    if (brackets && !is_bracketed_address(server, colon - 1))
        return "has brackets, but no IPv6 address in them";
    for (size_t i = 0; i < len; i++) {
        if (isspace((unsigned char)server[i]))
            return "contains a space";
    }
    for (size_t i = colon; i < len && port <= 65535; i++) {
        if (server[i] < '0' || server[i] > '9')
            return "has a port that is not a number";
        port = port * 10 + (server[i] - '0');
    }
    if (colon == len || port < 1 || port > 65535)
        return "has a port that is not in 1 to 65535";
    return NULL;
}

static int check_servers(const char *servers)
{
    const char *p = servers;

    for (;;) {
        size_t len = strcspn(p, ",");
        const char *fault = len == 0 ? "is empty" : server_fault(p, len);

        if (fault != NULL)
            return zkr__fail(ZKR_EINVAL, "hosts '%s': server '%.*s' %s",
                             servers, (int)len, p, fault);
        p += len;
        if (*p == '\0')
            return ZKR_OK;
        p++;
    }
}

static const char *without_scheme(const char *text)
{
    const char scheme[] = "zk://";
    size_t len = sizeof(scheme) - 1;

    return strncmp(text, scheme, len) == 0 ? text + len : text;
}

/* A user who writes "user:password@host" expects a feature that does not exist.
 * The sentence does not have the password, nor a part of it. */
static int fail_at(int code)
{
    return zkr__fail(
        code, "hosts: no host has an '@', and what is wrong is not shown "
              "because of it; credentials are auth and auth_scheme of "
              "the session options");
}

/* "http://host" belongs to another feature that does not exist. */
static int refuse_url(const char *text)
{
    const char *mark = strstr(text, "://");
    const char *first = mark == NULL ? text : mark + 3;

    if (memchr(text, '@', strcspn(text, "/")) != NULL ||
        memchr(first, '@', strcspn(first, "/")) != NULL)
        return fail_at(ZKR_EINVAL);
    if (mark == NULL || strcspn(text, "/,") <= (size_t)(mark - text))
        return ZKR_OK;
    return zkr__fail(ZKR_EINVAL,
                     "hosts '%s': '%.*s' does not belong there: they are "
                     "[zk://]host[:port][,host[:port]...][/chroot]",
                     text, (int)(mark - text + 3), text);
}

#define DEFAULT_PORT ":2181"

static bool has_port(const char *server, size_t len)
{
    return len == 0 ||
           (server[len - 1] != ']' && memchr(server, ':', len) != NULL);
}

static char *with_ports(const char *text, size_t len)
{
    char *servers = malloc(len * sizeof(DEFAULT_PORT) + 1);
    char *to = servers;
    size_t i = 0;

    if (servers == NULL)
        return NULL;
    for (;;) {
        size_t n = 0;

        while (i + n < len && text[i + n] != ',')
            n++;
        to = mempcpy(to, text + i, n);
        to = stpcpy(to, has_port(text + i, n) ? "" : DEFAULT_PORT);
        i += n;
        if (i == len)
            return servers;
        *to++ = text[i++];
    }
}

/* As the client wants them, which takes a port with zeros in front for an octal
 * number: without these, and without brackets. */
static char *make_plain(const char *servers)
{
    char *plain = strdup(servers);
    char *to = plain;

    for (const char *p = plain; p != NULL && *p != '\0'; p++) {
        bool in_front = *p == '0' && to > plain && to[-1] == ':' &&
                        p[strcspn(p, ":,")] != ':';

        if (*p != '[' && *p != ']' && !in_front)
            *to++ = *p;
    }
    if (to != NULL)
        *to = '\0';
    return plain;
}

static int check_chroot(const char *chroot)
{
    const char *fault = zkr__path_fault(chroot);

    if (fault != NULL)
        return zkr__fail(ZKR_EPATH, "chroot '%s' %s", chroot, fault);
    if (strlen(chroot) > ZKR_PATH_MAX / 2)
        return zkr__fail(ZKR_ETOOLONG, "chroot is longer than %d bytes",
                         ZKR_PATH_MAX / 2);
    return ZKR_OK;
}

static int split(struct zkr__hosts *hosts, const char *text, const char *chroot)
{
    const char *slash = strchr(text, '/');
    size_t len = slash == NULL ? strlen(text) : (size_t)(slash - text);

    if (chroot == NULL)
        chroot = slash == NULL ? "/" : slash;
    bool none = strcmp(chroot, "/") == 0;
    hosts->servers = with_ports(text, len);
    hosts->chroot = strdup(none ? "" : chroot);
    if (hosts->servers != NULL)
        hosts->plain = make_plain(hosts->servers);
    if (hosts->plain == NULL || hosts->chroot == NULL)
        return zkr__no_memory("hosts", text);
    return none ? ZKR_OK : check_chroot(chroot);
}

static int parse(struct zkr__hosts *hosts, const char *text, const char *chroot)
{
    int rc = refuse_url(text);

    if (rc != ZKR_OK)
        return rc;
    if (chroot != NULL && strchr(text, '/') != NULL)
        return zkr__fail(ZKR_EINVAL,
                         "hosts '%s': a chroot is given here and as '%s'", text,
                         chroot);
    rc = split(hosts, text, chroot);
    if (rc == ZKR_OK)
        rc = check_servers(hosts->servers);
    return rc;
}

/* The '@' of "user:pass/word@host:port" stands behind the first slash, as that
 * of a chroot may: it is no fault by itself, but no sentence about a fault has
 * the text then. */
int zkr__hosts_parse(struct zkr__hosts *hosts, const char *text,
                     const char *chroot)
{
    *hosts = (struct zkr__hosts){ 0 };
    if (text == NULL || text[0] == '\0')
        return zkr__fail(ZKR_EINVAL, "hosts: %s",
                         text == NULL ? "is NULL" : "is empty");
    text = without_scheme(text);
    int rc = parse(hosts, text, chroot);
    if (rc == ZKR_OK)
        return ZKR_OK;
    zkr__hosts_done(hosts);
    return strchr(text, '@') != NULL ? fail_at(rc) : rc;
}

void zkr__hosts_done(struct zkr__hosts *hosts)
{
    free(hosts->servers);
    free(hosts->plain);
    free(hosts->chroot);
    *hosts = (struct zkr__hosts){ 0 };
}

size_t zkr__servers_count(const char *servers)
{
    size_t count = 1;

    for (; *servers != '\0'; servers++)
        count += *servers == ',';
    return count;
}

/* -- for programs ---------------------------------------------------------- */

struct hosts_list {
    struct zkr_hosts public;
    struct zkr__hosts parts; /* the strings, cut in place */
    struct zkr_server servers[];
};

/* Both lists have the same servers, as people and as the client want them. */
static void cut(struct hosts_list *list)
{
    char *names = list->parts.servers;
    char *plain = list->parts.plain;

    for (size_t i = 0; i < list->public.count; i++) {
        struct zkr_server *server = &list->servers[i];

        server->name = strsep(&names, ",");
        server->host = strsep(&plain, ",");
        char *colon = strrchr(server->host, ':');
        *colon = '\0';
        server->port = colon + 1;
    }
}

int zkr_hosts_parse(const char *text, struct zkr_hosts **ret_hosts)
{
    struct zkr__hosts parts;
    int rc = ZKR__OUTPUT(ret_hosts);

    if (rc == ZKR_OK)
        rc = zkr__hosts_parse(&parts, text, NULL);
    if (rc != ZKR_OK)
        return rc;
    size_t count = zkr__servers_count(parts.servers);
    struct hosts_list *list =
        calloc(1, sizeof(*list) + count * sizeof(list->servers[0]));
    if (list == NULL) {
        zkr__hosts_done(&parts);
        return zkr__no_memory("hosts", text);
    }
    list->parts = parts;
    list->public = (struct zkr_hosts){ list->servers, count, parts.chroot };
    cut(list);
    *ret_hosts = &list->public;
    return ZKR_OK;
}

void zkr_hosts_free(struct zkr_hosts *hosts)
{
    if (hosts == NULL)
        return;
    struct hosts_list *list = ZKR__CONTAINER(hosts, struct hosts_list, public);
    zkr__hosts_done(&list->parts);
    free(list);
}
