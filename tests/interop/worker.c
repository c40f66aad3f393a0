/* SPDX-License-Identifier: Apache-2.0 */
/* The C side of the interop tests: zkrecipes, driven by lines. worker.h says
 * which lines.
 *
 *   interop-worker NAME */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <time.h>
#include <unistd.h>

#include "scope.h"

enum {
    READ,
    WRITE,
    MODES,
    WORDS_MAX = 8,
    PERMITS_MAX = 16,
    MIX_TIMEOUT_MS = 120000,
    ADD_MS = 60000,
};

static const char *my_name;
static zkr_session *session;
static zkr_lockable *lock; /* one of these two */
static zkr_leader *leader;
static zkr_grant *grants[MODES];
static bool is_semaphore;
static zkr_grant *leases[PERMITS_MAX];
static uint32_t permits; /* of `leases` */
static bool listening;
static zkr_double_barrier *member;

/* Each line is one write, because callbacks answer, too. */
__attribute__((format(printf, 1, 2))) static int answer(const char *format, ...)
{
    char line[1024] = "= ";
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line + 2, sizeof(line) - 3, format, args);
    va_end(args);
    size_t size = strlen(line);
    line[size] = '\n';
    if (write(STDOUT_FILENO, line, size + 1) < 0)
        exit(1);
    return ZKR_OK;
}

/* Answers that it is done; returns what has failed, which obey() answers. */
static int done(int rc, const char *what)
{
    return rc != ZKR_OK ? rc : answer("%s", what);
}

static int done_or_busy(int rc, const char *what)
{
    return rc == ZKR_EBUSY || rc == ZKR_ETIMEDOUT ? answer("busy")
                                                  : done(rc, what);
}

static void on_event(zkr_grant *grant, const struct zkr_grant_event *event,
                     void *user)
{
    if (event->kind == ZKR_GRANT_REVOKE_REQUESTED)
        (void)answer("asked");
}

static uint32_t number_of(const char *word)
{
    return (uint32_t)strtoul(word, NULL, 10);
}

static int mode_of(const char *word)
{
    return strcmp(word, "read") == 0 ? READ : WRITE;
}

static const char *name_of(zkr_grant *grant)
{
    return strrchr(zkr_grant_node(grant), '/') + 1;
}

static int do_open(char **words)
{
    int rc = zkr_session_open(
        words[1], OPTS(session, .session_timeout_ms = number_of(words[2])),
        &session);

    return rc != ZKR_OK
               ? rc
               : answer("open %" PRIx64, (uint64_t)zkr_session_id(session));
}

static void free_locks(void)
{
    zkr_lockable_free(lock);
    zkr_leader_free(leader);
    lock = NULL;
    leader = NULL;
}

static int do_close(char **words)
{
    free_locks();
    int rc = zkr_session_close(session);
    session = NULL;
    return done(rc, "closed");
}

static int new_leader(const char *path, enum zkr_lockable_flags layout)
{
    return zkr_leader_new(session, path,
                          OPTS(leader, .flags = layout, .id = my_name,
                               .id_size = strlen(my_name)),
                          NULL, NULL, &leader);
}

static int new_lock(const char *recipe, const char *limit, const char *path,
                    enum zkr_lockable_flags layout)
{
    const struct zkr_lockable_opts *opts =
        OPTS(lockable, .flags = layout, .label = my_name);
    bool is_path = limit != NULL && limit[0] == '/';

    if (strcmp(recipe, "mutex") == 0)
        return zkr_mutex_new(session, path, opts, &lock);
    if (strcmp(recipe, "rw") == 0)
        return zkr_rwlock_new(session, path, opts, &lock);
    if (strcmp(recipe, "latch") == 0)
        return new_leader(path, layout);
    if (strcmp(recipe, "selector") == 0)
        return new_leader(path, ZKR_SELECTOR_LAYOUT);
    if (strcmp(recipe, "semaphore-mutex") == 0)
        limit = "1";
    is_semaphore = true;
    return zkr_semaphore_new(
        session, path, is_path ? 1 : number_of(limit),
        OPTS(lockable, .label = my_name, .limit_path = is_path ? limit : NULL),
        &lock);
}

static int do_lock(char **words)
{
    char *limit = NULL;
    const char *recipe = strtok_r(words[1], ":", &limit);

    free_locks();
    listening = false;
    is_semaphore = false;
    return done(new_lock(recipe, limit, words[3],
                         strcmp(words[2], "kazoo") == 0 ? ZKR_KAZOO_LAYOUT : 0),
                "lock");
}

