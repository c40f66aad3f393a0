/* SPDX-License-Identifier: Apache-2.0 */
/* Starts workers, and exchanges lines with them. */
#include "worker.h"

#include <inttypes.h>
#include <poll.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "fixture.h"
#include "spawn.h"

static const char *const kind_names[KINDS] = { "c", "curator", "kazoo" };

/* The paths of the workers, from meson; empty where they lack something. */
static const char *env(const char *name)
{
    const char *value = getenv(name);

    return value != NULL ? value : "";
}

bool workers_installed(void)
{
    return access(env("INTEROP_WORKER"), X_OK) == 0 &&
           env("INTEROP_CLASSES")[0] != '\0' &&
           env("INTEROP_PYTHON")[0] != '\0';
}

/* Another Curator than the installed one comes first (tools/versions.sh). */
static char *class_path(void)
{
    static char path[8192];
    const char *other = env("ZKR_CURATOR_CLASS_PATH");

    (void)snprintf(path, sizeof(path), "%s%s%s", other,
                   other[0] != '\0' ? ":" : "", env("INTEROP_CLASSES"));
    return path;
}

static pid_t spawn_kind(struct worker *w, int in, int out)
{
    char *c[] = { (char *)env("INTEROP_WORKER"), w->name, NULL };
    char *java[] = { "java",
                     "-Xmx64m",
                     "-XX:+UseSerialGC",
                     "-XX:TieredStopAtLevel=1",
                     "-XX:-UsePerfData",
                     "-cp",
                     class_path(),
                     "Worker",
                     w->name,
                     NULL };
    char *python[] = { (char *)env("INTEROP_PYTHON"),        "-B",
                       (char *)env("INTEROP_PYTHON_WORKER"), w->name,
                       (char *)env("INTEROP_EXAMPLES"),      NULL };
    char **const argv[KINDS] = { c, java, python };

    return spawn_bound(argv[w->kind], in, out);
}

void worker_start(struct worker *w, enum kind kind, int number)
{
    int to[2];
    int from[2];

    (void)signal(SIGPIPE, SIG_IGN); /* of one that was killed */
    *w = (struct worker){ .kind = kind };
    (void)snprintf(w->name, sizeof(w->name), "%s%d", kind_names[kind], number);
    assert_int_equal(pipe2(to, O_CLOEXEC), 0);
    assert_int_equal(pipe2(from, O_CLOEXEC), 0);
    w->to = to[1];
    w->from = from[0];
    w->pid = spawn_kind(w, to[0], from[1]);
    (void)close(to[0]);
    (void)close(from[1]);
    assert_true(w->pid > 0);
    worker_expect(w, "ready");
}

void worker_kill(struct worker *w)
{
    if (w->pid == 0)
        return;
    (void)kill(w->pid, SIGKILL);
    (void)waitpid(w->pid, NULL, 0);
    (void)close(w->to);
    (void)close(w->from);
    w->pid = 0;
}

void worker_stop(struct worker *w)
{
    if (w->pid == 0)
        return;
    worker_tell(w, "close");
    (void)worker_hear(w, SOON_MS);
    worker_kill(w);
}

void worker_expire(const struct worker *w)
{
    assert_int_equal(session_kill_by_id(server_hosts(the_server), w->session),
                     0);
}

void worker_tell(struct worker *w, const char *format, ...)
{
    char line[1024];
    va_list args;

    va_start(args, format);
    int size = vsnprintf(line, sizeof(line) - 1, format, args);
    va_end(args);
    assert_in_range(size, 1, (int)sizeof(line) - 2);
    line[size++] = '\n';
    if (write(w->to, line, (size_t)size) != size)
        fail_msg("%s does not listen", w->name);
}

/* Take the first line of what was heard, if it is whole. */
static bool take_line(struct worker *w, char *line, size_t size)
{
    char *end = memchr(w->text, '\n', w->size);

    if (end == NULL)
        return false;
    size_t length = (size_t)(end - w->text);
    (void)snprintf(line, size, "%.*s", (int)length, w->text);
    w->size -= length + 1;
    memmove(w->text, end + 1, w->size);
    return true;
}

static bool hear_more(struct worker *w, int64_t deadline_ms)
{
    struct pollfd p = { .fd = w->from, .events = POLLIN };
    int64_t rest_ms = deadline_ms - now_ms();

    if (poll(&p, 1, rest_ms > 0 ? (int)rest_ms : 0) <= 0)
        return false;
    if (w->size == sizeof(w->text)) /* a line that nobody needs */
        w->size = 0;
    ssize_t n = read(w->from, w->text + w->size, sizeof(w->text) - w->size);
    if (n <= 0)
        fail_msg("%s has ended", w->name);
    w->size += (size_t)n;
    return true;
}

const char *worker_hear(struct worker *w, int timeout_ms)
{
    int64_t deadline_ms = now_ms() + timeout_ms;
    char line[sizeof(w->answer)];

    do {
        while (take_line(w, line, sizeof(line))) {
            if (strncmp(line, "= ", 2) == 0) {
                (void)snprintf(w->answer, sizeof(w->answer), "%s", line + 2);
                return w->answer;
            }
            (void)fprintf(stderr, "%s says: %s\n", w->name, line);
        }
    } while (hear_more(w, deadline_ms));
    return NULL;
}

void worker_expect(struct worker *w, const char *answer)
{
    const char *heard = worker_hear(w, SOON_MS);

    if (heard == NULL || strncmp(heard, answer, strlen(answer)) != 0)
        fail_msg("%s: \"%s\", expected \"%s\"", w->name,
                 heard != NULL ? heard : "(nothing)", answer);
}

void worker_do(struct worker *w, const char *answer, const char *format, ...)
{
    char line[1024]; /* one that is cut is too long for worker_tell(), too */
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    worker_tell(w, "%s", line);
    worker_expect(w, answer);
}

bool worker_is_since(struct worker *w, int major, int minor)
{
    int its_major = 0;
    int its_minor = 0;

    worker_do(w, "version ", "version");
    if (sscanf(w->answer, "version %d.%d", &its_major, &its_minor) != 2)
        fail_msg("%s: \"%s\" is no version", w->name, w->answer);
    return its_major > major || (its_major == major && its_minor >= minor);
}

void worker_open(struct worker *w, const char *hosts, int session_ms)
{
    uint64_t session = 0;

    worker_do(w, "open ", "open %s %d", hosts, session_ms);
    assert_int_equal(sscanf(w->answer, "open %" SCNx64, &session), 1);
    w->session = (int64_t)session;
}

void worker_expect_held(struct worker *w)
{
    worker_expect(w, "held ");
    assert_int_equal(
        sscanf(w->answer, "held %127s %" SCNd64, w->node, &w->token), 2);
}

void worker_acquire(struct worker *w, const char *mode)
{
    worker_tell(w, "acquire %s %d", mode, SOON_MS);
    worker_expect_held(w);
}
