/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A session: the connection to a ZooKeeper ensemble that all locks share.
 *
 * Open one session per process and ensemble, share it between threads, create
 * any number of locks on it, close it at the end. When the server ends the
 * session (expiry), the library opens a new one by itself: everything held is
 * lost and the holders are told; waiting claims enter the queue again. Each
 * such life of the session is an epoch, counted from 1. The library also opens
 * a new session when the servers have served others for a session timeout, but
 * not this session, as they do for ever when they have been restored from an
 * older copy. To find this out it opens other sessions while SUSPENDED, one in
 * each session timeout. If the process dies, the server keeps the session, and
 * the locks held through it, until its timeout has passed.
 *
 * Threads. Per session the library runs a timer thread, a connector thread
 * (opening and closing connections, which may block) and, unless you bring your
 * own event loop, a dispatcher thread for your callbacks; the ZooKeeper client
 * adds two more. All block all signals.
 *
 * Callbacks come one at a time, in order, with no lock held, on the dispatcher
 * thread, or, with ZKR_SESSION_OWN_LOOP, on the thread that calls
 * zkr_session_dispatch() or closes the session. No callback runs inside the
 * call that registered it, nor before that call has written its outputs. When
 * the call that ends a registration returns, the callback is not running and
 * will not run again; called inside that callback, this is its last run. No C++
 * exception may leave a callback. A listener that falls more than 16 events
 * behind misses older ones, never the latest. A slow callback delays other
 * callbacks, and the calls that wait for it: closing the session, and ending
 * the callback's own registration. No lock waits for it.
 *
 * fork(). In the child every call that can fail returns ZKR_EFORKED; no call
 * sends anything or ends anything; the session goes on in the parent. So it is
 * also in a child in a new pid namespace and, from Linux 4.14 on, in one that
 * clone() has made. The sockets of Debian's ZooKeeper client are not
 * close-on-exec: a child that calls exec should close the descriptors from 3
 * up.
 *
 * pthread_cancel(). A thread that is cancelled inside a call goes on until the
 * call has returned its result, and so do callbacks and the log hook inside the
 * call. So cancel the wait, not the thread.
 *
 * Source    ZooKeeper Programmer's Guide, "ZooKeeper Sessions"; the states are
 *           those of Curator's ConnectionState.
 */
#ifndef ZKRECIPES_SESSION_H
#define ZKRECIPES_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include <zkrecipes/error.h>

ZKR__BEGIN_C

/* -- retry policies -------------------------------------------------------- */

/**
 * Retry policies: how often and after which delays a request to ZooKeeper is
 * sent again when its connection failed. A policy never extends a deadline:
 * every call has one absolute deadline, and that ends all its attempts. While
 * there is no connection at all, requests wait for one without using up
 * attempts. When the policy gives up, the caller gets ZooKeeper's code of the
 * last attempt; a lock node that may exist by then is still searched for and
 * deleted in the background, whatever the policy says.
 *
 * Source    Curator's RetryPolicy classes; the jitter is drawn from
 *           getrandom(2), between half of the delay and the whole.
 */

/** How the delays grow. */
enum zkr_retry_kind {
    ZKR_RETRY_DEFAULT = 0,     /**< Exponential, 20 ms to 2 s, no end. */
    ZKR_RETRY_NONE = 1,        /**< One attempt. */
    ZKR_RETRY_FIXED = 2,       /**< base_ms between attempts, no jitter. */
    ZKR_RETRY_EXPONENTIAL = 3, /**< base_ms, doubled up to cap_ms, jitter. */
};

/** All zero is the default policy. */
struct zkr_retry {
    enum zkr_retry_kind kind; /**< The meaning of the others. */
    uint32_t base_ms;         /**< First delay; at least 1 for FIXED, EXPON. */
    uint32_t cap_ms;          /**< Longest delay; 0 is 2000. */
    uint32_t max_retries;     /**< Attempts after the first; 0 is no limit. */
    uint64_t max_elapsed_ms;  /**< Since the first attempt; 0 is no limit. */
};

