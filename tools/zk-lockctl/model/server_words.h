/* SPDX-License-Identifier: Apache-2.0 */
/* Understands what servers tell of sessions and watches, with four letter
 * words, and what that means for the contenders of a lock: where they are
 * connected from, whether their sessions live, and whether they will wake up.
 * Pure. */
#pragma once

#include "model/lock_state.h"

/* The words: */
enum {
    SERVERS_CONS = 1u << 0, /* who is connected, from where */
    SERVERS_DUMP = 1u << 1, /* which sessions live */
    SERVERS_WCHP = 1u << 2, /* who watches what */
    SERVERS_MNTR = 1u << 3, /* what each of them is */
    SERVERS_WORDS = 4,
};

enum answer {
    ANSWER_UNKNOWN, /* the servers do not tell */
    ANSWER_NO,
    ANSWER_YES,
};

struct client {
    int64_t session_id; /* first: they are found by it */
    int64_t timeout_ms; /* of the session */
    int64_t since_ms;   /* when it connected, by the clock of the server; 0:
                           not told */
    char address[72];   /* as the server wrote it */
    char server[72];    /* which it is connected to */
};

struct servers;

/* Without an answer yet; the watches are those below `directory`, "" or the
 * path of a lock, which is below `chroot` ("": none). NULL: out of memory. */
struct servers *servers_new(const char *chroot, const char *directory);
void servers_free(struct servers *servers);

/* Take the answer of one server to a word: any bytes, a NUL ends it. False: out
 * of memory. */
bool servers_read(struct servers *servers, unsigned word, const char *server,
                  const char *text, size_t size);
/* Some server of the ensemble has not answered these words. */
void servers_lack(struct servers *servers, unsigned words);

/* The client that has that session; NULL: not known. */
const struct client *servers_client(const struct servers *servers,
                                    int64_t session_id);
enum answer servers_session_lives(const struct servers *servers,
                                  int64_t session_id);
/* A server that lets observers connect to it instead of to the leader
 * (observerMasterPort), as far as the servers have answered SERVERS_MNTR; or
 * NULL. */
const char *servers_observer_master(const struct servers *servers);
/* The session watches the node of that path, which is without the chroot; NULL:
 * any. */
bool servers_watches(const struct servers *servers, int64_t session_id,
                     const char *path);
/* Tells whether every server of the ensemble has answered that word, or, of
 * several, any of them. Only then a session without a client is connected to
 * none. */
bool servers_know_all(const struct servers *servers, unsigned words);
/* Two names are of one server: both tell of the same connection. */
bool servers_tell_twice(const struct servers *servers);

/* Tells whether a waiter wakes up when a contender before it goes. It does when
 * its session watches a contender before it; its own node does not count.
 * Servers do not report which thread of a session watches: where several of
 * them wait, the contender that an exclusive waiter waits for must be watched
 * itself. The answer is unknown where that one may not be read: then clients
 * with this library list again by a timer. It is unknown of one who wants a
 * permit of a semaphore, because that watches for children, and servers tell of
 * watches on data only. `servers` may be NULL. */
enum answer servers_wake(const struct servers *servers, const struct lock *lock,
                         const struct contender *c);

/* What a waiter, known by its token, will do when its turn comes. */
struct wake {
    int64_t token;
    enum answer answer; /* by the last look */
    bool was_deaf;      /* by the look before: no */
};

struct told {
    struct servers *servers; /* NULL: not asked */
    struct wake *wakes;      /* of all waiters, by token */
    size_t count;
    size_t deaf; /* of them: so many would not wake up */
};

/* Takes the servers, which were asked about that lock just after it was listed;
 * NULL: they were not. The lock is not kept. False: out of memory. */
bool told_take(struct told *told, const struct lock *lock,
               struct servers *servers);
void told_done(struct told *told);

/* NULL: not known. */
const struct client *told_client(const struct told *told,
                                 const struct contender *c);
enum answer told_lives(const struct told *told, const struct contender *c);
/* The queue and its watches are not read in one moment, so the answer is no
 * only when it was no two times running. */
enum answer told_wakes(const struct told *told, const struct contender *c);