static int do_listen(char **words)
{
    listening = true;
    return answer("listening");
}

static int lead(int64_t timeout_ms, zkr_grant **ret_grant)
{
    int rc = zkr_leader_campaign(leader);

    if (rc == ZKR_OK)
        rc = zkr_leader_wait(leader, timeout_ms);
    if (rc == ZKR_OK)
        rc = zkr_leader_grant(leader, ret_grant);
    if (rc != ZKR_OK)
        (void)zkr_leader_leave(leader);
    return rc;
}

static int acquire(int mode, int64_t timeout_ms, zkr_grant **ret_grant)
{
    uint32_t kind = mode == READ ? ZKR_SHARED : ZKR_EXCLUSIVE;

    return leader != NULL
               ? lead(timeout_ms, ret_grant)
               : zkr_lockable_acquire(lock, OPTS(acquire, .mode = kind),
                                      timeout_ms, ret_grant);
}

static int acquire_permits(uint32_t count, int64_t timeout_ms)
{
    permits = count;
    return zkr_semaphore_acquire_many(lock, permits, timeout_ms, leases);
}

static int answer_held(zkr_grant *grant)
{
    if (listening)
        (void)zkr_grant_listen(grant, on_event, NULL);
    return answer("held %s %" PRId64, name_of(grant), zkr_grant_token(grant));
}

static int do_acquire(char **words)
{
    int64_t timeout_ms = strtol(words[2], NULL, 10);
    int mode = mode_of(words[1]);
    int rc = is_semaphore ? acquire_permits(number_of(words[1]), timeout_ms)
                          : acquire(mode, timeout_ms, &grants[mode]);

    return rc == ZKR_OK ? answer_held(is_semaphore ? leases[0] : grants[mode])
                        : done_or_busy(rc, NULL);
}

/* Of a semaphore: all `leases`. */
static int release(zkr_grant *grant)
{
    int rc = is_semaphore     ? zkr_grants_release(leases, permits)
             : leader != NULL ? zkr_leader_leave(leader)
                              : zkr_grant_release(grant);

    if (is_semaphore)
        zkr_grants_free(leases, permits);
    else
        zkr_grant_free(grant);
    return rc;
}

static int do_release(char **words)
{
    int mode = mode_of(words[1]);
    int rc = release(grants[mode]);

    grants[mode] = NULL;
    return done(rc, "released");
}

static int do_leader(char **words)
{
    struct zkr_participants *list = NULL;

    int rc = zkr_participants_list(session, zkr_leader_path(leader),
                                   OPTS(participants, .reads = 1), &list);
    if (rc == ZKR_OK)
        (void)answer("leader %s", list->count > 0 ? list->items[0].data : "");
    zkr_participants_free(list);
    return rc;
}

static int do_revoke(char **words)
{
    return done(zkr_participants_revoke(session, words[1]), "revoked");
}

static int do_downgrade(char **words)
{
    int rc = zkr_rwlock_downgrade(lock, grants[WRITE], &grants[READ]);

    if (rc != ZKR_OK)
        return rc;
    zkr_grant_free(grants[WRITE]);
    grants[WRITE] = NULL;
    return answer_held(grants[READ]);
}

static int new_counter(char **words, const char *lock_path,
                       zkr_counter **ret_counter)
{
    return zkr_counter_new(
        session, words[2],
        OPTS(counter,
             .flags = strcmp(words[1], "shared") == 0 ? ZKR_COUNTER_INT32 : 0,
             .lock_path = strcmp(lock_path, "-") != 0 ? lock_path : NULL,
             .promote_after = 3),
        ret_counter);
}

static int do_add(char **words)
{
    long times = strtol(words[4], NULL, 10);
    int made = 0;
    int unknown = 0;
    zkr_counter *counter;
    int rc = new_counter(words, words[3], &counter);

    while (made + unknown < times && (rc == ZKR_OK || rc == ZKR_EUNKNOWN)) {
        rc = zkr_counter_add(counter, 1, ADD_MS, NULL);
        made += rc == ZKR_OK;
        unknown += rc == ZKR_EUNKNOWN;
    }
    zkr_counter_free(counter);
    return rc != ZKR_OK && rc != ZKR_EUNKNOWN
               ? rc
               : answer("added %d %d", made, unknown);
}

