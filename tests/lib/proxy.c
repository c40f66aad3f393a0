/* One thread around poll(): it has the lock except while it sleeps.
 *
 * Bytes of one direction are read into `in`, judged frame by frame, and
 * written from `out`.  Requests are judged at once, and held in `out`; replies
 * are held in `in`, because they count as answers only when they leave. */
#include "proxy.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wait.h"

enum {
    CONNS_MAX = 256,
    SERVERS_MAX = 16,
    RULES_MAX = 16,
    READ_SIZE = 64 * 1024,
    FRAME_MAX = 4 * 1024 * 1024,  /* longer is taken for garbage */
    QUEUE_MAX = 16 * 1024 * 1024, /* no reading while more is waiting */

    LENGTH_SIZE = 4,
    CONNECT_ZXID = 8,    /* where in a connect frame lastZxidSeen begins */
    CONNECT_SIZE = 16,   /* a connect frame up to there */
    REQUEST_HEADER = 12, /* length, xid, type */
    REPLY_HEADER = 20,   /* length, xid, zxid, err */
    REPLY_ZXID = 8,
    CONNECT_XID = INT32_MIN, /* connect frames have none; no other has this */

    PING_OP = 11,
    AUTH_OP = 100,
    SASL_OP = 102,
    TYPE_MIN = -16,
    TYPES = 144, /* counted are TYPE_MIN to TYPE_MIN + TYPES - 1 */

    /* Places in the array for poll(); the connections follow, two each. */
    POLL_WAKE = 0,
    POLL_LISTENER = 1,
    POLL_CONNS = 2,
};

enum mode { MODE_OPEN, MODE_CUT, MODE_FROZEN };

/* A queue of bytes. */
struct bytes {
    unsigned char *data;
    size_t begin;
    size_t size;
    size_t capacity;
};

/* A whole frame, with its length in front. */
struct frame {
    const unsigned char *data;
    size_t size;
};

/* One direction of a connection. */
struct flow {
    struct bytes in;
    struct bytes out;
    bool greeted; /* the connect frame has been judged */
    bool eof;     /* nothing more to read */
    bool shut;    /* told the receiver so */
    bool held;
    size_t held_at; /* requests: so many bytes of `out` may still leave */
};

/* A request without its reply. */
struct request {
    struct request *next;
    int32_t xid;
    int32_t err;
    enum proxy_action action; /* of the rule for it, until done */
    bool awaited;             /* the rule counts in `undone` */
    bool counted;
    int64_t seen_ms;
};

struct conn {
    int client; /* -1 when closed, as is `server` */
    int server;
    struct flow up;   /* requests */
    struct flow down; /* replies */
    struct request *first;
    struct request **tail;
    int in_flight;
    int64_t zxid;    /* the last one the client knows */
    int64_t wake_ms; /* when a delayed reply may leave, or 0 */
};

struct rule {
    int32_t type;
    int nth;
    enum proxy_action action;
    int32_t err;
};

struct proxy {
    /* Of the thread, or constant. */
    pthread_t thread;
    int wake;
    int listener;
    char hosts[32];
    struct sockaddr_in servers[SERVERS_MAX];
    unsigned int server_count;
    unsigned int next_server;
    struct pollfd fds[POLL_CONNS + 2 * CONNS_MAX];

    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Everything below under lock. */
    struct conn *conns[CONNS_MAX];
    int conn_count;
    enum mode mode;
    bool stopping;
    unsigned long asked; /* changes of mode and the like, and */
    unsigned long seen;  /* how many of them the thread has seen */
    int latency_ms;
    struct rule rules[RULES_MAX]; /* those that wait for their request */
    int rule_count;
    int undone; /* those, and those that wait, or wait in vain, for a reply */
    long total;
    long counts[TYPES];
    long flights;
    int max_in_flight;
};

static void *must(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "proxy: out of memory\n");
        abort();
    }
    return memory;
}

/* Bytes */

static unsigned char *bytes_at(const struct bytes *b)
{
    return b->data + b->begin;
}

/* Room for `size` more at the end. */
static void bytes_reserve(struct bytes *b, size_t size)
{
    if (b->begin + b->size + size <= b->capacity)
        return;
    if (b->begin > 0)
        memmove(b->data, bytes_at(b), b->size);
    b->begin = 0;
    if (b->size + size <= b->capacity)
        return;
    b->capacity = 2 * (b->size + size);
    b->data = must(realloc(b->data, b->capacity));
}

