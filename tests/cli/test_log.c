/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of log: the history of locks of a real server, out of its own
 * transaction log. */

#include "look.h"
#include "txn_file.h"
#include "usual.h"

FIXTURE(usual_setup_two, usual_teardown)

/* --- reading the answer --- */

static int log_of(const char *options)
{
    return look(textf("log --from %s %s -o json %s", server_log_dir(the_server),
                      options, path));
}

/* The state and the end of each stay, all of them in this lock, and sure. */
static const char *history(const char *options)
{
    ok(log_of(options));
    return look_jq("select(.kind == 'History') | [.items[] | if .lock == '%s' "
                   "and .sure then .state, .ended else . end] | "
                   "map(tostring) | join(' ')",
                   path);
}

/* --- mutexes --- */

TEST(log_tells_who_asked_for_a_lock_and_why)
{
    zkr_grant *g = acquire(m);

    LOOK(75, "revoke -q -w 0 --reason disk-swap %s", path);
    release(g);
    assert_string_equal(history(""), "held released");
    assert_jq(".items[0] | (.asked_by | startswith('0x')) and "
              ".reason == 'disk-swap' and (.contender | .session == '0x%llx' "
              "and (.owner | type) == 'object')",
              (unsigned long long)zkr_session_id(s));
    const char *by = textf(", asked by %s", look_jq(".items[0].asked_by"));
    LOOK_OUT(0, by, "log --from %s %s", server_log_dir(the_server), path);
}

/* --- processes --- */

/* A holder that is killed; another that waits, and gets the lock. */
TEST(a_killed_holder_has_an_expired_session)
{
    struct cli holder;

    START_CLI(&holder, "--servers", server_hosts(the_server), "run",
              "--session-timeout", "2s", "--why", "night", path, "--", "sleep",
              "600");
    wait_children(path, 1);
    assert_int_equal(cli_kill(&holder, SIGKILL), 128 + SIGKILL);
    wait_children(path, 0);
    assert_string_equal(history(""), "held session_expired");
    assert_string_equal(look_jq(".items[0].contender.owner.label"), "night");
}

/* --- moments --- */

/* Of the second stay. */
static const char *moment_of(const char *field)
{
    (void)history("");
    return look_jq(".items[1].%s", field);
}

TEST(log_tells_who_held_at_a_moment)
{
    zkr_grant *g = acquire(m);
    struct waiter w;

    waiter_queue(&w, rival);
    sleep_ms(20);
    assert_string_equal(history("--at 1ms"), "held present waited present");
    release(g);
    ok(waiter_join(&w));
    assert_string_equal(history(textf("--at %s", moment_of("held_from"))),
                        "held present");
    release(w.grant);
    assert_int_equal(log_of(textf("--at %s", moment_of("until"))), 1);
    assert_jq(".kind == 'History' and .items == []");
    assert_has(look_err, "nobody held");
}

/* --- a log that begins late --- */

/* Links the last file of that kind into a directory: the one with the highest
 * number, "log.1a", "snapshot.1a". */
static void link_last(const char *dir, const char *kind)
{
    ok(system(
        textf("ln -s \"$(ls %s/version-2/%s.* | awk '{ print length, $0 "
              "}' | LC_ALL=C sort -k1,1n -k2 | tail -1 | cut -d' ' -f2)\" "
              "%s",
              server_log_dir(the_server), kind, dir)));
}

