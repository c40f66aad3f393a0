/**
 * The log hook: silent by default, one for the whole process.
 *
 * One hook and not one per session, because the log callback of the ZooKeeper
 * client carries no context: its lines cannot be told apart by session. What a
 * function returns as an error is logged at debug level only; warnings are for
 * what nobody else would report, such as a node that cannot be deleted.
 * Nothing is ever printed by the library itself.
 *
 * The level of the client's log is one for the process, too:
 * zoo_set_debug_level(). The library raises it where it is lower than what it
 * needs, and then puts back what it has found, unless you have changed it
 * meanwhile:
 *
 *  - to what the hook wants, INFO at most, while there is a hook;
 *  - to INFO, until the first session of the process is connected;
 *  - to INFO, while a guarded write (guarded.h) is handed to the client, which
 *    takes microseconds; and from the first guarded write of a session with
 *    credentials on, until that session ends.
 *
 * While it is raised, a ZooKeeper handle of your own that has no log callback
 * prints lines that you have not asked for. What you set it to in those
 * microseconds may be overwritten. Level 3, INFO, is the client's default, and
 * nothing is raised then.
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
 * Send lines of @p level and more severe ones to @p fn, those of the client
 * too; NULL is silence. The client's own debug lines are never asked for: they
 * make it read freed memory when a handle is closed (ZOOKEEPER-4809).
 *
 * Threads   Any. A line that is being written may still reach the old hook.
 * Owns      @p user stays yours, and must outlive its use as a hook.
 */
ZKR_API void zkr_log_set(enum zkr_log_level level, zkr_log_fn fn, void *user);

#ifdef __cplusplus
}
#endif

#endif
