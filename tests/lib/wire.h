/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as ZooKeeper sends them, and as it writes them to its log: numbers in
 * network order, and the checksum of a record. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { PASSWD_SIZE = 16 };

/* Bytes under construction. Room is not checked. */
struct packet {
    unsigned char bytes[1024];
    size_t size;
};

void put_bytes(struct packet *p, const void *bytes, size_t size);
void put_number(struct packet *p, int64_t number, int width);
/* With its length before it. */
void put_text(struct packet *p, const char *text);
/* A ConnectRequest for that session, with its length; 0 and NULL: a new one. */
void put_connect(struct packet *p, int32_t timeout_ms, int64_t session_id,
                 const char *password);
/* The end of the session. */
void put_close(struct packet *p);

/* The sign is extended. */
int64_t get_number(const unsigned char *bytes, int width);

/* Bytes as they are read; what is not there reads as nothing. */
struct reading {
    const unsigned char *bytes;
    size_t size;
    size_t at;
};

int64_t take_number(struct reading *r, int width);
/* Skips so many, or all that are left; returns where they begin. */
const unsigned char *take_bytes(struct reading *r, int64_t size);
/* With its length before it. It is cut at `size`. */
void take_text(struct reading *r, char *text, size_t size);

/* Source: RFC 1950, 8.2. */
uint32_t log_checksum(const unsigned char *bytes, size_t size);
