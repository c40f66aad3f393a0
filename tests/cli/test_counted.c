/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of every error path where the tool reads files, answers of servers, and
 * data of others. Each call of the system fails once, on correct contents and
 * on hostile ones: memory and descriptors are given back, and the tool uses no
 * data that it has not read. For /proc see test_run_proc.c. */

#include <arpa/inet.h>
#include <fcntl.h>
#include <jansson.h>
#include <netdb.h>
#include <poll.h>
#include <sys/stat.h>

#include "common/lockctl.h"
#include "model/cons.h"
#include "model/history.h"
#include "net.h"
#include "protocol/owner.h"
#include "spawn.h"
#include "txn_file.h"
#include "unit.h"
#include "wait.h"

/* -- calls that fail ------------------------------------------------------ */

/* So much is read at once, as from a pipe; 0: all. */
static size_t faulty_piece;
/* The credentials of the last session that was opened, as "scheme auth"; ""
 * when none was. */
static char faulty_auth[2048];
static struct zkr_session_opts faulty_opts; /* the others of it */
/* The memory that held them, or NULL once it has been wiped. */
static const void *faulty_auth_at;

static atomic_long fails_at; /* 0: none */
static atomic_long calls;
static atomic_bool has_failed; /* in this run */
static atomic_long blocks;

static bool fails(int error)
{
    if (atomic_load(&fails_at) == 0 ||
        atomic_fetch_add(&calls, 1) + 1 != atomic_load(&fails_at))
        return false;
    atomic_store(&has_failed, true);
    errno = error;
    return true;
}

/* Runs the scene again and again, and lets in each run the next call fail,
 * until one has had no more. After each, what it has taken must have been given
 * back: memory and descriptors. Returns how often it was run. */
static long faulty_each(void (*scene)(void))
{
    long n = 0;

    do {
        long blocks_before = atomic_load(&blocks);
        int fds_before = count_fds();

        atomic_store(&calls, 0);
        atomic_store(&has_failed, false);
        atomic_store(&fails_at, ++n);
        scene();
        atomic_store(&fails_at, 0);
        if (atomic_load(&blocks) != blocks_before || count_fds() != fds_before)
            fail_msg("call %ld: %ld blocks and %d descriptors are left", n,
                     atomic_load(&blocks) - blocks_before,
                     count_fds() - fds_before);
    } while (atomic_load(&has_failed));
    return n;
}

static void *counted(void *p)
{
    if (p != NULL)
        (void)atomic_fetch_add(&blocks, 1);
    return p;
}

/* The calls of the tool are renamed to these. */
#define COUNTED(type, call, params, args)                                      \
    type faulty_##call params;                                                 \
    type faulty_##call params                                                  \
    {                                                                          \
        return counted(call args);                                             \
    }
#define FAULTY(type, call, error, failed, params, args)                        \
    type faulty_##call params;                                                 \
    type faulty_##call params                                                  \
    {                                                                          \
        return fails(error) ? failed : call args;                              \
    }

/* clang-format off */
COUNTED(void *, malloc, (size_t size), (size))
COUNTED(void *, calloc, (size_t count, size_t size), (count, size))
COUNTED(char *, strdup, (const char *text), (text))
COUNTED(char *, strndup, (const char *text, size_t len), (text, len))
/* The tool never creates a file with it, so no mode follows. */
FAULTY(int, open, EMFILE, -1, (const char *path, int flags, ...), (path, flags))
FAULTY(int, stat, EACCES, -1, (const char *path, struct stat *st), (path, st))
FAULTY(int, fstat, EIO, -1, (int fd, struct stat *st), (fd, st))
FAULTY(int, socket, EMFILE, -1, (int family, int type, int protocol), (family, type, protocol))
FAULTY(int, connect, ECONNREFUSED, -1, (int fd, const struct sockaddr *to, socklen_t size), (fd, to, size))
FAULTY(int, poll, ENOMEM, -1, (struct pollfd *fds, nfds_t count, int timeout), (fds, count, timeout))
FAULTY(ssize_t, recv, ECONNRESET, -1, (int fd, void *data, size_t size, int flags), (fd, data, size, flags))
FAULTY(ssize_t, send, EPIPE, -1, (int fd, const void *data, size_t size, int flags), (fd, data, size, flags))
FAULTY(int, getaddrinfo, ENOMEM, EAI_MEMORY, (const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **ret_all), (host, port, hints, ret_all))
FAULTY(int, pthread_create, EAGAIN, EAGAIN, (pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg), (thread, attr, start, arg))
/* clang-format on */

