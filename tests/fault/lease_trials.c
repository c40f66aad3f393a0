/* SPDX-License-Identifier: Apache-2.0 */
/* Trials of the lease with real partitions: it must end before the session
 * does.
 *
 * Each trial breaks the links of three servers in some way, while holders ask
 * all the time whether they hold. The end of a session is read from the
 * transaction log of a server on the side of the majority. ZKR_TRIALS is the
 * number of trials; ZKR_SEED repeats the times of an earlier run. */
#include <arpa/inet.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "holder.h"
#include "net.h"
#include "session/session.h"
#include "txn_log.h"
#include "wire.h"

#define TIMEOUT_MS 4000 /* T: short of the time a follower is on its own */
#define TICK_MS    2000
#define HOLDERS    4
#define LONG_RUN   50 /* trials from which the negative controls must show */
#define DELETED_MS 90000
#define AFTERWARDS 1000
#define BEACON     "/beacon"

struct kind {
    const char *name;
    void (*strike)(const struct cast *cast);
    bool on_leader; /* where the holders are connected */
    bool acquires;  /* the locks, while it strikes */
    bool far;       /* the holders are behind `far` */
    bool beacon;    /* they share evidence */
    bool writer;    /* so does a session on the side of the majority */
    bool observer;  /* the holders are at an observer that the leader pings */
    uint32_t hops;  /* the holders are at an observer below a follower, and
                       assume so many hops of pings; 0: they are not */
};

/* On the side of the majority; `admin` is connected to it. */
static const struct server *witness;
static struct proxy *far; /* of the follower; NULL: none */
static struct holder holders[HOLDERS];
static struct holder writer; /* of the beacon, beside them */
static int survivors;        /* holders whose session did not end */
static long false_alarms;
static int64_t latest_seen; /* after the transaction, in ns */

/* -- a thread that asks all holders --------------------------------------- */

/* Until when the holder may believe that it holds. The negative control, which
 * believes the last answer, as other clients do; or the proof of the lease,
 * also while the grant is in doubt. */
static int64_t end_by(const struct holder *h, bool proven)
{
    zkr_session *s = h->session;
    const struct zkr__lease *l = &s->lease;

    return LOCKED(s, s->epoch != h->epoch     ? 0
                     : proven                 ? zkr__lease_until(l)
                     : l->last_committed != 0 ? l->last_committed + l->timeout
                                              : 0);
}

static void ask_all(void)
{
    for (int i = 0; i < HOLDERS; i++) {
        struct holder *h = &holders[i];
        struct belief *b = &h->belief;
        int64_t now = boot_ns();

        if (zkr_session_epoch(h->session) == h->epoch &&
            is_connected(h->session))
            believe(b, CONNECTED, now);
        believe(b, NAIVE_END, end_by(h, false));
        holder_ask(h, b);
        if (h->hops != 0 && b->granted != 0)
            believe(b, CLAIMED_END, end_by(h, true));
    }
}

/* -- a crowd -------------------------------------------------------------- */

/* Descriptors for all else. */
#define RESERVE 200
/* For a server that many ask at once. */
#define PATIENCE_MS 30000

/* So many files may be open; fewer where the limit is lower. */
static int as_many(int count)
{
    struct rlimit limit;

    ok(getrlimit(RLIMIT_NOFILE, &limit));
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_max < (rlim_t)(count + RESERVE)
               ? (int)limit.rlim_max - RESERVE
               : count;
}

