/* SPDX-License-Identifier: Apache-2.0 */
/* SASL by Cyrus: the answers that a mechanism asks for. */
#include "zk/sasl.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <sasl/sasl.h>

#include <zkrecipes/session.h>

#include "base/error.h"
#include "zk/credentials.h"
#include "zk/security.h"

/* -- the library of the process ------------------------------------------- */

static void *new_mutex(void)
{
    pthread_mutex_t *mutex = malloc(sizeof(*mutex));

    if (mutex != NULL)
        (void)pthread_mutex_init(mutex, NULL);
    return mutex;
}

static int lock_mutex(void *mutex)
{
    return pthread_mutex_lock(mutex) == 0 ? SASL_OK : SASL_FAIL;
}

static int unlock_mutex(void *mutex)
{
    return pthread_mutex_unlock(mutex) == 0 ? SASL_OK : SASL_FAIL;
}

static void free_mutex(void *mutex)
{
    (void)pthread_mutex_destroy(mutex);
    free(mutex);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int prepared;

/* A program that uses SASL itself has prepared it already, with mutexes of its
 * own. Without any, what DIGEST-MD5 remembers for all connections would be
 * changed by the threads of several handles at once. */
static void prepare(void)
{
    sasl_conn_t *conn = NULL;

    prepared =
        sasl_client_new("zookeeper", "localhost", NULL, NULL, NULL, 0, &conn);
    sasl_dispose(&conn);
    if (prepared != SASL_NOTINIT)
        return;
    sasl_set_mutex(new_mutex, lock_mutex, unlock_mutex, free_mutex);
    prepared = sasl_client_init(NULL);
}

/* -- the answers ---------------------------------------------------------- */

struct zkr__sasl {
    pthread_mutex_t lock;          /* of the next member */
    struct zkr__credentials *next; /* for the next login; NULL: the same */
    struct zkr__credentials *credentials; /* of the last login */
    char *realm;
    char *password;        /* the last one of the file; NULL without */
    char *file;            /* it is read for each login; NULL without */
    sasl_secret_t *secret; /* of the last login; Cyrus wipes it after use */
    sasl_callback_t callbacks[5];
};

static void take_next(struct zkr__sasl *sasl)
{
    struct zkr__credentials *before = sasl->credentials;

    (void)pthread_mutex_lock(&sasl->lock);
    if (sasl->next != NULL) {
        sasl->credentials = sasl->next;
        sasl->next = NULL;
        zkr__credentials_unref(before);
    }
    (void)pthread_mutex_unlock(&sasl->lock);
}

/* A mechanism with a password asks for the name of its owner first. */
static int give_user(void *context, int id, const char **ret_user,
                     unsigned *ret_len)
{
    struct zkr__sasl *sasl = context;

    if (id == SASL_CB_AUTHNAME)
        take_next(sasl);
    *ret_user = sasl->credentials->user;
    if (ret_len != NULL)
        *ret_len = (unsigned)strlen(*ret_user);
    return SASL_OK;
}

static int give_realm(void *context, int id, const char **realms,
                      const char **ret_realm)
{
    const struct zkr__sasl *sasl = context;

    (void)id;
    (void)realms;
    *ret_realm = sasl->realm;
    return SASL_OK;
}

/* A file that cannot be read now is as it was. */
static int give_password(sasl_conn_t *conn, void *context, int id,
                         sasl_secret_t **ret_secret)
{
    struct zkr__sasl *sasl = context;
    char *read = NULL;
    const char *password;

    (void)conn;
    (void)id;
    if (sasl->file != NULL &&
        zkr__security_read_password(sasl->file, &read) == ZKR_OK) {
        zkr__credentials_wipe(sasl->password);
        sasl->password = read;
    }
    password =
        sasl->password != NULL ? sasl->password : sasl->credentials->password;
    size_t len = strlen(password);
    free(sasl->secret);
    sasl->secret = calloc(1, sizeof(*sasl->secret) + len);
    if (sasl->secret == NULL)
        return SASL_NOMEM;
    sasl->secret->len = len;
    memcpy(sasl->secret->data, password, len);
    *ret_secret = sasl->secret;
    return SASL_OK;
}

/* Cyrus calls each with the arguments that belong to its id. */
#define ANSWER(id, fn)                                                         \
    (sasl_callback_t)                                                          \
    {                                                                          \
        id, (int (*)(void))(void (*)(void))(fn), sasl                          \
    }

/* There is no answer to what the options do not say: a mechanism that needs it
 * fails. */
static void list_callbacks(struct zkr__sasl *sasl)
{
    sasl_callback_t *next = sasl->callbacks;

    if (sasl->credentials->user != NULL) {
        *next++ = ANSWER(SASL_CB_USER, give_user);
        *next++ = ANSWER(SASL_CB_AUTHNAME, give_user);
    }
    if (sasl->realm != NULL)
        *next++ = ANSWER(SASL_CB_GETREALM, give_realm);
    if (sasl->credentials->password != NULL)
        *next++ = ANSWER(SASL_CB_PASS, give_password);
    *next = (sasl_callback_t){ SASL_CB_LIST_END, NULL, NULL };
}

static bool copy(char **to, const char *from)
{
    if (from != NULL)
        *to = strdup(from);
    return from == NULL || *to != NULL;
}

struct zkr__sasl *zkr__sasl_new(const struct zkr_session_opts *opts,
                                struct zkr__credentials *credentials)
{
    struct zkr__sasl *sasl = calloc(1, sizeof(*sasl));

    if (sasl == NULL)
        return NULL;
    (void)pthread_mutex_init(&sasl->lock, NULL);
    sasl->credentials = zkr__credentials_ref(credentials);
    if (!copy(&sasl->realm, opts->sasl_realm) ||
        !copy(&sasl->file, opts->sasl_password_file)) {
        zkr__sasl_free(sasl);
        return NULL;
    }
    list_callbacks(sasl);
    return sasl;
}

void zkr__sasl_free(struct zkr__sasl *sasl)
{
    if (sasl == NULL)
        return;
    if (sasl->secret != NULL)
        explicit_bzero(sasl->secret->data, sasl->secret->len);
    zkr__credentials_unref(sasl->next);
    zkr__credentials_unref(sasl->credentials);
    zkr__credentials_wipe(sasl->password);
    (void)pthread_mutex_destroy(&sasl->lock);
    free(sasl->realm);
    free(sasl->file);
    free(sasl->secret);
    free(sasl);
}

void zkr__sasl_renew(struct zkr__sasl *sasl,
                     struct zkr__credentials *credentials)
{
    (void)pthread_mutex_lock(&sasl->lock);
    zkr__credentials_unref(sasl->next);
    sasl->next = zkr__credentials_ref(credentials);
    (void)pthread_mutex_unlock(&sasl->lock);
}

const void *zkr__sasl_callbacks(const struct zkr__sasl *sasl)
{
    return sasl->callbacks;
}

/* -- the mechanism -------------------------------------------------------- */

static int start(const struct zkr_session_opts *opts,
                 const struct zkr__sasl *sasl)
{
    const char *out;
    const char *chosen;
    unsigned len;
    sasl_conn_t *conn = NULL;
    int rc =
        sasl_client_new(opts->sasl_service,
                        opts->sasl_host != NULL ? opts->sasl_host : "localhost",
                        NULL, NULL, sasl->callbacks, 0, &conn);

    if (rc == SASL_OK)
        rc = sasl_client_start(conn, opts->sasl_mechanism, NULL, &out, &len,
                               &chosen);
    sasl_dispose(&conn);
    return rc;
}

/* Others than SASL_NOMECH depend on the server, or on what it asks for. */
int zkr__sasl_check(const struct zkr_session_opts *opts)
{
    struct zkr__sasl *sasl = NULL;

    (void)pthread_once(&once, prepare);
    if (prepared != SASL_OK)
        return zkr__fail(ZKR_ESYSTEM, "session: Cyrus SASL: %s",
                         sasl_errstring(prepared, NULL, NULL));
    struct zkr__credentials *credentials = zkr__credentials_new(opts);
    if (credentials != NULL)
        sasl = zkr__sasl_new(opts, credentials);
    zkr__credentials_unref(credentials);
    if (sasl == NULL)
        return zkr__no_memory("session", NULL);
    int rc = start(opts, sasl);
    zkr__sasl_free(sasl);
    if (rc == SASL_NOMECH)
        return zkr__fail(ZKR_EINVAL,
                         "session options: sasl_mechanism '%s': Cyrus SASL of "
                         "this machine does not have it, or needs other "
                         "options for it (on Debian: libsasl2-modules)",
                         opts->sasl_mechanism);
    return ZKR_OK;
}
