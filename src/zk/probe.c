/* The probe: finds out why no server answered, by one TCP connection per
 * server, for the error text. */
#include "zk/probe.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "zk/security.h"
#include "zk/tls.h"

#define SERVERS_MAX 16

struct target {
    char name[128]; /* "host:port" */
    int fd;         /* connecting; -1 when the result is known: */
    int error;      /* errno; 0 is connected */
    char tls[256];  /* why there is no TLS with it; "" otherwise */
};

/* Names were resolved when the handle was made. Here only addresses are used,
 * so that a name server that does not answer cannot delay the caller. */
static int start_connect(const char *name)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
                                    .ai_flags =
                                        AI_NUMERICHOST | AI_NUMERICSERV };
    struct addrinfo *info = NULL;
    char host[128];
    char *colon;
    int fd;

    (void)snprintf(host, sizeof(host), "%.127s", name);
    colon = strrchr(host, ':');
    if (colon == NULL)
        return -EINVAL;
    *colon = '\0';
    if (getaddrinfo(strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
                    colon + 1, &hints, &info) != 0)
        return -ETIMEDOUT;
    fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, info->ai_addr, info->ai_addrlen) != 0 &&
        errno != EINPROGRESS) {
        int saved = errno;

        (void)close(fd);
        fd = -saved;
    } else if (fd < 0) {
        fd = -errno;
    }
    freeaddrinfo(info);
    return fd;
}

static size_t start_all(struct target targets[SERVERS_MAX], const char *servers)
{
    size_t count = 0;

    while (*servers != '\0' && count < SERVERS_MAX) {
        size_t len = strcspn(servers, ",");
        struct target *t = &targets[count++];
        int fd;

        (void)snprintf(t->name, sizeof(t->name), "%.*s", (int)len, servers);
        fd = start_connect(t->name);
        t->fd = fd < 0 ? -1 : fd;
        t->error = fd < 0 ? -fd : ETIMEDOUT;
        t->tls[0] = '\0';
        servers += len + (servers[len] == ',');
    }
    return count;
}

static void await(struct target *t, const struct zkr__security *security,
                  int64_t deadline)
{
    struct pollfd poller = { .fd = t->fd, .events = POLLOUT };
    int64_t left = (deadline - zkr__clock_now()) / ZKR__MS;
    socklen_t len = sizeof(t->error);

    if (t->fd < 0)
        return;
    if (poll(&poller, 1, left > 0 ? (int)left : 0) == 1 &&
        getsockopt(t->fd, SOL_SOCKET, SO_ERROR, &t->error, &len) != 0)
        t->error = errno;
    if (t->error == 0 && security->tls_ca != NULL)
        (void)zkr__tls_try(security, t->fd, deadline, t->tls, sizeof(t->tls));
    (void)close(t->fd);
}

/* This also counts a server that hung up at once, as a server does that has too
 * many clients. */
static bool has_accepted(const struct target *t)
{
    return t->error == 0 || t->error == ECONNRESET || t->error == EPIPE;
}

int zkr__probe(const char *servers, const struct zkr__security *security,
               int timeout_ms)
{
    struct target targets[SERVERS_MAX];
    size_t count = start_all(targets, servers);
    int64_t deadline = zkr__clock_deadline(timeout_ms);
    size_t refused = 0;
    const char *mute = NULL;
    const struct target *secretive = NULL;

    for (size_t i = 0; i < count; i++) {
        await(&targets[i], security, deadline);
        if (targets[i].tls[0] != '\0' && secretive == NULL)
            secretive = &targets[i];
        refused += targets[i].error == ECONNREFUSED;
        if (has_accepted(&targets[i]) && mute == NULL)
            mute = targets[i].name;
    }
    if (secretive != NULL)
        return zkr__fail(ZKR_ZSSLCONNECTIONERROR,
                         "no TLS connection to server %s: %s", secretive->name,
                         secretive->tls);
    if (mute != NULL)
        return zkr__fail(
            ZKR_ENOTZK,
            "server %s accepts connections but does not answer as "
            "ZooKeeper: another service, one without a quorum, "
            "one that takes no more clients%s",
            mute, security->tls_ca == NULL ? ", or one that wants TLS" : "");
    if (refused == count)
        return zkr__fail(ZKR_EREFUSED,
                         "every server of %s refused the connection", servers);
    return zkr__fail(ZKR_EUNREACHABLE, "no server of %s could be reached: %s",
                     servers, strerror(targets[0].error));
}
