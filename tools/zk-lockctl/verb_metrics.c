/* metrics: locks for Prometheus, once. */
#include "lockctl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "metrics.h"
#include "scan.h"

enum { OPTION_TEXTFILE = OPTION_FIRST, OPTION_LIMIT, OPTION_WITHIN };

static const struct option options[] = {
    { "textfile", required_argument, NULL, OPTION_TEXTFILE },
    { "limit", required_argument, NULL, OPTION_LIMIT },
    { "within", required_argument, NULL, OPTION_WITHIN },
    { NULL, 0, NULL, 0 },
};

struct query {
    char root[ZKR_PATH_MAX + 1];
    const char *textfile;
    struct scan_opts scan;
};

/* --- a file that readers see whole, or not at all --- */

static int fail_file(const char *file, const char *temporary)
{
    int error = errno;

    if (temporary != NULL)
        (void)unlink(temporary);
    return lockctl_fail(EX_CANTCREAT, "--textfile '%s': %s", file,
                        strerror(error));
}

static bool write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);

        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            text += n;
            size -= (size_t)n;
        }
    }
    return true;
}

/* As any new file: the one who collects it is somebody else. */
static bool open_to_others(int fd)
{
    mode_t mask = umask(0);

    (void)umask(mask);
    return fchmod(fd, 0666 & ~mask) == 0;
}

static int replace_file(const char *file, const char *text, size_t size)
{
    char temporary[4096];
    int len = snprintf(temporary, sizeof(temporary), "%s.XXXXXX", file);
    int fd;
    bool written;
    int error;

    if (len < 0 || (size_t)len >= sizeof(temporary)) {
        errno = ENAMETOOLONG;
        return fail_file(file, NULL);
    }
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return fail_file(file, NULL);
    written = write_all(fd, text, size) && open_to_others(fd) && fsync(fd) == 0;
    error = errno;
    if (close(fd) != 0 && written) {
        written = false;
        error = errno;
    }
    errno = error;
    return written && rename(temporary, file) == 0 ? 0
                                                   : fail_file(file, temporary);
}

/* --- */

static int print(const struct query *q, const struct metrics *metrics)
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
        code = replace_file(q->textfile, text, size);
    else
        (void)fwrite(text, 1, size, stdout); /* main() sees errors */
    free(text);
    return code;
}

static int64_t monotonic_ms(void)
{
    struct timespec now = { 0 };

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Also when nothing can be listed there are metrics, which say so. */
static int measure(struct lockctl *ctl, const struct query *q)
{
    struct metrics metrics = { .is_up = false };
    struct scan scan = { .locks = NULL };
    int64_t began = monotonic_ms();
    int code = lockctl_connect(ctl);
    int printed;

    if (code == 0)
        code = scan_below(ctl->session, q->root, &q->scan, &scan);
    if (code == 0)
        metrics = (struct metrics){ .is_up = true,
                                    .is_complete = scan.notes.count == 0,
                                    .scan_ms = monotonic_ms() - began,
                                    .locks = scan.locks,
                                    .count = scan.count };
    notes_say(&scan.notes, ctl);
    printed = print(q, &metrics);
    scan_done(&scan);
    return code != 0 ? code : printed;
}

static bool take(struct query *q, int option)
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
    struct query q = { .root = "/", .scan = { .timeout_ms = 60000 } };
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
