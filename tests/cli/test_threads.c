/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the threads of the tool: each of their calls is made at each point
 * where one of them releases a mutex. Under TSan no access is missed by
 * chance. */
#include "let_go_names.h"

#undef pthread_mutex_unlock
#undef pthread_cond_wait
#undef pthread_cond_timedwait

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>

#include <sys/wait.h>
#include <unistd.h>

#include "common/lockctl.h"
#include "common/now.h"
#include "common/stop.h"
#include "model/looker.h"
#include "model/mirror.h"
#include "model/scan.h"
#include "texts.h"
#include "unit.h"
#include "wait.h"

enum { LONG_MS = 3600000, SOON_MS = 60000, LOCKS = 20 };

int lockctl_fail(int exit_code, const char *format, ...)
{
    (void)format;
    return exit_code;
}

void lockctl_say(const struct lockctl *ctl, const char *format, ...)
{
    (void)ctl;
    (void)format;
}

/* -- the library ---------------------------------------------------------- */

static atomic_int looks;  /* begun */
static atomic_int kept;   /* lists that were not given back */
static atomic_int closed; /* sessions */

enum zkr_session_state_kind fake_session_state(zkr_session *s)
{
    (void)s;
    return ZKR_SESSION_CONNECTED;
}

int fake_session_close(zkr_session *s)
{
    (void)s;
    (void)atomic_fetch_add(&closed, 1);
    return ZKR_OK;
}

/* -- the mirror ----------------------------------------------------------- */

struct mirror {
    struct mirror_opts opts;
    pthread_t session;
    atomic_bool is_settled;
};

/* As a thread of the session does. */
static void *settle(void *arg)
{
    struct mirror *m = arg;

    atomic_store(&m->is_settled, true);
    m->opts.wake(m->opts.user);
    return NULL;
}

int mirror_start(const struct mirror_opts *opts, struct mirror **ret_mirror)
{
    struct mirror *m = calloc(1, sizeof(*m));

    if (m == NULL)
        return ZKR_ENOMEM;
    m->opts = *opts;
    if (pthread_create(&m->session, NULL, settle, m) != 0)
        abort();
    (void)atomic_fetch_add(&kept, 1);
    *ret_mirror = m;
    return ZKR_OK;
}

/* The session must be closed by then. */
void mirror_end(struct mirror *m)
{
    if (atomic_load(&closed) != 1 || pthread_join(m->session, NULL) != 0)
        abort();
    (void)atomic_fetch_sub(&kept, 1);
    free(m);
}

bool mirror_is_settled(struct mirror *m)
{
    return atomic_load(&m->is_settled);
}

int64_t mirror_heard_ms(struct mirror *m)
{
    (void)m;
    return clock_now_ms();
}

int mirror_error(struct mirror *m, const char **ret_path)
{
    (void)m;
    *ret_path = "/";
    return ZKR_OK;
}

bool mirror_is_missing(struct mirror *m)
{
    (void)m;
    return false;
}

bool mirror_tick(struct mirror *m)
{
    (void)m;
    return true;
}

static void free_list(struct zkr_participants *list)
{
    (void)atomic_fetch_sub(&kept, 1);
    free(list);
}

int mirror_scan(struct mirror *m, struct scan *ret_scan)
{
    struct scan scan = { .locks = calloc(LOCKS, sizeof(struct lock)) };

    (void)m;
    (void)atomic_fetch_add(&looks, 1);
    for (; scan.locks != NULL && scan.count < LOCKS; scan.count++) {
        scan.locks[scan.count].list = calloc(1, sizeof(*scan.locks->list));
        scan.locks[scan.count].free_list = free_list;
        (void)atomic_fetch_add(&kept, 1);
    }
    *ret_scan = scan;
    return scan.locks == NULL ? ZKR_ENOMEM : ZKR_OK;
}

int locks_list(const struct lockctl *of, const char *const *paths, size_t count,
               const struct scan_opts *opts, struct scan *ret_scan,
               char detail[SCAN_DETAIL_MAX])
{
    (void)of;
    (void)paths;
    (void)count;
    (void)opts;
    detail[0] = '\0';
    return mirror_scan(NULL, ret_scan);
}

