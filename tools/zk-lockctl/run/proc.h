/* SPDX-License-Identifier: Apache-2.0 */
/* Processes, as /proc has them. */
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

/* When it began, by clock_boot_ms(), as exactly as that; -1: not known. */
enum { PROC_START_MS = 10 };
int64_t proc_start_ms(pid_t pid);

/* Tells whether a process descends from another one. */
bool proc_is_below(pid_t pid, pid_t root);

/* Calls `fn` for each process, until it answers false; for none when there is
 * no descriptor to look with. */
void proc_each(bool (*fn)(pid_t pid, void *arg), void *arg);
