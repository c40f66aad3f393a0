/* SPDX-License-Identifier: Apache-2.0 */
#include "model/cons.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/grow.h"
#include "common/now.h"

enum {
    SERVERS_MAX = 64,
    PATIENCE_MS = 2000, /* unless the user has said --timeout */
    PEER_MAX = 72,
    ANSWER_MAX = 64 << 20,
    BLOCK = 1 << 15,
    CLIENTS_MAX = 1 << 20,
};

/* One server, on a thread of its own. */
struct asking {
    const struct zkr_server *server;
    int64_t timeout_ms;
    pthread_t thread;
    bool started;
    /* results */
    bool reached;
    bool down;           /* it refuses the connection */
    bool refused;        /* the word is not in the white list */
    char peer[PEER_MAX]; /* its address and port */
    char *text;          /* the answer, any bytes */
    size_t size;
    size_t room;
};

/* --- an answer --- */

static int by_session(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* " /127.0.0.1:49160[1](queued=0,...,sid=0x1,...,to=10000,...)". */
static void read_line(struct servers *s, const char *server, char *line)
{
    char *slash = strchr(line, '/');
    char *bracket =
        slash == NULL ? NULL : strchr(slash + 2 * (slash[1] == '['), '[');
    const char *sid = strstr(line, ",sid=0x");
    const char *to = strstr(line, ",to=");
    const char *est = strstr(line, ",est=");

    if (bracket == NULL || sid == NULL || to == NULL ||
        strspn(sid + 7, "0123456789abcdef") == 0)
        return;
    errno = 0;
    int64_t id = (int64_t)strtoull(sid + 7, NULL, 16);
    if (errno != 0 || s->count == CLIENTS_MAX)
        return;
    struct client *client = GROW(s);
    *bracket = '\0';
    client->session_id = id;
    client->timeout_ms = strtol(to + 4, NULL, 10);
    client->since_ms = est == NULL ? 0 : strtoll(est + 5, NULL, 10);
    (void)snprintf(client->address, sizeof(client->address), "%s", slash + 1);
    (void)snprintf(client->server, sizeof(client->server), "%s", server);
}

void servers_read(struct servers *s, const char *server, const char *text,
                  size_t size)
{
    char *copy = enough(strndup(text, size));
    char *rest = copy;
    char *line;

    while ((line = strsep(&rest, "\r\n")) != NULL)
        read_line(s, server, line);
    free(copy);
    sort_array(s->items, s->count, sizeof(*s->items), by_session);
}

void servers_free(struct servers *s)
{
    if (s != NULL)
        free(s->items);
    free(s);
}

const struct client *servers_client(const struct servers *s, int64_t session_id)
{
    const struct client key = { .session_id = session_id };

    return s == NULL || session_id == 0
               ? NULL
               : find_in_array(&key, s->items, s->count, sizeof(key),
                               by_session);
}

bool servers_lack(const struct servers *s, int64_t session_id)
{
    return s != NULL && s->whole && session_id != 0 &&
           servers_client(s, session_id) == NULL;
}

/* A session is connected to one server at a time. */
bool servers_tell_twice(const struct servers *s)
{
    for (size_t i = 1; i < s->count; i++) {
        const struct client *c = &s->items[i];

        if (c->session_id == c[-1].session_id &&
            strcmp(c->server, c[-1].server) != 0)
            return true;
    }
    return false;
}

/* --- one server --- */

/* The deadline counts for the next call on the socket. False: it has passed. */
static bool set_deadline(int fd, int64_t deadline)
{
    int64_t left = deadline - clock_now_ms();
    struct timeval t = { .tv_sec = left / 1000, .tv_usec = left % 1000 * 1000 };

    return left > 0 &&
           setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t)) == 0 &&
           setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)) == 0;
}

static int connect_one(const struct addrinfo *a, int64_t deadline)
{
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, 0);

    if (fd < 0 || (set_deadline(fd, deadline) &&
                   connect(fd, a->ai_addr, a->ai_addrlen) == 0))
        return fd;
    int error = errno;
    (void)close(fd);
    return -error;
}

