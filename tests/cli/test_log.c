/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of log: the history of locks of a real server, out of its own
 * transaction log. */

#include <glob.h>
#include <sys/stat.h>

#include "look.h"

static zkr_session *s;
static zkr_session *other;
static char path[80];

static int setup(void)
{
    s = open_session();
    other = open_session();
    PRINT(path, "%s", new_path());
    return 0;
}

static int teardown(void)
{
    (void)zkr_session_close(other);
    (void)zkr_session_close(s);
    return 0;
}

FIXTURE(setup, teardown)

/* --- reading the answer --- */

static int log_of(const char *options)
{
    return look(line("log --from %s %s -o json %s", server_log_dir(the_server),
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
    assert_true(json_is_true(json_object_get(item, "exact")));
}

static const char *session_of(zkr_session *session)
{
    return line("0x%llx", (unsigned long long)zkr_session_id(session));
}

/* --- mutexes --- */

static void hold_and_release(zkr_session *session)
{
    zkr_mutex *m = new_mutex(session, path);

    release(acquire(m));
    zkr_mutex_free(m);
}

/* So that the log has a transaction. */
static void hold_and_release_elsewhere(void)
{
    zkr_mutex *m = new_mutex(s, new_path());

    release(acquire(m));
    zkr_mutex_free(m);
}

TEST(holders_and_their_tokens_are_told)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g;
    json_t *items;
    json_t *contender;

    hold_and_release(other);
    g = acquire(m);
    items = history("");
    assert_int_equal(json_array_size(items), 2);
    assert_item(items, 0, "held", "released");
    assert_item(items, 1, "held", "present");
    contender = json_object_get(json_array_get(items, 1), "contender");
    assert_string_equal(text_of(contender, "token"),
                        line("%lld", (long long)zkr_grant_token(g)));
    assert_string_equal(text_of(contender, "session"), session_of(s));
    assert_true(json_is_object(json_object_get(contender, "owner")));
    release(g);
    zkr_mutex_free(m);
}

TEST(waiters_are_told_on_request)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_mutex *n = new_mutex(other, path);
    zkr_grant *g = acquire(m);
    zkr_grant *none;
    json_t *items;

    assert_int_equal(zkr_mutex_acquire(n, 100, &none), ZKR_ETIMEDOUT);
    wait_children(path, 1);
    assert_int_equal(json_array_size(history("")), 1);
    items = history("--waiters");
    assert_int_equal(json_array_size(items), 2);
    assert_item(items, 0, "held", "present");
    assert_item(items, 1, "waited", "released");
    release(g);
    zkr_mutex_free(n);
    zkr_mutex_free(m);
}

TEST(log_tells_who_broke_a_lock)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(m);
    json_t *items;

    ok(zkr_participants_break(other, zkr_grant_node(g), zkr_grant_token(g),
                              SOON_MS));
    wait_grant_state(g, ZKR_GRANT_LOST);
    items = history("");
    assert_item(items, 0, "held", "deleted");
    assert_string_equal(text_of(json_array_get(items, 0), "ended_by"),
                        session_of(other));
    zkr_grant_free(g);
    zkr_mutex_free(m);
}

TEST(log_tells_who_asked_for_a_lock)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(m);
    json_t *item;

    ok(zkr_participants_revoke(other, zkr_grant_node(g)));
    release(g);
    item = json_array_get(history(""), 0);
    assert_string_equal(text_of(item, "ended"), "released");
    assert_string_equal(text_of(item, "asked_by"), session_of(other));
    assert_true(json_is_object(
        json_object_get(json_object_get(item, "contender"), "owner")));
    zkr_mutex_free(m);
}

TEST(a_session_that_is_closed_is_told)
{
    zkr_session *third = open_session();
    zkr_mutex *m = new_mutex(third, path);
    zkr_grant *g = acquire(m);

    zkr_grant_free(g); /* without a release, the node goes with the session */
    zkr_mutex_free(m);
    close_session(third);
    assert_string_equal(text_of(json_array_get(history(""), 0), "state"),
                        "held");
}

