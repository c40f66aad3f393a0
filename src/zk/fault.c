/* SPDX-License-Identifier: Apache-2.0 */
/* Faults: what a line of the client's log says of a server. */
#include "zk/fault.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HANDSHAKE "error in ssl connect"

/* The first that a line has. */
static const struct {
    const char *mark;
    enum zkr_cause cause;
} marks[] = {
    { HANDSHAKE ": certificate has expired", ZKR_CAUSE_CERTIFICATE_EXPIRED },
    { HANDSHAKE ": hostname mismatch", ZKR_CAUSE_CERTIFICATE_HOST },
    { HANDSHAKE ": IP address mismatch", ZKR_CAUSE_CERTIFICATE_HOST },
    { HANDSHAKE " (after", ZKR_CAUSE_SILENT },
    { HANDSHAKE, ZKR_CAUSE_TLS },
    { "SASL authentication failed", ZKR_CAUSE_CREDENTIALS },
    { "the login is refused", ZKR_CAUSE_CREDENTIALS },
    { " failed. Connection closed", ZKR_CAUSE_CREDENTIALS },
    { "getaddrinfo: ", ZKR_CAUSE_NAME },
    { "could not resolve ", ZKR_CAUSE_NAME },
};

/* "Socket 127.0.0.1:2181 zk retcode=-4, errno=111(Connection refused): ..." */
static enum zkr_cause cause_of_errno(const char *line)
{
    const char *number = strstr(line, ", errno=");

    if (number == NULL)
        return ZKR_CAUSE_NONE;
    switch (atoi(number + strlen(", errno="))) {
    case ECONNREFUSED:
        return ZKR_CAUSE_REFUSED;
    case ETIMEDOUT:
        return ZKR_CAUSE_SILENT;
    case ESTALE:
        return ZKR_CAUSE_EXPIRED;
    case EHOSTDOWN: /* the client's word for an end of file */
    case ECONNRESET:
    case EPIPE:
        return ZKR_CAUSE_HUNG_UP;
    default:
        return ZKR_CAUSE_UNREACHABLE;
    }
}

static enum zkr_cause cause_of(const char *line)
{
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (strstr(line, marks[i].mark) != NULL)
            return marks[i].cause;
    }
    return cause_of_errno(line);
}

/* Copies what stands between the two marks, as far as it is there. */
static void copy(char *to, size_t size, const char *line, const char *before,
                 const char *behind)
{
    const char *from = strstr(line, before);

    if (from == NULL)
        return;
    from += strlen(before);
    const char *end = strstr(from, behind);
    (void)snprintf(to, size, "%.*s",
                   (int)(end != NULL ? (size_t)(end - from) : strlen(from)),
                   from);
}

bool zkr__fault_read(const char *line, struct zkr__zk_fault *fault)
{
    copy(fault->server, sizeof(fault->server), line,
         "nitiated connection to server ", "\n");
    fault->cause = cause_of(line);
    if (fault->cause == ZKR_CAUSE_NONE)
        return false;
    copy(fault->server, sizeof(fault->server), line, ": Socket ",
         " zk retcode=");
    fault->text[0] = '\0';
    if (fault->cause == ZKR_CAUSE_TLS)
        copy(fault->text, sizeof(fault->text), line, HANDSHAKE ": ", "\n");
    else if (fault->cause == ZKR_CAUSE_UNREACHABLE)
        copy(fault->text, sizeof(fault->text), strstr(line, ", errno="), "(",
             "): ");
    return true;
}
