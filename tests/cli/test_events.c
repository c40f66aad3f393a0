/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the events told of the difference between two looks at a lock. */
#include "model/events.h"
#include "model/tally.h"
#include "unit.h"

enum { ITEMS_MAX = 8, T0 = 1000000 };

/* A look is made from a text such as "a1H b2 c3S". Each word is a name, a token
 * and marks: H it holds, S it is shared, A it was asked for the lock, L it is
 * the lease of a semaphore, M other recipes are there, too, X and Y it is of
 * these sessions. */
struct seen {
    struct view view;
    struct zkr_participant nodes[ITEMS_MAX];
    struct contender items[ITEMS_MAX];
    char names[ITEMS_MAX][2];
};

static void take_flags(struct seen *s, size_t i, const char *flags)
{
    for (; *flags != ' ' && *flags != '\0'; flags++) {
        if (*flags == 'H')
            s->nodes[i].holds = true;
        if (*flags == 'S' || *flags == 'L')
            s->nodes[i].kind = ZKR_PARTICIPANT_SHARED;
        if (*flags == 'A')
            s->items[i].owner.is_asked = true;
        if (*flags == 'X' || *flags == 'Y')
            s->nodes[i].session_id = *flags;
        if (*flags == 'M')
            s->view.lock.kind = ZKR__KIND_MIXED;
        if (*flags != 'L')
            continue;
        s->nodes[i].marker = "lease-";
        s->view.lock.kind = ZKR__KIND_SEMAPHORE;
    }
}

/* The last four stay. */
static struct seen *look(int64_t at_ms, const char *text)
{
    static struct seen looks[4];
    static size_t made;
    struct seen *s = &looks[made++ % COUNT(looks)];
    size_t n = 0;

    free(s->view.lease_gone);
    *s = (struct seen){ .view.lock.at_ms = at_ms };
    for (text += strspn(text, " "); *text != '\0';
         text += strcspn(text, " "), text += strspn(text, " ")) {
        assert_true(n < ITEMS_MAX);
        s->names[n][0] = text[0];
        s->nodes[n].name = s->names[n];
        s->nodes[n].marker = "lock-";
        s->nodes[n].data = "";
        s->nodes[n].kind = ZKR_PARTICIPANT_EXCLUSIVE;
        s->nodes[n].token = text[1] - '0';
        s->nodes[n].since_ms = T0 + 10 * (text[0] - 'a');
        s->items[n].node = &s->nodes[n];
        take_flags(s, n, text + 2);
        n++;
    }
    s->view.lock.items = s->items;
    s->view.lock.count = n;
    return s;
}

static char told[1024];

/* "acquired b, gone a" */
static void tell(const struct event *e, void *user)
{
    size_t used = strlen(told);

    assert_int_equal(e->at_ms, ((const struct view *)user)->lock.at_ms);
    (void)snprintf(told + used, sizeof(told) - used, "%s%s %s",
                   used == 0 ? "" : ", ", event_name(e->kind),
                   e->of->node->name);
}

static char *trim(char *text)
{
    char *end = text + strlen(text);

    while (end > text && end[-1] == ' ')
        *--end = '\0';
    return text + strspn(text, " ");
}

static void compare(struct seen *before, struct seen *after, const char *want)
{
    told[0] = '\0';
    events_between(before == NULL ? NULL : &before->view, &after->view, tell,
                   &after->view);
    assert_string_equal(told, want);
}

/* Plays "LOOK | LOOK: EVENTS | ...", 100 ms apart: the events since the look
 * before, or, of the first, of what is there. */
static void play(const char *looks)
{
    int64_t at_ms = T0 + 100;
    struct seen *before = NULL;
    char copy[512];
    char *rest = copy;
    char *part;

    PRINT(copy, "%s", looks);
    while ((part = strsep(&rest, "|")) != NULL) {
        char *want = strchr(part, ':');

        if (want != NULL)
            *want++ = '\0';
        struct seen *after = look(at_ms, part);
        if (want == NULL)
            events_between(before == NULL ? NULL : &before->view, &after->view,
                           NULL, NULL);
        else
            compare(before, after, trim(want));
        before = after;
        at_ms += 100;
    }
}