static void bytes_add(struct bytes *b, const unsigned char *data, size_t size)
{
    bytes_reserve(b, size);
    memcpy(bytes_at(b) + b->size, data, size);
    b->size += size;
}

/* What is skipped stays readable until the next bytes_reserve(). */
static void bytes_skip(struct bytes *b, size_t size)
{
    b->size -= size;
    b->begin = b->size == 0 ? 0 : b->begin + size;
}

static void bytes_clear(struct bytes *b)
{
    bytes_skip(b, b->size);
}

static int64_t get_number(const unsigned char *data, int width)
{
    /* Starting with all ones extends the sign. */
    uint64_t number = (data[0] & 0x80) != 0 ? UINT64_MAX : 0;

    for (int i = 0; i < width; i++)
        number = number << 8 | data[i];
    return (int64_t)number;
}

static void put_number(unsigned char *data, int64_t number, int width)
{
    for (int i = 0; i < width; i++)
        data[i] = (unsigned char)((uint64_t)number >> (width - 1 - i) * 8);
}

/* Look at the frame in front: 1, 0 while it is not complete, or -1 for
 * garbage.  `least` is the size that the shortest one has. */
static int first_frame(const struct bytes *b, size_t least, struct frame *ret)
{
    int64_t length;

    if (b->size < LENGTH_SIZE)
        return 0;
    length = get_number(bytes_at(b), LENGTH_SIZE);
    if (length < (int64_t)least - LENGTH_SIZE || length > FRAME_MAX)
        return -1;
    ret->size = LENGTH_SIZE + (size_t)length;
    ret->data = bytes_at(b);
    return b->size >= ret->size;
}

/* Connections */

static void close_fd(int *fd, bool reset)
{
    const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };

    if (*fd < 0)
        return;
    if (reset)
        setsockopt(*fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(*fd);
    *fd = -1;
}

/* What it sent before goes on to the server. */
static void drop_client(struct conn *c)
{
    close_fd(&c->client, true);
    c->up.eof = true;
    c->down.held = false;
    bytes_clear(&c->up.in);
    bytes_clear(&c->down.out);
}

/* What it sent before goes on to the client. */
static void drop_server(struct conn *c)
{
    close_fd(&c->server, false);
    c->down.eof = true;
    c->up.held = false;
    bytes_clear(&c->up.out);
}

static void free_flow(struct flow *f)
{
    free(f->in.data);
    free(f->out.data);
}

static void free_conn(struct conn *c, bool reset)
{
    struct request *r;

    close_fd(&c->client, reset);
    close_fd(&c->server, reset);
    while ((r = c->first) != NULL) {
        c->first = r->next;
        free(r);
    }
    free_flow(&c->up);
    free_flow(&c->down);
    free(c);
}

