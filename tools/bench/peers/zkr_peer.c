/* The locks of zkrecipes, through its public headers. */
#include "peer.h"

#include <stdio.h>
#include <string.h>

#include <unistd.h>
#include <zkrecipes/zkrecipes.h>

static zkr_session *session;
static zkr_mutex *mutex;

static void check(const char *what, int rc)
{
    if (rc != ZKR_OK)
        peer_error("%s: %s", what, zkr_error_detail());
}

static void run(long n)
{
    int64_t spent = 0;

    for (long i = 0; i < n; i++) {
        int64_t begin = peer_now_ns();
        zkr_grant *grant;

        check("acquire", zkr_mutex_acquire(mutex, -1, &grant));
        spent += peer_now_ns() - begin;
        check("release", zkr_grant_release(grant));
        zkr_grant_free(grant);
    }
    if (n > 0)
        peer_figure("acquire_ns", (double)spent / (double)n);
}

static void prepare(void)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/bench-zkr-%ld", (long)getpid());
    check("open", zkr_session_open(peer_target(), NULL, &session));
    check("new", zkr_mutex_new(session, path, NULL, &mutex));
    run(peer_number("warmup", 50));
}

static void finish(void)
{
    zkr_mutex_free(mutex);
    (void)zkr_session_close(session);
}

int main(int argc, char **argv)
{
    static const struct peer_bench benches[] = {
        { "uncontended", prepare, run, finish },
        { NULL, NULL, NULL, NULL },
    };

    return peer_main(argc, argv, benches);
}