/* --- processes --- */

static bool has_no_children(void *user)
{
    (void)user;
    return count_children(path) == 0;
}

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
    json_t *items;
    const json_t *contender;

    cli_start(&holder, LOCKCTL, args);
    wait_children(path, 1);
    assert_int_equal(kill(holder.pid, SIGKILL), 0);
    (void)cli_end(&holder);
    assert_true(wait_until(has_no_children, NULL, SOON_MS));
    items = history("");
    assert_item(items, 0, "held", "session_expired");
    contender = json_object_get(json_array_get(items, 0), "contender");
    assert_string_equal(text_of(json_object_get(contender, "owner"), "label"),
                        "night");
}

/* --- kinds --- */

TEST(a_semaphore_has_leases)
{
    zkr_semaphore *sem;
    struct zkr_semaphore_opts opts = ZKR_SEMAPHORE_OPTS_INIT;
    zkr_grant *a;
    zkr_grant *b;
    json_t *items;

    ok(zkr_semaphore_new(s, path, 2, &opts, &sem));
    ok(zkr_semaphore_acquire(sem, SOON_MS, &a));
    ok(zkr_semaphore_acquire(sem, SOON_MS, &b));
    release(a);
    items = history("--waiters");
    assert_int_equal(json_array_size(items), 2);
    assert_item(items, 0, "held", "released");
    assert_item(items, 1, "held", "present");
    release(b);
    zkr_semaphore_free(sem);
}

/* --- moments --- */

static const char *held_from(size_t i)
{
    static char text[64];

    PRINT(text, "%s", text_of(json_array_get(history(""), i), "held_from"));
    return text;
}

static const char *until_of(size_t i)
{
    static char text[64];

    PRINT(text, "%s", text_of(json_array_get(history(""), i), "until"));
    return text;
}

TEST(log_tells_who_held_at_a_moment)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_mutex *n = new_mutex(other, path);
    zkr_grant *g = acquire(m);
    struct waiter w;
    json_t *items;

    waiter_start(&w, n, SOON_MS);
    wait_children(path, 2);
    sleep_ms(20);
    items = history("--at 1ms");
    assert_int_equal(json_array_size(items), 2);
    assert_item(items, 0, "held", "present");
    assert_item(items, 1, "waited", "present");
    release(g);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    items = history(line("--at %s", held_from(1)));
    assert_int_equal(json_array_size(items), 1);
    assert_item(items, 0, "held", "present");
    release(w.grant);
    assert_int_equal(log_of(line("--at %s", until_of(1))), 1);
    assert_int_equal(json_array_size(look_items("History")), 0);
    assert_has(look_err, "nobody held");
    zkr_mutex_free(n);
    zkr_mutex_free(m);
}

/* Of these times it was said that nobody held, with the exit status for
 * that. */
TEST(a_time_outside_of_the_log_is_not_known)
{
    static const char *const times[] = { "2020-01-01", "1ms", "2199-01-01" };

    hold_and_release(s);
    sleep_ms(20);
    for (size_t i = 0; i < COUNT(times); i++) {
        assert_int_equal(log_of(line("--at %s", times[i])), 66);
        look_assert_schema("document");
        assert_int_equal(json_array_size(look_items("History")), 0);
        assert_has(look_err, "it is not known who held");
        assert_lacks(look_err, "nobody held");
    }
}

TEST(a_time_without_holders_is_answered_with_no)
{
    hold_and_release(s);
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
    hold_and_release(s);
    LOOK(0, "log --from %s %s --color never", server_log_dir(the_server), path);
    assert_has(look_out, "FROM");
    assert_has(look_out, "released");
    LOOK(0, "log --from %s %s -o csv --columns LOCK,ENDED",
         server_log_dir(the_server), path);
    assert_string_equal(look_out, line("LOCK,ENDED\r\n%s,released\r\n", path));
}

