/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that no answer of a server ends the process: scripts of damaged, lying
 * and made-up answers, each chosen by its seed, to a program that uses all that
 * the library asks servers for, or the client's own synchronous calls.
 *
 * A script is a process with a server, and a child with the program. The client
 * of tools/build-client.sh survives each; that of Debian does not, and this
 * program counts how many end it. ZKR_HOSTILE_SCRIPTS=n runs so many, and
 * ZKR_SEED=n begins with that one. */
#include "test.h"

#include <poll.h>
#include <signal.h>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zookeeper/proto.h>
#include <zookeeper/zookeeper.h>

#include "net.h"
#include "scope.h"
#include "wait.h"
#include "wire.h"

enum {
    SCRIPTS = 48,
    AT_ONCE = 8,
    HOSTILE_MS = 1500, /* then the server answers well */
    PATIENCE_S = 60,   /* of a program */
    SESSION_MS = 1200,
    CALL_MS = 250,
    CONNS_MAX = 16,
    NAMES_MAX = 4,
    NUMBERS_MAX = 64,
    FRAME_MAX = 1000, /* of what is answered, without its length */
    PATH_MAX_HERE = 200,
};

/* -- chance --------------------------------------------------------------- */

static uint64_t state;

/* xorshift64*: the same numbers for the same seed. */
static uint32_t any(uint32_t limit)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * 0x2545f4914f6cdd1dU) >> 32) % limit;
}

/* Lengths, counts, codes and ids that nobody expects. */
static int32_t nasty(void)
{
    static const int32_t numbers[] = {
        -1,          -2,         -3,         -4,         -8,         0,
        1,           2,          3,          4,          5,          16,
        255,         0x7fff,     0x10000,    0x100000,   0x7fffffff, INT32_MIN,
        -0x7fffffff, 0x40000000, 0x3fffffff, 0x20000001, -101,       -112
    };

    return numbers[any(COUNT(numbers))];
}

/* -- answers -------------------------------------------------------------- */

/* An answer under construction, and where its numbers of four bytes are. */
struct answer {
    struct packet body;
    size_t number[NUMBERS_MAX];
    size_t numbers;
};

static void put_int(struct answer *a, int32_t number)
{
    if (a->numbers < NUMBERS_MAX)
        a->number[a->numbers++] = a->body.size;
    put_number(&a->body, number, 4);
}

static void add_text(struct answer *a, const char *text)
{
    put_int(a, (int32_t)strlen(text));
    put_bytes(&a->body, text, strlen(text));
}

static void put_header(struct answer *a, int32_t xid, int32_t error)
{
    put_int(a, xid);
    put_number(&a->body, 1, 8); /* zxid */
    put_int(a, error);
}

static void put_stat(struct answer *a)
{
    for (int i = 0; i < 4; i++) /* from czxid to mtime */
        put_number(&a->body, 7, 8);
    for (int i = 0; i < 3; i++) /* versions */
        put_int(a, 0);
    put_number(&a->body, 0x1234, 8); /* ephemeralOwner */
    put_int(a, 4);                   /* dataLength */
    put_int(a, 0);                   /* numChildren */
    put_number(&a->body, 7, 8);      /* pzxid */
}

/* -- requests -------------------------------------------------------------- */

static void skip_text(struct reading *r)
{
    take_bytes(r, (int32_t)take_number(r, 4));
}

/* Nodes that were made last: a list of children has them. */
static char names[NAMES_MAX][PATH_MAX_HERE];
static unsigned made;

static void take_create(struct reading *r, char path[PATH_MAX_HERE])
{
    char asked[PATH_MAX_HERE];

    take_text(r, asked, sizeof(asked));
    skip_text(r);
    for (int64_t i = take_number(r, 4); i > 0 && r->at < r->size; i--) {
        (void)take_number(r, 4); /* of an ACL: permissions, scheme, id */
        skip_text(r);
        skip_text(r);
    }
    (void)snprintf(path, PATH_MAX_HERE, "%.180s", asked);
    if ((take_number(r, 4) & ZOO_SEQUENCE) != 0) {
        (void)snprintf(path, PATH_MAX_HERE, "%.180s%010u", asked, made);
        (void)snprintf(names[made++ % NAMES_MAX], PATH_MAX_HERE, "%s",
                       strrchr(path, '/') + 1);
    }
}

static void put_result(struct answer *a, int32_t type)
{
    put_int(a, type);
    put_number(&a->body, 0, 1); /* done */
    put_int(a, type == -1 ? nasty() : 0);
    if (type == -1)
        put_int(a, nasty());
}

