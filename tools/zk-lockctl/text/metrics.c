/* SPDX-License-Identifier: Apache-2.0 */
/* Writes locks as metrics. */
#include "text/lock_fields.h"

#include <inttypes.h>

#include "common/escape.h"
#include "model/scan.h"

/* Text of others is escaped as everywhere: then it is valid UTF-8 on one line.
 * Of that, the format wants a quote and a backslash escaped again. */
static void write_label(FILE *out, const char *name, const char *value)
{
    char text[ZKR_PATH_MAX * 4 + 1];

    (void)escape_string(value, text, sizeof(text));
    (void)fprintf(out, "%s=\"", name);
    for (const char *c = text; *c != '\0'; c++)
        (void)fprintf(out, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
    (void)fputc('"', out);
}

static void write_head(FILE *out, const char *name, const char *help,
                       const char *type)
{
    (void)fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_seconds(FILE *out, int64_t ms)
{
    if (ms < 0)
        ms = 0;
    (void)fprintf(out, " %" PRId64 ".%03d\n", ms / 1000, (int)(ms % 1000));
}

/* What is told of each lock. */
/* clang-format off */
static const struct gauge {
    const char *name;
    const char *help;
    struct field value;
    bool kind; /* there is a label for it */
} gauges[] = {
    { "zklock_held", "Holders of the lock: several, if they are readers or leases.",
      { .type = FIELD_COUNT, .at = AT(lock, holders) }, true },
    { "zklock_waiters", "Waiters for the lock.",
      { .type = FIELD_COUNT, .at = AT(lock, waiters) }, false },
    { "zklock_longest_wait_seconds", "The longest wait of a present waiter; 0 without one.",
      { .type = FIELD_MS, .at = AT(lock, longest_wait_ms) }, false },
    { "zklock_hold_seconds_max", "Upper bound of the longest hold: the wait is included.",
      { .type = FIELD_MS, .at = AT(lock, longest_hold_ms) }, false },
};
/* clang-format on */

static void write_gauge(FILE *out, const struct gauge *g,
                        const struct lock *lock)
{
    (void)fprintf(out, "%s{", g->name);
    write_label(out, "lock", lock->path);
    if (g->kind) {
        (void)fputc(',', out);
        write_label(out, "kind",
                    lock->kind == ZKR__KIND_NONE
                        ? "none"
                        : zkr__lock_kind_name(lock->kind));
    }
    (void)fputc('}', out);
    if (g->value.type == FIELD_MS)
        write_seconds(out, field_number(&g->value, lock));
    else
        (void)fprintf(out, " %" PRId64 "\n", field_number(&g->value, lock));
}

static void write_causes(FILE *out, const struct zkr_counters *session)
{
    static const char name[] = "zklock_connection_faults_total";

    write_head(out, name, "What stood in the way of a connection, how often.",
               "counter");
    for (int i = ZKR_CAUSE_NONE + 1; i < ZKR_CAUSES; i++)
        (void)fprintf(out, "%s{cause=\"%s\"} %" PRIu64 "\n", name,
                      zkr_cause_name((enum zkr_cause)i), session->causes[i]);
}

static void write_locks(FILE *out, const struct scan *scan, int64_t took_ms)
{
    write_head(out, "zklock_scan_seconds", "How long listing them took.",
               "gauge");
    (void)fputs("zklock_scan_seconds", out);
    write_seconds(out, took_ms);
    write_head(out, "zklock_scan_complete",
               "0 when a limit or an ACL has kept locks out.", "gauge");
    (void)fprintf(out, "zklock_scan_complete %d\n", scan->notes.count == 0);
    for (size_t k = 0; k < sizeof(gauges) / sizeof(gauges[0]); k++) {
        write_head(out, gauges[k].name, gauges[k].help, "gauge");
        for (size_t i = 0; i < scan->count; i++) {
            if (scan->locks[i].error == ZKR_OK)
                write_gauge(out, &gauges[k], &scan->locks[i]);
        }
    }
}

void metrics_write(FILE *out, const struct scan *scan, int64_t took_ms,
                   const struct zkr_counters *session)
{
    write_head(out, "zklock_up", "Whether the locks could be listed.", "gauge");
    (void)fprintf(out, "zklock_up %d\n", scan != NULL);
    if (scan != NULL)
        write_locks(out, scan, took_ms);
    if (session != NULL)
        write_causes(out, session);
}
