/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the lists and the picture of top, for looks, keys, and sizes of the
 * screen, without servers and without a terminal; and of its columns. */
#include "top/top.h"
#include "unit.h"

#define NCURSES_NOMACROS
#include <curses.h> /* for KEY_* only */
#include <locale.h>

enum { T0 = 1000000, NODES_MAX = 256, IN_PART = 10 /* a look of that time */ };

static struct zkr_participant nodes[NODES_MAX];
static char names[NODES_MAX][2];
static size_t node_count;

static struct top top;

/* The lines of the screen. */
static struct {
    char text[GRID_CELL_MAX];
    enum top_style style;
} lines[30];

/* Contenders are "a1H b2 c3F": a name, a token, and H holds, F foreign. They
 * are there since T0. */
static void add_contender(struct lock *lock, const char *text)
{
    struct zkr_participant *p = &nodes[node_count];
    struct contender *c = &lock->items[lock->listed++];

    assert_true(node_count < NODES_MAX);
    names[node_count][0] = text[0];
    *p = (struct zkr_participant){
        .name = names[node_count++],
        .marker = "lock-",
        .kind = text[2] == 'F' ? ZKR_PARTICIPANT_FOREIGN
                               : ZKR_PARTICIPANT_EXCLUSIVE,
        .holds = text[2] == 'H',
        .waits_for = 0,
        .token = text[1] - '0',
        .session_id = 0xa0 + text[0] - 'a',
        .since_ms = text[1] == '0' ? 0 : T0, /* it is not read */
        .data = "",
    };
    c->path = lock->path;
    c->node = p;
    c->place = lock->listed - 1;
    c->blocker = lock->items[0].node;
    c->age_ms = lock->at_ms - T0;
    c->owner.is_record = true;
    PRINT(c->owner.host, "host-%c", text[0]);
    c->owner.pid = 40 + text[0] - 'a';
    (void)strcpy(c->owner.program, "job");
    if (text[2] == 'F')
        return;
    lock->count++;
    lock->holders += p->holds;
    lock->waiters += !p->holds;
    if (p->holds && lock->holder == NULL)
        lock->holder = c;
}

static struct lock make_lock(const char *path, const char *text, int64_t at_ms)
{
    struct lock lock = { .path = strdup(path),
                         .items = calloc(9, sizeof(struct contender)),
                         .kind = ZKR__KIND_MUTEX,
                         .dialect = ZKR__DIALECT_ZKRECIPES,
                         .longest_wait_ms = -1,
                         .at_ms = at_ms };

    assert_non_null(lock.path);
    assert_non_null(lock.items);
    for (; *text != '\0'; text += strcspn(text, " "), text += *text == ' ')
        add_contender(&lock, text);
    lock.state = lock.holders > 0 ? LOCK_HELD : LOCK_FREE;
    lock.held_ms = lock.holders > 0 ? at_ms - T0 : -1;
    lock.node = lock.holders == 1 ? lock.holder->node : NULL;
    lock.owner = lock.holders == 1 ? &lock.holder->owner : NULL;
    if (lock.waiters > 0)
        lock.longest_wait_ms = at_ms - T0;
    return lock;
}

/* Makes a look so long after T0: paths in their order, each with its
 * contenders, and NULL at the end. */
static void look(int64_t after_ms, ...)
{
    struct scan scan = { .locks = calloc(16, sizeof(struct lock)),
                         .at_ms = T0 + after_ms,
                         .cut = after_ms == IN_PART };
    const char *path;
    va_list args;

    assert_non_null(scan.locks);
    va_start(args, after_ms);
    while ((path = va_arg(args, const char *)) != NULL)
        scan.locks[scan.count++] =
            make_lock(path, va_arg(args, const char *), scan.at_ms);
    va_end(args);
    top_take(&top, &scan);
    scan_done(&scan);
    top.now_ms = T0 + after_ms;
}

static void resize(int width, int height)
{
    top.width = width;
    top.height = height;
}

