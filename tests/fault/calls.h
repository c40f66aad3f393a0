/* Every call of the library that waits, and how long it may take by its
 * documentation. */
#ifndef TEST_CALLS_H
#define TEST_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zkrecipes/zkrecipes.h>

enum {
    DEADLINE_MS = 700, /* where the call takes one */
    REPLY_MS = 400,    /* reply_timeout_ms of the session, where it does not */
    CONNECT_MS = 600,
    CLOSE_MS = 6000, /* session.h says so */
};

struct call;

/* One call on a lock path of its own. */
struct attempt {
    const struct call *call;
    const char *hosts;
    zkr_session *session; /* shared with others */
    zkr_session *own;     /* one to close */
    char path[64];
    void *lock;
    zkr_grant *grant; /* what it is about */
    zkr_grant *result;
    int rc;
};

struct call {
    const char *name;
    int64_t limit_ms;
    bool begins_before; /* it is waiting for a holder when the fault comes */
    void (*prepare)(struct attempt *a); /* on servers that are well */
    int (*run)(struct attempt *a);
    void (*free_lock)(void *lock);
};

extern const struct call calls[];
extern const size_t call_count;

/* A session as the calls expect it. */
zkr_session *calls_session(const char *hosts);

/* After the fault. */
void call_clean(struct attempt *a);

#endif
