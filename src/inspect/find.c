/* SPDX-License-Identifier: Apache-2.0 */
/* The search for locks: a walk over directories, in rounds of many requests at
 * once. If the user wants lists of the locks, too, a round ends with reading
 * those that it has found: so little time is between a list and its reads. */
#include <zkrecipes/participants.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/opts.h"
#include "base/output.h"
#include "base/path.h"
#include "inspect/found.h"
#include "inspect/reader.h"
#include "protocol/owner.h"
#include "request/request.h"
#include "session/session.h"

#define DEFAULT_DEPTH  32
#define DEFAULT_LIMIT  10000
#define DEFAULT_VISITS 100000
/* The number of nodes that are looked at in one round. */
#define WALKERS 128

/* A node that is to be read. */
struct find_place {
    struct zkr__list link;
    char *path; /* with the chroot */
    uint32_t depth;
    size_t child_of; /* the item that it is in question for; ZKR__NO_ITEM */
};

struct walker {
    struct zkr__ask ask;
    struct find_place *place; /* NULL: idle */
};

struct walk {
    struct zkr__request request;
    struct zkr_locks_opts opts;
    struct zkr_participants_opts lists; /* if opts.participants wants them */

    /* under the session lock in a round, the caller's in between */
    struct zkr__found found;
    struct zkr__list places; /* that wait for a walker */
    size_t place_count;      /* all that ever did */
    size_t walking;
    bool answered;
    struct walker walkers[WALKERS];
    struct zkr__readers readers;
};

static struct walk *of(struct zkr__request *r)
{
    return ZKR__CONTAINER(r, struct walk, request);
}

/* --- places --- */

static void free_place(struct find_place *place)
{
    if (place != NULL)
        free(place->path);
    free(place);
}

/* Takes over the path. Returns false when out of memory. */
static bool add_place(struct walk *w, char *path, uint32_t depth,
                      size_t child_of)
{
    struct find_place *place = malloc(sizeof(*place));

    if (path == NULL || place == NULL) {
        free(path);
        free(place);
        return false;
    }
    *place = (struct find_place){
        .path = path,
        .depth = depth,
        .child_of = child_of,
    };
    zkr__list_append(&w->places, &place->link);
    w->place_count++;
    return true;
}

static struct find_place *take_place(struct walk *w)
{
    return ZKR__CONTAINER(zkr__list_pop(&w->places), struct find_place, link);
}

static bool is_no_place(const struct walk *w, const struct find_place *place,
                        const char *name)
{
    return zkr__found_is_contender(name) ||
           (strcmp(place->path, "/") == 0 && strcmp(name, "zookeeper") == 0 &&
            w->request.session->hosts.chroot[0] == '\0');
}

/* False when out of memory. */
static bool add_child(struct walk *w, const struct find_place *place,
                      const char *name, size_t item)
{
    bool in_question = zkr__found_is_in_question(&w->found, item, name);
    uint32_t *cut = &w->found.answer->cut;
    char *path;

    if (is_no_place(w, place, name) || (*cut & ZKR_LOCKS_CUT_LIMIT) != 0)
        return true;
    if (place->depth >= w->opts.depth && !in_question) {
        *cut |= ZKR_LOCKS_CUT_DEPTH;
        return true;
    }
    if (w->place_count >= w->opts.visits) {
        *cut |= ZKR_LOCKS_CUT_VISITS;
        return true;
    }
    path = zkr__path_join(place->path, name);
    if (path == NULL)
        return false;
    if (!zkr__path_is_child_name(name) || strlen(path) > ZKR_PATH_MAX ||
        zkr__path_fault(path) != NULL) {
        zkr__found_skip(&w->found, path, ZKR_EPATH);
        free(path);
        return true;
    }
    return add_place(w, path, place->depth + 1,
                     in_question ? item : ZKR__NO_ITEM);
}

/* --- the walk --- */

static void clear(struct zkr__request *r)
{
    struct walk *w = of(r);

    while (!zkr__list_empty(&w->places))
        free_place(take_place(w));
    for (size_t i = 0; i < WALKERS; i++)
        free_place(w->walkers[i].place);
    zkr__readers_done(&w->readers);
    zkr__found_done(&w->found);
}

static const struct zkr__request_kind kind = {
    .noun = "find locks",
    .size = sizeof(struct walk),
    .clear = clear,
};

static int out_of_memory(void)
{
    return zkr__fail(ZKR_ENOMEM, "%s: out of memory", kind.noun);
}

static struct walk *new_walk(struct zkr_session *s, const char *root,
                             const struct zkr_locks_opts *opts)
{
    struct walk *w = zkr__request_new(
        &kind, s, root, zkr__session_deadline(s, opts->timeout_ms),
        ZKR_ZOPERATIONTIMEOUT);

    if (w == NULL)
        return NULL;
    zkr__list_init(&w->places);
    for (size_t i = 0; i < WALKERS; i++)
        zkr__ask_init(&w->walkers[i].ask, &w->request);
    zkr__readers_init(&w->readers, &w->request);
    w->opts = *opts;
    if (!zkr__found_init(&w->found, strlen(s->hosts.chroot), opts) ||
        !add_place(w, strdup(w->request.full_path), 1, ZKR__NO_ITEM)) {
        (void)out_of_memory();
        zkr__request_unref(&w->request);
        return NULL;
    }
    return w;
}

