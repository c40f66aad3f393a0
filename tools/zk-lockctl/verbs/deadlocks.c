/* SPDX-License-Identifier: Apache-2.0 */
/* deadlocks: finds owners who wait for each other, and says what would end
 * it. */
#include "verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/words.h"
#include "model/across.h"
#include "model/breaking.h"
#include "text/envelope.h"
#include "text/lock_fields.h"

/* --- as text --- */

static void print_place(const char *verb, const struct contender *c)
{
    char path[PATH_TEXT_MAX];
    char age[WORD_MAX];

    (void)printf("%s %s (", verb, cell_path(c->path, path));
    if (c->node->holds)
        (void)printf("<=");
    (void)printf("%s", word_age(c->age_ms, age));
    if (!c->node->holds)
        (void)printf(", position %zu", c->place);
    (void)putchar(')');
}

static void print_member(const struct deadlock_member *m, int width)
{
    char who[NAMED_MAX];

    (void)printf("  %-*s", width, contender_named(m->waits, who));
    if (deadlock_is_nested(m)) {
        print_place("  waits for", m->waits);
        (void)printf(", inside %s, which", contender_named(m->held, who));
        print_place(" holds", m->held);
    } else {
        if (m->held != NULL)
            print_place("  holds", m->held);
        print_place("  waits for", m->waits);
    }
    (void)putchar('\n');
}

/* The owner that has waited shortest loses least. */
static const struct contender *loser(const struct deadlock *d)
{
    return d->youngest->held == NULL ? d->youngest->waits : d->youngest->held;
}

static bool listens(const struct contender *c)
{
    return c->node->holds && !c->owner.is_asked &&
           zkr__hears_requests(c->node, c->dialect);
}

static void print_cure(const struct deadlock *d)
{
    const struct deadlock_member *m = d->youngest;
    const struct contender *c = loser(d);
    char *order = breaking_command(c, listens(c), NULL);
    char who[NAMED_MAX];
    char stop[STOP_MAX];

    (void)printf("  waits shortest: %s\n", contender_named(m->waits, who));
    (void)printf("  to resolve: ");
    if (deadlock_is_nested(m)) /* it has nothing yet that could be harmed */
        (void)printf("end %s, or: ", contender_named(m->waits, who));
    (void)fputs(order, stdout);
    free(order);
    if (!listens(c))
        (void)printf(
            "   (stop %s first%s)", contender_to_stop(c, "that program", stop),
            zkr__sees_its_own_node(c->dialect) ? "" : ": it may not notice");
    (void)putchar('\n');
}

static int widest(const struct deadlock *d)
{
    char who[NAMED_MAX];
    int width = 0;

    for (size_t i = 0; i < d->count; i++) {
        int len = (int)strlen(contender_named(d->members[i].waits, who));

        width = len > width ? len : width;
    }
    return width;
}

static void print_text(const struct across *a)
{
    char age[WORD_MAX];

    for (size_t i = 0; i < a->deadlocks.count; i++) {
        const struct deadlock *d = &a->deadlocks.items[i];

        (void)printf("%sDEADLOCK %zu (%s, %zu owner%s, for %s)\n",
                     i == 0 ? "" : "\n", i + 1,
                     d->certain ? "confirmed" : "possible", d->count,
                     d->count == 1 ? "" : "s", word_age(d->age_ms, age));
        for (size_t k = 0; k < d->count; k++)
            print_member(&d->members[k], widest(d));
        if (d->certain)
            print_cure(d);
        else
            (void)puts("  possible: it is none if other threads of the session "
                       "wait, or in an election;\n"
                       "  see the stacks of these programs before you end one");
    }
}

/* --- a place in a queue --- */

/* clang-format off */
static const struct field place_fields[] = {
    { .key = "lock", .type = FIELD_PATH, .at = AT(contender, path) },
    { .key = "position", .type = FIELD_COUNT, .at = AT(contender, place) },
    { .key = "contender", .type = FIELD_OBJECT, .kind = &contender_kind },
    { .key = NULL },
};
/* clang-format on */
static const struct kind place_kind = { "place", NULL, place_fields };

/* --- a deadlock, and its members --- */

struct member_row {
    const char *who;
    const struct zkr_participant *node;
    const struct contender *held, *waits;
    bool shortest;
};

