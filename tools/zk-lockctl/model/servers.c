/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the servers about sessions and watches, with four letter words. */
#include "model/servers.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/escape.h"

enum {
    SERVERS_MAX = 64,
    WORDS = 3,
    ANSWER_MAX = 64 << 20,
    SESSIONS_MAX = 1 << 20,
};

/* Where servers since 3.5 say which servers there are. */
#define CONFIG "/zookeeper/config"

static const char *const words[WORDS] = { "cons", "dump", "wchp" };

struct watch {
    int64_t session_id;
    char *child;
};

struct servers {
    char *directory; /* of the lock, with the chroot and a '/' behind it */
    struct client *clients;
    size_t client_count;
    int64_t *sessions;
    size_t session_count;
    struct watch *watches;
    size_t watch_count;
    bool any_dump;
    unsigned all; /* words that every server of the ensemble has answered */
};

/* --- reading an answer --- */

/* One more in an array that doubles; the new item, or NULL. */
static void *grow(void **array, size_t *count, size_t item)
{
    bool is_full = (*count & (*count - 1)) == 0; /* 0, 1, 2, 4, ... */
    char *grown = *array;

    if (*count >= SESSIONS_MAX)
        return NULL;
    if (is_full) {
        grown = realloc(grown, (*count == 0 ? 1 : *count * 2) * item);
        if (grown == NULL)
            return NULL;
        *array = grown;
    }
    return memset(grown + (*count)++ * item, 0, item);
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
    struct client *client;
    void *clients = s->clients;
    int64_t id;

    if (slash == NULL || bracket == NULL || bracket < slash || sid == NULL ||
        to == NULL || read_id(sid + 5, &id) == NULL)
        return true;
    if (slash[1] == '[') /* IPv6 */
        bracket = strchr(slash + 2, '[');
    if (bracket == NULL)
        return true;
    client = grow(&clients, &s->client_count, sizeof(*client));
    s->clients = clients;
    if (client == NULL)
        return false;
    *bracket = '\0';
    client->session_id = id;
    client->timeout_ms = (uint32_t)strtoul(to + 4, NULL, 10);
    (void)snprintf(client->address, sizeof(client->address), "%s", slash + 1);
    (void)snprintf(client->server, sizeof(client->server), "%s", server);
    return true;
}

/* Session ids stand alone, or before their timeout, or before the nodes of the
 * session. */
static bool read_dump(struct servers *s, char *line)
{
    const char *rest;
    void *sessions = s->sessions;
    int64_t *session;
    int64_t id;

    line += strspn(line, " \t");
    rest = read_id(line, &id);
    if (rest == NULL || strchr("\t:", *rest) == NULL)
        return true;
    session = grow(&sessions, &s->session_count, sizeof(*session));
    s->sessions = sessions;
    if (session != NULL)
        *session = id;
    return session != NULL;
}

/* The path on a line of its own, then its sessions. `child` points to what was
 * read last, into the text, or is NULL. */
static bool read_wchp(struct servers *s, char *line, const char **child)
{
    size_t len = strlen(s->directory);
    void *watches = s->watches;
    struct watch *watch;
    int64_t id;

    if (line[0] == '/') {
        *child = strncmp(line, s->directory, len) == 0 ? line + len : NULL;
        return true;
    }
    line += strspn(line, " \t");
    if (*child == NULL || read_id(line, &id) == NULL)
        return true;
    watch = grow(&watches, &s->watch_count, sizeof(*watch));
    s->watches = watches;
    if (watch == NULL)
        return false;
    watch->session_id = id;
    watch->child = strdup(*child);
    if (watch->child == NULL)
        s->watch_count--;
    return watch->child != NULL;
}

static bool read_lines(struct servers *s, unsigned word, const char *server,
                       char *text)
{
    const char *child = NULL;
    char *rest = NULL;

    for (char *line = strtok_r(text, "\r\n", &rest); line != NULL;
         line = strtok_r(NULL, "\r\n", &rest)) {
        bool done = word == SERVERS_CONS   ? read_cons(s, server, line)
                    : word == SERVERS_DUMP ? read_dump(s, line)
                                           : read_wchp(s, line, &child);

        if (!done)
            return false;
    }
    return true;
}

