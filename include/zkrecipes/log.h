/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The log hook: receives the lines of the library and of the ZooKeeper client.
 * There is one for the whole process, and each session can have one of its own
 * (log in its options). By default there is none, and the library is silent.
 *
 * The hook of a session gets what the library writes about the session, its
 * locks and requests. All else goes to the hook of the process: arguments that
 * are refused before a session looks at them, and most lines of the ZooKeeper
 * client, whose log callback does not tell to which handle a line belongs. An
 * error that a function returns is logged at debug level only; warnings are for
 * what no return value reports, such as a node that cannot be deleted. The
 * library itself never prints anything.
 *
 * The process has one level for the client's log: zoo_set_debug_level(). It is
 * the program's; no hook changes it. Level 3, INFO, is the client's default. At
 * level 4, DEBUG, the client reads freed memory when a handle is closed
 * (ZOOKEEPER-4809). Where the level is lower than INFO, the library must raise
 * it to see connections, and later restores the value that it found, unless you
 * have changed it meanwhile. It is raised
 *
 *  - until the first session of the process is connected;
 *  - while a guarded write (guarded.h) or a transaction is handed to the
 * client, which takes microseconds; and from the first one of a session with
 *    credentials on, until that session ends.
 *
 * While the level is raised, a ZooKeeper handle of your own that has no log
 * callback prints lines that you have not asked for. A level that you set
 * during those microseconds may be overwritten.
 */
#ifndef ZKRECIPES_LOG_H
#define ZKRECIPES_LOG_H

#include <zkrecipes/version.h>

#ifdef __cplusplus
extern "C" {
#endif

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
 * Threads   Any. A line that is being written may still reach the old hook.
 * Owns      @p user stays yours, and must outlive its use as a hook.
 */
ZKR_API void zkr_log_set(enum zkr_log_level level, zkr_log_fn fn, void *user);

#ifdef __cplusplus
}
#endif

#endif