static void paint(int y, enum top_style style, const char *text)
{
    assert_in_range(y, 0, COUNT(lines) - 1);
    assert_string_equal(lines[y].text, ""); /* each is painted once */
    assert_true(grid_width(text) <= top.width);
    (void)strcpy(lines[y].text, text);
    lines[y].style = style;
}

static void draw(void)
{
    memset(lines, 0, sizeof(lines));
    top_draw(&top);
}

static void press(const char *keys)
{
    for (; *keys != '\0'; keys++)
        assert_int_not_equal(top_press(&top, (uint32_t)*keys), TOP_QUIT);
}

static void press_key(uint32_t key)
{
    assert_int_equal(top_press(&top, key), TOP_GO_ON);
}

/* Compares the beginning of a line, with blanks squeezed; its end is '$'. */
static void line_is(int i, const char *want)
{
    char text[GRID_CELL_MAX];
    size_t n = 0;

    draw();
    const char *at = lines[i].text + strspn(lines[i].text, " ");
    for (; *at != '\0'; at++) {
        if (*at != ' ' || (at[1] != ' ' && at[1] != '\0'))
            text[n++] = *at;
    }
    (void)strcpy(text + n, "$");
    if (strncmp(text, want, strlen(want)) != 0)
        fail_msg("line %d is '%s', not '%s'", i, text, want);
}

/* The locks that are shown, one letter each: the last of its path. */
static void shown_is(const char *want)
{
    char text[64] = "";

    draw();
    for (size_t i = 0; i < top.count; i++) {
        const char *path = ((const struct lock *)top.rows[i])->path;

        (void)strncat(text, path + strlen(path) - 1, 1);
    }
    assert_string_equal(text, want);
}

static char cursor(void)
{
    draw();
    size_t at = top.lists[TOP_LOCKS].at;
    assert_true(at < top.count);
    const char *path = ((const struct lock *)top.rows[at])->path;
    return path[strlen(path) - 1];
}

static int setup(void)
{
    node_count = 0;
    top = (struct top){ .sort = TOP_LOCK,
                        .ensemble = "zk1:2181",
                        .state = "connected",
                        .is_connected = true,
                        .paint = paint };
    resize(80, 24);
    return 0;
}

static int teardown(void)
{
    top_done(&top);
    return 0;
}

FIXTURE(setup, teardown)

/* --- the order --- */

static void look_at_three(int64_t after_ms)
{
    look(after_ms, "/a", "a5H", "/b", "b3H c4", "/c", "d1H e2 f3", NULL);
}

TEST(locks_are_sorted_by_each_column)
{
    look_at_three(1000);
    shown_is("abc");
    top.sort = TOP_WAIT;
    shown_is("cba");
    top.sort = TOP_TOKEN;
    shown_is("abc");
    top.sort = TOP_HOLDER;
    shown_is("abc");
    top.reversed = true;
    shown_is("cba");
    top.sort = TOP_LONGEST; /* locks that nobody waits for come last, */
    top.reversed = false;
    shown_is("bca"); /* and equals are sorted by path */
    look(1000, "/a", "a5", "/b", "b3", "/c", "d1H", NULL);
    top.sort = TOP_KIND;
    shown_is("cab"); /* behind those with a holder */
    top.sort = TOP_STATE;
    shown_is("cab");
    top.reversed = true; /* not the order of equals */
    shown_is("abc");
    top.sort = TOP_KIND;
    shown_is("cab");
}

TEST(keys_change_the_order)
{
    look_at_three(1000);
    line_is(2, "sorted by LOCK");
    press("r");
    line_is(2, "sorted by LOCK reversed$");
    shown_is("cba");
    press("s");
    line_is(2, "sorted by KIND");
    press("s");
    line_is(2, "sorted by DIALECT");
    press("<<<");
    line_is(2, "sorted by TOKEN");
    press(">");
    line_is(2, "sorted by LOCK$");
    assert_int_equal(lines[3].style, TOP_BAR);
    notes_add(&top.scan.notes, "%s", "a word");
    line_is(2, "sorted by LOCK note: a word$");
    press("o");
    line_is(2, "note: a word$");
}

