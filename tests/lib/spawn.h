/* SPDX-License-Identifier: Apache-2.0 */
/* Starts children that inherit nothing and do not outlive their parent. */
#pragma once

#include <stdbool.h>

#include <sys/types.h>

/* Start argv[0] (looked up in PATH) in a session of its own: no signal
 * blocked, stdin from `in`, stdout and stderr to `out`, nothing else open;
 * -1 is /dev/null. Exit status 127 means that it could not be executed.
 * -1 if fork failed. */
pid_t spawn(char *const argv[], int in, int out);

/* Does so without input, and waits. Returns whether it has succeeded. */
bool spawn_run(char *const argv[], int out);

/* The same, and the kernel kills the child with SIGKILL when the *thread* that
 * called this ends.  So call it from the main thread. */
pid_t spawn_bound(char *const argv[], int in, int out);

/* A helper process that removes a directory as soon as it is told to or this
 * process ends, in whatever way: exit, signal, abort, SIGKILL. */
struct guard {
    pid_t pid;
    int fd; /* closing it, or dying, tells the guard */
};

/* 0, or -1. */
int guard_start(struct guard *g, const char *dir);

/* The same with a new directory, whose name is put there; or errno says why. */
int guard_make(struct guard *g, char *dir, size_t size);

/* Remove the directory now and wait until that is done. */
void guard_finish(struct guard *g);