/* clang-format off */
/* Each macro is a value, for an initialization and for an assignment. (In
 * pedantic C an object of static storage is initialized with the members
 * instead, such as { .kind = ZKR_RETRY_NONE }.) */
#ifdef __cplusplus
#define ZKR__RETRY          zkr_retry
#else
#define ZKR__RETRY          (struct zkr_retry)
#endif
/** Curator: RetryNTimes (and RetryOneTime with n = 1). */
#define ZKR_RETRY_N_TIMES_INIT(n, ms)                                          \
    ZKR__RETRY { ZKR_RETRY_FIXED, (ms), 0, (n), 0 }
/** Curator: RetryForever. */
#define ZKR_RETRY_FOREVER_INIT(ms)                                             \
    ZKR__RETRY { ZKR_RETRY_FIXED, (ms), 0, 0, 0 }
/** Curator: RetryUntilElapsed. */
#define ZKR_RETRY_UNTIL_INIT(total_ms, ms)                                     \
    ZKR__RETRY { ZKR_RETRY_FIXED, (ms), 0, 0, (total_ms) }
/** Curator: BoundedExponentialBackoffRetry. */
#define ZKR_RETRY_EXPONENTIAL_INIT(base, cap, n)                               \
    ZKR__RETRY { ZKR_RETRY_EXPONENTIAL, (base), (cap), (n), 0 }
/** No retry at all. */
#define ZKR_RETRY_NONE_INIT                                                    \
    ZKR__RETRY { ZKR_RETRY_NONE, 0, 0, 0, 0 }
/* clang-format on */

/* -- the log hook ---------------------------------------------------------- */

/**
 * The log hook: receives the lines of the library and of the ZooKeeper client.
 * There is one for the whole process, and each session can have one of its own
 * (log in its options). By default there is none: the library itself never
 * prints anything.
 *
 * The hook of a session gets what the library writes about the session, its
 * locks and requests. All else goes to the hook of the process: arguments that
 * are refused before a session looks at them, and most lines of the ZooKeeper
 * client, whose log callback does not tell to which handle a line belongs. An
 * error that a function returns is logged at debug level only; warnings are for
 * what no return value reports, such as a node that cannot be deleted.
 *
 * The process has one level for the client's log, zoo_set_debug_level(), which
 * is the program's. At level 4, DEBUG, the client reads freed memory when a
 * handle is closed (ZOOKEEPER-4809). A level lower than 3, INFO, the client's
 * default, is raised by the library to see connections: until the first session
 * of the process is connected; while a guarded write (grant.h) or a transaction
 * is handed to the client, which takes microseconds; and from the first one of
 * a session with credentials on, until that session ends; and from other
 * servers or credentials of a session on, until it has used them. Meanwhile a
 * ZooKeeper handle of your own that has no log callback prints lines that you
 * have not asked for. Then the library restores the level that it found, unless
 * you have changed it; one that you set during those microseconds may be
 * overwritten.
 */

/** Severity, with the numbers of syslog (RFC 5424). */
enum zkr_log_level {
    ZKR_LOG_ERROR = 3,
    ZKR_LOG_WARNING = 4,
    ZKR_LOG_INFO = 6,
    ZKR_LOG_DEBUG = 7,
};

/**
 * Receives one complete line, without a newline. The client's own lines begin
 * with its time, process, thread and level.
 *
 * Threads   Any thread of the library or of the ZooKeeper client, several at
 *           once, with locks held: it must not call back into the library or
 *           into ZooKeeper, and should return quickly.
 */
typedef void (*zkr_log_fn)(enum zkr_log_level level, const char *message,
                           void *user);

/**
 * Send lines of @p level and more severe ones to @p fn, also those that the
 * client writes at its level; with NULL nothing is logged.
 *
 * Threads   Any. When it returns, the replaced hook is not running, and is not
 *           called any more: so hold nothing that the hook waits for. Called
 *           inside a hook it does not wait: then the replaced hook may be
 *           running still, in this thread and in others, and is not called
 *           again; a call outside of hooks waits for all of them.
 * Owns      @p user stays yours, until the hook has been replaced.
 */