/* Results of all operations of a transaction; with `lie`, of others. */
static void answer_multi(struct reading *r, struct answer *a, bool lie)
{
    char path[PATH_MAX_HERE];
    int32_t type;

    for (;;) {
        type = (int32_t)take_number(r, 4);
        take_bytes(r, 1 + 4);
        if (type == -1 || r->at >= r->size || a->body.size > FRAME_MAX - 400)
            break;
        bool creates = type == ZOO_CREATE_OP || type == ZOO_CREATE_CONTAINER_OP;
        if (creates)
            take_create(r, path);
        else
            skip_text(r);
        if (type == ZOO_SETDATA_OP)
            skip_text(r);
        if (!creates)
            (void)take_number(r, 4); /* the version */
        if (lie && any(3) == 0)
            continue;
        for (uint32_t i = lie ? any(3) : 0; i > 0; i--)
            put_result(a, lie && any(2) == 0 ? -1 : ZOO_CHECK_OP);
        put_result(a, type);
        if (creates)
            add_text(a, path);
        if (type == ZOO_SETDATA_OP)
            put_stat(a);
    }
    if (lie && any(4) == 0)
        return;
    put_int(a, -1);
    put_number(&a->body, 1, 1);
    put_int(a, -1);
}

static void answer_content(struct reading *r, int32_t type, struct answer *a,
                           bool lie)
{
    char path[PATH_MAX_HERE];

    switch (type) {
    case ZOO_CREATE2_OP:
    case ZOO_CREATE_CONTAINER_OP:
    case ZOO_CREATE_OP:
        take_create(r, path);
        add_text(a, path);
        if (type != ZOO_CREATE_OP)
            put_stat(a);
        break;
    case ZOO_EXISTS_OP:
    case ZOO_SETDATA_OP:
        put_stat(a);
        break;
    case ZOO_GETDATA_OP:
        add_text(a, "data");
        put_stat(a);
        break;
    case ZOO_GETACL_OP:
        put_int(a, 1);
        put_int(a, ZOO_PERM_ALL);
        add_text(a, "world");
        add_text(a, "anyone");
        put_stat(a);
        break;
    case ZOO_GETCHILDREN_OP:
    case ZOO_GETCHILDREN2_OP:
        put_int(a, NAMES_MAX);
        for (int i = 0; i < NAMES_MAX; i++)
            add_text(a, names[i]);
        if (type == ZOO_GETCHILDREN2_OP)
            put_stat(a);
        break;
    case ZOO_SYNC_OP:
        take_text(r, path, sizeof(path));
        add_text(a, path);
        break;
    case ZOO_MULTI_OP:
        answer_multi(r, a, lie);
        break;
    default: /* a delete, a ping, ... */
        break;
    }
}

/* -- damage ---------------------------------------------------------------- */

/* What is done to an answer. */
enum damage {
    NONE,
    FLIP,      /* some bits */
    CUT,       /* its end is missing */
    NUMBER,    /* another number in it */
    NUMBERS,   /* two of them */
    LENGTH,    /* another length before it */
    XID,       /* it is to another request, or to none */
    TWICE,     /* it comes again */
    SWALLOWED, /* it does not come */
    CODE,      /* an error, with the content of a success */
    EVENT,     /* an event before it */
    BAD_EVENT, /* a damaged one */
    LOGIN,     /* the result of a login before it */
    LONGER,    /* bytes behind it */
    NOISE,     /* nothing but noise */
    HALF,      /* the connection ends in the middle */
    LIE,       /* results of other operations */
    EMPTY,     /* nothing but a length */
    DAMAGES
};

