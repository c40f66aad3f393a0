/* SPDX-License-Identifier: Apache-2.0 */
/* Understands what servers tell of sessions and watches, with four letter
 * words, and what that means for the contenders of a lock. */
#include "model/server_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"

enum { SESSIONS_MAX = 1 << 20 };

struct watch {
    int64_t session_id; /* first: by_session() */
    char *path;
};

struct servers {
    char *directory; /* with the chroot before and a '/' behind it */
    size_t chroot_len;
    struct client *clients;
    size_t client_count;
    int64_t *sessions;
    size_t session_count;
    struct watch *watches;
    size_t watch_count;
    const char *path; /* the last in the answer to wchp that is read; or NULL */
    bool any_dump;
    bool failed;              /* out of memory, in the answer that is read */
    bool follows;             /* the server whose answer to mntr is read */
    char observer_master[72]; /* the first server that is one, or "" */
    unsigned all; /* words that every server of the ensemble has answered */
};

/* --- reading an answer --- */

/* One more in an array of all sessions; the new item, or NULL. */
static void *grow(struct servers *s, void *items, size_t *count, size_t size)
{
    void *added = *count < SESSIONS_MAX ? grow_array(items, count, size) : NULL;

    s->failed = s->failed || added == NULL;
    return added;
}

/* "0x100..." at the start of a text; the rest of it, or NULL. */
static const char *read_id(const char *text, int64_t *ret_id)
{
    char *end;

    if (strncmp(text, "0x", 2) != 0 ||
        strspn(text + 2, "0123456789abcdef") == 0)
        return NULL;
    errno = 0;
    *ret_id = (int64_t)strtoull(text + 2, &end, 16);
    return errno == 0 ? end : NULL;
}

/* " /127.0.0.1:49160[1](queued=0,...,sid=0x1,...,to=10000,...)" */
static void read_cons(struct servers *s, const char *server, char *line)
{
    char *slash = strchr(line, '/');
    char *bracket = strchr(line, '[');
    const char *sid = strstr(line, ",sid=");
    const char *to = strstr(line, ",to=");
    const char *est = strstr(line, ",est=");
    struct client *client;
    int64_t id;

    if (slash == NULL || bracket == NULL || bracket < slash || sid == NULL ||
        to == NULL || read_id(sid + 5, &id) == NULL)
        return;
    if (slash[1] == '[') /* IPv6 */
        bracket = strchr(slash + 2, '[');
    if (bracket == NULL)
        return;
    client = grow(s, &s->clients, &s->client_count, sizeof(*client));
    if (client == NULL)
        return;
    *bracket = '\0';
    client->session_id = id;
    client->timeout_ms = strtol(to + 4, NULL, 10);
    client->since_ms = est == NULL ? 0 : strtoll(est + 5, NULL, 10);
    (void)snprintf(client->address, sizeof(client->address), "%s", slash + 1);
    (void)snprintf(client->server, sizeof(client->server), "%s", server);
}

/* Session ids stand alone, or before their timeout, or before the nodes of the
 * session. */
static void read_dump(struct servers *s, const char *server, char *line)
{
    int64_t id;
    const char *rest = read_id(line + strspn(line, " \t"), &id);
    int64_t *session;

    (void)server;
    if (rest == NULL || strchr("\t:", *rest) == NULL)
        return;
    session = grow(s, &s->sessions, &s->session_count, sizeof(*session));
    if (session != NULL)
        *session = id;
}

/* "zk_server_state\tfollower", and behind it, with an observerMasterPort,
 * "zk_synced_observers\t2", which each leader has. */
static void read_mntr(struct servers *s, const char *server, char *line)
{
    static const char state[] = "zk_server_state\t";
    static const char observers[] = "zk_synced_observers\t";

    if (strncmp(line, state, strlen(state)) == 0)
        s->follows = strcmp(line + strlen(state), "follower") == 0;
    if (s->follows && strncmp(line, observers, strlen(observers)) == 0)
        (void)snprintf(s->observer_master, sizeof(s->observer_master), "%s",
                       server);
}