/* malloc() where the caller goes on without memory. */
static void *failing_malloc(size_t size)
{
    return fails(ENOMEM) ? NULL : faulty_malloc(size);
}

void *faulty_realloc(void *p, size_t size);
void *faulty_realloc(void *p, size_t size)
{
    void *grown = realloc(p, size);

    return p == NULL ? counted(grown) : grown;
}

void faulty_free(void *p);
void faulty_free(void *p)
{
    if (p != NULL)
        (void)atomic_fetch_sub(&blocks, 1);
    free(p);
}

ssize_t faulty_read(int fd, void *data, size_t size);
ssize_t faulty_read(int fd, void *data, size_t size)
{
    if (faulty_piece != 0 && size > faulty_piece)
        size = faulty_piece;
    return fails(EIO) ? -1 : read(fd, data, size);
}

void faulty_bzero(void *data, size_t size);
void faulty_bzero(void *data, size_t size)
{
    if (data == faulty_auth_at)
        faulty_auth_at = NULL;
    explicit_bzero(data, size);
}

__typeof__(zkr_session_open_async) faulty_session_open;
int faulty_session_open(const char *hosts, const struct zkr_session_opts *opts,
                        zkr_open_fn fn, void *user, zkr_session **ret_session)
{
    if (fails(ENOMEM))
        return ZKR_ENOMEM;
    (void)snprintf(faulty_auth, sizeof(faulty_auth), "%s %s",
                   opts->auth_scheme == NULL ? "" : opts->auth_scheme,
                   opts->auth == NULL ? "" : opts->auth);
    faulty_auth_at = opts->auth_scheme;
    faulty_opts = *opts;
    *ret_session = NULL;
    fn(ZKR_OK, user);
    return ZKR_OK;
}

/* -- files ---------------------------------------------------------------- */

int lockctl_fail(int exit_code, const char *format, ...)
{
    return exit_code;
}

void lockctl_say(const struct lockctl *ctl, const char *format, ...)
{
}

static char dir[] = "/tmp/zkrecipes-counted-XXXXXX";
static struct guard guard;

static const char *file_in(const char *name)
{
    return textf("%s/%s", dir, name);
}

static void write_file(const char *file, const char *text, size_t size)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, size), size);
    assert_int_equal(close(fd), 0);
}

/* -- credentials ---------------------------------------------------------- */

static struct lockctl ctl;
static const char *expected; /* by the session; NULL: it is not opened */

static void connect_with_auth(void)
{
    faulty_auth[0] = '\0';
    int code = lockctl_connect(&ctl);
    assert_null(faulty_auth_at); /* the password does not stay */
    if (faulty_auth[0] != '\0') {
        assert_string_equal(faulty_auth, expected == NULL ? "" : expected);
        assert_int_equal(faulty_opts.reply_timeout_ms, ctl.timeout_ms);
        assert_int_equal(faulty_opts.connect_timeout_ms, ctl.timeout_ms);
        assert_int_equal(faulty_opts.session_timeout_ms,
                         ctl.timeout_ms == 1800 ? 1000 : 10000);
        assert_int_equal(faulty_opts.flags, ZKR_SESSION_NO_LEASE);
    }
    if (expected != NULL && !has_failed)
        assert_int_equal(code, 0);
    if (expected == NULL)
        assert_int_equal(code, EX_CONFIG);
}

/* Regression: a read error in the middle was taken for the end of the file, so
 * the rest of the password was missing, without an error. */
TEST(credentials_are_read_whole_or_not_used)
{
    static const char good[] = "digest:someone:secret:with:colons\r\nmore\n";

    ctl = (struct lockctl){ .session = NULL };
    ctl.settings[SETTING_SERVERS] = "127.0.0.1:1";
    ctl.settings[SETTING_AUTH_FILE] = file_in("auth");
    ctl.settings[SETTING_SASL_PASSWORD_FILE] = file_in("password");
    write_file(file_in("password"), "other", 5);
    expected = "digest someone:secret:with:colons";
    for (faulty_piece = 0; faulty_piece < 8; faulty_piece += 7) {
        ctl.timeout_ms = faulty_piece == 0 ? 1800 : 60000;
        write_file(ctl.settings[SETTING_AUTH_FILE], good, strlen(good));
        assert_true(faulty_each(connect_with_auth) > 4);
    }
    faulty_piece = 0;
    ctl.settings[SETTING_SASL_PASSWORD_FILE] = NULL;
}