TEST(the_filter_is_part_of_a_lock_or_holder)
{
    look_at_three(1000);
    press("/HOST-B");
    shown_is("b");
    line_is(23, "/HOST-B_ Enter keep Esc clear");
    press_key(TOP_KEY + KEY_BACKSPACE);
    shown_is("abc");
    press("C"); /* it waits */
    shown_is("");
    press_key('\033');
    shown_is("abc");
    (void)strcpy(top.scan.locks[1].items[0].owner.label, "Payroll job");
    press("/payroll");
    shown_is("b");
    press_key('\033');
    press("//C");
    press_key('\r');
    shown_is("c");
    line_is(2, "sorted by LOCK, 1 with \"/C\"$");
    line_is(23, "q quit");
    press_key('\033');
    shown_is("abc");
    press("/");
    for (size_t i = 0; i <= sizeof(top.filter); i++)
        press("x");
    assert_int_equal(strlen(top.filter), sizeof(top.filter) - 1);
}

/* A lock of several holders is among those of each, and counts once for one
 * that has several leases of it, or waits before them. */
TEST(owners_are_listed_by_their_locks)
{
    look(1000, "/a", "a1H b2", "/b", "c3H c4H d5H e6 f7", "/c", "a8 a9H", NULL);
    press("o");
    line_is(3, "OWNER LOCKS HELD WAIT LONGEST");
    line_is(4, "host-a:40 job 2 <=1.0s 2 1.0s");
    line_is(5, "host-c:42 job 1 <=1.0s 2 1.0s");
    line_is(6, "host-d:43 job 1 <=1.0s 2 1.0s");
    line_is(7, "");
    press("KRj");
    press_key('\r');
    shown_is("b");
    press_key('\033');
    shown_is("abc");
    press("o");
    press_key('\r');
    shown_is("ac");
    press_key('\033');
    press("o?qq");
    shown_is("abc");
    look(2000, NULL);
    press("oj");
    press_key('\r');
    line_is(3, "OWNER");
    look(3000, "/0", "f9H", "/a", "a1H", "/b", "b2H c3", "/c", "c4H", "/d",
         "c7H", NULL);
    line_is(2, "$");
    line_is(4, "host-c:42 job 2 <=3.0s 0 -$");
    line_is(5, "host-b:41 job 1 <=3.0s 1 3.0s$");
    assert_int_equal(lines[5].style, TOP_BOLD);
    line_is(6, "host-a:40 job 1 <=3.0s 0 -$");
    assert_int_equal(lines[6].style, TOP_PLAIN);
    line_is(7, "host-f:45 job 1");
    press_key('K'); /* none of them is a lock */
    line_is(23, "q back");
    press_key('/');
    line_is(23, "q back");
    look(1000, "/a", "a1H b2", "/b", "a1H b2", NULL);
    struct scan scan = top.scan;
    top.scan = (struct scan){ .locks = NULL };
    scan.locks[0].items[0].age_ms = 7000;
    scan.locks[0].longest_wait_ms = 5000;
    top_take(&top, &scan);
    line_is(4, "host-a:40 job 2 <=7.0s 2 5.0s$");
}

/* Characters, not bytes, are taken back. */
TEST(the_filter_has_characters_of_several_bytes)
{
    look(1000, "/\u00e9t\u00e9", "a1H", "/z", "b2H", NULL);
    press("/");
    press_key(0xe9);
    assert_int_equal(top.count, 1);
    press_key(0x65e5);
    assert_int_equal(top.count, 0);
    press_key(TOP_KEY + KEY_BACKSPACE);
    assert_string_equal(top.filter, "\u00e9");
    press_key(TOP_KEY + KEY_UP);
    press_key(0x01);
    assert_string_equal(top.filter, "\u00e9");
}

/* --- the cursor --- */