/* clang-format off */
static const struct row {
    const char *name;
    const char *looks[9];
} rows[] = {
    { "the_first_look_tells_the_state", { "a1H b2: holding a, waiting b" } },
    { "nothing_new_is_nothing_told", { " | :", "a1H b2 c3 | a1H b2 c3:" } },
    { "a_new_node_is_queued", { "a1H | a1H b2: queued b", " | a1H: queued a, acquired a" } },
    { "a_new_holder_has_acquired",
      { "a1H b2 | b2H: gone a, acquired b",
        "a1H b2S c3S | b2SH c3SH: gone a, acquired b, "
        "acquired c" } },

    /* --- semaphores --- */

    /* Its own lease was there before it had the permit; or it waited at most
     * since the last look. */
    { "a_claim_for_a_permit_becomes_a_lease",
      { "a1LXH b2Y | a1LXH c3LYH: acquired c",
        "a1LXH b2Y d4X | b2Y d4X c3LYH: gone a, acquired c",
        "a1LXH c3LY b2Y | a1LXH c3LYH: acquired c",
        "c3LY b2Y a1LXH | c3LYH a1LXH: acquired c | a1LXH: gone c",
        "c3LY b2Y a1LXH | a1LXH: gone b",
        "a1LXH | a1LXH c3LYH: acquired c",
        "b2Y | c3LYH: acquired c", "a1LXH b2Y | a1LXH c3LYHM: acquired c",
        "a1LXH b2Y | a1LXH b2Y: | a1LXH c3LYH: acquired c" } },
    /* A lease that is of another session, is older, or does not hold, and a
     * node that is none. */
    { "another_node_is_not_the_lease_of_a_claim",
      { "a1LXH b2Y d4X | a1LXH d4X c3LXH: gone b, acquired c",
        "a1LXH b5Y | a1LXH c3LYH: gone b, acquired c",
        "a1LXH b3Y | a1LXH c3LYH: gone b, acquired c",
        "a1LXH b2Y | a1LXH c3LY: gone b",
        "a1LXH b2YHM | a1LXH c3LYHM: gone b, acquired c",
        "a1LXH c3LY | a1LXH d4LYH: acquired d",
        "a1LXH b2Y | a1LXH e5YH: gone b, queued e, acquired e" } },
    { "a_lease_that_does_not_hold_is_no_event",
      { "a1LXH c3LY b2Y: holding a, waiting b",
        "a1LXH b2Y | a1LXH c3LY b2Y:", "a1LXH | a1LXH c3LY b2Y: queued b" } },
    /* Regression: the lease of a claim came and went while the claim was still
     * listed. When the claim was gone, a later lease of its session was taken
     * for that one, and nothing told of the first. */
    { "a_lease_that_came_and_went_is_told",
      { "c3LY b2Y a1LXH | b2Y a1LXH: | b2Y a1LXH: | a1LXH d4LYH: "
        "gone b, acquired d" } },
    /* Regression: the later lease was taken for the one that the claim waits
     * for, and when both had gone, one event told of two leases. */
    { "a_lease_beside_a_claim_that_had_its_own_is_told",
      { "c3LY b2Y a1LXH | d5LY b2Y a1LXH: acquired d | d5LY b2Y a1LXH: | "
        "d5LYH a1LXH: gone b",
        "c3LY b2Y | d5LY b2Y: acquired d | : gone d, gone b" } },
    /* The first of the queue may have had a permit meanwhile. */
    { "a_waiter_that_gives_up_has_left_the_queue",
      { "a1LXH c3LY b2Y d4X | a1LXH d4X: gone b",
        "a1LXH b2Y d4X | a1LXH b2Y: left d" } },

    /* --- who goes --- */

    /* Also when not the one before it remains, but another. */
    { "a_waiter_whose_blocker_remains_has_left",
      { "a1H b2 c3 | a1H c3: left b",
        "a1H b2 c3 d4 | a1H: left b, left c, "
        "left d",
        "a1SH b2SH c3 | a1SH: gone b, left c",
        "a1H b2S c3S | a1H c3S: left b" } },
    /* It may have held between the looks; a reader waits for no reader. */
    { "a_waiter_whose_blocker_has_gone_too_is_gone",
      { "a1H b2 c3 | c3H: gone a, gone b, acquired c",
        "a1SH b2 c3S | a1SH: left b, gone c" } },
    /* "holder" of an unfair mutex is always the same name, and numbers begin
     * anew with the directory. A token of zero could not be read, in this look
     * or in the one before. */
    { "the_same_name_may_be_another_node",
      { "a1H | a2H: gone a, queued a, acquired a",
        "a1H | a0H:", "a0H | a1H:" } },
    { "a_request_to_a_holder_is_told_once",
      { "a1H | a1HA: revoked a", "a1HA | a1HA:",
        " | a1HA: queued a, acquired a, revoked a" } },
};
/* clang-format on */

TEST_ROWS(events_are, rows, row)
{
    for (size_t i = 0; i < COUNT(row->looks) && row->looks[i] != NULL; i++)
        play(row->looks[i]);
}

/* --- what no list shows --- */