TEST(hostile_credentials_are_refused)
{
    static const char *const texts[] = { "",           "\n",     ":",    ":x",
                                         "\ndigest:x", "digest", "\r\n:" };
    static char longest[4096];

    ctl.settings[SETTING_AUTH_FILE] = file_in("auth");
    expected = NULL;
    for (size_t i = 0; i < COUNT(texts); i++) {
        write_file(ctl.settings[SETTING_AUTH_FILE], texts[i], strlen(texts[i]));
        (void)faulty_each(connect_with_auth);
    }
    (void)memset(longest, ':', sizeof(longest));
    longest[0] = 'x';
    write_file(ctl.settings[SETTING_AUTH_FILE], longest, sizeof(longest));
    (void)faulty_each(connect_with_auth);
    write_file(ctl.settings[SETTING_AUTH_FILE], "x:y", 3);
    assert_int_equal(chmod(ctl.settings[SETTING_AUTH_FILE], 0640), 0);
    (void)faulty_each(connect_with_auth);
    const char *const others[] = { dir, "/dev/null", file_in("none") };
    for (size_t i = 0; i < COUNT(others); i++) {
        ctl.settings[SETTING_AUTH_FILE] = others[i];
        (void)faulty_each(connect_with_auth);
    }
}

/* -- contexts ------------------------------------------------------------- */

static const char contexts_before[] = "current = a\n[a]\nservers = a:1\n"
                                      "auth-file = x\n[b]\nservers = b:1\n";

static void read_contexts(void)
{
    struct contexts contexts;
    int code = contexts_read(&contexts);

    assert_true(code == 0 || has_failed);
    if (code == 0)
        assert_int_equal(contexts.count, 2);
    contexts_done(&contexts);
}

static char hostile[sizeof(contexts_before)];

static void read_hostile_contexts(size_t size)
{
    struct contexts contexts;

    write_file(file_in("contexts"), hostile, size);
    (void)contexts_read(&contexts);
    contexts_done(&contexts);
}

/* Each byte is one of those that mean something in the file, in turn; then the
 * file ends there. */
TEST(hostile_contexts_are_read_or_refused)
{
    static const char bytes[] = { '[', ']', '=', '#',  '\n',
                                  ' ', '-', 'a', '\0', '\xff' };

    (void)setenv("ZK_LOCKCTL_CONFIG", file_in("contexts"), 1);
    for (size_t at = 0; at < sizeof(hostile) - 1; at++) {
        for (size_t i = 0; i < COUNT(bytes); i++) {
            (void)memcpy(hostile, contexts_before, sizeof(hostile));
            hostile[at] = bytes[i];
            read_hostile_contexts(sizeof(hostile) - 1);
            read_hostile_contexts(at + 1);
        }
    }
    (void)unsetenv("ZK_LOCKCTL_CONFIG");
}

TEST(contexts_are_read_whole_or_not_at_all)
{
    (void)setenv("ZK_LOCKCTL_CONFIG", file_in("contexts"), 1);
    write_file(file_in("contexts"), contexts_before, strlen(contexts_before));
    assert_true(faulty_each(read_contexts) > 3);
    (void)unsetenv("ZK_LOCKCTL_CONFIG");
}

/* -- history -------------------------------------------------------------- */

static void take_stay(struct stay *stay, void *user)
{
    *(size_t *)user += 1;
    stay_free(stay);
}

static void take_gap(const struct gap *gap, void *user)
{
}

/* A snapshot that cannot be read is not needed for an answer. */
static void read_history(void)
{
    size_t stays = 0;
    const struct history_fns fns = { take_stay, take_gap, &stays };
    struct txnlogs logs = { .notes = { NULL, 0 } };
    struct history history;
    int code = txnlogs_add(&logs, file_in("history"));

    history_init(&history, "", "/", &fns);
    if (code == 0)
        code = history_play(&history, &logs);
    assert_true(code == 0 || has_failed);
    if (!has_failed)
        assert_int_equal(stays, 3);
    history_done(&history);
    txnlogs_done(&logs);
}

