/* SPDX-License-Identifier: Apache-2.0 */
/* Just as much of HTTP as etcd's gateway answers with. */
#include "http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool send_request(struct wire *wire, const char *path, const char *json,
                         int64_t deadline_ms)
{
    char request[1024];
    int len = snprintf(request, sizeof(request),
                       "POST %s HTTP/1.1\r\nHost: %s:%d\r\n"
                       "Content-Type: application/json\r\n"
                       "Content-Length: %zu\r\n\r\n%s",
                       path, wire->host, wire->port, strlen(json), json);

    return len > 0 && (size_t)len < sizeof(request) &&
           wire_send(wire, request, (size_t)len, deadline_ms);
}

static bool read_chunks(struct wire *wire, char *body, int64_t deadline_ms)
{
    size_t used = 0;

    for (;;) {
        const char *line = wire_line(wire, deadline_ms);
        size_t len = line != NULL ? strtoul(line, NULL, 16) : HTTP_BODY_SIZE;

        if (len >= HTTP_BODY_SIZE - used)
            return false;
        if (len == 0)
            break;
        if (!wire_bytes(wire, body + used, len, deadline_ms) ||
            wire_line(wire, deadline_ms) == NULL)
            return false;
        used += len;
    }
    body[used] = '\0';
    for (;;) { /* trailers, and the empty line */
        const char *line = wire_line(wire, deadline_ms);

        if (line == NULL || line[0] == '\0')
            return line != NULL;
    }
}

/* The length of the body; -1: it comes in chunks; -2: there is no answer. */
static long read_headers(struct wire *wire, int64_t deadline_ms)
{
    long length = -1;

    for (;;) {
        const char *line = wire_line(wire, deadline_ms);

        if (line == NULL)
            return -2;
        if (line[0] == '\0')
            return length;
        if (strncasecmp(line, "Content-Length:", 15) == 0)
            length = strtol(line + 15, NULL, 10);
    }
}

static bool read_body(struct wire *wire, char *body, int64_t deadline_ms)
{
    long length = read_headers(wire, deadline_ms);

    if (length == -1)
        return read_chunks(wire, body, deadline_ms);
    if (length < 0 || length >= HTTP_BODY_SIZE)
        return false;
    body[length] = '\0';
    return wire_bytes(wire, body, (size_t)length, deadline_ms);
}

int http_post(struct wire *wire, const char *path, const char *json,
              char body[HTTP_BODY_SIZE], int64_t deadline_ms)
{
    int status = 0;

    if (!send_request(wire, path, json, deadline_ms))
        return 0;
    const char *line = wire_line(wire, deadline_ms);
    if (line == NULL || sscanf(line, "HTTP/1.1 %d", &status) != 1 ||
        !read_body(wire, body, deadline_ms)) {
        wire_drop(wire);
        return 0;
    }
    return status;
}
