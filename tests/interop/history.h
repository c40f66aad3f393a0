/* What a server did to the nodes of a lock, from its own transaction log: the
 * opinion of nobody's client. */
#ifndef INTEROP_HISTORY_H
#define INTEROP_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "server.h"

struct life {
    char name[96]; /* of the node, without the directory */
    int64_t owner; /* session; 0: not ephemeral */
    int64_t begin; /* zxid of its creation: its czxid */
    int64_t end;   /* zxid of its deletion, or of the end of its session;
                      INT64_MAX: it is still there */
};

/* The lives of all children that the directory has had, in the order of their
 * creation, to be freed; NULL when the log cannot be read. */
struct life *history_read(const struct server *s, const char *directory,
                          size_t *ret_count);

#endif