ZKR_API void zkr_log_set(enum zkr_log_level level, zkr_log_fn fn, void *user);

/* -- lists of servers ------------------------------------------------------ */

/**
 * Lists of servers. Wherever the library is given servers, they are written
 *
 *     [zk://]host[:port][,host[:port]...][/chroot]
 *
 * A host is a name or an address: "zk1", "10.0.0.1", "[2001:db8::1]", or
 * without the brackets "2001:db8::1", if it has a port. The port is what
 * follows the last colon; without one it is 2181.
 * Credentials have no place there: they are options of the session.
 */

/** One server of the list. */
struct zkr_server {
    const char *host; /**< A name, or an address without brackets. */
    const char *port; /**< A number in 1 to 65535. */
    const char *name; /**< "[::1]:2181", with the port. */
};

/** A list of servers, in its parts. */
struct zkr_hosts {
    const struct zkr_server *servers; /**< In the order of the list. */
    size_t count;                     /**< At least 1. */
    const char *chroot;               /**< "/app"; "" without one. */
};

/**
 * Take a list of servers apart, for a program that checks it before its use, or
 * that speaks to the servers itself. No name is resolved.
 *
 * Errors    ZKR_EINVAL: zkr_error_detail() tells which server is wrong.
 *           ZKR_EPATH and ZKR_ETOOLONG: the chroot is.
 */
ZKR_CALL int zkr_hosts_parse(const char *text, struct zkr_hosts **ret_hosts);

/** Free it. */
ZKR_API void zkr_hosts_free(struct zkr_hosts *hosts);

/** A session, with all its epochs. */
typedef struct zkr_session zkr_session;
/** The registration of a callback for changes of state. */
typedef struct zkr_listener zkr_listener;

/** The states of a session, as this process knows it. */
enum zkr_session_state_kind {
    ZKR_SESSION_CONNECTING = 0,  /**< Not established yet in this epoch. */
    ZKR_SESSION_CONNECTED = 1,   /**< Established for the first time. */
    ZKR_SESSION_SUSPENDED = 2,   /**< Connection lost; the session may live. */
    ZKR_SESSION_RECONNECTED = 3, /**< Connected again. After SUSPENDED it is
                                      the same session, after LOST a new one. */
    ZKR_SESSION_LOST = 4,        /**< The server has ended the session, or
                                      serves others and not this one. */
    ZKR_SESSION_AUTH_FAILED = 5, /**< Final: the scheme of auth was refused;
                                      at open, SASL by every server. */
    ZKR_SESSION_CLOSED = 6,      /**< Final: zkr_session_close(), or an open
                                      that failed. */
};

/** The flags of zkr_session_opts. */
enum zkr_session_flags {
    /** No dispatcher thread: callbacks run in zkr_session_dispatch(). */
    ZKR_SESSION_OWN_LOOP = 1u << 0,
    /** No lease (grant.h) and no writes to keep it: while there is a connection
     *  a grant counts as held, as in Curator. This is weaker. */
    ZKR_SESSION_NO_LEASE = 1u << 1,
    /** One round: when every server refuses the connection, an open fails at
     *  once. Without this flag it tries again until connect_timeout_ms, so that
     *  it reaches servers that are just starting. */
    ZKR_SESSION_ONE_ROUND = 1u << 2,
    /** For lease_beacon: no server of the list leads while clients are
     *  connected to it. Right where all have leaderServes=no, or all in the
     *  list are observers. */
    ZKR_SESSION_NOT_ON_LEADER = 1u << 3,
};
ZKR__FLAGS(zkr_session_flags)

/** What a server's certificate must be: signed by an authority of tls_ca, not
 *  expired, for a server, and: */
enum zkr_tls_verify {
    /** For the name of this server in the list of servers, or for its address
     *  when the list has no name of it. */
    ZKR_TLS_VERIFY_NAME = 0,
    /** For any host. */
    ZKR_TLS_VERIFY_CHAIN = 1,
};