/* clang-format off */
static const struct field member_fields[] = {
    { .key = "who", .type = FIELD_WORD, .at = AT(member_row, who) },
    { .key = "session", .type = FIELD_SESSION, .at = AT(zkr_participant, session_id), .in = AT(member_row, node) },
    { .key = "holds", .type = FIELD_OBJECT, .in = AT(member_row, held), .kind = &place_kind },
    { .key = "waits_for", .type = FIELD_OBJECT, .in = AT(member_row, waits), .kind = &place_kind },
    { .key = "waits_shortest", .type = FIELD_BOOL, .at = AT(member_row, shortest) },
    { .key = NULL },
};
/* clang-format on */
static const struct kind member_kind = { "member", NULL, member_fields };

static json_t *owners_json(const void *item)
{
    const struct deadlock *d = item;
    json_t *all = json_array();
    char who[WHO_MAX];

    for (size_t i = 0; i < d->count; i++) {
        const struct deadlock_member *m = &d->members[i];
        const struct member_row row = {
            .who = contender_who(m->waits, who),
            .node = m->waits->node,
            .held = m->held,
            .waits = m->waits,
            .shortest = m == d->youngest,
        };

        (void)json_array_append_new(all, fields_json(member_fields, &row));
    }
    return all;
}

/* Nothing resolves what is only possible. */
static json_t *cure_json(const void *item)
{
    const struct deadlock *d = item;

    if (!d->certain)
        return json_null();
    char *order = breaking_command(loser(d), listens(loser(d)), NULL);
    json_t *cure = json_string(order);
    free(order);
    return cure;
}

/* clang-format off */
static const struct field deadlock_fields[] = {
    { .key = "confirmed", .type = FIELD_BOOL, .at = AT(deadlock, certain) },
    { .key = "age_ms", .type = FIELD_MS, .at = AT(deadlock, age_ms) },
    { .key = "since", .type = FIELD_TIME, .at = AT(deadlock, since) },
    { .key = "cure", .type = FIELD_TEXT, .json = cure_json },
    { .key = "owners", .type = FIELD_LIST, .json = owners_json, .kind = &member_kind },
    { .key = NULL },
};
/* clang-format on */
static const struct kind deadlock_kind = { "deadlock", "DeadlockList",
                                           deadlock_fields };

static int print(const struct lockctl *ctl, const struct across *a)
{
    const struct rows rows = { .kind = &deadlock_kind,
                               .of = a->deadlocks.items,
                               .size = sizeof(*a->deadlocks.items),
                               .count = a->deadlocks.count,
                               .at_ms = a->scan.at_ms,
                               .notes = &a->scan.notes };
    int code = 0;

    if (output_is_json(ctl)) {
        code = rows_print(ctl, &rows);
    } else {
        print_text(a);
        notes_say(&a->scan.notes, ctl);
    }
    if (a->deadlocks.count == 0 && (a->scan.count > 0 || a->scan.denied == 0))
        lockctl_say(ctl, "no deadlock among %zu lock%s", a->scan.count,
                    word_plural(a->scan.count));
    return code;
}

/* clang-format off */
static const struct opt options[] = {
    { "possible", .type = OPT_ON, .at = AT(across_opts, possible),
      .help = "also what is only possible: the nodes do not say which thread is theirs, as those of Curator, of kazoo and of claims without threads" },
    ACROSS_OPTIONS,
    { .name = NULL },
};
/* clang-format on */

static struct across_opts opts = ACROSS_OPTS_INIT;

static int deadlocks(struct lockctl *ctl, int argc, char **argv)
{
    if (ctl->columns != NULL)
        return lockctl_fail(EX_USAGE, "deadlocks: it has no columns");
    return across_run(ctl, argc, argv, &opts, print);
}

const struct verb verb_deadlocks = {
    .name = "deadlocks",
    .usage = "[OPTION]... [PATH]...",
    .summary = "Find owners of locks who wait for each other; exit code 1",
    .options = options,
    .kinds = (const struct kind *const[]){ &deadlock_kind, NULL },
    .into = &opts,
    .takes = TAKES_PATHS,
    .help =
        "All locks at and below the paths, or all there are. Exit code 1 is\n"
        "for what records confirm. Without them a session behind its own node\n"
        "is possible only: two threads may use one lock. See zk-lockctl(1).\n",
    .run = deadlocks,
};
