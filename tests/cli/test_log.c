/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of log: the history of locks of a real server, out of its own
 * transaction log. */

#include <glob.h>

#include "look.h"
#include "txn_file.h"

static zkr_session *s;
static zkr_session *other;
static zkr_mutex *m; /* of s, at that path */
static char path[80];

static int setup(void)
{
    s = open_session();
    other = open_session();
    PRINT(path, "%s", new_path());
    m = new_mutex(s, path);
    return 0;
}

static int teardown(void)
{
    zkr_mutex_free(m);
    (void)zkr_session_close(other);
    (void)zkr_session_close(s);
    return 0;
}

FIXTURE(setup, teardown)

/* --- reading the answer --- */

static int log_of(const char *options)
{
    return look(textf("log --from %s %s -o json %s", server_log_dir(the_server),
                      options, path));
}

static json_t *history(const char *options)
{
    assert_int_equal(log_of(options), 0);
    look_assert_schema("document");
    return look_items("History");
}

static void assert_item(const json_t *items, size_t i, const char *state,
                        const char *ended)
{
    const json_t *item = json_array_get(items, i);

    assert_string_equal(text_of(item, "state"), state);
    assert_string_equal(text_of(item, "ended"), ended);
    assert_string_equal(text_of(item, "lock"), path);
    assert_true(json_is_true(json_object_get(item, "sure")));
}

static const char *session_of(zkr_session *session)
{
    return textf("0x%llx", (unsigned long long)zkr_session_id(session));
}

/* --- mutexes --- */

static void hold_and_release(zkr_session *session, const char *lock)
{
    zkr_mutex *mutex = new_mutex(session, lock);

    release(acquire(mutex));
    zkr_mutex_free(mutex);
}

TEST(holders_and_their_tokens_are_told)
{
    json_t *contender;

    hold_and_release(other, path);
    zkr_grant *g = acquire(m);
    json_t *items = history("");
    assert_int_equal(json_array_size(items), 2);
    assert_item(items, 0, "held", "released");
    assert_item(items, 1, "held", "present");
    contender = json_object_get(json_array_get(items, 1), "contender");
    assert_string_equal(text_of(contender, "token"),
                        textf("%lld", (long long)zkr_grant_token(g)));
    assert_string_equal(text_of(contender, "session"), session_of(s));
    assert_true(json_is_object(json_object_get(contender, "owner")));
    release(g);
}

TEST(log_tells_who_broke_a_lock)
{
    zkr_grant *g = acquire(m);

    ok(zkr_participants_break(other, zkr_grant_node(g), zkr_grant_token(g),
                              SOON_MS));
    wait_grant_state(g, ZKR_GRANT_LOST);
    json_t *items = history("");
    assert_item(items, 0, "held", "deleted");
    assert_string_equal(text_of(json_array_get(items, 0), "ended_by"),
                        session_of(other));
    zkr_grant_free(g);
}

TEST(log_tells_who_asked_for_a_lock_and_why)
{
    zkr_grant *g = acquire(m);

    LOOK(75, "revoke -q -w 0 --reason disk-swap %s", path);
    release(g);
    json_t *item = json_array_get(history(""), 0);
    assert_string_equal(text_of(item, "ended"), "released");
    assert_has(text_of(item, "asked_by"), "0x");
    assert_string_equal(text_of(item, "reason"), "disk-swap");
    const char *by = textf(", asked by %s", text_of(item, "asked_by"));
    assert_true(json_is_object(
        json_object_get(json_object_get(item, "contender"), "owner")));
    LOOK(0, "log --from %s %s", server_log_dir(the_server), path);
    assert_has(look_out, by);
}

/* --- processes --- */

/* A holder that is killed; another that waits, and gets the lock. */
TEST(a_killed_holder_has_an_expired_session)
{
    const char *const args[] = { "--servers", server_hosts(the_server),
                                 "run",       "--session-timeout",
                                 "2s",        "--why",
                                 "night",     path,
                                 "--",        "sleep",
                                 "600",       NULL };
    struct cli holder;
    const json_t *contender;

    cli_start(&holder, LOCKCTL, args);
    wait_children(path, 1);
    assert_int_equal(kill(holder.pid, SIGKILL), 0);
    (void)cli_end(&holder);
    wait_children(path, 0);
    json_t *items = history("");
    assert_item(items, 0, "held", "session_expired");
    contender = json_object_get(json_array_get(items, 0), "contender");
    assert_string_equal(text_of(json_object_get(contender, "owner"), "label"),
                        "night");
}

/* --- moments --- */

static const char *moment_of(size_t i, const char *field)
{
    static char text[64];

    PRINT(text, "%s", text_of(json_array_get(history(""), i), field));
    return text;
}

