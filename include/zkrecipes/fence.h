/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A fence: lets a resource outside ZooKeeper refuse a holder that has lost its
 * lock and does not know it.
 *
 * The holder sends its token (zkr_grant_token()) and its hand-off count
 * (zkr_grant_handoff()) with each request, and the resource keeps the highest
 * token it has seen in a fence, one fence for each lock, and the highest count
 * seen with that token. A lower token belongs to an older holder, and so does
 * an equal token with a lower count: they are refused with ZKR_ESTALE. The same
 * token with the same count is the same holder, which may write many times. A
 * resource that gets the token alone passes 0; then, with retain_ms, a late
 * write of one holder gets through beside another of its process.
 *
 * A fence does not know who holds the lock now: it refuses an old holder only
 * after a newer holder has presented its token. So the new holder must present
 * its token before it reads what it will change: until then a late write of the
 * old holder gets through.
 *
 * Between accepting a token and writing the process may stop, while a newer
 * holder is accepted and writes; then the old write overwrites the new one. So
 * accepting and writing must form one section that excludes all others:
 *
 *  - zkr_fence_begin(), write, zkr_fence_end(): no other thread or process is
 *    in a section of the same fence meanwhile. A process that dies inside a
 *    section leaves it; a process that is stopped inside keeps others waiting,
 *    but does no harm. The write must be finished when the section ends:
 *    flushed to where the others read it, and not handed to another thread or
 *    process that makes it later. A process that dies may leave half a write:
 *    the next one in a section must be prepared to find it.
 *  - zkr_fence_accept() alone is enough only where accepting and writing are
 *    one step, as on the only thread of a server that owns the resource.
 *  - A database has transactions: keep the token there, as "update ... where
 *    token <= ?".
 *
 * Files. A fence in a file is for processes on one machine, on a local file
 * system. The file is one line of text. Before a token is accepted, the library
 * replaces the file as a whole: it writes a new file, syncs it, renames it, and
 * syncs the directory. So after a crash the file is either the old or the new
 * one. Two more files belong to it and must not be removed: FILE.lock, which is
 * locked with flock(2), and, for a moment, FILE.new. A damaged or missing file
 * is the error ZKR_EDAMAGED; it never makes a fence that accepts every token.
 * To begin anew (the ensemble was set up again, and tokens are low), stop all
 * users, and remove FILE and FILE.lock.
 *
 * Readers of a read/write lock have tokens of their own, and several hold it at
 * once. They present them with zkr_fence_accept_shared(), which refuses only
 * tokens older than the last writer's.
 *
 * A fence needs no session. Tokens of two locks, or of two ensembles, cannot be
 * compared.
 *
 * Threads   Any, except zkr_fence_end(): the thread that began the section. A
 *           thread inside a section of a file that begins another one through a
 *           second handle waits for itself.
 *           After fork() a handle returns ZKR_EFORKED: open the fence again in
 *           the child, and free the old handle there. A child that keeps it,
 *           and does not exec, keeps others out when its parent dies inside a
 *           section.
 * Source    Burrows, "The Chubby lock service", OSDI 2006 (sequencers);
 *           Kleppmann, "How to do distributed locking", 2016 (fencing tokens);
 *           Hochstein, "Locks, leases, fencing tokens, FizzBee!", 2025: that a
 *           write of the old holder gets through until the new one has been
 *           seen.
 * Example   examples/fence.c
 */
#ifndef ZKRECIPES_FENCE_H
#define ZKRECIPES_FENCE_H

#include <stddef.h>
#include <stdint.h>

#include <zkrecipes/error.h>

ZKR__BEGIN_C

/** A fence, in memory or in a file. */
typedef struct zkr_fence zkr_fence;

/** Zero means default, for every member. */
struct zkr_fence_opts {
    size_t size; /**< Set by ZKR_FENCE_OPTS_INIT. */
    /** The file that it is in. Default: it is in memory, for a resource that
     *  lives no longer than this process. */
    const char *file;
};

#define ZKR_FENCE_OPTS_INIT ZKR__DEFAULT_OPTS(struct zkr_fence_opts)

/**
 * Make a fence, or open that of a file. The file is created if it has never
 * been there; its directory must exist. A file may be open several times.
 *
 * Time      At most the time that it takes to create the file.
 * Errors    ZKR_EDAMAGED; ZKR_ESYSTEM with the cause in the sentence: no such
 *           directory, not permitted, disk full...
 */
ZKR_CALL int zkr_fence_new(const struct zkr_fence_opts *opts,
                           zkr_fence **ret_fence);

/** Free the handle, outside of a section. */
ZKR_API void zkr_fence_free(zkr_fence *fence);

/**
 * Accept @p token if it is not lower than the highest token seen, and
 * @p handoff, if the token is equal, not lower than the highest count seen with
 * it; and remember both.
 *
 * Time      Waits while others are in a section. A higher token than before is
 *           on the disk when this returns.
 * On error  The token is not accepted: do not write.
 * Errors    ZKR_ESTALE: they are those of an older holder; stop. ZKR_EINVAL:
 *           the token is not positive. ZKR_EDEADLK inside a section of this
 *           thread.
 *           For a file also ZKR_EDAMAGED and ZKR_ESYSTEM.
 */
ZKR_CALL int zkr_fence_accept(zkr_fence *fence, int64_t token,
                              uint64_t handoff);

/** The same for a holder that only reads: accept @p token if it is not lower
 *  than the highest token of a writer. Readers have no hand-off count. */
ZKR_CALL int zkr_fence_accept_shared(zkr_fence *fence, int64_t token);

/**
 * Begin a section: accept @p token and @p handoff as zkr_fence_accept() does,
 * and let nobody else be accepted until zkr_fence_end().
 *
 * Time      The lock of a file is tried every few milliseconds.
 * Errors    ZKR_ETIMEDOUT: others are in a section (a try returns ZKR_EBUSY);
 *           and those of zkr_fence_accept(). The section has not begun then.
 */
ZKR_CALL int zkr_fence_begin(zkr_fence *fence, int64_t token, uint64_t handoff,
                             int64_t timeout_ms);

/** End the section. Call it after a begin that succeeded, on the same
 *  thread. */
ZKR_API void zkr_fence_end(zkr_fence *fence);

/** Return the highest token seen, or 0 if there was none. Errors as for
 *  zkr_fence_accept(). */
ZKR_CALL int zkr_fence_highest(zkr_fence *fence, int64_t *ret_token);

ZKR__END_C

#endif
