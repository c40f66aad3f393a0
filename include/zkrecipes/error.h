/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Error codes of the library, in one number space with those of ZooKeeper.
 *
 * Every function that can fail returns an int: 0 (ZKR_OK) is success, a
 * negative value is the error, one of enum zkr_error or a code of a later
 * ZooKeeper that has no name here. Callbacks are given it in the same way.
 *
 * ZooKeeper's own codes lie between -1 and -127, pass through unchanged, and
 * have names here that start with ZKR_Z: a program needs no header of
 * ZooKeeper, and may include it, too. Codes of this library start at -1001. So
 * a code tells where it came from.
 *
 * A code says what kind of thing went wrong; the sentence of
 * zkr_error_detail(), which object is concerned and why. zkrecipes.h says which
 * codes any call may return. Whether a write of the library's own was made, it
 * finds out itself: only the caller's writes can be ZKR_EUNKNOWN (client.h).
 */
#ifndef ZKRECIPES_ERROR_H
#define ZKRECIPES_ERROR_H

#include <stdbool.h>

/* -- marks and initial values, in C11 and in every C++ since C++11 --------- */

#if defined(__GNUC__)
#define ZKR__ATTRIBUTE(what) __attribute__((what))
#else
#define ZKR__ATTRIBUTE(what)
#endif

/** Marks what the shared library exports. */
#define ZKR_API ZKR__ATTRIBUTE(visibility("default"))

/**
 * Marks a function whose result the caller must look at. All that return an
 * error are marked, and zkr_grant_is_held() and zkr_leader_is_leader(). Not
 * marked are those whose error leaves the caller nothing to do: those that end
 * something (release, leave, close, cancel, give back), zkr_grant_listen(),
 * which is also how to stop listening, and zkr_session_dispatch(), which is
 * called again anyway.
 */
#define ZKR_MUST_CHECK ZKR__ATTRIBUTE(warn_unused_result)

/** Marks what is exported, and whose result the caller must look at. */
#define ZKR_CALL ZKR_API ZKR_MUST_CHECK

/** Marks a short form of another function: it is not in the shared library. */
#define ZKR_SHORT static inline

/*
 * ZKR_..._OPTS_INIT is an option struct with the defaults of all members, and
 * with its size, which tells the library what members the caller knows of:
 *
 *     struct zkr_lockable_opts opts = ZKR_LOCKABLE_OPTS_INIT;
 *
 * In C it is an initializer, also of an object of static storage. C++ has no
 * designated initializers before C++20: there it is a value.
 *
 * Flags are of an enum of their own, which is that of the member that takes
 * them. They are combined with |, in C++, too.
 */
#ifdef __cplusplus
#define ZKR__BEGIN_C            extern "C" {
#define ZKR__END_C              }
#define ZKR__DEFAULT_OPTS(type) zkr__default_opts<type>()
/* A template is no part of extern "C", in which a program may include this. */
extern "C++" {
template <class Opts> inline Opts zkr__default_opts()
{
    Opts opts = Opts();

    opts.size = sizeof(opts);
    return opts;
}
}
#define ZKR__FLAGS(type)                                                       \
    extern "C++" {                                                             \
    constexpr type operator|(type a, type b)                                   \
    {                                                                          \
        return static_cast<type>(static_cast<unsigned>(a) |                    \
                                 static_cast<unsigned>(b));                    \
    }                                                                          \
    inline type &operator|=(type &a, type b)                                   \
    {                                                                          \
        return a = a | b;                                                      \
    }                                                                          \
    }
#else
/* clang-format off */
#define ZKR__DEFAULT_OPTS(type) { .size = sizeof(type) }
/* clang-format on */
#define ZKR__BEGIN_C
#define ZKR__END_C
#define ZKR__FLAGS(type)
#endif

ZKR__BEGIN_C

/* -- version --------------------------------------------------------------- */

