/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the state of all locks again and again. */
#include "model/looker.h"

#include "common/escape.h"
#include "common/now.h"
#include "model/mirror.h"

enum {
    RETRY_MS = 20,  /* to see whether all locks are known */
    PAUSE_MS = 100, /* between two lists of a lock */
    READ_MAX = 1000 /* of the nodes of a lock; the others are counted */
};

/* Directories of locks come and go with them. */
static void note_missing(const char *root, struct look_result *ret)
{
    char path[256];

    if (ret->error == ZKR_OK && ret->scan.missing)
        notes_add(&ret->scan.notes, "%s does not exist",
                  escape_string(root, path, sizeof(path)));
}

/* --- when --- */

int64_t looker_wait_ms(const struct looker *l)
{
    int64_t left = l->due_ms - clock_now_ms();

    return left > RETRY_MS ? left : RETRY_MS;
}

void looker_now(struct looker *l)
{
    l->due_ms = clock_now_ms() + 2 * PAUSE_MS;
}

/* --- one look --- */

static int start_mirror(struct looker *l)
{
    struct mirror_opts opts = { .ctl = l->ctl,
                                .paths = &l->root,
                                .path_count = 1,
                                .below = true,
                                .look.barriers = true,
                                .look.reads = READ_MAX,
                                .pause_ms = PAUSE_MS };

    return mirror_start(&opts, &l->mirror);
}

bool looker_take(struct looker *l, struct look_result *ret)
{
    int64_t now_ms = clock_now_ms();

    if (now_ms < l->due_ms || !lockctl_is_connected(l->ctl))
        return false;
    *ret = (struct look_result){ .error = ZKR_OK };
    if (l->began_ms == 0)
        l->began_ms = now_ms;
    if (l->mirror == NULL)
        ret->error = start_mirror(l);
    if (ret->error == ZKR_OK) {
        if (!mirror_is_ready(l->mirror, l->ctl->timeout_ms, &ret->error,
                             ret->detail))
            return false;
        (void)mirror_tick(l->mirror);
    }
    if (ret->error == ZKR_OK)
        ret->error = mirror_scan(l->mirror, &ret->scan);
    note_missing(l->root, ret);
    now_ms = clock_now_ms();
    ret->took_ms = now_ms - l->began_ms;
    l->began_ms = 0;
    l->due_ms = now_ms + l->interval_ms;
    return true;
}