/** Zero means default, for every member. */
struct zkr_session_opts {
    size_t size; /**< Set by ZKR_SESSION_OPTS_INIT. */
    /** Asked of the server, which may grant less or more; default 10000. */
    uint32_t session_timeout_ms;
    /** How long an open tries; default 15000. Each server gets its share of it,
     *  also when a session has expired; a share is a second at least. */
    uint32_t connect_timeout_ms;
    /** How long a call without a deadline of its own (a try, a release) waits
     *  for answers; default 5000. */
    uint32_t reply_timeout_ms;
    enum zkr_session_flags flags; /**< Any of them, with |. */
    /** Prefix of all paths, such as "/app". It must exist. It may follow the
     *  hosts instead. */
    const char *chroot;
    const char *auth_scheme; /**< Such as "digest"; needs auth. */
    const char *auth; /**< Such as "user:password"; sent in clear text. */
    /** ACL of all nodes that we create: "scheme:id:perms", comma-separated,
     *  perms of the letters "cdrwa". Default: without auth
     *  "world:anyone:cdrwa", with auth "auth::cdrwa" (whoever has our auth). */
    const char *acl;
    struct zkr_retry retry; /**< Default: exponential, no end. */
    /** The lease (grant.h) assumes that the leader pings its followers and
     *  observers at least that often; it does so every half tick. Default:
     *  three tenths of the session timeout, right where nobody has lowered
     *  minSessionTimeout. */
    uint32_t lease_ping_gap_ms;
    /** Subtracted from the end of the lease, for clocks and callbacks; default
     *  50. */
    uint32_t lease_margin_ms;
    /** The session of a program that waits for the end of ours, as zk-lockctl
     *  run waits for its command, which finds it in ZKLOCK_SESSION. Written
     *  into our nodes, for tools that show who waits for whom. 0: none. */
    int64_t within;

    /* TLS: with any of these, and then with the first three of them. The files
     * are PEM; they are read and checked by open, and read again for each
     * connection. No name contains a comma. */
    const char *tls_ca; /**< File: the authorities that sign for the servers. */
    /** File: our certificate, and the chain below it. The client needs one even
     *  where servers do not ask for it. */
    const char *tls_cert;
    const char *tls_key;            /**< File: the private key of tls_cert. */
    const char *tls_password;       /**< Of tls_key; default: it has none. */
    enum zkr_tls_verify tls_verify; /**< The check. */
    uint32_t reserved;              /**< Zero. */

    /* SASL: with any of these, and then with sasl_mechanism. It encrypts
     * nothing: use it together with TLS. A server that refuses the login is
     * left for the next one. When an open has been refused by all, it fails; a
     * session is SUSPENDED while they refuse it, and LOST when it has been for
     * a session timeout. It goes on trying, with a new session. */
    const char *sasl_mechanism; /**< Such as "DIGEST-MD5" or "GSSAPI". */
    const char *sasl_service;   /**< Default "zookeeper". */
    /** The servers' name for themselves. Default: "zk-sasl-md5" for DIGEST-MD5,
     *  as ZooKeeper does; otherwise the address of the server. */
    const char *sasl_host;
    const char *sasl_realm;    /**< Default: that of the server. */
    const char *sasl_user;     /**< DIGEST-MD5 needs it. */
    const char *sasl_password; /**< DIGEST-MD5 needs it, or the file. */
    /** File: its first line is the password. Read by open, and again for each
     *  connection: one that cannot be read then is as it was. */
    const char *sasl_password_file;