TEST(log_tells_who_held_at_a_moment)
{
    zkr_mutex *n = new_mutex(other, path);
    zkr_grant *g = acquire(m);
    struct waiter w;

    waiter_start(&w, n, SOON_MS);
    wait_children(path, 2);
    sleep_ms(20);
    json_t *items = history("--at 1ms");
    assert_int_equal(json_array_size(items), 2);
    assert_item(items, 0, "held", "present");
    assert_item(items, 1, "waited", "present");
    release(g);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    items = history(textf("--at %s", moment_of(1, "held_from")));
    assert_int_equal(json_array_size(items), 1);
    assert_item(items, 0, "held", "present");
    release(w.grant);
    assert_int_equal(log_of(textf("--at %s", moment_of(1, "until"))), 1);
    assert_int_equal(json_array_size(look_items("History")), 0);
    assert_has(look_err, "nobody held");
    zkr_mutex_free(n);
}

/* Of these times it was said that nobody held, with the exit status for
 * that. */
TEST(a_time_outside_of_the_log_is_not_known)
{
    static const char *const times[] = { "2020-01-01", "1ms", "2199-01-01" };

    release(acquire(m));
    sleep_ms(20);
    for (size_t i = 0; i < COUNT(times); i++) {
        assert_int_equal(log_of(textf("--at %s", times[i])), 66);
        look_assert_schema("document");
        assert_int_equal(json_array_size(look_items("History")), 0);
        assert_has(look_err, "it is not known who held");
        assert_lacks(look_err, "nobody held");
    }
}

TEST(a_time_without_holders_is_answered_with_no)
{
    release(acquire(m));
    assert_int_equal(log_of("--until 2020-01-01"), 1);
    assert_has(look_err, "nobody held");
    assert_int_equal(log_of("--since 1h"), 0);
    (void)strcat(path, "/no/such");
    assert_int_equal(log_of(""), 1);
    assert_has(look_err, "there is no contender of");
}

/* --- tables --- */

TEST(the_table_has_a_row_for_each_hold)
{
    release(acquire(m));
    LOOK(0, "log --from %s %s", server_log_dir(the_server), path);
    assert_has(look_out, "FROM");
    assert_has(look_out, "released");
    LOOK(0, "log --from %s %s --columns LOCK,ENDED", server_log_dir(the_server),
         path);
    assert_has(look_out, textf("%s released", path));
}

/* --- a log that begins late --- */

/* Links the last file of that kind into a directory: the one with the highest
 * number, "log.1a", "snapshot.1a". */
static void link_last(const char *dir, const char *kind)
{
    unsigned long long last = 0;
    const char *from = NULL;
    glob_t files;

    ok(glob(textf("%s/version-2/%s.*", server_log_dir(the_server), kind), 0,
            NULL, &files));
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *dot = strchr(strrchr(files.gl_pathv[i], '/'), '.');
        unsigned long long number = strtoull(dot + 1, NULL, 16);

        if (from == NULL || number > last)
            from = files.gl_pathv[i];
        last = number > last ? number : last;
    }
    assert_non_null(from);
    assert_int_equal(symlink(from, textf("%s%s", dir, strrchr(from, '/'))), 0);
    globfree(&files);
}

/* The server has begun a new log, and a snapshot tells who was there. Without
 * it, who comes later seems to hold. */
TEST(a_snapshot_tells_who_held_before)
{
    zkr_grant *g = acquire(m);

    const char *dir = textf("%s", cli_file("late"));
    restart_server();
    wait_verified(g);
    hold_and_release(s, new_path()); /* so that the log has a transaction */
    assert_int_equal(mkdir(dir, 0700), 0);
    link_last(dir, "log");
    LOOK(1, "log --from %s %s", dir, path);
    assert_has(look_err, "there is no snapshot");
    link_last(dir, "snapshot");
    LOOK(0, "log --from %s -o json %s", dir, path);
    look_assert_schema("document");
    json_t *items = look_items("History");
    assert_int_equal(json_array_size(items), 1);
    assert_item(items, 0, "held", "present");
    assert_true(
        json_is_true(json_object_get(json_array_get(items, 0), "held_before")));
    release(g);
}

/* --- wrong usage --- */

static void assert_refused(int code, const char *text, const char *words)
{
    int got = look(words);

    if (got != code || strstr(look_err, text) == NULL)
        fail_msg("%s: %d, not %d with '%s': %s", words, got, code, text,
                 look_err);
}

TEST(wrong_usage_is_refused)
{
    assert_refused(64, "--from a transaction log", "log x");
    assert_refused(64, "one path",
                   textf("log --from %s a b", server_log_dir(the_server)));
    assert_refused(64, "neither a duration nor a time", "log --since x y");
    assert_refused(64, "one moment",
                   textf("log --from %s --at 1h --since 1h x",
                         server_log_dir(the_server)));
    assert_refused(66, "nor has its version-2",
                   textf("log --from %s x", cli_file("")));
    assert_refused(66, "No such file", "log --from /no/such x");
    assert_refused(66, "neither a transaction log nor",
                   "log --from /proc/version x");
    assert_refused(66, "neither a transaction log nor",
                   "log --from /dev/zero x");
}

/* --- a log that is made by hand: transaction N is N seconds after 01:46:40 ---
 */