static int compare(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_id(const void *a, const void *b)
{
    return compare(*(const int64_t *)a, *(const int64_t *)b);
}

static int by_client(const void *a, const void *b)
{
    return compare(((const struct client *)a)->session_id,
                   ((const struct client *)b)->session_id);
}

static int by_watch(const void *a, const void *b)
{
    return compare(((const struct watch *)a)->session_id,
                   ((const struct watch *)b)->session_id);
}

static void sort(struct servers *s)
{
    if (s->client_count > 0)
        qsort(s->clients, s->client_count, sizeof(*s->clients), by_client);
    if (s->session_count > 0)
        qsort(s->sessions, s->session_count, sizeof(*s->sessions), by_id);
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

/* --- the model --- */

struct servers *servers_new(const char *directory)
{
    struct servers *s = calloc(1, sizeof(*s));
    size_t size = strlen(directory) + 2;

    if (s == NULL)
        return NULL;
    s->all = SERVERS_CONS | SERVERS_DUMP | SERVERS_WCHP;
    s->directory = malloc(size);
    if (s->directory == NULL) {
        free(s);
        return NULL;
    }
    (void)snprintf(s->directory, size, "%s/", directory);
    return s;
}

void servers_free(struct servers *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->watch_count; i++)
        free(s->watches[i].child);
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
                         by_client);
}

enum answer servers_session_lives(const struct servers *s, int64_t session_id)
{
    if (s->session_count > 0 &&
        bsearch(&session_id, s->sessions, s->session_count, sizeof(session_id),
                by_id) != NULL)
        return ANSWER_YES;
    return s->any_dump ? ANSWER_NO : ANSWER_UNKNOWN;
}

const char *servers_watched(const struct servers *s, int64_t session_id,
                            size_t n)
{
    size_t low = 0;
    size_t high = s->watch_count;

    while (low < high) { /* the first of the session */
        size_t middle = low + (high - low) / 2;

        if (s->watches[middle].session_id < session_id)
            low = middle + 1;
        else
            high = middle;
    }
    return n < s->watch_count - low &&
                   s->watches[low + n].session_id == session_id
               ? s->watches[low + n].child
               : NULL;
}

bool servers_know_all(const struct servers *s, unsigned word)
{
    return (s->all & word) != 0;
}

/* --- asking --- */

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
    bool mixed;    /* the name has led to several servers, one after another */
    char peer[72]; /* its address and port */
    unsigned refused; /* words that are not in the white list */
    char *texts[WORDS];
    size_t sizes[WORDS];
};

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

static int connect_to(const struct asking *a, int64_t deadline)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *all = NULL;
    int fd = -1;

    if (getaddrinfo(a->host, a->port, &hints, &all) != 0)
        return -1;
    for (const struct addrinfo *i = all; i != NULL && fd < 0; i = i->ai_next)
        fd = connect_one(i, deadline);
    freeaddrinfo(all);
    return fd;
}

/* A name may have several addresses, and each connection may take another. */
static void write_peer(struct asking *a, int fd)
{
    struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
    socklen_t size = sizeof(address);
    char host[48] = "?";
    char port[8] = "?";
    char peer[sizeof(a->peer)];

    a->mixed =
        a->mixed || getpeername(fd, (struct sockaddr *)&address, &size) != 0 ||
        getnameinfo((struct sockaddr *)&address, size, host, sizeof(host), port,
                    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0;
    (void)snprintf(peer, sizeof(peer), "%s %s", host, port);
    if (a->peer[0] == '\0')
        (void)strcpy(a->peer, peer);
    a->mixed = a->mixed || strcmp(a->peer, peer) != 0;
}

/* Reads until the server hangs up. Returns false when it does not, or sends too
 * much. */
static bool receive(int fd, int64_t deadline, char **ret_text, size_t *ret_size)
{
    size_t size = 0;
    size_t room = 1 << 16;
    char *text = malloc(room);

    while (text != NULL && size < ANSWER_MAX) {
        char *grown;
        ssize_t n;

        if (!wait_for(fd, POLLIN, deadline))
            break;
        n = recv(fd, text + size, room - size, 0);
        if (n == 0) {
            *ret_text = text;
            *ret_size = size;
            return true;
        }
        if (n < 0)
            break;
        size += (size_t)n;
        if (size < room)
            continue;
        room *= 2;
        grown = realloc(text, room);
        if (grown == NULL)
            break;
        text = grown;
    }
    free(text);
    return false;
}

static bool ask_word(struct asking *a, size_t word, int64_t deadline)
{
    int fd = connect_to(a, deadline);
    bool done = fd >= 0 && send(fd, words[word], 4, MSG_NOSIGNAL) == 4 &&
                receive(fd, deadline, &a->texts[word], &a->sizes[word]);

    if (fd >= 0) {
        write_peer(a, fd);
        (void)close(fd);
    }
    if (done &&
        memmem(a->texts[word], a->sizes[word] < 256 ? a->sizes[word] : 256,
               "not in the whitelist", 20) != NULL) {
        free(a->texts[word]);
        a->texts[word] = NULL;
        a->refused |= 1u << word;
    }
    return done;
}

static void *ask_one(void *arg)
{
    struct asking *a = arg;
    int64_t deadline = clock_now_ms() + a->timeout_ms;

    a->reached = true;
    for (size_t i = 0; i < WORDS && a->reached; i++) {
        if ((a->words & 1u << i) != 0)
            a->reached = ask_word(a, i, deadline);
    }
    return NULL;
}

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
        all[i].timeout_ms = ctl->timeout_ms;
    }
    return n;
}

