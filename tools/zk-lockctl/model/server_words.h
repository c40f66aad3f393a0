/* SPDX-License-Identifier: Apache-2.0 */
/* Understands what servers tell of sessions and watches, with four letter
 * words. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
