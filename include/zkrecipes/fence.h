/**
 * A fence: lets a resource outside ZooKeeper refuse a holder that has lost its
 * lock and does not know it.
 *
 * The holder hands its token (zkr_grant_token()) over with each request, and
 * the resource keeps the highest token it has seen in a fence, one for each
 * lock. A lower token is that of an older holder: ZKR_ESTALE. An equal one is
 * the same holder, who may write many times.
 *
 * What a fence does. After it has accepted a token, it accepts nothing older.
 * So the new holder must present its token before it reads what it will change:
 * until then a late write of the old holder gets through. It says nothing about
 * who holds the lock now: an old holder is refused only when a newer one has
 * been here.
 *
 * Accept, then write, is not enough. Between the two the process may stop,
 * while a newer holder is accepted and writes; then the old write lands on top.
 * Accepting and writing must exclude each other:
 *
 *  - zkr_fence_begin(), write, zkr_fence_end(): nobody else, thread or process,
 *    is in a section of the same fence meanwhile. A process that dies inside
 *    leaves it; one that is stopped keeps others waiting, but does no harm.
 *    The write must be finished at the end: flushed to where the others read
 *    it, and not handed to somebody who makes it later. A process that dies
 *    may leave half a write: that is for the next one to see.
 *  - zkr_fence_accept() alone only where the write is made in one step with it,
 *    as on the one thread of a server that owns the resource.
 *  - a database has transactions: keep the token there, as
 *    "update ... where token <= ?".
 *
 * Files. A fence in a file is for processes on one machine, on a local file
 * system. The file is one line of text, replaced as a whole: written beside,
 * synced, renamed, and the directory synced, before a token is accepted. So
 * after a crash it is the old or the new one. Two more belong to it, and must
 * not be removed: FILE.lock, which is locked with flock(2), and for a moment
 * FILE.new. A file that is damaged or has gone is an error, ZKR_EDAMAGED, and
 * never a fence that lets all through. To begin anew (the ensemble was set up
 * again, and tokens are low), stop all users, and remove FILE and FILE.lock.
 *
 * Readers of a read/write lock have tokens of their own, and several hold it at
 * once. They present them with zkr_fence_accept_shared(), which refuses only
 * what is older than the last writer.
 *
 * A fence needs no session. Tokens of two locks, or of two ensembles, do not
 * compare.
 *
 * Threads   All functions: any thread, but an end: the one that began.
 *           Inside a section of a file, another handle of it on the same
 *           thread waits for itself.
 *           After fork(), ZKR_EFORKED: open it again in the child. Free the
 *           old handle there: a child that has it, and does not exec, keeps
 *           others out when its parent dies inside a section.
 * Source    Kleppmann, "How to do distributed locking", 2016 (fencing tokens).
 *           Lamport, "Time, Clocks, and the Ordering of Events in a Distributed
 *           System", CACM 21(7), 1978: an order of events, not of clocks.
 *           Hochstein, "Locks, leases, fencing tokens, FizzBee!", 2025: that a
 *           write of the old holder gets through until the new one has been
 *           seen. Burrows, "The Chubby lock service", OSDI 2006 (sequencers).
 * Example   examples/fence.c
 */
#ifndef ZKRECIPES_FENCE_H
#define ZKRECIPES_FENCE_H

#include <stdint.h>

#include <zkrecipes/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zkr_fence zkr_fence;

/** A fence in memory, for a resource that lives no longer than this process.
 *  Errors: ZKR_ENOMEM, ZKR_EINVAL. */
ZKR_API int zkr_fence_new(zkr_fence **ret_fence);

/**
 * A fence in a file, which is created if it has never been there; its directory
 * must exist. May be open several times.
 *
 * Time      At most that of creating the file.
 * Errors    ZKR_EDAMAGED, ZKR_ENOMEM, ZKR_EINVAL; ZKR_ESYSTEM with the cause in
 *           the sentence: no such directory, not permitted, disk full...
 */
ZKR_API int zkr_fence_open(const char *file, zkr_fence **ret_fence);

/** Not inside a section. NULL is allowed. */
ZKR_API void zkr_fence_free(zkr_fence *fence);

/**
 * Is this token as high as the highest seen? Then remember it.
 *
 * Time      Waits while others are in a section. A higher token than before is
 *           on the disk when this returns.
 * On error  Not accepted: do not write.
 * Errors    ZKR_ESTALE: an older holder; stop. ZKR_EINVAL: a token is positive.
 *           ZKR_EDEADLK inside a section of this thread. ZKR_EFORKED.
 *           For a file also ZKR_EDAMAGED and ZKR_ESYSTEM.
 */
ZKR_API int zkr_fence_accept(zkr_fence *fence, int64_t token);

/** The same for who only reads: as high as the highest token of a writer. */
ZKR_API int zkr_fence_accept_shared(zkr_fence *fence, int64_t token);

/**
 * zkr_fence_accept(), and nobody else is accepted until zkr_fence_end().
 *
 * Time      @p timeout_ms at most: 0 tries once, negative waits without limit.
 *           The lock of a file is asked for every few milliseconds.
 * Errors    ZKR_ETIMEDOUT: others are in a section (ZKR_EBUSY of a try); those
 *           of an accept. Not begun then.
 */
ZKR_API int zkr_fence_begin(zkr_fence *fence, int64_t token,
                            int64_t timeout_ms);

/** After a begin that succeeded, on the same thread. */
ZKR_API void zkr_fence_end(zkr_fence *fence);

/** The highest token seen; 0 without any. Errors as of an accept. */
ZKR_API int zkr_fence_highest(zkr_fence *fence, int64_t *ret_token);

#ifdef __cplusplus
}
#endif

#endif
