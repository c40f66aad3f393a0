/* SPDX-License-Identifier: Apache-2.0 */
/* log: tells who held locks, out of transaction logs. */
#include "verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/grow.h"
#include "common/now.h"
#include "common/words.h"
#include "model/history.h"
#include "text/stays.h"

/* What is asked for, and what was found. */
struct log {
    struct lockctl *ctl;
    struct zkr_hosts *hosts;    /* for the chroot */
    int64_t since_ms, until_ms; /* 0: not limited */
    bool waiters;
    int stats;           /* enum usage_by */
    struct txnlogs logs; /* and all notes */
    struct history history;
    struct past_rows rows; /* with the lock and the moment that are asked for */
    bool held, gap, present; /* a row is of one who held, of a gap, of one who
                                is there at the end */
};
static struct log asked;

/* --- what is found --- */

/* Some of it, from the beginning to the end, is in the time that is asked
 * for. */
static bool overlaps(const struct log *log, int64_t begin_ms, int64_t end_ms)
{
    if (log->rows.at_ms != 0)
        return begin_ms <= log->rows.at_ms &&
               (end_ms == 0 || end_ms > log->rows.at_ms);
    return (log->since_ms == 0 || end_ms == 0 || end_ms >= log->since_ms) &&
           (log->until_ms == 0 || begin_ms <= log->until_ms);
}

static void add_stay(struct stay *stay, void *user)
{
    struct log *log = user;
    int64_t at_ms = log->rows.at_ms;
    int64_t begin_ms = at_ms != 0           ? stay->seen_ms
                       : stay->held_ms == 0 ? stay->queued_ms
                                            : stay->held_ms;

    if (stay->is_claim || (!log->rows.states && stay->held_ms == 0) ||
        !overlaps(log, begin_ms, stay->ended_ms)) {
        stay_free(stay);
        return;
    }
    *(struct stay **)GROW(&log->rows) = stay;
    log->present = log->present || stay->ending == ENDING_NONE;
    log->held = log->held ||
                (at_ms == 0 ? stay->held_ms != 0 : stay_holds_at(stay, at_ms));
}

static void take_gap(const struct gap *gap, void *user)
{
    struct log *log = user;
    char from[WORD_MAX], until[WORD_MAX];
    char before[WORD_MAX], after[WORD_MAX];

    if (!overlaps(log, gap->from_ms, gap->until_ms))
        return;
    log->gap = true;
    notes_add(&log->logs.notes,
              "nothing is known between %s (%s) and %s (%s): transactions are "
              "missing",
              word_time(gap->from_ms, from), word_id(gap->zxid_before, before),
              word_time(gap->until_ms, until), word_id(gap->zxid_after, after));
}

/* --- the order of rows --- */

static int64_t begin_of(const struct stay *stay)
{
    return stay->held_ms != 0 ? stay->held_ms : stay->queued_ms;
}

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* What begins earlier is first; at one time, what has the lower token. */
static int by_begin(const void *a, const void *b)
{
    const struct stay *x = *(struct stay *const *)a;
    const struct stay *y = *(struct stay *const *)b;
    int order = compare(begin_of(x), begin_of(y));

    return order != 0 ? order : compare(x->node.token, y->node.token);
}

/* --- what is known --- */

/* All who held at the moment that was asked for are known. Nothing tells the
 * leases of kazoo's semaphore. */
static bool is_known(const struct log *log)
{
    return !log->history.pool &&
           (log->rows.at_ms == 0 ||
            history_knows(&log->history, log->rows.at_ms));
}

/* Some of the time that was asked for is in no file: nobody can tell that
 * nobody held. */
static bool is_beyond(const struct log *log)
{
    const struct history *h = &log->history;

    return log->rows.at_ms == 0 &&
           (log->gap || log->since_ms > h->end_ms ||
            (log->until_ms != 0 && log->until_ms < h->begin_ms));
}

/* --- notes --- */

static void note_strange(struct log *log)
{
    size_t txns = log->history.strange;

    if (txns > 0)
        notes_add(&log->logs.notes,
                  "%zu transaction%s of a type that this tool "
                  "does not know, or damaged",
                  txns, word_plural(txns));
}

/* Before the history and after it nothing is known. */
static void note_limits(struct log *log)
{
    int64_t from = log->rows.at_ms != 0 ? log->rows.at_ms : log->since_ms;
    int64_t until = log->rows.at_ms != 0 ? log->rows.at_ms : log->until_ms;
    int64_t begin_ms = log->history.begin_ms;
    int64_t end_ms = log->history.end_ms;
    char word[WORD_MAX];

    if (begin_ms != 0 &&
        ((from != 0 && from < begin_ms) || (until != 0 && until < begin_ms)))
        notes_add(&log->logs.notes, "the history begins at %s",
                  word_time(begin_ms, word));
    if (end_ms != 0 && (from > end_ms || until > end_ms || log->present))
        notes_add(&log->logs.notes, "the history ends at %s",
                  word_time(end_ms, word));
    if (!is_known(log) && !log->history.pool && log->gap)
        notes_add(&log->logs.notes,
                  "that moment is in a gap: who was there before "
                  "it may have gone");
    if (history_lacks_begin(&log->history))
        notes_add(&log->logs.notes,
                  "there is no snapshot of the time before the first "
                  "transaction, so a contender from before it may be missing; "
                  "times with '?' depend on that");
}