static const char records[] =
    "{\"at\":\"2026-11-23T02:00:00.000Z\",\"event\":\"holding\",\"path\":\"/"
    "l\","
    "\"held_ms_max\":1000,\"contender\":{\"node\":\"lock-0000000007\","
    "\"token\":\"7\",\"session\":\"0x1\",\"owner\":null,\"data\":\"me\"}}\n"
    "{\"at\":\"2026-11-23T02:01:00.000Z\",\"event\":\"later\"}\n"
    "{\"at\":\"2026-11-23T02:02:00.000Z\",\"event\":\"missed\","
    "\"path\":\"/l\",\"missed\":2}\n"
    "{\"at\":\"2026-11-23T02:20:00.000Z\",\"event\":\"resync\","
    "\"last_look\":\"2026-11-23T02:10:00.000Z\"}\n"
    "{\"at\":\"2026-11-23T02:20:01.000Z\",\"event\":\"gone\",\"path\":\"/l\","
    "\"held_ms_max\":1201000,\"contender\":{\"node\":\"lock-0000000007\","
    "\"token\":\"7\",\"session\":\"0x1\",\"owner\":null,\"data\":\"me\"}}\n"
    "{\"warnings\":[\"x\"]}\n";

static void write_records(const char *text)
{
    FILE *file = fopen(cli_file("records"), "we");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

TEST(a_gap_is_a_row_of_its_own)
{
    const char *file = cli_file("records");
    const json_t *gap;
    json_t *items;

    write_records(records);
    LOOK(0, "log --from %s -o json /l", file);
    look_assert_schema("document");
    items = look_items("History");
    assert_int_equal(json_array_size(items), 2);
    assert_string_equal(text_of(json_array_get(items, 0), "lock"), "/l");
    gap = json_array_get(items, 1);
    assert_string_equal(text_of(gap, "state"), "gap");
    assert_string_equal(text_of(gap, "from"), "2026-11-23T02:10:00.000Z");
    LOOK(0, "log --from %s /l", file);
    assert_has(look_out, "<=2026-11-23T02:00:00.000Z");
    assert_has(look_out, "<=20m01s");
    assert_has(look_out, "GAP");
    assert_has(look_err, "1 line that");
    assert_has(look_err, "watch did not see");
    LOOK(0, "log --from %s --at 2026-11-23T02:15Z /l", file);
    assert_has(look_err, "that moment is in a gap");
}

/* --- moments of which the records do not tell --- */

#define EVENT_OF(n, at, event)                                                 \
    "{\"at\":\"2026-11-23T" at ":00.000Z\",\"event\":\"" event "\","           \
    "\"path\":\"/l\",\"held_ms_max\":60000,\"contender\":{\"node\":"           \
    "\"lock-000000000" n "\",\"token\":\"" n "\",\"session\":\"0x1\","         \
    "\"owner\":null,\"data\":\"me\"}}\n"

/* Three grants, one after the other. */
#define EVENT(at, event)  EVENT_OF("7", at, event)
#define SECOND(at, event) EVENT_OF("8", at, event)
#define THIRD(at, event)  EVENT_OF("9", at, event)

#define BEGIN(at, paths, initial)                                              \
    "{\"at\":\"2026-11-23T" at ":00.000Z\",\"event\":\"begin\","               \
    "\"paths\":" paths ",\"initial\":" initial "}\n"

static void assert_at(const char *files, const char *time, int code)
{
    int got = look(line("log %s --at 2026-11-23T%sZ /l", files, time));

    if (got != code)
        fail_msg("%s: %d, not %d: %s", time, got, code, look_err);
    assert_int_equal(strstr(look_err, "it is not known who held /l") != NULL,
                     code == 66);
    assert_int_equal(strstr(look_err, "nobody held") != NULL, code == 1);
}

/* Nobody was said to have held while watch could not look. */
TEST(a_holder_without_a_connection_is_not_known)
{
    char from[200];

    PRINT(from, "--from %s", cli_file("records"));
    write_records(
        BEGIN("02:00", "null", "true") EVENT("02:00", "holding") EVENT(
            "02:05",
            "gone") "{\"at\":\"2026-11-23T02:20:00.000Z\",\"event\":\"resync\","
                    "\"last_look\":\"2026-11-23T02:10:00.000Z\"}\n" SECOND(
                        "02:30", "acquired") SECOND("02:40", "gone"));
    assert_at(from, "01:59", 66);
    assert_at(from, "02:01", 0);
    assert_at(from, "02:07", 1);
    assert_at(from, "02:15", 66);
    assert_at(from, "02:25", 1);
    assert_at(from, "02:35", 0);
    assert_at(from, "02:41", 66);
}

/* Nobody was said to have held while no watch ran. */
TEST(a_holder_between_two_watches_is_not_known)
{
    char from[200];

    PRINT(from, "--from %s", cli_file("records"));
    write_records(BEGIN("02:00", "null", "true") EVENT("02:00", "holding")
                      EVENT("02:05", "gone") SECOND("02:10", "acquired")
                          SECOND("02:11", "gone") BEGIN("03:00", "null", "true")
                              THIRD("03:00", "holding") THIRD("03:05", "gone"));
    assert_at(from, "02:07", 1);
    assert_at(from, "02:30", 66);
    assert_at(from, "03:01", 0);
}

/* Two runs without --initial in one file looked like one. */
TEST(two_runs_in_one_file_have_a_gap_between_them)
{
    char from[200];
    const json_t *gap;
    json_t *items;

    PRINT(from, "--from %s", cli_file("records"));
    write_records(BEGIN("02:00", "null", "false") EVENT("02:01", "acquired")
                      EVENT("02:05", "gone") BEGIN("03:00", "null", "false")
                          SECOND("03:02", "acquired") SECOND("03:05", "gone"));
    assert_at(from, "02:00", 66);
    assert_at(from, "02:02", 0);
    assert_at(from, "02:05", 1);
    assert_at(from, "02:30", 66);
    assert_at(from, "03:01", 66);
    assert_at(from, "03:05", 1);
    LOOK(0, "log %s -o json /l", from);
    look_assert_schema("document");
    items = look_items("History");
    assert_int_equal(json_array_size(items), 3);
    gap = json_array_get(items, 1);
    assert_string_equal(text_of(gap, "state"), "gap");
    assert_string_equal(text_of(gap, "from"), "2026-11-23T02:05:00.000Z");
    assert_string_equal(text_of(gap, "until"), "2026-11-23T03:00:00.000Z");
}

/* It may have gone as soon as the first run ended; the token of the other one
 * says that it was there all the time. */
TEST(a_holder_is_lost_with_a_run_unless_the_next_one_sees_it)
{
    const char *file = cli_file("records");
    const json_t *item;

    write_records(EVENT("02:00", "holding") EVENT("02:05", "revoked")
                      BEGIN("03:00", "null", "true"));
    LOOK(0, "log --from %s -o json /l", file);
    item = json_array_get(look_items("History"), 0);
    assert_string_equal(text_of(item, "ended"), "unknown");
    assert_string_equal(text_of(item, "until"), "2026-11-23T02:05:00.000Z");
    LOOK(0, "log --from %s /l", file);
    assert_has(look_out, ">=2026-11-23T02:05:00.000Z");
    write_records(EVENT("02:00", "holding") EVENT("02:05", "revoked")
                      BEGIN("03:00", "null", "true") EVENT("03:00", "holding"));
    LOOK(0, "log --from %s -o json /l", file);
    item = json_array_get(look_items("History"), 0);
    assert_string_equal(text_of(item, "ended"), "present");
}

/* A run that did not watch the lock, or did not tell who was there before, does
 * not tell that nobody held. */
TEST(a_lock_that_a_run_did_not_watch_is_not_known)
{
    static const struct {
        const char *begin;
        int code;
    } runs[] = {
        { BEGIN("01:00", "null", "true"), 1 },
        { BEGIN("01:00", "[\"/x\",\"/l\"]", "true"), 1 },
        { BEGIN("01:00", "[\"/x\",\"/l/y\"]", "true"), 66 },
        { BEGIN("01:00", "[]", "true"), 66 },
        { BEGIN("01:00", "7", "true"), 66 },
        { BEGIN("01:00", "null", "false"), 66 },
        { "", 66 },
    };
    char from[200];

    PRINT(from, "--from %s", cli_file("records"));
    for (size_t i = 0; i < COUNT(runs); i++) {
        write_records(line("%s%s%s", runs[i].begin, EVENT("02:00", "queued"),
                           EVENT("02:05", "left")));
        assert_at(from, "02:05", runs[i].code);
    }
}

TEST(a_holder_between_two_files_is_not_known)
{
    char from[400];

    PRINT(from, "--from %s --from %s", cli_file("records"),
          cli_file("records2"));
    write_records(SECOND("03:00", "acquired") SECOND("03:05", "gone"));
    assert_int_equal(rename(cli_file("records"), cli_file("records2")), 0);
    write_records(EVENT("02:00", "acquired") EVENT("02:05", "gone"));
    assert_at(from, "02:01", 0);
    assert_at(from, "02:05", 1);
    assert_at(from, "02:30", 66);
    assert_at(from, "03:05", 1);
}

/* The holder was there before watch, which did not tell of it. */
TEST(the_blocker_of_a_waiter_is_not_known)
{
    char from[200];

    PRINT(from, "--from %s", cli_file("records"));
    write_records(EVENT("02:00", "queued") EVENT("02:05", "acquired"));
    assert_at(from, "02:01", 66);
    assert_at(from, "02:05", 0);
}

#define HOLDING(at, node, token, session)                                      \
    "{\"at\":\"2026-11-23T" at ":00.000Z\",\"event\":\"holding\","             \
    "\"path\":\"/l\",\"contender\":{\"node\":\"" node "\",\"token\":\"" token  \
    "\",\"session\":\"" session "\",\"owner\":null,\"data\":\"me\"}}\n"

/* The first holder, and a reader, have gone while nobody watched. They were
 * once still held beside the writer. */
TEST(a_contender_gone_between_two_watches_is_not_known)
{
    json_t *items;

    write_records(HOLDING("02:00", "lock-0000000007", "7", "0x1")
                      HOLDING("03:00", "lock-0000000009", "9", "0x2")
                          HOLDING("04:00", "lock-0000000009", "11", "0x2"));
    LOOK(0, "log --from %s -o json /l", cli_file("records"));
    items = look_items("History");
    assert_int_equal(json_array_size(items), 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(text_of(json_array_get(items, i), "ended"),
                            i < 2 ? "unknown" : "present");
}

/* All of such a file was once one line. */
TEST(a_file_without_lines_is_refused)
{
    LOOK(66, "log --from /dev/zero x");
}

/* Who held at the first moment was once said to have held ever since. */
TEST(before_the_history_nobody_is_known)
{
    const char *file = cli_file("records");

    write_records(records);
    LOOK(66, "log --from %s --at 2026-11-23T01:59Z /l", file);
    assert_lacks(look_out, "HELD  ");
    assert_has(look_err, "it is not known who held /l then");
    assert_lacks(look_err, "nobody held");
}

TEST(text_of_others_is_escaped)
{
    const char *file = cli_file("records");

    write_records(
        "{\"at\":\"2026-11-23T02:00:00.000Z\",\"event\":\"holding\","
        "\"path\":\"/l\\u001b[2J\",\"contender\":{\"node\":\"lock-\\u0007\","
        "\"token\":\"7\",\"owner\":null,\"data\":\"\\u001b]52;c;x\\u0007\"}}"
        "\n");
    for (int wide = 0; wide < 2; wide++) {
        LOOK(0, "log --from %s -o %s", file, wide ? "wide" : "csv");
        assert_null(strchr(look_out, '\033'));
        assert_null(strchr(look_out, '\a'));
        assert_has(look_out, "\\x1B");
    }
}

/* --- a log that begins late --- */

/* Links the last file of that kind into a directory: the one with the highest
 * number, "log.1a", "snapshot.1a.gz". */
static void link_last(const char *dir, const char *kind)
{
    unsigned long long last = 0;
    const char *from = NULL;
    glob_t files;

    assert_ok(glob(line("%s/version-2/%s.*", server_log_dir(the_server), kind),
                   0, NULL, &files));
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *dot = strchr(strrchr(files.gl_pathv[i], '/'), '.');
        unsigned long long number = strtoull(dot + 1, NULL, 16);

        if (from == NULL || number > last)
            from = files.gl_pathv[i];
        last = number > last ? number : last;
    }
    assert_non_null(from);
    assert_int_equal(symlink(from, line("%s%s", dir, strrchr(from, '/'))), 0);
    globfree(&files);
}

/* The server has begun a new log, and a snapshot tells who was there. Without
 * it, who comes later seems to hold. */
static void hold_from_before_the_log(const char *dir)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(m);
    json_t *items;

    restart_server();
    wait_verified(g);
    hold_and_release_elsewhere();
    assert_int_equal(mkdir(dir, 0700), 0);
    link_last(dir, "log");
    LOOK(1, "log --from %s %s", dir, path);
    assert_has(look_err, "there is no snapshot");
    link_last(dir, "snapshot");
    LOOK(0, "log --from %s -o json %s", dir, path);
    look_assert_schema("document");
    items = look_items("History");
    assert_int_equal(json_array_size(items), 1);
    assert_item(items, 0, "held", "present");
    assert_true(
        json_is_true(json_object_get(json_array_get(items, 0), "held_before")));
    release(g);
    zkr_mutex_free(m);
}