static void set_nodelay(int fd)
{
    const int on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* A socket that is connected, connecting, or will say why not when read. */
static int connect_server(struct proxy *p)
{
    const struct sockaddr_in *a = &p->servers[p->next_server];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    p->next_server = (p->next_server + 1) % p->server_count;
    if (fd < 0)
        return -1;
    set_nodelay(fd);
    (void)!connect(fd, (const struct sockaddr *)a, sizeof(*a));
    return fd;
}

static void add_conn(struct proxy *p, int client)
{
    struct conn *c = must(calloc(1, sizeof(*c)));

    set_nodelay(client);
    c->client = client;
    c->server = connect_server(p);
    c->down.eof = c->server < 0;
    c->tail = &c->first;
    p->conns[p->conn_count++] = c;
}

static void accept_clients(struct proxy *p)
{
    int fd;

    while ((fd = accept4(p->listener, NULL, NULL,
                         SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        if (p->mode == MODE_CUT || p->conn_count == CONNS_MAX)
            close_fd(&fd, true);
        else
            add_conn(p, fd);
    }
}

/* Rules and counts */

static void finish_rule(struct proxy *p, struct request *r)
{
    if (r->awaited)
        p->undone--;
    r->awaited = false;
    pthread_cond_broadcast(&p->changed);
}

static bool is_counted(int32_t type)
{
    return type != PROXY_CONNECT && type != PROXY_CLOSE && type != PING_OP &&
           type != AUTH_OP && type != SASL_OP;
}

static bool rule_fits(const struct rule *rule, int32_t type)
{
    return rule->type == PROXY_ANY ? is_counted(type) : rule->type == type;
}

/* Every rule for this type gets one nearer; the first that has arrived is
 * taken out and put into the request. */
static void apply_rules(struct proxy *p, int32_t type, struct request *r)
{
    int taken = -1;

    for (int i = 0; i < p->rule_count; i++) {
        struct rule *rule = &p->rules[i];

        if (rule_fits(rule, type) && --rule->nth <= 0 && taken < 0)
            taken = i;
    }
    if (taken < 0)
        return;
    r->action = p->rules[taken].action;
    r->err = p->rules[taken].err;
    r->awaited = true;
    p->rule_count--;
    memmove(&p->rules[taken], &p->rules[taken + 1],
            (size_t)(p->rule_count - taken) * sizeof(p->rules[0]));
    if (r->action == PROXY_PASS)
        finish_rule(p, r);
}

static void count_request(struct proxy *p, struct conn *c, int32_t type)
{
    if (type >= TYPE_MIN && type < TYPE_MIN + TYPES)
        p->counts[type - TYPE_MIN]++;
    if (!is_counted(type))
        return;
    p->total++;
    if (c->in_flight++ == 0)
        p->flights++;
    if (c->in_flight > p->max_in_flight)
        p->max_in_flight = c->in_flight;
}

/* Requests */

static struct request *add_request(struct proxy *p, struct conn *c, int32_t xid,
                                   int32_t type)
{
    struct request *r = must(calloc(1, sizeof(*r)));

    r->xid = xid;
    r->counted = is_counted(type);
    r->seen_ms = now_ms();
    *c->tail = r;
    c->tail = &r->next;
    count_request(p, c, type);
    apply_rules(p, type, r);
    return r;
}

/* The oldest one with this xid, as pings and others have always the same. */
static struct request *find_request(const struct conn *c, int32_t xid)
{
    struct request *r = c->first;

    while (r != NULL && r->xid != xid)
        r = r->next;
    return r;
}

static void remove_request(struct conn *c, struct request *r)
{
    struct request **link = &c->first;

    while (*link != r)
        link = &(*link)->next;
    *link = r->next;
    if (r->next == NULL)
        c->tail = link;
    if (r->counted)
        c->in_flight--;
    free(r);
}

static void hold_requests(struct flow *up)
{
    if (!up->held)
        up->held_at = up->out.size;
    up->held = true;
}

static void pass_request(struct proxy *p, struct conn *c, struct request *r,
                         const struct frame *f)
{
    switch (r->action) {
    case PROXY_DROP_REQUEST:
        drop_client(c);
        finish_rule(p, r);
        return;
    case PROXY_ERROR_REPLY:
        return;
    case PROXY_HOLD_REQUEST:
        hold_requests(&c->up);
        finish_rule(p, r);
        break;
    case PROXY_PASS:
    case PROXY_READ_ONLY:
    case PROXY_DROP_REPLY:
    case PROXY_HOLD_REPLY:
        break;
    }
    if (c->server >= 0)
        bytes_add(&c->up.out, f->data, f->size);
}

static void judge_request(struct proxy *p, struct conn *c,
                          const struct frame *f)
{
    int32_t xid = CONNECT_XID;
    int32_t type = PROXY_CONNECT;

    if (c->up.greeted) {
        xid = (int32_t)get_number(f->data + LENGTH_SIZE, 4);
        type = (int32_t)get_number(f->data + LENGTH_SIZE + 4, 4);
    } else {
        c->zxid = get_number(f->data + CONNECT_ZXID, 8);
        c->up.greeted = true;
    }
    pass_request(p, c, add_request(p, c, xid, type), f);
}

static void judge_requests(struct proxy *p, struct conn *c)
{
    struct flow *up = &c->up;
    struct frame f;
    int rc;

    for (;;) {
        rc = first_frame(&up->in, up->greeted ? REQUEST_HEADER : CONNECT_SIZE,
                         &f);
        if (rc <= 0)
            break;
        bytes_skip(&up->in, f.size);
        judge_request(p, c, &f);
    }
    if (rc < 0)
        drop_client(c);
}

/* Replies */

static void send_to_client(struct conn *c, const unsigned char *data,
                           size_t size)
{
    if (c->client >= 0)
        bytes_add(&c->down.out, data, size);
}

static bool is_early(const struct proxy *p, struct conn *c,
                     const struct request *r)
{
    int64_t due_ms = r->seen_ms + p->latency_ms;

    if (p->latency_ms == 0 || now_ms() >= due_ms)
        return false;
    c->wake_ms = due_ms;
    return true;
}

/* Answer the requests that have come to the front and are ours to answer. */
static void send_errors(struct proxy *p, struct conn *c)
{
    unsigned char reply[REPLY_HEADER];
    struct request *r;

    while ((r = c->first) != NULL && r->action == PROXY_ERROR_REPLY &&
           !is_early(p, c, r)) {
        put_number(reply, REPLY_HEADER - LENGTH_SIZE, 4);
        put_number(reply + LENGTH_SIZE, r->xid, 4);
        put_number(reply + REPLY_ZXID, c->zxid, 8);
        put_number(reply + REPLY_ZXID + 8, r->err, 4);
        send_to_client(c, reply, sizeof(reply));
        finish_rule(p, r);
        remove_request(c, r);
    }
}

/* Whether this reply, to `r` if that is not NULL, may go now. */
static bool may_leave(struct proxy *p, struct conn *c, struct request *r)
{
    if (r == NULL)
        return true;
    if (is_early(p, c, r))
        return false;
    if (r->action == PROXY_HOLD_REPLY) {
        r->action = PROXY_PASS;
        c->down.held = c->client >= 0;
        finish_rule(p, r);
    }
    return !c->down.held;
}

static void note_zxid(struct conn *c, const struct frame *f)
{
    int64_t zxid = get_number(f->data + REPLY_ZXID, 8);

    /* Watch events have -1. */
    if (zxid > c->zxid)
        c->zxid = zxid;
}

/* The last byte of a connect reply says it. */
static void send_read_only(struct proxy *p, struct conn *c, struct request *r,
                           const struct frame *f)
{
    const unsigned char yes = 1;

    send_to_client(c, f->data, f->size - 1);
    send_to_client(c, &yes, 1);
    finish_rule(p, r);
}

/* False if it has to stay for now. */
static bool judge_reply(struct proxy *p, struct conn *c, const struct frame *f)
{
    int32_t xid = CONNECT_XID;
    struct request *r;

    if (c->down.greeted)
        xid = (int32_t)get_number(f->data + LENGTH_SIZE, 4);
    r = find_request(c, xid);
    if (!may_leave(p, c, r))
        return false;
    if (c->down.greeted)
        note_zxid(c, f);
    c->down.greeted = true;
    if (r != NULL && r->action == PROXY_DROP_REPLY) {
        drop_client(c);
        finish_rule(p, r);
    }
    if (r != NULL && r->action == PROXY_READ_ONLY)
        send_read_only(p, c, r, f);
    else
        send_to_client(c, f->data, f->size);
    if (r != NULL)
        remove_request(c, r);
    return true;
}

static void judge_replies(struct proxy *p, struct conn *c)
{
    struct flow *down = &c->down;
    struct frame f;
    int rc = 0;

    c->wake_ms = 0;
    send_errors(p, c);
    while (!down->held && (rc = first_frame(&down->in, REPLY_HEADER, &f)) > 0) {
        if (!judge_reply(p, c, &f))
            return;
        bytes_skip(&down->in, f.size);
        send_errors(p, c);
    }
    if (rc < 0)
        drop_client(c);
}

/* Sockets */

/* Once; false at the end of the stream or on error. */
static bool fill(int fd, struct bytes *in)
{
    ssize_t n;

    bytes_reserve(in, READ_SIZE);
    n = recv(fd, bytes_at(in) + in->size, READ_SIZE, 0);
    if (n > 0)
        in->size += (size_t)n;
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void read_client(struct conn *c)
{
    if (c->client >= 0 && !c->up.eof && !fill(c->client, &c->up.in))
        c->up.eof = true;
}

static void read_server(struct conn *c)
{
    if (c->server >= 0 && !fill(c->server, &c->down.in))
        drop_server(c);
}

/* Send up to `limit` bytes and return how many have gone.  An error is left
 * for the one who reads from the same socket: there may be more to read. */
static size_t drain(int fd, struct bytes *out, size_t limit)
{
    size_t sent = 0;
    ssize_t n = 1;

    while (fd >= 0 && sent < limit && n > 0) {
        n = send(fd, bytes_at(out), limit - sent, MSG_NOSIGNAL);
        if (n > 0) {
            sent += (size_t)n;
            bytes_skip(out, (size_t)n);
        }
    }
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        bytes_clear(out);
    return sent;
}

static size_t sendable(const struct flow *f)
{
    return f->held ? f->held_at : f->out.size;
}

static void write_server(struct conn *c)
{
    struct flow *up = &c->up;
    size_t sent = drain(c->server, &up->out, sendable(up));

    if (up->held)
        up->held_at = up->out.size == 0 ? 0 : up->held_at - sent;
    if (up->eof && !up->held && up->out.size == 0 && !up->shut) {
        shutdown(c->server, SHUT_WR);
        up->shut = true;
    }
}

static void write_client(struct conn *c)
{
    struct flow *down = &c->down;
    struct frame f;

    drain(c->client, &down->out, down->out.size);
    if (down->eof && !down->held && down->out.size == 0 && !down->shut &&
        first_frame(&down->in, REPLY_HEADER, &f) <= 0) {
        shutdown(c->client, SHUT_WR);
        down->shut = true;
    }
}

static void step_conn(struct proxy *p, struct conn *c)
{
    judge_requests(p, c);
    judge_replies(p, c);
    write_server(c);
    write_client(c);
}

static bool is_over(const struct conn *c)
{
    return c->server < 0 && (c->client < 0 || (c->down.shut && c->up.eof));
}

/* The thread */

static bool has_room(const struct flow *f)
{
    return f->in.size + f->out.size < QUEUE_MAX;
}

/* A socket of which we want nothing must not be in the list at all: poll()
 * would return for its hang-up again and again. */
static struct pollfd poll_entry(int fd, bool reading, bool writing)
{
    int events = (reading ? POLLIN : 0) | (writing ? POLLOUT : 0);

    return (struct pollfd){ .fd = events == 0 ? -1 : fd,
                            .events = (short)events };
}

static nfds_t fill_poll_list(struct proxy *p)
{
    struct pollfd *entry = p->fds + POLL_CONNS;
    bool moving = p->mode == MODE_OPEN;

    p->fds[POLL_WAKE] = poll_entry(p->wake, true, false);
    p->fds[POLL_LISTENER] = poll_entry(p->listener, true, false);
    for (int i = 0; i < p->conn_count; i++) {
        const struct conn *c = p->conns[i];

        *entry++ =
            poll_entry(c->client, moving && !c->up.eof && has_room(&c->up),
                       moving && c->down.out.size > 0);
        *entry++ = poll_entry(c->server, moving && has_room(&c->down),
                              moving && sendable(&c->up) > 0);
    }
    return (nfds_t)(entry - p->fds);
}

static int poll_timeout(const struct proxy *p)
{
    int64_t first_ms = INT64_MAX;
    int64_t left_ms;

    for (int i = 0; i < p->conn_count; i++) {
        if (p->conns[i]->wake_ms != 0 && p->conns[i]->wake_ms < first_ms)
            first_ms = p->conns[i]->wake_ms;
    }
    if (first_ms == INT64_MAX || p->mode != MODE_OPEN)
        return -1;
    left_ms = first_ms - now_ms();
    return left_ms < 0 ? 0 : (int)left_ms;
}

static void step_all(struct proxy *p)
{
    for (int i = 0; i < p->conn_count; i++) {
        const struct pollfd *ready = p->fds + POLL_CONNS + (ptrdiff_t)2 * i;

        if ((ready[0].revents & ~POLLOUT) != 0)
            read_client(p->conns[i]);
        if ((ready[1].revents & ~POLLOUT) != 0)
            read_server(p->conns[i]);
        step_conn(p, p->conns[i]);
    }
}

/* Free the connections that are over, or reset all. */
static void remove_conns(struct proxy *p, bool all)
{
    int kept = 0;

    for (int i = 0; i < p->conn_count; i++) {
        struct conn *c = p->conns[i];

        if (all || is_over(c))
            free_conn(c, all);
        else
            p->conns[kept++] = c;
    }
    p->conn_count = kept;
}

static void sleep_unlocked(struct proxy *p)
{
    nfds_t count = fill_poll_list(p);
    int timeout_ms = poll_timeout(p);
    eventfd_t ignored;

    pthread_mutex_unlock(&p->lock);
    poll(p->fds, count, timeout_ms);
    eventfd_read(p->wake, &ignored);
    pthread_mutex_lock(&p->lock);
}

static void *run(void *arg)
{
    struct proxy *p = arg;

    pthread_mutex_lock(&p->lock);
    while (!p->stopping) {
        sleep_unlocked(p);
        if (p->mode == MODE_OPEN)
            step_all(p);
        accept_clients(p);
        remove_conns(p, p->mode == MODE_CUT);
        p->seen = p->asked;
        pthread_cond_broadcast(&p->changed);
    }
    remove_conns(p, true);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Life */

static bool parse_server(struct sockaddr_in *ret, const char *text,
                         size_t length)
{
    char host[64];
    char *colon;
    char *end;
    long port;

    if (length >= sizeof(host))
        return false;
    memcpy(host, text, length);
    host[length] = '\0';
    colon = strchr(host, ':');
    if (colon == NULL)
        return false;
    *colon = '\0';
    port = strtol(colon + 1, &end, 10);
    *ret = (struct sockaddr_in){ .sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)port) };
    return end != colon + 1 && *end == '\0' && port > 0 && port <= 65535 &&
           inet_pton(AF_INET, host, &ret->sin_addr) == 1;
}

static int parse_servers(struct proxy *p, const char *hosts)
{
    for (;;) {
        size_t length = strcspn(hosts, ",");

        if (p->server_count == SERVERS_MAX ||
            !parse_server(&p->servers[p->server_count], hosts, length))
            return -EINVAL;
        p->server_count++;
        if (hosts[length] == '\0')
            return 0;
        hosts += length + 1;
    }
}

static int open_listener(struct proxy *p)
{
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(a);

    p->listener =
        socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (p->listener < 0 ||
        bind(p->listener, (const struct sockaddr *)&a, sizeof(a)) != 0 ||
        listen(p->listener, CONNS_MAX) != 0 ||
        getsockname(p->listener, (struct sockaddr *)&a, &size) != 0)
        return -errno;
    snprintf(p->hosts, sizeof(p->hosts), "127.0.0.1:%d", ntohs(a.sin_port));
    return 0;
}

static int open_all(struct proxy *p, const char *server_hosts)
{
    int rc = parse_servers(p, server_hosts);

    if (rc != 0)
        return rc;
    p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (p->wake < 0)
        return -errno;
    return open_listener(p);
}

static int start_thread(struct proxy *p)
{
    sigset_t all;
    sigset_t old;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(&p->thread, NULL, run, p);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return -rc;
}

static void init_sync(struct proxy *p)
{
    pthread_condattr_t attr;

    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &attr);
    pthread_condattr_destroy(&attr);
}

static void free_proxy(struct proxy *p)
{
    close_fd(&p->listener, false);
    close_fd(&p->wake, false);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

int proxy_start(const char *server_hosts, struct proxy **ret_proxy)
{
    struct proxy *p = calloc(1, sizeof(*p));
    int rc;

    if (p == NULL)
        return -ENOMEM;
    p->wake = -1;
    p->listener = -1;
    init_sync(p);
    rc = open_all(p, server_hosts);
    if (rc == 0)
        rc = start_thread(p);
    if (rc == 0)
        *ret_proxy = p;
    else
        free_proxy(p);
    return rc;
}

void proxy_stop(struct proxy *p)
{
    if (p == NULL)
        return;
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    pthread_mutex_unlock(&p->lock);
    eventfd_write(p->wake, 1);
    pthread_join(p->thread, NULL);
    free_proxy(p);
}

const char *proxy_hosts(const struct proxy *p)
{
    return p->hosts;
}

/* Counts */

long proxy_requests(struct proxy *p, int32_t type)
{
    long count = 0;

    pthread_mutex_lock(&p->lock);
    if (type == PROXY_ANY)
        count = p->total;
    else if (type >= TYPE_MIN && type < TYPE_MIN + TYPES)
        count = p->counts[type - TYPE_MIN];
    pthread_mutex_unlock(&p->lock);
    return count;
}

int proxy_max_in_flight(struct proxy *p)
{
    int count;

    pthread_mutex_lock(&p->lock);
    count = p->max_in_flight;
    pthread_mutex_unlock(&p->lock);
    return count;
}

long proxy_flights(struct proxy *p)
{
    long count;

    pthread_mutex_lock(&p->lock);
    count = p->flights;
    pthread_mutex_unlock(&p->lock);
    return count;
}

void proxy_reset_counts(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    p->total = 0;
    memset(p->counts, 0, sizeof(p->counts));
    p->flights = 0;
    p->max_in_flight = 0;
    pthread_mutex_unlock(&p->lock);
}

/* Rules */

static void add_rule(struct proxy *p, struct rule rule)
{
    pthread_mutex_lock(&p->lock);
    if (p->rule_count == RULES_MAX) {
        fprintf(stderr, "proxy: more than %d rules\n", RULES_MAX);
        abort();
    }
    p->rules[p->rule_count++] = rule;
    p->undone++;
    pthread_mutex_unlock(&p->lock);
}

void proxy_rule(struct proxy *p, int32_t type, int nth,
                enum proxy_action action)
{
    add_rule(p, (struct rule){ .type = type, .nth = nth, .action = action });
}

void proxy_rule_error(struct proxy *p, int32_t type, int nth, int32_t err)
{
    add_rule(p, (struct rule){ .type = type,
                               .nth = nth,
                               .action = PROXY_ERROR_REPLY,
                               .err = err });
}

bool proxy_rule_done(struct proxy *p)
{
    return proxy_wait_rule(p, 0);
}

static struct timespec deadline_in(int timeout_ms)
{
    int64_t ms = now_ms() + timeout_ms;

    return (struct timespec){ .tv_sec = (time_t)(ms / 1000),
                              .tv_nsec = (long)(ms % 1000) * 1000000L };
}

bool proxy_wait_rule(struct proxy *p, int timeout_ms)
{
    struct timespec deadline = deadline_in(timeout_ms);
    bool done;
    int rc = 0;

    pthread_mutex_lock(&p->lock);
    while (p->undone > 0 && rc == 0)
        rc = pthread_cond_timedwait(&p->changed, &p->lock, &deadline);
    done = p->undone == 0;
    pthread_mutex_unlock(&p->lock);
    return done;
}

static void forget_actions(const struct conn *c)
{
    for (struct request *r = c->first; r != NULL; r = r->next) {
        r->awaited = false;
        /* Nobody else will answer this one. */
        if (r->action != PROXY_ERROR_REPLY)
            r->action = PROXY_PASS;
    }
}

void proxy_forget_rules(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    p->rule_count = 0;
    p->undone = 0;
    for (int i = 0; i < p->conn_count; i++)
        forget_actions(p->conns[i]);
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

/* Network */

/* Wait until the thread has seen what was changed under the lock. */
static void tell_thread(struct proxy *p)
{
    unsigned long ticket = ++p->asked;

    eventfd_write(p->wake, 1);
    while (p->seen < ticket)
        pthread_cond_wait(&p->changed, &p->lock);
}

static void set_mode(struct proxy *p, enum mode mode)
{
    pthread_mutex_lock(&p->lock);
    p->mode = mode;
    tell_thread(p);
    pthread_mutex_unlock(&p->lock);
}

void proxy_cut(struct proxy *p)
{
    set_mode(p, MODE_CUT);
}

void proxy_freeze(struct proxy *p)
{
    set_mode(p, MODE_FROZEN);
}

void proxy_heal(struct proxy *p)
{
    set_mode(p, MODE_OPEN);
}

void proxy_release(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < p->conn_count; i++) {
        p->conns[i]->up.held = false;
        p->conns[i]->down.held = false;
    }
    tell_thread(p);
    pthread_mutex_unlock(&p->lock);
}

void proxy_set_latency(struct proxy *p, int latency_ms)
{
    pthread_mutex_lock(&p->lock);
    p->latency_ms = latency_ms;
    tell_thread(p);
    pthread_mutex_unlock(&p->lock);
}
