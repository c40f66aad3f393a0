/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of log on the transaction log of a server whose clients are Curator and
 * kazoo: who held their locks, for how long, and how each way to lose a lock is
 * told. */

#include <time.h>

#include "look.h"
#include "worker.h"

enum { LONG_MS = 30000, SHORT_MS = 1500 };

static struct worker curator;
static struct worker kazoo;

/* A lock of theirs that is held. */
struct theirs {
    struct worker *owner;
    const char *recipe, *layout, *mode;
    const char *dir; /* of the node, below the path */
    char path[64];
    char node[256];
    int64_t token;
};

static struct theirs all[] = {
    { &curator, "mutex", "curator", "write", .dir = "" },
    { &curator, "rw", "curator", "write", .dir = "" },
    { &curator, "rw", "curator", "read", .dir = "" },
    { &curator, "semaphore:1", "curator", "1", .dir = "leases/" },
    { &kazoo, "mutex", "kazoo", "write", .dir = "" },
};
enum { ALL = COUNT(all) };

static void start(int session_ms)
{
    worker_start(&curator, KIND_CURATOR, 1);
    worker_start(&kazoo, KIND_KAZOO, 1);
    worker_open(&curator, server_hosts(the_server), session_ms);
    worker_open(&kazoo, server_hosts(the_server), session_ms);
}

static int stop(void)
{
    worker_stop(&curator);
    worker_stop(&kazoo);
    return 0;
}

FIXTURE(NULL, stop)

static void hold(struct theirs *t)
{
    PRINT(t->path, "%s", new_path());
    worker_do(t->owner, "lock", "lock %s %s %s", t->recipe, t->layout, t->path);
    worker_acquire(t->owner, t->mode);
    PRINT(t->node, "%s/%s%s", t->path, t->dir, t->owner->node);
    t->token = t->owner->token;
}

static void hold_all(void)
{
    for (size_t i = 0; i < ALL; i++)
        hold(&all[i]);
}

/* --- the answer --- */

static void history(const char *path)
{
    LOOK(0, "log --from %s -o json %s", server_log_dir(the_server), path);
}

/* For how long it held is known to the millisecond. */
static void assert_theirs(const struct theirs *t, const char *ended)
{
    history(t->path);
    assert_jq(".kind == 'History' and (.items | length) == 1 and (.items[0] | "
              ".state == 'held' and .ended == '%s' and .sure and "
              "(.held_before | not) and .held_ms > 0 and "
              ".held_ms == (.until | ms) - (.held_from | ms) and "
              ".waited_ms >= 0 and .lock == '%s' and (.contender | "
              ".token == '%lld' and .session == '0x%llx' and .mode == '%s'))",
              ended, t->path, (long long)t->token,
              (unsigned long long)t->owner->session,
              strcmp(t->mode, "write") == 0 ? "exclusive" : "shared");
}

static void assert_all(const char *ended)
{
    for (size_t i = 0; i < ALL; i++)
        assert_theirs(&all[i], ended);
}

static void wait_gone(void)
{
    for (size_t i = 0; i < ALL; i++)
        AWAIT(admin_exists(admin, all[i].node, NULL) == ZNONODE);
}

/* --- how it ended --- */

TEST(a_release_is_told)
{
    start(LONG_MS);
    for (size_t i = 0; i < ALL; i++) {
        hold(&all[i]);
        sleep_ms(5);
        worker_do(all[i].owner, "released", "release %s", all[i].mode);
    }
    wait_gone();
    assert_all("released");
}

TEST(a_session_that_its_client_closes_is_told)
{
    start(LONG_MS);
    hold_all();
    worker_do(&curator, "closed", "close");
    worker_do(&kazoo, "closed", "close");
    wait_gone();
    assert_all("session_closed");
}

TEST(a_session_that_expires_is_told)
{
    start(SHORT_MS);
    hold_all();
    worker_kill(&curator);
    worker_kill(&kazoo);
    wait_gone();
    assert_all("session_expired");
}

/* Neither of them notices. */
TEST(an_admin_that_deletes_the_node_is_told)
{
    start(LONG_MS);
    hold_all();
    sleep_ms(5);
    for (size_t i = 0; i < ALL; i++)
        assert_int_equal(admin_delete(admin, all[i].node), ZOK);
    assert_all("deleted");
    for (size_t i = 0; i < ALL; i++) {
        history(all[i].path);
        assert_string_equal(
            look_jq(".items[0].ended_by"),
            textf("0x%llx", (unsigned long long)admin_session_id(admin)));
    }
}

/* --- what the tool does not know --- */

static const char *moment(int64_t ms)
{
    static char text[64];
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    size_t len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S",
                          gmtime_r(&seconds, &tm));

    (void)snprintf(text + len, sizeof(text) - len, ".%03dZ", (int)(ms % 1000));
    return text;
}

static void refused(int code, const char *verb, const char *path,
                    const char *rest)
{
    const char *words = textf("%s %s %s", verb, path, rest);
    LOOK_ERR(code, path, "%s", words);
    if (strstr(look_err, "a semaphore, a double barrier or a party of kazoo") ==
        NULL)
        fail_msg("%s: %s", words, look_err);
}

/* Its leases were no contenders, so nobody held: a run was let in, and log was
 * sure of it. */
TEST(a_semaphore_of_kazoo_is_not_known)
{
    struct Stat stat;

    start(LONG_MS);
    const char *path = textf("%s", new_path());
    worker_do(&kazoo, "lock", "lock semaphore kazoo %s", path);
    worker_acquire(&kazoo, "write");
    ok(admin_exists(admin, textf("%s/%s", path, kazoo.node), &stat));
    refused(65, "show", path, "");
    refused(65, "run -n", path, "true");
    refused(65, "lead", path, "true");
    refused(65, "hold -n", path, "");
    assert_int_equal(count_children(path), 1);
    refused(66,
            textf("log --from %s --at %s", server_log_dir(the_server),
                  moment(stat.ctime)),
            path, "");
    assert_lacks(look_err, "nobody held");
    worker_do(&kazoo, "released", "release write");
    wait_children(path, 0);
    assert_int_equal(look_at((const char *const[]){ "show", path, NULL }), 0);
}

int main(void)
{
    return workers_installed() ? cli_run(NULL) : 77;
}