const char *scan_whole(zkr_session *session, const char *path,
                       char room[ZKR_PATH_MAX + 1])
{
    (void)session;
    (void)room;
    return path;
}

/* -- a call at a point ---------------------------------------------------- */

static _Thread_local bool is_of_the_test;

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* guards these: */
static int points; /* so often a thread of the tool has unlocked */
static int chosen; /* the point at which the call is made */
static void (*call)(void);
static pthread_t caller;
static bool is_called;
static atomic_bool is_done;
static atomic_bool is_started; /* the looker: the test knows it */

static void *call_it(void *unused)
{
    (void)unused;
    is_of_the_test = true;
    while (!atomic_load(&is_started))
        sleep_ms(1);
    call();
    atomic_store(&is_done, true);
    return NULL;
}

static bool has_called(void *unused)
{
    (void)unused;
    return atomic_load(&is_done);
}

/* Before a wait the mutex is still held, so the call comes during the wait. A
 * call need not return before the thread at the point goes on. */
static void reach_point(bool is_unlocked)
{
    bool is_chosen;

    if (is_of_the_test)
        return;
    (void)pthread_mutex_lock(&gate);
    is_chosen = ++points == chosen;
    if (is_chosen && pthread_create(&caller, NULL, call_it, NULL) != 0)
        abort();
    is_called = is_called || is_chosen;
    (void)pthread_mutex_unlock(&gate);
    if (is_chosen && is_unlocked)
        (void)wait_until(has_called, NULL, 5);
}

static void choose(int point, void (*at_point)(void))
{
    (void)pthread_mutex_lock(&gate);
    points = 0;
    chosen = point;
    call = at_point;
    is_called = false;
    atomic_store(&is_done, false);
    (void)pthread_mutex_unlock(&gate);
}

static bool is_under_way(void *unused)
{
    bool under_way;

    (void)unused;
    (void)pthread_mutex_lock(&gate);
    under_way = is_called;
    (void)pthread_mutex_unlock(&gate);
    return under_way;
}

/* Waits for the call to return. Returns false when it was not made; then it
 * never will be. */
static bool await_call(void)
{
    bool was_made;

    (void)wait_until(is_under_way, NULL, 50);
    (void)pthread_mutex_lock(&gate);
    chosen = 0;
    was_made = is_called;
    (void)pthread_mutex_unlock(&gate);
    if (was_made) {
        assert_true(wait_until(has_called, NULL, SOON_MS));
        assert_int_equal(pthread_join(caller, NULL), 0);
    }
    return was_made;
}

int let_go_unlock(pthread_mutex_t *mutex)
{
    int rc = pthread_mutex_unlock(mutex);

    reach_point(true);
    return rc;
}

int let_go_wait(pthread_cond_t *changed, pthread_mutex_t *mutex)
{
    reach_point(false);
    return pthread_cond_wait(changed, mutex);
}

int let_go_timedwait(pthread_cond_t *changed, pthread_mutex_t *mutex,
                     const struct timespec *end)
{
    reach_point(false);
    return pthread_cond_timedwait(changed, mutex, end);
}

/* -- the looker of top ---------------------------------------------------- */

static struct lockctl ctl = { .timeout_ms = 1000 };
static struct looker *of_all;
static atomic_int taken;
static atomic_int looks_before; /* the call */
static atomic_bool has_ended;

static void take(void)
{
    struct look_result result;

    if (!looker_take(of_all, &result))
        return;
    if (result.error != ZKR_OK || result.scan.count != LOCKS)
        abort();
    scan_done(&result.scan);
    (void)atomic_fetch_add(&taken, 1);
}

static void look_now(void)
{
    atomic_store(&looks_before, atomic_load(&looks));
    looker_now(of_all);
}

static void look_often(void)
{
    atomic_store(&looks_before, atomic_load(&looks));
    looker_every(of_all, 1);
}

static void end(void)
{
    atomic_store(&has_ended, looker_end(of_all, SOON_MS));
}