static void send_frame(int fd, const struct answer *a, int32_t length)
{
    struct packet head = { .size = 0 };

    put_number(&head, length, 4);
    (void)send(fd, head.bytes, head.size, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)send(fd, a->body.bytes, a->body.size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void change_number(struct answer *a)
{
    struct packet number = { .size = 0 };

    put_number(&number, nasty(), 4);
    if (a->numbers > 0)
        memcpy(a->body.bytes + a->number[any((uint32_t)a->numbers)],
               number.bytes, 4);
}

static void add_noise(struct answer *a, uint32_t size)
{
    while (size-- > 0 && a->body.size < FRAME_MAX)
        put_number(&a->body, any(256), 1);
}

static void damage_bytes(struct answer *a, enum damage damage)
{
    for (uint32_t i = damage == FLIP && a->body.size > 0 ? 1 + any(8) : 0;
         i > 0; i--)
        a->body.bytes[any((uint32_t)a->body.size)] ^= (unsigned char)any(256);
    if (damage == CUT)
        a->body.size = any((uint32_t)a->body.size + 1);
    if (damage == NUMBER || damage == NUMBERS)
        change_number(a);
    if (damage == NUMBERS)
        change_number(a);
    if (damage == LONGER)
        add_noise(a, 1 + any(64));
    if (damage == EMPTY || damage == NOISE)
        a->body.size = 0;
    if (damage == NOISE)
        add_noise(a, 1 + any(200));
}

static void send_before(int fd, enum damage damage)
{
    static const char *const paths[] = { "/a", "/app/a", "/a/b", "",
                                         "/",  "x",      "/app" };
    struct answer a = { .numbers = 0 };

    if (damage == LOGIN) {
        put_header(&a, -4, any(2) == 0 ? 0 : nasty());
    } else {
        put_header(&a, -1, 0);
        put_int(&a, any(2) == 0 ? (int32_t)any(6) : nasty()); /* type */
        put_int(&a, any(2) == 0 ? ZOO_CONNECTED_STATE : nasty());
        add_text(&a, paths[any(COUNT(paths))]);
    }
    if (damage == BAD_EVENT)
        damage_bytes(&a, FLIP + any(4));
    send_frame(fd, &a, (int32_t)a.body.size);
}

/* Returns false when the connection is to end. */
static bool send_damaged(int fd, struct answer *a, enum damage damage)
{
    if (damage == EVENT || damage == BAD_EVENT || damage == LOGIN)
        send_before(fd, damage);
    damage_bytes(a, damage);
    int32_t length = damage == LENGTH ? nasty() : (int32_t)a->body.size;
    if (damage == HALF)
        a->body.size = any((uint32_t)a->body.size + 1);
    if (damage != SWALLOWED)
        send_frame(fd, a, length);
    if (damage == TWICE)
        send_frame(fd, a, length);
    return damage != HALF;
}

/* -- the server ------------------------------------------------------------ */

static unsigned seed;
static unsigned answered; /* how often */
static int64_t hostile_until;

/* Each seed has one damage and its place for certain, and others by chance. */
static enum damage next_damage(void)
{
    unsigned number = answered++;

    if (now_ms() > hostile_until)
        return NONE;
    if (number == seed / DAMAGES % 24)
        return seed % DAMAGES;
    return any(number == 0 ? 12 : 5) == 0 ? any(DAMAGES) : NONE;
}

struct conn {
    int fd;
    bool greeted;
    size_t size;
    unsigned char bytes[16384];
};

static bool answer_connect(struct conn *c)
{
    struct answer a = { .numbers = 0 };

    put_int(&a, 0); /* protocolVersion */
    put_int(&a, SESSION_MS);
    put_number(&a.body, 0x1234, 8);
    put_int(&a, PASSWD_SIZE);
    put_bytes(&a.body, "0123456789abcdef", PASSWD_SIZE);
    put_number(&a.body, any(8) == 0, 1); /* readOnly */
    c->greeted = true;
    return send_damaged(c->fd, &a, next_damage());
}

static bool answer_request(struct conn *c, const unsigned char *bytes,
                           size_t size)
{
    struct reading r = { bytes, size, 0 };
    struct answer a = { .numbers = 0 };
    enum damage damage = next_damage();
    int32_t xid = (int32_t)take_number(&r, 4);
    int32_t type = (int32_t)take_number(&r, 4);

    put_header(&a, damage == XID ? (any(2) == 0 ? nasty() : xid + 1) : xid,
               damage == CODE ? nasty() : 0);
    answer_content(&r, type, &a, damage == LIE);
    return send_damaged(c->fd, &a, damage) && type != ZOO_CLOSE_OP;
}

/* Returns false when the connection has ended. */
static bool serve(struct conn *c)
{
    ssize_t got = recv(c->fd, c->bytes + c->size, sizeof(c->bytes) - c->size,
                       MSG_DONTWAIT);
    bool on = got > 0;
    size_t at = 0;

    if (on)
        c->size += (size_t)got;
    while (on && c->size - at >= 4) {
        int64_t size = get_number(c->bytes + at, 4);

        if (size < 0 || size > (int64_t)sizeof(c->bytes) - 4)
            return false;
        if (c->size - at - 4 < (size_t)size)
            break;
        on = !c->greeted ? answer_connect(c)
                         : answer_request(c, c->bytes + at + 4, (size_t)size);
        at += 4 + (size_t)size;
    }
    memmove(c->bytes, c->bytes + at, c->size - at);
    c->size -= at;
    return on;
}

static struct conn conns[CONNS_MAX];

/* Until the program has ended. Returns its status. */
static int serve_all(int listener, pid_t program)
{
    struct pollfd fds[CONNS_MAX + 1];
    int status;

    for (int i = 0; i < CONNS_MAX; i++)
        conns[i].fd = -1;
    while (waitpid(program, &status, WNOHANG) == 0) {
        for (int i = 0; i < CONNS_MAX; i++)
            fds[i] = (struct pollfd){ .fd = conns[i].fd, .events = POLLIN };
        fds[CONNS_MAX] = (struct pollfd){ .fd = listener, .events = POLLIN };
        if (poll(fds, CONNS_MAX + 1, 10) <= 0)
            continue;
        for (int i = 0; i < CONNS_MAX; i++) {
            if (fds[i].revents != 0 && !serve(&conns[i])) {
                (void)close(conns[i].fd);
                conns[i].fd = -1;
            }
        }
        if (fds[CONNS_MAX].revents == 0)
            continue;
        int fd = accept(listener, NULL, NULL);
        int i = 0;
        while (i < CONNS_MAX && conns[i].fd >= 0)
            i++;
        if (i < CONNS_MAX)
            conns[i] = (struct conn){ .fd = fd };
        else
            (void)close(fd);
    }
    return status;
}

/* -- the program ----------------------------------------------------------- */

static void on_watch(int error, const struct zkr_reply *reply,
                     enum zkr_watch_why why, void *user)
{
}

/* Any result will do. */
static void may(int rc)
{
}

static void read_all(zkr_session *s)
{
    zkr_watch *watches[3] = { NULL };
    AUTO(reply) data = NULL;
    AUTO(reply) children = NULL;
    AUTO(reply) stat = NULL;

    for (int i = 0; i < 3; i++)
        may(zkr_session_watch(s, "/a", ZKR_WATCH_DATA + i, NULL, on_watch, NULL,
                              &watches[i]));
    may(zkr_session_get(s, "/a", CALL_MS, &data));
    may(zkr_session_children(s, "/a", CALL_MS, &children));
    may(zkr_session_exists(s, "/a", CALL_MS, &stat));
    may(zkr_session_sync(s, CALL_MS));
    for (int i = 0; i < 3; i++)
        zkr_watch_free(watches[i]);
}

static void write_all(zkr_session *s)
{
    AUTO(txn) txn = NULL;

    may(zkr_session_create(s, "/a/b", "x", 1, NULL, CALL_MS, NULL));
    may(zkr_session_set(s, "/a/b", "y", 1, ZKR_ANY_VERSION, CALL_MS, NULL));
    if (zkr_txn_new(s, NULL, &txn) == ZKR_OK) {
        may(zkr_txn_check(txn, "/a", ZKR_ANY_VERSION));
        may(zkr_txn_create(txn, "/a/c", "x", 1, NULL));
        may(zkr_txn_set(txn, "/a/c", "y", 1, ZKR_ANY_VERSION));
        may(zkr_txn_delete(txn, "/a/c", ZKR_ANY_VERSION));
        may(zkr_txn_commit(txn, CALL_MS));
    }
    may(zkr_session_delete(s, "/a/b", ZKR_ANY_VERSION, CALL_MS));
}

static void lock_all(zkr_session *s)
{
    AUTO(participants) found = NULL;
    AUTO(mutex) m = NULL;
    AUTO(grant) g = NULL;

    if (zkr_mutex_new(s, "/a/lock", NULL, &m) != ZKR_OK)
        return;
    if (zkr_mutex_acquire(m, CALL_MS, &g) == ZKR_OK) {
        may(zkr_grant_verify(g, CALL_MS));
        may(zkr_grant_guarded_set(g, "/a", "z", 1, ZKR_ANY_VERSION, CALL_MS,
                                  NULL));
        may(zkr_grant_release(g));
    }
    may(zkr_participants_list(s, "/a/lock", NULL, &found));
}

static void use_library(const char *hosts)
{
    bool with_auth = any(2) == 0;
    const char *chroot = any(3) == 0 ? "/app" : NULL;
    zkr_session *s = NULL;

    if (zkr_session_open(hosts,
                         OPTS(session, .session_timeout_ms = SESSION_MS,
                              .connect_timeout_ms = 2 * HOSTILE_MS,
                              .reply_timeout_ms = CALL_MS,
                              .auth_scheme = with_auth ? "digest" : NULL,
                              .auth = with_auth ? "user:password" : NULL,
                              .chroot = chroot),
                         &s) != ZKR_OK)
        return;
    for (int i = 0; i < 2; i++) {
        read_all(s);
        write_all(s);
        lock_all(s);
    }
    may(zkr_session_close(s));
}

static void on_event(zhandle_t *zh, int type, int event, const char *path,
                     void *context)
{
}

static void transact(zhandle_t *zh)
{
    char path[PATH_MAX_HERE];
    struct Stat stat;
    zoo_op_result_t results[4];
    zoo_op_t ops[4];

    zoo_check_op_init(&ops[0], "/a", -1);
    zoo_create_op_init(&ops[1], "/a/c", "x", 1, &ZOO_OPEN_ACL_UNSAFE, 0, path,
                       sizeof(path));
    zoo_set_op_init(&ops[2], "/a/c", "y", 1, -1, &stat);
    zoo_delete_op_init(&ops[3], "/a/c", -1);
    (void)zoo_multi(zh, 4, ops, results);
}

/* The library makes none of these calls. */
static void use_client(const char *hosts)
{
    char list[256];
    char data[100];
    struct Stat stat;

    (void)snprintf(list, sizeof(list), "%s%s", hosts,
                   any(2) == 0 ? "/app" : "");
    zhandle_t *zh = zookeeper_init2(list, on_event, SESSION_MS, NULL, NULL,
                                    ZOO_NO_LOG_CLIENTENV, NULL);
    if (zh == NULL)
        return;
    for (int i = 0; i < 3 && zoo_state(zh) >= 0; i++) {
        struct String_vector children = { 0, NULL };
        struct ACL_vector acl = { 0, NULL };
        int size = sizeof(data);

        (void)zoo_wexists(zh, "/a", on_event, NULL, &stat);
        (void)zoo_wget(zh, "/a", on_event, NULL, data, &size, &stat);
        (void)zoo_wget_children(zh, "/a", on_event, NULL, &children);
        (void)deallocate_String_vector(&children);
        (void)zoo_get_children2(zh, "/a", 0, &children, &stat);
        (void)deallocate_String_vector(&children);
        (void)zoo_get_acl(zh, "/a", &acl, &stat);
        (void)deallocate_ACL_vector(&acl);
        (void)zoo_create(zh, "/a/b", "x", 1, &ZOO_OPEN_ACL_UNSAFE, 0, data,
                         sizeof(data));
        (void)zoo_create2(zh, "/a/b-", "x", 1, &ZOO_OPEN_ACL_UNSAFE,
                          ZOO_SEQUENCE, data, sizeof(data), &stat);
        (void)zoo_set2(zh, "/a/b", "y", 1, -1, &stat);
        transact(zh);
        (void)zoo_delete(zh, "/a/b", -1);
    }
    (void)zookeeper_close(zh);
}

/* -- all of them ----------------------------------------------------------- */

/* In a process of its own. */
static void run_script(void)
{
    char hosts[NET_ADDRESS];
    int listener = net_listen(hosts);

    if (listener < 0)
        _exit(EXIT_FAILURE);
    state = 0x9e3779b97f4a7c15U * (seed + 1);
    hostile_until = now_ms() + HOSTILE_MS;
    pid_t program = fork();
    if (program == 0) {
        for (int i = 1; i < NSIG; i++) /* cmocka catches some */
            (void)signal(i, SIG_DFL);
        zoo_set_debug_level(0);
        (void)close(listener);
        (void)alarm(PATIENCE_S);
        if (seed % 4 == 3)
            use_client(hosts);
        else
            use_library(hosts);
        _exit(EXIT_SUCCESS);
    }
    int status = serve_all(listener, program);
    if (status != 0)
        (void)fprintf(stderr, "seed %u: status %#x\n", seed, (unsigned)status);
    _exit(status == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

TEST(no_answer_ends_the_process)
{
    const unsigned scripts =
        (unsigned)test_number("ZKR_HOSTILE_SCRIPTS", SCRIPTS);
    const unsigned first = (unsigned)test_number("ZKR_SEED", 0);
    unsigned ended = 0;

    for (unsigned i = 0; i < scripts + AT_ONCE; i++) {
        int status = 0;

        if (i >= AT_ONCE)
            assert_true(wait(&status) > 0);
        ended += status != 0;
        seed = first + i;
        if (i < scripts && fork() == 0)
            run_script();
    }
    print_message("%u scripts of hostile answers: %u end the process\n",
                  scripts, ended);
    if (ZKR__CLIENT_INSIDE)
        assert_int_equal(ended, 0);
}

int main(void)
{
    test_patience_s = 0; /* each script has its own, and a fork no thread */
    return test_run_all();
}
