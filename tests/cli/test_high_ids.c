/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with session ids above 2^63, as a server with a number above 127 makes
 * them. */
#include "start_run.h"
#include "test.h"

#include "server_private.h"

enum { SERVER_ID = 200 };

#define FIRST "0xc8" /* of each session id */

static char hosts[64];

static void assert_high(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    if (text == NULL || strncmp(text, FIRST, 4) != 0 || strlen(text) != 18)
        fail_msg("\"%s\" is %s", key, text == NULL ? "missing" : text);
}

FIXTURE(take_path, NULL)

/* Start it, and wait until it holds. */
static void start_holder(struct cli *c, const char *lock)
{
    START_FOR(c, "10s", hosts, lock, COMMAND, "signals");
    cli_wait_said(c, "ready\n");
}

TEST(the_command_has_it)
{
    START_FOR(&cli, "10s", hosts, new_path(), "-c", "echo $ZKLOCK_SESSION");
    assert_int_equal(cli_end(&cli), 0);
    assert_int_equal(strncmp(cli_said(&cli), FIRST, 4), 0);
    assert_int_equal(strlen(cli_said(&cli)), 19);
}

TEST(their_clients_are_found)
{
    struct cli next;
    const json_t *queue;

    start_holder(&cli, path);
    START_FOR(&next, "10s", hosts, path, "true");
    wait_children(path, 2);
    LOOK(0, "show -o json %s", path);
    queue =
        json_object_get(json_array_get(look_items("LockQueue"), 0), "queue");
    assert_int_equal(json_array_size(queue), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *one = json_array_get(queue, i);

        assert_high(one, "session");
        assert_non_null(json_string_value(json_object_get(one, "client")));
    }
    LOOK(0, "doctor -o json %s", path);
    assert_int_equal(cli_end(&cli), 0);
    assert_int_equal(cli_end(&next), 0);
}

/* The numbers of the sessions around it are in its environment. */
TEST(a_run_inside_knows_those_around_it)
{
    char script[512];

    PRINT(script, "%s run --servers %s %s true", LOCKCTL, hosts, path);
    START_FOR(&cli, "10s", hosts, path, "-c", script);
    assert_end(&cli, 64, "wait for itself");
    assert_said(&cli, "(session " FIRST);
}

static int start_once(void)
{
    static const char *const alone[] = { "standaloneEnabled=false", NULL };
    const struct server_opts opts = { .cfg_lines = alone };
    int port = server_find_ports(SERVER_PORTS);
    char peer[64];
    int rc;

    PRINT(peer, "server.%d=127.0.0.1:%d:%d\n", SERVER_ID, port + 1, port + 2);
    rc = server_prepare(&opts, port, SERVER_ID, peer, &the_server);
    if (rc == SERVER_OK)
        rc = server_spawn(the_server);
    if (rc == SERVER_OK)
        rc = server_await(the_server, now_ms() + SERVER_DEADLINE_MS);
    return rc;
}

/* Another program may take a port that was free. */
static int start_server(void)
{
    int rc = SERVER_PORT_TAKEN;

    for (int i = 0; i < 5 && rc == SERVER_PORT_TAKEN; i++) {
        rc = start_once();
        if (rc != SERVER_OK) {
            server_stop(the_server);
            the_server = NULL;
        }
    }
    return rc;
}

static int run_group(void)
{

    if (admin_open(hosts, &admin) != ZOK ||
        admin_create(admin, "/tests", NULL) != ZOK)
        return 1;
    return test_run_all();
}

int main(void)
{
    int rc;

    if (!server_installed())
        return 77;
    if (cli_setup() != 0 || start_server() != SERVER_OK)
        return 1;
    PRINT(hosts, "%s", server_hosts(the_server));
    rc = run_group();
    admin_close(admin);
    server_stop(the_server);
    cli_teardown();
    return rc == 0 ? 0 : 1;
}