/* The descriptor is readable when there is a look to take. */
static void take_next(void)
{
    struct pollfd p = { .fd = looker_fd(of_all), .events = POLLIN };

    (void)poll(&p, 1, 5);
    take();
}

static bool has_taken(void *count)
{
    take_next();
    return atomic_load(&taken) >= *(int *)count;
}

/* A look that was asked for at the point is not forgotten: it begins. */
static bool has_looked_again(void *unused)
{
    (void)unused;
    take_next();
    return atomic_load(&looks) > atomic_load(&looks_before);
}

static void start_looker(void (*at_point)(void), int point, int64_t interval_ms)
{
    atomic_store(&closed, 0);
    atomic_store(&taken, 0);
    atomic_store(&looks_before, 1 << 30);
    atomic_store(&has_ended, false);
    atomic_store(&looks, 0);
    atomic_store(&is_started, false);
    choose(point, at_point);
    assert_true(looker_start(&ctl, "/", interval_ms, &of_all));
    atomic_store(&is_started, true);
}

static void assert_all_is_given_back(void)
{
    assert_int_equal(atomic_load(&kept), 0);
    assert_int_equal(atomic_load(&closed), 1);
}

/* Lets it look twice, the second time because it was asked, and once more when
 * it was asked at that point. Returns false when there is no such point. */
static bool look_with(void (*at_point)(void), int point, bool asks)
{
    bool was_called;

    start_looker(at_point, point, LONG_MS);
    for (int count = 1; count <= 2; count++) {
        if (!wait_until(has_taken, &count, SOON_MS))
            fail_msg("point %d: look %d does not come", point, count);
        if (count == 1)
            looker_now(of_all);
    }
    was_called = await_call();
    if (was_called && asks && !wait_until(has_looked_again, NULL, SOON_MS))
        fail_msg("point %d: what was asked for is forgotten", point);
    assert_true(looker_end(of_all, SOON_MS));
    assert_all_is_given_back();
    return was_called;
}

/* There are more points than this. One of the first that is not reached was
 * late, on a busy machine, and is tried again. */
enum { POINTS_AT_LEAST = 3 };

static void at_each_point(void (*at_point)(void), bool asks)
{
    int point = 1;
    bool reached;

    do {
        reached = look_with(at_point, point, asks);
        point += reached;
    } while (reached || point <= POINTS_AT_LEAST);
    assert_in_range(point, POINTS_AT_LEAST + 1, 100);
}

TEST(a_look_is_taken_at_any_time)
{
    at_each_point(take, false);
}

TEST(a_look_is_asked_for_at_any_time)
{
    at_each_point(look_now, true);
}

TEST(looks_are_made_more_often_from_any_time_on)
{
    at_each_point(look_often, true);
}

/* Nobody takes the look, so the looker may be waiting for that, too. */
static bool end_at(int point)
{
    bool was_called;

    start_looker(end, point, 1);
    was_called = await_call();
    if (!was_called)
        end();
    assert_true(atomic_load(&has_ended));
    assert_all_is_given_back();
    return was_called;
}

TEST(it_ends_at_any_time)
{
    int point = 1;
    bool reached;

    do {
        reached = end_at(point);
        point += reached;
    } while (reached || point <= POINTS_AT_LEAST);
    assert_in_range(point, POINTS_AT_LEAST + 1, 100);
}

/* -- the end of a verb ---------------------------------------------------- */

/* Runs in a process of its own, which the listener for signals ends with 0
 * after a second. */
static _Noreturn void be_stopped(void)
{
    (void)alarm(60);
    if (!stop_start() || kill(getpid(), SIGTERM) != 0)
        _exit(1);
    while (stop_wait(10)) /* another thread takes the signal */
        continue;
    if (stop_wait(LONG_MS))
        _exit(2);
    stop_end();
    _exit(42);
}

/* The signal came before the wait: the wait is over. */
TEST(a_thread_that_was_asked_to_end_does_not_wait)
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        be_stopped();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}

int main(void)
{

    is_of_the_test = true;
    return test_run_all();
}
