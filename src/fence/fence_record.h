/* What a fence remembers, the rule by which it accepts, and its text. Pure. */
#ifndef ZKR__FENCE_RECORD_H
#define ZKR__FENCE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zkr__fence_record {
    int64_t highest;   /* of all tokens; 0: none yet */
    int64_t exclusive; /* of those that were not shared; never higher */
};

/* False: the token is stale, and nothing changes. */
bool zkr__fence_record_accept(struct zkr__fence_record *record, int64_t token,
                              bool shared);

#define ZKR__FENCE_TEXT_MAX 128

/* One line; returns its length. */
size_t zkr__fence_record_format(const struct zkr__fence_record *record,
                                char text[ZKR__FENCE_TEXT_MAX]);

/* Only what zkr__fence_record_format() writes is taken. */
bool zkr__fence_record_parse(const char *text, size_t len,
                             struct zkr__fence_record *ret_record);

#endif