    zkr_log_fn log; /**< The log hook of this session (see above). */
    void *log_user; /**< Passed to it. Must outlive the session. */
    /** enum zkr_log_level: this and more severe ones; default
     *  ZKR_LOG_WARNING. */
    uint32_t log_level;
    /** How many hops of pings the lease assumes between a server and the
     *  leader: 1 (the default) or 2. Use 2 where a session may come to an
     *  observer whose pings come from a follower (observerMasterPort, ZooKeeper
     *  3.6): with 1 the lease can outlive the session there. With 2 a lease
     *  needs three times as many writes, a sync in place of each read, and
     *  answers within a twentieth of the session timeout. */
    uint32_t lease_hops;
    /** Path of a node that all sessions of a fleet share, to keep their leases
     *  by each other's writes: the beacon. Default: none, each writes for
     *  itself. For hundreds of holders and more; docs/fleet.md has the figures.
     *  The node must exist, and all may read and write it; the program must not
     *  use its data. Whatever others do to it, the lease is right; where it
     *  does not help (it is missing, it may not be read, the server leads or
     *  answers slowly), sessions write for themselves.
     *
     *  Without ZKR_SESSION_NOT_ON_LEADER the session asks its server for its
     *  role with the command srvr, over a second connection, which must come to
     *  the same server: so no address of the list may be that of a balancer. A
     *  server that does not answer it, as with TLS, is taken for one that
     *  leads. */
    const char *lease_beacon;
};

#define ZKR_SESSION_OPTS_INIT ZKR__DEFAULT_OPTS(struct zkr_session_opts)

/** Longest path, chroot included, in bytes; to read and watch, twice that. */
#define ZKR_PATH_MAX 1024
/** Longest label of a lock, in bytes. */
#define ZKR_LABEL_MAX 128
/** Shortest session timeout that may be asked for: the client gives each
 *  connection attempt a part of it. */
#define ZKR_SESSION_TIMEOUT_MIN_MS 100u
/** Longest session timeout that may be asked for: a day. */
#define ZKR_SESSION_TIMEOUT_MAX_MS 86400000u

/**
 * Connect to an ensemble, whose servers are in the list @p hosts, and wait
 * until a session is established.
 *
 * Time      At most connect_timeout_ms, and half a second to find out why
 *           nobody answered, with TLS two and a half. A name server that does
 *           not answer does not extend this time.
 * On error  Nothing is left in this process, except that threads and
 *           descriptors of the attempt may live on for some seconds: they end
 *           by themselves when the ZooKeeper client or a name server releases
 *           them; see zkr_session_stuck_handles(). If a session was established
 *           and then the connection broke, the server keeps it until its
 *           timeout; it has no nodes.
 * Errors    ZKR_EPATH and ZKR_ETOOLONG (chroot: at most half of ZKR_PATH_MAX),
 *           ZKR_EHOSTS, ZKR_EREFUSED, ZKR_ENOTZK, ZKR_EUNREACHABLE,
 *           ZKR_ENOCHROOT, ZKR_ESYSTEM (this process gets no descriptor or
 *           thread, or too many handles are stuck; zkr_error_detail() has the
 *           system's reason), ZKR_ZSSLCONNECTIONERROR, ZKR_ENOTSUP (TLS or SASL
 *           that the client has not); and other codes that ZooKeeper answers.
 */
ZKR_CALL int zkr_session_open(const char *hosts,
                              const struct zkr_session_opts *opts,
                              zkr_session **ret_session);

/** Called once, with the value that zkr_session_open() would have returned, or
 *  with ZKR_ECLOSED when the session was closed before. */
typedef void (*zkr_open_fn)(int error, void *user);

/**
 * Make a session and return at once; it connects in the background, and @p fn
 * is called when a session is established, or certain not to be.
 *
 * Meanwhile locks can be made, and claims and requests wait for the connection
 * until their own deadlines. A try, which does not wait, returns
 * ZKR_ZCONNECTIONLOSS.
 *
 * Time      @p fn is called when zkr_session_open() would have returned.
 * Owns      The session stays the caller's after an error that @p fn was told:
 *           it is CLOSED then, all calls return that error, and
 *           zkr_session_close() frees it (not inside @p fn).
 * Errors    ZKR_EINVAL, ZKR_EPATH, ZKR_ETOOLONG, ZKR_ENOMEM, ZKR_ESYSTEM: there
 *           is no session, and @p fn is not called. All others of
 *           zkr_session_open() go to @p fn.
 */
