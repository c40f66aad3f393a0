/* SPDX-License-Identifier: Apache-2.0 */
/* The onlooker: common parts of the tests of participants, find and break. They
 * are a session that observes from outside, one through a proxy, and calls on
 * threads. */
#pragma once

#include "fixture.h"

extern zkr_session *s;
extern zkr_mutex *m;  /* of s, at path */
extern char path[64]; /* does not exist at first */
extern struct proxy *proxy;
extern zkr_session *ps;   /* through the proxy */
extern uint32_t reply_ms; /* the reply timeout of ps, 0 for the default */

int onlooker_setup(void);
int onlooker_teardown(void);

/* The same with the directory, and with another client. */
extern struct admin *rival;
int pair_setup(void);
int pair_teardown(void);
/* A contender of that client, or of admin. */
void make_by(struct admin *who, const char *name);

/* The same with a proxy, and with the directory. */
int proxied_setup(void);
int proxied_teardown(void);
void open_proxied(const struct zkr_retry *retry); /* zeros: the default */

void make_directory(void);
/* Below the directory. */
const char *in_dir(const char *name);
/* A node, with what is missing above it. */
void make(const char *name, const char *data);
void make_with(const char *name, const char *data, int flags);
/* Everybody has these permissions, and no others. */
void forbid(const char *full, int32_t perms);

/* Returns when the rules of the proxy have done their work. */
void call_start_until_rule(struct caller *c, int (*run)(void *arg), void *arg);

/* The server is silent: the call has a deadline in so many ms, and says so. */
void times_out(int (*run)(void *arg), void *arg, int64_t timeout_ms);
