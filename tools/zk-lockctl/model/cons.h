/* SPDX-License-Identifier: Apache-2.0 */
/* Asks every server of --servers who is connected to it (the four letter word
 * cons): where the client of a session is, and whether there is one. */
#pragma once

#include "common/lockctl.h"

struct client {
    int64_t session_id; /* first: they are found by it */
    int64_t timeout_ms; /* of the session */
    int64_t since_ms;   /* when it connected, by the clock of the server; 0:
                           not told */
    char address[72];   /* as the server wrote it */
    char server[72];    /* which it is connected to */
};

struct servers {
    struct client *items; /* by session */
    size_t count;
    size_t silent; /* so many servers were asked and did not answer */
    bool whole; /* every server of the ensemble has answered: a session without
                   a client is connected to none */
};

/* Asks all at once, each for two seconds, or for as long as --timeout. Where a
 * server does not tell, or the ensemble has servers that are not in that list,
 * there is a note. */
struct servers *servers_ask(const struct lockctl *ctl, struct notes *notes);
void servers_free(struct servers *servers);

/* Takes the answer of one server: any bytes, a NUL ends it. */
void servers_read(struct servers *servers, const char *server, const char *text,
                  size_t size);
/* Two names are of one server: both tell of the same connection. */
bool servers_tell_twice(const struct servers *servers);

/* The client that has that session; NULL: not known. `servers` may be NULL. */
const struct client *servers_client(const struct servers *servers,
                                    int64_t session_id);
/* Its client is connected to none of the servers, and each was asked. */
bool servers_lack(const struct servers *servers, int64_t session_id);
