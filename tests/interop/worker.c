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

#include "gather.h"
#include "section.h"

enum {
    READ,
    WRITE,
    MODES,
    WORDS_MAX = 8,
    PERMITS_MAX = 16,
    MIX_TIMEOUT_MS = 120000,
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

static void answer(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Each line is one write, because callbacks answer, too. */
static void answer(const char *format, ...)
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
}

/* Answers what has failed, or, when nothing has, that it is done. */
static void answer_rc(int rc, const char *done)
{
    if (rc != ZKR_OK)
        answer("failed: %s: %s", zkr_strerror(rc), zkr_error_detail());
    else
        answer("%s", done);
}

static void on_event(zkr_grant *grant, const struct zkr_grant_event *event,
                     void *user)
{
    if (event->kind == ZKR_GRANT_REVOKE_REQUESTED)
        answer("asked");
}

static int mode_of(const char *word)
{
    return strcmp(word, "read") == 0 ? READ : WRITE;
}

static const char *name_of(zkr_grant *grant)
{
    return strrchr(zkr_grant_node(grant), '/') + 1;
}

static void do_open(char **words)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;

    opts.session_timeout_ms = (uint32_t)strtoul(words[2], NULL, 10);
    int rc = zkr_session_open(words[1], &opts, &session);
    if (rc != ZKR_OK)
        answer_rc(rc, NULL);
    else
        answer("open %" PRIx64, (uint64_t)zkr_session_id(session));
}

static void free_locks(void)
{
    zkr_lockable_free(lock);
    zkr_leader_free(leader);
    lock = NULL;
    leader = NULL;
}

static void do_close(char **words)
{
    free_locks();
    int rc = zkr_session_close(session);
    session = NULL;
    answer_rc(rc, "closed");
}

static int new_leader(const char *path, enum zkr_lockable_flags layout)
{
    struct zkr_leader_opts opts = ZKR_LEADER_OPTS_INIT;

    opts.id = my_name;
    opts.id_size = strlen(my_name);
    opts.flags = layout;
    return zkr_leader_new(session, path, &opts, NULL, NULL, &leader);
}

static int new_semaphore(const char *path, const char *limit,
                         struct zkr_lockable_opts *opts)
{
    bool shared = limit[0] == '/';

    is_semaphore = true;
    opts->flags = 0;
    opts->limit_path = shared ? limit : NULL;
    return zkr_semaphore_new(session, path,
                             shared ? 1 : (uint32_t)strtoul(limit, NULL, 10),
                             opts, &lock);
}

static int new_lock(const char *recipe, const char *limit, const char *path,
                    struct zkr_lockable_opts *opts)
{
    if (strcmp(recipe, "mutex") == 0)
        return zkr_mutex_new(session, path, opts, &lock);
    if (strcmp(recipe, "rw") == 0)
        return zkr_rwlock_new(session, path, opts, &lock);
    if (strcmp(recipe, "latch") == 0)
        return new_leader(path, opts->flags);
    if (strcmp(recipe, "selector") == 0)
        return new_leader(path, ZKR_SELECTOR_LAYOUT);
    if (strcmp(recipe, "semaphore-mutex") == 0)
        limit = "1";
    return new_semaphore(path, limit, opts);
}

static void do_lock(char **words)
{
    struct zkr_lockable_opts opts = ZKR_LOCKABLE_OPTS_INIT;
    char *limit = NULL;
    const char *recipe = strtok_r(words[1], ":", &limit);

    opts.label = my_name;
    opts.flags = strcmp(words[2], "kazoo") == 0 ? ZKR_KAZOO_LAYOUT : 0;
    free_locks();
    listening = false;
    is_semaphore = false;
    answer_rc(new_lock(recipe, limit, words[3], &opts), "lock");
}

static void do_listen(char **words)
{
    listening = true;
    answer("listening");
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
    struct zkr_acquire_opts opts = ZKR_ACQUIRE_OPTS_INIT;

    opts.mode = mode == READ ? ZKR_SHARED : ZKR_EXCLUSIVE;
    return leader != NULL
               ? lead(timeout_ms, ret_grant)
               : zkr_lockable_acquire(lock, &opts, timeout_ms, ret_grant);
}

static void answer_held(zkr_grant *grant)
{
    if (listening)
        (void)zkr_grant_listen(grant, on_event, NULL);
    answer("held %s %" PRId64, name_of(grant), zkr_grant_token(grant));
}

static int acquire_permits(uint32_t count, int64_t timeout_ms)
{
    permits = count;
    return zkr_semaphore_acquire_many(lock, permits, timeout_ms, leases);
}

static void do_acquire(char **words)
{
    int64_t timeout_ms = strtol(words[2], NULL, 10);
    int mode = mode_of(words[1]);
    int rc;

    if (is_semaphore)
        rc = acquire_permits((uint32_t)strtoul(words[1], NULL, 10), timeout_ms);
    else
        rc = acquire(mode, timeout_ms, &grants[mode]);
    if (rc == ZKR_OK)
        answer_held(is_semaphore ? leases[0] : grants[mode]);
    else if (rc == ZKR_EBUSY || rc == ZKR_ETIMEDOUT)
        answer("busy");
    else
        answer_rc(rc, NULL);
}

