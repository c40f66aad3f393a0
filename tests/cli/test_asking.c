/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of how often top asks the servers with four letter words: of a server
 * that counts, without ZooKeeper. */
#include <pthread.h>
#include <stdatomic.h>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/now.h"
#include "common/worker.h"
#include "texts.h"
#include "top/asking.h"
#include "unit.h"

enum { WORDS = 3, SOON_MS = 60000 };

#define ANSWER "it is not executed because it is not in the whitelist.\n"

static int listener;
static pthread_t thread;
static char hosts[64];
static atomic_int words; /* that were asked */

static struct lockctl ctl;
static struct asking asking;
static struct lock one = { .path = "/one" };
static struct lock other = { .path = "/other" };

/* Until the listener is shut down. */
static void *serve(void *unused)
{
    char word[4];
    int fd;

    (void)unused;
    while ((fd = accept(listener, NULL, NULL)) >= 0) {
        if (recv(fd, word, sizeof(word), MSG_WAITALL) == sizeof(word)) {
            (void)atomic_fetch_add(&words, 1);
            (void)send(fd, ANSWER, strlen(ANSWER), MSG_NOSIGNAL);
        }
        (void)close(fd);
    }
    return NULL;
}

static int setup(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof(address);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(listener >= 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 16), 0);
    assert_ok(getsockname(listener, (struct sockaddr *)&address, &size));
    PRINT(hosts, "127.0.0.1:%d", ntohs(address.sin_port));
    atomic_store(&words, 0);
    assert_int_equal(pthread_create(&thread, NULL, serve, NULL), 0);
    ctl = (struct lockctl){ .settings = { [SETTING_SERVERS] = hosts },
                            .timeout_ms = SOON_MS };
    asking = (struct asking){ .ctl = &ctl };
    return 0;
}

static int teardown(void)
{
    assert_true(errand_end(asking.errand, SOON_MS));
    asking_done(&asking);
    (void)shutdown(listener, SHUT_RDWR);
    (void)pthread_join(thread, NULL);
    (void)close(listener);
    return 0;
}

FIXTURE(setup, teardown)

/* Waits for the answers to a question that is under way. */
static void await(void)
{
    struct pollfd p = { .fd = errand_fd(asking.errand), .events = POLLIN };

    assert_true(p.fd >= 0);
    assert_int_equal(poll(&p, 1, SOON_MS), 1);
}

static bool is_told(const struct lock *lock)
{
    return asking.errand == NULL && strcmp(asking.path, lock->path) == 0;
}

TEST(without_a_queue_nobody_is_asked)
{
    for (int i = 0; i < 10; i++)
        asking_tick(&asking, NULL);
    assert_int_equal(errand_fd(asking.errand), -1);
    assert_int_equal(atomic_load(&words), 0);
}

TEST(a_queue_is_asked_about_once_in_a_while)
{
    int64_t now_ms;

    asking_tick(&asking, &one);
    assert_false(is_told(&one));
    await();
    now_ms = clock_now_ms();
    asking_tick(&asking, &one);
    assert_true(asking.next_ms >= now_ms + 5000);
    asking.next_ms = INT64_MAX; /* however long this takes */
    for (int i = 0; i < 10; i++)
        asking_tick(&asking, &one);
    assert_true(is_told(&one));
    assert_int_equal(atomic_load(&words), WORDS);
    assert_int_equal(asking.notes.count, 1); /* it does not tell */
    asking_tick(&asking, NULL);              /* back to the list, and again */
    asking_tick(&asking, &one);
    assert_int_equal(errand_fd(asking.errand), -1);
    assert_int_equal(atomic_load(&words), WORDS);
}

TEST(another_queue_does_not_wait)
{
    asking_tick(&asking, &one);
    await();
    asking_tick(&asking, &other); /* the answers are about the first */
    assert_false(is_told(&other));
    assert_int_equal(asking.notes.count, 0);
    await();
    asking_tick(&asking, &other);
    assert_true(is_told(&other));
    assert_false(is_told(&one));
    assert_int_equal(atomic_load(&words), 2 * WORDS);
}

TEST(they_need_not_be_asked)
{
    asking.off = true;
    asking_tick(&asking, &one);
    assert_int_equal(errand_fd(asking.errand), -1);
}