/* The socket, or the negative errno of the last address. */
static int connect_to(const char *host, const char *port, int64_t deadline)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *all = NULL;
    int fd = -1;

    if (getaddrinfo(host, port, &hints, &all) != 0)
        return -1;
    for (const struct addrinfo *i = all; i != NULL && fd < 0; i = i->ai_next)
        fd = connect_one(i, deadline);
    freeaddrinfo(all);
    return fd;
}

static void write_peer(int fd, char peer[PEER_MAX])
{
    struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
    socklen_t size = sizeof(address);
    char host[48];
    char port[8];

    if (getpeername(fd, (struct sockaddr *)&address, &size) == 0 &&
        getnameinfo((struct sockaddr *)&address, size, host, sizeof(host), port,
                    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        (void)snprintf(peer, PEER_MAX, "%s %s", host, port);
}

/* Reads until the server hangs up. False: it does not, or sends too much. A
 * process that is stopped and continued meanwhile gets EINTR, because the
 * socket has a time-out. */
static bool receive(struct asking *a, int fd, int64_t deadline)
{
    ssize_t n = 0;

    do {
        a->size += n > 0 ? (size_t)n : 0;
        if (a->size > ANSWER_MAX || !set_deadline(fd, deadline))
            return false;
        if (a->size + BLOCK > a->room) {
            a->room = 2 * a->size + BLOCK;
            a->text = enough(realloc(a->text, a->room));
        }
        n = recv(fd, a->text + a->size, a->room - a->size, 0);
    } while (n > 0 || (n < 0 && errno == EINTR));
    return n == 0;
}

static void *ask_one(void *arg)
{
    static const char refusal[] = "not in the whitelist";
    struct asking *a = arg;
    int64_t deadline = clock_now_ms() + a->timeout_ms;
    int fd = connect_to(a->server->host, a->server->port, deadline);

    a->down = fd == -ECONNREFUSED;
    a->reached = fd >= 0 && send(fd, "cons", 4, MSG_NOSIGNAL) == 4 &&
                 receive(a, fd, deadline);
    if (fd >= 0) {
        write_peer(fd, a->peer);
        (void)close(fd);
    }
    a->refused = a->reached && memmem(a->text, a->size < 256 ? a->size : 256,
                                      refusal, strlen(refusal)) != NULL;
    return NULL;
}

/* --- all servers --- */

/* The strings stay those of `hosts`. */
static size_t address(const struct lockctl *ctl, const struct zkr_hosts *hosts,
                      struct asking all[SERVERS_MAX])
{
    size_t n = hosts->count < SERVERS_MAX ? hosts->count : SERVERS_MAX;

    for (size_t i = 0; i < n; i++) {
        all[i].server = &hosts->servers[i];
        all[i].timeout_ms = ctl->timeout_given || ctl->timeout_ms < PATIENCE_MS
                                ? ctl->timeout_ms
                                : PATIENCE_MS;
    }
    return n;
}

static void take(struct servers *s, struct asking *a, struct notes *notes)
{
    const char *name = a->server->name;

    if (a->reached && !a->refused)
        servers_read(s, name, a->text, a->size);
    free(a->text);
    if (!a->reached)
        notes_add(notes, "%s %s; what it would tell is missing", name,
                  a->down ? "refuses connections" : "does not answer");
    if (a->refused)
        notes_add(notes,
                  "%s does not answer cons; what it would tell is shown as "
                  "'?'. Add to its zoo.cfg: 4lw.commands.whitelist=srvr,cons",
                  name);
    s->silent += !a->reached;
    s->whole = s->whole && a->reached && !a->refused;
}

static void ask_all(struct servers *s, struct asking *all, size_t n,
                    struct notes *notes)
{
    for (size_t i = 0; i < n; i++) {
        all[i].started =
            pthread_create(&all[i].thread, NULL, ask_one, &all[i]) == 0;
        if (!all[i].started)
            (void)ask_one(&all[i]);
    }
    for (size_t i = 0; i < n; i++) {
        if (all[i].started)
            (void)pthread_join(all[i].thread, NULL);
        take(s, &all[i], notes);
    }
}

/* --- is that the whole ensemble? --- */

/* Addresses tell servers apart: a list may have two names for one. */
static size_t count_asked(const struct asking *all, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        bool counts = all[i].reached && all[i].peer[0] != '\0';

        for (size_t k = 0; k < i && counts; k++)
            counts = strcmp(all[k].peer, all[i].peer) != 0;
        count += counts;
    }
    return count;
}

/* The node in which servers since 3.5 say which servers there are. */
#define ENSEMBLE_CONFIG "/zookeeper/config"

/* One line for each: "server.1=zk1:2888:3888:participant;2181". A server that
 * stands alone has none. */
static size_t count_members(const char *config)
{
    size_t count = 0;

    for (const char *at = config;
         at != NULL && (at = strstr(at, "server.")) != NULL; at++)
        count += at == config || at[-1] == '\n';
    return count > 0 ? count : 1;
}

/* The path is of no chroot, and may be read by everybody. */
static int get_config(const struct lockctl *ctl, const struct zkr_hosts *hosts,
                      struct zkr_reply **ret_reply)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    char *servers = enough(strdup(ctl->settings[SETTING_SERVERS]));
    zkr_session *session = NULL;

    opts.connect_timeout_ms = (uint32_t)ctl->timeout_ms;
    servers[strlen(servers) - strlen(hosts->chroot)] = '\0';
    int rc = zkr_session_open(servers, &opts, &session);
    if (rc == ZKR_OK)
        rc = zkr_session_get(session, ENSEMBLE_CONFIG, ctl->timeout_ms,
                             ret_reply);
    (void)zkr_session_close(session);
    free(servers);
    return rc;
}

