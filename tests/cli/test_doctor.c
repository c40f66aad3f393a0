/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl doctor: each finding on a real server, and none where all
 * is well. */

#include "look.h"
#include "server_private.h"

FIXTURE(look_make_root, look_remove_root)

/* --- who is there --- */

/* Of a permit there was no word. */
TEST(a_holder_whose_client_is_gone_is_found)
{
    static const struct {
        const char *option, *below, *before, *what;
    } cases[] = {
        { "--slots=1", "leases", "leases/",
          "has a permit, and its client is connected" },
        { "-v", "", "", "holds it, and its client is connected to no server" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct cli holder;

        START_CLI(&holder, "run", "--servers", server_hosts(the_server),
                  "--session-timeout", "60s", cases[i].option, in_root("lock"),
                  COMMAND, "signals");
        cli_wait_said(&holder, "ready\n");
        (void)look(textf("doctor --confirm 50ms -q %s", look_root));
        assert_lacks(look_out, "absent-holder");
        assert_int_equal(cli_kill(&holder, SIGKILL), 128 + SIGKILL);
        AUTO(text)
        name = nth_child(cases[i].below[0] == '\0'
                             ? in_root("lock")
                             : in_root(textf("lock/%s", cases[i].below)),
                         0);
        LOOK(75, "revoke -w 0 %s", in_root("lock"));
        assert_has(look_err, ", whose client is connected to no server, has");
        LOOK(1, "doctor --confirm 50ms -qo json %s", look_root);
        assert_jq(".kind == 'FindingList' and ([.items[] | "
                  "select(.check == 'absent-holder')] | length == 1 and "
                  "(.[0] | .lock == '%s' and .node == '%s%s' and "
                  "(.what | contains('%s')) and "
                  "(.cure | contains('zk-lockctl break --token '))))",
                  in_root("lock"), cases[i].before, name, cases[i].what);
        assert_int_equal(admin_delete_tree(admin, in_root("lock")), ZOK);
    }
}

/* Runs zk-lockctl doctor at the look_root, or in it as a chroot, with these
 * servers, and returns its exit code. */
static int doctor_on(const char *hosts, bool chrooted)
{
    return look(textf("doctor --servers %s%s --confirm 50ms %s", hosts,
                      chrooted ? look_root : "", chrooted ? "/" : look_root));
}

/* Regression: a list of one server counted as the whole ensemble. So a holder
 * that was connected to another one was absent, with a command to break its
 * lock. */
TEST(clients_of_servers_that_are_not_listed_are_not_gone)
{
    static const char *const lines[] = { "maxSessionTimeout=60000",
                                         "skipACL=yes", NULL };
    const struct server_opts opts = { .cfg_lines = lines };
    struct ensemble *e;
    struct cli holder;
    struct admin *a;

    assert_int_equal(ensemble_start(3, &opts, &e), SERVER_OK);
    const char *one = server_hosts(ensemble_server(e, 0));
    const char *thrice = textf("%s,%s,%s", one, one, one);
    assert_int_equal(doctor_on(one, false), 0); /* no lock, no client */
    START_CLI(&holder, "run", "--servers", server_hosts(ensemble_server(e, 1)),
              "--session-timeout", "60s", in_root("lock"), COMMAND, "signals");
    cli_wait_said(&holder, "ready\n");

    assert_int_equal(doctor_on(one, false), 82);
    assert_has(look_err, "the ensemble has 3 servers");
    assert_int_equal(doctor_on(thrice, false), 82);
    assert_int_equal(doctor_on(one, true), 82);
    assert_has(look_err, "the ensemble has 3 servers");
    assert_int_equal(doctor_on(ensemble_hosts(e), false), 0);
    assert_lacks(look_err, "the ensemble has");
    assert_int_equal(cli_kill(&holder, SIGKILL), 128 + SIGKILL);
    assert_int_equal(doctor_on(ensemble_hosts(e), false), 1);
    assert_has(look_out, "absent-holder");
    assert_int_equal(
        doctor_on(textf("127.0.0.1:1,%s", ensemble_hosts(e)), false), 82);
    ok(admin_open(one, &a)); /* names of hosts do not count */
    ok(admin_set(
        a, "/zookeeper/config",
        "server.1=server.a:1:2\nserver.2=b.server.b:1:2\nserver.3=c:1:2"));
    admin_close(a);
    assert_int_equal(doctor_on(ensemble_hosts(e), true), 1);
    assert_has(look_out, "absent-holder");
    ensemble_stop(e);
}

/* Regression: without a lock the servers were not asked, and all was well. */
TEST(a_server_that_does_not_tell_is_named_also_without_a_lock)
{
    struct ensemble *e;

    assert_int_equal(ensemble_start(3, NULL, &e), SERVER_OK);
    struct server *one = ensemble_server(e, ensemble_leader(e) == 0);
    server_pause(one);
    struct stopwatch *w = stopwatch_start();
    assert_int_equal(doctor_on(ensemble_hosts(e), false), 82);
    assert_true(stopwatch_says(w, 2000, SOON_MS));
    assert_has(look_err, textf("%s does not answer", server_hosts(one)));
    w = stopwatch_start(); /* the time that is given counts */
    LOOK(82, "doctor --timeout 4s --servers %s /nothing", ensemble_hosts(e));
    assert_true(stopwatch_says(w, 4000, SOON_MS));
    server_kill9(one);
    assert_int_equal(doctor_on(ensemble_hosts(e), false), 82);
    assert_has(look_err, textf("%s refuses connections", server_hosts(one)));
    ensemble_stop(e);
}

/* --- what is not --- */

/* Servers refuse control characters in names, except those that turn the
 * direction of writing. */
#define TURN "\xe2\x80\xae"

/* As a scene. */
/* clang-format off */
static const struct row {
    const char *name;
    const char *nodes;
    const char *words;
    int code;
    const char *has, *too; /* in the output; NULL: anything */
    const char *lacks;
} rows[] = {
    /* A copied tree has such nodes; or a client forgot the flag. */
    { "a_contender_without_a_session", "p lock/lock-0000000000 ", "-v",
      1, "/lock: persistent-contender: lock-0000000000 holds, but it belongs", NULL, "mixed" },
    { "recipes_that_do_not_exclude_each_other",
      "a lock/lock-0000000000 |a lock/_c_x-__READ__0000000001 ", "-v",
      1, "mixed-recipes: the contenders", "Cure: use one recipe on a path", "persistent" },
    { "a_node_that_holds_for_long", "a lock/lock-0000000000 hostC:5", "--older 1ms",
      1, "old-holder: hostC:5 holds it", "break --token ", "persistent" },
    /* A client that waits behind its own node may be deadlocked. */
#define ITSELF "a lock/lock-0000000000 me|a lock/lock-0000000001 me"
    { "a_wait_behind_its_own_node", ITSELF, "--older 1ms",
      1, "/lock: own-node: me has waited for ", " behind a node of its own session", "/lock: deadlock" },
    { "a_short_one", ITSELF, "--older 1h", 0, "1 possible deadlock", NULL, "own-node" },
    { "one_of_any_age", ITSELF, "--older 0", 0, "1 possible deadlock", NULL, "own-node" },
    { "a_chosen_column", ITSELF, "--older 1ms --columns check,lock",
      1, "CHECK LOCK\nold-holder ROOT/lock\nown-node ROOT/lock\n", "2 findings", NULL },
    { "text_of_others",
      "p lock/" TURN "lock-0000000000 \033]0;evil\a", "--older 1ms -v",
      1, "old-holder: \\x1B]0;evil\\x07 holds it",
      "persistent-contender: \\xE2\\x80\\xAElock-0000000000 holds", "\033" },
    /* Other users choose the path of a lock, too. */
    { "paths_of_others", "p lock/" TURN "/lock-0000000000 ", "-v",
      1, "/\\xE2\\x80\\xAE: persistent-contender", NULL, "\033" },
};
/* clang-format on */

TEST_ROWS(doctor_finds, rows, row)
{
    const struct scene scenes[] = {
        { .make = row->nodes,
          .words = textf("doctor --confirm 50ms %s R", row->words),
          .code = row->code,
          .has = { row->has, row->too },
          .lacks = row->lacks },
        { .words = NULL },
    };

    look_play(scenes, NULL, NULL);
}

/* A finding that only the second look sees may be gone soon: recipes are mixed,
 * too. */
TEST(a_finding_was_there_both_times)
{
    AUTO(proxy) proxy = new_proxy();
    struct cli cli;

    (void)look_make(admin, in_root("lock/lock-0000000000"), "one", 0);
    proxy_rule(proxy, ZOO_GETDATA_OP, 1, PROXY_HOLD_REPLY);
    START_CLI(&cli, "doctor", "--confirm", "1ms", "--timeout", "60s",
              "--no-4lw", "--servers", proxy_hosts(proxy), look_root);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    (void)look_make(admin, in_root("lock/_c_x-__READ__0000000001"), "two", 0);
    proxy_release(proxy);
    assert_end(&cli, 1, "1 lock, 1 finding\n");
}

/* Regression: an hour ahead, it took nodes for old, and advised to break them;
 * an hour behind, it had no doubt. */
TEST(a_wrong_clock_is_said_and_no_age_is_judged)
{
    static const struct {
        const char *clock;
        const char *option; /* without --older it is a day */
        int code;
        const char *has, *lacks;
    } cases[] = {
        { "OTHER_CLOCK_S=3630", "--older=10m", 82,
          "the clock of this machine is 1h00m ahead of those of the servers",
          "old-holder" },
        { "OTHER_CLOCK_S=-3630", "--older=10m", 82,
          "the clock of this machine is 1h00m behind those of the servers",
          "old-holder" },
        { "OTHER_CLOCK_S=82800", "--no-4lw", 0, "0 findings", "old-holder" },
        { "OTHER_CLOCK_S=90000", "--no-4lw", 1, "old-holder", "clock" },
    };

    struct cli cli;

    (void)look_make(admin, in_root("lock/lock-0000000000"), "hostC:5",
                    ZOO_EPHEMERAL);
    for (size_t i = 0; i < COUNT(cases); i++) {
        cli_start(&cli, "/usr/bin/env",
                  (const char *const[]){
                      cases[i].clock, "ASAN_OPTIONS=verify_asan_link_order=0",
                      "LD_PRELOAD=" PRELOADS, LOCKCTL, "doctor", "--servers",
                      server_hosts(the_server), "--confirm", "50ms",
                      cases[i].option, look_root, NULL });
        assert_int_equal(cli_end(&cli), cases[i].code);
        assert_lacks(cli_said(&cli), cases[i].lacks);
        assert_has(cli_said(&cli), cases[i].has);
    }
}

int main(void)
{
    static const char *const options[] = {
        "-Dznode.container.checkIntervalMs=500", NULL
    };
    const struct server_opts opts = { .java_opts = options };

    return cli_run(&opts);
}
