/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as ZooKeeper sends them, and as it writes them to its log. */
#include "wire.h"

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