TEST(the_cursor_follows_its_lock)
{
    look_at_three(1000);
    assert_int_equal(cursor(), 'a');
    press("j");
    assert_int_equal(cursor(), 'b');
    press("rs"); /* all are mutexes: by path */
    look(2000, "/a", "a5H", "/aa", "g1H", "/b", "b3H c4", NULL);
    assert_int_equal(cursor(), 'b');
    press("g<");
    assert_int_equal(cursor(), 'a');
    press("G");
    look(3000, "/0", "a5H", "/a", "a5H", NULL);
    assert_int_equal(cursor(), 'a');
    look(4000, "/0", "a5H", NULL);
    assert_int_equal(cursor(), '0');
}

/* On the first line it stays with whatever is there. */
TEST(on_the_first_line_the_cursor_stays)
{
    look_at_three(1000);
    press("r");
    assert_int_equal(cursor(), 'c');
    press("jkr");
    assert_int_equal(cursor(), 'a');
}

/* With two lines of the list. */
static const struct {
    uint32_t key;
    char at;
    const char *first;
} moves[] = {
    { TOP_KEY + KEY_NPAGE, 'c', "/b" },
    { TOP_KEY + KEY_END, 'e', "/d" },
    { TOP_KEY + KEY_DOWN, 'e', "/d" },
    { 'k', 'd', "/d" },
    { TOP_KEY + KEY_UP, 'c', "/c" },
    { TOP_KEY + KEY_DOWN, 'd', "/c" },
    { TOP_KEY + KEY_PPAGE, 'b', "/b" },
    { TOP_KEY + KEY_PPAGE, 'a', "/a" },
    { 'j', 'b', "/a" },
    { TOP_KEY + KEY_HOME, 'a', "/a" },
    { 'k', 'a', "/a" },
    { 'G', 'e', "/d" },
};

TEST(the_list_scrolls_with_the_cursor)
{
    resize(80, 7);
    look(1000, "/a", "a1H", "/b", "a1H", "/c", "a1H", "/d", "a1H", "/e", "a1H",
         NULL);
    for (size_t i = 0; i < COUNT(moves); i++) {
        press_key(moves[i].key);
        assert_int_equal(cursor(), moves[i].at);
        line_is(4, moves[i].first);
    }
    assert_int_equal(lines[5].style, TOP_CURSOR);
    resize(80, 9);
    line_is(4, "/b");
    resize(80, 24);
    line_is(4, "/a");
}

/* --- what is on the screen --- */

TEST(the_picture_fits_80_columns)
{
    look_at_three(65000);
    line_is(0, "zk-lockctl top connected 00:17:45Z zk1:2181");
    line_is(1, "3 locks, 3 held, 3 waiting, longest 1m05s$");
    top.scan.locks[1].longest_wait_ms = 70000;
    line_is(1, "3 locks, 3 held, 3 waiting, longest 1m10s$");
    line_is(3, "LOCK KIND DIALECT STATE HOLDER HELD WAIT LONGEST TOKEN");
    line_is(6, "/c mutex zkrecipes held host-d:43 job <=1m05s 2 1m05s 1");
    line_is(23, "q quit ? help Enter queue / filter s sort R ask K break");
}

/* Regression: the sum over queues that were seen in part had no '+'. */
TEST(an_incomplete_count_has_a_plus)
{
    look(IN_PART, "/a", "a1H b2 c3", NULL);
    line_is(1, "1 lock, 1 held, 2+ waiting");
    look(1000, "/a", "a1H b2 c3", NULL);
    line_is(1, "1 lock, 1 held, 2 waiting");
    look(1000, "/a", "a1H b2H c3", NULL);
    line_is(1, "1 lock, 1 held, 1 waiting");
    top.scan.locks[0].cut = true;
    line_is(1, "1 lock, 1 held, 1+ waiting");
}