/* 0: the ensemble does not tell. */
static size_t ensemble_size(const struct lockctl *ctl,
                            const struct zkr_hosts *hosts)
{
    struct zkr_reply *reply = NULL;
    bool has_chroot = hosts->chroot[0] != '\0';
    size_t count = 0;
    int rc = ZKR_ECLOSED;

    if (ctl->session != NULL)
        rc = has_chroot ? get_config(ctl, hosts, &reply)
                        : zkr_session_get(ctl->session, ENSEMBLE_CONFIG,
                                          ctl->timeout_ms, &reply);
    if (rc == ZKR_OK)
        count = count_members(reply->data);
    zkr_reply_free(reply);
    return count;
}

/* A client may be connected where nobody has asked. */
static void doubt(struct servers *s, const struct lockctl *ctl,
                  const struct zkr_hosts *hosts, const struct asking *all,
                  size_t n, struct notes *notes)
{
    size_t asked = servers_tell_twice(s) ? 0 : count_asked(all, n);

    if (!s->whole)
        return;
    size_t members = ensemble_size(ctl, hosts);
    if (members > 0 && asked >= members)
        return;
    s->whole = false;
    if (members == 0)
        notes_add(notes, "the ensemble does not tell its servers "
                         "(" ENSEMBLE_CONFIG "), so more of them may have "
                         "clients; what they would tell is shown as '?'");
    else
        notes_add(notes,
                  "the ensemble has %zu servers, and not each was asked; what "
                  "the others would tell is shown as '?'. Name each in "
                  "--servers, by a name of its own",
                  members);
}

/* --- all of it --- */

/* A server that wants TLS wants it for these words, too. */
static bool refuse_tls(const struct lockctl *ctl, struct notes *notes)
{
    if (ctl->settings[SETTING_TLS_CA] == NULL)
        return false;
    notes_add(notes, "with TLS the servers are not asked who is "
                     "connected; what they would tell is shown as '?'");
    return true;
}

/* The session has been opened with this list of servers. */
struct servers *servers_ask(const struct lockctl *ctl, struct notes *notes)
{
    struct asking *all = enough(calloc(SERVERS_MAX, sizeof(*all)));
    struct servers *s = enough(calloc(1, sizeof(*s)));
    struct zkr_hosts *hosts = NULL;
    size_t n;

    if (!refuse_tls(ctl, notes) &&
        zkr_hosts_parse(ctl->settings[SETTING_SERVERS], &hosts) == ZKR_OK) {
        n = address(ctl, hosts, all);
        s->whole = true;
        ask_all(s, all, n, notes);
        doubt(s, ctl, hosts, all, n, notes);
    }
    zkr_hosts_free(hosts);
    free(all);
    return s;
}
