/* SPDX-License-Identifier: Apache-2.0 */
/* Makes calls of the tool fail when a test says so; see faulty_calls.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Run the scene again and again, and let in each run the next call fail, until
 * one has had no more. After each, what it has taken must have been given back:
 * memory and descriptors. How often it was run. */
long faulty_each(void (*scene)(void));
/* Whether a call has failed in this run. */
bool faulty_has_failed(void);

/* So much is read at once, as from a pipe; 0: all. */
extern size_t faulty_piece;
/* The credentials of the last session that was opened, as "scheme auth"; ""
 * when none was. */
extern char faulty_auth[2048];
/* The memory that held them, or NULL once it has been wiped. */
extern const void *faulty_auth_at;

/* malloc() where the caller goes on without memory, and its free(). */
void *failing_malloc(size_t size);
void faulty_free(void *p);
