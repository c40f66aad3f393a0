/* SPDX-License-Identifier: Apache-2.0 */
/* Asks every server of --servers for its sessions and watches. */
#include "model/ask_servers.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/escape.h"
#include "common/grow.h"
#include "common/now.h"

enum {
    SERVERS_MAX = 64,
    PATIENCE_MS = 2000, /* unless the user has said --timeout */
    PEER_MAX = 72,
    ANSWER_MAX = 64 << 20,
    BLOCK = 1 << 15,
};

static const char *const words[SERVERS_WORDS] = { "cons", "dump", "wchp",
                                                  "mntr" };

/* One server, on a thread of its own. */
struct asking {
    const char *host;
    const char *port;
    char name[72]; /* for people */
    unsigned words;
    int64_t timeout_ms;
    pthread_t thread;
    bool started;
    /* results */
    bool reached;
    bool mixed; /* the name has led to several servers, one after another */
    char peer[PEER_MAX]; /* its address and port */
    unsigned refused;    /* words that are not in the white list */
    struct answer_text {
        char *text; /* any bytes */
        size_t size;
        size_t room;
        bool whole; /* it is an answer, and no refusal */
    } answers[SERVERS_WORDS];
};

/* --- one word to one server, over a connection of its own --- */

static bool wait_for(int fd, short events, int64_t deadline)
{
    struct pollfd p = { .fd = fd, .events = events };
    int64_t left;
    int n;

    do {
        left = deadline - clock_now_ms();
        n = left <= 0 ? 0 : poll(&p, 1, (int)left);
    } while (n < 0 && errno == EINTR);
    return n == 1;
}

static int connect_one(const struct addrinfo *a, int64_t deadline)
{
    int fd =
        socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = 0;
    socklen_t size = sizeof(error);

    if (fd < 0)
        return -1;
    if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
        return fd;
    if (errno == EINPROGRESS && wait_for(fd, POLLOUT, deadline) &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0)
        return fd;
    (void)close(fd);
    return -1;
}

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

/* Reads until the server hangs up. False: it does not, or sends too much. */
static bool receive(int fd, int64_t deadline, struct answer_text *answer)
{
    ssize_t n = 0;

    do {
        answer->size += (size_t)n;
        if (answer->size > ANSWER_MAX ||
            !grow_block(&answer->text, &answer->room,
                        2 * answer->size + BLOCK) ||
            !wait_for(fd, POLLIN, deadline))
            return false;
        n = recv(fd, answer->text + answer->size, answer->room - answer->size,
                 0);
    } while (n > 0);
    return n == 0;
}

/* A name may have several addresses, and each connection may take another. */
static void take_peer(struct asking *a, const char *peer)
{
    if (a->peer[0] == '\0')
        (void)strcpy(a->peer, peer);
    a->mixed = a->mixed || peer[0] == '\0' || strcmp(a->peer, peer) != 0;
}

/* False: the server does not answer, or not until then. */
static bool ask_word(struct asking *a, size_t i, int64_t deadline)
{
    static const char refusal[] = "not in the whitelist";
    struct answer_text *answer = &a->answers[i];
    int fd = connect_to(a->host, a->port, deadline);
    char peer[PEER_MAX] = "";
    bool done = fd >= 0 && send(fd, words[i], 4, MSG_NOSIGNAL) == 4 &&
                receive(fd, deadline, answer);

    if (fd >= 0) {
        write_peer(fd, peer);
        (void)close(fd);
    }
    take_peer(a, peer);
    if (done && memmem(answer->text, answer->size < 256 ? answer->size : 256,
                       refusal, strlen(refusal)) != NULL)
        a->refused |= 1u << i;
    answer->whole = done && (a->refused & 1u << i) == 0;
    return done;
}

static void *ask_one(void *arg)
{
    struct asking *a = arg;
    int64_t deadline = clock_now_ms() + a->timeout_ms;

    a->reached = true;
    for (size_t i = 0; i < SERVERS_WORDS && a->reached; i++) {
        if ((a->words & 1u << i) != 0)
            a->reached = ask_word(a, i, deadline);
    }
    return NULL;
}

/* --- all servers --- */

/* The strings stay those of `hosts`. */
static size_t address(const struct lockctl *ctl, unsigned asked,
                      const struct zkr_hosts *hosts,
                      struct asking all[SERVERS_MAX])
{
    size_t n = hosts->count < SERVERS_MAX ? hosts->count : SERVERS_MAX;

    for (size_t i = 0; i < n; i++) {
        const struct zkr_server *server = &hosts->servers[i];

        all[i].host = server->host;
        all[i].port = server->port;
        (void)escape_string(server->name, all[i].name, sizeof(all[i].name));
        all[i].words = asked;
        all[i].timeout_ms = ctl->timeout_given || ctl->timeout_ms < PATIENCE_MS
                                ? ctl->timeout_ms
                                : PATIENCE_MS;
    }
    return n;
}

