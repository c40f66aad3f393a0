/* SPDX-License-Identifier: Apache-2.0 */
/* Reads who made a node from its data: our record, or the text of others.
 * Pure. */
#ifndef MODEL_OWNER_H
#define MODEL_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OWNER_SAID_MAX = 100 };

/* The length of the library's record, with some room for later versions. */
enum { OWNER_RECORD_MAX = 1024 };

/* The end of a record that was written again after the request to give the lock
 * back had replaced it. */
#define OWNER_ASKED ",\"asked\":true}"

/* The program of a record whose label ends with the process id of a shell: the
 * process that keeps a lock for it. */
#define OWNER_HOLD "zk-lockctl hold"

/* The client that wrote the node chose all text: it is not proven, and not
 * escaped. */
struct owner {
    bool is_record; /* the fields are those of our record; else only `text` */
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
    char said[OWNER_SAID_MAX]; /* of a request: what data was there before, */
    size_t said_size;          /* ... if that was seen */
};

/* Reads the data of a node, which may be any bytes. */
void owner_read(struct owner *owner, const char *data, size_t size);

/* For a line of a table: "host:pid/tid program", or the data of others, also
 * that which the request has replaced; escaped, cut with "...". "" when nothing
 * is said. */
void owner_word(const struct owner *owner, const char *data, size_t size,
                char *word, size_t word_size);

#endif
