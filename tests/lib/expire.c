/* SPDX-License-Identifier: Apache-2.0 */
/* Ends sessions: sends a ConnectRequest and a CloseSession for them on a socket
 * of its own.
 *
 * Both go in one segment. With two, the client of the session may notice that
 * its session has moved, and take it back before the close is read. */
#include "expire.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    CONNECT_SIZE = 45, /* body of a ConnectRequest */
    CLOSE_SIZE = 8,    /* body of a CloseSession: only the header */
    CLOSE_OP = -11,    /* OpCode.closeSession */
    ANSWER_SIZE = 20,  /* start of a ConnectResponse, up to the session id */
    ANSWER_ID = 12,    /* where in it the session id begins */
    ATTEMPTS = 50,
    ANSWER_WAIT_MS = 60000,
    PASSWD_SIZE = 16,
};

/* Bytes under construction, in network order. */
struct packet {
    unsigned char bytes[4 + CONNECT_SIZE + 4 + CLOSE_SIZE];
    size_t size;
};

static void put_bytes(struct packet *p, const void *bytes, size_t size)
{
    memcpy(p->bytes + p->size, bytes, size);
    p->size += size;
}

static void put_number(struct packet *p, int64_t number, int width)
{
    for (int shift = (width - 1) * 8; shift >= 0; shift -= 8)
        p->bytes[p->size++] = (unsigned char)((uint64_t)number >> shift);
}

static void put_connect(struct packet *p, int64_t session_id,
                        const char *password)
{
    put_number(p, CONNECT_SIZE, 4);
    put_number(p, 0, 4);     /* protocolVersion */
    put_number(p, 0, 8);     /* lastZxidSeen */
    put_number(p, 10000, 4); /* timeOut */
    put_number(p, session_id, 8);
    put_number(p, PASSWD_SIZE, 4);
    put_bytes(p, password, PASSWD_SIZE);
    put_number(p, 0, 1); /* readOnly */
}

static void put_close(struct packet *p)
{
    put_number(p, CLOSE_SIZE, 4);
    put_number(p, 1, 4); /* xid */
    put_number(p, CLOSE_OP, 4);
}

static int64_t get_number(const unsigned char *bytes, int width)
{
    uint64_t number = 0;

    for (int i = 0; i < width; i++)
        number = number << 8 | bytes[i];
    return (int64_t)number;
}

/* Returns NULL when it is no number. */
static struct addrinfo *address_of(const char *server)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
                                    .ai_flags =
                                        AI_NUMERICHOST | AI_NUMERICSERV };
    bool bracketed = server[0] == '[';
    const char *end = strrchr(server, bracketed ? ']' : ':');
    struct addrinfo *info = NULL;
    char host[64];
    size_t len;

    server += bracketed;
    len = end == NULL ? sizeof(host) : (size_t)(end - server);
    if (len >= sizeof(host) || (bracketed && end[1] != ':'))
        return NULL;
    memcpy(host, server, len);
    host[len] = '\0';
    return getaddrinfo(host, end + 1 + bracketed, &hints, &info) == 0 ? info
                                                                      : NULL;
}

/* Returns a descriptor with time limits, or a negative errno value. */
static int connect_to(const struct addrinfo *info)
{
    const struct timeval limit = { .tv_sec = ANSWER_WAIT_MS / 1000 };
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int saved;

    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    if (connect(fd, info->ai_addr, info->ai_addrlen) == 0)
        return fd;
    saved = errno == EINPROGRESS ? ETIMEDOUT : errno;
    (void)close(fd);
    return -saved;
}

/* Reads until the server hangs up, and keeps the first bytes. Returns their
 * number, or -1 when time is up. */
static ssize_t receive(int fd, unsigned char *bytes, size_t size)
{
    unsigned char part[256];
    size_t kept = 0;
    ssize_t n;

    while ((n = recv(fd, part, sizeof(part), 0)) > 0) {
        size_t room = size - kept;
        size_t taken = (size_t)n < room ? (size_t)n : room;

        memcpy(bytes + kept, part, taken);
        kept += taken;
    }
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? -1 : (ssize_t)kept;
}

/* Returns 0 when the server has read our request and hung up, -ESRCH when it
 * said that there is no such session. */
static int converse(int fd, const struct packet *request, int64_t session_id)
{
    unsigned char answer[ANSWER_SIZE];
    ssize_t size;

    if (send(fd, request->bytes, request->size, MSG_NOSIGNAL) !=
        (ssize_t)request->size)
        return -EIO;
    size = receive(fd, answer, sizeof(answer));
    if (size < 0)
        return -ETIMEDOUT;
    if (size == ANSWER_SIZE && get_number(answer + ANSWER_ID, 8) != session_id)
        return -ESRCH;
    return 0;
}

static int end_once(const char *server, const struct packet *request,
                    int64_t session_id)
{
    struct addrinfo *info = address_of(server);
    int fd;
    int rc;

    if (info == NULL)
        return -EINVAL;
    fd = connect_to(info);
    freeaddrinfo(info);
    if (fd < 0)
        return fd;
    rc = converse(fd, request, session_id);
    (void)close(fd);
    return rc;
}

/* The server hangs up when it has applied the close, often before its answer to
 * the connect is out. So the hang-up alone is no proof: the request is repeated
 * until the session is unknown. */
int session_kill(const char *host_port, int64_t session_id,
                 const char passwd[PASSWD_SIZE])
{
    struct packet request = { .size = 0 };

    put_connect(&request, session_id, passwd);
    put_close(&request);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int rc = end_once(host_port, &request, session_id);

        if (rc == -ESRCH && attempt > 0)
            return 0;
        if (rc != 0)
            return rc;
    }
    return -EIO;
}

/* java.util.Random.nextInt(): a 48-bit linear congruential generator. */
static uint32_t java_next_int(uint64_t *seed)
{
    *seed = (*seed * 0x5DEECE66DULL + 0xBULL) & ((1ULL << 48) - 1);
    return (uint32_t)(*seed >> 16);
}

/* ZooKeeperServer.generatePasswd(): Random(id ^ superSecret).nextBytes(). */
void session_passwd(int64_t session_id, char passwd[PASSWD_SIZE])
{
    const uint64_t super_secret = 0xB3415C00ULL;
    uint64_t seed = (uint64_t)session_id ^ super_secret;

    /* The scrambling that the constructor Random(long) does. */
    seed = (seed ^ 0x5DEECE66DULL) & ((1ULL << 48) - 1);
    for (int i = 0; i < PASSWD_SIZE; i += 4) {
        uint32_t word = java_next_int(&seed);

        for (int byte = 0; byte < 4; byte++, word >>= 8)
            passwd[i + byte] = (char)(word & 0xff);
    }
}

int session_kill_by_id(const char *host_port, int64_t session_id)
{
    char passwd[PASSWD_SIZE];

    session_passwd(session_id, passwd);
    return session_kill(host_port, session_id, passwd);
}
