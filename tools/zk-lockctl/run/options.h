/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the command lines of the verbs that hold a lock. */
#pragma once

#include "run/run.h"

extern const char *const on_revoke_words[];
int run_take_nonblock(const struct opt *opt, void *at, const char *value);
int run_take_code(const struct opt *opt, void *at, const char *value);
int run_take_lock(const struct opt *opt, void *at, const char *value);

/* clang-format off */
/* Which lock it is. */
#define LOCK_OPTIONS \
    { "shared", 's', .type = OPT_INT, .min = CLAIM_READ, .at = AT(run_opts, wanted.kind), \
      .help = "the lock is a read/write lock: for reading" }, \
    { "exclusive", 'x', .type = OPT_INT, .min = CLAIM_WRITE, .at = AT(run_opts, wanted.kind), \
      .help = "the lock is a read/write lock: for writing\n(without either: a mutex)" }, \
    { "slots", .value = "N", .type = OPT_COUNT, .max = ZKR_SEMAPHORE_MAX, .at = AT(run_opts, wanted.slots), \
      .help = "the lock is a semaphore: one of N slots" }, \
    { "and", .value = "LOCK", .type = OPT_CALL, .take = run_take_lock, .at = AT(run_opts, wanted), \
      .help = "this lock, too: all are held, or none" }

/* Those that are about the wait. */
#define WAIT_OPTIONS \
    { "nonblock", 'n', .type = OPT_CALL, .take = run_take_nonblock, .at = AT(run_opts, wait_ms), \
      .help = "do not wait" }, \
    { "wait", 'w', "DURATION", .type = OPT_MS, .max = INT64_MAX, .at = AT(run_opts, wait_ms), \
      .help = "wait so long (500ms, 10s, 2m, 1h)" }, \
    { "conflict-exit-code", 'E', "CODE", .type = OPT_CALL, .take = run_take_code, \
      .at = AT(run_opts, not_acquired_code), .help = "when not acquired (75)" }

/* Those that run, lead and hold have. */
#define HOLD_OPTIONS \
    { "kill-grace", .value = "DURATION", .type = OPT_MS, .max = RUN_MS_MAX, .at = AT(run_opts, policy.grace_ms), \
      .help = "between TERM and KILL, or the end of the lease (the smaller of 5s and a tenth of the session timeout)" }, \
    { "on-revoke", .value = "WHAT", .type = OPT_WORD, .words = on_revoke_words, .at = AT(run_opts, on_revoke), \
      .help = "when somebody asks for the lock: ignore or term (ignore)" }, \
    { "session-timeout", .value = "DURATION", .type = OPT_MS, .min = 1000, \
      .max = ZKR_SESSION_TIMEOUT_MAX_MS, .at = AT(run_opts, timeout_asked_ms), \
      .help = "to ask of the servers (10s)" }

/* Those that are about the command, which each verb with a command has. */
#define RUN_OPTIONS \
    { "command", 'c', "TEXT", .type = OPT_TEXT, .at = AT(run_opts, text), .help = "run /bin/sh -c TEXT" }, \
    { "why", .value = "TEXT", .type = OPT_TEXT, .at = AT(run_opts, why), \
      .help = "shown to others (COMMAND with its arguments)" }, \
    HOLD_OPTIONS, \
    { "keep-daemons", .type = OPT_ON, .at = AT(run_opts, keep_daemons), \
      .help = "leave processes alone that COMMAND leaves behind" }, \
    { "kill-after", .value = "DURATION", .type = OPT_MS, .max = RUN_MS_MAX, .at = AT(run_opts, kill_after_ms), \
      .help = "KILL when TERM was passed on and the command has not ended since (30s)" }, \
    { "lost-exit-code", .value = "CODE", .type = OPT_CALL, .take = run_take_code, \
      .at = AT(run_opts, lost_code), .help = "when the lock was lost (79)" }
/* clang-format on */
enum { RUN_MS_MAX = INT32_MAX };

/* Options and the lock, from argv on, which is moved behind them; whether the
 * locks are fit; both of these and the command. 0, or an exit code after an
 * error was said. */
int run_parse_options(struct lockctl *ctl, const struct verb *verb,
                      enum claim_kind kind, int *argc, char ***argv,
                      struct run_opts *opts);
int run_check_locks(struct run_opts *opts);
int run_parse(struct lockctl *ctl, const struct verb *verb,
              enum claim_kind kind, int argc, char **argv,
              struct run_opts *opts);

/* As much of a text as a label may have, with a short end that is always
 * whole. */
void why_fit(const char *text, const char *end, char label[ZKR_LABEL_MAX + 1]);

/* `shell` is the process for which a lock is held; 0: it is for the command of
 * the options. */
void label_choose(struct run_opts *opts, pid_t shell);
