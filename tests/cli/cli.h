/* SPDX-License-Identifier: Apache-2.0 */
/* Starts zk-lockctl, and reads the output of it and its command. */
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fixture.h"

/* Runs all tests, as run_with_server(), with a directory for their files. A
 * program without a main() does that. */
int cli_run(const struct server_opts *opts);
/* The steps before and after all tests; NULL: none. */
extern test_step *cli_first, *cli_last;
#define GROUP(first_step, last_step)                                           \
    __attribute__((constructor)) static void test_group(void)                  \
    {                                                                          \
        cli_first = (first_step);                                              \
        cli_last = (last_step);                                                \
    }

/* Returns the path of a file there, in one of several static buffers. */
const char *cli_file(const char *name);
/* Write a file; and read one, into a buffer that the next call overwrites. */
void cli_write(const char *file, const char *text, mode_t mode);
const char *cli_read(const char *file);

struct cli {
    pid_t pid;
    int in;          /* its stdin: a pipe of ours */
    char output[64]; /* file with its stdout and stderr */
};

/* Start `program` with these arguments, NULL at the end. It is killed when the
 * test program ends before it. */
void cli_start(struct cli *c, const char *program, const char *const *args);

/* The same with the arguments themselves, of the tool. */
#define START_CLI(c, ...)                                                      \
    cli_start(c, LOCKCTL, (const char *const[]){ __VA_ARGS__, NULL })

/* A script of bash, by a format. */
#define START_SH(c, ...)                                                       \
    cli_start(c, "/bin/bash",                                                  \
              (const char *const[]){ "-c", textf(__VA_ARGS__), NULL })

/* Wait for its end: the exit code, 128 + n after signal n. Fails the test when
 * it does not come soon. */
int cli_end(struct cli *c);
/* The same after a signal to it. */
int cli_kill(struct cli *c, int sig);

/* The same; it must be that code, and the output must have these texts. */
#define assert_end(c, code, ...)                                               \
    cli_end_with(c, code, (const char *const[]){ __VA_ARGS__, NULL },          \
                 __FILE__, __LINE__)
void cli_end_with(struct cli *c, int code, const char *const *texts,
                  const char *file, int line);

/* Returns its output so far, in a buffer that the next call overwrites. */
const char *cli_said(const struct cli *c);
/* Waits until its output has this text. */
void cli_wait_said(const struct cli *c, const char *text);
void cli_wait_said_often(const struct cli *c, const char *text, int times);
/* How often a text is in another. */
int text_count(const char *in, const char *text);

/* The number of a process that stands there behind this text, "" at the
 * beginning. */
pid_t cli_said_pid(const struct cli *c, const char *before);

/* Returns the state in /proc/PID/stat: 'R', 'S', 'T', 'Z'...; 0 when there is
 * no such process. */
char process_state(pid_t pid);
void wait_process_state(pid_t pid, char state);
/* A zombie counts as gone: the process that adopts it may never wait for it. */
void wait_process_gone(pid_t pid);
/* The child of a process that has this name, also below the guard of
 * zk-lockctl run; waits for it. */
pid_t wait_child_of(pid_t parent, const char *name);
