/* SPDX-License-Identifier: Apache-2.0 */
/* metrics: writes the locks for Prometheus, once, or to all who ask. */
#include "verbs/verbs.h"

#include <stdio.h>

#include "common/escape.h"
#include "common/http.h"
#include "common/now.h"
#include "common/stop.h"
#include "model/mirror.h"
#include "text/metrics.h"

struct metrics_opts {
    const char *root;
    const char *listen; /* an address; NULL: once */
    struct scan_opts scan;
};
static struct metrics_opts asked = {
    .scan = { .reads = SCAN_NEXT, .timeout_ms = 60000 },
};

/* clang-format off */
#define AT(member) offsetof(struct metrics_opts, member)
static const struct opt options[] = {
    { "listen", .value = "ADDR", .type = OPT_TEXT, .at = AT(listen),
      .help = "serve them at HOST:PORT or PORT, until SIGINT or SIGTERM" },
    SCAN_LIMIT(AT(scan.limit)),
    SCAN_WITHIN(AT(scan.timeout_ms)),
    { .name = NULL },
};
#undef AT
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

enum { TICK_MS = 100 };

struct board {
    struct lockctl *ctl;
    struct mirror *mirror;
};

/* Writes what the picture has. A page asks the servers for nothing: they tell
 * the picture what changes. */
static void write_board(FILE *page, void *user)
{
    const struct board *b = user;
    struct scan scan = { .locks = NULL };
    char detail[SCAN_DETAIL_MAX];
    int64_t began = clock_now_ms();
    bool up;
    int rc;

    (void)mirror_is_ready(b->mirror, b->ctl->timeout_ms, &rc, detail);
    up = rc == ZKR_OK && lockctl_is_connected(b->ctl) &&
         mirror_scan(b->mirror, &scan) == ZKR_OK;
    write_all(page, b->ctl, up ? &scan : NULL, clock_now_ms() - began);
    scan_done(&scan);
}

/* Waits for a moment, and answers who asks. False: it is time to end. */
static bool attend(struct http *http)
{
    if (http == NULL)
        return stop_wait(TICK_MS);
    http_run(http, TICK_MS);
    return stop_wait(0);
}

/* Until it is time to end. It is served once all locks are known. */
static int attend_all(struct board *b, struct http **http)
{
    char detail[SCAN_DETAIL_MAX];
    char at[HTTP_AT_MAX];
    bool said = false;
    int code = 0;
    int rc;

    while (code == 0 && attend(*http)) {
        (void)mirror_tick(b->mirror);
        if (lockctl_is_over(b->ctl))
            return lockctl_fail_error(ZKR_ECLOSED, "");
        if (!said && !lockctl_is_connected(b->ctl)) {
            lockctl_say(b->ctl, "connection lost, waiting for it");
            said = true;
        }
        if (*http != NULL ||
            !mirror_is_ready(b->mirror, b->ctl->timeout_ms, &rc, detail))
            continue;
        code = http_start(asked.listen, write_board, b, http, at);
        if (code == 0)
            lockctl_say(b->ctl, "serving http://%s/metrics", at);
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
    struct http *http = NULL;
    int rc = mirror_start(&opts, &board.mirror);
    int code = rc == ZKR_OK ? attend_all(&board, &http)
                            : lockctl_fail_error(rc, zkr_error_detail());

    http_end(http);
    mirror_close(ctl, board.mirror);
    return code;
}

static int serve_until_signal(struct lockctl *ctl, const struct metrics_opts *q)
{
    int code = lockctl_connect(ctl);

    if (code != 0)
        return code;
    if (!stop_start())
        return lockctl_fail_error(ZKR_ENOMEM, "");
    code = serve(ctl, q);
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
    return asked.listen != NULL ? serve_until_signal(ctl, &asked)
                                : measure(ctl, &asked);
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
