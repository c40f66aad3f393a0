/* SPDX-License-Identifier: Apache-2.0 */
/* Finds directories of locks that everybody may change, or that nobody uses. */
#include "model/doctor_parts.h"

#include <stdio.h>

/* Only when it was asked for: with the default ACL of ZooKeeper every directory
 * is open to all. */
static void check_acl(struct findings *f, const struct lock *lock)
{
    static const struct {
        uint32_t permission;
        const char *what;
    } harm[] = {
        { ZKR_PERMISSION_DELETE, ", delete the nodes of others" },
        { ZKR_PERMISSION_WRITE, ", write data into it" },
        { ZKR_PERMISSION_ADMIN, ", change who may" },
    };
    uint32_t anyone = lock->list == NULL ? 0 : lock->list->anyone;
    char all[128] = "";
    size_t used = 0;

    for (size_t i = 0; i < sizeof(harm) / sizeof(harm[0]); i++) {
        if ((anyone & harm[i].permission) != 0)
            used += (size_t)snprintf(all + used, sizeof(all) - used, "%s",
                                     harm[i].what);
    }
    if (used > 0)
        findings_add(
            f, "open-acl", lock, NULL, finding_text("everybody may%s", all + 1),
            finding_text(
                "give the directory an ACL of its users; make new ones with "
                "the acl option of their sessions"));
}

/* Clients cannot see whether a directory is a container. But a container whose
 * children have gone goes soon, so one that is still there later, and
 * unchanged, is no container. */
static void check_empty(struct findings *f, const struct lock *lock)
{
    size_t count = f->count;

    if (lock->error != ZKR_OK || lock->total > 0 || lock->pzxid == 0)
        return;
    findings_add(
        f, "empty-directory", lock, NULL,
        finding_text(
            "its last child has gone and it stays, so it is no container: a "
            "lock that nobody uses, or something else"),
        finding_text(
            "delete it by hand if nothing needs it; use clients that make "
            "containers"));
    if (f->count > count)
        f->items[count].pzxid = lock->pzxid;
}

void doctor_look_at_directory(struct findings *f, const struct lock *lock,
                              bool empty)
{
    check_acl(f, lock);
    if (empty)
        check_empty(f, lock);
}
