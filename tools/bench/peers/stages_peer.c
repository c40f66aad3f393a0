/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time of one acquire goes, when nobody else wants the lock.
 *
 * This program has functions with the names of the client's zoo_acreate2_ttl()
 * and of the C library's send() and recv(); the dynamic linker prefers them.
 * They note the time and call the real ones. The library under test is the
 * usual one.
 *
 *   submit_ns     from the call until the client is asked to create the node
 *   send_ns       until the client's thread sends the request
 *   server_ns     until it receives the answer: kernel, server, kernel
 *   answer_ns     until the client's other thread calls back
 *   return_ns     until the caller has its grant; a list, if there is one, too
 */
#include "peer.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <sys/socket.h>
#include <zookeeper/zookeeper.h>

#include "zkr_locks.h"

enum stage { CALLED, SUBMITTED, SENT, RECEIVED, ANSWERED, RETURNED, STAGES };
enum { BATCH_MAX = 4096 };

static const char *const names[STAGES - 1] = { "submit_ns", "send_ns",
                                               "server_ns", "answer_ns",
                                               "return_ns" };
static _Atomic int64_t at[STAGES]; /* of the present acquire; 0: not yet */
static int64_t spent[STAGES - 1][BATCH_MAX];
static int64_t took[BATCH_MAX];

static zkr_session *session;
static struct lock lock;

static struct {
    string_stat_completion_t done;
    const void *data;
} create; /* of the present acquire */

static void reach(enum stage stage)
{
    atomic_store(&at[stage], peer_now_ns());
}

static bool is_between(enum stage before, enum stage after)
{
    return atomic_load(&at[before]) != 0 && atomic_load(&at[after]) == 0;
}

/* A pointer to a function, from one to an object: POSIX allows it, C does not.
 */
static void find_real(const char *name, void *ret_function)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (found == NULL)
        peer_error("there is no %s", name);
    (void)memcpy(ret_function, &found, sizeof(found));
}

static void on_created(int rc, const char *path, const struct Stat *stat,
                       const void *data)
{
    (void)data;
    reach(ANSWERED);
    create.done(rc, path, stat, create.data);
}

int zoo_acreate2_ttl(zhandle_t *zh, const char *path, const char *value,
                     int valuelen, const struct ACL_vector *acl, int mode,
                     int64_t ttl, string_stat_completion_t completion,
                     const void *data)
{
    int (*real)(zhandle_t *, const char *, const char *, int,
                const struct ACL_vector *, int, int64_t,
                string_stat_completion_t, const void *);

    find_real("zoo_acreate2_ttl", &real);
    if (!is_between(CALLED, SUBMITTED))
        return real(zh, path, value, valuelen, acl, mode, ttl, completion,
                    data);
    create.done = completion;
    create.data = data;
    reach(SUBMITTED);
    return real(zh, path, value, valuelen, acl, mode, ttl, on_created, data);
}

ssize_t send(int fd, const void *buf, size_t n, int flags)
{
    static ssize_t (*real)(int, const void *, size_t, int);

    if (real == NULL)
        find_real("send", &real);
    if (is_between(SUBMITTED, SENT))
        reach(SENT);
    return real(fd, buf, n, flags);
}

/* The last one before the callback counts: the first reads the length only. */
ssize_t recv(int fd, void *buf, size_t n, int flags)
{
    static ssize_t (*real)(int, void *, size_t, int);

    if (real == NULL)
        find_real("recv", &real);
    ssize_t got = real(fd, buf, n, flags);
    if (got > 0 && is_between(SENT, ANSWERED))
        reach(RECEIVED);
    return got;
}

static void forget(void)
{
    for (int i = 0; i < STAGES; i++)
        atomic_store(&at[i], 0);
}

/* Returns whether all stages were seen, in order. */
static bool note(long i)
{
    took[i] = at[RETURNED] - at[CALLED];
    for (int s = 0; s < STAGES - 1; s++) {
        spent[s][i] = at[s + 1] - at[s];
        if (at[s] == 0 || spent[s][i] < 0)
            return false;
    }
    return true;
}

static void run(long n)
{
    long seen = 0;

    if (n > BATCH_MAX)
        peer_error("more than %d cycles", BATCH_MAX);
    for (long i = 0; i < n; i++) {
        forget();
        reach(CALLED);
        lock_acquire(&lock);
        reach(RETURNED);
        seen += note(seen) ? 1 : 0;
        lock_release(&lock);
    }
    if (n == 0)
        return;
    if (seen == 0)
        peer_error("no acquire went through all stages");
    for (int s = 0; s < STAGES - 1; s++)
        peer_figure(names[s],
                    (double)peer_quantile(spent[s], (size_t)seen, 0.5));
    peer_figure("acquire_ns", (double)peer_quantile(took, (size_t)seen, 0.5));
}

static void prepare(void)
{
    session = open_session();
    lock_new(&lock, session, "mutex", path_of("stages", 0));
    run(peer_number("warmup", 50));
}

static void finish(void)
{
    lock_free(&lock);
    (void)zkr_session_close(session);
}

int main(int argc, char **argv)
{
    static const struct peer_bench benches[] = {
        { "stages", prepare, run, finish },
        { NULL, NULL, NULL, NULL },
    };

    return peer_main(argc, argv, benches);
}
