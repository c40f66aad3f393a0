/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the session and the mutex that the tests use; the fake client grants
 * it. */
#include "opened.h"

#include "unit.h"

zkr_session *open_session(uint32_t flags)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    zkr_session *s = NULL;

    opts.flags = flags;
    assert_int_equal(zkr_session_open("127.0.0.1:2181", &opts, &s), ZKR_OK);
    return s;
}

zkr_mutex *new_mutex(zkr_session *s)
{
    zkr_mutex *m = NULL;

    assert_int_equal(zkr_mutex_new(s, "/lock", NULL, &m), ZKR_OK);
    return m;
}
