/* SPDX-License-Identifier: Apache-2.0 */
/* Node names: builds and parses the names of contenders, in every layout.
 * Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"
#include "protocol/markers.h"

/* The sequence number that the server appends is "%010d" of an int32. */
#define ZKR__SEQ_DIGITS 11
#define ZKR__SEQ_MAX    INT64_C(2147483647)
/* Claims with a number from this one on, 2^31 - 2^24, log a warning. */
#define ZKR__SEQ_WARN (INT64_C(2147483648) - INT64_C(16777216))
/* "_c_" + UUID + "-" + the longest marker, without the sequence number. */
#define ZKR__NAME_MAX 64
/* The same with the number, and the '\0'. */
#define ZKR__NODE_MAX (ZKR__NAME_MAX + ZKR__SEQ_DIGITS)

/* The name to ask of the server, which appends the sequence number: of the
 * layout of Curator or of kazoo. */
void zkr__node_name_build(char name[ZKR__NAME_MAX], enum zkr__layout layout,
                          const char uuid[ZKR__UUID_LEN + 1],
                          enum zkr__marker marker);

/* The part of the name that only our attempt has: "_c_<uuid>-" or "<hex32>". */
size_t zkr__node_name_tag_len(enum zkr__layout layout);

/* Returns the marker of the set `markers` that makes `name` a contender,
 * written in the layout of that marker, or NULL when none does. Total: every
 * byte string has an answer. Sets the sequence number (0 of an unfair holder)
 * when it returns a marker.
 *
 * The number is `-?[0-9]+` in the layouts of Curator and kazoo, and ten digits
 * in those of others. A session is written in hexadecimal by the recipe in C,
 * and in decimal by the one in Java. */
const struct zkr__marker_row *
zkr__node_name_marker(const char *name, uint32_t markers, int64_t *ret_seq);

/* Tells whether there is one. */
bool zkr__node_name_contends(const char *name, uint32_t markers);

/* The kind of that marker; ZKR__FOREIGN without one. */
enum zkr__kind zkr__node_name_parse(const char *name, uint32_t markers,
                                    int64_t *ret_seq);

/* Tells whether it ends in ten digits, as a server appends them: such a name is
 * not used twice in a directory. */
bool zkr__node_name_is_numbered(const char *name);

/* Forms of names: 'h' stands for a lower-case hexadecimal digit. */
#define ZKR__FORM_HEX8 "hhhhhhhh"
#define ZKR__FORM_HEX32                                                        \
    ZKR__FORM_HEX8 ZKR__FORM_HEX8 ZKR__FORM_HEX8 ZKR__FORM_HEX8
#define ZKR__FORM_UUID ZKR__FORM_HEX8 "-hhhh-hhhh-hhhh-hhhhhhhhhhhh"

/* Returns what is behind the part that has that form, or NULL. */
const char *zkr__node_name_skip(const char *name, const char *form);

/* Tells whether it is a UUID and nothing else: the members of a double barrier
 * have such names. */
bool zkr__node_name_is_uuid(const char *name);
