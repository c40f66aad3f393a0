/* SPDX-License-Identifier: Apache-2.0 */
/* The counters and barriers of the C side. worker.h has the commands. */
#include "gather.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ADD_MS = 60000 };

static zkr_double_barrier *member;

static int new_counter(zkr_session *session, char **words, const char *lock,
                       zkr_counter **ret_counter)
{
    struct zkr_counter_opts opts = ZKR_COUNTER_OPTS_INIT;

    if (strcmp(words[1], "shared") == 0)
        opts.flags = ZKR_COUNTER_INT32;
    if (strcmp(lock, "-") != 0)
        opts.lock_path = lock;
    opts.promote_after = 3;
    return zkr_counter_new(session, words[2], &opts, ret_counter);
}

static int add(zkr_session *session, char **words, char *answer)
{
    long times = strtol(words[4], NULL, 10);
    int made = 0;
    int unknown = 0;
    zkr_counter *counter;
    int rc = new_counter(session, words, words[3], &counter);

    if (rc != ZKR_OK)
        return rc;
    while (made + unknown < times && (rc == ZKR_OK || rc == ZKR_EUNKNOWN)) {
        rc = zkr_counter_add(counter, 1, ADD_MS, NULL);
        made += rc == ZKR_OK;
        unknown += rc == ZKR_EUNKNOWN;
    }
    zkr_counter_free(counter);
    (void)snprintf(answer, GATHERED_MAX, "added %d %d", made, unknown);
    return rc == ZKR_EUNKNOWN ? ZKR_OK : rc;
}

static int number(zkr_session *session, char **words, char *answer)
{
    zkr_counter *counter;
    int64_t value;
    int rc = new_counter(session, words, "-", &counter);

    if (rc == ZKR_OK)
        rc = zkr_session_sync(session, ADD_MS);
    if (rc == ZKR_OK)
        rc = zkr_counter_get(counter, ADD_MS, &value, NULL);
    if (rc == ZKR_OK)
        (void)snprintf(answer, GATHERED_MAX, "number %lld", (long long)value);
    zkr_counter_free(counter);
    return rc;
}

static int barrier(zkr_session *session, char **words, char *answer)
{
    zkr_barrier *b;
    int rc = zkr_barrier_new(session, words[2], NULL, &b);

    if (rc == ZKR_OK && strcmp(words[1], "set") == 0)
        rc = zkr_barrier_set(b, -1);
    else if (rc == ZKR_OK && strcmp(words[1], "remove") == 0)
        rc = zkr_barrier_remove(b, -1);
    else if (rc == ZKR_OK)
        rc = zkr_barrier_wait(b, -1);
    zkr_barrier_free(b);
    (void)snprintf(answer, GATHERED_MAX, "done %s", words[1]);
    return rc;
}

static int busy(int rc, char *answer)
{
    if (rc != ZKR_EBUSY && rc != ZKR_ETIMEDOUT)
        return rc;
    (void)snprintf(answer, GATHERED_MAX, "busy");
    return ZKR_OK;
}

static int enter(zkr_session *session, char **words, char *answer)
{
    zkr_double_barrier_free(member);
    int rc = zkr_double_barrier_new(session, words[1],
                                    (uint32_t)strtoul(words[2], NULL, 10), NULL,
                                    &member);
    if (rc == ZKR_OK)
        rc = zkr_double_barrier_enter(member, strtol(words[3], NULL, 10));
    (void)snprintf(answer, GATHERED_MAX, "entered");
    return busy(rc, answer);
}

static int leave(zkr_session *session, char **words, char *answer)
{
    (void)snprintf(answer, GATHERED_MAX, "left");
    return busy(zkr_double_barrier_leave(member, strtol(words[1], NULL, 10)),
                answer);
}

static const struct {
    const char *name;
    int words;
    int (*run)(zkr_session *session, char **words, char *answer);
} commands[] = {
    { "add", 5, add },     { "number", 3, number }, { "barrier", 3, barrier },
    { "enter", 4, enter }, { "leave", 2, leave },
};

void gather(zkr_session *session, char **words, int count,
            char answer[GATHERED_MAX])
{
    int rc;

    (void)snprintf(answer, GATHERED_MAX, "failed: what?");
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        if (count != commands[i].words ||
            strcmp(words[0], commands[i].name) != 0)
            continue;
        rc = commands[i].run(session, words, answer);
        if (rc != ZKR_OK)
            (void)snprintf(answer, GATHERED_MAX, "failed: %s: %s",
                           zkr_strerror(rc), zkr_error_detail());
        return;
    }
}