/* Returns the descriptor of a new session, or -1. */
static int join(const char *host)
{
    struct packet request = { .size = 0 };
    char answer[64];
    int fd = net_connect(host, PATIENCE_MS);

    put_connect(&request, TIMEOUT_MS, 0, NULL);
    if (fd >= 0 && net_send(fd, request.bytes, request.size) &&
        recv(fd, answer, sizeof(answer), 0) > 0)
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

/* -- the faults ----------------------------------------------------------- */

/* A fault that is one call. */
#define STRIKE(name, call)                                                     \
    static void name(const struct cast *cast)                                  \
    {                                                                          \
        call;                                                                  \
    }

STRIKE(cut_follower, cluster_cut(cast->follower, cast->leader))

/* Commits and the leader's pings stay out, but the follower is still heard. */
static void stall_then_cut(const struct cast *cast)
{
    cluster_block(cast->leader, cast->follower);
    sleep_ms(random_between(600, 2600));
    cluster_block(cast->follower, cast->leader);
}

/* Messages of the leader arrive late, then none at all. */
static void stall_release_then_cut(const struct cast *cast)
{
    cluster_block(cast->leader, cast->follower);
    sleep_ms(random_between(600, 2600));
    cluster_unblock(cast->leader, cast->follower);
    sleep_ms(random_between(0, 1000));
    cluster_cut(cast->follower, cast->leader);
}

STRIKE(isolate_leader, cluster_isolate(cast->leader))

static void hear_followers(const struct cast *cast, bool hear)
{
    for (int host = 1; host < HOSTS; host++) {
        if (host != cast->leader)
            (hear ? cluster_unblock : cluster_block)(host, cast->leader);
    }
}

/* The acknowledgements of what the holders have written wait at the leader,
 * which is stopped. When it goes on and reads them, the followers have a new
 * leader. */
static void isolate_leader_with_acks(const struct cast *cast)
{
    struct server *leader = cluster_server(cast->leader);

    hear_followers(cast, false);
    sleep_ms(random_between(600, 1000));
    server_pause(leader);
    hear_followers(cast, true);
    sleep_ms(random_between(500, 800)); /* for the followers to send again */
    isolate_leader(cast);
    sleep_ms(random_between(100, 700));
    server_resume(leader);
}

/* The leader is like a paused machine: packets sent to it meanwhile are lost,
 * so when it goes on it finds that all sessions are overdue. */
static void pause_leader(const struct cast *cast)
{
    hear_followers(cast, false);
    server_pause(cluster_server(cast->leader));
    sleep_ms(TIMEOUT_MS + TICK_MS + random_between(500, 1500));
    server_resume(cluster_server(cast->leader));
    hear_followers(cast, true);
}

/* Many sessions run out while the leader is stopped, and those of the holders
 * with them. As it wakes it reads requests of these sessions and closes them.
 * Each is a bare connection, without the threads of a client, and sends one
 * ping. */
static void pause_leader_of_many(const struct cast *cast)
{
    const uint32_t ping[] = { htonl(8), htonl((uint32_t)-2), htonl(11) };
    struct server *leader = cluster_server(cast->leader);
    int most = as_many(number_from("ZKR_CROWD", 2000));
    int *fds = calloc((size_t)most, sizeof(*fds));
    int count = 0;

    assert_non_null(fds);
    while (count < most && (fds[count] = join(server_hosts(leader))) >= 0)
        count++;
    assert_true(count > 0);
    for (int i = 0; i < count; i++)
        (void)send(fds[i], ping, sizeof(ping), MSG_NOSIGNAL | MSG_DONTWAIT);
    sleep_ms(random_between(0, 500));
    server_pause(leader);
    sleep_ms(TIMEOUT_MS + random_between(0, TICK_MS));
    server_resume(leader);
    sleep_ms(random_between(0, 500));
    cluster_cut(cast->follower, cast->leader);
    sleep_ms(TIMEOUT_MS);
    for (int i = 0; i < count; i++)
        close(fds[i]);
    free(fds);
}

STRIKE(cut_client, cluster_cut(HERE, cast->follower))

/* The holders acquire during a stall of the follower, `asked_ms` before its
 * end. They get the answers, but the follower sends nothing after them: it is
 * stopped until its link is cut. */
static void stall_and_acquire(const struct cast *cast, int stall_ms,
                              int asked_ms, int again_ms)
{
    cluster_block(cast->leader, cast->follower);
    sleep_ms(stall_ms - asked_ms);
    for (int i = 0; i < HOLDERS; i++)
        holder_acquire(&holders[i]);
    sleep_ms(asked_ms);
    server_pause(cluster_server(cast->follower));
    cluster_unblock(cast->leader, cast->follower);
    sleep_ms(again_ms); /* for the leader to send again */
    cluster_block(cast->follower, cast->leader);
    server_resume(cluster_server(cast->follower));
    sleep_ms(TIMEOUT_MS / 2); /* no lease of these can begin later */
}

STRIKE(acquire_in_a_stall,
       stall_and_acquire(cast, TIMEOUT_MS / 8 + 60 + random_between(600, 2600),
                         TIMEOUT_MS / 8 + 60, random_between(300, 1000)))

/* The request comes just before the end of the stall, so the answers are quick
 * when the leader happens to send again in time. */
STRIKE(acquire_as_a_stall_ends,
       stall_and_acquire(cast, random_between(1500, 3400),
                         random_between(20, 60), random_between(200, 400)))

/* The writes are many then, and under way together. */
static void turn_slow_then_cut(const struct cast *cast)
{
    proxy_set_jitter(far, 30);
    proxy_set_latency(far, random_between(TIMEOUT_MS / 12, TIMEOUT_MS / 4));
    sleep_ms(random_between(0, TIMEOUT_MS * 3 / 2));
    cut_follower(cast);
}

/* One of the holders has a new proof. */
static bool any_is_proven(void)
{
    for (int i = 0; i < HOLDERS; i++) {
        if (end_by(&holders[i], true) > boot_ns() + TIMEOUT_MS * MS * 3 / 8)
            return true;
    }
    return false;
}

/* The leader has heard nothing of the holders for long when their requests
 * arrive again. The follower's pings come late, and just after the answer to
 * one of them there is a proof: then that follower is stopped, which was about
 * to tell the leader. */
static void silence_then_stop_master(const struct cast *cast)
{
    server_pause(cluster_server(cast->leader)); /* its pings shift */
    sleep_ms(random_between(0, 1000));
    server_resume(cluster_server(cast->leader));
    sleep_ms(TIMEOUT_MS);
    cluster_block(HERE, OBSERVER);
    sleep_ms(random_between(800, 1300));
    cluster_unblock(HERE, OBSERVER);
    sleep_ms(random_between(200, 300));
    cluster_block(cast->follower, OBSERVER);
    sleep_ms(random_between(1220, 1350));
    cluster_unblock(cast->follower, OBSERVER);
    (void)COMES(any_is_proven(), TIMEOUT_MS);
    server_pause(cluster_server(cast->follower));
}

static const struct kind kinds[] = {
    { "follower cut off", .strike = cut_follower },
    { "stalled, then cut off", .strike = stall_then_cut },
    { "leader isolated", isolate_leader, .on_leader = true },
    { "leader paused", .strike = pause_leader },
    { "client cut off", .strike = cut_client },
    { "late, then cut off", .strike = stall_release_then_cut },
    { "granted in a stall", acquire_in_a_stall, .acquires = true },
    { "granted as a stall ends", acquire_as_a_stall_ends, .acquires = true },
    { "slow, then cut off", turn_slow_then_cut, .far = true },
    { "leader of many stopped", .strike = pause_leader_of_many },
    { "shared, cut off", cut_follower, .beacon = true, .writer = true },
    { "shared, writers cut off", cut_follower, .beacon = true },
    { "shared, stalled, cut", stall_then_cut, .beacon = true, .writer = true },
    { "shared, writers late", stall_release_then_cut, .beacon = true },
    { "observer's master", silence_then_stop_master, .hops = 2 },
    { "the same, 1 hop assumed", silence_then_stop_master, .hops = 1 },
    { "observer cut off", cut_follower, .observer = true },
    { "observer stalled, cut", stall_then_cut, .observer = true },
    { "observer deserted", isolate_leader, .observer = true },
    { "late acks, leader", isolate_leader_with_acks, .on_leader = true },
    { "late acks, observer", isolate_leader_with_acks, .observer = true },
    { "shared, late acks", isolate_leader_with_acks, .observer = true,
      .beacon = true, .writer = true },
};

#define KINDS ((int)COUNT(kinds))

/* -- one trial ------------------------------------------------------------ */

static struct cast new_cast(const struct kind *kind)
{
    struct cast cast = cluster_await_cast();

    if (kind->hops != 0) {
        cast.follower = cluster_await_master("follower");
        cast.other = 1 + 2 + 3 - cast.leader - cast.follower;
    }
    if (kind->observer) {
        assert_int_equal(cluster_await_master("leader"), cast.leader);
        cast.follower = LEADERS_OBSERVER;
    }
    return cast;
}

/* Opens the holder of this trial, those beside it, and the proxies between. */
static void open_all(const struct kind *kind, const struct cast *cast)
{
    int place = kind->hops != 0   ? OBSERVER
                : kind->on_leader ? cast->leader
                                  : cast->follower;
    const char *hosts = server_hosts(cluster_server(place));

    witness = cluster_server(cast->other);
    ok(admin_open(server_hosts(witness), &admin));
    if (kind->far) {
        ok(proxy_start(hosts, &far));
        hosts = proxy_hosts(far);
    }
    for (int i = 0; i < HOLDERS; i++) {
        holders[i].hops = kind->hops;
        holders[i].beacon = kind->beacon ? BEACON : NULL;
        holder_open(&holders[i], hosts, TIMEOUT_MS, new_path());
        assert_int_equal(zkr_session_timeout_ms(holders[i].session),
                         TIMEOUT_MS);
    }
    for (int i = 0; i < HOLDERS && !kind->acquires; i++) {
        holder_acquire(&holders[i]);
        AWAIT(holders[i].grant != NULL);
        sleep_ms(random_between(0, 300)); /* their beats are apart */
    }
    if (kind->writer) { /* it holds a lock of its own, and writes in its turn */
        writer.beacon = BEACON;
        holder_open(&writer, server_hosts(witness), TIMEOUT_MS, new_path());
        holder_acquire(&writer);
        AWAIT(writer.grant != NULL);
    }
    if (kind->beacon) { /* it is written for a session timeout, nine times */
        int32_t version = stat_of(BEACON).version + 9;

        assert_true(COMES(stat_of(BEACON).version >= version, HEALTHY_MS));
    }
}

/* A holder that was granted nothing has no node in the log. The admin's
 * server cannot be asked while it elects. */
static bool is_over(const struct holder *h)
{
    zkr_grant *g = h->grant;

    if (g != NULL)
        return admin_exists(admin, zkr_grant_node(g), NULL) == ZNONODE;
    sleep_ms(100);
    return txn_log_session_closed(witness, h->session_id) != 0;
}

/* `seen` is when its end was seen; 0: never. */
static void take_sample(int number, int kind, const struct holder *h,
                        int64_t seen)
{
    const struct belief *b = &h->belief;
    int64_t closed = txn_log_session_closed(witness, h->session_id);
    int64_t end = real_to_boot(closed);

    if (closed == 0) {
        survivors++;
        return;
    }
    if (seen == 0 || end >= seen + MS) /* the log tells of this end */
        fail_msg("the session ended at %lld ns, and that was seen at %lld ns",
                 (long long)end, (long long)seen);
    if (seen - end > latest_seen)
        latest_seen = seen - end;
    assert_true(b->at[NAIVE_END] != 0);
    assert_true(h->hops != 0 ||
                (b->at[LAST_YES] == 0) == (b->at[CLAIMED_END] == 0));
    struct sample *s = sample_add(kind, b, end);
    s->wrong = kinds[kind].hops == 1; /* it is not right there */
    printf("%4d  %-23s", number, kinds[kind].name);
    for (int i = 0; i < INSTANTS; i++) {
        if (s->believed || i > CLAIMED_END)
            printf(" %+7.3f", (double)s->before[i] / 1e9);
        else
            printf(" %7s", "never");
    }
    printf("\n");
}

static void run_trial(int number, int kind)
{
    struct cast cast = new_cast(&kinds[kind]);
    int64_t seen[HOLDERS];

    open_all(&kinds[kind], &cast);
    asking_start(ask_all);
    sleep_ms(random_between(0, drand48() < 0.5 ? TIMEOUT_MS / 4 : TIMEOUT_MS));
    for (int i = 0; i < HOLDERS; i++)
        false_alarms += holders[i].belief.unsure;
    kinds[kind].strike(&cast);
    int64_t deadline = now_ms() + DELETED_MS;
    for (int i = 0; i < HOLDERS; i++)
        seen[i] =
            COMES(is_over(&holders[i]), deadline - now_ms()) ? boot_ns() : 0;
    sleep_ms(AFTERWARDS); /* for the holders to be asked once more */
    asking_stop();
    for (int i = 0; i < HOLDERS; i++)
        take_sample(number, kind, &holders[i], seen[i]);
    (void)fflush(stdout);
    server_resume(cluster_server(cast.follower));
    cluster_mend(cast.leader);
    if (cast.follower >= HOSTS)
        cluster_reset(cast.follower, cast.leader);
    for (int i = 0; i < HOLDERS; i++)
        holder_close(&holders[i]);
    if (kinds[kind].writer)
        holder_close(&writer);
    proxy_stop(far);
    far = NULL;
    admin_close(admin);
}

/* -- all of them ---------------------------------------------------------- */

/* `late` is how many were, of all kinds. */
static void print_table(int late[static INSTANTS])
{
    printf("\nSeconds before the session was closed: least, median, most; and "
           "how many were late\n%-23s %4s | %-26s | %-26s | %-26s | %-26s\n",
           "fault", "n", "last yes", "claimed end", "last write + T",
           "connected");
    for (int i = 0; i <= KINDS; i++) {
        int kind = i < KINDS ? i : -1;

        if (sample_count_of(kind) == 0)
            continue;
        printf("%-23s %4d", kind < 0 ? "all" : kinds[kind].name,
               sample_count_of(kind));
        for (int k = 0; k < INSTANTS; k++)
            late[k] = print_margin(kind, (enum instant)k);
        printf("\n");
    }
    printf("sessions that lived on: %d; answers other than yes before the "
           "fault: %ld; deletion seen at most %.3f s after the transaction\n",
           survivors, false_alarms, (double)latest_seen / 1e9);
}

/* The rules that are not ours must fail somewhere in a long run, or the faults
 * were too weak to show anything. */
TEST(no_lease_outlives_its_session)
{
    int asked = number_from("ZKR_TRIALS", 0); /* 0: every sixth kind, once */
    int first = asked > 0 ? 0 : (int)(drand48() * 6);
    int step = asked > 0 ? 1 : 6;
    int trials = asked > 0 ? asked : (KINDS - first + 5) / 6;
    int only = number_from("ZKR_FAULT", -1);
    int late[INSTANTS] = { 0 };

    for (int i = 0; i < trials; i++)
        run_trial(i + 1, (only < 0 ? first + i * step : only) % KINDS);
    print_table(late);
    assert_true(sample_count > survivors); /* most faults hit */
    if (sample_count_of(-1) == 0) /* it was a control that was asked for */
        return;
    assert_int_equal(late[CLAIMED_END], 0);
    assert_int_equal(late[LAST_YES], 0);
    if (trials >= LONG_RUN) {
        assert_true(late[NAIVE_END] > 0);
        assert_true(late[CONNECTED] > 0);
    }
}

static int setup(void)
{
    set_seed();
    return cluster_create(BEACON);
}

int main(void)
{
    int only = number_from("ZKR_FAULT", -1);
    /* More servers only for those who need them. */
    const struct cluster_opts opts = {
        .observers = only < 0 || kinds[only % KINDS].observer ? 2
                     : kinds[only % KINDS].hops != 0          ? 1
                                                              : 0
    };
    test_patience_s = 800; /* of four trials, on a busy machine */
    int rc = run_with_cluster(&opts, setup, NULL);

    free(samples);
    return rc;
}
