/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the ways of claiming: docs/design.md draws the moves of each one's
 * table, all of them and no others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/claim.h"
#include "lock/cohort.h"
#include "semaphore_recipe.h"
#include "unfair_recipe.h"
#include "unit.h"

enum { LINE_MAX_LEN = 256, NAME_LEN = 31 };

static int state_of(const struct zkr__sm_state *moves, const char *name)
{
    for (int i = 0; i < ZKR__CLAIM_STATES; i++) {
        if (strcmp(moves[i].name, name) == 0)
            return i;
    }
    fail_msg("docs/design.md draws a state '%s'", name);
    return -1;
}

/* The lines of the picture, until its end. */
static void read_moves(FILE *page, const struct zkr__sm_state *moves,
                       uint32_t drawn[ZKR__CLAIM_STATES])
{
    char line[LINE_MAX_LEN];

    while (fgets(line, sizeof(line), page) != NULL &&
           strncmp(line, "```", 3) != 0) {
        char from[NAME_LEN + 1];
        char to[NAME_LEN + 1];
        uint32_t *next;

        if (sscanf(line, " %31s --> %31[A-Z]", from, to) != 2)
            fail_msg("not a move: %s", line);
        next = &drawn[state_of(moves, from)];
        if ((*next & ZKR__BIT(state_of(moves, to))) != 0)
            fail_msg("drawn twice: %s", line);
        *next |= ZKR__BIT(state_of(moves, to));
    }
}

/* The picture follows a comment that says whose moves it draws. */
static void read_picture(const char *comment, const struct zkr__sm_state *moves,
                         uint32_t drawn[ZKR__CLAIM_STATES])
{
    FILE *page = fopen(DESIGN_PAGE, "r");
    char line[LINE_MAX_LEN];

    assert_non_null(page);
    do {
        if (fgets(line, sizeof(line), page) == NULL)
            fail_msg("docs/design.md has no line '%s'", comment);
    } while (strstr(line, comment) == NULL);
    read_moves(page, moves, drawn);
    (void)fclose(page);
}

static void assert_drawn(const char *comment, const struct zkr__sm_state *moves)
{
    uint32_t drawn[ZKR__CLAIM_STATES] = { 0 };

    read_picture(comment, moves, drawn);
    for (int from = 0; from < ZKR__CLAIM_STATES; from++) {
        for (int to = 0; to < ZKR__CLAIM_STATES; to++) {
            bool in_picture = (drawn[from] & ZKR__BIT(to)) != 0;
            bool in_table = (moves[from].next & ZKR__BIT(to)) != 0;

            if (in_picture != in_table)
                fail_msg("%s: %s --> %s is only in the %s", comment,
                         moves[from].name, moves[to].name,
                         in_table ? "table" : "picture");
        }
    }
}

TEST(the_moves_in_a_queue_are_drawn)
{
    assert_drawn("%% moves of in_a_queue\n", zkr__in_a_queue.moves);
}

TEST(the_moves_of_the_unfair_mutex_are_drawn)
{
    assert_drawn("%% moves of by_creating_it\n", zkr__by_creating_it.moves);
}

TEST(the_moves_of_a_permit_are_drawn)
{
    assert_drawn("%% moves of among_a_few\n", zkr__among_a_few.moves);
}

TEST(the_moves_in_a_cohort_are_drawn)
{
    assert_drawn("%% moves of in_a_cohort\n", zkr__in_a_cohort.moves);
}
