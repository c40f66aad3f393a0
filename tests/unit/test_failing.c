/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that make every call fail in turn, one alone and with others after it:
 * nothing stays open or allocated, an accepted token stays accepted, and the
 * next try succeeds. They cover code that reads files, calls the system, or
 * parses text. The linker sends all calls of the library that may fail here
 * (--wrap). */
#include "unit.h"

#include <jansson.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/thread.h"
#include "fence_dir.h"
#include "protocol/owner.h"
#include "wait.h"
#include "zk/acl.h"
#include "zk/hosts.h"
#include "zk/probe.h"

/* The calls are counted; the one with the number `next`, from 1, and those that
 * follow it at the distance `apart` (0: none), fail with that errno. */
static struct failing {
    bool counts;
    int calls;
    int next; /* 0: none */
    int apart;
    int error;
    const char *last; /* that has failed, or "nothing" */
} failing;
static long blocks; /* of memory, and address lists: that are not freed */

static bool fails(const char *what)
{
    if (!failing.counts || ++failing.calls != failing.next)
        return false;
    failing.next = failing.apart == 0 ? 0 : failing.next + failing.apart;
    failing.last = what;
    errno = failing.error;
    return true;
}

/* A call that returns `wrong` when it fails. */
#define FAILING(type, name, wrong, parameters, ...)                            \
    WRAP(type, name, parameters)                                               \
    {                                                                          \
        return fails(#name) ? (wrong) : __real_##name(__VA_ARGS__);            \
    }

/* -- memory ---------------------------------------------------------------- */

static void *count(void *p)
{
    blocks += p != NULL;
    return p;
}

#define ALLOCATING(type, name, parameters, ...)                                \
    WRAP(type, name, parameters)                                               \
    {                                                                          \
        return fails(#name) ? NULL : count(__real_##name(__VA_ARGS__));        \
    }

ALLOCATING(void *, malloc, (size_t size), size)
ALLOCATING(void *, calloc, (size_t n, size_t size), n, size)
ALLOCATING(char *, strdup, (const char *text), text)
ALLOCATING(char *, strndup, (const char *text, size_t len), text, len)

/* In that case the contents of `text` must not be used. */
int __wrap_asprintf(char **text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **text, const char *format, ...)
{
    va_list args;

    if (fails("asprintf")) {
        *text = (char *)(uintptr_t)1;
        return -1;
    }
    va_start(args, format);
    int len = vasprintf(text, format, args);
    va_end(args);
    blocks += len >= 0;
    return len;
}

WRAP(void, free, (void *p))
{
    blocks -= p != NULL;
    __real_free(p);
}

/* -- descriptors ----------------------------------------------------------- */

FAILING(int, open64, -1, (const char *path, int flags, ...), path, flags, 0666)
FAILING(int, openat64, -1, (int at, const char *path, int flags, ...), at, path,
        flags, 0666)
FAILING(FILE *, fopen64, NULL, (const char *path, const char *mode), path, mode)
FAILING(int, socket, -1, (int domain, int type, int protocol), domain, type,
        protocol)

/* The descriptor is closed all the same. */
#define CLOSING(name, wrong, parameters, arg)                                  \
    WRAP(int, name, parameters)                                                \
    {                                                                          \
        int rc = __real_##name(arg);                                           \
                                                                               \
        return fails(#name) ? (wrong) : rc;                                    \
    }

CLOSING(close, -1, (int fd), fd)
CLOSING(fclose, EOF, (FILE * f), f)

/* -- what is done with them ------------------------------------------------ */

FAILING(ssize_t, read, -1, (int fd, void *data, size_t size), fd, data,
        size > 7 ? 7 : size)

/* It never takes all bytes at once. */
FAILING(ssize_t, write, -1, (int fd, const void *data, size_t size), fd, data,
        size > 7 ? 7 : size)
FAILING(char *, fgets, NULL, (char *line, int size, FILE *f), line, size, f)

/* Syncing is skipped: disks are slow, and no machine crashes here. */
WRAP(int, fsync, (int fd))
{
    return fails("fsync") ? -1 : 0;
}

FAILING(int, flock, -1, (int fd, int how), fd, how)
FAILING(int, fstat64, -1, (int fd, struct stat64 *s), fd, s)
FAILING(int, fstatat64, -1,
        (int at, const char *path, struct stat64 *s, int flags), at, path, s,
        flags)
FAILING(int, renameat, -1, (int from, const char *a, int to, const char *b),
        from, a, to, b)
FAILING(int, unlinkat, -1, (int at, const char *path, int flags), at, path,
        flags)
FAILING(int, connect, -1, (int fd, const struct sockaddr *to, socklen_t len),
        fd, to, len)
FAILING(int, poll, -1, (struct pollfd * fds, nfds_t n, int ms), fds, n, ms)
FAILING(int, getsockopt, -1,
        (int fd, int level, int name, void *value, socklen_t *len), fd, level,
        name, value, len)

/* -- the system ------------------------------------------------------------ */

WRAP(int, getaddrinfo,
     (const char *host, const char *port, const struct addrinfo *hints,
      struct addrinfo **info))
{
    int rc = fails("getaddrinfo") ? EAI_SYSTEM
                                  : __real_getaddrinfo(host, port, hints, info);

    blocks += rc == 0;
    return rc;
}

WRAP(void, freeaddrinfo, (struct addrinfo * info))
{
    blocks--;
    __real_freeaddrinfo(info);
}

FAILING(int, gethostname, -1, (char *name, size_t size), name, size)

/* -- each in turn ---------------------------------------------------------- */

#define CALLS_MAX 400 /* more than any of them makes */

static int teardown(void)
{
    failing.counts = false;
    return remove_dir();
}

FIXTURE(make_dir, teardown)

static void check(const char *what, int rc)
{
    if (rc != ZKR_OK && rc != ZKR_ENOMEM && rc != ZKR_ESYSTEM)
        fail_msg("%s: %s, when %s fails: %s", what, zkr_strerror(rc),
                 failing.last, zkr_error_detail());
    if (rc != ZKR_OK && strcmp(failing.last, "nothing") == 0)
        fail_msg("%s: %s, and nothing has failed", what, zkr_error_detail());
}

/* Repeats it until it makes fewer calls. */
static void each_call(void (*run)(void), int apart, int error)
{
    int first = 0;

    json_set_alloc_funcs(malloc, free); /* which the linker sends here */
    do {
        int descriptors = count_fds();
        long before = blocks;

        assert_true(++first < CALLS_MAX);
        failing = (struct failing){ true, .next = first, .apart = apart,
                                    .error = error, .last = "nothing" };
        run();
        failing.counts = false;
        if (count_fds() != descriptors)
            fail_msg("%d descriptors are left when %s fails",
                     count_fds() - descriptors, failing.last);
        if (blocks != before)
            fail_msg("%ld blocks are left when %s fails", blocks - before,
                     failing.last);
    } while (failing.calls >= first);
    assert_true(first > 1);
}

static void any_call(void (*run)(void))
{
    for (int apart = 0; apart < 4; apart++) {
        each_call(run, apart, EIO);
        if (apart != 1) /* otherwise it would be repeated for ever */
            each_call(run, apart, EINTR);
    }
}

/* -- fences ---------------------------------------------------------------- */

static int64_t accepted; /* the highest so far */
static int64_t tried;    /* the highest that may have been accepted:
                            also after an error a token may be in the file */

static void forget(void)
{
    (void)unlink(in_dir("fence.lock"));
    (void)unlink(in_dir("fence.new"));
    (void)unlink(file);
    accepted = 0;
    tried = 0;
}

static void note(int64_t token, int rc)
{
    check("accept", rc);
    if (rc == ZKR_OK && token > accepted)
        accepted = token;
}

static void open_and_use(void)
{
    int64_t last = 0;
    AUTO(fence) f = NULL;
    int rc = zkr_fence_new(OPTS(fence, .file = file), &f);

    check("open", rc);
    assert_true(rc == ZKR_OK || f == NULL);
    if (rc != ZKR_OK)
        return;
    tried++;
    note(tried, zkr_fence_accept(f, tried, 0));
    tried++;
    rc = zkr_fence_begin(f, tried, 0, 5000);
    note(tried, rc);
    if (rc == ZKR_OK)
        zkr_fence_end(f);
    note(tried, zkr_fence_accept_shared(f, tried));
    rc = zkr_fence_highest(f, &last);
    check("highest", rc);
    if (rc == ZKR_OK && last < accepted)
        fail_msg("%lld was accepted, and is forgotten when %s fails",
                 (long long)accepted, failing.last);
}

/* Others must not find the fence locked, or without an accepted token. */
static void is_well(void)
{
    AUTO(fence) f = open_fence();

    ok(zkr_fence_begin(f, INT64_MAX, 0, 0));
    zkr_fence_end(f);
    gives(ZKR_ESTALE, zkr_fence_accept(f, accepted, 0));
    (void)highest(f);
}

static void a_new_fence(void)
{
    forget();
    open_and_use();
}

TEST(a_fence_whose_calls_fail_stays_a_fence)
{
    forget();
    any_call(open_and_use);
    is_well();
    any_call(a_new_fence);
    forget();
    open_and_use();
    is_well();
}

/* A file that is damaged or missing. */
static void a_damaged_fence(void)
{
    zkr_fence *f = NULL;
    int rc = zkr_fence_new(OPTS(fence, .file = file), &f);

    if (rc != ZKR_EDAMAGED)
        check("open", rc);
    assert_null(f);
}

TEST(a_damaged_fence_leaves_nothing_open)
{
    zkr_fence_free(open_fence());
    assert_int_equal(truncate(file, 5), 0);
    any_call(a_damaged_fence);
    assert_int_equal(unlink(file), 0);
    any_call(a_damaged_fence);
}

/* A fence that is open, and whose files have been removed. */
static void use_what_has_gone(void)
{
    AUTO(fence) f = NULL;

    forget();
    int rc = zkr_fence_new(OPTS(fence, .file = file), &f);
    check("open", rc);
    if (rc != ZKR_OK)
        return;
    (void)unlink(file);
    rc = zkr_fence_accept(f, 1, 0);
    assert_int_not_equal(rc, ZKR_OK);
    if (rc != ZKR_EDAMAGED)
        check("accept", rc);
    (void)unlink(in_dir("fence.lock"));
    rc = zkr_fence_begin(f, 1, 0, 0);
    assert_int_not_equal(rc, ZKR_OK);
    if (rc != ZKR_EDAMAGED)
        check("begin", rc);
}

TEST(a_fence_that_has_gone_leaves_nothing_open)
{
    any_call(use_what_has_gone);
}

/* -- the system ------------------------------------------------------------ */

static void write_owner(void)
{
    char start[ZKR__START_MAX];
    const struct zkr__owner owner = { .start = start,
                                      .label = "a label",
                                      .claim = "c",
                                      .thread = zkr__thread_me() };
    char data[ZKR__OWNER_MAX + 1];
    size_t len = 0;

    zkr__owner_start(start);
    int rc = zkr__owner_write(&owner, data, &len);
    check("owner", rc);
    if (rc == ZKR_OK)
        assert_true(len == strlen(data) && data[len - 1] == '}');
}

TEST(an_owner_is_written_or_there_is_no_memory)
{
    any_call(write_owner);
}

static void probe(void)
{
    static const struct zkr_session_opts plain;
    enum zkr__verdict verdict;
    int rc =
        zkr__probe("127.0.0.1:1,localhost:1,:,[::1]:1", &plain, 5000, &verdict);

    assert_true(rc == ZKR_EREFUSED || rc == ZKR_EUNREACHABLE);
}

TEST(a_probe_has_an_answer)
{
    any_call(probe);
}

/* -- text ------------------------------------------------------------------ */

static void parse(void)
{
    struct zkr__hosts hosts = { 0 };
    struct zkr_hosts *list = NULL;
    struct zkr__acl acl = { 0 };
    AUTO(text) path = zkr__path_join("/a", "b");

    int rc = zkr__hosts_parse(&hosts, "a:1,b:2/chroot", NULL);

    check("hosts", rc);
    if (rc == ZKR_OK)
        assert_true(hosts.servers != NULL && hosts.plain != NULL &&
                    hosts.chroot != NULL);
    zkr__hosts_done(&hosts);
    rc = zkr_hosts_parse("a:1,[::1]:2/chroot", &list);
    check("list", rc);
    if (rc == ZKR_OK)
        assert_int_equal(list->count, 2);
    zkr_hosts_free(list);
    rc = zkr__acl_parse(&acl, "world:anyone:r,digest:anna:cdrwa");
    check("acl", rc);
    if (rc == ZKR_OK)
        assert_true(acl.count == 2 && acl.entries != NULL);
    zkr__acl_done(&acl);
}

/* The error is found after memory was allocated. */
static void parse_nonsense(void)
{
    struct zkr__hosts hosts = { 0 };
    struct zkr__acl acl = { 0 };

    assert_int_not_equal(zkr__hosts_parse(&hosts, "a:1,b:2/chroot/", NULL),
                         ZKR_OK);
    assert_int_not_equal(zkr__hosts_parse(&hosts, "a:1/x", "no"), ZKR_OK);
    assert_int_not_equal(zkr__acl_parse(&acl, "world:anyone:r,digest:anna:x"),
                         ZKR_OK);
    assert_int_not_equal(zkr__acl_parse(&acl, "world:anyone:r,"), ZKR_OK);
}

TEST(text_is_parsed_or_there_is_no_memory)
{
    any_call(parse);
    any_call(parse_nonsense);
}
