/* SPDX-License-Identifier: Apache-2.0 */
/* Understands what servers tell of sessions and watches, with four letter
 * words. */
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
    bool any_dump;
    bool follows;             /* the server whose answer to mntr is read */
    char observer_master[72]; /* the first server that is one, or "" */
    unsigned all; /* words that every server of the ensemble has answered */
};

/* --- reading an answer --- */

/* One more in an array of all sessions; the new item, or NULL. */
static void *grow(void *items, size_t *count, size_t size)
{
    return *count < SESSIONS_MAX ? grow_array(items, count, size) : NULL;
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
static bool read_cons(struct servers *s, const char *server, char *line)
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
        return true;
    if (slash[1] == '[') /* IPv6 */
        bracket = strchr(slash + 2, '[');
    if (bracket == NULL)
        return true;
    client = grow(&s->clients, &s->client_count, sizeof(*client));
    if (client == NULL)
        return false;
    *bracket = '\0';
    client->session_id = id;
    client->timeout_ms = strtol(to + 4, NULL, 10);
    client->since_ms = est == NULL ? 0 : strtoll(est + 5, NULL, 10);
    (void)snprintf(client->address, sizeof(client->address), "%s", slash + 1);
    (void)snprintf(client->server, sizeof(client->server), "%s", server);
    return true;
}

/* Session ids stand alone, or before their timeout, or before the nodes of the
 * session. */
static bool read_dump(struct servers *s, char *line)
{
    const char *rest;
    int64_t *session;
    int64_t id;

    line += strspn(line, " \t");
    rest = read_id(line, &id);
    if (rest == NULL || strchr("\t:", *rest) == NULL)
        return true;
    session = grow(&s->sessions, &s->session_count, sizeof(*session));
    if (session != NULL)
        *session = id;
    return session != NULL;
}

/* "zk_server_state\tfollower", and behind it, with an observerMasterPort,
 * "zk_synced_observers\t2", which each leader has. */
static bool read_mntr(struct servers *s, const char *server, const char *line)
{
    static const char state[] = "zk_server_state\t";
    static const char observers[] = "zk_synced_observers\t";

    if (strncmp(line, state, strlen(state)) == 0)
        s->follows = strcmp(line + strlen(state), "follower") == 0;
    if (s->follows && strncmp(line, observers, strlen(observers)) == 0)
        (void)snprintf(s->observer_master, sizeof(s->observer_master), "%s",
                       server);
    return true;
}

/* The path on a line of its own, then its sessions. `path` points to what was
 * read last, into the text, or is NULL. */
static bool read_wchp(struct servers *s, char *line, const char **path)
{
    struct watch *watch;
    int64_t id;

    if (line[0] == '/') {
        *path = strncmp(line, s->directory, strlen(s->directory)) == 0
                    ? line + s->chroot_len
                    : NULL;
        return true;
    }
    line += strspn(line, " \t");
    if (*path == NULL || read_id(line, &id) == NULL)
        return true;
    watch = grow(&s->watches, &s->watch_count, sizeof(*watch));
    if (watch == NULL)
        return false;
    watch->session_id = id;
    watch->path = strdup(*path);
    if (watch->path == NULL)
        s->watch_count--;
    return watch->path != NULL;
}

static bool read_lines(struct servers *s, unsigned word, const char *server,
                       char *text)
{
    const char *path = NULL;
    char *rest = NULL;

    for (char *line = strtok_r(text, "\r\n", &rest); line != NULL;
         line = strtok_r(NULL, "\r\n", &rest)) {
        bool done = word == SERVERS_CONS   ? read_cons(s, server, line)
                    : word == SERVERS_DUMP ? read_dump(s, line)
                    : word == SERVERS_MNTR ? read_mntr(s, server, line)
                                           : read_wchp(s, line, &path);

        if (!done)
            return false;
    }
    return true;
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
    if (s->client_count > 0)
        qsort(s->clients, s->client_count, sizeof(*s->clients), by_session);
    if (s->session_count > 0)
        qsort(s->sessions, s->session_count, sizeof(*s->sessions), by_session);
    if (s->watch_count > 0)
        qsort(s->watches, s->watch_count, sizeof(*s->watches), by_watch);
}

/* A NUL ends it. */
bool servers_read(struct servers *s, unsigned word, const char *server,
                  const char *text, size_t size)
{
    char *copy = strndup(text, size);
    bool done = copy != NULL && read_lines(s, word, server, copy);

    free(copy);
    sort(s);
    s->any_dump = s->any_dump || (done && word == SERVERS_DUMP);
    return done;
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

    return session_id == 0 || s->client_count == 0
               ? NULL
               : bsearch(&key, s->clients, s->client_count, sizeof(key),
                         by_session);
}

enum answer servers_session_lives(const struct servers *s, int64_t session_id)
{
    if (s->session_count > 0 &&
        bsearch(&session_id, s->sessions, s->session_count, sizeof(session_id),
                by_session) != NULL)
        return ANSWER_YES;
    return s->any_dump ? ANSWER_NO : ANSWER_UNKNOWN;
}

const char *servers_observer_master(const struct servers *s)
{
    return s->observer_master[0] == '\0' ? NULL : s->observer_master;
}

bool servers_watches(const struct servers *s, int64_t session_id,
                     const char *path)
{
    const struct watch key = { session_id, (char *)(uintptr_t)path };

    return s->watch_count > 0 &&
           bsearch(&key, s->watches, s->watch_count, sizeof(key),
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
