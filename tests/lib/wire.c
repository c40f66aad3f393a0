/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as ZooKeeper sends them, and as it writes them to its log. */
#include "wire.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
    CONNECT_SIZE = 45, /* body of a ConnectRequest */
    CLOSE_SIZE = 8,    /* body of a CloseSession: only the header */
    CLOSE_OP = -11,    /* OpCode.closeSession */
};

void put_bytes(struct packet *p, const void *bytes, size_t size)
{
    memcpy(p->bytes + p->size, bytes, size);
    p->size += size;
}

void put_number(struct packet *p, int64_t number, int width)
{
    for (int shift = (width - 1) * 8; shift >= 0; shift -= 8)
        p->bytes[p->size++] = (unsigned char)((uint64_t)number >> shift);
}

void put_text(struct packet *p, const char *text)
{
    put_number(p, (int64_t)strlen(text), 4);
    put_bytes(p, text, strlen(text));
}

void put_connect(struct packet *p, int32_t timeout_ms, int64_t session_id,
                 const char *password)
{
    static const char none[PASSWD_SIZE];

    put_number(p, CONNECT_SIZE, 4);
    put_number(p, 0, 4); /* protocolVersion */
    put_number(p, 0, 8); /* lastZxidSeen */
    put_number(p, timeout_ms, 4);
    put_number(p, session_id, 8);
    put_number(p, PASSWD_SIZE, 4);
    put_bytes(p, password == NULL ? none : password, PASSWD_SIZE);
    put_number(p, 0, 1); /* readOnly */
}

void put_close(struct packet *p)
{
    put_number(p, CLOSE_SIZE, 4);
    put_number(p, 1, 4); /* xid */
    put_number(p, CLOSE_OP, 4);
}

int64_t get_number(const unsigned char *bytes, int width)
{
    uint64_t number = (bytes[0] & 0x80) != 0 ? UINT64_MAX : 0;

    for (int i = 0; i < width; i++)
        number = number << 8 | bytes[i];
    return (int64_t)number;
}

int64_t take_number(struct reading *r, int width)
{
    bool is_there = r->size - r->at >= (size_t)width;
    const unsigned char *bytes = take_bytes(r, width);

    return is_there ? get_number(bytes, width) : 0;
}

const unsigned char *take_bytes(struct reading *r, int64_t size)
{
    const unsigned char *bytes = r->bytes + r->at;
    size_t left = r->size - r->at;

    if (size > 0)
        r->at += (size_t)size < left ? (size_t)size : left;
    return bytes;
}

void take_text(struct reading *r, char *text, size_t size)
{
    const char *begin = (const char *)take_bytes(r, take_number(r, 4));
    const char *end = (const char *)r->bytes + r->at;

    (void)snprintf(text, size, "%.*s", (int)(end - begin), begin);
}

uint32_t log_checksum(const unsigned char *bytes, size_t size)
{
    uint32_t low = 1;
    uint32_t high = 0;

    for (size_t i = 0; i < size; i++) {
        low = (low + bytes[i]) % 65521;
        high = (high + low) % 65521;
    }
    return high << 16 | low;
}