static int do_number(char **words)
{
    zkr_counter *counter;
    int64_t value;
    int rc = new_counter(words, "-", &counter);

    if (rc == ZKR_OK)
        rc = zkr_session_sync(session, ADD_MS);
    if (rc == ZKR_OK)
        rc = zkr_counter_get(counter, ADD_MS, &value, NULL);
    zkr_counter_free(counter);
    return rc != ZKR_OK ? rc : answer("number %" PRId64, value);
}

static int do_barrier(char **words)
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
    return rc != ZKR_OK ? rc : answer("done %s", words[1]);
}

static int do_enter(char **words)
{
    zkr_double_barrier_free(member);
    int rc = zkr_double_barrier_new(session, words[1], number_of(words[2]),
                                    NULL, &member);
    if (rc == ZKR_OK)
        rc = zkr_double_barrier_enter(member, strtol(words[3], NULL, 10));
    return done_or_busy(rc, "entered");
}

static int do_leave(char **words)
{
    return done_or_busy(
        zkr_double_barrier_leave(member, strtol(words[1], NULL, 10)), "left");
}

/* The test has the resource behind the lock, and answers with a number. */
static int64_t ask(const char *what, const char *mode, zkr_grant *grant,
                   int64_t value)
{
    char line[32];

    (void)answer("%s %s %s %" PRId64 " %" PRId64, what, mode, name_of(grant),
                 zkr_grant_token(grant), value);
    if (fgets(line, sizeof(line), stdin) == NULL)
        exit(1);
    return strtoll(line, NULL, 10);
}

/* False when the test has said that it was the last. */
static bool cycle(bool writer)
{
    static const char *const modes[2][2] = { { "read", "write" },
                                             { "1", "2" } };
    const char *mode = modes[is_semaphore][writer];
    int64_t value = 0;
    int64_t more = 1;

    permits = 1;
    int rc = is_semaphore
                 ? acquire_permits(writer ? 2 : 1, MIX_TIMEOUT_MS)
                 : acquire(writer ? WRITE : READ, MIX_TIMEOUT_MS, leases);
    if (rc != ZKR_OK) {
        (void)fprintf(stderr, "%s: %s: %s\n", my_name, zkr_strerror(rc),
                      zkr_error_detail());
        return true;
    }
    for (uint32_t i = 0; i < permits && value >= 0; i++)
        value = ask("enter", mode, leases[i], 0);
    for (uint32_t i = 0; i < permits && value >= 0; i++)
        more = ask("leave", mode, leases[i], value + (writer && !is_semaphore));
    (void)release(leases[0]);
    return more;
}

static int do_run(char **words)
{
    long writers = strtol(words[1], NULL, 10);

    while (cycle(random() % 100 < writers))
        continue;
    return answer("ran");
}

static const struct {
    const char *name;
    int words;
    int (*run)(char **words);
} commands[] = {
    { "open", 3, do_open },       { "close", 1, do_close },
    { "lock", 4, do_lock },       { "listen", 1, do_listen },
    { "acquire", 3, do_acquire }, { "release", 2, do_release },
    { "revoke", 2, do_revoke },   { "downgrade", 1, do_downgrade },
    { "run", 2, do_run },         { "leader", 1, do_leader },
    { "add", 5, do_add },         { "number", 3, do_number },
    { "barrier", 3, do_barrier }, { "enter", 4, do_enter },
    { "leave", 2, do_leave },
};

static int obey(char *line)
{
    char *words[WORDS_MAX];
    char *rest = NULL;
    int n = 0;

    for (char *word = strtok_r(line, " \n", &rest);
         word != NULL && n < WORDS_MAX; word = strtok_r(NULL, " \n", &rest))
        words[n++] = word;
    for (size_t i = 0; n > 0 && i < sizeof(commands) / sizeof(*commands); i++) {
        if (strcmp(words[0], commands[i].name) == 0 && n == commands[i].words)
            return commands[i].run(words);
    }
    return answer("failed: what?");
}

int main(int argc, char **argv)
{
    char line[1024];

    if (argc != 2)
        return 64;
    my_name = argv[1];
    srandom((unsigned)getpid() ^ (unsigned)time(NULL));
    (void)answer("ready");
    while (fgets(line, sizeof(line), stdin) != NULL) {
        int rc = obey(line);

        if (rc != ZKR_OK)
            (void)answer("failed: %s: %s", zkr_strerror(rc),
                         zkr_error_detail());
    }
    return 0;
}
