/* A client in place of libzookeeper_mt: connects and answers at once, from a
 * thread of its own. */
#include "client.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "path.h"
#include "zk.h"

enum { ROOM = 64, SESSION = 1 };

struct zkr__zk {
    struct zkr_session *session;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct zkr__op *ops[ROOM]; /* under the lock, as all that follows */
    const struct zkr__zk_request *requests[ROOM];
    unsigned first;
    unsigned count;
    bool closing;
    char node[256]; /* of the thread; "" without */
    int64_t zxid;
};

static atomic_uint granted_ms = 10000;
static atomic_int delete_rc;

void client_grants_timeout(uint32_t timeout_ms)
{
    atomic_store(&granted_ms, timeout_ms);
}

void client_answers_deletes(int rc)
{
    atomic_store(&delete_rc, rc);
}

/* -- answers -------------------------------------------------------------- */

static void create(struct zkr__zk *zk, const struct zkr__zk_request *r,
                   struct zkr__zk_reply *reply)
{
    (void)snprintf(zk->node, sizeof(zk->node), "%s0000000001", r->path);
    reply->path = zk->node;
    reply->owner = SESSION;
    reply->czxid = ++zk->zxid;
}

static void answer(struct zkr__zk *zk, struct zkr__op *op,
                   const struct zkr__zk_request *r)
{
    struct zkr__zk_reply reply = { .owner = SESSION, .czxid = zk->zxid };
    const char *name = zkr__path_name(zk->node);

    if (r->type == ZKR__ZK_CREATE)
        create(zk, r, &reply);
    else if (r->type == ZKR__ZK_DELETE)
        reply.rc = atomic_load(&delete_rc);
    if (r->type == ZKR__ZK_DELETE && reply.rc == ZKR_OK)
        zk->node[0] = '\0';
    if (r->type == ZKR__ZK_CHILDREN && zk->node[0] != '\0') {
        reply.names = &name;
        reply.name_count = 1;
    }
    zkr__op_on_reply(op, &reply);
}

static void *client_main(void *arg)
{
    struct zkr__zk *zk = arg;

    zkr__session_on_event(zk->session, ZKR__ZK_CONNECTED);
    (void)pthread_mutex_lock(&zk->lock);
    while (!zk->closing) {
        unsigned next = zk->first;

        if (zk->count == 0) {
            (void)pthread_cond_wait(&zk->changed, &zk->lock);
            continue;
        }
        zk->first = (next + 1) % ROOM;
        zk->count--;
        (void)pthread_mutex_unlock(&zk->lock);
        answer(zk, zk->ops[next], zk->requests[next]);
        (void)pthread_mutex_lock(&zk->lock);
    }
    (void)pthread_mutex_unlock(&zk->lock);
    return NULL;
}

/* -- the seam ------------------------------------------------------------- */

int zkr__zk_open(const struct zkr__zk_config *config,
                 struct zkr_session *session, struct zkr__zk **ret_zk)
{
    struct zkr__zk *zk = calloc(1, sizeof(*zk));

    (void)config;
    if (zk == NULL)
        return ZKR_ENOMEM;
    zk->session = session;
    (void)pthread_mutex_init(&zk->lock, NULL);
    (void)pthread_cond_init(&zk->changed, NULL);
    if (pthread_create(&zk->thread, NULL, client_main, zk) != 0)
        abort();
    *ret_zk = zk;
    return ZKR_OK;
}

bool zkr__zk_close(struct zkr__zk *zk)
{
    (void)pthread_mutex_lock(&zk->lock);
    zk->closing = true;
    (void)pthread_cond_signal(&zk->changed);
    (void)pthread_mutex_unlock(&zk->lock);
    (void)pthread_join(zk->thread, NULL);
    (void)pthread_cond_destroy(&zk->changed);
    (void)pthread_mutex_destroy(&zk->lock);
    free(zk);
    return true;
}

bool zkr__zk_log_in(struct zkr__zk *zk)
{
    (void)zk;
    return true;
}

int64_t zkr__zk_session_id(struct zkr__zk *zk)
{
    (void)zk;
    return SESSION;
}

uint32_t zkr__zk_timeout_ms(struct zkr__zk *zk)
{
    (void)zk;
    return atomic_load(&granted_ms);
}

void zkr__zk_server(struct zkr__zk *zk, char name[ZKR__ZK_SERVER_MAX])
{
    (void)zk;
    name[0] = '\0';
}

int zkr__zk_submit(struct zkr__zk *zk, struct zkr__zk_request *request,
                   struct zkr__op *op)
{
    unsigned last;

    (void)pthread_mutex_lock(&zk->lock);
    if (zk->count == ROOM)
        abort();
    last = (zk->first + zk->count++) % ROOM;
    zk->ops[last] = op;
    zk->requests[last] = request;
    (void)pthread_cond_signal(&zk->changed);
    (void)pthread_mutex_unlock(&zk->lock);
    return ZKR_OK;
}

void zkr__zk_log_level(enum zkr_log_level level)
{
    (void)level;
}
