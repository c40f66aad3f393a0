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

struct metrics_opts {
    char root[ZKR_PATH_MAX + 1];
    const char *textfile;
    struct scan_opts scan;
};

/* clang-format off */
#define AT(member) offsetof(struct metrics_opts, member)
static const struct opt options[] = {
    { "textfile", .value = "FILE", .type = OPT_TEXT, .at = AT(textfile),
      .help = "into this file, as a whole, for the textfile collector of the node exporter" },
    SCAN_LIMIT(AT(scan.limit)),
    SCAN_WITHIN(AT(scan.timeout_ms)),
    { .name = NULL },
};
#undef AT
/* clang-format on */

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
    const char *root = q->root;
    int64_t began = clock_now_ms();
    int code = lockctl_connect(ctl);
    int printed;

    if (code == 0)
        code = scan_below(ctl, &root, 1, &q->scan, &scan);
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

static int metrics(struct lockctl *ctl, int argc, char **argv)
{
    struct metrics_opts q = {
        .root = "/",
        .scan = { .reads = SCAN_NEXT, .timeout_ms = 60000 },
    };

    if (!lockctl_parse(ctl, &verb_metrics, &argc, &argv, &q))
        return EX_USAGE;
    if (ctl->format != FORMAT_TABLE || ctl->columns != NULL)
        return lockctl_fail(EX_USAGE, "metrics has one format, Prometheus");
    if (!lockctl_take_root(&verb_metrics, argc, argv, q.root))
        return EX_USAGE;
    return measure(ctl, &q);
}

const struct verb verb_metrics = {
    .name = "metrics",
    .usage = "[OPTION]... [PATH]",
    .summary = "Print metrics of the locks at and below a path for Prometheus",
    .options = options,
    .help = "When no server answers, zklock_up is 0, and the exit code 69.\n",
    .run = metrics,
};
