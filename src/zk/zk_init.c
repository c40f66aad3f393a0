/* SPDX-License-Identifier: Apache-2.0 */
/* Makes handles of libzookeeper_mt, plain, with TLS or with SASL. */
#include "zk/zk_init.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zk/sasl.h"
#include "zk/zk.h"

#ifdef HAVE_OPENSSL_H

/* From <zookeeper/zookeeper_log.h>, which cannot be included as installed. */
extern ZOOAPI FILE *zoo_get_log_stream(void);

/* The longest line of the client, and its end. */
#define LINE_MAX_BYTES 4097

/* One at a time, because the client takes the list of files apart with
 * strtok(), and because the client has one log stream. */
static pthread_mutex_t tls_lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *tls_log; /* under tls_lock, as all below; never closed */
static log_callback_fn log_of_handles;

static ssize_t write_log(void *cookie, const char *text, size_t size)
{
    char line[LINE_MAX_BYTES];

    (void)cookie;
    (void)snprintf(line, sizeof(line), "%.*s", (int)size, text);
    log_of_handles(line);
    return (ssize_t)size;
}

/* zookeeper_init_ssl() takes no log callback. Until the handle can be given
 * one, its lines go to the client's log stream, which is this one meanwhile.
 * Lines of other handles of the program that have no callback either come here,
 * too. */
static FILE *divert_log(log_callback_fn log)
{
    const cookie_io_functions_t functions = { .write = write_log };
    FILE *before = zoo_get_log_stream();

    log_of_handles = log;
    if (tls_log == NULL)
        tls_log = fopencookie(NULL, "w", functions);
    if (tls_log != NULL)
        zoo_set_log_stream(tls_log);
    return before;
}

static char *list_files(const struct zkr_session_opts *o)
{
    char *files = NULL;

    /* Without a password the client would ask for one on the terminal, if the
     * key turned out to need one. */
    if (asprintf(&files, "%s,%s,%s,%s", o->tls_ca, o->tls_cert, o->tls_key,
                 o->tls_password != NULL ? o->tls_password : "none") < 0)
        return NULL;
    return files;
}

/* The client keeps copies, one of which it never frees (ZOOKEEPER-4020). */
static int init_tls(const struct zkr__zk_init *i, zhandle_t **ret_zh)
{
    char *files = list_files(i->config->opts);
    FILE *before;
    int error;

    if (files == NULL)
        return ENOMEM;
    (void)pthread_mutex_lock(&tls_lock);
    before = divert_log(i->log);
    *ret_zh = zookeeper_init_ssl(i->config->servers, files, i->watcher,
                                 i->config->timeout_ms, NULL, i->context,
                                 ZOO_NO_LOG_CLIENTENV);
    error = errno;
    if (*ret_zh != NULL)
        zoo_set_log_callback(*ret_zh, i->log);
    zoo_set_log_stream(before);
    (void)pthread_mutex_unlock(&tls_lock);
    explicit_bzero(files, strlen(files));
    free(files);
    return *ret_zh != NULL ? 0 : error;
}

#endif

#ifdef HAVE_CYRUS_SASL_H

static zhandle_t *init_sasl(const struct zkr__zk_init *i)
{
    const struct zkr_session_opts *o = i->config->opts;
    zoo_sasl_params_t params = {
        .service = o->sasl_service,
        .host = o->sasl_host,
        .mechlist = o->sasl_mechanism,
        .callbacks = zkr__sasl_callbacks(i->sasl),
    };

    return zookeeper_init_sasl(i->config->servers, i->watcher,
                               i->config->timeout_ms, NULL, i->context,
                               ZOO_NO_LOG_CLIENTENV, i->log, &params);
}

#endif

static int init(const struct zkr__zk_init *i, zhandle_t **ret_zh)
{
#ifdef HAVE_OPENSSL_H
    if (i->config->opts != NULL && i->config->opts->tls_ca != NULL)
        return init_tls(i, ret_zh);
#endif
#ifdef HAVE_CYRUS_SASL_H
    if (i->sasl != NULL)
        *ret_zh = init_sasl(i);
    else
#endif
        *ret_zh = zookeeper_init2(i->config->servers, i->watcher,
                                  i->config->timeout_ms, NULL, i->context,
                                  ZOO_NO_LOG_CLIENTENV, i->log);
    return *ret_zh != NULL ? 0 : errno;
}

/* The client shuffles the servers, unless this is set for the whole process, so
 * it is set for a moment. Another handle that is made meanwhile is none the
 * worse. */
static int init_in_order(const struct zkr__zk_init *i, zhandle_t **ret_zh)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int error;

    (void)pthread_mutex_lock(&lock);
    zoo_deterministic_conn_order(1);
    error = init(i, ret_zh);
    zoo_deterministic_conn_order(0);
    (void)pthread_mutex_unlock(&lock);
    return error;
}

/* The threads of the client inherit the signal mask of their creator. */
int zkr__zk_init(const struct zkr__zk_init *i, zhandle_t **ret_zh)
{
    sigset_t all;
    sigset_t before;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = i->config->in_order ? init_in_order(i, ret_zh) : init(i, ret_zh);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
