/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the processes that a run starts and searches for, also when the
 * system is short of resources. */
#include <signal.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "run/child.h"
#include "run/proc.h"
#include "unit.h"

/* The linker sends the calls of the tool here (--wrap); those for files of any
 * size have 64 in their name. */
static const char *refused; /* the call that is refused */
static int spared;          /* calls of that kind that are carried out before */
static int refused_with;
static int met; /* how often that call was made */

static bool is_refused(const char *call)
{
    if (refused == NULL || strcmp(refused, call) != 0 || met++ < spared)
        return false;
    errno = refused_with;
    return true;
}

static void refuse(const char *call, int after, int error)
{
    refused = call;
    spared = after;
    refused_with = error;
    met = 0;
}

#define REFUSABLE(type, name, called, failed, params, args)                    \
    type __real_##name params;                                                 \
    type __wrap_##name params;                                                 \
    type __wrap_##name params                                                  \
    {                                                                          \
        return is_refused(called) ? failed : __real_##name args;               \
    }

/* clang-format off */
REFUSABLE(int, open64, "open", -1, (const char *path, int flags, ...), (path, flags, 0600))
REFUSABLE(ssize_t, read, "read", -1, (int fd, void *buf, size_t size), (fd, buf, size))
REFUSABLE(DIR *, opendir, "opendir", NULL, (const char *path), (path))
REFUSABLE(int, pipe2, "pipe2", -1, (int ends[2], int flags), (ends, flags))
REFUSABLE(int, socketpair, "socketpair", -1, (int domain, int type, int protocol, int ends[2]), (domain, type, protocol, ends))
REFUSABLE(pid_t, fork, "fork", -1, (void), ())
REFUSABLE(void *, mmap64, "mmap", MAP_FAILED, (void *at, size_t size, int prot, int flags, int fd, off_t offset), (at, size, prot, flags, fd, offset))
/* clang-format on */

static int count_fds(void)
{
    int count = 0;

    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static int fds_before;

static int note_fds(void)
{
    refused = NULL;
    fds_before = count_fds();
    return 0;
}

static int compare_fds(void)
{
    refused = NULL;
    return count_fds() == fds_before ? 0 : -1;
}

FIXTURE(note_fds, compare_fds)

/* Starts a child of that name, which sleeps until it is killed. */
static pid_t start_sleeper(const char *name)
{
    int ends[2];
    char byte;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)prctl(PR_SET_NAME, name);
        (void)!write(ends[1], "", 1);
        for (;;)
            (void)pause();
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return pid;
}

TEST(a_name_may_look_like_anything)
{
    static const char *const names[] = {
        "sleeper", "x) S 1", ") S 1 (", "a b", "", "\n", "))))))))))))))",
    };

    for (size_t i = 0; i < COUNT(names); i++) {
        pid_t pid = start_sleeper(names[i]);

        assert_int_equal(proc_parent(pid), getpid());
        ok(kill(pid, SIGKILL));
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_int_equal(proc_parent(pid), 0);
    }
    assert_int_equal(proc_parent(1), 0);
}

static bool note(pid_t pid, void *arg)
{
    if (proc_parent(pid) == getpid())
        *(pid_t *)arg = pid;
    return true;
}

static bool nobody_is_left(void)
{
    pid_t found = 0;

    proc_each(note, &found);
    return found == 0;
}

TEST(all_children_are_found)
{
    pid_t pid = start_sleeper("sleeper");
    pid_t found = 0;

    proc_each(note, &found);
    assert_int_equal(found, pid);
    /* The child has ended, and nobody has waited for it. */
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT), 0);
    found = 0;
    proc_each(note, &found);
    assert_int_equal(found, pid);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(nobody_is_left());
}

/* A process may end while it is looked at, or be hidden: another user's. */
TEST(a_gone_or_hidden_process_counts_for_nothing)
{
    static const struct {
        const char *call;
        int error;
    } faults[] = {
        { "open", ENOENT }, { "open", EACCES }, { "open", EPERM },
        { "read", ESRCH },  { "read", EPERM },
    };

    for (size_t i = 0; i < COUNT(faults); i++) {
        refuse(faults[i].call, 0, faults[i].error);
        assert_int_equal(proc_parent(getpid()), 0);
    }
}

TEST(descriptors_that_cannot_be_noted_are_an_error)
{
    struct inherited in = { .fds = NULL };
    int extra = open("/dev/null", O_RDONLY);

    assert_true(extra > 2);
    refuse("opendir", 0, ENOMEM);
    assert_int_equal(inherited_note(&in), -1);
    refused = NULL;
    ok(inherited_note(&in));
    assert_true(in.count > 0);
    inherited_done(&in);
    (void)close(extra);
}

static struct inherited quiet; /* what a command gets: nothing is blocked */

static struct shell shell; /* ours */

/* NULL: the guard of the shell. */
static int start(char *program)
{
    char *argv[] = { program, NULL };
    char *env[] = { NULL };
    struct guard_plan plan = { .shell = program == NULL ? &shell : NULL,
                               .argv = argv,
                               .env = env,
                               .inherited = &quiet };
    struct child c;

    ok(inherited_note(&quiet));
    int error = child_start(&c, &plan, 0);
    inherited_done(&quiet);
    assert_null(c.guard);
    return error;
}

TEST(a_command_that_cannot_start_leaves_nothing)
{
    static const struct {
        const char *call;
        int after;
    } faults[] = { { "mmap", 0 },
                   { "socketpair", 0 },
                   { "pipe2", 0 },
                   { "fork", 0 },
                   { "fork", 1 } /* in the guard */ };
    char none[] = "/nowhere/at/all";
    char passwd[] = "/etc/passwd";

    (void)sigemptyset(&quiet.mask);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(start(none), ENOENT);
        assert_int_equal(start(passwd), EACCES);
    }
    for (size_t i = 0; i < COUNT(faults); i++) {
        refuse(faults[i].call, faults[i].after, EAGAIN);
        assert_int_equal(start(none), -EAGAIN);
        refuse(faults[i].call, 0, EAGAIN);
        assert_int_equal(start(NULL), -EAGAIN);
        refused = NULL;
        assert_true(nobody_is_left());
    }
}
