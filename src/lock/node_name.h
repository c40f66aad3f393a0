/* Names of contender nodes, in every dialect: building and parsing. Pure. */
#ifndef ZKR__NODE_NAME_H
#define ZKR__NODE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"

/* The sequence number that the server appends is "%010d" of an int32. */
#define ZKR__SEQ_DIGITS 11
#define ZKR__SEQ_MAX    INT64_C(2147483647)
/* From here on we warn: 2^31 - 2^24. */
#define ZKR__SEQ_WARN (INT64_C(2147483648) - INT64_C(16777216))
/* "_c_" + UUID + "-" + the longest marker, without the sequence number. */
#define ZKR__NAME_MAX 64

enum zkr__layout {
    ZKR__LAYOUT_CURATOR, /* _c_<uuid36>-<marker><seq> */
    ZKR__LAYOUT_KAZOO,   /* <hex32><marker><seq> */
};

/* The name to ask of the server, which appends the sequence number. */
void zkr__node_name_build(char name[ZKR__NAME_MAX], enum zkr__layout layout,
                          const char uuid[ZKR__UUID_LEN + 1],
                          const char *marker);

/* The part of the name that only our attempt has: "_c_<uuid>-" or "<hex32>". */
size_t zkr__node_name_tag_len(enum zkr__layout layout);

/* How a contender wants the lock. */
enum zkr__kind {
    ZKR__FOREIGN, /* not a contender: ignored by locks, shown by tools */
    ZKR__EXCLUSIVE,
    ZKR__SHARED,
};

/* Which endings make a child of a lock path a contender; NULL-terminated. */
struct zkr__markers {
    const char *const *exclusive;
    const char *const *shared;
};

/* What kind of contender `name` is: it must end in a marker and `-?[0-9]+`.
 * Total: every byte string has an answer. Sets the sequence number unless
 * FOREIGN. */
enum zkr__kind zkr__node_name_parse(const char *name,
                                    const struct zkr__markers *markers,
                                    int64_t *ret_seq);

/* Names of clients whose nodes our locks ignore, with the number of the server:
 * "x-<session, hexadecimal>-<10 digits>" of ZooKeeper's own C recipe, and
 * "ex<10 digits>", "sh<10 digits>" of zk-ruby. */
enum zkr__kind zkr__node_name_other(const char *name, const char **ret_marker,
                                    int64_t *ret_seq);

/* It ends in ten digits, as a server appends them. */
bool zkr__node_name_is_numbered(const char *name);

/* The node of an unfair mutex: no marker, no number, no queue. */
#define ZKR__UNFAIR_NAME "holder"

/* All that we know, of whatever recipe and client: for those who look on. */
extern const struct zkr__markers zkr__known_markers;

/* The marker in the name of a contender; NULL when it is none. */
const char *zkr__node_name_marker(const char *name,
                                  const struct zkr__markers *markers);

#endif
