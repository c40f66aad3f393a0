/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated world is made of these: memory, choices, events, and pipes. */
#include "base.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* -- memory ---------------------------------------------------------------- */

#define ARENA ((size_t)64 * 1024 * 1024)

static char *arena; /* the system gives it as it is used */
static OF_SCHEDULE size_t used;

/* The linker says where that section is. */
extern char __start_of_schedule[];
extern char __stop_of_schedule[];

void *arena_new(size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (arena == NULL)
        arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED || size > ARENA - used) {
        (void)fprintf(stderr, "sim: the arena is full\n");
        abort();
    }
    used += size;
    return memset(arena + used - size, 0, size);
}

char *arena_copy(const char *data, size_t len)
{
    char *copy = arena_new(len + 1);

    if (len > 0)
        memcpy(copy, data, len);
    return copy;
}

void arena_reset(void)
{
    memset(__start_of_schedule, 0,
           (size_t)(__stop_of_schedule - __start_of_schedule));
}

/* -- choices --------------------------------------------------------------- */

static struct choices *record;
static const uint32_t *script;
static size_t script_count;
static uint64_t state;
static uint64_t noise_state;

/* Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators"
 * (2014). */
static uint64_t next(uint64_t *s)
{
    uint64_t z = *s += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void choices_begin(struct choices *to, const uint32_t *from, size_t count,
                   uint64_t seed)
{
    record = to;
    record->count = 0;
    script = from;
    script_count = count;
    state = seed;
    noise_state = ~seed;
}

/* As the script says, or else as drawn; and written down. */
static uint32_t make(uint32_t n, uint64_t drawn)
{
    uint32_t made = (uint32_t)drawn;

    if (script != NULL)
        made = record->count < script_count ? script[record->count] % n : 0;
    if (record->count < CHOICES_MAX)
        record->made[record->count++] = made;
    return made;
}

uint32_t choose(uint32_t n)
{
    return n <= 1 ? 0 : make(n, next(&state) % n);
}

bool one_in(uint32_t n)
{
    return make(2, next(&state) % n == 0) != 0;
}

uint32_t mostly_first(uint32_t n)
{
    return n <= 1 ? 0 : make(n, next(&state) % 8 == 0 ? next(&state) % n : 0);
}

uint64_t noise(void)
{
    return next(&noise_state);
}

/* -- events ---------------------------------------------------------------- */

struct event {
    struct event *next;
    int64_t instant;
    void (*fn)(void *arg, uint64_t tag);
    void *arg;
    uint64_t tag;
};

int64_t sim_now;

static OF_SCHEDULE struct event *events; /* the first to come is the first */
static OF_SCHEDULE struct event *over;   /* whose memory is used again */

void events_at(int64_t instant, void (*fn)(void *arg, uint64_t tag), void *arg,
               uint64_t tag)
{
    struct event *e = over != NULL ? over : arena_new(sizeof(*e));
    struct event **before = &events;

    over = e->next;
    while (*before != NULL && (*before)->instant <= instant)
        before = &(*before)->next;
    *e = (struct event){ *before, instant, fn, arg, tag };
    *before = e;
}

int64_t events_next(void)
{
    return events == NULL ? INT64_MAX : events->instant;
}

void events_run_next(void)
{
    struct event *e = events;
    struct event first = *e;

    events = e->next;
    e->next = over;
    over = e;
    if (first.instant > sim_now)
        sim_now = first.instant;
    first.fn(first.arg, first.tag);
}

/* -- pipes ----------------------------------------------------------------- */

int64_t pipe_slow_until;

/* The most, later on. */
#define QUICK (2 * MS)

static int64_t delay(void)
{
    static const int64_t delays[] = { 2,  1,  3,   5,   10,   20,
                                      50, 80, 200, 700, 2000, 11000 };
    uint32_t n = sizeof(delays) / sizeof(delays[0]);
    int64_t left = pipe_slow_until - sim_now;

    if (left <= 0)
        n /= 2;
    int64_t delay = delays[mostly_first(n)] * MS / 10;
    return left > 0 && delay > left + QUICK ? left + QUICK : delay;
}

static void on_due(void *arg, uint64_t tag);

static void schedule(struct pipe *p)
{
    if (p->scheduled || p->stalls > 0 || p->first == NULL)
        return;
    p->scheduled = true;
    events_at(p->first->due > sim_now ? p->first->due : sim_now, on_due, p, 0);
}

static void on_due(void *arg, uint64_t tag)
{
    struct pipe *p = arg;
    struct message *m = p->first;

    p->scheduled = false;
    if (p->stalls > 0 || m == NULL)
        return;
    if (m->due <= sim_now) {
        p->first = m->next;
        p->deliver(p->owner, m);
    }
    schedule(p);
}

void pipe_send(struct pipe *p, int kind, int64_t number, void *body)
{
    int64_t due = sim_now + p->distance + delay();

    if (p->last_due < due)
        p->last_due = due;
    APPEND(p->first,
           ARENA_NEW(struct message, .due = p->last_due, .kind = kind,
                     .number = number, .body = body),
           next);
    schedule(p);
}

void pipe_stall(struct pipe *p)
{
    p->stalls++;
}

void pipe_resume(struct pipe *p)
{
    p->stalls--;
    schedule(p);
}