#define ZKR_VERSION_MAJOR  0       /**< Of the headers. */
#define ZKR_VERSION_MINOR  1       /**< Of the headers. */
#define ZKR_VERSION_PATCH  0       /**< Of the headers. */
#define ZKR_VERSION_STRING "0.1.0" /**< Of the headers. */

/** The version of the library at run time, such as "0.1.0". */
ZKR_API const char *zkr_version(void);

/* clang-format off */
/** Name, value, text. Numbers are never reused. */
#define ZKR_ERRORS(X)                                                          \
    X(ZKR_EINVAL,     -1001, "invalid argument")                               \
    X(ZKR_ENOMEM,     -1002, "out of memory")                                  \
    X(ZKR_ETIMEDOUT,  -1003, "not granted before the deadline")                \
    X(ZKR_EBUSY,      -1004, "held by somebody else")                          \
    X(ZKR_ECANCELED,  -1005, "cancelled")                                      \
    X(ZKR_ECLOSED,    -1006, "the session has been closed")                    \
    X(ZKR_EDEADLK,    -1007, "would wait for itself")                          \
    X(ZKR_EFORKED,    -1008, "the session belongs to the parent process")      \
    X(ZKR_ENOTHELD,   -1009, "not held")                                       \
    X(ZKR_ENOTOWNER,  -1010, "held by another owner")                          \
    X(ZKR_ELOST,      -1011, "the lock has been lost")                         \
    X(ZKR_EUNSURE,    -1012, "cannot tell whether the lock is still held")     \
    X(ZKR_EPENDING,   -1013, "not confirmed yet; going on in the background")  \
    X(ZKR_EPATH,      -1014, "not a valid ZooKeeper path")                     \
    X(ZKR_ETOOLONG,   -1015, "longer than the limit")                          \
    X(ZKR_EHOSTS,     -1016, "no ZooKeeper host can be resolved")              \
    X(ZKR_EREFUSED,   -1017, "every server refused the connection")            \
    X(ZKR_ENOTZK,     -1018, "connected, but no answer as from ZooKeeper")     \
    X(ZKR_EUNREACHABLE, -1019, "no server answered before the deadline")       \
    X(ZKR_ENOCHROOT,  -1020, "the chroot does not exist")                      \
    X(ZKR_EEXHAUSTED, -1021, "the numbers of the lock or node are used up")   \
    X(ZKR_EPROTO,     -1022, "a server sent what no server should")            \
    X(ZKR_ESYSTEM,    -1023, "the operating system refused a resource")        \
    X(ZKR_EOVERFLOW,  -1024, "a number would pass its limit")                   \
    X(ZKR_EUNKNOWN,   -1025, "the write was made, or not, or will be")         \
    X(ZKR_ESTALE,     -1026, "an older token than one accepted before")        \
    X(ZKR_EDAMAGED,   -1027, "the data is damaged")                            \
    X(ZKR_ENOTSUP,    -1028, "the ZooKeeper client cannot do that")

