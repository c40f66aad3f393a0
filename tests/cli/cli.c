/* SPDX-License-Identifier: Apache-2.0 */
/* Starts zk-lockctl, and reads the output of it and its command. */
#include "cli.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "spawn.h"

static char dir[] = "/tmp/zkrecipes-cli-XXXXXX";
static struct guard guard;

/* A shell that runs this program in the background may have it ignore some of
 * them. */
static void take_signals(void)
{
    static const int all[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        (void)signal(all[i], SIG_DFL);
}

int cli_setup(void)
{
    take_signals();
    if (mkdtemp(dir) == NULL)
        return -1;
    return guard_start(&guard, dir);
}

void cli_teardown(void)
{
    guard_finish(&guard);
}

int cli_run(const struct server_opts *opts, int (*run_group)(void))
{
    int result;

    if (cli_setup() != 0)
        return 1;
    result = run_with_server(opts, run_group);
    cli_teardown();
    return result;
}

const char *cli_file(const char *name)
{
    static char names[8][128];
    static unsigned next;
    char *file = names[next++ % 8];

    (void)snprintf(file, sizeof(names[0]), "%s/%s", dir, name);
    return file;
}

void cli_start(struct cli *c, const char *program, const char *const *args)
{
    static int number;
    char *argv[32] = { (char *)program };
    int ends[2];
    int out;
    size_t n = 0;

    while (args[n] != NULL && n < 30) {
        argv[n + 1] = (char *)args[n];
        n++;
    }
    (void)snprintf(c->output, sizeof(c->output), "%s/output-%d", dir, ++number);
    out = open(c->output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(out >= 0);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    c->pid = spawn_bound(argv, ends[0], out);
    assert_true(c->pid > 0);
    c->in = ends[1];
    (void)close(ends[0]);
    (void)close(out);
}

struct ending {
    pid_t pid;
    int status;
};

static bool has_ended(void *arg)
{
    struct ending *e = arg;

    return waitpid(e->pid, &e->status, WNOHANG) == e->pid;
}

/* The exit status of ThreadSanitizer by tools/test.sh, which no verb uses. */
#define SANITIZER_FOUND 86

int cli_end(struct cli *c)
{
    struct ending e = { .pid = c->pid };

    (void)close(c->in);
    if (!wait_until(has_ended, &e, SOON_MS)) {
        (void)kill(c->pid, SIGKILL);
        (void)waitpid(c->pid, NULL, 0);
        fail_msg("it does not end; it has said: %s", cli_said(c));
    }
    if (WIFEXITED(e.status) && WEXITSTATUS(e.status) == SANITIZER_FOUND)
        fail_msg("a sanitizer has said: %s", cli_said(c));
    return WIFSIGNALED(e.status) ? 128 + WTERMSIG(e.status)
                                 : WEXITSTATUS(e.status);
}

void cli_end_with(struct cli *c, int code, const char *const *texts,
                  const char *file, int line)
{
    int ended = cli_end(c);

    if (ended != code) {
        print_error("it ends with %d, not %d: %s\n", ended, code, cli_said(c));
        _fail(file, line);
    }
    for (; *texts != NULL; texts++)
        text_has(cli_said(c), *texts, 1, file, line);
}

void cli_write(const char *file, const char *text, mode_t mode)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    (void)close(fd);
}

static const char *read_all(const char *file, char *text, size_t size)
{
    FILE *f = fopen(file, "re");
    size_t n;

    assert_non_null(f);
    n = fread(text, 1, size - 1, f);
    text[n] = '\0';
    (void)fclose(f);
    return text;
}

const char *cli_read(const char *file)
{
    static char text[1 << 20];

    return read_all(file, text, sizeof(text));
}

const char *cli_said(const struct cli *c)
{
    static char text[65536];

    return read_all(c->output, text, sizeof(text));
}

int text_count(const char *in, const char *text)
{
    int count = 0;

    while ((in = strstr(in, text)) != NULL) {
        in += strlen(text);
        count++;
    }
    return count;
}

struct saying {
    const struct cli *c;
    const char *text;
    int times;
};

static bool has_said(void *arg)
{
    struct saying *s = arg;

    return text_count(cli_said(s->c), s->text) >= s->times;
}

void cli_wait_said_often(const struct cli *c, const char *text, int times)
{
    struct saying s = { c, text, times };

    if (!wait_until(has_said, &s, SOON_MS))
        fail_msg("it has not said '%s' %d times but: %s", text, times,
                 cli_said(c));
}

void cli_wait_said(const struct cli *c, const char *text)
{
    cli_wait_said_often(c, text, 1);
}

pid_t cli_said_pid(const struct cli *c, const char *before)
{
    const char *found = strstr(cli_said(c), before);
    int pid = found == NULL ? 0 : atoi(found + strlen(before));

    if (pid <= 1)
        fail_msg("no process behind '%s' in: %s", before, cli_said(c));
    return (pid_t)pid;
}

/* "PID (NAME) STATE PPID ..." */
static bool read_stat(pid_t pid, char *name, char *state, int *parent)
{
    char file[64];
    char line[512] = "";
    char *open_, *close_;
    FILE *f;
    bool ok;

    (void)snprintf(file, sizeof(file), "/proc/%d/stat", (int)pid);
    f = fopen(file, "re");
    if (f == NULL)
        return false;
    ok = fgets(line, sizeof(line), f) != NULL;
    (void)fclose(f);
    open_ = strchr(line, '(');
    close_ = strrchr(line, ')');
    if (!ok || open_ == NULL || close_ == NULL)
        return false;
    *close_ = '\0';
    (void)snprintf(name, 32, "%s", open_ + 1);
    return sscanf(close_ + 2, "%c %d", state, parent) == 2;
}

char process_state(pid_t pid)
{
    char name[32];
    char state = 0;
    int parent;

    return read_stat(pid, name, &state, &parent) ? state : 0;
}

struct wanted {
    pid_t pid;
    char state;
};

static bool is_in_state(void *arg)
{
    struct wanted *w = arg;

    return process_state(w->pid) == w->state;
}

void wait_process_state(pid_t pid, char state)
{
    struct wanted w = { pid, state };

    if (!wait_until(is_in_state, &w, SOON_MS))
        fail_msg("process %d is in state '%c', not '%c'", (int)pid,
                 process_state(pid), state);
}

static bool is_gone(void *arg)
{
    char state = process_state(*(pid_t *)arg);

    return state == 0 || state == 'Z';
}

void wait_process_gone(pid_t pid)
{
    if (!wait_until(is_gone, &pid, SOON_MS))
        fail_msg("process %d lives", (int)pid);
}

/* The guard is between the tool and its command. */
static pid_t above_guard(pid_t pid)
{
    char name[32];
    char state;
    int parent;

    return read_stat(pid, name, &state, &parent) &&
                   strcmp(name, "zk-lockctl guar") == 0
               ? parent
               : pid;
}

struct family {
    pid_t parent;
    const char *name;
    pid_t child;
};

static bool find_child(void *arg)
{
    struct family *f = arg;
    DIR *proc = opendir("/proc");
    struct dirent *entry;

    while (proc != NULL && f->child == 0 && (entry = readdir(proc)) != NULL) {
        char name[32];
        char state;
        int parent;
        pid_t pid = (pid_t)atoi(entry->d_name);

        if (pid > 0 && read_stat(pid, name, &state, &parent) &&
            strcmp(name, f->name) == 0 &&
            (parent == f->parent || above_guard(parent) == f->parent))
            f->child = pid;
    }
    if (proc != NULL)
        (void)closedir(proc);
    return f->child != 0;
}

pid_t wait_child_of(pid_t parent, const char *name)
{
    struct family f = { parent, name, 0 };

    if (!wait_until(find_child, &f, SOON_MS))
        fail_msg("process %d has no child %s", (int)parent, name);
    return f.child;
}
