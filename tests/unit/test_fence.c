/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of fences: in memory and in a file; threads, processes, kill -9, a full
 * disk, a damaged file. */
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "fence_dir.h"
#include "unit.h"

FIXTURE(make_dir, remove_dir)

static size_t read_file(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    ssize_t len = read(fd, text, size);
    assert_true(len >= 0);
    (void)close(fd);
    return (size_t)len;
}

/* -- what both kinds do --------------------------------------------------- */

static void refuses_what_is_old(zkr_fence *f)
{
    assert_true(highest(f) == 0);
    ok(zkr_fence_accept(f, 7, 0));
    ok(zkr_fence_accept(f, 7, 0));
    ok(zkr_fence_begin(f, 9, 0, 0));
    zkr_fence_end(f);
    tells(zkr_fence_accept(f, 8, 0), ZKR_ESTALE, "8");
    assert_has(zkr_error_detail(), "9");
    gives(ZKR_ESTALE, zkr_fence_begin(f, 8, 0, -1));
    ok(zkr_fence_begin(f, 9, 2, 0)); /* a neighbour */
    zkr_fence_end(f);
    tells(zkr_fence_accept(f, 9, 1), ZKR_ESTALE, "hand-off 1, and 2");
    ok(zkr_fence_accept_shared(f, 20));
    ok(zkr_fence_accept_shared(f, 10));
    tells(zkr_fence_accept_shared(f, 8), ZKR_ESTALE, "8, and 9 was");
    gives(ZKR_ESTALE, zkr_fence_accept(f, 10, 0));
    assert_true(highest(f) == 20);
    gives(ZKR_EINVAL, zkr_fence_accept(f, 0, 0));
    gives(ZKR_EINVAL, zkr_fence_accept(f, -1, 0));
    gives(ZKR_EINVAL, zkr_fence_highest(f, NULL));
    ok(zkr_fence_begin(f, 20, 0, 0));
    gives(ZKR_EDEADLK, zkr_fence_begin(f, 20, 0, 0));
    gives(ZKR_EDEADLK, zkr_fence_accept(f, 21, 0));
    zkr_fence_end(f);
    /* Now the token is a writer's, though it is no higher than before. */
    gives(ZKR_ESTALE, zkr_fence_accept_shared(f, 10));
    assert_true(highest(f) == 20);
}

TEST(a_fence_in_memory)
{
    AUTO(fence) f = NEW(fence, NULL);

    refuses_what_is_old(f);
    gives(ZKR_EINVAL, zkr_fence_new(NULL, NULL));
}

TEST(a_fence_in_a_file)
{
    AUTO(fence) f = open_fence();
    char text[128];

    refuses_what_is_old(f);
    AUTO(fence) again = open_fence(); /* while the other is open */
    assert_true(highest(again) == 20);
    ok(zkr_fence_accept(again, 30, 0));
    gives(ZKR_ESTALE, zkr_fence_accept(f, 29, 0));
    size_t len = read_file(file, text, sizeof(text) - 1);
    text[len] = '\0';
    assert_has(text, "highest 30,");
    AUTO(fence) later = open_fence();
    gives(ZKR_ESTALE, zkr_fence_accept(later, 29, 0));
    assert_int_equal(access(in_dir("fence.new"), F_OK), -1);
}

TEST(a_relative_path_stays_where_it_was)
{
    AUTO(text) before = getcwd(NULL, 0);

    assert_int_equal(chdir(dir), 0);
    AUTO(fence) f = NEW(fence, OPTS(fence, .file = "fence"));
    assert_int_equal(chdir(before), 0);
    ok(zkr_fence_accept(f, 5, 0));
    AUTO(fence) again = open_fence();
    assert_true(highest(again) == 5);
}

TEST(a_fence_that_cannot_be_opened_says_why)
{
    zkr_fence *f = NULL;

    gives(ZKR_EINVAL, zkr_fence_new(OPTS(fence, .file = ""), &f));
    gives(ZKR_EINVAL, zkr_fence_new(OPTS(fence, .file = "/tmp/"), &f));
    gives(ZKR_EINVAL, zkr_fence_new(OPTS(fence, .file = file), NULL));
    tells(zkr_fence_new(OPTS(fence, .file = "/no/such/dir/fence"), &f),
          ZKR_ESYSTEM, "/no/such/dir/fence");
    assert_has(zkr_error_detail(), strerror(ENOENT));
    assert_int_equal(mkdir(file, 0777), 0);
    gives(ZKR_ESYSTEM, zkr_fence_new(OPTS(fence, .file = file), &f));
    assert_int_equal(rmdir(file), 0);
    assert_null(f);
}