/* The path on a line of its own, then its sessions. */
static void read_wchp(struct servers *s, const char *server, char *line)
{
    struct watch *watch;
    int64_t id;

    (void)server;
    if (line[0] == '/')
        s->path = strncmp(line, s->directory, strlen(s->directory)) == 0
                      ? line + s->chroot_len
                      : NULL;
    line += strspn(line, " \t");
    if (s->path == NULL || read_id(line, &id) == NULL)
        return;
    watch = grow(s, &s->watches, &s->watch_count, sizeof(*watch));
    if (watch == NULL)
        return;
    watch->session_id = id;
    watch->path = strdup(s->path);
    if (watch->path == NULL) {
        s->watch_count--;
        s->failed = true;
    }
}

static void read_lines(struct servers *s, unsigned word, const char *server,
                       char *text)
{
    void (*read)(struct servers *, const char *, char *) =
        word == SERVERS_CONS   ? read_cons
        : word == SERVERS_DUMP ? read_dump
        : word == SERVERS_MNTR ? read_mntr
                               : read_wchp;
    char *line;

    while (!s->failed && (line = strsep(&text, "\r\n")) != NULL)
        read(s, server, line);
    s->path = NULL;
}

static int compare(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

/* Sessions, and clients and watches, which begin with theirs. */
static int by_session(const void *a, const void *b)
{
    return compare(*(const int64_t *)a, *(const int64_t *)b);
}

static int by_watch(const void *a, const void *b)
{
    const struct watch *x = a;
    const struct watch *y = b;
    int order = compare(x->session_id, y->session_id);

    return order != 0 ? order : strcmp(x->path, y->path);
}

static void sort(struct servers *s)
{
    sort_array(s->clients, s->client_count, sizeof(*s->clients), by_session);
    sort_array(s->sessions, s->session_count, sizeof(*s->sessions), by_session);
    sort_array(s->watches, s->watch_count, sizeof(*s->watches), by_watch);
}

/* A NUL ends it. */
bool servers_read(struct servers *s, unsigned word, const char *server,
                  const char *text, size_t size)
{
    char *copy = strndup(text, size);

    s->failed = copy == NULL;
    if (copy != NULL)
        read_lines(s, word, server, copy);
    free(copy);
    sort(s);
    s->any_dump = s->any_dump || (!s->failed && word == SERVERS_DUMP);
    return !s->failed;
}

/* --- what is known --- */

struct servers *servers_new(const char *chroot, const char *directory)
{
    struct servers *s = calloc(1, sizeof(*s));
    size_t size = strlen(chroot) + strlen(directory) + 2;

    if (s == NULL)
        return NULL;
    s->all = SERVERS_CONS | SERVERS_DUMP | SERVERS_WCHP;
    s->directory = malloc(size);
    if (s->directory == NULL) {
        free(s);
        return NULL;
    }
    (void)snprintf(s->directory, size, "%s%s/", chroot, directory);
    s->chroot_len = strlen(chroot);
    return s;
}

void servers_free(struct servers *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->watch_count; i++)
        free(s->watches[i].path);
    free(s->watches);
    free(s->sessions);
    free(s->clients);
    free(s->directory);
    free(s);
}

const struct client *servers_client(const struct servers *s, int64_t session_id)
{
    const struct client key = { .session_id = session_id };

    return session_id == 0 ? NULL
                           : find_in_array(&key, s->clients, s->client_count,
                                           sizeof(key), by_session);
}

enum answer servers_session_lives(const struct servers *s, int64_t session_id)
{
    return find_in_array(&session_id, s->sessions, s->session_count,
                         sizeof(session_id), by_session) != NULL
               ? ANSWER_YES
           : s->any_dump ? ANSWER_NO
                         : ANSWER_UNKNOWN;
}

const char *servers_observer_master(const struct servers *s)
{
    return s->observer_master[0] == '\0' ? NULL : s->observer_master;
}

bool servers_watches(const struct servers *s, int64_t session_id,
                     const char *path)
{
    const struct watch key = { session_id, (char *)(uintptr_t)path };

    return find_in_array(&key, s->watches, s->watch_count, sizeof(key),
                         path == NULL ? by_session : by_watch) != NULL;
}

void servers_lack(struct servers *s, unsigned asked)
{
    s->all &= ~asked;
}

bool servers_know_all(const struct servers *s, unsigned asked)
{
    return (s->all & asked) != 0;
}

/* A session is connected to one server at a time. */
bool servers_tell_twice(const struct servers *s)
{
    for (size_t i = 1; i < s->client_count; i++) {
        const struct client *c = &s->clients[i];

        if (c->session_id == c[-1].session_id &&
            strcmp(c->server, c[-1].server) != 0)
            return true;
    }
    return false;
}