/** The same for the codes of ZooKeeper, where the names lack "ZKR_". */
#define ZKR_ZK_ERRORS(X)                                                       \
    X(ZKR_ZSYSTEMERROR,           -1, "system error in the client")            \
    X(ZKR_ZRUNTIMEINCONSISTENCY,  -2, "reply out of order, or a failed transaction") \
    X(ZKR_ZDATAINCONSISTENCY,     -3, "data inconsistency")                    \
    X(ZKR_ZCONNECTIONLOSS,        -4, "connection lost")                       \
    X(ZKR_ZMARSHALLINGERROR,      -5, "request or reply cannot be encoded")    \
    X(ZKR_ZUNIMPLEMENTED,         -6, "not known to the server")               \
    X(ZKR_ZOPERATIONTIMEOUT,      -7, "server silent for too long")            \
    X(ZKR_ZBADARGUMENTS,          -8, "arguments refused by ZooKeeper")        \
    X(ZKR_ZINVALIDSTATE,          -9, "session over or not started")           \
    X(ZKR_ZUNKNOWNSESSION,       -12, "session not known to the server")       \
    X(ZKR_ZNEWCONFIGNOQUORUM,    -13, "no quorum of the new configuration")    \
    X(ZKR_ZRECONFIGINPROGRESS,   -14, "reconfiguration under way")             \
    X(ZKR_ZSSLCONNECTIONERROR,   -15, "TLS connection failed")                 \
    X(ZKR_ZAPIERROR,            -100, "API error")                             \
    X(ZKR_ZNONODE,              -101, "no such node")                          \
    X(ZKR_ZNOAUTH,              -102, "not permitted")                         \
    X(ZKR_ZBADVERSION,          -103, "version conflict")                      \
    X(ZKR_ZNOCHILDRENFOREPHEMERALS, -108, "an ephemeral node cannot have children") \
    X(ZKR_ZNODEEXISTS,          -110, "the node exists")                       \
    X(ZKR_ZNOTEMPTY,            -111, "the node has children")                 \
    X(ZKR_ZSESSIONEXPIRED,      -112, "session expired")                       \
    X(ZKR_ZINVALIDCALLBACK,     -113, "invalid callback")                      \
    X(ZKR_ZINVALIDACL,          -114, "ACL refused by the server")             \
    X(ZKR_ZAUTHFAILED,          -115, "authentication failed")                 \
    X(ZKR_ZCLOSING,             -116, "client is closing")                     \
    X(ZKR_ZNOTHING,             -117, "nothing to process")                    \
    X(ZKR_ZSESSIONMOVED,        -118, "session moved to another server")       \
    X(ZKR_ZNOTREADONLY,         -119, "server is read-only at present")        \
    X(ZKR_ZEPHEMERALONLOCALSESSION, -120, "ephemeral node on a local session") \
    X(ZKR_ZNOWATCHER,           -121, "no such watch")                         \
    X(ZKR_ZRECONFIGDISABLED,    -123, "reconfiguration disabled")              \
    X(ZKR_ZSESSIONCLOSEDREQUIRESASLAUTH, -124, "server requires authentication") \
    X(ZKR_ZQUOTAEXCEEDED,       -125, "quota exceeded")                        \
    X(ZKR_ZTHROTTLEDOP,         -127, "throttled, not carried out")
/* clang-format on */

/** All codes of the two lists above. */
enum zkr_error {
    ZKR_OK = 0,
#define ZKR_X(name, value, text) name = value,
    ZKR_ERRORS(ZKR_X) ZKR_ZK_ERRORS(ZKR_X)
#undef ZKR_X
};

/**
 * A short text for a code of ours or of ZooKeeper: "ZNOAUTH: not permitted".
 * Never NULL; an unknown code gives "unknown error".
 *
 * Threads   Any. The text is constant.
 */
ZKR_API const char *zkr_strerror(int code);

/**
 * Return the sentence for the last error that a call of this library returned
 * on this thread. It names the object, the cause, and ZooKeeper's code where
 * there is one. It is "" when no call has failed yet. In a callback it
 * describes the error that the callback was given.
 *
 * Threads   Any; each has its own.
 * Owns      The library. Valid until the next call that fails on this thread.
 */
ZKR_API const char *zkr_error_detail(void);

/** True if the same call may succeed later: connection lost, throttled, timed
 *  out, held by somebody else, or no server that can be reached now. False also
 *  for ZKR_EHOSTS and ZKR_ENOTZK: these are mistakes more often than not. */
ZKR_API bool zkr_error_is_transient(int code);

/** True if what was held is gone for good: the session is over, or (ZKR_ELOST)
 *  at least the lock in question is lost. */
ZKR_API bool zkr_error_is_session_over(int code);

/** True if it is not known whether the request took effect. */
ZKR_API bool zkr_error_is_unsure(int code);

ZKR__END_C

#endif