/* -- threads -------------------------------------------------------------- */

#define THREADS 4
#define ROUNDS  2000

struct counter {
    zkr_fence *fence;
    long count;   /* accessed in sections only: TSan checks it */
    int64_t last; /* the token of the last section */
    bool back;    /* a section with a lower one */
};

static void *count_main(void *arg)
{
    struct counter *c = arg;

    for (int64_t i = 1; i <= ROUNDS; i++) {
        int rc = zkr_fence_begin(c->fence, i, 0, -1);

        if (rc == ZKR_ESTALE)
            continue;
        if (rc != ZKR_OK)
            return c; /* it did not wait */
        c->count++;
        c->back = c->back || i < c->last;
        c->last = i;
        zkr_fence_end(c->fence);
    }
    return NULL;
}

TEST(sections_of_threads_exclude_each_other)
{
    struct counter c = { .fence = NEW(fence, NULL) };
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start(count_main, &c);
    for (int i = 0; i < THREADS; i++)
        assert_null(thread_join(threads[i]));
    assert_false(c.back);
    assert_true(c.count >= ROUNDS && c.last == ROUNDS);
    zkr_fence_free(c.fence);
}

static void *try_main(void *fence)
{
    static int rc[2];

    zkr_fence_end(fence); /* not its section */
    rc[0] = zkr_fence_begin(fence, 5, 0, 0);
    rc[1] = zkr_fence_begin(fence, 5, 0, 50);
    return rc;
}

static void other_threads_are_kept_out(zkr_fence *f)
{
    ok(zkr_fence_begin(f, 5, 0, 0));
    const int *rc = thread_join(thread_start(try_main, f));
    assert_int_equal(rc[0], ZKR_EBUSY);
    assert_int_equal(rc[1], ZKR_ETIMEDOUT);
    zkr_fence_end(f);
    zkr_fence_free(f);
}

TEST(a_thread_does_not_wait_for_ever)
{
    other_threads_are_kept_out(open_fence());
    other_threads_are_kept_out(NEW(fence, NULL));
}

static int accept_shared(zkr_fence *f)
{
    return zkr_fence_accept_shared(f, 9);
}

static int accept_alone(zkr_fence *f)
{
    return zkr_fence_accept(f, 9, 0);
}

static int begin_and_end(zkr_fence *f)
{
    int rc = zkr_fence_begin(f, 9, 0, 0);

    if (rc == ZKR_OK)
        zkr_fence_end(f);
    return rc;
}

static int look(zkr_fence *f)
{
    int64_t token;

    return zkr_fence_highest(f, &token);
}

static int open_another(zkr_fence *f)
{
    zkr_fence *another = NULL;
    int rc = zkr_fence_new(OPTS(fence, .file = file), &another);

    zkr_fence_free(another);
    return rc;
}

struct cancelled {
    zkr_fence *fence;
    int (*call)(zkr_fence *f);
    atomic_int rc; /* 2: it has begun */
};

static void *cancelled_main(void *arg)
{
    struct cancelled *c = arg;

    (void)pthread_cancel(pthread_self()); /* the next system call may be it */
    c->rc = 2;
    c->rc = c->call(c->fence);
    pthread_testcancel();
    return NULL;
}

/* Regression: the thread ended in the middle, and left the fence locked for as
 * long as the process lived. */
TEST(a_thread_that_is_cancelled_in_a_call_ends_it_first)
{
    static int (*const calls[])(zkr_fence *) = {
        accept_shared, accept_alone, begin_and_end, look, open_another,
    };
    AUTO(fence) f = open_fence();

    for (size_t i = 0; i < COUNT(calls); i++) {
        struct cancelled c = { f, calls[i], 1 };
        assert_ptr_equal(thread_join(thread_start(cancelled_main, &c)),
                         PTHREAD_CANCELED);
        assert_int_equal(c.rc, ZKR_OK);
        ok(zkr_fence_begin(f, 9, 0, 0));
        zkr_fence_end(f);
    }
}

/* -- processes ------------------------------------------------------------ */

/* A child dies with its parent, and reports by its exit status. */
static pid_t start(int (*run)(int out), int out)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        (void)signal(SIGALRM, SIG_DFL);
        (void)alarm(60);
        _exit(run(out));
    }
    return pid;
}

static void ends_well(pid_t pid)
{
    assert_int_equal(exit_status(pid), 0);
}

static zkr_fence *of_the_parent;
static zkr_fence *of_the_child; /* static: it ends with it, and is no leak */

static int open_in_child(void)
{
    return zkr_fence_new(OPTS(fence, .file = file), &of_the_child);
}