static void note_refused(struct notes *notes, const struct asking *a)
{
    char list[64] = "";

    for (size_t i = 0; i < SERVERS_WORDS; i++) {
        if ((a->refused & 1u << i) != 0)
            (void)snprintf(list + strlen(list), sizeof(list) - strlen(list),
                           "%s%s", list[0] == '\0' ? "" : ", ", words[i]);
    }
    notes_add(notes,
              "%s does not answer %s; what it would tell is shown as '?'. Add "
              "to its zoo.cfg: 4lw.commands.whitelist=srvr,mntr,cons,dump,wchp",
              a->name, list);
}

static bool take(struct servers *s, struct asking *a, struct notes *notes)
{
    bool done = true;

    for (size_t i = 0; i < SERVERS_WORDS; i++) {
        const struct answer_text *answer = &a->answers[i];

        if (answer->whole &&
            !servers_read(s, 1u << i, a->name, answer->text, answer->size))
            done = false;
        free(answer->text);
    }
    if (!a->reached)
        notes_add(notes, "%s does not answer; what it would tell is missing",
                  a->name);
    if (a->refused != 0)
        note_refused(notes, a);
    servers_lack(s, a->reached ? a->refused : ~0u);
    return done;
}

static bool ask_all(struct servers *s, struct asking *all, size_t n,
                    struct notes *notes)
{
    bool done = true;

    for (size_t i = 0; i < n; i++) {
        all[i].started =
            pthread_create(&all[i].thread, NULL, ask_one, &all[i]) == 0;
        if (!all[i].started)
            (void)ask_one(&all[i]);
    }
    for (size_t i = 0; i < n; i++) {
        if (all[i].started)
            (void)pthread_join(all[i].thread, NULL);
        done = take(s, &all[i], notes) && done;
    }
    return done;
}

/* --- is that the whole ensemble? --- */

/* Addresses tell servers apart: a list may have two names for one. */
static size_t count_asked(const struct asking *all, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        bool counts = all[i].reached && !all[i].mixed;

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
static size_t count_members(const char *config, size_t size)
{
    static const char key[] = "server.";
    const char *end = config + size;
    size_t count = 0;

    for (const char *line = config; line != NULL && line < end;) {
        size_t left = (size_t)(end - line);

        count += left >= strlen(key) && memcmp(line, key, strlen(key)) == 0;
        line = memchr(line, '\n', left);
        line += line != NULL;
    }
    return count > 0 ? count : 1;
}

/* The path is of no chroot, and may be read by everybody. */
static int get_config(const struct lockctl *ctl, const struct zkr_hosts *hosts,
                      struct zkr_reply **ret_reply)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    char *servers = strdup(ctl->settings[SETTING_SERVERS]);
    zkr_session *session = NULL;
    int rc = ZKR_ENOMEM;

    opts.connect_timeout_ms = (uint32_t)ctl->timeout_ms;
    if (servers != NULL) {
        servers[strlen(servers) - strlen(hosts->chroot)] = '\0';
        rc = zkr_session_open(servers, &opts, &session);
    }
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
    bool has_chroot = lockctl_chroot(hosts)[0] != '\0';
    size_t count = 0;
    int rc = ZKR_ECLOSED;

    if (ctl->session != NULL)
        rc = has_chroot ? get_config(ctl, hosts, &reply)
                        : zkr_session_get(ctl->session, ENSEMBLE_CONFIG,
                                          ctl->timeout_ms, &reply);
    if (rc == ZKR_OK)
        count = count_members(reply->data, reply->len);
    zkr_reply_free(reply);
    return count;
}

/* A client may be connected, and may watch, where nobody has asked. */
static void doubt(struct servers *s, const struct lockctl *ctl,
                  const struct zkr_hosts *hosts, const struct asking *all,
                  size_t n, struct notes *notes)
{
    size_t asked = servers_tell_twice(s) ? 0 : count_asked(all, n);
    size_t members;

    if (!servers_know_all(s, ~0u))
        return;
    members = ensemble_size(ctl, hosts);
    if (members > 0 && asked >= members)
        return;
    servers_lack(s, ~0u);
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
    notes_add(notes, "with TLS the servers are not asked for four letter "
                     "words; what they would tell is shown as '?'");
    return true;
}

static struct servers *ask_hosts(const struct lockctl *ctl, unsigned asked,
                                 const struct zkr_hosts *hosts,
                                 const char *lock, struct notes *notes)
{
    struct asking *all = calloc(SERVERS_MAX, sizeof(*all));
    struct servers *s = servers_new(lockctl_chroot(hosts), lock);
    bool done = all != NULL && s != NULL;
    size_t n =
        done && !refuse_tls(ctl, notes) ? address(ctl, asked, hosts, all) : 0;

    done = done && ask_all(s, all, n, notes);
    if (done) {
        servers_lack(s, n == 0 ? ~0u : ~asked);
        doubt(s, ctl, hosts, all, n, notes);
    }
    free(all);
    if (done)
        return s;
    servers_free(s);
    return NULL;
}

/* The session has been opened with this list: only memory can be wanting. */
struct servers *servers_ask(const struct lockctl *ctl, unsigned asked,
                            const char *lock, struct notes *notes)
{
    struct zkr_hosts *hosts;
    struct servers *s = NULL;

    if (zkr_hosts_parse(ctl->settings[SETTING_SERVERS], &hosts) == ZKR_OK)
        s = ask_hosts(ctl, asked, hosts, lock, notes);
    zkr_hosts_free(hosts);
    return s;
}
