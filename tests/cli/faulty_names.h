/* SPDX-License-Identifier: Apache-2.0 */
/* Renames calls that can fail, or that take memory or a descriptor, for
 * test_counted.c. Files of the tool include it first. */
#ifndef FAULTY_NAMES_H
#define FAULTY_NAMES_H

#include <dirent.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zkrecipes/zkrecipes.h>

#define malloc           faulty_malloc
#define calloc           faulty_calloc
#define realloc          faulty_realloc
#define strdup           faulty_strdup
#define strndup          faulty_strndup
#define free             faulty_free
#define open             faulty_open
#define read             faulty_read
#define write            faulty_write
#define stat(a, b)       faulty_stat(a, b)
#define fstat            faulty_fstat
#define lstat            faulty_lstat
#define mkostemp         faulty_mkostemp
#define fchmod           faulty_fchmod
#define fsync            faulty_fsync
#define rename           faulty_rename
#define socket           faulty_socket
#define connect          faulty_connect
#define poll             faulty_poll
#define recv             faulty_recv
#define send             faulty_send
#define getaddrinfo      faulty_getaddrinfo
#define pthread_create   faulty_pthread_create
#define zkr_session_open faulty_session_open
#define explicit_bzero   faulty_bzero

#include "faulty_calls.h"

#endif
