/* SPDX-License-Identifier: Apache-2.0 */
/* The probe: finds out why no server answered, for the error text. */
#include "zk/probe.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <zkrecipes/session.h>

#include "base/clock.h"
#include "base/error.h"
#include "zk/rotation.h"
#include "zk/tls.h"

#define TARGETS_MAX 16
#define TRIED_MAX   400

struct probe_target {
    char name[ZKR__SERVER_NAME_MAX]; /* "host:port" */
    int fd;           /* connecting; -1 when the result is known: */
    int error;        /* errno; 0 is connected */
    int tls_rc;       /* an error: there is no TLS with it; */
    char tls[256];    /* why; */
    bool hangs_up;    /* and that is all */
    bool asked;       /* srvr was sent to it */
    const char *deed; /* what it does with connections that it accepts */
};

static const char silent[] = "silent";
static const char without_quorum[] = "is up without a quorum";

struct targets {
    struct probe_target target[TARGETS_MAX];
    size_t count;
    size_t accepted; /* so many of them accept connections, */
    size_t refused;  /* or refuse them, */
    size_t insecure; /* or the handshake */
};

/* Returns a descriptor, or the negative errno. */
static int start_connect(const struct addrinfo *info)
{
    int fd =
        socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd >= 0 && (connect(fd, info->ai_addr, info->ai_addrlen) == 0 ||
                    errno == EINPROGRESS))
        return fd;
    int saved = errno;
    if (fd >= 0)
        (void)close(fd);
    return -saved;
}

static void add_target(struct targets *all, const char *name, int fd)
{
    struct probe_target *t = &all->target[all->count++];

    (void)snprintf(t->name, sizeof(t->name), "%.*s", (int)strcspn(name, ","),
                   name);
    t->fd = fd < 0 ? -1 : fd;
    t->error = fd < 0 ? -fd : ETIMEDOUT;
    t->tls_rc = ZKR_OK;
    t->hangs_up = false;
    t->asked = false;
    t->deed = "accepted";
}

int zkr__probe_descriptor(void)
{
    int fd = eventfd(0, EFD_CLOEXEC);

    if (fd < 0)
        return errno;
    (void)close(fd);
    return 0;
}

/* A server is asked at each of its addresses. */
static void start_server(void *arg, const char *name,
                         const struct addrinfo *info)
{
    struct targets *all = arg;
    int want = info != NULL ? 0 : zkr__probe_descriptor();

    if (info == NULL && all->count < TARGETS_MAX)
        add_target(all, name, want != 0 ? -want : -ETIMEDOUT);
    for (; info != NULL && all->count < TARGETS_MAX; info = info->ai_next)
        add_target(all, name, start_connect(info));
}

static bool wait_for(int fd, short events, int64_t deadline)
{
    struct pollfd poller = { .fd = fd, .events = events };
    int64_t left = (deadline - zkr__clock_now()) / ZKR__MS;

    return poll(&poller, 1, left > 0 ? (int)left : 0) == 1;
}

/* Longer than an answer to "srvr". */
#define ANSWER_MAX 2048

static bool send_word(int fd, const char *word, int64_t deadline)
{
    return wait_for(fd, POLLOUT, deadline) &&
           send(fd, word, strlen(word), MSG_NOSIGNAL) == (ssize_t)strlen(word);
}

/* The whole answer: the server hangs up behind it. */
static bool receive(int fd, char answer[ANSWER_MAX], int64_t deadline)
{
    size_t size = 0;
    ssize_t n = 1;

    while (n > 0 && size < ANSWER_MAX - 1) {
        answer[size] = '\0';
        if (!wait_for(fd, POLLIN, deadline))
            return false;
        n = recv(fd, answer + size, ANSWER_MAX - 1 - size, 0);
        size += n > 0 ? (size_t)n : 0;
    }
    answer[size] = '\0';
    return n == 0;
}

/* A server without a quorum says so, and one that serves tells its role. One
 * that resets the connection, or says something else, has only accepted it. */
static void hear(struct probe_target *t, int64_t deadline)
{
    char answer[ANSWER_MAX];

    if (t->asked && receive(t->fd, answer, deadline)) {
        if (strstr(answer, "not currently serving") != NULL)
            t->deed = without_quorum;
        else if (strstr(answer, "\nMode: ") != NULL)
            t->deed = "serves";
    } else if (t->asked && answer[0] == '\0' && !wait_for(t->fd, POLLIN, 0)) {
        t->deed = silent;
    }
    if (t->fd >= 0)
        (void)close(t->fd);
}

static void await(struct probe_target *t, const struct zkr_session_opts *opts,
                  int64_t deadline)
{
    socklen_t len = sizeof(t->error);

    if (t->fd < 0)
        return;
    if (wait_for(t->fd, POLLOUT, deadline) &&
        getsockopt(t->fd, SOL_SOCKET, SO_ERROR, &t->error, &len) != 0)
        t->error = errno;
    if (ZKR__CLIENT_INSIDE && t->error == 0 && opts->tls_ca != NULL)
        t->tls_rc = zkr__tls_try(opts, t->name, t->fd, deadline, t->tls,
                                 sizeof(t->tls), &t->hangs_up);
    else if (t->error == 0 && zkr__clock_now() < deadline)
        t->asked = send_word(t->fd, "srvr", deadline);
}

