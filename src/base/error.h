/* Error codes: whether a request that ended with one may have been carried out,
 * and the sentence that explains the last error of a thread. */
#ifndef ZKR__ERROR_H
#define ZKR__ERROR_H

#include <zkrecipes/error.h>

/* ZooKeeper's codes, so that <zookeeper/zookeeper.h> stays behind the seam.
 *
 * The third column says what a failed request may have done:
 *   DONE      there is an answer, success or refusal; asking again is useless
 *   NOT_DONE  certainly not carried out; may be sent again
 *   UNKNOWN   carried out or not
 *   OVER      the session is over: what was ephemeral is gone, or will be */
/* clang-format off */
#define ZKR__ZK_CODES(X)                                                       \
    X(ZSYSTEMERROR,              -1, UNKNOWN,  "system error in the client")   \
    X(ZRUNTIMEINCONSISTENCY,     -2, UNKNOWN,  "reply out of order, or a failed transaction") \
    X(ZDATAINCONSISTENCY,        -3, DONE,     "data inconsistency")           \
    X(ZCONNECTIONLOSS,           -4, UNKNOWN,  "connection lost")              \
    X(ZMARSHALLINGERROR,         -5, UNKNOWN,  "request or reply cannot be encoded") \
    X(ZUNIMPLEMENTED,            -6, DONE,     "not known to the server")      \
    X(ZOPERATIONTIMEOUT,         -7, UNKNOWN,  "server silent for too long")   \
    X(ZBADARGUMENTS,             -8, DONE,     "arguments refused by ZooKeeper") \
    X(ZINVALIDSTATE,             -9, OVER,     "session over or not started")  \
    X(ZUNKNOWNSESSION,          -12, OVER,     "session not known to the server") \
    X(ZNEWCONFIGNOQUORUM,       -13, DONE,     "no quorum of the new configuration") \
    X(ZRECONFIGINPROGRESS,      -14, DONE,     "reconfiguration under way")    \
    X(ZSSLCONNECTIONERROR,      -15, UNKNOWN,  "TLS connection failed")        \
    X(ZAPIERROR,               -100, DONE,     "API error")                    \
    X(ZNONODE,                 -101, DONE,     "no such node")                 \
    X(ZNOAUTH,                 -102, DONE,     "not permitted")                \
    X(ZBADVERSION,             -103, DONE,     "version conflict")             \
    X(ZNOCHILDRENFOREPHEMERALS, -108, DONE,    "an ephemeral node cannot have children") \
    X(ZNODEEXISTS,             -110, DONE,     "the node exists")              \
    X(ZNOTEMPTY,               -111, DONE,     "the node has children")        \
    X(ZSESSIONEXPIRED,         -112, OVER,     "session expired")              \
    X(ZINVALIDCALLBACK,        -113, DONE,     "invalid callback")             \
    X(ZINVALIDACL,             -114, DONE,     "ACL refused by the server")    \
    X(ZAUTHFAILED,             -115, OVER,     "authentication failed")        \
    X(ZCLOSING,                -116, UNKNOWN,  "client is closing")            \
    X(ZNOTHING,                -117, DONE,     "nothing to process")           \
    X(ZSESSIONMOVED,           -118, UNKNOWN,  "session moved to another server") \
    X(ZNOTREADONLY,            -119, NOT_DONE, "server is read-only at present") \
    X(ZEPHEMERALONLOCALSESSION, -120, DONE,    "ephemeral node on a local session") \
    X(ZNOWATCHER,              -121, DONE,     "no such watch")                \
    X(ZRECONFIGDISABLED,       -123, DONE,     "reconfiguration disabled")     \
    X(ZSESSIONCLOSEDREQUIRESASLAUTH, -124, DONE, "server requires authentication") \
    X(ZQUOTAEXCEEDED,          -125, DONE,     "quota exceeded")               \
    X(ZTHROTTLEDOP,            -127, NOT_DONE, "throttled, not carried out")
/* clang-format on */

enum {
#define ZKR_X(name, value, outcome, text) ZKR__##name = value,
    ZKR__ZK_CODES(ZKR_X)
#undef ZKR_X
};

enum zkr__outcome {
    ZKR__DONE,
    ZKR__NOT_DONE,
    ZKR__UNKNOWN,
    ZKR__OVER,
};

/* Returns what a request that ended with `code` has done. Unknown codes are
 * DONE: they are reported as they came, and never retried. */
enum zkr__outcome zkr__error_outcome(int code);

/* Sets the sentence of zkr_error_detail() and returns `code`, so that an error
 * is explained where it is returned. When `code` is one of ZooKeeper's, its
 * name and number are added. */
int zkr__fail(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define ZKR__DETAIL_MAX 512

/* The same in two steps: one thread formats the sentence, another sets it
 * later. */
void zkr__error_set_detail(const char *detail);

void zkr__error_format(char detail[ZKR__DETAIL_MAX], int code,
                       const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