TEST(less_important_columns_go_first)
{
    look_at_three(65000);
    resize(140, 24);
    line_is(3, "LOCK KIND DIALECT STATE HOLDER HELD WAIT LONGEST TOKEN LABEL "
               "SESSION SINCE");
    resize(36, 15);
    line_is(3, "LOCK STATE HOLDER WAIT");
    resize(60, 15);
    line_is(14, "q quit ? help Enter queue / filter s sort R ask K b...");
    for (int width = 1; width < 300; width++) {
        resize(width, width % 30);
        draw();
    }
}

TEST(enter_shows_the_queue)
{
    look(3000, "/c", "d1H e2 f0 x4F", NULL);
    press_key('\r');
    top.scan.locks[0].cut = true;
    line_is(1, "/c mutex (zkrecipes) held 3+ in the queue$");
    top.scan.locks[0].kind = ZKR__KIND_SEMAPHORE;
    line_is(1, "/c semaphore (zkrecipes) held 1 lease, 2+ waiting$");
    top.scan.locks[0].kind = ZKR__KIND_MUTEX;
    top.scan.locks[0].cut = false;
    line_is(1, "/c mutex (zkrecipes) held 3 in the queue");
    line_is(3, "POS STATE OWNER LABEL SESSION SINCE BLOCKED-BY TOKEN");
    line_is(4, "0 HELD host-d:43 job - 0xa3 <=3.0s - 1");
    line_is(5, "1 wait host-e:44 job - 0xa4 3.0s pos 0 2");
    resize(200, 24);
    line_is(6, "2 wait host-f:45 job - 0xa5 3.0s pos 0 - exclusive - - ? f$");
    resize(80, 24);
    line_is(7, "- foreign");
    assert_int_equal(lines[7].style, TOP_DIM);
    assert_int_equal(lines[5].style, TOP_PLAIN);
    press("jjjj");
    press_key('\r'); /* it goes no deeper */
    draw();
    assert_int_equal(lines[7].style, TOP_CURSOR);
    assert_int_equal(lines[4].style, TOP_GOOD);
    press("rso/"); /* which are of the list of locks */
    line_is(23, "q back ? help R ask K break$");
    press("q");
    line_is(2, "sorted by LOCK$");
    line_is(4, "/c mutex zkrecipes held");
}

/* The screen shows the chosen lock, wherever it moves in the list, and when it
 * is gone. */
TEST(the_queue_is_that_of_one_lock)
{
    look_at_three(1000);
    press_key('\r');
    look(2000, "/0", "z9H", "/a", "a5H", NULL);
    line_is(1, "/a mutex");
    look(3000, "/0", "z9H", NULL);
    line_is(1, "nobody uses this lock now");
    press_key('\033');
    line_is(4, "/0 mutex zkrecipes held");
}

/* What the user does next is about the contender that was chosen. */
TEST(in_a_queue_the_cursor_follows_its_contender)
{
    look(1000, "/a", "a1H b2 c3 d4", NULL);
    press_key('\r');
    draw();
    press("jj");
    look(2000, "/a", "b2H c3 d4", NULL);
    draw();
    assert_int_equal(top.lists[TOP_QUEUE].at, 1);
    look(3000, "/a", "b2H d4", NULL); /* it has gone: the line is another's */
    draw();
    assert_int_equal(top.lists[TOP_QUEUE].at, 1);
    press("k");
    look(4000, "/a", "e5H b2", NULL); /* the first line is the holder's */
    draw();
    assert_int_equal(top.lists[TOP_QUEUE].at, 0);
}

TEST(an_old_picture_says_so)
{
    top.is_connected = false;
    line_is(2, "NOTHING SEEN YET: connected");
    top.is_connected = true;
    line_is(1, "looking...");
    look_at_three(1000);
    top.now_ms += 5000;
    line_is(0, "zk-lockctl top connected 00:16:41Z");
    line_is(2, "sorted by LOCK");
    top.is_connected = false;
    top.state = "connection lost";
    line_is(2, "STALE, 5.0s old: connection lost");
    (void)strcpy(top.error, "deadline passed"); /* because of that */
    line_is(2, "STALE, 5.0s old: connection lost");
    top.is_connected = true;
    line_is(2, "STALE, 5.0s old: deadline passed");
    assert_int_equal(lines[2].style, TOP_BAD);
    line_is(4, "/a mutex zkrecipes held");
    press_key('\r');
    line_is(2, "STALE, 5.0s old: deadline passed");
}

