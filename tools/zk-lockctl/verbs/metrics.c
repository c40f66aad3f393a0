/* SPDX-License-Identifier: Apache-2.0 */
/* metrics: writes the locks for Prometheus, once, or to all who ask. */
#include "common/lockctl.h"
#include "verbs/verbs.h"

#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/escape.h"
#include "common/now.h"
#include "common/stop.h"
#include "model/mirror.h"
#include "text/lock_fields.h"

struct metrics_opts {
    const char *root;
    const char *listen; /* an address; NULL: once */
    struct scan_opts scan;
};
static struct metrics_opts asked = {
    .scan = { .reads = SCAN_NEXT, .timeout_ms = 60000 },
};

/* clang-format off */
static const struct opt options[] = {
    { "listen", .value = "ADDR", .type = OPT_TEXT, .at = AT(metrics_opts, listen),
      .help = "serve them at HOST:PORT or PORT, until SIGINT or SIGTERM" },
    SCAN_LIMIT(AT(metrics_opts, scan.limit)),
    SCAN_WITHIN(AT(metrics_opts, scan.timeout_ms)),
    { .name = NULL },
};
/* clang-format on */

static void write_all(FILE *out, const struct lockctl *ctl,
                      const struct scan *scan, int64_t took_ms)
{
    struct zkr_counters session = ZKR_COUNTERS_INIT;
    bool counted = ctl->session != NULL &&
                   zkr_session_stats(ctl->session, &session) == ZKR_OK;

    metrics_write(out, scan, took_ms, counted ? &session : NULL);
}

/* Metrics are printed even when nothing can be listed, and report that. */
static int measure(struct lockctl *ctl, const struct metrics_opts *q)
{
    struct scan scan = { .locks = NULL };
    const char *root = q->root;
    int64_t began = clock_now_ms();
    int code = lockctl_connect(ctl);

    if (code == 0)
        code = scan_below(ctl, &root, 1, &q->scan, &scan);
    notes_say(&scan.notes, ctl);
    write_all(stdout, ctl, code == 0 ? &scan : NULL, clock_now_ms() - began);
    scan_done(&scan);
    return code;
}

/* --- resident --- */

enum { TICK_MS = 100, CLIENTS_MAX = 32, IDLE_S = 10, HOST_MAX = 256 };

struct board {
    struct lockctl *ctl;
    struct mirror *mirror;
    struct MHD_Daemon *server; /* NULL: not all locks are known yet */
};

/* Writes what the picture has. A page asks the servers for nothing: they tell
 * the picture what changes. */
static void write_board(const struct board *b, FILE *page)
{
    struct scan scan = { .locks = NULL };
    char detail[SCAN_DETAIL_MAX];
    int64_t began = clock_now_ms();
    int rc;

    (void)mirror_is_ready(b->mirror, b->ctl->timeout_ms, &rc, detail);
    bool up = rc == ZKR_OK && lockctl_is_connected(b->ctl);
    if (up)
        scan = mirror_scan(b->mirror);
    write_all(page, b->ctl, up ? &scan : NULL, clock_now_ms() - began);
    scan_done(&scan);
}

/* --- by HTTP --- */

static struct MHD_Response *new_page(const struct board *b)
{
    struct MHD_Response *response;
    char *text = NULL;
    size_t size = 0;
    FILE *page = open_memstream(&text, &size);

    if (page == NULL)
        return NULL;
    write_board(b, page);
    if (fclose(page) != 0)
        return NULL;
    response =
        MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
    if (response != NULL)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                                      "text/plain; version=0.0.4");
    return response;
}

static enum MHD_Result answer(void *user, struct MHD_Connection *connection,
                              const char *path, const char *method,
                              const char *version, const char *data,
                              size_t *data_size, void **of_connection)
{
    static char refusal[] = "GET /metrics\n";
    bool found = strcmp(path, "/metrics") == 0 || strcmp(path, "/") == 0;
    bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    struct MHD_Response *response =
        found && reads ? new_page(user)
                       : MHD_create_response_from_buffer(
                             strlen(refusal), refusal, MHD_RESPMEM_PERSISTENT);
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

static struct MHD_Daemon *start_server(struct board *b,
                                       const struct addrinfo *a)
{
    errno = 0;
    return MHD_start_daemon(
        a->ai_family == AF_INET6 ? MHD_USE_IPv6 : MHD_NO_FLAG, 0, NULL, NULL,
        answer, b, MHD_OPTION_SOCK_ADDR, a->ai_addr,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CLIENTS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_END);
}

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
    if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
        host[len - 1] = '\0';
        memmove(host, host + 1, len - 1);
    }
    return getaddrinfo(host[0] == '\0' ? NULL : host,
                       colon == NULL ? at : colon + 1, &hints, ret_all);
}