ZKR_CALL int zkr_session_open_async(const char *hosts,
                                    const struct zkr_session_opts *opts,
                                    zkr_open_fn fn, void *user,
                                    zkr_session **ret_session);

/**
 * End the session: all its locks are released, all waits end with ZKR_ECLOSED,
 * all callbacks that are due are called, and no more come.
 *
 * Time      Some milliseconds; at most 6 seconds, whatever servers and name
 *           servers do or fail to do; and as long as a callback of yours is
 *           running, or a function in zkr_session_with_handle(). A thread is
 *           left to wait for what the ZooKeeper client has not given back by
 *           then: see zkr_session_stuck_handles().
 * Owns      Takes the session, unless ZKR_EDEADLK or ZKR_EFORKED.
 * On error  ZKR_EPENDING: the session is closed here, but the server could not
 *           be told; it keeps our nodes until the session timeout has passed.
 *           The same is so, with ZKR_OK, when the connection breaks while the
 *           server is told: the ZooKeeper client does not tell that apart.
 */
ZKR_API int zkr_session_close(zkr_session *session);

/**
 * Tell the session that the ensemble has other servers now. The same session
 * goes on, with its locks; new sessions after an expiry use the new servers,
 * too. A chroot in @p hosts must be that of the session; without one the chroot
 * stays.
 *
 * A connection that stands is kept until it breaks, whether its server is in
 * the list or not. Without a connection the new servers are tried when the
 * present attempt has failed: at once where the old ones refuse, within two
 * thirds of the session timeout where one is silent, and the first attempt
 * after a connection has broken still goes to an old server. So tell the
 * session before the old servers are shut down.
 *
 * Time      Nothing is waited for; names are resolved in the background.
 * On error  The session keeps the servers that it has.
 */
ZKR_CALL int zkr_session_set_servers(zkr_session *session, const char *hosts);

/**
 * Give a running session other credentials: auth and auth_scheme, sasl_user and
 * sasl_password of @p opts, which may be the options of the open. Those that
 * are NULL stay as they are, and no other option is looked at.
 *
 * A connection that stands is kept. From the next one on SASL uses the new
 * ones, also a session that servers refuse now. auth is used then, too, but the
 * ZooKeeper client goes on sending those of before with it, until the session
 * ends: nodes of both may be used, and a scheme that refuses the old ones makes
 * the session AUTH_FAILED.
 *
 * Time      Nothing is waited for.
 * Threads   Any.
 * Owns      Copies are made, which are wiped after their last use.
 * On error  The session keeps the credentials that it has.
 * Errors    ZKR_EINVAL: there are none, auth or auth_scheme is missing, or the
 *           session was opened without what is given (a password that is in a
 *           file is replaced there).
 */
ZKR_CALL int zkr_session_set_credentials(zkr_session *session,
                                         const struct zkr_session_opts *opts);

/**
 * Return how many handles of the ZooKeeper client are stuck in this process:
 * those that the library has closed, but the client has not given back. Each
 * costs up to three threads and four descriptors until the server or the name
 * server that the client waits for has answered or gone. While 16 are stuck,
 * the library makes no further one: zkr_session_open() returns ZKR_ESYSTEM, and
 * sessions that need a new handle wait for it. The log warns of each.
 *
 * Threads   Any; also after fork, where the number is that of the parent.
 */
ZKR_API uint32_t zkr_session_stuck_handles(void);

/** The present state. After fork and for NULL: ZKR_SESSION_CLOSED. */
ZKR_API enum zkr_session_state_kind zkr_session_state(zkr_session *session);

/** The id that the server gave to the present session; 0 without one. */
ZKR_API int64_t zkr_session_id(zkr_session *session);

/** The session timeout that the server granted, in milliseconds; 0 before. */
ZKR_API uint32_t zkr_session_timeout_ms(zkr_session *session);

/** The epoch: 1 for the first session, one more after each expiry. */
ZKR_API uint64_t zkr_session_epoch(zkr_session *session);

/** "CONNECTED", "SUSPENDED"... Never NULL. */
ZKR_API const char *zkr_session_state_name(enum zkr_session_state_kind state);

