/* The log hook: formats a line only when a hook wants to read it. */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/thread_cancel.h"

/* The level is read without the lock, so that a silent log costs one load. */
static atomic_int hook_level = ZKR__LOG_NOTHING;
static pthread_rwlock_t hook_lock = PTHREAD_RWLOCK_INITIALIZER;
static zkr_log_fn hook_fn; /* under hook_lock */
static void *hook_user;    /* under hook_lock */
static void (*_Atomic follower)(void);

/* The callee reads the level itself: so the last one to be called gets the
 * latest level, in any order of two threads. */
static void tell_follower(void)
{
    void (*fn)(void) = atomic_load(&follower);

    if (fn != NULL)
        fn();
}

void zkr_log_set(enum zkr_log_level level, zkr_log_fn fn, void *user)
{
    (void)pthread_rwlock_wrlock(&hook_lock);
    hook_fn = fn;
    hook_user = user;
    (void)pthread_rwlock_unlock(&hook_lock);
    atomic_store(&hook_level, fn == NULL ? ZKR__LOG_NOTHING : (int)level);
    tell_follower();
}

void zkr__log_follow(void (*fn)(void))
{
    atomic_store(&follower, fn);
    tell_follower();
}

int zkr__log_level(void)
{
    return atomic_load(&hook_level);
}

bool zkr__log_wanted(enum zkr_log_level level)
{
    return (int)level <=
           atomic_load_explicit(&hook_level, memory_order_relaxed);
}

void zkr__log_line(enum zkr_log_level level, const char *line)
{
    zkr_log_fn fn;
    void *user;

    if (!zkr__log_wanted(level))
        return;
    (void)pthread_rwlock_rdlock(&hook_lock);
    fn = hook_fn;
    user = hook_user;
    (void)pthread_rwlock_unlock(&hook_lock);
    if (fn != NULL) {
        int cancel = zkr__thread_cancel_disable(); /* the hook may reach a
                                               cancellation point */

        fn(level, line, user);
        zkr__thread_cancel_restore(cancel);
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
