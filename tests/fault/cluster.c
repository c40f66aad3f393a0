/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts are network namespaces. A link is blocked by a wrong hardware address
 * in the sender's neighbour table: nobody takes those packets. */
#include "cluster.h"

#include <sched.h>

#include <fcntl.h>
#include <unistd.h>

#include "admin.h"
#include "server_private.h"
#include "spawn.h"
#include "wait.h"

#define ADDRESS "10.77.0.%d"
#define MAC     "02:00:00:00:00:%02d"
#define NOBODY  "02:00:00:00:00:99"

enum { CLIENT_PORT = 2181, QUORUM_PORT = 2888, ELECTION_PORT = 3888 };

/* Where followers serve observers. */
#define MASTER_PORT "observerMasterPort=2191"

#define HOSTS_MOST (LEADERS_OBSERVER + 1)

static struct server *servers[HOSTS_MOST]; /* the first is none */
static int spaces[HOSTS_MOST];
static int hosts;

/* Commands and namespaces */

/* Returns true when it succeeds. */
static bool run(const char *command)
{
    char *argv[] = { "/bin/sh", "-c", (char *)command, NULL };

    return spawn_run(argv, STDERR_FILENO);
}

static void enter(int host)
{
    if (setns(spaces[host], CLONE_NEWNET) != 0) {
        perror("cluster: setns");
        abort();
    }
}

static void run_on(int host, const char *command)
{
    enter(host);
    if (!run(command)) {
        fprintf(stderr, "cluster: '%s' failed\n", command);
        abort();
    }
    enter(HERE);
}

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written =
        fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return written;
}

/* A user other than root becomes root of a user namespace. */
bool cluster_permitted(void)
{
    const char *uids = textf("0 %d 1", (int)getuid());
    const char *gids = textf("0 %d 1", (int)getgid());

    if (unshare(CLONE_NEWNET) != 0 &&
        (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0 ||
         !write_file("/proc/self/setgroups", "deny") ||
         !write_file("/proc/self/uid_map", uids) ||
         !write_file("/proc/self/gid_map", gids)))
        return false;
    return run("exec >/dev/null 2>&1;"
               " ip link add eth0 type bridge && ip link del eth0");
}

static int present_space(void)
{
    int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        abort();
    return fd;
}

/* Hosts */

/* Without this, TCP tries a healed link only after seconds. */
static void hurry(int host)
{
    run_on(host, "cd /proc/sys/net/ipv4; echo 1 >tcp_thin_linear_timeouts;"
                 " test ! -e tcp_rto_max_ms || echo 1000 >tcp_rto_max_ms");
}

static void make_host(int host)
{
    if (unshare(CLONE_NEWNET) != 0)
        abort();
    spaces[host] = present_space();
    run_on(HERE, textf("ip link add port%d type veth peer name eth0 netns"
                       " /proc/%d/fd/%d && ip link set port%d master eth0 up",
                       host, (int)getpid(), spaces[host], host));
    hurry(host);
    run_on(host,
           textf("ip link set eth0 address " MAC " up && ip link set lo up &&"
                 " ip addr add " ADDRESS "/24 dev eth0",
                 host, 100 + host));
}

static void set_neighbour(int from, int to, const char *mac)
{
    run_on(from, textf("ip neigh replace " ADDRESS " lladdr %s dev eth0"
                       " nud permanent",
                       100 + to, mac));
}

void cluster_block(int from, int to)
{
    set_neighbour(from, to, NOBODY);
}

void cluster_unblock(int from, int to)
{
    set_neighbour(from, to, textf(MAC, to));
}

void cluster_cut(int a, int b)
{
    cluster_block(a, b);
    cluster_block(b, a);
}

void cluster_heal(void)
{
    for (int from = 0; from < hosts; from++) {
        for (int to = 0; to < hosts; to++) {
            if (from != to)
                cluster_unblock(from, to);
        }
    }
}

void cluster_break(int host, int peer)
{
    run_on(host,
           textf("ss -K dst " ADDRESS " >/dev/null 2>&1 || :", 100 + peer));
}

void cluster_reset(int a, int b)
{
    cluster_break(a, b);
    cluster_break(b, a);
}

void cluster_isolate(int leader)
{
    for (int host = 1; host < HOSTS; host++) {
        if (host != leader)
            cluster_cut(leader, host);
    }
    for (int host = 1; host < HOSTS; host++) {
        if (host != leader)
            cluster_break(host, leader);
    }
}

void cluster_mend(int host)
{
    cluster_heal();
    for (int other = 1; other < HOSTS; other++) {
        if (other != host)
            cluster_reset(other, host);
    }
}

/* Servers */

