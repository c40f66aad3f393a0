/* SPDX-License-Identifier: Apache-2.0 */
/* Makes calls of the tool fail when a test says so; see faulty_calls.c. */
#pragma once

#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <zkrecipes/zkrecipes.h>

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

void *faulty_malloc(size_t size);
/* Where the caller goes on without. */
void *failing_malloc(size_t size);
void *faulty_calloc(size_t count, size_t size);
void *faulty_realloc(void *p, size_t size);
char *faulty_strdup(const char *text);
char *faulty_strndup(const char *text, size_t len);
void faulty_free(void *p);
int faulty_open(const char *path, int flags, ...);
ssize_t faulty_read(int fd, void *data, size_t size);
int faulty_stat(const char *path, struct stat *st);
int faulty_fstat(int fd, struct stat *st);
int faulty_socket(int family, int type, int protocol);
int faulty_connect(int fd, const struct sockaddr *address, socklen_t size);
int faulty_poll(struct pollfd *fds, nfds_t count, int timeout);
ssize_t faulty_recv(int fd, void *data, size_t size, int flags);
ssize_t faulty_send(int fd, const void *data, size_t size, int flags);
int faulty_getaddrinfo(const char *host, const char *port,
                       const struct addrinfo *hints, struct addrinfo **ret_all);
int faulty_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                          void *(*start)(void *), void *arg);
void faulty_bzero(void *data, size_t size);
int faulty_session_open(const char *hosts, const struct zkr_session_opts *opts,
                        zkr_open_fn fn, void *user, zkr_session **ret_session);