static void note_refused(struct notes *notes, const struct asking *a)
{
    char list[64] = "";

    for (size_t i = 0; i < WORDS; i++) {
        if ((a->refused & 1u << i) != 0)
            (void)snprintf(list + strlen(list), sizeof(list) - strlen(list),
                           "%s%s", list[0] == '\0' ? "" : ", ", words[i]);
    }
    notes_add(notes,
              "%s does not answer %s; what it would tell is shown as '?'. Add "
              "to its zoo.cfg: 4lw.commands.whitelist=srvr,cons,dump,wchp",
              a->name, list);
}

static bool take(struct servers *s, struct asking *a, struct notes *notes)
{
    bool done = true;

    for (size_t i = 0; i < WORDS; i++) {
        if (a->texts[i] != NULL)
            done =
                servers_read(s, 1u << i, a->name, a->texts[i], a->sizes[i]) &&
                done;
        free(a->texts[i]);
    }
    if (!a->reached)
        notes_add(notes, "%s does not answer; what it would tell is missing",
                  a->name);
    if (a->refused != 0)
        note_refused(notes, a);
    s->all &= a->reached ? ~a->refused : 0;
    return done;
}

/* That of "--chroot /app" or of "host:port/app"; "" without one. */
static const char *chroot_of(const struct lockctl *ctl,
                             const struct zkr_hosts *hosts)
{
    const char *chroot = ctl->settings[SETTING_CHROOT] != NULL
                             ? ctl->settings[SETTING_CHROOT]
                             : hosts->chroot;

    return strcmp(chroot, "/") == 0 ? "" : chroot;
}

static struct servers *new_servers(const struct lockctl *ctl,
                                   const struct zkr_hosts *hosts,
                                   const char *lock)
{
    char directory[2 * ZKR_PATH_MAX];

    (void)snprintf(directory, sizeof(directory), "%s%s", chroot_of(ctl, hosts),
                   lock);
    return servers_new(directory);
}

/* A server that wants TLS wants it for these words, too. */
static bool refuse_tls(const struct lockctl *ctl, struct notes *notes)
{
    if (ctl->settings[SETTING_TLS_CA] == NULL)
        return false;
    notes_add(notes, "with TLS the servers are not asked for four letter "
                     "words; what they would tell is shown as '?'");
    return true;
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

/* A session is connected to one server at a time: both names are of one. */
static bool is_told_twice(const struct servers *s)
{
    for (size_t i = 1; i < s->client_count; i++) {
        const struct client *c = &s->clients[i];

        if (c->session_id == c[-1].session_id &&
            strcmp(c->server, c[-1].server) != 0)
            return true;
    }
    return false;
}

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
        rc = zkr_session_get(session, CONFIG, ctl->timeout_ms, ret_reply);
    (void)zkr_session_close(session);
    free(servers);
    return rc;
}

/* Of how many servers the ensemble is; 0: it does not tell. */
static size_t ask_members(const struct lockctl *ctl,
                          const struct zkr_hosts *hosts)
{
    struct zkr_reply *reply = NULL;
    bool has_chroot = chroot_of(ctl, hosts)[0] != '\0';
    size_t count = 0;
    int rc = ZKR_ECLOSED;

    if (ctl->session != NULL)
        rc = has_chroot ? get_config(ctl, hosts, &reply)
                        : zkr_session_get(ctl->session, CONFIG, ctl->timeout_ms,
                                          &reply);
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
    size_t asked = is_told_twice(s) ? 0 : count_asked(all, n);
    size_t members;

    if (s->all == 0)
        return;
    members = ask_members(ctl, hosts);
    if (members > 0 && asked >= members)
        return;
    s->all = 0;
    if (members == 0)
        notes_add(notes, "the ensemble does not tell its servers "
                         "(" CONFIG "), so more of them may have "
                         "clients; what they would tell is shown as '?'");
    else
        notes_add(notes,
                  "the ensemble has %zu servers, and not each was asked; what "
                  "the others would tell is shown as '?'. Name each in "
                  "--servers, by a name of its own",
                  members);
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

static struct servers *ask_hosts(const struct lockctl *ctl, unsigned asked,
                                 const struct zkr_hosts *hosts,
                                 const char *lock, struct notes *notes)
{
    struct asking *all = calloc(SERVERS_MAX, sizeof(*all));
    struct servers *s = new_servers(ctl, hosts, lock);
    bool done = all != NULL && s != NULL;
    size_t n =
        done && !refuse_tls(ctl, notes) ? address(ctl, asked, hosts, all) : 0;

    done = done && ask_all(s, all, n, notes);
    if (done) {
        s->all &= n == 0 ? 0 : asked;
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