TEST(a_history_is_read_or_refused)
{
    ok(mkdir(file_in("history"), 0700));
    log_write(file_in("history/log.5"),
              "@5;*4 /l/#3:2:1;2+/p/leases/#l0;2-/l/#2;@9;1?");
    assert_true(faulty_each(read_history) > 4);
}

/* -- answers -------------------------------------------------------------- */

static struct {
    int fd;
    pthread_t thread;
    const char *answer;
    bool resets;
} server;

static void *serve(void *unused)
{
    for (;;) {
        int fd = accept4(server.fd, NULL, NULL, SOCK_CLOEXEC);
        struct linger at_once = { .l_onoff = 1 };
        char word[4];

        if (fd < 0)
            return NULL;
        (void)recv(fd, word, sizeof(word), MSG_WAITALL);
        (void)send(fd, server.answer, strlen(server.answer), MSG_NOSIGNAL);
        if (server.resets)
            (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once,
                             sizeof(at_once));
        (void)close(fd);
    }
}

static char server_hosts[NET_ADDRESS];

static void start_server(void)
{
    server.fd = net_listen(server_hosts);
    assert_true(server.fd >= 0);
}

/* The server runs only during the call: its descriptors are in this process,
 * too, and must not be counted. */
static void ask(void)
{
    struct notes notes = { NULL, 0 };

    assert_int_equal(pthread_create(&server.thread, NULL, serve, NULL), 0);
    struct servers *servers = servers_ask(&ctl, &notes);
    assert_false(servers->whole); /* nobody tells which servers there are */
    (void)shutdown(server.fd, SHUT_RDWR);
    assert_int_equal(pthread_join(server.thread, NULL), 0);
    assert_int_equal(close(server.fd), 0);
    servers_free(servers);
    notes_done(&notes);
    start_server();
}

TEST(answers_are_read_or_dropped)
{
    static const char good[] =
        " /10.1.2.3:5[1](queued=0,sid=0x1,lop=PING,to=4000,x)\n"
        " /10.1.2.3:6[1](queued=0,sid=0x2,lop=PING,to=4000,x)\n";
    static const char *const answers[] = {
        good,
        "",
        "cons is not executed because it is not in the whitelist.\n",
        " /[[[[(,sid=0x,to=\n /a[,sid=0xffffffffffffffffffffff,to=1\n",
    };

    start_server();
    ctl = (struct lockctl){ .timeout_ms = 5000 };
    ctl.settings[SETTING_SERVERS] = server_hosts;
    for (size_t i = 0; i < COUNT(answers); i++) {
        server.answer = answers[i];
        server.resets = i % 2 == 1;
        assert_true(faulty_each(ask) > 4);
    }
    assert_int_equal(close(server.fd), 0);
}

/* -- data of others ------------------------------------------------------- */

static const char *data;
static size_t data_size;

static void read_owner(void)
{
    struct zkr__known_owner owner;
    char word[256];

    zkr__owner_read(&owner, data, data_size);
    owner_word(&owner, data, data_size, word, sizeof(word));
}

TEST(records_are_read_or_data)
{
    static const char record[] =
        "{\"host\":\"vm\",\"pid\":1,\"thread\":\"t\",\"tid\":2,\"program\":"
        "\"p\",\"label\":\"l\",\"start\":\"s\",\"within\":\"0x1\","
        "\"library\":\"zkrecipes 9\"}";
    char *copy;

    data = record;
    data_size = strlen(record);
    assert_true(faulty_each(read_owner) > 20);
    for (data_size = 0; data_size < strlen(record); data_size++) {
        copy = malloc(data_size + 1); /* ASan sees a read behind it */
        assert_non_null(copy);
        copy = realloc(copy, data_size == 0 ? 1 : data_size);
        assert_non_null(copy);
        (void)memcpy(copy, record, data_size);
        data = copy;
        read_owner();
        free(copy);
    }
}

int main(void)
{
    if (mkdtemp(dir) == NULL || guard_start(&guard, dir) != 0)
        return 1;
    json_set_alloc_funcs(failing_malloc, faulty_free);
    int rc = test_run_all();
    guard_finish(&guard);
    return rc;
}