static void note_nobody(struct log *log)
{
    const char *root = log->rows.root;
    bool known = is_known(log) && !is_beyond(log);

    if (log->history.pool)
        notes_add(&log->logs.notes,
                  "%s has had nodes of a semaphore, a double barrier or a "
                  "party of kazoo, which this tool does not know",
                  root);
    if (!known && !log->held)
        notes_add(&log->logs.notes, "it is not known who held %s then", root);
    if (log->rows.count > 0)
        return;
    if (log->history.contenders > 0 && known)
        notes_add(&log->logs.notes, "nobody held %s then", root);
    else if (log->history.contenders == 0 && !log->history.pool)
        notes_add(&log->logs.notes, "there is no contender of %s%s%s", root,
                  log->hosts->chroot[0] == '\0' ? "" : " below the chroot ",
                  log->hosts->chroot);
}

/* --- the answer --- */

/* Part of the answer is one, too. */
static int exit_status(const struct log *log)
{
    if (log->held)
        return 0;
    return is_known(log) ? EX_NO : EX_NOINPUT;
}

static int answer(struct log *log)
{
    int code;

    log->rows.end_ms = log->history.end_ms;
    sort_array(log->rows.items, log->rows.count, sizeof(*log->rows.items),
               by_begin);
    note_strange(log);
    note_limits(log);
    note_nobody(log);
    code =
        log->stats == USAGE_NONE
            ? stays_print(log->ctl, &log->rows, &log->logs.notes)
            : usage_print(log->ctl, &log->rows, log->stats, &log->logs.notes);
    return code != 0 ? code : exit_status(log);
}

/* --- options --- */

static int take_moment(const struct opt *o, void *at, const char *value)
{
    if (moment_read(value, clock_wall_ms(), at) && *(int64_t *)at > 0)
        return 0;
    return lockctl_fail(EX_USAGE,
                        "--%s: '%s' is neither a duration nor a time, such as "
                        "1h, 02:55 or 2026-11-23T02:55:00Z",
                        o->name, value);
}

static int take_file(const struct opt *o, void *at, const char *value)
{
    (void)o;
    return txnlogs_add(at, value);
}

static const char *const stats_words[] = { "none", "lock", "owner", NULL };

/* clang-format off */
static const struct opt options[] = {
    { "from", .value = "FILE", .type = OPT_CALL, .at = AT(log, logs), .take = take_file,
      .help = "a transaction log, or the directory of a server" },
    { "since", .value = "TIME", .type = OPT_CALL, .at = AT(log, since_ms), .take = take_moment,
      .help = "what was later than that, and" },
    { "until", .value = "TIME", .type = OPT_CALL, .at = AT(log, until_ms), .take = take_moment,
      .help = "what was earlier; 1h, 02:55, 2026-11-23T02:55Z" },
    { "at", .value = "TIME", .type = OPT_CALL, .at = AT(log, rows.at_ms), .take = take_moment,
      .help = "who held then, and who waited" },
    { "stats", .value = "WHAT", .type = OPT_WORD, .words = stats_words, .at = AT(log, stats),
      .help = "the grants of each lock or owner, their waits and how long they were held: lock, owner" },
    { "waiters", .type = OPT_ON, .at = AT(log, waiters), .help = "also those who never held" },
    { .name = NULL },
};
/* clang-format on */

static int check_options(const struct log *log)
{
    if (log->rows.at_ms != 0 && (log->since_ms != 0 || log->until_ms != 0))
        return lockctl_fail(EX_USAGE,
                            "log: --at is one moment, --since and --until are "
                            "others");
    if (log->logs.logs.count + log->logs.snapshots.count == 0)
        return lockctl_fail(EX_USAGE, "log: --from a transaction log, or a "
                                      "directory of them");
    return 0;
}

/* Paths in transaction logs begin with the chroot. */
static int read_logs(struct log *log)
{
    const struct history_fns fns = { add_stay, take_gap, log };
    int code = lockctl_settle(log->ctl);

    if (code != 0)
        return code;
    int rc = zkr_hosts_parse(log->ctl->settings[SETTING_SERVERS], &log->hosts);
    if (rc != ZKR_OK)
        return lockctl_fail_zkr(rc);
    history_init(&log->history, log->hosts->chroot, log->rows.root, &fns);
    return history_play(&log->history, &log->logs);
}

static void log_done(struct log *log)
{
    for (size_t i = 0; i < log->rows.count; i++)
        stay_free(log->rows.items[i]);
    free(log->rows.items);
    history_done(&log->history);
    txnlogs_done(&log->logs);
    zkr_hosts_free(log->hosts);
}

static int run_log(struct lockctl *ctl, int argc, char **argv)
{
    char word[WORD_MAX];
    int code = check_options(&asked);

    (void)argc;
    asked.ctl = ctl;
    asked.rows.root = argv[0];
    asked.rows.states = asked.waiters || asked.rows.at_ms != 0;
    if (code == 0)
        code = read_logs(&asked);
    if (code == 0 && asked.rows.at_ms != 0)
        lockctl_say(ctl, "at %s", word_time(asked.rows.at_ms, word));
    if (code == 0)
        code = answer(&asked);
    log_done(&asked);
    return code;
}

const struct verb verb_log = {
    .name = "log",
    .usage = "--from FILE [--from FILE]... [OPTION]... [LOCK]",
    .summary = "Tell who held locks, out of transaction logs",
    .options = options,
    .kinds = (const struct kind *const[]){ &stay_kind, &usage_kind, NULL },
    .into = &asked,
    .takes = TAKES_PATH,
    .help =
        "No server is asked. Without LOCK: all locks; LOCK stands for the\n"
        "locks below it, too. Without a zone a TIME is local. Exit code 1:\n"
        "nobody held; 66: the files do not tell who held. See zk-lockctl(1)\n"
        "for what ENDED says.\n",
    .run = run_log,
};
