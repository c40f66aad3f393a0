/* SPDX-License-Identifier: Apache-2.0 */
/* Fibers: the threads of all simulated processes, on one real thread. */
#include "base.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifdef WITH_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK (256 * 1024)

struct fiber {
    ucontext_t context;
    jmp_buf where; /* where it was left; faster than the context */
    bool left;
    char *stack; /* kept, with the context, for the next of this number */
    void *(*main)(void *);
    void *arg;
};

/* Members that every step reads for all fibers are close together. */
struct turn {
    int process;
    enum { FREE, READY, WAITING, FINISHED } state;
    const void *waits_for;
    int64_t deadline;
    bool timed_out;
};

static struct fiber fibers[FIBERS_MAX];
static OF_SCHEDULE struct turn turns[FIBERS_MAX];
static OF_SCHEDULE int fiber_count;
int fiber_self = FIBER_NOBODY;
static int upcall_process;
OF_SCHEDULE bool fiber_stopped[PROCESSES_MAX];

#ifdef WITH_ASAN /* the sanitizer must know which stack is in use */
static ucontext_t scheduler;
static const void *scheduler_stack;
static size_t scheduler_stack_size;

static void leave(void)
{
    struct fiber *f = &fibers[fiber_self];
    void *fake = NULL;

    __sanitizer_start_switch_fiber(&fake, scheduler_stack,
                                   scheduler_stack_size);
    (void)swapcontext(&f->context, &scheduler);
    __sanitizer_finish_switch_fiber(fake, &scheduler_stack,
                                    &scheduler_stack_size);
}

static void go_to(struct fiber *f)
{
    void *fake = NULL;

    __sanitizer_start_switch_fiber(&fake, f->stack, STACK);
    (void)swapcontext(&scheduler, &f->context);
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
}
#else
static jmp_buf scheduler;

static void leave(void)
{
    struct fiber *f = &fibers[fiber_self];

    f->left = true;
    if (_setjmp(f->where) == 0)
        _longjmp(scheduler, 1);
}

static void go_to(struct fiber *f)
{
    if (_setjmp(scheduler) != 0)
        return;
    if (f->left)
        _longjmp(f->where, 1);
    (void)setcontext(&f->context);
}
#endif

/* A stack is used for one main after the other. */
static void trampoline(void)
{
#ifdef WITH_ASAN
    __sanitizer_finish_switch_fiber(NULL, &scheduler_stack,
                                    &scheduler_stack_size);
#endif
    for (;;) {
        struct fiber *f = &fibers[fiber_self];

        (void)f->main(f->arg);
        turns[fiber_self].state = FINISHED;
        fiber_wake(f);
        leave();
    }
}

int fiber_start(int process, void *(*main)(void *), void *arg)
{
    int number = fiber_count;
    struct fiber *f = &fibers[number];

    if (number == FIBERS_MAX) {
        (void)fprintf(stderr, "sim: too many threads\n");
        abort();
    }
    fiber_count++;
    if (f->stack == NULL) {
        f->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (f->stack == MAP_FAILED)
            abort();
        (void)getcontext(&f->context);
        f->context.uc_stack.ss_sp = f->stack;
        f->context.uc_stack.ss_size = STACK;
        f->context.uc_link = NULL;
        makecontext(&f->context, trampoline, 0);
    }
    turns[number].process = process;
    turns[number].state = READY;
    f->main = main;
    f->arg = arg;
    return number;
}

int fiber_process(void)
{
    return fiber_self == FIBER_NOBODY ? upcall_process
                                      : turns[fiber_self].process;
}

void fiber_enter_process(int process)
{
    upcall_process = process;
}

bool fiber_wait(const void *object, int64_t deadline)
{
    struct turn *t = &turns[fiber_self];

    if (fiber_self == FIBER_NOBODY) {
        (void)fprintf(stderr, "sim: a thread of the client waits\n");
        abort();
    }
    t->state = WAITING;
    t->waits_for = object;
    t->deadline = deadline;
    t->timed_out = false;
    leave();
    return !t->timed_out;
}

void fiber_wake(const void *object)
{
    for (int i = 0; i < fiber_count; i++) {
        struct turn *t = &turns[i];

        if (t->state == WAITING && t->waits_for == object)
            t->state = READY;
    }
}

void fiber_sleep(int64_t duration)
{
    static const char nothing;

    (void)fiber_wait(&nothing, sim_now + duration);
}

void fiber_yield(void)
{
    if (fiber_self != FIBER_NOBODY)
        leave();
}

void fiber_join(int fiber)
{
    FIBER_UNTIL(turns[fiber].state == FINISHED, &fibers[fiber]);
}

static bool can_run(struct turn *t)
{
    if (fiber_stopped[t->process])
        return false;
    if (t->state == WAITING && t->deadline <= sim_now) {
        t->state = READY;
        t->timed_out = true;
    }
    return t->state == READY;
}

int fibers_ready(void)
{
    int ready = 0;

    for (int i = 0; i < fiber_count; i++)
        ready += can_run(&turns[i]);
    return ready;
}

void fibers_run(int which)
{
    for (int i = 0; i < fiber_count; i++) {
        if (!can_run(&turns[i]) || which-- > 0)
            continue;
        fiber_self = i;
        go_to(&fibers[i]);
        fiber_self = FIBER_NOBODY;
        return;
    }
}

int64_t fibers_next(void)
{
    int64_t next = INT64_MAX;

    for (int i = 0; i < fiber_count; i++) {
        const struct turn *t = &turns[i];

        if (t->state == WAITING && !fiber_stopped[t->process] &&
            t->deadline < next)
            next = t->deadline;
    }
    return next;
}

int fibers_alive(void)
{
    int alive = 0;

    for (int i = 0; i < fiber_count; i++)
        alive += turns[i].state == READY || turns[i].state == WAITING;
    return alive;
}
