/* SPDX-License-Identifier: Apache-2.0 */
/* Outages: the ways in which one server or another is not available. */
#include "outages.h"

#include "calls.h"
#include "fixture.h"

enum {
    FLOODERS = 4,
    CROWD = 200, /* nodes that each of them lists */
};

static struct cluster *cluster;
static struct server *throttled;
static struct proxy *proxy;

/* The servers that the calls of an outage use. */
#define HOSTS_OF(name, hosts)                                                  \
    static const char *name(void)                                              \
    {                                                                          \
        return hosts;                                                          \
    }

HOSTS_OF(of_server, server_hosts(the_server))
HOSTS_OF(of_proxy, proxy_hosts(proxy))
HOSTS_OF(of_throttled, server_hosts(throttled))
HOSTS_OF(of_cluster, server_hosts(cluster_server(cluster, 1)))

/* An outage begins, or ends, with one call. */
#define STEP(name, call)                                                       \
    static void name(void)                                                     \
    {                                                                          \
        call;                                                                  \
    }

STEP(freeze, server_pause(the_server))
STEP(thaw, server_resume(the_server))
STEP(refuse, proxy_cut(proxy))
STEP(be_silent, proxy_freeze(proxy))
STEP(heal_proxy, proxy_heal(proxy))
/* Neither end learns that the other is unreachable. */
STEP(lose_requests, cluster_block(cluster, HERE, 1))
STEP(lose_answers, cluster_block(cluster, 1, HERE))
STEP(heal_cluster, cluster_heal(cluster))

static void lose_both(void)
{
    lose_requests();
    lose_answers();
}

static void kill_it(void)
{
    admin_close(admin);
    admin = NULL;
    server_kill9(the_server);
}

static void start_again(void)
{
    ok(server_restart(the_server));
    ok(admin_open(server_hosts(the_server), &admin));
}

/* A server that may work on one request only refuses the others. */
static struct flood {
    pthread_t threads[FLOODERS];
    zkr_session *session;
    atomic_bool stop;
} flood;

static void *flood_main(void *unused)
{
    while (!atomic_load(&flood.stop)) {
        AUTO(participants) list = NULL;

        (void)!zkr_participants_list(flood.session, "/crowd", NULL, &list);
    }
    return NULL;
}

/* This server refuses now and then when it is at rest, too. */
static void create(struct admin *a, const char *path)
{
    int rc;

    do
        rc = admin_create(a, path, NULL);
    while (rc == ZKR_ZTHROTTLEDOP);
    assert_true(rc == ZOK || rc == ZNODEEXISTS);
}

static void make_crowd(void)
{
    struct admin *a;

    ok(admin_open(server_hosts(throttled), &a));
    create(a, "/crowd");
    for (int i = 0; i < CROWD; i++)
        create(a, textf("/crowd/lock-%010d", i));
    admin_close(a);
}

static void start_flood(void)
{
    flood.session = calls_session(server_hosts(throttled));
    atomic_store(&flood.stop, false);
    for (int i = 0; i < FLOODERS; i++)
        flood.threads[i] = thread_start(flood_main, NULL);
    sleep_ms(50); /* for the queue to fill */
}

static void stop_flood(void)
{
    atomic_store(&flood.stop, true);
    for (int i = 0; i < FLOODERS; i++)
        thread_join(flood.threads[i]);
    (void)zkr_session_close(flood.session);
    assert_true(server_metric(throttled, "zk_throttled_ops") > 0);
}

const struct outage outages[] = {
    { "frozen", of_server, freeze, thaw },
    { "killed", of_server, kill_it, start_again },
    { "refusing", of_proxy, refuse, heal_proxy },
    { "silent", of_proxy, be_silent, heal_proxy },
    { "throttling", of_throttled, start_flood, stop_flood },
    { "what we send is lost", of_cluster, lose_requests, heal_cluster },
    { "what it sends is lost", of_cluster, lose_answers, heal_cluster },
    { "both are lost", of_cluster, lose_both, heal_cluster },
};

const size_t outage_count = sizeof(outages) / sizeof(outages[0]);

bool outages_prepare(struct cluster *c)
{
    static const char *const java[] = {
        "-Dzookeeper.request_throttle_max_requests=1",
        "-Dzookeeper.throttled_op_wait_time=1", NULL
    };
    struct server_opts opts = { .java_opts = java };

    cluster = c;
    if (server_start(&opts, &throttled) != SERVER_OK)
        return false;
    make_crowd();
    return proxy_start(server_hosts(the_server), &proxy) == 0;
}

void outages_done(void)
{
    proxy_stop(proxy);
    server_stop(throttled);
}
