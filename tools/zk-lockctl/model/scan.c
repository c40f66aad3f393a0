/* SPDX-License-Identifier: Apache-2.0 */
/* Looks one time at all locks below some paths: a mirror without watches. */
#include "model/scan.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/lockctl.h"
#include "common/now.h"
#include "model/mirror.h"

enum { LIMIT = 10000 };

int locks_list(const struct lockctl *ctl, const char *const *paths,
               size_t count, bool below, const struct scan_opts *opts,
               struct scan *ret_scan, char detail[SCAN_DETAIL_MAX])
{
    struct mirror_opts o = {
        .session = ctl->session,
        .paths = paths,
        .path_count = count,
        .chroot_len = lockctl_chroot_len(ctl),
        .below = below,
        .once = true,
        .look = *opts,
    };
    int64_t began_ms = clock_wall_ms();
    struct mirror *m = NULL;
    int rc;

    if (o.look.limit == 0)
        o.look.limit = LIMIT;
    rc = mirror_start(&o, &m);
    if (rc == ZKR_OK)
        rc = mirror_wait(m, detail);
    else
        (void)snprintf(detail, SCAN_DETAIL_MAX, "%s", zkr_error_detail());
    if (rc == ZKR_OK)
        rc = mirror_scan(m, ret_scan);
    if (rc == ZKR_OK)
        ret_scan->began_ms = began_ms;
    mirror_end(m);
    return rc;
}

int scan_below(const struct lockctl *ctl, const char *const *paths,
               size_t count, const struct scan_opts *opts,
               struct scan *ret_scan)
{
    char detail[SCAN_DETAIL_MAX];
    int rc = locks_list(ctl, paths, count, true, opts, ret_scan, detail);

    return rc == ZKR_OK ? 0 : lockctl_fail_error(rc, detail);
}

int scan_some(const struct lockctl *ctl, const struct scan *of,
              const bool *wanted, const struct scan_opts *opts,
              struct scan *ret_scan)
{
    const char **paths = calloc(of->count + 1, sizeof(*paths));
    char detail[SCAN_DETAIL_MAX] = "";
    size_t n = 0;
    int rc = ZKR_ENOMEM;

    for (size_t i = 0; paths != NULL && i < of->count; i++) {
        if (wanted[i])
            paths[n++] = of->locks[i].path;
    }
    if (paths != NULL)
        rc = locks_list(ctl, paths, n, false, opts, ret_scan, detail);
    free(paths);
    return rc == ZKR_OK ? 0 : lockctl_fail_error(rc, detail);
}

int scan_code(const struct scan *scan, int code)
{
    if (code != 0 || scan->count > 0 || scan->denied == 0)
        return code;
    return lockctl_fail(EX_NOPERM,
                        "no locks seen, but some nodes may not be read");
}

void scan_done(struct scan *scan)
{
    for (size_t i = 0; i < scan->count; i++)
        lock_done(&scan->locks[i]);
    free(scan->locks);
    notes_done(&scan->notes);
    *scan = (struct scan){ .locks = NULL };
}