static int use_that_of_the_parent(int out)
{
    zkr_fence_end(of_the_parent); /* would unlock the file of the parent */
    return zkr_fence_begin(of_the_parent, 9, 0, 0) == ZKR_EFORKED ? 0 : 1;
}

static int try_another(int out)
{
    if (open_in_child() != ZKR_OK)
        return 1;
    if (zkr_fence_begin(of_the_child, 9, 0, 0) != ZKR_EBUSY)
        return 2;
    return zkr_fence_begin(of_the_child, 9, 0, 50) == ZKR_ETIMEDOUT ? 0 : 3;
}

/* Parent and child share the lock of a file after a fork. */
TEST(a_child_opens_a_fence_of_its_own)
{
    of_the_parent = open_fence();
    ends_well(start(use_that_of_the_parent, -1));
    ok(zkr_fence_begin(of_the_parent, 5, 0, 0));
    ends_well(start(use_that_of_the_parent, -1));
    ends_well(start(try_another, -1)); /* it is still locked */
    zkr_fence_end(of_the_parent);
    assert_true(highest(of_the_parent) == 5);
    zkr_fence_free(of_the_parent);
}

static int free_that_of_the_parent(int out)
{
    zkr_fence_free(of_the_parent);
    return 0;
}

static void *wait_main(void *is_over)
{
    int rc = zkr_fence_begin(of_the_parent, 9, 0, 300);

    atomic_store((atomic_bool *)is_over, true);
    return rc == ZKR_ETIMEDOUT ? of_the_parent : NULL;
}

/* Who waits is no thread of the child, which must not wait for it. */
TEST(a_child_frees_what_a_thread_of_its_parent_waits_for)
{
    atomic_bool is_over = false;

    of_the_parent = open_fence();
    ok(zkr_fence_begin(of_the_parent, 5, 0, 0));
    pthread_t thread = thread_start(wait_main, &is_over);
    while (!atomic_load(&is_over))
        ends_well(start(free_that_of_the_parent, -1));
    assert_non_null(thread_join(thread));
    zkr_fence_end(of_the_parent);
    zkr_fence_free(of_the_parent);
}

static bool holds(int out)
{
    return open_in_child() == ZKR_OK &&
           zkr_fence_begin(of_the_child, 5, 0, 0) == ZKR_OK &&
           write(out, "b", 1) == 1;
}

static int hold(int out)
{
    return holds(out) ? pause() : 1;
}

TEST(a_process_that_dies_in_a_section_leaves_it)
{
    AUTO(fence) f = open_fence();
    struct cancelled waits[] = { { f, accept_alone, 1 }, { f, look, 1 } };
    pthread_t threads[2];
    int pipes[2];
    char c;

    assert_int_equal(pipe(pipes), 0);
    pid_t pid = start(hold, pipes[1]);
    assert_int_equal(read(pipes[0], &c, 1), 1);
    gives(ZKR_EBUSY, zkr_fence_begin(f, 6, 0, 0));
    gives(ZKR_ETIMEDOUT, zkr_fence_begin(f, 6, 0, 50));
    assert_int_equal(kill(pid, SIGSTOP), 0); /* no difference */
    for (int i = 0; i < 2; i++)
        threads[i] = thread_start(cancelled_main, &waits[i]);
    AWAIT(waits[0].rc == 2 && waits[1].rc == 2);
    gives(ZKR_ETIMEDOUT, zkr_fence_begin(f, 6, 0, 50));
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    for (int i = 0; i < 2; i++)
        (void)thread_join(threads[i]);
    assert_int_equal(waits[0].rc + waits[1].rc, ZKR_OK); /* of both */
    ok(zkr_fence_begin(f, 9, 0, 10000));
    ends_well(start(try_another, -1));
    zkr_fence_end(f);
    (void)close(pipes[0]);
    (void)close(pipes[1]);
}

#define PROCESSES 4
#define SECTIONS  100

/* Processes present their tokens in mixed order. In sections they read "token
 * count" and write it in place, which loses counts if two do so at once. */
static int count_in_file(int out)
{
    int fd = open(in_dir("data"), O_RDWR | O_CLOEXEC);

    if (fd < 0 || open_in_child() != ZKR_OK)
        return 1;
    for (int64_t token = out + 1; token <= SECTIONS; token++) {
        int64_t seen[2];
        int rc = zkr_fence_begin(of_the_child, token, 0, -1);

        if (rc == ZKR_ESTALE)
            continue;
        if (rc != ZKR_OK || pread(fd, seen, sizeof(seen), 0) != sizeof(seen))
            return 2;
        if (seen[0] > token)
            return 3;
        seen[0] = token;
        seen[1]++;
        if (pwrite(fd, seen, sizeof(seen), 0) != sizeof(seen))
            return 4;
        if (pwrite(fd, "x", 1, (off_t)sizeof(seen) + seen[1]) != 1)
            return 5;
        zkr_fence_end(of_the_child);
    }
    zkr_fence_free(of_the_child);
    return close(fd);
}

