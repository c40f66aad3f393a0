/* SPDX-License-Identifier: Apache-2.0 */
/* The log hook: formats a line only when a hook wants to read it. */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/process.h"
#include "base/thread.h"

#define LOG_NOTHING (-1)

/* The level is read without the lock, so that a silent log costs one load. */
static atomic_int hook_level = LOG_NOTHING;
static atomic_uint process; /* the one in which all that follows is good */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER; /* a call of the hook */
static zkr_log_fn hook_fn;
static void *hook_user;
static uint64_t times_set;

/* One call of the hook of the process, on the stack of its thread. */
struct call {
    struct call *next;
    uint64_t times_set; /* when it began */
};

static struct call *calls;        /* those under way; under the lock */
static _Thread_local bool inside; /* a hook runs on this thread */
static _Thread_local const struct zkr__log_hook *own;

/* The lines that were told last, under the lock. */
#define TOLD_MAX  32
#define SILENT_NS (60 * 1000 * ZKR__MS)
static struct {
    uint64_t hash;
    int64_t until; /* it is not told again before */
    unsigned times;
} told[TOLD_MAX];

void zkr__log_use(const struct zkr__log_hook *hook)
{
    own = hook;
}

void zkr__log_hook_end(struct zkr__log_hook *hook)
{
    hook->level = LOG_NOTHING;
}

/* A child has what its parent had when a thread of it made the child. */
static void forget_parent(void)
{
    unsigned me = zkr__process_number();
    unsigned before = atomic_exchange(&process, me);

    if (before == 0 || before == me)
        return;
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    ended = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    calls = NULL;
}

static bool any_before(uint64_t time)
{
    for (const struct call *c = calls; c != NULL; c = c->next) {
        if (c->times_set < time)
            return true;
    }
    return false;
}

/* A hook that sets the next one does not wait: two of them would wait for each
 * other. */
void zkr_log_set(enum zkr_log_level level, zkr_log_fn fn, void *user)
{
    ZKR__NOT_CANCELLED;

    forget_parent();
    (void)pthread_mutex_lock(&lock);
    hook_fn = fn;
    hook_user = user;
    uint64_t time = ++times_set;
    memset(told, 0, sizeof(told)); /* the next hook has seen none */
    atomic_store(&hook_level, fn == NULL ? LOG_NOTHING : (int)level);
    while (!inside && any_before(time))
        (void)pthread_cond_wait(&ended, &lock);
    (void)pthread_mutex_unlock(&lock);
}

bool zkr__log_wanted(enum zkr_log_level level)
{
    int wanted = own != NULL
                     ? own->level
                     : atomic_load_explicit(&hook_level, memory_order_relaxed);

    return (int)level <= wanted;
}

static zkr_log_fn begin(struct call *call, void **ret_user)
{
    (void)pthread_mutex_lock(&lock);
    zkr_log_fn fn = hook_fn;
    *ret_user = hook_user;
    *call = (struct call){ calls, times_set };
    calls = call;
    (void)pthread_mutex_unlock(&lock);
    return fn;
}

static void end(const struct call *call)
{
    (void)pthread_mutex_lock(&lock);
    for (struct call **c = &calls; *c != NULL; c = &(*c)->next) {
        if (*c == call) {
            *c = call->next;
            break;
        }
    }
    (void)pthread_cond_broadcast(&ended);
    (void)pthread_mutex_unlock(&lock);
}

static void run(zkr_log_fn fn, void *user, enum zkr_log_level level,
                const char *line)
{
    ZKR__NOT_CANCELLED; /* the hook may reach a cancellation point */
    bool was_inside = inside;

    inside = true;
    if (fn != NULL)
        fn(level, line, user);
    inside = was_inside;
}

/* FNV-1a. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    while (*text != '\0') {
        size_t digits = strspn(text, "0123456789");

        text += strncmp(text + digits, "ms", 2) == 0 ? digits : 0;
        hash = (hash ^ (unsigned char)*text++) * UINT64_C(1099511628211);
    }
    return hash;
}

unsigned zkr__log_times(enum zkr_log_level level, const char *text)
{
    size_t i;
    size_t oldest = 0;
    unsigned times = 0;

    if (text == NULL || level == ZKR_LOG_DEBUG ||
        !zkr__process_is(atomic_load(&process)))
        return 1;
    uint64_t hash = hash_of(text);
    int64_t now = zkr__clock_now();
    (void)pthread_mutex_lock(&lock);
    for (i = 0; i < TOLD_MAX && told[i].hash != hash; i++)
        oldest = told[i].until < told[oldest].until ? i : oldest;
    if (i == TOLD_MAX) {
        i = oldest;
        told[i].hash = hash;
        told[i].until = now;
        told[i].times = 0;
    }
    told[i].times++;
    if (now >= told[i].until) {
        times = told[i].times;
        told[i].until = now + SILENT_NS;
        told[i].times = 0;
    }
    (void)pthread_mutex_unlock(&lock);
    return times;
}

void zkr__log_line(enum zkr_log_level level, const char *line)
{
    struct call call;
    void *user;

    if (!zkr__log_wanted(level))
        return;
    if (own != NULL) {
        run(own->fn, own->user, level, line);
    } else if (!zkr__process_is(atomic_load(&process))) { /* a child */
        run(hook_fn, hook_user, level, line);
    } else {
        zkr_log_fn fn = begin(&call, &user);

        run(fn, user, level, line);
        end(&call);
    }
}

void zkr__log(enum zkr_log_level level, const char *format, ...)
{
    char line[1024];
    va_list args;

    if (!zkr__log_wanted(level))
        return;
    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    zkr__log_line(level, line);
}
