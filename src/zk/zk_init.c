/* SPDX-License-Identifier: Apache-2.0 */
/* Makes handles of libzookeeper_mt, plain, with TLS, with SASL or both. */
#include "zk/zk_init.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zk/sasl.h"
#include "zk/zk.h"
#include "zk/zk_latch.h"

#if ZKR__CLIENT_INSIDE

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

static zhandle_t *init_secure(const struct zkr__zk_init *i)
{
    const struct zkr_session_opts *o = i->config->opts;
    bool any_name = o->tls_verify == ZKR_TLS_VERIFY_CHAIN;
    int flags = ZOO_NO_LOG_CLIENTENV | (any_name ? ZOO_TLS_ANY_NAME : 0);
    zoo_sasl_params_t sasl = {
        .service = o->sasl_service,
        .host = o->sasl_host,
        .mechlist = o->sasl_mechanism,
        .callbacks = i->sasl != NULL ? zkr__sasl_callbacks(i->sasl) : NULL,
    };
    char *files = o->tls_ca != NULL ? list_files(o) : NULL;

    if (o->tls_ca != NULL && files == NULL)
        return NULL;
    zhandle_t *zh = zookeeper_init_secure(
        i->config->servers, files, i->watcher, i->config->timeout_ms, NULL,
        i->context, flags, i->log, i->sasl != NULL ? &sasl : NULL);
    int error = errno;
    if (files != NULL)
        explicit_bzero(files, strlen(files));
    free(files);
    errno = error;
    return zh;
}

#endif

static int init(const struct zkr__zk_init *i, zhandle_t **ret_zh)
{
#if ZKR__CLIENT_INSIDE
    const struct zkr_session_opts *o = i->config->opts;

    if (o != NULL && (o->tls_ca != NULL || i->sasl != NULL))
        *ret_zh = init_secure(i);
    else
#endif
        *ret_zh = zookeeper_init2(i->config->servers, i->watcher,
                                  i->config->timeout_ms, NULL, i->context,
                                  ZOO_NO_LOG_CLIENTENV, i->log);
    return *ret_zh != NULL ? 0 : errno;
}

/* The client shuffles the servers, unless this is set for the whole process, so
 * it is set for a moment. Another handle that is made meanwhile is none the
 * worse, and does not wait for the name server of this one. */
static void keep_order(int more)
{
    static int handles; /* with the latch shut */

    zkr__latch_shut();
    handles += more;
    zoo_deterministic_conn_order(handles > 0);
    zkr__latch_open();
}

static int init_in_order(const struct zkr__zk_init *i, zhandle_t **ret_zh)
{
    keep_order(1);
    int error = init(i, ret_zh);
    keep_order(-1);
    return error;
}

/* The threads of the client inherit the signal mask of their creator. */
int zkr__zk_init(const struct zkr__zk_init *i, zhandle_t **ret_zh)
{
    sigset_t all;
    sigset_t before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int error =
        i->config->in_order ? init_in_order(i, ret_zh) : init(i, ret_zh);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