TEST(processes_exclude_each_other_and_tokens_never_go_back)
{
    pid_t pids[PROCESSES];
    int64_t seen[2];
    char data[4096] = { 0 };

    write_file(in_dir("data"), data, sizeof(seen));
    for (int i = 0; i < PROCESSES; i++)
        pids[i] = start(count_in_file, i);
    for (int i = 0; i < PROCESSES; i++)
        ends_well(pids[i]);
    size_t len = read_file(in_dir("data"), data, sizeof(data));
    memcpy(seen, data, sizeof(seen));
    assert_true(seen[0] == SECTIONS && seen[1] >= SECTIONS - PROCESSES);
    assert_int_equal(len, sizeof(seen) + (size_t)seen[1] + 1);
    AUTO(fence) f = open_fence();
    assert_true(highest(f) == SECTIONS);
}

static int climb(int out)
{
    int64_t token;

    if (open_in_child() != ZKR_OK ||
        zkr_fence_highest(of_the_child, &token) != ZKR_OK)
        return 1;
    for (;;) {
        token++;
        if (zkr_fence_accept(of_the_child, token, 0) != ZKR_OK ||
            write(out, &token, sizeof(token)) != sizeof(token))
            return 2;
    }
}

/* An accepted token stays accepted, whenever the process dies. */
TEST(kill_9_in_the_middle_loses_nothing)
{
    int64_t accepted = 0;

    for (long round = 0; round < 60; round++) {
        struct timespec some = { .tv_nsec = round * 397 % 97 * 100000 };
        int64_t token = accepted;
        int pipes[2];

        assert_int_equal(pipe(pipes), 0);
        pid_t pid = start(climb, pipes[1]);
        (void)close(pipes[1]);
        if (round % 4 != 0)
            assert_int_equal(read(pipes[0], &accepted, sizeof(accepted)),
                             sizeof(accepted));
        (void)nanosleep(&some, NULL); /* at a random place */
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        while (read(pipes[0], &accepted, sizeof(accepted)) > 0)
            ;
        (void)close(pipes[0]);
        assert_true(accepted >= token);
        AUTO(fence) f = open_fence();
        token = highest(f);
        assert_true(token == accepted || token == accepted + 1);
        assert_int_equal(zkr_fence_accept(f, accepted - 1, 0),
                         accepted <= 1 ? ZKR_EINVAL : ZKR_ESTALE);
        accepted = token;
    }
    assert_true(accepted >= 45); /* one by each that was waited for */
}

/* ThreadSanitizer keeps a signal back in clock_nanosleep(). */
#ifndef __SANITIZE_THREAD__
static int told[2]; /* a pipe: the child need not hold it any longer */
static volatile sig_atomic_t signals;

static void count_signal(int sig)
{
    if (++signals == 10)
        (void)!write(told[1], "t", 1);
}

static int hold_and_send_signals(int out)
{
    struct pollfd poller = { .fd = told[0], .events = POLLIN };

    if (!holds(out))
        return 1;
    while (poll(&poller, 1, 1) == 0)
        (void)kill(getppid(), SIGUSR1);
    zkr_fence_end(of_the_child);
    return 0;
}

/* The handler of the program does not restart system calls. */
TEST(a_signal_ends_no_wait_for_another_process)
{
    struct sigaction action = { .sa_handler = count_signal };
    AUTO(fence) f = open_fence();
    int pipes[2];
    char byte;

    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(pipe(told), 0);
    pid_t pid = start(hold_and_send_signals, pipes[1]);
    while (read(pipes[0], &byte, 1) != 1)
        continue;
    ok(zkr_fence_begin(f, 6, 0, -1));
    zkr_fence_end(f);
    assert_true(signals >= 10);
    while (waitpid(pid, NULL, 0) != pid)
        continue;
    (void)signal(SIGUSR1, SIG_DFL);
    for (int i = 0; i < 2; i++) {
        (void)close(pipes[i]);
        (void)close(told[i]);
    }
}
#endif

/* -- disks and damage ----------------------------------------------------- */

