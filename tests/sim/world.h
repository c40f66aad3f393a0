/* SPDX-License-Identifier: Apache-2.0 */
/* The world of one schedule: processes, their threads, and its course. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include <zkrecipes/zkrecipes.h>

#include "base.h"
#include "base/error.h"

struct node;

enum recipe {
    MUTEX,
    RWLOCK,
    UNFAIR,
    REENTRANT,
    LATCH,
    SEMAPHORE,
    MULTI, /* mutexes, several at once */
    RECIPES,
};

struct process {
    int number;
    zkr_session *session;
    struct zkr_session_opts opts;
    int64_t timeout;    /* that it asks for */
    const char *prefix; /* its chroot, or "" */
    bool gives_up;      /* its retry policy has an end */
    bool no_lease;
    struct {         /* a lock that stays, for all threads */
        uint32_t ms; /* 0: each thread has a lock of its own */
        uint32_t max;
        uint32_t flags;
        void *lock;
        int users;
    } stays;
    zkr_listener *listener;
    uint64_t epoch; /* that it was told of */
    bool opened;    /* or it has failed */
    bool closed;    /* in the middle of it */
    int threads;
    int64_t stopped_at;
    int64_t stopped_for; /* the sum of all */
};

struct world {
    enum recipe recipe;
    uint32_t limit;   /* of a semaphore */
    int64_t timeout;  /* the longest of all sessions */
    int64_t shortest; /* the shortest of all sessions */
    int64_t tick;
    int64_t sync_limit;
    int64_t calm; /* from here on there are no faults */
    int process_count;
    struct process processes[PROCESSES_MAX];
    int releases;       /* whose end is to be told */
    bool no_containers; /* servers do not know them */
    int ghosts;         /* that some replica may have */
    int busy;           /* threads that have something to do */
    bool scarce;        /* somebody was refused memory */
    bool closing;       /* sessions may be closed */
    bool crowded;       /* few processes, of many threads */
    bool beacon;        /* sessions share the evidence of their leases */
    bool preempt;       /* threads are interrupted */
    bool fibers_first;  /* fibers go before completions */
};

extern struct world world;

/* Options of the runs; set before they begin. */
extern struct world_limits {
    int recipe; /* or -1: any */
    bool verbose;
    const char *faults; /* letters of those that happen; NULL: all */
} world_limits;

#define WORLD_PATH   "/locks/orders"
#define WORLD_BEACON "/beacon"
/* Of several locks; one is WORLD_PATH. In their order. */
#define WORLD_PATHS 3
extern const char *const world_paths[WORLD_PATHS];

/* Runs one schedule, as choices.h says. Does not return when it is wrong. */
void world_run(void);

void world_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
void world_talk(void); /* from now on every step is shown */

/* Reports that something is wrong, and ends this process. */
_Noreturn void world_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
#define WRONG_IF(condition, ...)                                               \
    do {                                                                       \
        if (condition)                                                         \
            world_fail(__VA_ARGS__);                                           \
    } while (0)

/* Tells whether the value is one of those. */
#define ONE_OF(value, ...)                                                     \
    is_one_of(value, (const int[]){ __VA_ARGS__ },                             \
              sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int))
static inline bool is_one_of(int value, const int *values, size_t count)
{
    while (count > 0 && values[count - 1] != value)
        count--;
    return count > 0;
}

/* The path as its session has it. */
const char *process_sees(const struct process *p, const char *path);

/* How long a call with that timeout may take; 0: the default. */
int64_t process_patience(const struct process *p, int64_t timeout_ms);

/* Returns the time for which a process has been stopped until now. */
int64_t process_stopped_for(int process);
void process_stop(int process, int64_t duration);

/* Begins the function to which the linker sends that call of the library:
 * --wrap in meson.build. */
#define WRAP(type, name, parameters)                                           \
    type __real_##name parameters;                                             \
    type __wrap_##name parameters;                                             \
    type __wrap_##name parameters

/* apps.c: the threads of the processes. */
void apps_start(void);

/* faults.c: the faults until the calm. */
void faults_start(void);
/* One of the nodes in the directory of the lock, or NULL. */
struct node *world_lock_node(void);

/* The allocations of the library. One in so many fails; 0: none does. */
extern uint32_t heap_scarce;

/* So many allocations from now one fails; 0: none does, or it has failed. */
extern uint32_t heap_refused;

/* -- runs.c: schedules, each in a process of its own ----------------------- */

#define REPORT_MAX 1024
/* Reasons that only a line gives a claim to move: a run tells how often its
 * schedules meet them. */
#define WAYS 12

/* How a schedule has ended, for the process that supervises it, and with which
 * it is shared; and the reasons for which claims have moved in it. */
struct report {
    uint64_t seed;         /* at work on */
    uint64_t done;         /* schedules without a fault */
    uint64_t ways[WAYS];   /* how often each was taken */
    bool loud;             /* what is wrong is written to stderr, too */
    char text[REPORT_MAX]; /* what is wrong; "" if nothing is */
    struct choices choices;
};

extern struct report *report;

struct report *report_new(void);
/* Signals that end the process are reported, too. */
void report_begin(struct report *r);
_Noreturn void report_failure(const char *text);

extern const char *const ways_names[WAYS];
/* A claim has moved for that reason. */
void ways_taken(const char *why);

/* Runs the schedule of a script, or NULL: of `seed`, in a process of its own.
 * Returns false when it fails; then `r` says how. */
bool run_script(struct report *r, const uint32_t *script, size_t count,
                uint64_t seed);

/* Schedules run in this process, which ends when one fails, and says how:
 * processes cost more than schedules. */
extern bool runs_together;

/* Makes a failing schedule as simple as possible; `r` holds it, then the
 * simpler one. Returns how many choices it has, without zeros at its end. */
size_t shrink(struct report *r);