TEST(creates_that_no_list_shows_are_missed)
{
    struct zkr_stat before = { .cversion = 3,
                               .children = 1 }; /* two creates and a delete */
    struct zkr_stat after = { .cversion = 9,
                              .children = 1 }; /* five creates, four deletes */
    struct zkr_stat wrapped = { .cversion = INT32_MIN + 3, .children = 1 };
    struct zkr_stat first = { .cversion = INT32_MAX, .children = 1 };

    assert_int_equal(tally_creates(&before), 2);
    assert_int_equal(tally_missed(tally_creates(&before), &after, 1), 2);
    assert_int_equal(tally_missed(tally_creates(&before), &after, 3), 0);
    assert_int_equal(tally_missed(0, &after, 1), 4);
    /* a server that counts backwards, and a number that wraps around */
    assert_int_equal(tally_missed(tally_creates(&after), &before, 0), 0);
    assert_int_equal(tally_missed(tally_creates(&first), &wrapped, 0), 2);
    assert_true(tally_is_older(&before, &after));
    assert_true(tally_is_older(&first, &wrapped));
    assert_false(tally_is_older(&after, &after));
}

TEST(a_holder_that_was_asked_is_still_known)
{
    struct seen *first = look(T0 + 100, "a1H");
    struct seen *second = look(T0 + 200, "a1HA");
    struct seen *third = look(T0 + 300, "a1HA");
    struct seen *fourth = look(T0 + 400, "a1HA");

    first->items[0].owner.is_record = true;
    first->items[0].dialect = ZKR__DIALECT_ZKRECIPES;
    (void)snprintf(first->items[0].owner.host, 8, "there");
    compare(NULL, first, "holding a");
    compare(first, second, "revoked a");
    compare(second, third, "");
    assert_string_equal(third->items[0].owner.host, "there");
    assert_true(third->items[0].owner.is_asked);
    assert_int_equal(third->items[0].dialect, ZKR__DIALECT_ZKRECIPES);
    fourth->items[0].owner.is_record = true; /* it has written that again */
    compare(third, fourth, "");
    assert_string_equal(fourth->items[0].owner.host, "");
}

TEST(data_that_a_request_has_replaced_is_still_known)
{
    struct seen *first = look(T0 + 100, "a1H");
    struct seen *second = look(T0 + 200, "a1HA");
    struct seen *third = look(T0 + 300, "a1HA");
    static const char room[2 * ZKR__OWNER_SAID_MAX];
    char who[WHO_MAX];

    first->nodes[0].data = "me";
    first->nodes[0].data_size = 2;
    compare(NULL, first, "holding a");
    compare(first, second, "revoked a");
    assert_string_equal(contender_who(&second->items[0], who),
                        "me (asked to release)");
    compare(second, third, "");
    assert_string_equal(contender_who(&third->items[0], who),
                        "me (asked to release)");
    first->nodes[0].data_size = sizeof(room);
    first->nodes[0].data = room;
    compare(first, second, "revoked a");
    assert_int_equal(second->items[0].owner.said_size, ZKR__OWNER_SAID_MAX);
    assert_true(strlen(contender_who(&second->items[0], who)) < WHO_MAX);
}

/* The reported events, applied in order, lead from one look to the next. */
TEST(random_queues_are_told_consistently)
{
    uint64_t random = 7;

    for (int i = 0; i < 20000; i++) {
        char texts[2][64] = { "", "" };
        int events = 0;

        for (int look_number = 0; look_number < 2; look_number++) {
            for (char name = 'a'; name < 'a' + ITEMS_MAX; name++) {
                uint64_t r = unit_random(&random);
                char item[8];

                if ((r & 1) == 0)
                    continue;
                PRINT(item, "%c%d%s%s ", name, (int)(r >> 1 & 1),
                      (r & 4) != 0 ? "H" : "", (r & 8) != 0 ? "S" : "");
                (void)strncat(texts[look_number], item, 63);
            }
        }
        struct seen *first = look(T0 + 100, texts[0]);
        struct seen *second = look(T0 + 200, texts[1]);

        told[0] = '\0';
        events_between(NULL, &first->view, NULL, NULL);
        events_between(&first->view, &second->view, tell, &second->view);
        for (size_t k = 0; k < second->view.lock.count; k++) {
            if (strchr(texts[0], second->names[k][0]) != NULL)
                continue;
            assert_has(told, textf("queued %s", second->names[k]));
            events++;
        }
        for (size_t k = 0; k < first->view.lock.count; k++) {
            if (strchr(texts[1], first->names[k][0]) != NULL)
                continue;
            const char *gone = textf("gone %s", first->names[k]);
            assert_true(
                (strstr(told, gone) != NULL) !=
                (strstr(told, textf("left %s", first->names[k])) != NULL));
            if (first->nodes[k].holds)
                assert_has(told, gone);
            events++;
        }
        if (events > 0)
            assert_true(told[0] != '\0');
    }
}
