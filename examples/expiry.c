/* SPDX-License-Identifier: Apache-2.0 */
/* A test of a program, as you may write it: the session ends while a lock is
 * held. The holder must notice, and stop; then it can get the lock again.
 *
 *   zk-dev up && eval "$(zk-dev env)" && ./expiry "$ZK_SERVERS" /locks/test */
#include <stdio.h>
#include <stdlib.h>

#include <zkrecipes/testing.h>
#include <zkrecipes/zkrecipes.h>

#define EXPECT(what, condition)                                                \
    do {                                                                       \
        if (!(condition)) {                                                    \
            (void)fprintf(stderr, "%s: %s\n", (what), zkr_error_detail());     \
            exit(1);                                                           \
        }                                                                      \
        (void)printf("ok: %s\n", (what));                                      \
    } while (0)

int main(int argc, char **argv)
{
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    const char *path = argc > 2 ? argv[2] : "/locks/test";
    zkr_session *session = NULL;
    zkr_mutex *mutex = NULL;
    zkr_grant *first = NULL;
    zkr_grant *second = NULL;

    EXPECT("a session", zkr_session_open(hosts, NULL, &session) == ZKR_OK);
    EXPECT("a mutex", zkr_mutex_new(session, path, NULL, &mutex) == ZKR_OK);
    EXPECT("held", zkr_mutex_acquire(mutex, 10000, &first) == ZKR_OK);
    EXPECT("checked", zkr_grant_check(first) == ZKR_OK);

    EXPECT("the session ends", zkr_test_expire_session(session) == ZKR_OK);
    EXPECT("the holder is told", zkr_grant_check(first) == ZKR_ELOST);
    EXPECT("in a new epoch", zkr_session_epoch(session) == 2);
    EXPECT("held again", zkr_mutex_acquire(mutex, 10000, &second) == ZKR_OK);
    EXPECT("a late write of the first holder can be told by its token",
           zkr_grant_token(first) < zkr_grant_token(second));

    zkr_grant_free(first);
    zkr_grant_free(second);
    zkr_mutex_free(mutex);
    (void)zkr_session_close(session);
    return 0;
}
