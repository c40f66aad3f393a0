/* SPDX-License-Identifier: Apache-2.0 */
/* The usual stage: a session through a proxy, and a mutex at its own path. */
#pragma once

#include "fixture.h"

#define TWICE 2 /* so often each fault strikes */
extern struct proxy *proxy;
extern zkr_session *s; /* through the proxy; NULL: the test has closed it */
extern zkr_mutex *m;   /* of s */
extern char path[64];  /* of m */
/* Only after usual_setup_two(): */
extern zkr_session *theirs; /* past the proxy, */
extern zkr_mutex *rival;    /* and its mutex at the same path */

int usual_setup(void);
int usual_setup_with(const struct zkr_session_opts *opts); /* of s */
int usual_setup_two(void);
int usual_setup_two_with(const struct zkr_session_opts *opts);
/* Lets everything pass the proxy, frees the mutexes, closes the sessions. */
int usual_teardown(void);