/* -- reasons --------------------------------------------------------------- */

/** Why there is no connection. */
enum zkr_cause {
    ZKR_CAUSE_NONE = 0,
    ZKR_CAUSE_REFUSED = 1,     /**< A server refuses the connection. */
    ZKR_CAUSE_SILENT = 2,      /**< A server does not answer. */
    ZKR_CAUSE_HUNG_UP = 3,     /**< The connection is broken. */
    ZKR_CAUSE_UNREACHABLE = 4, /**< There is no way to a server. */
    ZKR_CAUSE_NAME = 5,        /**< No host name can be resolved. */
    ZKR_CAUSE_TLS = 6,         /**< The handshake failed: text says why, if the
                                    client does. */
    ZKR_CAUSE_CERTIFICATE_EXPIRED = 7, /**< That of a server. */
    ZKR_CAUSE_CERTIFICATE_HOST = 8,    /**< It is for another host. */
    ZKR_CAUSE_CREDENTIALS = 9,         /**< A server refuses ours. */
    ZKR_CAUSE_READ_ONLY = 10,          /**< A server is read-only. */
    ZKR_CAUSE_EXPIRED = 11,            /**< The servers ended the session. */
    ZKR_CAUSE_RESTORED = 12, /**< They serve others, and not this session. */
};

/** One more than the last cause. */
#define ZKR_CAUSES 13

/** "REFUSED", "CERTIFICATE_EXPIRED"... Never NULL. */
ZKR_API const char *zkr_cause_name(enum zkr_cause cause);

/** The last fault that stood in the way of a connection. */
struct zkr_session_error {
    size_t size;          /**< Set by ZKR_SESSION_ERROR_INIT. */
    enum zkr_cause cause; /**< NONE: nothing has, and all else is zero. */
    char server[64];      /**< "10.0.0.1:2181"; "" when it is of no one. */
    int64_t age_ms;       /**< How long ago it was. */
    char text[192];       /**< The same as a sentence, without the age. */
};

#define ZKR_SESSION_ERROR_INIT ZKR__DEFAULT_OPTS(struct zkr_session_error)

/**
 * Copy to @p ret_error what stood last in the way of a connection, also when
 * there is one now. The sentence is also in zkr_error_detail() of each call
 * that ends for want of a connection, and in the log: with SUSPENDED, and while
 * there is no connection, once for each cause.
 *
 * The library has it from the log of the ZooKeeper client, whatever hook there
 * is. So nothing is known of connections when the program has lowered the level
 * of that log to none (zoo_set_debug_level()).
 */
ZKR_CALL int zkr_session_last_error(zkr_session *session,
                                    struct zkr_session_error *ret_error);

/** A change of state, as it was when it happened. */
struct zkr_session_event {
    enum zkr_session_state_kind state; /**< The new state. */
    uint64_t epoch;                    /**< As zkr_session_epoch(). */
    int64_t session_id;                /**< 0 if none. */
    enum zkr_cause cause; /**< Of SUSPENDED, LOST, AUTH_FAILED; else NONE. */
};

/** The listener of a session. */
typedef void (*zkr_session_fn)(zkr_session *session,
                               const struct zkr_session_event *event,
                               void *user);

/** Let @p fn be called for every change of state; the first event is the
 *  present state. */
ZKR_CALL int zkr_session_listen(zkr_session *session, zkr_session_fn fn,
                                void *user, zkr_listener **ret_listener);

/** Stop listening. */
ZKR_API void zkr_listener_free(zkr_listener *listener);

/**
 * Return the descriptor of a session with ZKR_SESSION_OWN_LOOP. It is readable
 * when callbacks are due. Poll it; never read or close it.
 *
 * Errors    ZKR_EINVAL when the session has its own dispatcher thread.
 */
ZKR_CALL int zkr_session_fd(zkr_session *session, int *ret_fd);

