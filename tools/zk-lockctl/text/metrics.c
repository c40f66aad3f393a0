/* SPDX-License-Identifier: Apache-2.0 */
/* Writes locks as metrics, in the text format of Prometheus. Pure. */
#include "text/metrics.h"

#include <inttypes.h>

#include "common/escape.h"

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

static void write_head(FILE *out, const char *name, const char *help)
{
    (void)fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void write_count(FILE *out, size_t value)
{
    (void)fprintf(out, " %zu\n", value);
}

static void write_seconds(FILE *out, int64_t ms)
{
    if (ms < 0)
        ms = 0;
    (void)fprintf(out, " %" PRId64 ".%03d\n", ms / 1000, (int)(ms % 1000));
}

static int64_t longest_hold_ms(const struct lock *lock)
{
    int64_t longest = 0;

    for (size_t i = 0; i < lock->count; i++) {
        const struct contender *c = &lock->items[i];

        if (c->node->holds && c->age_ms > longest)
            longest = c->age_ms;
    }
    return longest;
}

static void write_held(FILE *out, const struct lock *lock)
{
    (void)fputs("zklock_held{", out);
    write_label(out, "lock", lock->path);
    (void)fputc(',', out);
    write_label(out, "kind",
                lock->kind == ZKR__KIND_NONE ? "none"
                                             : zkr__lock_kind_name(lock->kind));
    (void)fputc('}', out);
    write_count(out, lock->holders);
}

static void write_name(FILE *out, const char *name, const struct lock *lock)
{
    (void)fprintf(out, "%s{", name);
    write_label(out, "lock", lock->path);
    (void)fputc('}', out);
}

static void write_waiters(FILE *out, const struct lock *lock)
{
    write_name(out, "zklock_waiters", lock);
    write_count(out, lock->waiters);
}

static void write_longest_wait(FILE *out, const struct lock *lock)
{
    write_name(out, "zklock_longest_wait_seconds", lock);
    write_seconds(out, lock->longest_wait_ms);
}

static void write_longest_hold(FILE *out, const struct lock *lock)
{
    write_name(out, "zklock_hold_seconds_max", lock);
    write_seconds(out, longest_hold_ms(lock));
}

void metrics_write(FILE *out, const struct metrics *m)
{
    static const struct {
        const char *name;
        const char *help;
        void (*write)(FILE *out, const struct lock *lock);
    } each[] = {
        { "zklock_held",
          "Holders of the lock: several, if they are readers or leases.",
          write_held },
        { "zklock_waiters", "Waiters for the lock.", write_waiters },
        { "zklock_longest_wait_seconds",
          "The longest wait of a present waiter; 0 without one.",
          write_longest_wait },
        { "zklock_hold_seconds_max",
          "Upper bound of the longest hold: the wait is included.",
          write_longest_hold },
    };

    write_head(out, "zklock_up", "Whether the locks could be listed.");
    (void)fprintf(out, "zklock_up %d\n", (int)m->is_up);
    if (!m->is_up)
        return;
    write_head(out, "zklock_scan_seconds", "How long listing them took.");
    (void)fputs("zklock_scan_seconds", out);
    write_seconds(out, m->scan_ms);
    write_head(out, "zklock_scan_complete",
               "0 when a limit or an ACL has kept locks out.");
    (void)fprintf(out, "zklock_scan_complete %d\n", (int)m->is_complete);
    for (size_t k = 0; k < sizeof(each) / sizeof(each[0]); k++) {
        write_head(out, each[k].name, each[k].help);
        for (size_t i = 0; i < m->count; i++) {
            if (m->locks[i].error == ZKR_OK)
                each[k].write(out, &m->locks[i]);
        }
    }
}