static int fill(int out)
{
    struct rlimit none = { 0, RLIM_INFINITY };
    static zkr_fence *fresh;
    int64_t token = 0;

    (void)signal(SIGXFSZ, SIG_IGN);
    if (open_in_child() != ZKR_OK ||
        zkr_fence_accept(of_the_child, 5, 0) != ZKR_OK ||
        setrlimit(RLIMIT_FSIZE, &none) != 0)
        return 1;
    if (zkr_fence_accept(of_the_child, 6, 0) != ZKR_ESYSTEM ||
        strstr(zkr_error_detail(), strerror(EFBIG)) == NULL)
        return 2;
    if (zkr_fence_begin(of_the_child, 7, 0, -1) !=
        ZKR_ESYSTEM) /* left the section */
        return 3;
    if (zkr_fence_accept(of_the_child, 5, 0) != ZKR_OK || /* needs no room */
        zkr_fence_accept(of_the_child, 4, 0) != ZKR_ESTALE)
        return 4;
    if (zkr_fence_highest(of_the_child, &token) != ZKR_OK || token != 5)
        return 5;
    if (zkr_fence_new(OPTS(fence, .file = in_dir("fresh")), &fresh) !=
        ZKR_ESYSTEM)
        return 6;
    none.rlim_cur = RLIM_INFINITY;
    if (setrlimit(RLIMIT_FSIZE, &none) != 0 ||
        zkr_fence_accept(of_the_child, 6, 0) != ZKR_OK)
        return 7;
    if (zkr_fence_new(OPTS(fence, .file = in_dir("fresh")), &fresh) != ZKR_OK)
        return 8;
    return 0;
}

TEST(a_full_disk_is_an_error_and_changes_nothing)
{
    ends_well(start(fill, -1));
    AUTO(fence) f = open_fence();
    assert_true(highest(f) == 6);
}

/* This holds for a fence that is open and for one that is opened later. */
static void is_damaged(zkr_fence *f)
{
    zkr_fence *again = NULL;
    int64_t token = -1;

    gives(ZKR_EDAMAGED, zkr_fence_accept(f, 99, 0));
    gives(ZKR_EDAMAGED, zkr_fence_begin(f, 99, 0, -1));
    gives(ZKR_EDAMAGED, zkr_fence_highest(f, &token));
    tells(zkr_fence_new(OPTS(fence, .file = file), &again), ZKR_EDAMAGED, file);
    assert_true(token == 0 && again == NULL);
}

TEST(a_damaged_file_is_an_error_and_stays_as_it_is)
{
    AUTO(fence) f = open_fence();
    AUTO(fence) other = open_fence();
    char text[128], now[128];

    ok(zkr_fence_accept(f, 1234, 0));
    size_t len = read_file(file, text, sizeof(text));
    for (size_t i = 0; i < len; i++) {
        text[i] = (char)(text[i] ^ 1);
        write_file(file, text, len);
        is_damaged(f);
        assert_int_equal(read_file(file, now, sizeof(now)), len);
        assert_memory_equal(text, now, len);
        text[i] = (char)(text[i] ^ 1);
        write_file(file, text, i); /* cut */
        is_damaged(f);
    }
    write_file(file, text, len);
    ok(zkr_fence_begin(other, 1234, 0, 0)); /* as soon as it is mended */
    zkr_fence_end(other);
    assert_true(highest(f) == 1234);
}

TEST(a_file_that_has_gone_is_not_a_new_one)
{
    AUTO(fence) f = open_fence();

    ok(zkr_fence_accept(f, 1234, 0));
    assert_int_equal(unlink(file), 0);
    is_damaged(f);
    assert_int_equal(unlink(in_dir("fence.lock")), 0);
    gives(ZKR_EDAMAGED, zkr_fence_accept(f, 99, 0));
    AUTO(fence) next = open_fence(); /* both are removed: this begins anew */
    assert_true(highest(next) == 0);
}

/* Two fences that lock different files would not exclude each other. */
TEST(a_lock_file_that_was_replaced_is_noticed)
{
    AUTO(fence) f = open_fence();

    ok(zkr_fence_accept(f, 5, 0));
    assert_int_equal(unlink(in_dir("fence.lock")), 0);
    AUTO(fence) next = open_fence(); /* the fence itself is still there */
    assert_true(highest(next) == 5);
    gives(ZKR_EDAMAGED, zkr_fence_accept(f, 6, 0));
    ok(zkr_fence_accept(next, 6, 0));
}

/* A crash while it is set up leaves an empty lock file, fence or not. */
TEST(a_set_up_that_was_cut_short_is_done_again)
{
    for (int i = 0; i < 2; i++) {
        write_file(in_dir("fence.lock"), "", 0);
        AUTO(fence) f = open_fence();
        assert_true(highest(f) == 5 * i);
        ok(zkr_fence_accept(f, 5, 0));
    }
}
