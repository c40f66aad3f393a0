/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of base/process.c, and of what a child may do with the objects of
 * its parent when both have one process id. Each test runs in a new process,
 * because the number is given once. */
#include "unit.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/process.h"
#include "client.h"

enum { NO_NAMESPACE = 77, HANGS_S = 60 };

static bool without_page; /* as on an old kernel */
WRAP(int, madvise, (void *p, size_t size, int advice))
{
    if (without_page && advice == MADV_WIPEONFORK) {
        errno = EINVAL;
        return -1;
    }
    return __real_madvise(p, size, advice);
}

static int forked(int (*body)(void))
{
    pid_t pid = fork();

    if (pid == 0) {
        (void)alarm(HANGS_S);
        _exit(body());
    }
    return exit_status(pid);
}

/* The child is process 1. */
static int forked_apart(int (*body)(void))
{
    if (unshare(CLONE_NEWPID) != 0 &&
        unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
        return NO_NAMESPACE;
    return forked(body);
}

/* -- the number ----------------------------------------------------------- */

static unsigned above; /* the number of the parent */

static int has_another(void)
{
    if (zkr__process_is(above))
        return 1;
    if (zkr__process_number() == above)
        return 2;
    return zkr__process_is(zkr__process_number()) ? 0 : 3;
}

static int has_another_twice(void)
{
    int rc = has_another();

    above = zkr__process_number();
    return rc != 0 ? rc : forked(has_another);
}

static int has_its_own(void)
{
    above = zkr__process_number();
    int rc = forked(has_another_twice);
    return rc != 0 || zkr__process_is(above) ? rc : 4;
}

TEST(a_child_has_another_number)
{
    assert_int_equal(forked(has_its_own), 0);
    without_page = true;
    assert_int_equal(forked(has_its_own), 0);
    without_page = false;
}

/* No handler of pthread_atfork() runs in such a child. */
static int clones(void)
{
    above = zkr__process_number();
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        _exit(has_another());
    return exit_status(pid);
}

TEST(a_child_that_nobody_announces_has_another)
{
    assert_int_equal(forked(clones), 0);
}

/* -- objects of a parent with the same id ---------------------------------- */

static zkr_session *s;
static zkr_mutex *m;
static zkr_grant *g;
static zkr_fence *fence;

static int uses_what_is_not_its_own(void)
{
    zkr_grant *none = NULL;
    zkr_mutex *other = NULL;

    if (getpid() != 1)
        return 10;
    if (zkr_grant_check(g) != ZKR_EFORKED || zkr_grant_is_held(g) ||
        zkr_grant_state(g) != ZKR_GRANT_LOST || zkr_grant_depth(g) != 0 ||
        zkr_grant_valid_until(g) != 0)
        return 11;
    if (zkr_session_id(s) != 0 || zkr_session_epoch(s) != 0 ||
        zkr_session_timeout_ms(s) != 0)
        return 16;
    if (zkr_mutex_acquire(m, -1, &none) != ZKR_EFORKED ||
        zkr_mutex_new(s, "/x", NULL, &other) != ZKR_EFORKED)
        return 12;
    if (zkr_grant_release(g) != ZKR_EFORKED ||
        zkr_session_sync(s, -1) != ZKR_EFORKED)
        return 13;
    if (zkr_fence_accept(fence, 7, 0) != ZKR_EFORKED)
        return 14;
    zkr_grant_free(g);
    zkr_mutex_free(m);
    zkr_fence_free(fence);
    return zkr_session_close(s) == ZKR_EFORKED ? 0 : 15;
}

static int holds_a_lock_as_process_1(void)
{
    client_reset();
    s = open_session(0);
    m = new_mutex(s);
    if (getpid() != 1 || zkr_mutex_acquire(m, -1, &g) != ZKR_OK ||
        zkr_fence_new(NULL, &fence) != ZKR_OK)
        return 20;
    int rc = forked_apart(uses_what_is_not_its_own);
    if (rc != 0)
        return rc;
    return zkr_grant_check(g) == ZKR_OK ? 0 : 21;
}

static int is_above(void)
{
    return forked_apart(holds_a_lock_as_process_1);
}

TEST(a_child_with_the_same_id_gets_errors)
{
    for (int i = 0; i < 2; i++) {
        without_page = i > 0;
        int rc = forked(is_above);
        without_page = false;
        if (rc == NO_NAMESPACE)
            skip();
        assert_int_equal(rc, 0);
    }
}
