/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the pieces of C in the documents use (snippets.py). */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>
#include <unistd.h>

#include <zkrecipes/testing.h>
#include <zkrecipes/zkrecipes.h>

#define VARIABLES                                                              \
    const char *hosts, zkr_session *session, zkr_mutex *mutex, zkr_grant *grant

/* The work of the reader's program. */
bool more_to_do(void);
void do_step(int64_t token);
int store(const char *body);

void begin_nothing_new(void *user);
void finish_soon(void *user);
void go_on(void *user);
void hold_still(void *user);
void stop_and_forget(void *user);
