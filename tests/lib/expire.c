/* SPDX-License-Identifier: Apache-2.0 */
/* Ends sessions: sends a ConnectRequest and a CloseSession for them on a socket
 * of its own.
 *
 * Both go in one segment. With two, the client of the session may notice that
 * its session has moved, and take it back before the close is read. */
#include "expire.h"

#include <errno.h>
#include <unistd.h>

#include "net.h"
#include "wire.h"

enum {
    ANSWER_SIZE = 20, /* start of a ConnectResponse, up to the session id */
    ANSWER_ID = 12,   /* where in it the session id begins */
    ATTEMPTS = 50,
    ANSWER_WAIT_MS = 60000,
};

/* Returns 0 when the server has read our request and hung up, -ESRCH when it
 * said that there is no such session. */
static int end_once(const char *server, const struct packet *request,
                    int64_t session_id)
{
    int fd = net_connect(server, ANSWER_WAIT_MS);
    unsigned char answer[ANSWER_SIZE];

    if (fd < 0)
        return errno == EINPROGRESS ? -ETIMEDOUT : -errno;
    bool sent = net_send(fd, request->bytes, request->size);
    ssize_t size = sent ? net_receive(fd, answer, sizeof(answer)) : 0;
    (void)close(fd);
    if (!sent)
        return -EIO;
    if (size < 0)
        return -ETIMEDOUT;
    return size == ANSWER_SIZE &&
                   get_number(answer + ANSWER_ID, 8) != session_id
               ? -ESRCH
               : 0;
}

/* The server hangs up when it has applied the close, often before its answer to
 * the connect is out. So the hang-up alone is no proof: the request is repeated
 * until the session is unknown. */
int session_kill(const char *host_port, int64_t session_id,
                 const char passwd[PASSWD_SIZE])
{
    struct packet request = { .size = 0 };

    put_connect(&request, 10000, session_id, passwd);
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

/* ZooKeeperServer.generatePasswd(): Random(id ^ superSecret).nextBytes(), where
 * java.util.Random is a 48-bit linear congruential generator. */
void session_passwd(int64_t session_id, char passwd[PASSWD_SIZE])
{
    const uint64_t super_secret = 0xB3415C00ULL;
    const uint64_t bits = (1ULL << 48) - 1;
    uint64_t seed = (uint64_t)session_id ^ super_secret;

    seed = (seed ^ 0x5DEECE66DULL) & bits; /* as its constructor does */
    for (int i = 0; i < PASSWD_SIZE; i += 4) {
        seed = (seed * 0x5DEECE66DULL + 0xBULL) & bits;
        for (int byte = 0; byte < 4; byte++)
            passwd[i + byte] = (char)(seed >> (16 + 8 * byte) & 0xff);
    }
}

int session_kill_by_id(const char *host_port, int64_t session_id)
{
    char passwd[PASSWD_SIZE];

    session_passwd(session_id, passwd);
    return session_kill(host_port, session_id, passwd);
}
