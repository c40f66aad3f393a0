/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the questions of top: whom they are about, and which answers count,
 * without servers and without a terminal. */

#include "texts.h"
#include "top/deed.h"
#include "top/keys.h"
#include "unit.h"

enum { MOST = 4 };

static struct zkr_participant nodes[MOST];
static struct contender items[MOST];
static struct lock lock;
static struct dialog dialog;
static struct outcome said;
static struct lockctl ctl = { .settings = { [SETTING_SERVERS] = "zk1" } };

/* "77H 78H 79": tokens, and H holds. */
static void queue(const char *text)
{
    char *rest;

    lock = (struct lock){ .path = "/a", .items = items };
    for (; *text != '\0'; text = rest + strspn(rest, "H ")) {
        struct zkr_participant *p = &nodes[lock.count];

        *p = (struct zkr_participant){ .name = "lock-0000000001",
                                       .marker = "lock-",
                                       .kind = ZKR_PARTICIPANT_EXCLUSIVE,
                                       .session_id = 9,
                                       .data = "" };
        p->token = strtoll(text, &rest, 10);
        p->holds = *rest == 'H';
        items[lock.count] =
            (struct contender){ .node = p, .dialect = ZKR__DIALECT_ZKRECIPES };
        lock.count++;
        lock.holders += p->holds;
    }
    lock.listed = lock.count;
    lock.holder = lock.holders > 0 ? &items[0] : NULL;
}

static int setup(void)
{
    said = (struct outcome){ .code = 0 };
    queue("77H 78");
    return 0;
}

static int teardown(void)
{
    dialog_done(&dialog);
    return 0;
}

FIXTURE(setup, teardown)

static void ask_to_break(void)
{
    const struct told told = { .servers = NULL };

    dialog_break(&dialog, &lock, NULL, &said);
    assert_int_equal(dialog.kind, DIALOG_BREAK);
    dialog_explain(&dialog, &ctl, &lock, &told);
    assert_true(dialog.lines.count > 0);
    dialog.is_seen = true;
}

/* Returns what the last key means. */
static bool press(const char *keys)
{
    bool yes = false;

    for (; *keys != '\0'; keys++)
        yes = dialog_key(&dialog,
                         *keys == '\n'   ? (uint32_t)KEY_IS_ENTER
                         : *keys == '\b' ? (uint32_t)KEY_IS_BACKSPACE
                                         : (uint32_t)*keys,
                         &said);
    return yes;
}

TEST(the_token_breaks_it)
{
    ask_to_break();
    assert_true(press("77\n"));
    assert_int_equal(dialog.targets[0].token, 77);
    assert_string_equal(dialog.targets[0].node, "/a/lock-0000000001");
    dialog_done(&dialog);
    ask_to_break();
    assert_true(press("78\b7\n"));
    dialog_done(&dialog);
    ask_to_break();
    assert_true(press("0x4D\n")); /* as other tools show it */
}

TEST(all_else_breaks_nothing)
{
    static const char *const lines[] = {
        "\n", "78\n", "770\n", "y\n", "q", "00000000000000000000000000077\n"
    };

    for (size_t i = 0; i < COUNT(lines); i++) {
        ask_to_break();
        assert_false(press(lines[i]));
        assert_null(dialog_path(&dialog));
        assert_has(said.text, "nothing was done");
    }
}

TEST(before_the_danger_is_known_no_token_is_taken)
{
    char prompt[DIALOG_PROMPT_MAX];

    dialog_break(&dialog, &lock, NULL, &said);
    dialog.is_seen = true;
    assert_false(press("77\n"));
    assert_non_null(dialog_path(&dialog));
    dialog_prompt(&dialog, prompt);
    assert_has(prompt, "asking the servers");
    assert_false(dialog_key(&dialog, KEY_IS_ESCAPE, &said));
    assert_null(dialog_path(&dialog));
}

/* On a screen without room for it, y and the token acted unseen; so did keys
 * that were typed before it was drawn. */
TEST(an_unseen_question_takes_no_yes)
{
    dialog_revoke(&dialog, &lock, NULL, &said);
    assert_false(press("y"));
    assert_non_null(dialog_path(&dialog));
    ask_to_break();
    dialog.is_seen = false;
    assert_false(press("77\n"));
    assert_string_equal(dialog.typed, "");
    assert_non_null(dialog_path(&dialog));
    dialog.is_seen = true;
    assert_true(press("77\n"));
    dialog.is_seen = false;
    assert_false(press("q")); /* no needs no eyes */
    assert_null(dialog_path(&dialog));
}

