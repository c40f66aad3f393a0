/* SPDX-License-Identifier: Apache-2.0 */
/* The log hook: formats a line only when a hook wants to read it. */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/thread.h"

#define LOG_NOTHING (-1)

/* The level is read without the lock, so that a silent log costs one load. */
static atomic_int hook_level = LOG_NOTHING;
static pthread_rwlock_t hook_lock = PTHREAD_RWLOCK_INITIALIZER;
static zkr_log_fn hook_fn; /* under hook_lock */
static void *hook_user;    /* under hook_lock */
static _Thread_local const struct zkr__log_hook *own;

void zkr__log_use(const struct zkr__log_hook *hook)
{
    own = hook;
}

void zkr__log_hook_end(struct zkr__log_hook *hook)
{
    hook->level = LOG_NOTHING;
}

void zkr_log_set(enum zkr_log_level level, zkr_log_fn fn, void *user)
{
    (void)pthread_rwlock_wrlock(&hook_lock);
    hook_fn = fn;
    hook_user = user;
    (void)pthread_rwlock_unlock(&hook_lock);
    atomic_store(&hook_level, fn == NULL ? LOG_NOTHING : (int)level);
}

bool zkr__log_wanted(enum zkr_log_level level)
{
    int wanted = own != NULL
                     ? own->level
                     : atomic_load_explicit(&hook_level, memory_order_relaxed);

    return (int)level <= wanted;
}

void zkr__log_line(enum zkr_log_level level, const char *line)
{
    zkr_log_fn fn;
    void *user;

    if (!zkr__log_wanted(level))
        return;
    if (own != NULL) {
        fn = own->fn;
        user = own->user;
    } else {
        (void)pthread_rwlock_rdlock(&hook_lock);
        fn = hook_fn;
        user = hook_user;
        (void)pthread_rwlock_unlock(&hook_lock);
    }
    if (fn != NULL) {
        ZKR__NOT_CANCELLED; /* the hook may reach a cancellation point */

        fn(level, line, user);
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