static int release(zkr_grant *grant)
{
    int rc =
        leader != NULL ? zkr_leader_leave(leader) : zkr_grant_release(grant);

    zkr_grant_free(grant);
    return rc;
}

static int return_leases(void)
{
    int rc = zkr_grants_release(leases, permits);

    zkr_grants_free(leases, permits);
    return rc;
}

static void do_release(char **words)
{
    int mode = mode_of(words[1]);
    int rc = is_semaphore ? return_leases() : release(grants[mode]);

    grants[mode] = NULL;
    answer_rc(rc, "released");
}

static void do_leader(char **words)
{
    struct zkr_participants_opts opts = ZKR_PARTICIPANTS_OPTS_INIT;
    struct zkr_participants *list = NULL;

    opts.reads = 1;
    int rc =
        zkr_participants_list(session, zkr_leader_path(leader), &opts, &list);
    if (rc != ZKR_OK)
        answer_rc(rc, NULL);
    else
        answer("leader %s", list->count > 0 ? list->items[0].data : "");
    zkr_participants_free(list);
}

static void do_revoke(char **words)
{
    answer_rc(zkr_participants_revoke(session, words[1]), "revoked");
}

static void do_downgrade(char **words)
{
    int rc = zkr_rwlock_downgrade(lock, grants[WRITE], &grants[READ]);

    if (rc != ZKR_OK) {
        answer_rc(rc, NULL);
        return;
    }
    zkr_grant_free(grants[WRITE]);
    grants[WRITE] = NULL;
    answer_held(grants[READ]);
}

static bool is_ok(int rc)
{
    if (rc != ZKR_OK)
        (void)fprintf(stderr, "%s: %s: %s\n", my_name, zkr_strerror(rc),
                      zkr_error_detail());
    return rc == ZKR_OK;
}

static struct section_node node_of(zkr_grant *grant)
{
    return (struct section_node){ name_of(grant), zkr_grant_token(grant) };
}

static bool cycle(struct section *s, bool writer)
{
    zkr_grant *grant;

    if (!is_ok(acquire(writer ? WRITE : READ, MIX_TIMEOUT_MS, &grant)))
        return false;
    struct section_node node = node_of(grant);
    section_work(s, writer ? "write" : "read", &node, 1);
    (void)release(grant);
    return true;
}

static bool lease_cycle(struct section *s, bool two)
{
    struct section_node nodes[PERMITS_MAX];

    if (!is_ok(acquire_permits(two ? 2 : 1, MIX_TIMEOUT_MS)))
        return false;
    for (uint32_t i = 0; i < permits; i++)
        nodes[i] = node_of(leases[i]);
    section_work(s, two ? "2" : "1", nodes, permits);
    (void)return_leases();
    return true;
}

static void do_run(char **words)
{
    long writers = strtol(words[2], NULL, 10);
    struct section s;
    int cycles = 0;

    if (!section_open(&s, my_name, words[1])) {
        answer("failed: %s", words[1]);
        return;
    }
    while (!section_is_over(&s)) {
        bool writer = random() % 100 < writers;

        cycles += is_semaphore ? lease_cycle(&s, writer) : cycle(&s, writer);
    }
    section_close(&s);
    answer("ran %d", cycles);
}

static const struct {
    const char *name;
    int words;
    void (*run)(char **words);
} commands[] = {
    { "open", 3, do_open },       { "close", 1, do_close },
    { "lock", 4, do_lock },       { "listen", 1, do_listen },
    { "acquire", 3, do_acquire }, { "release", 2, do_release },
    { "revoke", 2, do_revoke },   { "downgrade", 1, do_downgrade },
    { "run", 3, do_run },         { "leader", 1, do_leader },
};

static void obey(char *line)
{
    char *words[WORDS_MAX];
    char text[GATHERED_MAX];
    char *rest = NULL;
    int n = 0;

    for (char *word = strtok_r(line, " \n", &rest);
         word != NULL && n < WORDS_MAX; word = strtok_r(NULL, " \n", &rest))
        words[n++] = word;
    for (size_t i = 0; n > 0 && i < sizeof(commands) / sizeof(*commands); i++) {
        if (strcmp(words[0], commands[i].name) == 0 && n == commands[i].words) {
            commands[i].run(words);
            return;
        }
    }
    gather(session, words, n, text);
    answer("%s", text);
}

int main(int argc, char **argv)
{
    char line[1024];

    if (argc != 2)
        return 64;
    my_name = argv[1];
    srandom((unsigned)getpid() ^ (unsigned)time(NULL));
    answer("ready");
    while (fgets(line, sizeof(line), stdin) != NULL)
        obey(line);
    return 0;
}