/* The danger is told only after the servers have answered. */
TEST(lines_that_come_later_must_be_seen_too)
{
    const struct told told = { .servers = NULL };

    dialog_break(&dialog, &lock, NULL, &said);
    dialog.is_seen = true;
    dialog_explain(&dialog, &ctl, &lock, &told);
    assert_false(press("77\n"));
    assert_non_null(dialog_path(&dialog));
}

TEST(y_asks_and_nothing_else)
{
    dialog_revoke(&dialog, &lock, NULL, &said);
    assert_int_equal(dialog.count, 1);
    dialog.is_seen = true;
    assert_false(press("Y \n7"));
    assert_non_null(dialog_path(&dialog));
    assert_true(press("y"));
    assert_false(press("n"));
    assert_null(dialog_path(&dialog));
}

/* The name may be the same: tokens tell holders apart. */
TEST(the_question_ends_with_those_it_is_about)
{
    ask_to_break();
    queue("77H 79");
    dialog_settle(&dialog, &lock, &said);
    assert_non_null(dialog_path(&dialog));
    queue("");
    lock.state = LOCK_UNKNOWN; /* it may not be read, or was not looked at */
    dialog_settle(&dialog, &lock, &said);
    assert_non_null(dialog_path(&dialog));
    queue("79H 77");
    dialog_settle(&dialog, &lock, &said);
    assert_null(dialog_path(&dialog));
    assert_has(said.text, "has let go by itself");
}

TEST(a_lock_that_has_gone_ends_it_too)
{
    dialog_revoke(&dialog, &lock, NULL, &said);
    dialog_settle(&dialog, NULL, &said);
    assert_null(dialog_path(&dialog));
}

/* Regression: top said that a holder "has let go" when it could not see the
 * lock any more. */
TEST(an_unreadable_holder_has_not_let_go)
{
    struct top_row row;
    struct top_model model = { .rows = &row, .count = 1, .partial = true };
    struct deed deed = { .awaits = true, .count = 1 };

    dialog_revoke(&dialog, &lock, NULL, &said);
    deed.targets = dialog.targets;
    queue("");
    lock.state = LOCK_UNKNOWN;
    row = (struct top_row){ .view = { .lock = lock } };
    assert_false(deed_look(&deed, &model, &said));
    model.count = 0; /* it was forgotten */
    assert_false(deed_look(&deed, &model, &said));
    assert_true(deed.awaits);
    model.partial = false;
    assert_true(deed_look(&deed, &model, &said));
    assert_has(said.text, "has let go");
    notes_done(&deed.done);
    dialog_break(&dialog, &lock, NULL, &said);
    assert_has(said.text, "has not seen it");
}

TEST(of_several_all_are_asked_and_one_is_broken)
{
    queue("77H 78H 79");
    dialog_revoke(&dialog, &lock, NULL, &said);
    assert_int_equal(dialog.count, 2);
    dialog_revoke(&dialog, &lock, &items[1], &said);
    assert_int_equal(dialog.count, 1);
    assert_int_equal(dialog.targets[0].token, 78);
    queue("78H 79"); /* one of those who were meant still holds */
    dialog_settle(&dialog, &lock, &said);
    assert_non_null(dialog_path(&dialog));
    queue("77H 78H 79");
    dialog_break(&dialog, &lock, NULL, &said);
    assert_null(dialog_path(&dialog));
    assert_has(said.text, "choose one in the queue");
    dialog_break(&dialog, &lock, &items[1], &said);
    assert_int_equal(dialog.targets[0].token, 78);
}

TEST(a_holder_without_its_own_token_is_not_broken)
{
    queue("0H 78"); /* its node may not be read */
    dialog_break(&dialog, &lock, NULL, &said);
    assert_null(dialog_path(&dialog));
    assert_has(said.text, "cannot be known again");
    queue("77H 77H"); /* made in one transaction */
    dialog_break(&dialog, &lock, &items[1], &said);
    assert_null(dialog_path(&dialog));
    assert_has(said.text, "cannot be told apart");
}

TEST(where_nobody_holds_there_is_no_question)
{
    queue("77 78");
    dialog_break(&dialog, &lock, NULL, &said);
    assert_string_equal(said.text, "nobody holds it");
    dialog_revoke(&dialog, &lock, &items[1], &said);
    assert_string_equal(said.text, "nobody holds it");
    queue("77H 78");
    dialog_revoke(&dialog, &lock, &items[1], &said);
    assert_string_equal(said.text, "the cursor is on one who does not hold it");
    items[0].dialect = ZKR__DIALECT_KAZOO;
    dialog_revoke(&dialog, &lock, NULL, &said);
    assert_null(dialog_path(&dialog));
    assert_has(said.text, "kazoo does not listen");
}