/* At the first address of these that it may have. */
static int listen_at(struct board *b, const char *at)
{
    struct addrinfo *all = NULL;
    int error = look_up(at, &all);

    if (error != 0)
        return lockctl_fail(EX_USAGE, "--listen '%s': %s", at,
                            gai_strerror(error));
    for (const struct addrinfo *a = all; a != NULL && b->server == NULL;
         a = a->ai_next)
        b->server = start_server(b, a);
    error = errno;
    freeaddrinfo(all);
    return b->server != NULL
               ? 0
               : lockctl_fail(EX_CANTCREAT, "--listen '%s': %s", at,
                              error == 0 ? "no HTTP server" : strerror(error));
}

/* Whatever port it was given, 0 too. */
static void say_address(const struct board *b, const char *at)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(b->server, MHD_DAEMON_INFO_BIND_PORT);
    const char *colon = strrchr(at, ':');
    bool all = colon == NULL || colon == at;

    lockctl_say(b->ctl, "serving http://%.*s:%u/metrics%s",
                all ? INT_MAX : (int)(colon - at), all ? "localhost" : at,
                info == NULL ? 0U : info->port,
                all ? ", at all addresses" : "");
}

/* --- until a signal --- */

/* Waits for a moment, and answers who asks. False: it is time to end. */
static bool attend(const struct board *b)
{
    if (b->server == NULL)
        return stop_wait(TICK_MS);
    (void)MHD_run_wait(b->server, TICK_MS);
    return stop_wait(0);
}

/* Until it is time to end. It is served once all locks are known. */
static int attend_all(struct board *b)
{
    char detail[SCAN_DETAIL_MAX];
    bool said = false;
    int code = 0;
    int rc;

    while (code == 0 && attend(b)) {
        (void)mirror_tick(b->mirror);
        if (lockctl_is_over(b->ctl))
            return lockctl_fail_error(ZKR_ECLOSED, "");
        bool lost = !lockctl_is_connected(b->ctl);
        if (lost && !said)
            lockctl_say(b->ctl, "connection lost, waiting for it");
        said = lost;
        if (b->server != NULL ||
            !mirror_is_ready(b->mirror, b->ctl->timeout_ms, &rc, detail))
            continue;
        code = listen_at(b, asked.listen);
        if (code == 0)
            say_address(b, asked.listen);
    }
    return code;
}

static int serve(struct lockctl *ctl, const struct metrics_opts *q)
{
    const struct mirror_opts opts = { .ctl = ctl,
                                      .paths = &q->root,
                                      .path_count = 1,
                                      .below = true,
                                      .look = q->scan,
                                      .pause_ms = TICK_MS };
    struct board board = { .ctl = ctl };
    int code = lockctl_connect(ctl);

    if (code != 0)
        return code;
    stop_start();
    int rc = mirror_start(&opts, &board.mirror);
    code = rc == ZKR_OK ? attend_all(&board) : lockctl_fail_zkr(rc);
    if (board.server != NULL)
        MHD_stop_daemon(board.server);
    mirror_close(ctl, board.mirror);
    stop_end();
    return code;
}

static int metrics(struct lockctl *ctl, int argc, char **argv)
{
    (void)argc;
    escape_keep_utf8(true); /* it is for no terminal */
    asked.root = argv[0];
    if (ctl->format != FORMAT_TABLE || ctl->columns != NULL)
        return lockctl_fail(EX_USAGE, "metrics has one format, Prometheus");
    return asked.listen != NULL ? serve(ctl, &asked) : measure(ctl, &asked);
}

const struct verb verb_metrics = {
    .name = "metrics",
    .usage = "[OPTION]... [PATH]",
    .summary = "Print metrics of the locks at and below a path for Prometheus",
    .options = options,
    .into = &asked,
    .takes = TAKES_PATH,
    .help = "When no server answers, zklock_up is 0, and the exit code 69.\n",
    .run = metrics,
};
