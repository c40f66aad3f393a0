/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of state machines: docs/design.md draws the moves of each way of
 * claiming, with their events: all of them and no others; legal moves are made
 * and logged, others abort. */
#include "unit.h"

#include <signal.h>

#include <sys/resource.h>

#include <zkrecipes/session.h>

#include "base/sm.h"
#include "lock/claim.h"
#include "lock/cohort.h"

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
    while (fgets(line, sizeof(line), page) != NULL &&
           strncmp(line, "```", 3) != 0) {
        char from[NAME_LEN + 1], to[NAME_LEN + 1], event[NAME_LEN + 1];

        if (sscanf(line, " %31s --> %31[A-Z]: %31[A-Z_]", from, to, event) != 3)
            fail_msg("not a move: %s", line);
        int state = state_of(from);
        if (picture->drawn[state][event_of(event)])
            fail_msg("drawn twice: %s", line);
        picture->drawn[state][event_of(event)] = true;
        picture->to[state][event_of(event)] = state_of(to);
    }
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

enum { IDLE, BUSY, DONE, LAST = 31 };

static const struct zkr__sm_state table[32] = {
    [IDLE] = { "IDLE", ZKR__BIT(BUSY) | ZKR__BIT(LAST) },
    [BUSY] = { "BUSY", ZKR__BIT(BUSY) | ZKR__BIT(DONE) },
    [DONE] = { "DONE", 0 },
    [LAST] = { "LAST", ZKR__BIT(IDLE) },
};

struct lines {
    char text[1024];
    enum zkr_log_level level;
    unsigned count;
};

static void keep_line(enum zkr_log_level level, const char *message, void *user)
{
    struct lines *lines = user;

    PRINT(lines->text, "%s", message);
    lines->level = level;
    lines->count++;
}

static int silence(void)
{
    zkr_log_set(ZKR_LOG_ERROR, NULL, NULL);
    return 0;
}

FIXTURE(NULL, silence)

/* The signal that ended a process which made the move; 0 when it survived. */
static int signal_of_move(int from, int to)
{
    static const struct rlimit no_core = { 0, 0 };
    struct zkr__sm sm = { from, table, "thing", "/a" };
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        (void)setrlimit(RLIMIT_CORE, &no_core);
        zkr__sm_move(&sm, to, "test");
        _exit(0);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(legal_move_is_made_and_logged_for_debugging)
{
    static const struct {
        int to;
        const char *name, *line;
    } moves[] = {
        { LAST, "LAST", "IDLE -> LAST (test)" },
        { IDLE, "IDLE", "LAST -> IDLE (test)" },
        { BUSY, "BUSY", "IDLE -> BUSY (test)" },
        { BUSY, "BUSY", "BUSY -> BUSY (test)" }, /* as the table says */
    };
    struct zkr__sm sm = { IDLE, table, "thing", "/a" };
    struct lines lines = { "", ZKR_LOG_ERROR, 0 };

    zkr_log_set(ZKR_LOG_DEBUG, keep_line, &lines);
    for (size_t i = 0; i < COUNT(moves); i++) {
        zkr__sm_move(&sm, moves[i].to, "test");
        assert_int_equal(sm.state, moves[i].to);
        assert_string_equal(zkr__sm_name(&sm), moves[i].name);
        assert_int_equal(lines.count, i + 1);
        assert_int_equal(lines.level, ZKR_LOG_DEBUG);
        assert_has(lines.text, "thing /a ");
        assert_has(lines.text, moves[i].line);
    }
    zkr_log_set(ZKR_LOG_INFO, keep_line, &lines);
    zkr__sm_move(&sm, DONE, "quietly");
    assert_int_equal(sm.state, DONE);
    assert_int_equal(lines.count, COUNT(moves));
}

TEST(illegal_move_aborts)
{
    assert_int_equal(signal_of_move(IDLE, BUSY), 0);
    assert_int_equal(signal_of_move(IDLE, DONE), SIGABRT);
    assert_int_equal(signal_of_move(IDLE, IDLE), SIGABRT);
    assert_int_equal(signal_of_move(BUSY, IDLE), SIGABRT);
    assert_int_equal(signal_of_move(DONE, IDLE), SIGABRT);
    assert_int_equal(signal_of_move(LAST, LAST), SIGABRT);
}

/* The move is made in a child, so its log is read through a pipe. */
static void log_to_pipe(enum zkr_log_level level, const char *message,
                        void *user)
{
    const int *fd = user;

    (void)!write(*fd, level == ZKR_LOG_ERROR ? "error: " : "other: ", 7);
    (void)!write(*fd, message, strlen(message));
}

TEST(illegal_move_is_logged_as_an_error)
{
    char text[256] = "";
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    zkr_log_set(ZKR_LOG_ERROR, log_to_pipe, &fds[1]);
    assert_int_equal(signal_of_move(DONE, BUSY), SIGABRT);
    assert_true(read(fds[0], text, sizeof(text) - 1) > 0);
    (void)close(fds[0]);
    (void)close(fds[1]);
    assert_ptr_equal(strstr(text, "error: thing /a "), text);
    assert_has(text, "illegal move DONE -> BUSY (test)");
}