static int spawn_server(int host, const char *peers,
                        const struct cluster_opts *o)
{
    int tick_ms = o->tick_ms > 0 ? o->tick_ms : 2000;
    const char *lines[] = {
        "initLimit=10",
        textf("syncLimit=%d", o->sync_limit > 0 ? o->sync_limit : 5),
        host >= HOSTS ? "peerType=observer" : "",
        o->observers > 0 && host != LEADERS_OBSERVER ? MASTER_PORT : "", NULL
    };
    /* By default a server asks a minute after an election it missed. */
    static const char *const java[] = {
        "-Dzookeeper.fastleader.maxNotificationInterval=1000", NULL
    };
    int rc = server_prepare(
        &(struct server_opts){ .tick_ms = tick_ms,
                               .min_session_ms = 2 * tick_ms,
                               .address = textf(ADDRESS, 100 + host),
                               .log_dir = host < HOSTS ? o->logs[host] : NULL,
                               .java_opts = java,
                               .cfg_lines = lines },
        CLIENT_PORT, host, peers, &servers[host]);

    enter(host);
    if (rc == SERVER_OK)
        rc = server_spawn(servers[host]);
    enter(HERE);
    return rc;
}

static int spawn_servers(const struct cluster_opts *opts)
{
    const char *peers = "";
    int rc = SERVER_OK;

    for (int host = 1; host < hosts; host++)
        peers =
            textf("%sserver.%d=" ADDRESS ":%d:%d%s\n", peers, host, 100 + host,
                  QUORUM_PORT, ELECTION_PORT, host >= HOSTS ? ":observer" : "");
    for (int host = 1; host < hosts && rc == SERVER_OK; host++)
        rc = spawn_server(host, peers, opts);
    return rc;
}

static int find_leader(void)
{
    int leader = 0;
    int followers = 0;

    sleep_ms(50); /* asking is no small thing for a server that starts */
    for (int host = 1; host < HOSTS; host++) {
        if (server_has_mode(servers[host], "leader"))
            leader = host;
        else
            followers += server_has_mode(servers[host], "follower");
    }
    return followers == SERVERS - 1 ? leader : 0;
}

bool cluster_find_cast(struct cast *cast)
{
    if (!COMES((cast->leader = find_leader()) != 0, HEALTHY_MS))
        return false;
    cast->follower = (cast->leader + random_between(0, 1)) % SERVERS + 1;
    cast->other = 1 + 2 + 3 - cast->leader - cast->follower;
    return true;
}

struct cast cluster_await_cast(void)
{
    struct cast cast;

    assert_true(cluster_find_cast(&cast));
    return cast;
}

static int find_master(const char *mode)
{
    sleep_ms(50);
    for (int host = 1; host < HOSTS; host++) {
        if (server_has_mode(servers[host], mode) &&
            server_metric(servers[host], "zk_synced_observers") > 0)
            return host;
    }
    return 0;
}

int cluster_await_master(const char *mode)
{
    int host;

    assert_true(COMES((host = find_master(mode)) != 0, HEALTHY_MS));
    return host;
}

int cluster_start(const struct cluster_opts *opts)
{
    if (!server_installed())
        return SERVER_MISSING;
    hosts = HOSTS + opts->observers;
    spaces[HERE] = present_space();
    hurry(HERE);
    run_on(HERE,
           textf("ip link add eth0 address " MAC " type bridge forward_delay 0"
                 " && ip addr add " ADDRESS "/24 dev eth0 &&"
                 " ip link set eth0 up && ip link set lo up",
                 HERE, 100 + HERE));
    for (int host = 1; host < hosts; host++)
        make_host(host);
    cluster_heal();
    int rc = spawn_servers(opts);
    if (rc == SERVER_OK && !COMES(find_leader() != 0, 2 * SERVER_DEADLINE_MS)) {
        server_complain(servers[1], "no ensemble; its log ends with");
        rc = SERVER_FAILED;
    }
    if (rc != SERVER_OK)
        cluster_stop();
    return rc;
}

void cluster_stop(void)
{
    for (int host = 0; host < hosts; host++) {
        server_stop(servers[host]);
        close(spaces[host]);
    }
    hosts = 0;
}

struct server *cluster_server(int host)
{
    return servers[host];
}

int cluster_restart(int host)
{
    enter(host);
    int rc = server_serve(servers[host]);
    enter(HERE);
    return rc;
}

/* Trials */

int number_from(const char *name, int otherwise)
{
    if (getenv(name) != NULL)
        (void)alarm(0); /* a long run, which somebody has asked for */
    return (int)test_number(name, otherwise);
}

void set_seed(void)
{
    int seed = number_from("ZKR_SEED", (int)(time(NULL) % 1000000));

    printf("ZKR_SEED=%d\n", seed);
    srand48(seed);
}

int random_between(int least, int most)
{
    return least + (int)(drand48() * (most - least + 1));
}

int64_t real_to_boot(int64_t instant_ms)
{
    return instant_ms * 1000000 + boot_ns() - clock_ns(CLOCK_REALTIME);
}

int run_with_cluster(const struct cluster_opts *opts, test_step *setup,
                     test_step *teardown)
{
    int rc = cluster_permitted() ? cluster_start(opts) : SERVER_MISSING;

    if (rc != SERVER_OK)
        return rc == SERVER_MISSING ? 77 : 1;
    rc = cluster_create("/tests");
    if (rc == 0)
        rc = test_run_between(setup, teardown);
    cluster_stop();
    return rc == 0 ? 0 : 1;
}

int cluster_create(const char *path)
{
    struct admin *a = NULL;
    int rc = admin_open(server_hosts(cluster_server(1)), &a);

    if (rc == ZOK)
        rc = admin_create(a, path, NULL);
    admin_close(a);
    return rc;
}