/* Without the snapshot beside a new log, who comes later seems to hold. */
TEST(a_snapshot_tells_who_held_before)
{
    AUTO(mutex) elsewhere = new_mutex(s, new_path());
    zkr_grant *g = acquire(m);

    const char *dir = textf("%s", cli_file("late"));
    restart_server();
    wait_verified(g);
    release(acquire(elsewhere)); /* so that the log has a transaction */
    assert_int_equal(mkdir(dir, 0700), 0);
    link_last(dir, "log");
    LOOK(1, "log --from %s %s", dir, path);
    assert_has(look_err, "there is no snapshot");
    link_last(dir, "snapshot");
    LOOK(0, "log --from %s -o json %s", dir, path);
    assert_jq("(.items | length) == 1 and (.items[0] | .state == 'held' and "
              ".ended == 'present' and .lock == '%s' and .sure and "
              ".held_before)",
              path);
    LOOK(0, "log --from %s --columns FROM %s", dir, path);
    assert_has(look_out, "FROM\n<=2");
    LOOK(0, "log --from %s --stats lock --columns WAIT_MAX %s", dir, path);
    assert_string_equal(look_squeezed(), "WAIT_MAX\n -\n");
    release(g);
}

/* --- a log made by hand: transaction N is N seconds after 01:46:40 --- */

#define MINUTE "2001-09-09T01:46"

TEST(a_gap_is_told)
{
    const char *file = cli_file("log.1");

    log_write(file, "1+/l/#1;1~/l;@9;1+/l/#2");
    LOOK(0, "log --from %s /l", file);
    assert_has(look_out, ">=1.0s");
    assert_has(look_err, "nothing is known between 2001-09-09T01:46:42.000Z "
                         "(0x2) and 2001-09-09T01:46:49.000Z (0x9)");
    assert_has(look_err, "1 transaction of a type");
    LOOK(66, "log --from %s --at " MINUTE ":45Z /l", file);
    assert_has(look_err, "that moment is in a gap");
    LOOK_ERR(1, "it is not known who held /l then",
             "log --from %s --since " MINUTE ":43Z --until " MINUTE ":48Z /l",
             file);
    log_write(file, "2+/l/#1;*8 /l/#1:2:2;@9;3+/l/#2");
    LOOK(66, "log --from %s --from %s --at " MINUTE ":45Z /l", file,
         cli_file("snapshot.8"));
    assert_string_equal(look_out, "");
}

/* Its nodes do not tell who of them has a permit. */
TEST(of_a_pool_of_kazoo_nothing_is_claimed)
{
    log_write(cli_file("log.1"), "1+/l/5a5bbc3873ea4b5a9f7396e8c4c6a436");
    LOOK_ERR(66, "/l has had nodes of a semaphore, a double barrier",
             "log --from %s /l", cli_file("log.1"));
    assert_lacks(look_err, "no contender");
}

/* What is told of nodes 1, 2, and 3, each held for a second, with a second
 * between them: the tokens, and a note about the history. */
static const struct {
    const char *options, *tokens, *note;
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
    { "--at " MINUTE ":41Z", "1", NULL },
    { "--since " MINUTE ":40Z", "135",
      "the history begins at " MINUTE ":41.000Z" },
    { "--until " MINUTE ":46Z", "135", NULL },
    { "--until " MINUTE ":47Z", "135",
      "the history ends at " MINUTE ":46.000Z" },
    /* Who held at the first moment was once said to have held ever since. */
    { "--at " MINUTE "Z", "", "it is not known who held /l then" },
    /* Of these times it was said that nobody held. */
    { "--at 1ms", "", "it is not known who held /l then" },
    { "--at 2199-01-01", "", "it is not known who held /l then" },
    { "--since 1ms", "", "the history ends at " MINUTE ":46.000Z" },
    { "--until 1999-01-01", "", "the history begins at " MINUTE ":41.000Z" },
};

TEST(times_choose_holds)
{
    log_write(cli_file("log.1"),
              "1+/l/#1;1-/l/#1;1+/l/#2;1-/l/#2;1+/l/#3;1-/l/#3");
    for (size_t i = 0; i < COUNT(chosen); i++) {
        LOOK(chosen[i].tokens[0] != '\0'         ? 0
             : strstr(chosen[i].options, "--at") ? 66
                                                 : 1,
             "log --from %s %s -o json /l", cli_file("log.1"),
             chosen[i].options);
        assert_string_equal(look_jq("[.items[].contender.token] | join('')"),
                            chosen[i].tokens);
        if (chosen[i].note != NULL)
            assert_has(look_err, chosen[i].note);
        else
            assert_lacks(look_err, "the history");
        assert_lacks(look_err, "nobody held");
    }
}