TEST(a_snapshot_tells_who_held_before)
{
    hold_from_before_the_log(cli_file("late"));
}

static int plain_again(void)
{
    server_set_java_opts(the_server, NULL);
    return teardown();
}

/* Compressed snapshots were not read. */
TEST_WITH(a_compressed_snapshot_tells_who_held_before, setup, plain_again)
{
    static const char *const options[] = {
        "-Dzookeeper.snapshot.compression.method=gz", NULL
    };

    if (!server_is_since(the_server, 3, 6))
        return;
    server_set_java_opts(the_server, options);
    hold_from_before_the_log(cli_file("packed"));
    assert_ok(
        system(line("ls %s/snapshot.*.gz >/dev/null", cli_file("packed"))));
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
    assert_refused(64, "one lock",
                   line("log --from %s a b", server_log_dir(the_server)));
    assert_refused(64, "neither a duration nor a time", "log --since x y");
    assert_refused(
        64, "one moment",
        line("log --from %s --at 1h --since 1h x", server_log_dir(the_server)));
    assert_refused(66, "nor has its version-2",
                   line("log --from %s x", cli_file("")));
    assert_refused(66, "No such file", "log --from /no/such x");
    assert_refused(66, "neither a transaction log nor",
                   "log --from /proc/version x");
}

