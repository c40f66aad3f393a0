/* SPDX-License-Identifier: Apache-2.0 */
/* Reads access control lists from text. */
#include "zk/acl.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static int parse_perms(const char *text, int32_t *ret_perms)
{
    static const char letters[] = "rwcda";
    int32_t perms = 0;

    for (const char *p = text; *p != '\0'; p++) {
        const char *letter = strchr(letters, *p);

        if (letter == NULL)
            return ZKR_EINVAL;
        perms |= INT32_C(1) << (letter - letters);
    }
    *ret_perms = perms;
    return perms == 0 ? ZKR_EINVAL : ZKR_OK;
}

static int parse_entry(char *text, struct zkr__acl_entry *entry)
{
    char *id = strchr(text, ':');
    char *perms = strrchr(text, ':');

    if (id == NULL || id == perms || id == text)
        return ZKR_EINVAL;
    *id++ = '\0';
    *perms++ = '\0';
    entry->scheme = text;
    entry->id = id;
    return parse_perms(perms, &entry->perms);
}

int zkr__acl_parse(struct zkr__acl *acl, const char *text)
{
    size_t commas = 0;
    char *next;

    for (const char *p = text; *p != '\0'; p++)
        commas += *p == ',';
    *acl = (struct zkr__acl){ 0 };
    acl->text = strdup(text);
    acl->entries = calloc(commas + 1, sizeof(*acl->entries));
    if (acl->text == NULL || acl->entries == NULL) {
        zkr__acl_done(acl);
        return zkr__no_memory("acl", NULL);
    }

    for (char *entry = acl->text; entry != NULL; entry = next) {
        next = strchr(entry, ',');
        if (next != NULL)
            *next++ = '\0';
        if (parse_entry(entry, &acl->entries[acl->count++]) != ZKR_OK) {
            size_t entry_number = acl->count;

            zkr__acl_done(acl);
            return zkr__fail(ZKR_EINVAL,
                             "acl: entry %zu is not scheme:id:perms with perms "
                             "of the letters cdrwa",
                             entry_number);
        }
    }
    return ZKR_OK;
}

void zkr__acl_done(struct zkr__acl *acl)
{
    free(acl->text);
    free(acl->entries);
    *acl = (struct zkr__acl){ 0 };
}
