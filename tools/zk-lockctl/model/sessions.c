/* SPDX-License-Identifier: Apache-2.0 */
#include "model/sessions.h"

#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "common/now.h"
#include "model/tree.h"

enum {
    /* The servers take so much from one session after a reconnect: client.h of
     * the library. */
    WATCHED_MAX = 4500,
    WATCHED_BYTES_MAX = 400000,
};

/* --- connections --- */

static void on_state(zkr_session *session,
                     const struct zkr_session_event *event, void *user)
{
    struct tree_session *s = user;
    struct mirror *t = s->tree;
    enum zkr_session_state_kind state = event->state;

    (void)session;
    session_lock(s);
    if (state == ZKR_SESSION_SUSPENDED || state == ZKR_SESSION_LOST) {
        t->breaks++;
        if (!s->lost && t->lost++ == 0)
            t->lost_ms = clock_wall_ms();
        s->lost = true;
    } else if (state == ZKR_SESSION_CONNECTED ||
               state == ZKR_SESSION_RECONNECTED) {
        if (s->lost && --t->lost == 0 && t->since_ms == 0)
            t->since_ms = t->lost_ms;
        s->lost = false;
    }
    session_unlock(t);
}

int sessions_add(struct mirror *t, zkr_session *session)
{
    struct tree_session *s = &t->sessions[t->session_count++];

    s->tree = t;
    s->session = session;
    return t->opts.once
               ? ZKR_OK
               : zkr_session_listen(session, on_state, s, &s->listener);
}

/* --- callbacks --- */

void session_lock(struct tree_session *s)
{
    (void)pthread_mutex_lock(&s->tree->mutex);
    s->tree->running = s;
    s->tree->answers++;
}

static void free_ended(struct tree_session *s)
{
    while (s->ended != NULL) {
        struct tree_watch *w = s->ended;

        s->ended = w->next;
        zkr_watch_free(w->watch);
        free(w);
    }
}

void session_unlock(struct mirror *t)
{
    void (*wake)(void) = t->opts.wake;

    free_ended(t->running);
    t->running = NULL;
    (void)pthread_cond_broadcast(&t->changed);
    (void)pthread_mutex_unlock(&t->mutex);
    if (wake != NULL)
        wake();
}

void session_sync(struct tree_session *s)
{
    struct mirror *t = s->tree;

    if (t->running == NULL || t->running == s || s->synced == t->answers)
        return;
    s->synced = t->answers;
    (void)!zkr_session_sync_async(s->session, -1, NULL, NULL);
}

/* --- watches --- */

/* The servers get paths with the chroot. */
static size_t watched_bytes(const struct znode *z)
{
    return z->tree->chroot_len + strlen(z->path);
}

/* So many parts of the room are for what is watched like this. */
static bool has_room(const struct tree_session *s, const struct znode *z,
                     size_t parts)
{
    return s->watches < WATCHED_MAX / parts &&
           s->watched_bytes + watched_bytes(z) < WATCHED_BYTES_MAX / parts;
}

static struct tree_session *find(struct znode *z, size_t parts)
{
    struct mirror *t = z->tree;
    zkr_session *session;

    if (has_room(z->session, z, parts))
        return z->session;
    for (size_t i = 0; i < t->session_count; i++) {
        if (has_room(&t->sessions[i], z, parts))
            return &t->sessions[i];
    }
    if (t->session_count == SESSIONS_MAX || t->over ||
        lockctl_connect_further(t->opts.ctl, &session) != ZKR_OK ||
        sessions_add(t, session) != ZKR_OK)
        return z->session;
    return &t->sessions[t->session_count - 1];
}

struct tree_session *session_for_dir(struct znode *dir)
{
    return find(dir, dir_part(dir) == ZKR__PART_PATH ? 2 : 1);
}

int session_watch(struct znode *z, enum zkr_watch_what what, zkr_watch_fn fn)
{
    struct tree_session *s = z->is_dir ? z->session : find(z, 1);

    if (!has_room(s, z, 1))
        return NO_ROOM;
    if (s->tree->over)
        return ZKR_ECLOSED;
    struct tree_watch *w = enough(calloc(1, sizeof(*w)));
    w->session = s; /* the callback may run at once, and waits for the mutex */
    w->z = z;
    session_sync(s);
    int rc =
        zkr_session_watch(s->session, z->path, what, NULL, fn, w, &w->watch);
    if (rc != ZKR_OK) {
        free(w);
        return rc;
    }
    z->watch = w;
    s->watches++;
    s->watched_bytes += watched_bytes(z);
    return ZKR_OK;
}

void session_unwatch(struct znode *z)
{
    struct tree_watch *w = z->watch;

    if (w == NULL)
        return;
    z->watch = NULL;
    w->z = NULL;
    w->session->watches--;
    w->session->watched_bytes -= watched_bytes(z);
    w->next = w->session->ended;
    w->session->ended = w;
}

void sessions_done(struct mirror *t)
{
    for (size_t i = 0; i < t->session_count; i++) {
        zkr_listener_free(t->sessions[i].listener);
        free_ended(&t->sessions[i]);
    }
}
