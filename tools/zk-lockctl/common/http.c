/* SPDX-License-Identifier: Apache-2.0 */
/* Serves one page by HTTP, with libmicrohttpd. */
#include "common/http.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <microhttpd.h>
#include <sys/socket.h>

#include "common/lockctl.h"

enum { CLIENTS_MAX = 32, IDLE_S = 10, HOST_MAX = 256 };

struct http {
    struct MHD_Daemon *server;
    http_page_fn *page;
    void *user;
};

/* --- the address --- */

/* "HOST:PORT", "[::1]:PORT" or "PORT". */
static int look_up(const char *at, struct addrinfo **ret_all)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
                                    .ai_flags = AI_PASSIVE };
    const char *colon = strrchr(at, ':');
    char host[HOST_MAX];
    size_t len = colon == NULL ? 0 : (size_t)(colon - at);

    if (len >= sizeof(host))
        return EAI_NONAME;
    memcpy(host, at, len);
    host[len] = '\0';
    if (len > 1 && host[0] == '[' && host[len - 1] == ']') {
        host[len - 1] = '\0';
        memmove(host, host + 1, len - 1);
    }
    return getaddrinfo(host[0] == '\0' ? NULL : host,
                       colon == NULL ? at : colon + 1, &hints, ret_all);
}

static void write_address(const struct http *http, char at[HTTP_AT_MAX])
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(http->server, MHD_DAEMON_INFO_LISTEN_FD);
    struct sockaddr_storage address;
    socklen_t size = sizeof(address);
    char host[HTTP_AT_MAX - 20] = "?";
    char port[10] = "?";

    if (info != NULL &&
        getsockname(info->listen_fd, (struct sockaddr *)&address, &size) == 0)
        (void)getnameinfo((struct sockaddr *)&address, size, host, sizeof(host),
                          port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
    (void)snprintf(at, HTTP_AT_MAX,
                   strchr(host, ':') == NULL ? "%s:%s" : "[%s]:%s", host, port);
}

/* --- the page --- */

static struct MHD_Response *new_page(const struct http *http)
{
    struct MHD_Response *response;
    char *text = NULL;
    size_t size = 0;
    FILE *page = open_memstream(&text, &size);

    if (page == NULL)
        return NULL;
    http->page(page, http->user);
    if (fclose(page) != 0)
        return NULL;
    response =
        MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
    if (response != NULL)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                                      "text/plain; version=0.0.4");
    return response;
}

static struct MHD_Response *new_refusal(void)
{
    static char text[] = "GET /metrics\n";

    return MHD_create_response_from_buffer(strlen(text), text,
                                           MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result answer(void *user, struct MHD_Connection *connection,
                              const char *path, const char *method,
                              const char *version, const char *data,
                              size_t *data_size, void **of_connection)
{
    bool found = strcmp(path, "/metrics") == 0 || strcmp(path, "/") == 0;
    bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    struct MHD_Response *response =
        found && reads ? new_page(user) : new_refusal();
    enum MHD_Result queued;

    (void)version;
    (void)data;
    (void)data_size;
    (void)of_connection;
    if (response == NULL)
        return MHD_NO;
    queued = MHD_queue_response(connection,
                                !reads   ? MHD_HTTP_METHOD_NOT_ALLOWED
                                : !found ? MHD_HTTP_NOT_FOUND
                                         : MHD_HTTP_OK,
                                response);
    MHD_destroy_response(response);
    return queued;
}

/* --- the server --- */

static struct MHD_Daemon *start_server(struct http *http,
                                       const struct addrinfo *a)
{
    errno = 0;
    return MHD_start_daemon(
        a->ai_family == AF_INET6 ? MHD_USE_IPv6 : MHD_NO_FLAG, 0, NULL, NULL,
        answer, http, MHD_OPTION_SOCK_ADDR, a->ai_addr,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CLIENTS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_END);
}

/* At the first address of these that it may have. */
static int listen_at(struct http *http, const char *at)
{
    struct addrinfo *all = NULL;
    int error = look_up(at, &all);

    if (error != 0)
        return lockctl_fail(EX_USAGE, "--listen '%s': %s", at,
                            gai_strerror(error));
    for (const struct addrinfo *a = all; a != NULL && http->server == NULL;
         a = a->ai_next)
        http->server = start_server(http, a);
    error = errno;
    freeaddrinfo(all);
    return http->server != NULL
               ? 0
               : lockctl_fail(EX_CANTCREAT, "--listen '%s': %s", at,
                              error == 0 ? "no HTTP server" : strerror(error));
}

int http_start(const char *at, http_page_fn *page, void *user,
               struct http **ret_http, char ret_at[HTTP_AT_MAX])
{
    struct http *http = calloc(1, sizeof(*http));
    int code;

    if (http == NULL)
        return lockctl_fail_error(ZKR_ENOMEM, "");
    *http = (struct http){ .page = page, .user = user };
    code = listen_at(http, at);
    if (code != 0) {
        free(http);
        return code;
    }
    write_address(http, ret_at);
    *ret_http = http;
    return 0;
}

void http_run(struct http *http, int timeout_ms)
{
    (void)MHD_run_wait(http->server, timeout_ms);
}

void http_end(struct http *http)
{
    if (http != NULL)
        MHD_stop_daemon(http->server);
    free(http);
}
