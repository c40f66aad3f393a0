/* SPDX-License-Identifier: Apache-2.0 */
/* The stays of each session that are there at one time, in all locks: they end
 * with it. */
#include "model/sessions.h"

#include <search.h>
#include <stdlib.h>

struct session {
    int64_t id;
    struct stay *first;
};

static int by_id(const void *a, const void *b)
{
    const struct session *x = a;
    const struct session *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static struct session *find(const struct sessions *sessions, int64_t id)
{
    const struct session key = { .id = id };
    struct session *const *found = tfind(&key, &sessions->tree, by_id);

    return found == NULL ? NULL : *found;
}

static struct session *make(struct sessions *sessions, int64_t id)
{
    struct session *session = find(sessions, id);

    if (session != NULL)
        return session;
    session = calloc(1, sizeof(*session));
    if (session == NULL)
        return NULL;
    session->id = id;
    if (tsearch(session, &sessions->tree, by_id) != NULL)
        return session;
    free(session);
    return NULL;
}

bool sessions_add(struct sessions *sessions, struct stay *stay)
{
    struct session *session;

    if (stay->node.session_id == 0)
        return true;
    session = make(sessions, stay->node.session_id);
    if (session == NULL)
        return false;
    stay->next = session->first;
    if (stay->next != NULL)
        stay->next->previous = stay;
    session->first = stay;
    return true;
}

void sessions_remove(struct sessions *sessions, struct stay *stay)
{
    struct session *session;

    if (stay->next != NULL)
        stay->next->previous = stay->previous;
    if (stay->previous != NULL)
        stay->previous->next = stay->next;
    if (stay->node.session_id == 0 || stay->previous != NULL)
        return;
    session = find(sessions, stay->node.session_id);
    session->first = stay->next;
    if (session->first != NULL)
        return;
    (void)tdelete(session, &sessions->tree, by_id);
    free(session);
}

struct stay *sessions_stays(const struct sessions *sessions, int64_t session_id)
{
    const struct session *session = find(sessions, session_id);

    return session == NULL ? NULL : session->first;
}

void sessions_done(struct sessions *sessions)
{
    tdestroy(sessions->tree, free);
    sessions->tree = NULL;
}