enum { TXN_CREATE = 1, TXN_DELETE = 2, TXN_STRANGE = 99 };

static FILE *made;
static struct wire_out record;

static void make_log(void)
{
    made = log_begin(cli_file("log.1"));
}

static void put_txn(int64_t zxid, int32_t type, const char *node,
                    const char *data)
{
    out_txn(&record, 1, 1, zxid, 1000000000000 + zxid * 1000, type);
    if (type == TXN_CREATE)
        out_create(&record, node, data, true);
    else
        out_text(&record, node);
    log_put(made, &record);
}

TEST(a_gap_is_told)
{
    const char *file = cli_file("log.1");

    make_log();
    put_txn(1, TXN_CREATE, "/l/lock-0000000001", "me");
    put_txn(2, TXN_STRANGE, "/l", NULL);
    put_txn(9, TXN_CREATE, "/l/lock-0000000002", "me");
    log_end(made);
    LOOK(0, "log --from %s /l", file);
    assert_has(look_out, ">=1.0s");
    assert_has(look_err, "nothing is known between 2001-09-09T01:46:42.000Z "
                         "(0x2) and 2001-09-09T01:46:49.000Z (0x9)");
    assert_has(look_err, "1 transaction of a type");
    LOOK(66, "log --from %s --at 2001-09-09T01:46:45Z /l", file);
    assert_has(look_err, "that moment is in a gap");
}

#define MINUTE "2001-09-09T01:46"

/* What is told of nodes 1, 2, and 3, each held for a second, with a second
 * between them: the tokens, and a note about the history. */
static const struct {
    const char *options;
    const char *tokens;
    const char *note;
} chosen[] = {
    /* A hold that ended at that very time was in it. */
    { "--since " MINUTE ":44Z", "35", NULL },
    { "--since " MINUTE ":44.001Z", "5", NULL },
    { "--since " MINUTE ":43.999Z", "35", NULL },
    { "--until " MINUTE ":43Z", "13", NULL },
    { "--until " MINUTE ":43.001Z", "13", NULL },
    { "--until " MINUTE ":42.999Z", "1", NULL },
    { "--since " MINUTE ":42.001Z --until " MINUTE ":44.999Z", "3", NULL },
    /* A time beyond the history is told. */
    { "--since " MINUTE ":41Z", "135", NULL },
    { "--since " MINUTE ":40Z", "135",
      "the history begins at " MINUTE ":41.000Z" },
    { "--until " MINUTE ":46Z", "135", NULL },
    { "--until " MINUTE ":47Z", "135",
      "the history ends at " MINUTE ":46.000Z" },
    /* Who held at the first moment was once said to have held ever since. */
    { "--at " MINUTE "Z", "", "it is not known who held /l then" },
};

TEST(times_choose_holds)
{
    make_log();
    for (int i = 1; i <= 3; i++) {
        const char *node = textf("/l/lock-000000000%d", i);

        put_txn(2 * i - 1, TXN_CREATE, node, "me");
        put_txn(2 * i, TXN_DELETE, node, NULL);
    }
    log_end(made);
    for (size_t i = 0; i < COUNT(chosen); i++) {
        char got[64] = "";
        const json_t *item;
        size_t k;

        LOOK(chosen[i].tokens[0] != '\0' ? 0 : 66,
             "log --from %s %s -o json /l", cli_file("log.1"),
             chosen[i].options);
        json_t *items = look_items("History");
        json_array_foreach(items, k, item)(void)
            strcat(got, text_of(json_object_get(item, "contender"), "token"));
        assert_string_equal(got, chosen[i].tokens);
        if (chosen[i].note != NULL)
            assert_has(look_err, chosen[i].note);
        else
            assert_lacks(look_err, "the history");
        assert_lacks(look_err, "nobody held");
    }
}

TEST(who_waited_then_had_not_held_until_then)
{
    make_log();
    put_txn(1, TXN_CREATE, "/l/lock-0000000001", "me");
    put_txn(2, TXN_CREATE, "/l/lock-0000000002", "you");
    put_txn(3, TXN_DELETE, "/l/lock-0000000001", NULL);
    log_end(made);
    LOOK(0, "log --from %s --until " MINUTE ":42.5Z -o json /l",
         cli_file("log.1"));
    json_t *items = look_items("History");
    assert_int_equal(json_array_size(items), 1);
    assert_string_equal(
        text_of(json_object_get(json_array_get(items, 0), "contender"),
                "token"),
        "1");
}

TEST(text_of_others_is_escaped)
{
    make_log();
    put_txn(1, TXN_CREATE, "/l\033[2J/lock-0000000001", "\033]52;c;x\a");
    log_end(made);
    for (int wide = 0; wide < 2; wide++) {
        LOOK(0, "log --from %s -o %s", cli_file("log.1"),
             wide ? "wide" : "table");
        assert_null(strchr(look_out, '\033'));
        assert_null(strchr(look_out, '\a'));
        assert_has(look_out, "\\x1B");
    }
}