TEST(who_waited_then_had_not_held_until_then)
{
    log_write(cli_file("log.1"),
              "1+/l/#1;1+/l/#2:you;1-/l/#1;1+/p/locks/#0;1+/p/leases/#l0;"
              "1-/p/locks/#0;2+/n/#1;2+/m/#1;3+/n/#2;3+/m/#2;2!");
    LOOK(0, "log --from %s --until " MINUTE ":42.5Z -o json /l",
         cli_file("log.1"));
    assert_string_equal(look_jq(".items[].contender.token"), "1");
    /* the last two begin to hold in the same millisecond */
    LOOK(0, "log --from %s --waiters --columns TOKEN", cli_file("log.1"));
    assert_string_equal(look_squeezed(), "TOKEN\n1\n2\n5\n7\n8\n9\n10\n");
}

TEST(text_of_others_is_escaped)
{
    log_write(cli_file("log.1"), "1+/l\033[2J/#1:\033]0,x\a");
    for (int wide = 0; wide < 2; wide++) {
        LOOK(0, "log --from %s -o %s", cli_file("log.1"),
             wide ? "wide" : "table");
        assert_null(strchr(look_out, '\033'));
        assert_null(strchr(look_out, '\a'));
        assert_has(look_out, "\\x1B");
    }
    LOOK(0, "log --from %s --stats lock", cli_file("log.1"));
    assert_has(look_out, "/l\\x1B[2J ");
    LOOK(0, "log --from %s --stats lock -o json", cli_file("log.1"));
    assert_jq(".items[0].name == '/l\\u001b[2J'"); /* as in other verbs */
}

TEST(each_ending_has_a_word)
{
    static const char lines[] =
        "TOKEN ENDED\n1 session closed\n2 session closed\n4 session expired\n"
        "7 session expired\n9 still held\n10 deleted by 0x8\n11 still waits\n";

    log_write(cli_file("log.1"),
              "1+/l/#1;2+/l/#2;2!;3+/l/#3;3?;1!;4+/l/#4;4?;5+/l/#5;6+/l/#6;"
              "7+/l/#7;8-/l/#6");
    LOOK(0, "log --from %s --waiters --columns TOKEN,ENDED /l",
         cli_file("log.1"));
    assert_string_equal(look_squeezed(), lines);
    LOOK(0, "log --from %s --waiters -o json /l", cli_file("log.1"));
    assert_string_equal(look_jq("[.items[].ended] | join(\" \")"),
                        "session_closed session_closed session_expired "
                        "session_expired present deleted present");
}

/* Whole tables tell who was asked and broken, who released, who gave up, and
 * who is there before a gap and behind it. */
#define GAP                                                                    \
    "note: nothing is known between " MINUTE ":48.000Z (0x8) and " MINUTE      \
    ":59.000Z (0x13): transactions are missing\n"
