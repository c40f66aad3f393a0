/* SPDX-License-Identifier: Apache-2.0 */
/* Starts zk-lockctl, and reads the output of it and its command. */
#include "cli.h"

#include "spawn.h"

static char dir[] = "/tmp/zkrecipes-cli-XXXXXX";
static struct guard guard;

test_step *cli_first, *cli_last;

static int run_group(void)
{
    return test_run_between(cli_first, cli_last);
}

int cli_run(const struct server_opts *opts)
{
    static const int all[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP };

    /* A shell in whose background it runs may have it ignore some of them. */
    for (size_t i = 0; i < COUNT(all); i++)
        (void)signal(all[i], SIG_DFL);
    if (mkdtemp(dir) == NULL || guard_start(&guard, dir) != 0)
        return 1;
    int result = run_with_server(opts, run_group);
    guard_finish(&guard);
    return result;
}

/* Of a program that has none. */
__attribute__((weak)) int main(void)
{
    return cli_run(NULL);
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
    size_t n = 0;

    while (args[n] != NULL && n < 30) {
        argv[n + 1] = (char *)args[n];
        n++;
    }
    (void)snprintf(c->output, sizeof(c->output), "%s/output-%d", dir, ++number);
    int out = open(c->output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(out >= 0);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    c->pid = spawn_bound(argv, ends[0], out);
    assert_true(c->pid > 0);
    c->in = ends[1];
    (void)close(ends[0]);
    (void)close(out);
}

/* The exit status of ThreadSanitizer by tools/test.sh, which no verb uses. */
#define SANITIZER_FOUND 86

int cli_end(struct cli *c)
{
    int status = 0;

    (void)close(c->in);
    if (!COMES(waitpid(c->pid, &status, WNOHANG) == c->pid, SOON_MS)) {
        (void)kill(c->pid, SIGKILL);
        (void)waitpid(c->pid, NULL, 0);
        fail_msg("it does not end; it has said: %s", cli_said(c));
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == SANITIZER_FOUND)
        fail_msg("a sanitizer has said: %s", cli_said(c));
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int cli_kill(struct cli *c, int sig)
{
    ok(kill(c->pid, sig));
    return cli_end(c);
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
        test_has(cli_said(c), *texts, 1, file, line);
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

    assert_non_null(f);
    size_t n = fread(text, 1, size - 1, f);
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

void cli_wait_said_often(const struct cli *c, const char *text, int times)
{
    if (!COMES(text_count(cli_said(c), text) >= times, SOON_MS))
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

static void read_proc(pid_t pid, const char *what, char *text, int size)
{
    char file[64];

    PRINT(file, "/proc/%d/%s", (int)pid, what);
    FILE *f = fopen(file, "re");
    if (f == NULL || fgets(text, size, f) == NULL)
        text[0] = '\0';
    if (f != NULL)
        (void)fclose(f);
}

/* "PID (NAME) STATE ..." */
char process_state(pid_t pid)
{
    char line[512];

    read_proc(pid, "stat", line, sizeof(line));
    const char *name_end = strrchr(line, ')');
    return name_end == NULL ? 0 : name_end[2];
}

void wait_process_state(pid_t pid, char state)
{
    if (!COMES(process_state(pid) == state, SOON_MS))
        fail_msg("process %d is in state '%c', not '%c'", (int)pid,
                 process_state(pid), state);
}

static bool is_gone(pid_t pid)
{
    char state = process_state(pid);

    return state == 0 || state == 'Z';
}

void wait_process_gone(pid_t pid)
{
    if (!COMES(is_gone(pid), SOON_MS))
        fail_msg("process %d lives", (int)pid);
}

/* 0 when there is none. The guard is between the tool and its command. */
static pid_t find_child(pid_t parent, const char *name)
{
    char children[512];
    char its_name[32];
    char *rest = children;
    pid_t found = 0;

    PRINT(its_name, "task/%d/children", (int)parent);
    read_proc(parent, its_name, children, sizeof(children));
    for (pid_t pid;
         found == 0 && (pid = (pid_t)strtol(rest, &rest, 10)) != 0;) {
        read_proc(pid, "comm", its_name, sizeof(its_name));
        its_name[strcspn(its_name, "\n")] = '\0';
        if (strcmp(its_name, name) == 0)
            found = pid;
        else if (strcmp(its_name, "zk-lockctl guar") == 0)
            found = find_child(pid, name);
    }
    return found;
}

pid_t wait_child_of(pid_t parent, const char *name)
{
    pid_t child;

    if (!COMES((child = find_child(parent, name)) != 0, SOON_MS))
        fail_msg("process %d has no child %s", (int)parent, name);
    return child;
}
