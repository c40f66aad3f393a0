/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a fence: the highest tokens, the rule that accepts a token, and
 * the text form. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zkr__fence_record {
    int64_t highest;   /* highest of all tokens; 0: none yet */
    int64_t exclusive; /* highest of the tokens that were not shared; never
                          above it */
    uint64_t handoff;  /* the highest hand-off count that came with it */
};

/* Accepts a token. Returns false when the token is stale; then nothing changes.
 * A shared token has no hand-off count. */
bool zkr__fence_record_accept(struct zkr__fence_record *record, int64_t token,
                              uint64_t handoff, bool shared);

#define ZKR__FENCE_TEXT_MAX 160

/* Writes one line and returns its length. */
size_t zkr__fence_record_format(const struct zkr__fence_record *record,
                                char text[ZKR__FENCE_TEXT_MAX]);

/* Accepts only text that zkr__fence_record_format() writes. */
bool zkr__fence_record_parse(const char *text, size_t len,
                             struct zkr__fence_record *ret_record);
