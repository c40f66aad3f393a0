/* SPDX-License-Identifier: Apache-2.0 */
/* Workers: processes in C, Java and Python that lock, told what to do by lines.
 *
 * worker.c, Worker.java and worker.py understand the same commands, one a line
 * on standard input, and answer each with one line on standard output that
 * begins with "= " (other lines are what their libraries have to say):
 *
 *   version                     version A.B...           of Curator, or kazoo
 *   open HOSTS SESSION_MS       open SESSION             in hexadecimal
 *   lock RECIPE LAYOUT PATH     lock                     from now on this one
 *   acquire MODE TIMEOUT_MS     held NODE TOKEN | busy   0: try
 *   again MODE TIMEOUT_MS       the same, with the lock object of the last
 *                                              acquire (Python only)
 *   release MODE                released
 *   listen                      listening      be told of requests to revoke,
 *                                              from the next acquire on
 *   revoke NODE                 revoked        ask the owner of a node
 *   downgrade                   held NODE TOKEN
 *   leader                      leader ID      of the election (not Python)
 *   add KIND PATH LOCK TIMES    added MADE UNKNOWN     1 each time
 *   number KIND PATH            number N       of a counter; KIND is long or
 *                                              shared, in Python shared or
 *                                              text[:START]; LOCK is the path
 *                                              of its mutex, or -
 *   barrier set PATH            done set       or remove, or wait
 *   enter PATH MEMBERS LIMIT_MS entered | busy a double barrier (not Python)
 *   leave LIMIT_MS              left | busy
 *   run WRITERS                 ran            see below; WRITERS: per
 *                                              cent; of a semaphore: acquires
 *                                              of two permits (C only)
 *   close                       closed
 *
 * "= ready" comes first, "= asked" when a revocation is requested, and
 * "= failed: WHY" instead of an answer. RECIPE is mutex, rw, latch, selector
 * (not Python), semaphore:LIMIT (a number, or the path of a node that has it),
 * or semaphore-mutex. MODE is write or read, of a mutex always write; of a
 * semaphore it is the number of permits, and NODE is that of the first lease,
 * or "-". A latch and a selector are acquired by a campaign, and released by
 * leaving. LAYOUT is
 * curator or kazoo, of Python also patterns:
 *
 *              C                    Java      Python
 *   curator    default              Curator   classes of examples/interop
 *   patterns   -                    -         kazoo's with extra_lock_patterns
 *   kazoo      ZKR_..._KAZOO_LAYOUT -         kazoo's
 *
 * A worker that runs acquires again and again, and says before each release for
 * each node
 *
 *   enter MODE NODE TOKEN 0     VALUE | -1     -1: it releases at once
 *   leave MODE NODE TOKEN VALUE 1 | 0          VALUE: that of the enter, a
 *                                              writer adds 1; 0: that was all
 *
 * and goes on when the test has answered with the line on the right.
 *
 * All functions fail the test when a worker does not do what it should. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/types.h>

enum kind { KIND_C, KIND_CURATOR, KIND_KAZOO, KINDS };

struct worker {
    enum kind kind;
    char name[16]; /* "c1", "curator2", "kazoo3" */
    pid_t pid;     /* 0: does not run */
    int to;
    int from;
    char text[4096]; /* heard, not yet taken */
    size_t size;
    char answer[512];
    int64_t session;
    char node[128]; /* of the last "held" */
    int64_t token;
};

/* Are java, javac, Curator, python3 and kazoo there? Else main() returns 77. */
bool workers_installed(void);

/* Returns when it is ready. */
void worker_start(struct worker *w, enum kind kind, int number);
/* Let it go, or kill it. It may have been killed before. */
void worker_stop(struct worker *w);
void worker_kill(struct worker *w);

/* End its session, which worker_open() knows, on the server of the fixture. */
void worker_expire(const struct worker *w);

/* Send a command, without waiting for the answer. */
void worker_tell(struct worker *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The next answer, or NULL when none comes in that time. */
const char *worker_hear(struct worker *w, int timeout_ms);

/* The next answer, which must begin with that. */
void worker_expect(struct worker *w, const char *answer);

/* Send a command; its answer must begin with `answer`. */
void worker_do(struct worker *w, const char *answer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* True when the worker's Curator or kazoo has that version or a later one. */
bool worker_is_since(struct worker *w, int major, int minor);

/* The answers to these set `session`, `node` and `token`. */
void worker_open(struct worker *w, const char *hosts, int session_ms);
void worker_acquire(struct worker *w, const char *mode);
void worker_expect_held(struct worker *w);
