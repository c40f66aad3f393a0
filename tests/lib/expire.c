/* SPDX-License-Identifier: Apache-2.0 */
/* Ends sessions by what the library has for zkr_test_expire_session(). */
#include "expire.h"

#include "zk/takeover.h"

enum { PASSWD_SIZE = ZKR__PASSWORD_SIZE, ANSWER_WAIT_MS = 60000 };

int session_kill(const char *host_port, int64_t session_id,
                 const char passwd[PASSWD_SIZE])
{
    return zkr__takeover_end(host_port, session_id, passwd, ANSWER_WAIT_MS);
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