/* --- records of watch --- */

TEST(log_reads_the_lines_of_watch)
{
    const char *const args[] = { "--servers",  server_hosts(the_server),
                                 "watch",      "-o",
                                 "jsonl",      "--initial",
                                 "--interval", "10ms",
                                 path,         NULL };
    zkr_mutex *m = new_mutex(s, path);
    zkr_mutex *n = new_mutex(other, path);
    zkr_grant *g = acquire(m);
    struct cli watch;
    struct waiter w;
    json_t *items;

    cli_start(&watch, LOCKCTL, args);
    cli_wait_said(&watch, "\"holding\"");
    waiter_start(&w, n, SOON_MS);
    cli_wait_said(&watch, "\"queued\"");
    release(g);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    cli_wait_said(&watch, "\"acquired\"");
    release(w.grant);
    cli_wait_said(&watch, "\"gone\",\"path\"");
    assert_int_equal(kill(watch.pid, SIGTERM), 0);
    assert_int_equal(cli_end(&watch), 0);
    LOOK(0, "log --from %s -o json %s", watch.output, path);
    look_assert_schema("document");
    items = look_items("History");
    assert_int_equal(json_array_size(items), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *item = json_array_get(items, i);

        assert_string_equal(text_of(item, "state"), "held");
        assert_true(json_is_false(json_object_get(item, "exact")));
        assert_true(json_is_object(
            json_object_get(json_object_get(item, "contender"), "owner")));
    }
    assert_string_equal(text_of(json_array_get(items, 0), "ended"), "gone");
    zkr_mutex_free(n);
    zkr_mutex_free(m);
}