/**
 * Run the callbacks that are due, on this thread, and return. Callbacks that
 * make others due prolong the call.
 *
 * Threads   One at a time (ZKR_EBUSY); ZKR_EDEADLK from inside a callback.
 * Errors    ZKR_EINVAL when the session has its own dispatcher thread.
 */
ZKR_API int zkr_session_dispatch(zkr_session *session);

/* -- counters -------------------------------------------------------------- */

/**
 * Counters of a session, and of each lock object: for monitoring.
 *
 * A session counts what all its lock objects do, also those that have been
 * freed; a lock object counts what is acquired through it. Other clients are
 * not counted: see participants.h for them. Each counter grows from 0 and is
 * never set back, so the difference of two snapshots is what has happened
 * between them. All members of a snapshot are of one instant, so the sums in
 * the comments are exact.
 *
 * Not counted: a thread that acquires again what it has (reentrant), and an
 * acquire that is refused before anything was begun (ZKR_EINVAL, ZKR_ECLOSED, a
 * try without a connection, ...). A downgrade (rwlock.h) counts as an acquire
 * of the read lock and a release of the write lock. Of a lock that stays
 * (retain_ms in mutex.h) the acquires of callers are counted, and not the node
 * that they take from each other.
 *
 * A histogram has a row for each power of two: row 0 counts times below 2
 * microseconds, row i those from 2^i to less than 2^(i+1), and the last row all
 * that are longer (from 2^31: 36 minutes).
 *
 * Source    The rows are those of the histograms of BPF tools (bcc, bpftrace).
 */

/** Rows of a histogram. */
#define ZKR_STATS_ROWS 32

/** The counters of a session, or of a lock object. */
struct zkr_counters {
    size_t size; /**< Set by ZKR_COUNTERS_INIT. */

    /* acquires = grants + busy + timeouts + cancels + failures + those that
     * have not ended yet */
    uint64_t acquires; /**< Acquires that were begun, tries among them. */
    uint64_t waits;    /**< Of them: those that had to wait for others. */
    uint64_t grants;   /**< Acquires that were granted the lock. */
    uint64_t handoffs; /**< Of the grants: those that took a lock that stays,
                            without a request (zkr_grant_handoff() > 0). */
    uint64_t busy;     /**< Tries that found the lock taken: ZKR_EBUSY. */
    uint64_t timeouts; /**< ZKR_ETIMEDOUT, ZKR_ZOPERATIONTIMEOUT of a try. */
    uint64_t cancels;  /**< ZKR_ECANCELED. */
    uint64_t failures; /**< All other errors. */

    /* grants = releases + losses + those that hold now */
    uint64_t releases; /**< Grants that their holder gave back. */
    uint64_t losses;   /**< Grants that were LOST. */
    uint64_t unsures;  /**< How often a grant became UNSURE, each time. */

    /** Nodes that the servers refused to delete when their lock was given back,
     *  or the acquire was given up; see zkr_grant_release(). */
    uint64_t refusals;

    uint64_t wait_us; /**< Sum of the grants' waits, in microseconds. */
    uint64_t hold_us; /**< Sum of the holds that have ended, likewise. */
    uint64_t wait_us_log2[ZKR_STATS_ROWS]; /**< Histogram of the same. */
    uint64_t hold_us_log2[ZKR_STATS_ROWS]; /**< Histogram of the same. */

    /* Of a session; 0 of a lock object. */
    uint64_t retries;    /**< Requests that were sent again. */
    uint64_t reconnects; /**< How often the same session was RECONNECTED. */
    uint64_t expiries;   /**< How often the session was LOST. */
    /** How often each enum zkr_cause stood in the way of a connection, or ended
     *  one; of those that come together the first and the last. */
    uint64_t causes[ZKR_CAUSES];
};

#define ZKR_COUNTERS_INIT ZKR__DEFAULT_OPTS(struct zkr_counters)

/** Copy the counters of a session to @p ret_counters, whose size must be set.
 *  Example: examples/stats.c */
ZKR_CALL int zkr_session_stats(zkr_session *session,
                               struct zkr_counters *ret_counters);

ZKR__END_C

#endif
