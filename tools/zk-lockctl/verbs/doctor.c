/* SPDX-License-Identifier: Apache-2.0 */
/* doctor: says what is wrong with locks, and what helps. */
#include "verbs/verbs.h"

#include <stdio.h>

#include "common/now.h"
#include "common/words.h"
#include "model/across.h"
#include "model/cons.h"
#include "model/doctor.h"
#include "text/fields.h"
#include "text/lock_fields.h"

struct order {
    struct across_opts across; /* first, for ACROSS_OPTIONS */
    struct doctor_opts doctor;
    bool ask; /* the servers who is connected */
};
static struct order order = { .across = ACROSS_OPTS_INIT,
                              .doctor.older_ms = INT64_C(24) * 3600 * 1000,
                              .ask = true };

/* clang-format off */
static const struct opt options[] = {
    { "older", .value = "DURATION", .type = OPT_MS, .at = AT(order, doctor.older_ms),
      .max = INT64_MAX,
      .help = "a node that holds, or waits behind its own session, and is older, is a finding; 0: none is (24h)" },
    { "no-4lw", .type = OPT_OFF, .at = AT(order, ask),
      .help = "do not ask the servers who is connected" },
    ACROSS_OPTIONS,
    { .name = NULL },
};
/* clang-format on */

/* No age is judged by clocks that differ. */
static void check_clocks(const struct servers *servers, const struct scan *look,
                         struct across *a)
{
    int64_t skew_ms = order.doctor.older_ms == 0
                          ? 0
                          : doctor_skew_ms(look, servers, &order.doctor);
    char word[WORD_MAX];

    if (skew_ms == 0)
        return;
    notes_add(&a->scan.notes,
              "the clock of this machine is %s %s those of the servers: how "
              "old nodes are is not judged",
              word_age(skew_ms < 0 ? -skew_ms : skew_ms, word),
              skew_ms < 0 ? "ahead of" : "behind");
    a->blind = true;
    order.doctor.older_ms = 0;
}

static void examine(struct lockctl *ctl, const struct scan *look,
                    struct across *a)
{
    struct findings before = a->findings;
    struct servers *servers = NULL;
    bool first = look == &a->scan;

    order.doctor.session_id = zkr_session_id(ctl->session);
    a->blind = a->blind || look->notes.count > 0;
    if (order.ask) {
        servers = servers_ask(ctl, &a->scan.notes);
        /* Where no lock is, no client is missing. */
        a->blind = a->blind ||
                   (look->count > 0 ? !servers->whole : servers->silent > 0);
    }
    check_clocks(servers, look, a);
    a->findings = (struct findings){ .count = 0 };
    doctor_examine(look, servers, &order.doctor, &a->findings);
    servers_free(servers);
    if (first)
        return;
    findings_keep(&a->findings, &before);
    findings_done(&before);
    doctor_add_deadlocks(&a->deadlocks, &order.doctor, &a->findings);
}

/* --- output --- */

/* clang-format off */
static const struct field finding_fields[] = {
    { "LOCK", "lock", FIELD_PATH, .at = AT(finding, path) },
    { "CHECK", "check", FIELD_WORD, .at = AT(finding, check), .words = "absent-holder persistent-contender mixed-recipes old-holder deadlock own-node" },
    { "FINDING", "what", FIELD_WORD, .at = AT(finding, what) },
    { "CURE", "cure", FIELD_WORD, .at = AT(finding, cure) },
    { .key = "node", .type = FIELD_TEXT, .at = AT(zkr_participant, name), .in = AT(finding, node) },
    { .key = "token", .type = FIELD_TOKEN, .at = AT(zkr_participant, token), .in = AT(finding, node) },
    { .key = NULL },
};
/* clang-format on */
static const struct kind finding_kind = { "finding", "FindingList",
                                          finding_fields };

static void print_lines(const struct findings *all)
{
    char path[PATH_TEXT_MAX];

    for (size_t i = 0; i < all->count; i++) {
        const struct finding *f = &all->items[i];

        (void)printf("%s: %s: %s. Cure: %s\n", cell_path(f->path, path),
                     f->check, f->what, f->cure);
    }
}

static int print(const struct lockctl *ctl, const struct across *look)
{
    const struct findings *all = &look->findings;
    const struct rows rows = { .kind = &finding_kind,
                               .of = all->items,
                               .size = sizeof(*all->items),
                               .count = all->count,
                               .at_ms = look->scan.at_ms,
                               .notes = &look->scan.notes };
    int code = 0;

    if (ctl->format != FORMAT_TABLE || ctl->columns != NULL) {
        code = rows_print(ctl, &rows);
    } else {
        print_lines(all);
        notes_say(&look->scan.notes, ctl);
    }
    lockctl_say(ctl, "%zu lock%s, %zu finding%s%s", look->scan.count,
                word_plural(look->scan.count), all->count,
                word_plural(all->count),
                look->blind ? "; not all could be looked at" : "");
    return code;
}

static int doctor(struct lockctl *ctl, int argc, char **argv)
{
    order.doctor.opened_ms = clock_wall_ms();
    order.across.judge = examine;
    return across_run(ctl, argc, argv, &order.across, print);
}

const struct verb verb_doctor = {
    .name = "doctor",
    .usage = "[OPTION]... [PATH]...",
    .summary = "Find what is wrong with locks, and what helps; exit code 1",
    .options = options,
    .kinds = (const struct kind *const[]){ &finding_kind, NULL },
    .into = &order,
    .takes = TAKES_PATHS,
    .help = "One line for each finding: absent-holder, persistent-contender,\n"
            "mixed-recipes, old-holder, deadlock, own-node.\n"
            "Exit code 82: no finding, but something could not be looked at,\n"
            "such as who is connected (--no-4lw).\n",
    .run = doctor,
};