/* The grant was once one row for each source, as if two had held at once. */
TEST(a_grant_of_several_sources_is_one_row)
{
    const char *const args[] = { "--servers",  server_hosts(the_server),
                                 "watch",      "-o",
                                 "jsonl",      "--initial",
                                 "--interval", "10ms",
                                 path,         NULL };
    const char *copy = cli_file("copy");
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(m);
    struct cli watch;
    char both[400];
    json_t *items;

    cli_start(&watch, LOCKCTL, args);
    cli_wait_said(&watch, "\"holding\"");
    PRINT(both, "--from %s --from %s", watch.output, copy);
    assert_ok(system(line("cp -r %s %s", server_log_dir(the_server), copy)));
    items = history(both);
    assert_int_equal(json_array_size(items), 1);
    assert_item(items, 0, "held", "present");
    release(g);
    cli_wait_said(&watch, "\"gone\",\"path\"");
    assert_int_equal(kill(watch.pid, SIGTERM), 0);
    assert_int_equal(cli_end(&watch), 0);
    items = history(both);
    assert_int_equal(json_array_size(items), 1);
    assert_item(items, 0, "held", "released");
    items = history(line("%s --at %s", both, held_from(0)));
    assert_int_equal(json_array_size(items), 1);
    zkr_mutex_free(m);
}