/* This also counts a server that hung up at once, as a server does that has too
 * many clients. */
static bool has_accepted(const struct probe_target *t)
{
    return t->error == 0 || t->error == ECONNRESET || t->error == EPIPE;
}

static const char *deed_of(const struct probe_target *t)
{
    return t->tls_rc != ZKR_OK        ? t->tls
           : has_accepted(t)          ? t->deed
           : t->error == ECONNREFUSED ? "refused"
                                      : strerror(t->error);
}

/* Says what several servers did, each where they did not do the same, so that
 * nobody looks at the first one only. */
static const char *tried(const struct targets *all, char text[TRIED_MAX])
{
    bool alike = all->refused == all->count;

    text[0] = '\0';
    if (all->count < 2)
        return text;
    size_t used = (size_t)snprintf(
        text, TRIED_MAX, " (tried %zu servers: %zu accepted, %zu refused",
        all->count, all->accepted, all->refused);
    for (size_t i = 0; !alike && i < all->count && used < TRIED_MAX; i++)
        used += (size_t)snprintf(text + used, TRIED_MAX - used, "; %s: %s",
                                 all->target[i].name, deed_of(&all->target[i]));
    if (used < TRIED_MAX - 1)
        (void)strcpy(text + used, ")");
    return text;
}

int zkr__probe(const char *servers, const struct zkr_session_opts *opts,
               int timeout_ms, enum zkr__verdict *ret_verdict)
{
    struct targets all = { .count = 0 };
    char text[TRIED_MAX];
    const char *mute = NULL;
    const char *lone = NULL;
    size_t quiet = TARGETS_MAX;
    const struct probe_target *secretive = NULL;

    zkr__servers_each(servers, start_server, &all);
    int64_t deadline = zkr__clock_deadline(timeout_ms);
    for (size_t i = 0; i < all.count; i++) {
        struct probe_target *t = &all.target[i];

        await(t, opts, deadline);
        if (t->tls_rc != ZKR_OK && secretive == NULL)
            secretive = t;
        all.refused += t->error == ECONNREFUSED;
        all.insecure += t->tls_rc == ZKR_ZSSLCONNECTIONERROR && !t->hangs_up;
        all.accepted += has_accepted(t);
        if (has_accepted(t) && mute == NULL)
            mute = t->name;
    }
    for (size_t i = 0; i < all.count; i++) {
        struct probe_target *t = &all.target[i];

        /* The open waits for timeout_ms at most: the rest is for a machine that
         * is busy. */
        hear(t, deadline - timeout_ms * ZKR__MS / 2);
        if (t->deed == without_quorum && lone == NULL)
            lone = t->name;
        if (t->deed == silent && i < quiet)
            quiet = i;
    }
    if (quiet < all.count)
        mute = all.target[quiet].name;
    *ret_verdict = all.insecure == all.count ? ZKR__ALL_REFUSE_TLS
                   : all.refused + all.insecure == all.count ? ZKR__ALL_REFUSE
                                                             : ZKR__NO_VERDICT;
    if (secretive != NULL)
        return zkr__fail(secretive->tls_rc,
                         "no TLS connection to server %s: %s%s",
                         secretive->name, secretive->tls, tried(&all, text));
    if (lone != NULL)
        return zkr__fail(ZKR_ENOTZK, "server %s %s%s", lone, without_quorum,
                         tried(&all, text));
    if (mute != NULL)
        return zkr__fail(ZKR_ENOTZK,
                         "server %s accepts connections but does not answer as "
                         "ZooKeeper: another service, one without a quorum, "
                         "one that takes no more clients%s%s",
                         mute,
                         opts->tls_ca == NULL ? ", or one that wants TLS" : "",
                         tried(&all, text));
    if (all.refused == all.count)
        return zkr__fail(ZKR_EREFUSED,
                         "every server of %s refused the connection%s", servers,
                         tried(&all, text));
    if (all.target[0].error == EMFILE || all.target[0].error == ENFILE)
        return zkr__fail(ZKR_ESYSTEM, "no connection to %s: %s", servers,
                         strerror(all.target[0].error));
    return zkr__fail(ZKR_EUNREACHABLE, "no server of %s could be reached: %s%s",
                     servers, strerror(all.target[0].error), tried(&all, text));
}

/* -- the role -------------------------------------------------------------- */

static void start_one(void *arg, const char *name, const struct addrinfo *info)
{
    int *fd = arg;

    (void)name;
    if (info != NULL)
        *fd = start_connect(info);
}

bool zkr__probe_follows(const char *server, int timeout_ms)
{
    int64_t deadline = zkr__clock_deadline(timeout_ms);
    char answer[ANSWER_MAX];
    bool follows = false;
    int fd = -1;

    zkr__servers_each(server, start_one, &fd);
    if (fd < 0)
        return false;
    if (send_word(fd, "srvr", deadline) && receive(fd, answer, deadline))
        follows = strstr(answer, "\nMode: follower\n") != NULL ||
                  strstr(answer, "\nMode: observer\n") != NULL;
    (void)close(fd);
    return follows;
}