/* ZKR_OK or ZKR_ENOMEM. */
static int visit(struct walk *w, const struct find_place *place,
                 const struct zkr__zk_reply *reply)
{
    size_t item;
    int rc;

    if (zkr__owner_is_session(reply->stat.ephemeral_owner)) {
        if (place->child_of != ZKR__NO_ITEM)
            zkr__found_ephemeral(&w->found, place->child_of);
        return ZKR_OK;
    }
    rc = zkr__found_judge(&w->found, place->path, reply, &item);
    for (size_t i = 0; rc == ZKR_OK && i < reply->name_count; i++) {
        if (!add_child(w, place, reply->names[i], item))
            rc = ZKR_ENOMEM;
    }
    return rc;
}

/* Tells whether the answer is about the node: it comes neither from the
 * connection nor from the library. */
static bool is_of_the_node(int rc)
{
    return rc != ZKR_ENOMEM && zkr__error_outcome(rc) == ZKR__DONE;
}

static void on_survey(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct walker *me = ZKR__CONTAINER(ask, struct walker, ask);
    struct zkr__request *r = ask->request;
    struct walk *w = of(r);

    zkr__session_assert_locked(r->session);
    w->walking--;
    if (reply->rc != ZKR_OK && (!w->answered || !is_of_the_node(reply->rc))) {
        zkr__request_end_locked(r, reply->rc, "cannot list the nodes");
        return;
    }
    w->answered = true;
    w->found.answer->visited++;
    if (reply->rc == ZKR_OK && visit(w, me->place, reply) != ZKR_OK)
        zkr__request_end_locked(r, ZKR_ENOMEM, "out of memory");
    else if (reply->rc != ZKR_OK &&
             reply->rc != ZKR_ZNONODE) /* that one has gone meanwhile */
        zkr__found_skip(&w->found, me->place->path, reply->rc);
    free_place(me->place);
    me->place = NULL;
    if (w->walking == 0)
        zkr__request_end_locked(r, ZKR_OK, "");
}

/* Give every walker a place. */
static void walk_locked(struct zkr__request *r)
{
    struct walk *w = of(r);

    zkr__session_assert_locked(r->session);
    for (size_t i = 0; i < WALKERS && !zkr__list_empty(&w->places); i++) {
        w->walkers[i].place = take_place(w);
        w->walking++;
        zkr__ask_locked(&w->walkers[i].ask, ZKR__ZK_SURVEY,
                        w->walkers[i].place->path, ZKR__RETRY_POLICY,
                        on_survey);
    }
}

static void start_locked(struct zkr__request *r)
{
    zkr__session_assert_locked(r->session);
    zkr__request_sync_locked(r, walk_locked);
}

static void read_locked(struct zkr__request *r)
{
    zkr__session_assert_locked(r->session);
    zkr__readers_start_locked(&of(r)->readers);
}

/* Reads the lists of the locks that the last round has found. */
static int read_lists(struct walk *w)
{
    struct zkr__listed *list;
    size_t cursor = 0;

    while ((list = zkr__found_next_list(&w->found, &cursor)) != NULL) {
        if (zkr__listed_arrange(list, &w->lists) != ZKR_OK)
            return out_of_memory();
        zkr__readers_add(&w->readers, list);
    }
    return zkr__list_empty(&w->readers.lists)
               ? ZKR_OK
               : zkr__request_run(&w->request, read_locked);
}

static int run(struct walk *w)
{
    int rc = zkr__request_run(&w->request, start_locked);

    if (rc == ZKR_OK)
        rc = read_lists(w);
    while (rc == ZKR_OK && !zkr__list_empty(&w->places)) {
        rc = zkr__request_run(&w->request, walk_locked);
        if (rc == ZKR_OK)
            rc = read_lists(w);
    }
    if (rc == ZKR_ZOPERATIONTIMEOUT && w->answered) {
        w->found.answer->cut |= ZKR_LOCKS_CUT_TIME;
        rc = ZKR_OK;
    }
    return rc;
}

static void set_default(uint32_t *value, uint32_t otherwise)
{
    if (*value == 0)
        *value = otherwise;
}

static int load_opts(struct zkr_locks_opts *o,
                     const struct zkr_locks_opts *opts)
{
    int rc = zkr__opts_load(o, sizeof(*o), sizeof(*o), opts, "locks options");

    if (rc != ZKR_OK)
        return rc;
    if ((o->flags & ~(uint32_t)(ZKR_LOCKS_EMPTY | ZKR_LOCKS_BARRIERS)) != 0)
        return zkr__fail(ZKR_EINVAL, "%s: unknown flags 0x%x", kind.noun,
                         (unsigned)o->flags);
    set_default(&o->depth, DEFAULT_DEPTH);
    set_default(&o->limit, DEFAULT_LIMIT);
    set_default(&o->visits, DEFAULT_VISITS);
    return ZKR_OK;
}

int zkr_locks_find(zkr_session *session, const char *root,
                   const struct zkr_locks_opts *opts,
                   struct zkr_locks **ret_list)
{
    struct zkr_participants_opts lists;
    struct zkr_locks_opts o;
    struct walk *w;
    int rc = ZKR__OUTPUT(ret_list);

    if (rc == ZKR_OK)
        rc = zkr__session_check(session, "session");
    if (rc == ZKR_OK)
        rc = zkr__session_check_path(session, kind.noun, "root", root,
                                     ZKR_PATH_MAX);
    if (rc == ZKR_OK)
        rc = load_opts(&o, opts);
    if (rc == ZKR_OK)
        rc = zkr__listed_opts(&lists, o.participants);
    if (rc != ZKR_OK)
        return rc;
    w = new_walk(session, root, &o);
    if (w == NULL)
        return ZKR_ENOMEM;
    w->lists = lists;
    rc = run(w);
    if (rc == ZKR_OK && zkr__found_finish(&w->found, ret_list) != ZKR_OK)
        rc = out_of_memory();
    zkr__request_unref(&w->request);
    return rc;
}
