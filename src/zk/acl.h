/* SPDX-License-Identifier: Apache-2.0 */
/* Reads access control lists from text. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct zkr__acl_entry {
    int32_t perms; /* bits as on the wire: r 1, w 2, c 4, d 8, a 16 */
    char *scheme;  /* points into the text, as id does */
    char *id;
};

struct zkr__acl {
    char *text;
    struct zkr__acl_entry *entries;
    size_t count;
};

/* "scheme:id:perms[,scheme:id:perms...]"; the id may contain colons. */
int zkr__acl_parse(struct zkr__acl *acl, const char *text);

void zkr__acl_done(struct zkr__acl *acl);
