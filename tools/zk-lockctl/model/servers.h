/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the servers about sessions and watches, with four letter words. */
#ifndef MODEL_SERVERS_H
#define MODEL_SERVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/lockctl.h"
#include "common/notes.h"

/* The words that are sent: */
enum {
    SERVERS_CONS = 1u << 0, /* who is connected, from where */
    SERVERS_DUMP = 1u << 1, /* which sessions live */
    SERVERS_WCHP = 1u << 2, /* who watches what */
};

enum answer {
    ANSWER_UNKNOWN, /* the servers do not tell */
    ANSWER_NO,
    ANSWER_YES,
};

struct client {
    int64_t session_id;
    uint32_t timeout_ms; /* of the session */
    char address[72];    /* as the server wrote it */
    char server[72];     /* which it is connected to */
};

struct servers;

/* Ask every server of --servers, all at once, each for as long as --timeout. It
 * keeps the watches on children of `lock`. Where a server does not tell, or the
 * ensemble has servers that are not in that list, there is a note, and the
 * answers are ANSWER_UNKNOWN. NULL: out of memory. */
struct servers *servers_ask(const struct lockctl *ctl, unsigned words,
                            const char *lock, struct notes *notes);
void servers_free(struct servers *servers);

/* The client that has that session; NULL: not known. */
const struct client *servers_client(const struct servers *servers,
                                    int64_t session_id);
enum answer servers_session_lives(const struct servers *servers,
                                  int64_t session_id);
/* The n-th child of the lock that the session watches; NULL when there are no
 * more. */
const char *servers_watched(const struct servers *servers, int64_t session_id,
                            size_t n);
/* Tells whether every server of the ensemble has answered that word. Only then
 * a session without a client is connected to none. */
bool servers_know_all(const struct servers *servers, unsigned word);

/* For tests: one answer to a word, as if a server had given it. Any bytes. */
struct servers *servers_new(const char *directory);
bool servers_read(struct servers *servers, unsigned word, const char *server,
                  const char *text, size_t size);

#endif
