/* SPDX-License-Identifier: Apache-2.0 */
/* doctor: says what is wrong with locks, and what helps. */
#include "verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/now.h"
#include "common/words.h"
#include "model/across.h"
#include "model/ask_servers.h"
#include "model/doctor.h"
#include "text/cells.h"
#include "text/fields.h"

struct order {
    struct across_opts across; /* first, for ACROSS_OPTIONS */
    struct doctor_opts doctor;
    bool ask; /* the servers who watches what */
    char *const *paths;
    int path_count;
};

/* clang-format off */
static const struct opt options[] = {
    { "older", .value = "DURATION", .type = OPT_MS, .at = offsetof(struct order, doctor.older_ms),
      .max = INT64_MAX,
      .help = "a node that holds, wants a permit, or waits behind its own session, and is older, is a finding; 0: none is (24h)" },
    { "no-4lw", .type = OPT_OFF, .at = offsetof(struct order, ask),
      .help = "do not ask the servers who is there, and who watches what" },
    ACROSS_OPTIONS,
    { .name = NULL },
};
/* clang-format on */

/* One look at all. */
struct examination {
    struct scan scan;
    struct findings findings;
    struct deadlocks deadlocks;
    bool blind; /* there may be findings where it could not look */
};

static void look_done(struct examination *look)
{
    deadlocks_done(&look->deadlocks);
    findings_done(&look->findings);
    scan_done(&look->scan);
}

/* No age can be judged then. */
static void note_skew(struct examination *look, int64_t behind_ms)
{
    char word[WORD_MAX];

    notes_add(&look->scan.notes,
              "the clock of this machine is %s %s those of the servers: how "
              "old nodes are is not judged",
              word_age(behind_ms < 0 ? -behind_ms : behind_ms, word),
              behind_ms < 0 ? "ahead of" : "behind");
    look->blind = true;
}

static void note_observers(struct notes *notes, const struct servers *servers)
{
    const char *master =
        servers == NULL ? NULL : servers_observer_master(servers);

    if (master != NULL)
        notes_add(notes,
                  "%s is an observer master (observerMasterPort): a session at "
                  "one of its observers needs the option lease_hops = 2, or "
                  "its lease may be longer than the session",
                  master);
}

static bool ask(struct lockctl *ctl, struct examination *look,
                struct servers **ret_servers)
{
    bool any = look->scan.count > 0;
    unsigned words = any ? SERVERS_CONS | SERVERS_WCHP : 0;

    *ret_servers =
        servers_ask(ctl, SERVERS_MNTR | words, "", &look->scan.notes);
    if (*ret_servers == NULL)
        return false;
    look->blind =
        look->blind || (any && (!servers_know_all(*ret_servers, SERVERS_CONS) ||
                                !servers_know_all(*ret_servers, SERVERS_WCHP)));
    note_observers(&look->scan.notes, *ret_servers);
    return true;
}

static int examine(struct lockctl *ctl, struct order *order,
                   const struct examination *before, struct examination *look)
{
    struct servers *servers = NULL;
    bool done = !order->ask || ask(ctl, look, &servers);

    if (done && order->doctor.older_ms > 0) {
        int64_t skew_ms = doctor_skew_ms(&look->scan, servers, &order->doctor);

        if (skew_ms != 0) {
            note_skew(look, skew_ms);
            order->doctor.older_ms = 0;
        }
    }
    if (done)
        doctor_examine(&look->scan, servers, &order->doctor, &look->findings);
    servers_free(servers);
    done = done && deadlocks_find(look->scan.locks, look->scan.count,
                                  before == NULL ? NULL : before->scan.locks,
                                  before == NULL ? 0 : before->scan.count,
                                  &look->deadlocks);
    if (before != NULL)
        findings_keep(&look->findings, &before->findings);
    return done && !look->findings.failed ? 0
                                          : lockctl_fail_error(ZKR_ENOMEM, "");
}

static int look_once(struct lockctl *ctl, struct order *order,
                     const struct examination *before,
                     struct examination *ret_look)
{
    struct examination look = { .scan.count = 0 };
    int code = across_scan(ctl, order->paths, order->path_count,
                           &order->across.scan, &look.scan);

    look.blind = look.scan.notes.count > 0;
    if (code == 0)
        code = examine(ctl, order, before, &look);
    if (code != 0) {
        look_done(&look);
        return code;
    }
    *ret_look = look;
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct lock *)a)->path,
                  ((const struct lock *)b)->path);
}

/* The locks that have findings, and, with deadlocks, those that somebody waits
 * for: every lock of a deadlock is one. NULL: out of memory. */
