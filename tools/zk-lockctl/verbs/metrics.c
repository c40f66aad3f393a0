/* SPDX-License-Identifier: Apache-2.0 */
/* metrics: writes the locks for Prometheus, once, or to all who ask. */
#include "verbs/verbs.h"

#include <stdio.h>

#include "common/escape.h"
#include "common/http.h"
#include "common/now.h"
#include "common/stop.h"
#include "model/looker.h"
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

enum { LOOK_MS = 1000, TICK_MS = 100 };

/* The last look, for all who ask. */
struct board {
    struct lockctl *ctl;
    bool seen; /* there is a look, which did not fail */
    struct look_result look;
};

static void write_board(FILE *page, void *user)
{
    const struct board *b = user;
    bool up = b->seen && lockctl_is_connected(b->ctl);

    write_all(page, b->ctl, up ? &b->look.scan : NULL, b->look.took_ms);
}

/* Waits for a moment, and answers who asks. False: it is time to end. */
static bool attend(struct http *http)
{
    if (http == NULL)
        return stop_wait(TICK_MS);
    http_run(http, TICK_MS);
    return stop_wait(0);
}

/* Until it is time to end. It is served from the first look on. */
static int take_looks(struct board *b, const struct metrics_opts *q,
                      struct looker *looker, struct http **http)
{
    struct look_result look;
    char at[HTTP_AT_MAX];
    bool said = false;
    int code = 0;

    while (code == 0 && attend(*http)) {
        if (lockctl_is_over(b->ctl))
            return lockctl_fail_error(ZKR_ECLOSED, "");
        if (!said && !lockctl_is_connected(b->ctl)) {
            lockctl_say(b->ctl, "connection lost, waiting for it");
            said = true;
        }
        if (!looker_take(looker, &look))
            continue;
        scan_done(&b->look.scan);
        b->look = look;
        b->seen = look.error == ZKR_OK;
        if (*http != NULL)
            continue;
        code = http_start(q->listen, write_board, b, http, at);
        if (code == 0)
            lockctl_say(b->ctl, "serving http://%s/metrics", at);
    }
    return code;
}

/* The servers are asked for what changes, and not by those who ask us. */
static int serve(struct lockctl *ctl, const struct metrics_opts *q)
{
    struct board board = { .ctl = ctl };
    struct looker looker = { .ctl = ctl,
                             .root = q->root,
                             .interval_ms = LOOK_MS };
    struct http *http = NULL;
    int code = take_looks(&board, q, &looker, &http);

    http_end(http);
    mirror_close(ctl, looker.mirror);
    scan_done(&board.look.scan);
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