/* clang-format off */
static const struct {
    const char *options, *out, *note, *lacks;
} tables[] = {
    { "-o wide",
      "STATE LOCK FROM UNTIL HELD OWNER ENDED WAITED LABEL SESSION TOKEN MODE DIALECT QUEUED ASKED REASON NODE\n"
      "held /l ?" MINUTE ":41.000Z " MINUTE ":46.000Z 5.0s me broken by 0x6, asked by 0x5 0.0s - 0x1 1 exclusive other " MINUTE ":41.000Z " MINUTE ":45.000Z why _c_a-lock-0000000001\n"
      "held /l ?" MINUTE ":46.000Z " MINUTE ":48.000Z 2.0s you released 4.0s - 0x2 2 exclusive other " MINUTE ":42.000Z - - lock-0000000002\n"
      "held /l ?" MINUTE ":48.000Z >=" MINUTE ":48.000Z >=0.0s session 0x3 not known 5.0s - 0x3 3 exclusive other " MINUTE ":43.000Z - - lock-0000000003\n"
      "held /l ?" MINUTE ":59.000Z - >=1.0s late still held 0.0s - 0x7 19 exclusive other " MINUTE ":59.000Z - - lock-0000000007\n"
      "held /m ?2001-09-09T01:47:00.000Z - >=0.0s late still held 0.0s - 0x7 20 exclusive other 2001-09-09T01:47:00.000Z - - lock-0000000001\n",
      GAP, "nobody" },
    { "--waiters /l",
      "STATE FROM UNTIL HELD OWNER ENDED WAITED LABEL SESSION TOKEN\n"
      "held ?" MINUTE ":41.000Z " MINUTE ":46.000Z 5.0s me broken by 0x6, asked by 0x5 0.0s - 0x1 1\n"
      "waited - " MINUTE ":47.000Z - she gave up 3.0s - 0x4 4\n"
      "held ?" MINUTE ":46.000Z " MINUTE ":48.000Z 2.0s you released 4.0s - 0x2 2\n"
      "held ?" MINUTE ":48.000Z >=" MINUTE ":48.000Z >=0.0s session 0x3 not known 5.0s - 0x3 3\n"
      "held ?" MINUTE ":59.000Z - >=1.0s late still held 0.0s - 0x7 19\n", "the history ends", NULL },
    { "--at " MINUTE ":43.5Z --columns STATE,LOCK,TOKEN",
      "STATE LOCK TOKEN\nHELD /l 1\nwait /l 2\nwait /l 3\n", "zk-lockctl: at " MINUTE ":43.500Z\n", "nothing is known" },
    { "--stats owner",
      "NAME GRANTS WAIT_P50 WAIT_P99 WAIT_MAX HELD_P50 HELD_P99 HELD_MAX\n"
      "late 2 0.0s 0.0s 0.0s 0.0s 1.0s 1.0s\n"
      "me 1 0.0s 0.0s 0.0s 5.0s 5.0s 5.0s\n"
      "session 0x3 1 5.0s 5.0s 5.0s 0.0s 0.0s 0.0s\n"
      "you 1 4.0s 4.0s 4.0s 2.0s 2.0s 2.0s\n", GAP, NULL },
    { "--stats lock --waiters --columns NAME,GRANTS --until " MINUTE ":47.9Z",
      "NAME GRANTS\n/l 2\n", NULL, "nothing is known" },
    { "--since " MINUTE ":59.5Z",
      "LOCK FROM UNTIL HELD OWNER ENDED WAITED LABEL SESSION TOKEN\n"
      "/l ?" MINUTE ":59.000Z - >=1.0s late still held 0.0s - 0x7 19\n"
      "/m ?2001-09-09T01:47:00.000Z - >=0.0s late still held 0.0s - 0x7 20\n", NULL, "nothing is known" },
};
/* clang-format on */

TEST(tables_are_as_they_were)
{
    log_write(cli_file("log.1"),
              "1+/l/_c_a-#1;2+/l/#2:you;3+/l/#3:;4+/l/#4:she;"
              "5=/l/_c_a-#1:__REVOKE__: why;6-/l/_c_a-#1;4-/l/#4;2-/l/#2;@19;"
              "7+/l/#7:late;7+/m/#1:late");
    for (size_t i = 0; i < COUNT(tables); i++) {
        LOOK(0, "log --from %s %s", cli_file("log.1"), tables[i].options);
        assert_string_equal(look_squeezed(), tables[i].out);
        if (tables[i].note != NULL)
            assert_has(look_err, tables[i].note);
        if (tables[i].lacks != NULL)
            assert_lacks(look_err, tables[i].lacks);
    }
}