/* --- who wakes up --- */

static bool watches(const struct servers *servers, const struct lock *lock,
                    int64_t session_id, size_t target)
{
    char path[3 * ZKR_PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/%s", lock->path,
                   lock->items[target].node->name);
    return servers_watches(servers, session_id, path);
}

static bool waits_alone(const struct lock *lock, int64_t session_id)
{
    size_t n = 0;

    for (size_t i = 0; i < lock->count; i++)
        n += contender_waits(&lock->items[i]) &&
             lock->items[i].node->session_id == session_id;
    return n < 2;
}

/* Nearly all watch the one that they wait for; many of those who do not watch
 * nothing that is known. */
static bool is_woken(const struct servers *servers, const struct lock *lock,
                     const struct contender *c)
{
    const struct zkr_participant *p = c->node;
    bool behind_one = p->waits_for < lock->count;

    if (behind_one && watches(servers, lock, p->session_id, p->waits_for))
        return true;
    if ((behind_one && p->kind != ZKR_PARTICIPANT_SHARED &&
         !waits_alone(lock, p->session_id)) ||
        !servers_watches(servers, p->session_id, NULL))
        return false;
    for (size_t i = 0; i < (size_t)(c - lock->items); i++) {
        if (watches(servers, lock, p->session_id, i))
            return true;
    }
    return false;
}

enum answer servers_wake(const struct servers *servers, const struct lock *lock,
                         const struct contender *c)
{
    size_t i = c->node->waits_for;

    if (servers == NULL || c->node->session_id == 0 ||
        contender_wants_permit(lock, c))
        return ANSWER_UNKNOWN;
    if (is_woken(servers, lock, c))
        return ANSWER_YES;
    return servers_know_all(servers, SERVERS_WCHP) &&
                   !(i < lock->count && lock->items[i].node->error != ZKR_OK)
               ? ANSWER_NO
               : ANSWER_UNKNOWN;
}

/* --- look after look --- */

static int by_token(const void *a, const void *b)
{
    return compare(((const struct wake *)a)->token,
                   ((const struct wake *)b)->token);
}

static const struct wake *find(const struct told *t, int64_t token)
{
    const struct wake key = { .token = token };

    return find_in_array(&key, t->wakes, t->count, sizeof(key), by_token);
}

static bool read_wakes(struct told *t, const struct lock *lock)
{
    t->wakes = calloc(lock->count + 1, sizeof(*t->wakes));
    for (size_t i = 0; t->wakes != NULL && i < lock->count; i++) {
        const struct contender *c = &lock->items[i];
        enum answer answer;

        if (!contender_waits(c))
            continue;
        answer = servers_wake(t->servers, lock, c);
        t->deaf += answer == ANSWER_NO;
        t->wakes[t->count++] =
            (struct wake){ .token = c->node->token, .answer = answer };
    }
    sort_array(t->wakes, t->count, sizeof(*t->wakes), by_token);
    return t->wakes != NULL;
}

bool told_take(struct told *t, const struct lock *lock, struct servers *servers)
{
    struct told next = { .servers = servers };
    bool done = servers == NULL || read_wakes(&next, lock);

    for (size_t i = 0; i < next.count; i++) {
        const struct wake *before = find(t, next.wakes[i].token);

        next.wakes[i].was_deaf = before != NULL && before->answer == ANSWER_NO;
    }
    told_done(t);
    *t = next;
    return done;
}

void told_done(struct told *t)
{
    servers_free(t->servers);
    free(t->wakes);
    *t = (struct told){ .servers = NULL };
}

const struct client *told_client(const struct told *t,
                                 const struct contender *c)
{
    return t->servers == NULL ? NULL
                              : servers_client(t->servers, c->node->session_id);
}

enum answer told_lives(const struct told *t, const struct contender *c)
{
    return t->servers == NULL || c->node->session_id == 0
               ? ANSWER_UNKNOWN
               : servers_session_lives(t->servers, c->node->session_id);
}

enum answer told_wakes(const struct told *t, const struct contender *c)
{
    const struct wake *wake = find(t, c->node->token);

    if (wake == NULL)
        return ANSWER_UNKNOWN;
    return wake->answer == ANSWER_NO && !wake->was_deaf ? ANSWER_UNKNOWN
                                                        : wake->answer;
}
