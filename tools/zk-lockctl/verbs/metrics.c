/* SPDX-License-Identifier: Apache-2.0 */
/* metrics: writes the locks for Prometheus, once. */
#include "verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/now.h"
#include "common/whole_file.h"
#include "model/scan.h"
#include "text/metrics.h"

enum { OPTION_TEXTFILE = OPTION_FIRST, OPTION_LIMIT, OPTION_WITHIN };

static const struct option options[] = {
    { "textfile", required_argument, NULL, OPTION_TEXTFILE },
    { "limit", required_argument, NULL, OPTION_LIMIT },
    { "within", required_argument, NULL, OPTION_WITHIN },
    { NULL, 0, NULL, 0 },
};

struct metrics_opts {
    char root[ZKR_PATH_MAX + 1];
    const char *textfile;
    struct scan_opts scan;
};

static int write_file(const char *file, const char *text, size_t size)
{
    int error = whole_file_write(file, text, size);

    return error == 0 ? 0
                      : lockctl_fail(EX_CANTCREAT, "--textfile '%s': %s", file,
                                     strerror(error));
}

static int print(const struct metrics_opts *q, const struct metrics *metrics)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    int code = 0;

    if (f == NULL)
        return lockctl_fail_error(ZKR_ENOMEM, "");
    metrics_write(f, metrics);
    if (ferror(f) != 0 || fclose(f) != 0)
        code = lockctl_fail_error(ZKR_ENOMEM, "");
    else if (q->textfile != NULL)
        code = write_file(q->textfile, text, size);
    else
        (void)fwrite(text, 1, size, stdout); /* main() sees errors */
    free(text);
    return code;
}

/* Metrics are printed even when nothing can be listed, and report that. */
static int measure(struct lockctl *ctl, const struct metrics_opts *q)
{
    struct metrics metrics = { .is_up = false };
    struct scan scan = { .locks = NULL };
    int64_t began = clock_now_ms();
    int code = lockctl_connect(ctl);
    int printed;

    if (code == 0)
        code = scan_below(ctl->session, q->root, &q->scan, &scan);
    if (code == 0)
        metrics = (struct metrics){ .is_up = true,
                                    .is_complete = scan.notes.count == 0,
                                    .scan_ms = clock_now_ms() - began,
                                    .locks = scan.locks,
                                    .count = scan.count };
    notes_say(&scan.notes, ctl);
    printed = print(q, &metrics);
    scan_done(&scan);
    return code != 0 ? code : printed;
}

static bool take(struct metrics_opts *q, int option)
{
    switch (option) {
    case OPTION_TEXTFILE:
        q->textfile = optarg;
        return true;
    case OPTION_LIMIT:
        return lockctl_take_count("--limit", &q->scan.limit);
    case OPTION_WITHIN:
        return scan_take_within(&q->scan);
    default:
        return false;
    }
}

static int metrics(struct lockctl *ctl, int argc, char **argv)
{
    struct metrics_opts q = {
        .root = "/",
        .scan = { .reads = SCAN_NEXT, .timeout_ms = 60000 },
    };
    int option;

    while ((option = lockctl_option(ctl, &verb_metrics, argc, argv, "",
                                    options)) != -1) {
        if (!take(&q, option))
            return EX_USAGE;
    }
    if (ctl->format != FORMAT_TABLE || ctl->columns != NULL)
        return lockctl_fail(EX_USAGE, "metrics has one format, Prometheus");
    if (argc - optind > 1)
        return lockctl_fail(EX_USAGE, "metrics: one path; see zk-lockctl "
                                      "metrics --help");
    if (argc > optind &&
        !lockctl_parse_path(argv[optind], q.root, sizeof(q.root)))
        return EX_USAGE;
    return measure(ctl, &q);
}

const struct verb verb_metrics = {
    .name = "metrics",
    .usage = "[OPTION]... [PATH]",
    .summary = "Print metrics of the locks at and below a path for Prometheus",
    .help =
        "  --textfile FILE    into this file, as a whole, for the textfile\n"
        "                     collector of the node exporter\n"
        "  --limit N          of no more than N locks (10000)\n"
        "  --within DURATION  search no longer than that (60s)\n"
        "\n"
        "When no server answers, zklock_up is 0, and the exit code 69.\n",
    .run = metrics,
};