/* Escape does not end it. */
TEST(help_is_one_key_away_and_back)
{
    look_at_three(1000);
    press_key('\r');
    press("?");
    line_is(2, "Up Down j k");
    press("?jjs/");
    press_key('R');
    line_is(2, "Up Down j k");
    line_is(3, "move; the cursor follows its lock");
    line_is(16, "TOKEN ");
    line_is(17, "$");
    line_is(23, "q back");
    resize(140, 10);
    line_is(8, "r the other way round");
    line_is(9, "q back");
    resize(140, 24);
    press("qhq");
    line_is(1, "/a mutex");
    press("q?");
    line_is(23, "q back");
    press("q");
    press_key('\033');
    press_key('\033');
    shown_is("abc");
    assert_int_equal(top_press(&top, 'q'), TOP_QUIT);
}

TEST(data_of_others_is_escaped)
{
    look(1000, "/\033]0;x\a", "a1H", NULL);
    (void)strcpy(top.scan.locks[0].items[0].owner.label, "\033[2J");
    resize(140, 24);
    line_is(4, "/\\x1B]0;x\\x07 mutex zkrecipes held");
    press_key('\r');
    line_is(1, "/\\x1B]0;x\\x07 mutex");
    resize(50, 24); /* its end counts */
    line_is(1, "...;x\\x07 mutex (zkrecipes) held 1 in the queue$");
    for (int i = 0; i < top.height; i++)
        assert_null(strchr(lines[i].text, '\033'));
    assert_has(lines[4].text, "\\x1B[2J");
}

/* The verb and the token of what a key does; or why it does nothing. */
static void assert_acts(char key, const char *verb, int64_t token)
{
    assert_int_equal(top_press(&top, (uint32_t)key), TOP_ACT);
    assert_string_equal(top.verb, verb);
    assert_int_equal(top.token, token);
}

static void assert_does_not(char key, const char *why)
{
    press_key((uint32_t)key);
    line_is(23, why);
}

TEST(keys_are_about_the_holder_under_the_cursor)
{
    look(1000, "/a", "a1", "/b", "a1H b2", "/c", "c3H d4H e5", NULL);
    draw();
    assert_int_equal(lines[5].style, TOP_BOLD);
    assert_does_not('K', "nobody holds it");
    assert_does_not('R', "nobody holds it");
    press("j");
    line_is(23, "q quit ? help");
    assert_int_equal(lines[4].style, TOP_BOLD); /* somebody waits */
    assert_acts('R', "revoke", 0);
    assert_acts('K', "break", 1);
    assert_string_equal(top.lock->path, "/b");
    press("j");
    assert_acts('R', "revoke", 0);
    assert_does_not('K', "there are several holders: choose one");
    press_key('\r');
    press("j");
    assert_acts('K', "break", 4);
    assert_string_equal(top.lock->path, "/c");
    assert_acts('R', "revoke", 0);
    press("j");
    assert_does_not('K', "the cursor is on one who does not hold it");
    assert_does_not('R', "the cursor is on one who does not hold it");
    press("q");
    top.scan.locks[2].state = LOCK_UNKNOWN;
    assert_does_not('R', "the last look has not seen it");
    top.read_only = true;
    assert_does_not('K', "--read-only");
    press("k");
    draw();
    assert_int_equal(lines[6].style, TOP_BAD);
}

TEST(locks_without_a_waiter_are_plain)
{
    look(1000, "/a", "a1H", "/b", "", "/c", "c1H", NULL);
    draw();
    assert_int_equal(lines[5].style, TOP_DIM);
    assert_int_equal(lines[6].style, TOP_PLAIN);
}

