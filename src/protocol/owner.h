/* SPDX-License-Identifier: Apache-2.0 */
/* The owner of a node: the record that we write into our nodes, one line of
 * JSON that says who we are, and what the data of any node says of its owner.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZKR__OWNER_MAX 512

/* Tells whether the owner of a node is a session: the node is neither a
 * container nor one with a time to live. */
bool zkr__owner_is_session(int64_t owner);

/* --- a request for the lock --- */

/* Curator replaces the record by this text to ask for the lock. Nodes of
 * zkrecipes may have a reason behind it, which no other client takes for a
 * request. */
#define ZKR__REVOKE_MESSAGE "__REVOKE__"
#define ZKR__REVOKE_BECAUSE ZKR__REVOKE_MESSAGE ": "

#define ZKR__REVOKE_REASON_MAX 128

bool zkr__owner_is_asked(const char *data, size_t size);

/* --- to write --- */

#define ZKR__START_MAX 32

struct zkr__thread_id;

struct zkr__owner {
    const char *start; /* from zkr__owner_start() */
    const char *label; /* NULL: none */
    uint32_t limit;    /* how many may hold it at once; 0: it is not told */
    const char *claim; /* what tells it from our other records; NULL: nothing */
    int64_t within;    /* the session around ours; 0: none */
    const struct zkr__thread_id *thread; /* is the owner; NULL: none is named */
};

/* Writes when this process started, by the wall clock, to the nearest second,
 * in RFC 3339: with it, a process id means one process only. It reads a file;
 * and the records of a session are to agree when the clock is set. So it is
 * called once for a session. */
void zkr__owner_start(char text[ZKR__START_MAX]);

/* Fill `data` with a record and return its length. ZKR_ENOMEM is the only
 * error. */
int zkr__owner_write(const struct zkr__owner *owner,
                     char data[ZKR__OWNER_MAX + 1], size_t *ret_len);

/* --- to read --- */

/* The length of a record, with some room for later versions. */
#define ZKR__OWNER_READ_MAX 1024

#define ZKR__OWNER_SAID_MAX 100

/* The owner that the data of a node tells of. The client that wrote the node
 * chose all text: it is not proven, and not escaped. */
struct zkr__known_owner {
    bool is_record; /* the fields are those of our record; else only the data */
    bool is_asked;  /* the data is the request to give the lock back, or the
                       record tells of one */
    char host[256];
    char thread[64];
    char program[128];
    char label[160];
    char library[64];
    char start[40];
    int64_t pid;
    int64_t tid;
    int64_t limit;  /* of the semaphore, as that client has it; 0: not said */
    int64_t within; /* the session around its own, which waits for its end */
    char said[ZKR__OWNER_SAID_MAX]; /* the data that a request has replaced, if
                                       the reader has seen it */
    size_t said_size;
    char reason[ZKR__REVOKE_REASON_MAX + 1]; /* of the request; "": none */
};

/* Reads the data of a node, which may be any bytes. */
void zkr__owner_read(struct zkr__known_owner *owner, const char *data,
                     size_t size);