static bool *suspects(const struct examination *look)
{
    const struct scan *scan = &look->scan;
    bool *all = calloc(scan->count + 1, sizeof(*all));

    for (size_t i = 0; all != NULL && i < scan->count; i++)
        all[i] = look->deadlocks.count > 0 && scan->locks[i].waiters > 0;
    for (size_t i = 0; all != NULL && i < look->findings.count; i++) {
        const struct lock key = { .path = look->findings.items[i].path };
        const struct lock *lock =
            bsearch(&key, scan->locks, scan->count, sizeof(key), by_path);

        if (lock != NULL)
            all[lock - scan->locks] = true;
    }
    return all;
}

/* Only at the suspects of the first look. */
static int look_again(struct lockctl *ctl, struct order *order,
                      struct examination *first, struct examination *ret_look)
{
    struct examination look = { .scan = first->scan, .blind = first->blind };
    bool *wanted;
    int code;

    wanted = suspects(first);
    deadlocks_done(&first->deadlocks);
    first->scan = (struct scan){ .count = 0 };
    code = wanted == NULL ? lockctl_fail_error(ZKR_ENOMEM, "")
                          : across_again(ctl, &order->across.scan, wanted,
                                         &look.scan, &first->scan);
    free(wanted);
    if (code == 0)
        code = examine(ctl, order, first, &look);
    if (code != 0)
        look_done(&look);
    else
        *ret_look = look;
    return code;
}

/* A state that is true at one look only is no finding. */
static int look_twice(struct lockctl *ctl, struct order *order,
                      struct examination *ret_look)
{
    struct examination first;
    int code;

    order->doctor.opened_ms = clock_wall_ms();
    code = lockctl_connect(ctl);
    if (code == 0) {
        order->doctor.session_id = zkr_session_id(ctl->session);
        code = look_once(ctl, order, NULL, &first);
    }
    if (code != 0)
        return code;
    if (first.findings.count == 0 && first.deadlocks.count == 0) {
        *ret_look = first;
        return 0;
    }
    across_pause(ctl, order->across.confirm_ms);
    code = look_again(ctl, order, &first, ret_look);
    look_done(&first);
    if (code == 0) {
        doctor_add_deadlocks(&ret_look->deadlocks, &order->doctor,
                             &ret_look->findings);
        across_note_possible(&ret_look->deadlocks, &ret_look->scan.notes);
    }
    return code;
}

/* --- output --- */

/* clang-format off */
#define AT(member) offsetof(struct finding, member)
const struct field finding_fields[] = {
    { "LOCK", "lock", FIELD_PATH, .at = AT(path) },
    { "CHECK", "check", FIELD_WORD, .at = AT(check), .words = "absent-holder deaf-waiter persistent-contender mixed-recipes old-holder no-permit deadlock own-node" },
    { "FINDING", "what", FIELD_WORD, .at = AT(what) },
    { "CURE", "cure", FIELD_WORD, .at = AT(cure) },
    { .key = "node", .type = FIELD_TEXT, .at = AT(node) },
    { .key = "token", .type = FIELD_TOKEN, .at = AT(token) },
    { .key = NULL },
};
#undef AT
/* clang-format on */

static void print_lines(const struct findings *all)
{
    char path[PATH_TEXT_MAX];

    for (size_t i = 0; i < all->count; i++) {
        const struct finding *f = &all->items[i];

        (void)printf("%s: %s: %s. Cure: %s\n", cell_path(f->path, path),
                     f->check, f->what, f->cure);
    }
}

static int print(const struct lockctl *ctl, const struct examination *look)
{
    const struct findings *all = &look->findings;
    const struct rows rows = { .kind = "FindingList",
                               .fields = finding_fields,
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
    struct order order = { .across = ACROSS_OPTS_INIT,
                           .doctor.older_ms = INT64_C(24) * 3600 * 1000,
                           .ask = true };
    struct examination look;
    int code;

    if (!lockctl_parse(ctl, &verb_doctor, &argc, &argv, &order))
        return EX_USAGE;
    order.paths = argv;
    order.path_count = argc;
    code = look_twice(ctl, &order, &look);
    if (code != 0)
        return code;
    code = scan_code(&look.scan, print(ctl, &look));
    if (code == 0)
        code = look.findings.count > 0 ? EX_NO : look.blind ? EX_UNSEEN : 0;
    look_done(&look);
    return code;
}

const struct verb verb_doctor = {
    .name = "doctor",
    .usage = "[OPTION]... [PATH]...",
    .summary = "Find what is wrong with locks, and what helps; exit code 1",
    .options = options,
    .help = "One line for each finding: absent-holder, deaf-waiter,\n"
            "persistent-contender, mixed-recipes, old-holder, no-permit,\n"
            "deadlock, own-node.\n"
            "Exit code 82: no finding, but something could not be looked at,\n"
            "such as the words of --no-4lw.\n",
    .run = doctor,
};
