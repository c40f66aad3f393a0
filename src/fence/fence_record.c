/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a fence: the rule that accepts a token, and its text. Pure. */
#include "fence/fence_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool zkr__fence_record_accept(struct zkr__fence_record *record, int64_t token,
                              uint64_t handoff, bool shared)
{
    if (token < (shared ? record->exclusive : record->highest))
        return false;
    if (!shared && token == record->exclusive && handoff < record->handoff)
        return false;
    if (token > record->highest)
        record->highest = token;
    if (!shared) {
        record->exclusive = token;
        record->handoff = handoff;
    }
    return true;
}

/* CRC-32 of IEEE 802.3, as of zlib and crc32(1). */
static uint32_t crc32(const char *text, size_t len)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < len; i++) {
        crc ^= (unsigned char)text[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (UINT32_C(0xedb88320) & -(crc & 1));
    }
    return ~crc;
}

/* Version 1 has no hand-off count. */
size_t zkr__fence_record_format(const struct zkr__fence_record *record,
                                char text[ZKR__FENCE_TEXT_MAX])
{
    int len = snprintf(
        text, ZKR__FENCE_TEXT_MAX,
        "zkrecipes fence %d, highest %" PRId64 ", exclusive %" PRId64,
        record->handoff == 0 ? 1 : 2, record->highest, record->exclusive);

    if (record->handoff != 0)
        len += snprintf(text + len, ZKR__FENCE_TEXT_MAX - (size_t)len,
                        ", handoff %" PRIu64, record->handoff);
    len += snprintf(text + len, ZKR__FENCE_TEXT_MAX - (size_t)len,
                    ", crc32 %08" PRIx32 "\n", crc32(text, (size_t)len));
    return (size_t)len;
}

bool zkr__fence_record_parse(const char *text, size_t len,
                             struct zkr__fence_record *ret_record)
{
    struct zkr__fence_record record = { .handoff = 0 };
    int version;
    char copy[ZKR__FENCE_TEXT_MAX];
    char again[ZKR__FENCE_TEXT_MAX];

    if (len >= sizeof(copy))
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    if (sscanf(copy,
               "zkrecipes fence %d, highest %" SCNd64 ", exclusive %" SCNd64
               ", handoff %" SCNu64,
               &version, &record.highest, &record.exclusive,
               &record.handoff) < 3 ||
        record.exclusive < 0 || record.highest < record.exclusive)
        return false;
    if (zkr__fence_record_format(&record, again) != len ||
        memcmp(again, text, len) != 0)
        return false;
    *ret_record = record;
    return true;
}