TEST(nobody_is_a_list_too)
{
    look(1000, NULL);
    line_is(1, "0 locks, 0 held, 0 waiting$");
    press("jkGgRK");
    press_key('\r');
    line_is(1, "0 locks");
}

/* --- columns: which fit, and which are cut --- */

struct item {
    const char *name, *more, *n, *last;
};

#define WORD(member) .type = FIELD_WORD, .at = AT(item, member)
static const struct field fields[] = {
    { "NAME", WORD(name), .rank = 0, .narrow = 6, .tail = true },
    { "MORE", WORD(more), .rank = 2 },
    { "N", WORD(n), .rank = 1, .right = true },
    { "LAST", WORD(last), .wide = true },
    { "ALSO", WORD(last), .wide = true }, /* of the same rank */
    { .key = "member", WORD(last) },
    { .key = NULL },
};

static void cut_is(const char *text, int width, bool tail, const char *want)
{
    char out[GRID_CELL_MAX];

    grid_cut(text, width, tail, out);
    assert_string_equal(out, want);
    assert_true(grid_width(out) <= (width < 0 ? 0 : width));
}

TEST(a_wide_text_is_cut)
{
    cut_is("orders", 6, false, "orders");
    cut_is("orders!", 6, false, "ord...");
    cut_is("/locks/orders", 9, true, "...orders");
    cut_is("orders", 2, false, "..");
    cut_is("orders", 0, false, "");
    cut_is("orders", -1, true, "");
}

TEST(wide_and_combining_characters_count_as_they_are_shown)
{
    assert_int_equal(grid_width("\u65e5\u672c"), 4);
    assert_int_equal(grid_width("e\u0301"), 1);
    cut_is("\u65e5\u672c\u8a9e", 5, false, "\u65e5...");
    cut_is("\u65e5\u672c\u8a9e", 5, true, "...\u8a9e");
    cut_is("abce\u0301f", 4, false, "a...");
    /* the accent stays with its letter, or goes with it */
    cut_is("abcde\u0301f", 4, true, "...f");
    cut_is("abcde\u0301f", 5, true, "...e\u0301f");
}

TEST(a_character_that_cannot_be_shown_is_a_question_mark)
{
    cut_is("a\033b\xff"
           "c",
           9, false, "a?b?c");
}

static void fit(struct grid *grid, int width, const struct item *item,
                const char *want)
{
    char line[GRID_CELL_MAX] = "";
    FILE *out = fmemopen(line, sizeof(line), "w");

    assert_non_null(out);
    grid_take(grid, item);
    grid_fit(grid, width);
    grid_write(grid, 0, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(line, want);
    grid_forget(grid);
}

TEST(columns_are_given_up_by_rank)
{
    const struct item item = { "abcdef", "xyz", "7", "z" };
    struct grid grid;

    grid_start(&grid, fields, true);
    fit(&grid, 23, &item, "abcdef xyz  7 z    z");
    fit(&grid, 22, &item, "abcdef xyz  7 z");
    fit(&grid, 17, &item, "abcdef xyz  7");
    grid_start(&grid, fields, false);
    fit(&grid, 13, &item, "abcdef xyz  7");
    fit(&grid, 12, &item, "abcdef 7");
    fit(&grid, 8, &item, "abcdef 7");
    fit(&grid, 7, &item, "abcdef");
    fit(&grid, 4, &item, "...f");
}

TEST(room_goes_to_the_texts_that_want_it)
{
    const struct item item = { "a-long-name-it-is", "xy", "12", "" };
    const struct item empty = { "a", "", "", "" };
    struct grid grid;

    grid_start(&grid, fields, false);
    fit(&grid, 15, &item, "...t-is xy   12");
    fit(&grid, 40, &item, "a-long-name-it-is xy   12");
    /* a column that was wide once stays wide: it does not jump */
    fit(&grid, 40, &empty, "a                 -     -");
}

int main(void)
{
    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
        return 77;
    return test_run_all();
}
