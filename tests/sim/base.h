/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated world is made of memory, choices, events, fibers and pipes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* -- memory, allocated piece by piece, freed as a whole -------------------- */

/* Zeroed; never NULL. */
void *arena_new(size_t size);
/* A thing of that type, with those members. */
#define ARENA_NEW(type, ...)                                                   \
    ((type *)memcpy(arena_new(sizeof(type)), &(type){ __VA_ARGS__ },           \
                    sizeof(type)))
char *arena_copy(const char *data, size_t len); /* and a zero byte */

/* Puts a thing at the end of a list; `link` is the member that links it. */
#define APPEND(list, thing, link)                                              \
    do {                                                                       \
        __typeof__(thing) *end_ = &(list);                                     \
                                                                               \
        while (*end_ != NULL)                                                  \
            end_ = &(*end_)->link;                                             \
        *end_ = (thing);                                                       \
    } while (0)

/* Returns the first thing of a list of which that is so, or NULL. */
#define FIRST(thing, list, condition)                                          \
    __extension__({                                                            \
        __typeof__(&*(list)) thing = (list);                                   \
                                                                               \
        while (thing != NULL && !(condition))                                  \
            thing = thing->next;                                               \
        thing;                                                                 \
    })

/* Marks a variable that is zero when a schedule begins. */
#define OF_SCHEDULE __attribute__((section("of_schedule")))
/* Frees all of it, and clears those variables. */
void arena_reset(void);

/* -- choices: everything random, as a string of numbers -------------------- */

#define CHOICES_MAX 65536

/* The numbers that were chosen, in order. Zero is always the simplest choice: a
 * string that is cut short, or has more zeros, is a simpler schedule. */
struct choices {
    uint32_t count;
    uint32_t made[CHOICES_MAX];
};

/* Choose as in `script`, and zero after its end, or NULL: anew, from `seed`;
 * and write it down. */
void choices_begin(struct choices *record, const uint32_t *script, size_t count,
                   uint64_t seed);

/* 0 to n - 1, each as likely. */
uint32_t choose(uint32_t n);
/* One of those. */
#define DRAW(type, ...)                                                        \
    ((const type[]){ __VA_ARGS__ }[choose(                                     \
        (uint32_t)(sizeof((const type[]){ __VA_ARGS__ }) / sizeof(type)))])

/* True once in n times. */
bool one_in(uint32_t n);

/* 0 seven times out of eight, else 0 to n - 1. */
uint32_t mostly_first(uint32_t n);

/* These are no choices: their values do not matter, but must repeat. */
uint64_t noise(void);

/* -- events: virtual time, and what is due at each instant ----------------- */

#define MS INT64_C(1000000)

/* Nanoseconds; the first of a schedule. */
extern int64_t sim_now;
#define SIM_BEGIN (1000 * MS)

/* Events of one instant happen in the order in which they were added. */
void events_at(int64_t instant, void (*fn)(void *arg, uint64_t tag), void *arg,
               uint64_t tag);

/* Returns when the next event is due, or INT64_MAX without one. */
int64_t events_next(void);
void events_run_next(void);

/* -- fiber.c: the threads of all processes, on one real thread ------------- */

#define FIBERS_MAX    256
#define PROCESSES_MAX 8
#define FIBER_NOBODY  (-1)

/* Runs when its turn comes, in the given process. Returns its number. */
int fiber_start(int process, void *(*main)(void *), void *arg);

/* The running fiber, or FIBER_NOBODY, and its process. */
extern int fiber_self;
int fiber_process(void);
void fiber_enter_process(int process); /* for upcalls, which no fiber makes */

/* Wait for a wake-up of `object`, or the instant: false when that has come. */
bool fiber_wait(const void *object, int64_t deadline);
void fiber_wake(const void *object);
void fiber_sleep(int64_t duration);
/* Looks again after each such step. */
#define FIBER_WHILE(condition, step)                                           \
    do {                                                                       \
        while (condition)                                                      \
            fiber_sleep(step);                                                 \
    } while (0)
/* Looks again whenever the object is woken. */
#define FIBER_UNTIL(condition, object)                                         \
    do {                                                                       \
        while (!(condition))                                                   \
            (void)fiber_wait(object, INT64_MAX);                               \
    } while (0)
void fiber_yield(void);
void fiber_join(int fiber);

/* Processes of which no fiber runs. */
extern bool fiber_stopped[PROCESSES_MAX];

/* Fibers that can run: how many, the next, and a call that runs it for once. */
int fibers_ready(void);
void fibers_run(int which);
/* Returns when the next wait times out. */
int64_t fibers_next(void);
int fibers_alive(void);

/* -- pipes -----------------------------------------------------------------
 *
 * One direction of a TCP connection. Messages arrive in order, after a while,
 * or never. */

struct message {
    struct message *next;
    int64_t due;
    int kind;
    int64_t number;
    void *body;
};

struct pipe {
    struct message *first; /* under way; without it they are lost */
    int64_t last_due;
    bool scheduled;
    int stalls;       /* reasons why nothing gets through at present */
    int64_t distance; /* what each message takes besides */
    void (*deliver)(void *owner, const struct message *m);
    void *owner;
};

void pipe_send(struct pipe *p, int kind, int64_t number, void *body);
/* Messages under way wait, and go on after as many calls of pipe_resume(). */
void pipe_stall(struct pipe *p);
void pipe_resume(struct pipe *p);

/* Until then a message may take longer than a client waits; no earlier message
 * arrives long after. */
extern int64_t pipe_slow_until;