/* Appends what one run of watch tells while a client holds the lock once. */
static void watch_one_hold(zkr_session *session)
{
    const char *const args[] = { "--servers", server_hosts(the_server),
                                 "watch",     "-o",
                                 "jsonl",     "--interval",
                                 "10ms",      path,
                                 NULL };
    zkr_mutex *m = new_mutex(session, path);
    struct cli watch;
    zkr_grant *g;

    cli_start(&watch, LOCKCTL, args);
    cli_wait_said(&watch, "\"event\":\"begin\"");
    g = acquire(m);
    cli_wait_said(&watch, "\"event\":\"acquired\"");
    release(g);
    cli_wait_said(&watch, "\"event\":\"gone\"");
    assert_int_equal(kill(watch.pid, SIGTERM), 0);
    assert_int_equal(cli_end(&watch), 0);
    assert_ok(system(line("cat %s >>%s", watch.output, cli_file("records"))));
    zkr_mutex_free(m);
}

/* The output of two runs without --initial is joined. Neither run saw the time
 * between them, so log names no holder for it. */
TEST(a_run_of_watch_says_when_it_begins)
{
    const char *const args[] = { "watch", "-o", "jsonl", path, NULL };
    const json_t *gap;
    json_t *items;

    write_records("");
    watch_one_hold(s);
    hold_and_release(other);
    watch_one_hold(other);
    LOOK(0, "log --from %s -o json %s", cli_file("records"), path);
    look_assert_schema("document");
    items = look_items("History");
    assert_int_equal(json_array_size(items), 3);
    gap = json_array_get(items, 1);
    assert_string_equal(text_of(gap, "state"), "gap");
    LOOK(66, "log --from %s --at %s %s", cli_file("records"),
         text_of(gap, "until"), path);
    assert_int_equal(look_at_until(args, 0), 0);
    look_assert_schema("line");
    assert_has(look_out,
               line("\"event\":\"begin\",\"paths\":[\"%s\"],\"initial\":false}",
                    path));
}
