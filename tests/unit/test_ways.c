/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the ways of claiming: docs/design.md draws the moves of each one's
 * table, with their events: all of them and no others. */
#include "lock/claim.h"
#include "lock/cohort.h"
#include "unit.h"

enum { LINE_MAX_LEN = 256, NAME_LEN = 31 };

/* For each state and event, whether the picture has an arrow, and where to. */
struct picture {
    bool drawn[ZKR__CLAIM_STATES][ZKR__EVENTS];
    int to[ZKR__CLAIM_STATES][ZKR__EVENTS];
};

static int state_of(const char *name)
{
    for (int i = 0; i < ZKR__CLAIM_STATES; i++) {
        if (strcmp(zkr__claim_states[i].name, name) == 0)
            return i;
    }
    fail_msg("docs/design.md draws a state '%s'", name);
    return -1;
}

static int event_of(const char *name)
{
    for (int i = 0; i < ZKR__EVENTS; i++) {
        if (strcmp(zkr__event_names[i], name) == 0)
            return i;
    }
    fail_msg("docs/design.md draws an event '%s'", name);
    return -1;
}

/* The lines of the picture, until its end. */
static void read_moves(FILE *page, struct picture *picture)
{
    char line[LINE_MAX_LEN];

    while (fgets(line, sizeof(line), page) != NULL &&
           strncmp(line, "```", 3) != 0) {
        char from[NAME_LEN + 1];
        char to[NAME_LEN + 1];
        char event[NAME_LEN + 1];

        if (sscanf(line, " %31s --> %31[A-Z]: %31[A-Z_]", from, to, event) != 3)
            fail_msg("not a move: %s", line);
        int state = state_of(from);
        if (picture->drawn[state][event_of(event)])
            fail_msg("drawn twice: %s", line);
        picture->drawn[state][event_of(event)] = true;
        picture->to[state][event_of(event)] = state_of(to);
    }
}

/* The picture follows a comment that says whose moves it draws. */
static void read_picture(const char *comment, struct picture *picture)
{
    FILE *page = fopen(DESIGN_PAGE, "r");
    char line[LINE_MAX_LEN];

    assert_non_null(page);
    do {
        if (fgets(line, sizeof(line), page) == NULL)
            fail_msg("docs/design.md has no line '%s'", comment);
    } while (strstr(line, comment) == NULL);
    read_moves(page, picture);
    (void)fclose(page);
}

static const struct row {
    const char *name;
    const struct zkr__way *way;
} rows[] = {
    { "in_a_queue", &zkr__in_a_queue },
    { "by_creating_it", &zkr__by_creating_it }, /* the unfair mutex */
    { "among_a_few", &zkr__among_a_few },       /* a permit */
    { "in_a_cohort", &zkr__in_a_cohort },
};

TEST_ROWS(the_moves_are_drawn, rows, row)
{
    struct picture picture = { 0 };

    read_picture(textf("%%%% moves of %s\n", row->name), &picture);
    for (int from = 0; from < ZKR__CLAIM_STATES; from++) {
        for (int event = 0; event < ZKR__EVENTS; event++) {
            const struct zkr__reaction *reaction =
                &row->way->reactions[from][event];
            bool moves =
                reaction->run != NULL && reaction->next != ZKR__CLAIM_STATES;

            if (moves != picture.drawn[from][event] ||
                (moves && (int)reaction->next != picture.to[from][event]))
                fail_msg("%s: %s, %s: table and picture differ", row->name,
                         zkr__claim_states[from].name, zkr__event_names[event]);
        }
    }
}
