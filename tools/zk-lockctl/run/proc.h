/* SPDX-License-Identifier: Apache-2.0 */
/* Lists our children, and the descendants of others, as /proc has them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/types.h>

/* Reads /proc/PID/WHAT, as far as it fits, with an end. Its size; 0 when it
 * cannot be read. */
size_t proc_read(pid_t pid, const char *what, char *text, size_t size);

/* The parent of a process; 0 when there is no such process, or it cannot be
 * seen. */
pid_t proc_parent(pid_t pid);

/* Tells whether a signal has stopped it. */
bool proc_is_stopped(pid_t pid);

/* When it began, by clock_boot_ms(), as exactly as that; -1: not known. */
enum { PROC_START_MS = 10 };
int64_t proc_start_ms(pid_t pid);

/* Tells whether a process descends from another one. */
bool proc_is_below(pid_t pid, pid_t root);

enum proc_which { PROC_CHILDREN, PROC_BELOW };
/* Calls `fn` for each child of a process, or each process that descends from
 * it, until it answers false. One whose parent has just ended may be missed,
 * and all when there is no descriptor to look with. */
void proc_each(enum proc_which which, pid_t root,
               bool (*fn)(pid_t pid, void *arg), void *arg);
