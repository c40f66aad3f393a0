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
static zhandle_t *init_tls(const struct zkr__zk_config *config,
                           watcher_fn watcher, void *context,
                           log_callback_fn log)
{
    char *files = list_files(config->opts);
    zhandle_t *zh = NULL;
    FILE *before;
    int saved;

    if (files == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    (void)pthread_mutex_lock(&tls_lock);
    before = divert_log(log);
    zh = zookeeper_init_ssl(config->servers, files, watcher, config->timeout_ms,
                            NULL, context, ZOO_NO_LOG_CLIENTENV);
    saved = errno;
    if (zh != NULL)
        zoo_set_log_callback(zh, log);
    zoo_set_log_stream(before);
    (void)pthread_mutex_unlock(&tls_lock);
    explicit_bzero(files, strlen(files));
    free(files);
    errno = saved;
    return zh;
}

#endif

#ifdef HAVE_CYRUS_SASL_H

static zhandle_t *init_sasl(const struct zkr__zk_config *config,
                            const struct zkr__sasl *sasl, watcher_fn watcher,
                            void *context, log_callback_fn log)
{
    zoo_sasl_params_t params = {
        .service = config->opts->sasl_service,
        .host = config->opts->sasl_host,
        .mechlist = config->opts->sasl_mechanism,
        .callbacks = zkr__sasl_callbacks(sasl),
    };

    return zookeeper_init_sasl(config->servers, watcher, config->timeout_ms,
                               NULL, context, ZOO_NO_LOG_CLIENTENV, log,
                               &params);
}

#endif

static zhandle_t *init(const struct zkr__zk_config *config,
                       const struct zkr__sasl *sasl, watcher_fn watcher,
                       void *context, log_callback_fn log)
{
#ifdef HAVE_OPENSSL_H
    if (config->opts != NULL && config->opts->tls_ca != NULL)
        return init_tls(config, watcher, context, log);
#endif
#ifdef HAVE_CYRUS_SASL_H
    if (sasl != NULL)
        return init_sasl(config, sasl, watcher, context, log);
#endif
    (void)sasl;
    return zookeeper_init2(config->servers, watcher, config->timeout_ms, NULL,
                           context, ZOO_NO_LOG_CLIENTENV, log);
}

/* The client shuffles the servers, unless this is set for the whole process, so
 * it is set for a moment. Another handle that is made meanwhile is none the
 * worse. */
static zhandle_t *init_in_order(const struct zkr__zk_config *config,
                                const struct zkr__sasl *sasl,
                                watcher_fn watcher, void *context,
                                log_callback_fn log)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    zhandle_t *zh;
    int saved;

    (void)pthread_mutex_lock(&lock);
    zoo_deterministic_conn_order(1);
    zh = init(config, sasl, watcher, context, log);
    saved = errno;
    zoo_deterministic_conn_order(0);
    (void)pthread_mutex_unlock(&lock);
    errno = saved;
    return zh;
}

/* The threads of the client inherit the signal mask of their creator. */
zhandle_t *zkr__zk_init(const struct zkr__zk_config *config,
                        const struct zkr__sasl *sasl, watcher_fn watcher,
                        void *context, log_callback_fn log)
{
    sigset_t all;
    sigset_t before;
    zhandle_t *zh;
    int saved;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    zh = config->in_order ? init_in_order(config, sasl, watcher, context, log)
                          : init(config, sasl, watcher, context, log);
    saved = errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return zh;
}
