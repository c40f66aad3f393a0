/* SPDX-License-Identifier: Apache-2.0 */
/* Stories: schedules that are written, not drawn. Each story is repeated with
 * the same sessions, so that every fault of a holder happens twice. */
#pragma once

#include "lock/locks.h"
#include "oracle.h"
#include "scope.h"
#include "test.h"

#define WAITER 0
#define HOLDER 1
#define TELLER 2

/* A process that acquires when it is told to. */
struct user {
    zkr_session *session;
    zkr_mutex *mutex;
    zkr_unfair_mutex *unfair; /* on the same path */
    zkr_grant *grant;
    zkr_grant *other; /* of the unfair one, if it wants both */
    int rc;
    bool started;
    bool wanted;
    bool asks;
    bool told;
};

extern struct user users[2];

extern struct story {
    void (*tell)(void);    /* runs beside the users, once for each time */
    const char *says;      /* or this text does */
    void (*granted)(void); /* what happens to the waiter with its grant, or
                              without one: twice for each time, or once */
    const char *then;      /* or this text says it */
    zkr_grant_fn on_event; /* the listener of its grants, or NULL */
    struct zkr_retry retry;
    bool short_ticks; /* one second, not two */
    bool hurried;     /* half a second, and T is one */
    bool anew;        /* the second time with other sessions */
    bool once;
    bool unfair;
    bool no_lease;   /* the sessions have none */
    bool beacon;     /* they share evidence, beside an observer */
    bool both;       /* the waiter holds the unfair one beside */
    int told;        /* to the waiter, is_told_so() */
    int64_t instant; /* of what is tried at many */
    int time;        /* 0: the first */
} story;

/* A program may do something before each telling, and after it. */
void story_begins(void) __attribute__((weak));
void story_ends(void) __attribute__((weak));

/* STORY(name, granted, ...) { ... } is a test that tells it, with values of
 * `story`; STORY_THEN(name, text, ...) { ... } one of what happens to the
 * waiter with its grant. With AT_EACH it is one at each of some instants.
 * TOLD(name, text, ...) is one whose text is all of it. */
#define STORY_OF(test, is, other, first, end, step, ...)                       \
    static void is##_##test(void);                                             \
    TEST(test)                                                                 \
    {                                                                          \
        for (int64_t at = (first); at < (end); at += (step)) {                 \
            story = (struct story){ .instant = at,                             \
                                    .is = is##_##test,                         \
                                    .other = __VA_ARGS__ };                    \
            (void)succeeds();                                                  \
        }                                                                      \
    }                                                                          \
    static void is##_##test(void)

#define STORY_AT_EACH(test, ...)      STORY_OF(test, tell, granted, __VA_ARGS__)
#define STORY_THEN_AT_EACH(test, ...) STORY_OF(test, granted, says, __VA_ARGS__)

#define TOLD(test, ...)                                                        \
    TEST(test)                                                                 \
    {                                                                          \
        story = (struct story){ .says = __VA_ARGS__ };                         \
        (void)succeeds();                                                      \
    }

#define STORY(test, ...)      STORY_AT_EACH(test, 0, 1, 1, __VA_ARGS__)
#define STORY_THEN(test, ...) STORY_THEN_AT_EACH(test, 0, 1, 1, __VA_ARGS__)

/* Runs `story`, and fails unless everything goes as it should. Returns its
 * report. With SIM_VERBOSE in the environment every step is shown. */
const struct report *succeeds(void);

/* A user opens its session, unless it is open; it does so, and asks for its
 * lock; it is told; all of that; a holder, not the waiter, gives the lock
 * back. */
void start(struct user *u);
void ask(struct user *u);
void await_told(struct user *u);
void acquires(struct user *u);
void give_back(struct user *u);

/* The next requests of that type are refused by the client: those for one node,
 * or NULL: for all. */
void refuse(enum zkr__zk_type type, const char *path, int count);
extern struct refused {
    int count; /* that are still to be refused */
    const char *path;
} refused[ZKR__ZK_TYPES];

/* How many requests of that type all libraries have submitted since the count
 * began; waits for the next one, and begins it. */
void count_from_here(void);
int asked(enum zkr__zk_type type);
void await_asked(enum zkr__zk_type type);

/* The process receives nothing, nobody receives its messages, or both. */
void cut_of(int process, int directions, int64_t duration);
/* Returns the replica to which it is connected. */
int replica_of_waiter(void);
/* Makes it connect to that replica, with a pause after each try. */
void connect_waiter_to(int replica, int64_t pause);
/* Waits until a claim of the waiter is in that state, and returns the first. */
const struct zkr__claim *await_state(enum zkr__claim_state state);

/* A copy of the path of the node of the nth claim of a session. */
const char *path_of(zkr_session *s, int nth);
/* The session of the holder ends, and that replica keeps its node. */
void haunt(int replica);
/* An operator makes a node, which has a number when its name ends with "-" or
 * "_". */
void make(const char *path);
#define UNFAIR_PATH WORLD_PATH "/holder"
/* A call of the story itself must succeed. */
void expect(int rc);
/* An asynchronous acquire, and how it has ended: on_asked() notes it, and tells
 * the oracle, if it knows of the attempt. */
struct asking {
    struct attempt *attempt;
    bool told;
    int rc;
    zkr_grant *grant;
};
void on_asked(int rc, zkr_grant *grant, void *asking);

/* Nothing happens to the waiter. */
void nothing(void);

/* A step of a story that is written as a text: what it says, and what is done
 * then. There "@" is one of "waiter", "holder" and "session", which is that of
 * the teller; "#" is a number, or a duration: 20ms, 2T, 3T/4 (T: a timeout);
 * "%" is a type of requests, for which it stands as the other number. */
struct step {
    const char *says;
    void (*alone)(void);
    void (*user)(struct user *u);
    void (*number)(int number); /* or that of "@" */
    void (*two)(int number, int64_t other);
    int64_t other;               /* if it says only one number */
    void (*lasts)(int64_t time); /* -1: it says none */
    void (*named)(const char *name);
    const char *name;
    int directions; /* in which nothing gets through to "@" */
};

void refuse_some(int count, int64_t type);
void at_least(int count, int64_t type);
void at_most(int count, int64_t type);

#define COMMON_STEPS                                                           \
    { "@ starts", .user = start }, { "@ asks", .user = ask },                  \
        { "@ takes", .user = acquires }, { "@ is told", .user = await_told },  \
        { "@ gives", .user = give_back },                                      \
        { "@ hears nothing for #", .directions = WAY_DOWN },                   \
        { "@ is not heard for #", .directions = WAY_UP },                      \
        { "@ is cut off for #", .directions = WAY_UP | WAY_DOWN },             \
        { "@ loses its connection", .number = server_reset_connections },      \
        { "refuse # %", .two = refuse_some },                                  \
        { "at least # %", .two = at_least },                                   \
        { "at most # %", .two = at_most },                                     \
        { "make the unfair node", .named = make, .name = UNFAIR_PATH },        \
        { "delete the unfair node", .named = operator_deletes,                 \
          .name = UNFAIR_PATH },                                               \
        { "sleep #", .lasts = fiber_sleep },                                   \
        { "count", .alone = count_from_here },                                 \
    {                                                                          \
        .says = NULL                                                           \
    }

/* The step is one call. */
#define STEP(name, parameter, ...)                                             \
    static void name(parameter)                                                \
    {                                                                          \
        __VA_ARGS__;                                                           \
    }

/* Those of a program: its own, and the common ones at the end. */
extern const struct step steps[];

/* Does what the text says: steps with commas between them. */
void play(const char *text);
