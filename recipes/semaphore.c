/* SPDX-License-Identifier: Apache-2.0 */
/* The semaphore: at most so many permits at once.
 *
 * An acquire takes the mutex <path>/locks: its turn. Then it makes a node in
 * <path>/leases for each permit, and gives its turn back when all of them
 * count. So only one contender at a time waits for nodes of others to go, and
 * the mutex keeps the order.
 *
 * A node counts when fewer than `limit` nodes are ahead of it in its
 * directory, in a list that is younger than it. Numbers only grow, so no node
 * can appear ahead of one that counts, and at most `limit` count at any moment.
 * Curator counts all nodes, those behind its own, too: it is granted later than
 * by this rule, or at the same time. */
#include <zkrecipes/semaphore.h>

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/opts.h"
#include "base/path.h"
#include "lock/line.h"
#include "lock/lockable.h"
#include "node.h"
#include "protocol/number.h"
#include "protocol/parts.h"

#define NOUN "semaphore"

#define FLAGS (ZKR_FAIL_ON_SESSION_LOSS | ZKR_PERSISTENT_PARENTS)

#define LIMIT_SIZE 4 /* bytes, in a node */

/* -- a permit ------------------------------------------------------------- */

static const struct zkr__recipe permit = {
    .noun = NOUN,
    .way = &zkr__among_a_few,
    .marker = { ZKR__CURATOR_LEASE, ZKR__CURATOR_LEASE },
    .markers = ZKR__MARKER_BIT(ZKR__CURATOR_LEASE),
    .flags = FLAGS,
    .waits_for = zkr__nearest_exclusive, /* there is none */
};

/* -- its limit ------------------------------------------------------------ */

struct semaphore {
    zkr_lockable face; /* its lock is where the turns are taken */
    struct zkr__lock *leases;
    zkr_watch *watch; /* on the node that has the limit, or NULL */
};

static struct semaphore *of(const zkr_lockable *l)
{
    return ZKR__CONTAINER(l, struct semaphore, face);
}

static void set_limit(struct zkr__lock *leases, uint32_t limit)
{
    zkr__session_lock(leases->session);
    leases->limit = limit;
    zkr__line_wake_locked(leases->line);
    zkr__session_unlock(leases->session);
}

/* Curator's SharedCount. There is no negative number of permits. */
static bool read_limit(const struct zkr_reply *reply, uint32_t *ret_limit)
{
    int64_t number;

    if (reply->len == 0 ||
        !zkr__number_parse(reply->data, reply->len, LIMIT_SIZE, &number))
        return false;
    *ret_limit = number < 0 ? 0 : (uint32_t)number;
    return true;
}

static void on_limit(int error, const struct zkr_reply *reply,
                     enum zkr_watch_why why, void *user)
{
    struct semaphore *semaphore = user;
    uint32_t limit;

    (void)why;
    if (error == ZKR_OK && read_limit(reply, &limit))
        set_limit(semaphore->leases, limit);
}

/* The number that is there counts, also when another program has created it. */
static int create_limit(zkr_session *s, const char *path, uint32_t limit,
                        int64_t deadline)
{
    char data[ZKR__NUMBER_MAX];

    zkr__number_format(data, limit, LIMIT_SIZE);
    int rc = zkr__node_create(s, path, data, LIMIT_SIZE, NULL,
                              ZKR_CREATE_CONTAINER, deadline);
    return rc == ZKR_ZNODEEXISTS || rc == ZKR_EUNKNOWN ? ZKR_OK : rc;
}

static int fetch_limit(struct semaphore *semaphore, const char *path,
                       uint32_t limit)
{
    zkr_session *s = semaphore->leases->session;
    int64_t deadline = zkr__session_deadline(s, 0);
    struct zkr_reply *reply = NULL;
    int rc = zkr_session_get(s, path, 0, &reply);

    if (rc == ZKR_ZNONODE) {
        rc = create_limit(s, path, limit, deadline);
        if (rc == ZKR_OK)
            rc = zkr_session_get(s, path, zkr__clock_left_ms(deadline), &reply);
    }
    if (rc == ZKR_OK && !read_limit(reply, &limit))
        rc = zkr__fail(ZKR_EDAMAGED,
                       NOUN " '%s': '%s' has %zu bytes instead of %d",
                       semaphore->leases->path, path, reply->len, LIMIT_SIZE);
    zkr_reply_free(reply);
    if (rc == ZKR_OK)
        semaphore->leases->limit = limit;
    return rc;
}

static int follow_limit(struct semaphore *semaphore, const char *path,
                        uint32_t limit)
{
    int rc = fetch_limit(semaphore, path, limit);

    if (rc == ZKR_OK)
        rc = zkr_session_watch(semaphore->leases->session, path, ZKR_WATCH_DATA,
                               NULL, on_limit, semaphore, &semaphore->watch);
    return rc;
}

/* -- the semaphore -------------------------------------------------------- */

static const struct zkr__recipe gate = {
    .noun = NOUN,
    .way = &zkr__in_a_queue,
    .marker = { ZKR__CURATOR_LOCK, ZKR__CURATOR_LOCK },
    .markers = ZKR__MARKER_BIT(ZKR__CURATOR_LOCK),
    .flags = FLAGS,
    .waits_for = zkr__nearest_any,
};

static int make_locks(struct semaphore *semaphore, zkr_session *session,
                      const char *path, const struct zkr_lockable_opts *opts)
{
    int rc = zkr__lock_new(session, NOUN, path, zkr__part_dirs[ZKR__PART_QUEUE],
                           opts, &gate, &semaphore->face.lock);

    if (rc == ZKR_OK)
        rc =
            zkr__lock_new(session, NOUN, path, zkr__part_dirs[ZKR__PART_LEASES],
                          opts, &permit, &semaphore->leases);
    return rc;
}

static void drop(struct semaphore *semaphore)
{
    zkr_watch_free(semaphore->watch);
    zkr__lock_free(semaphore->leases);
    zkr__lock_free(semaphore->face.lock);
    free(semaphore);
}

static void free_semaphore(zkr_lockable *l)
{
    drop(of(l));
}

static uint32_t limit_of(const struct semaphore *semaphore)
{
    uint32_t limit;

    zkr__session_lock(semaphore->face.session);
    limit = semaphore->leases->limit;
    zkr__session_unlock(semaphore->face.session);
    return limit;
}

static uint32_t permits_of(const struct zkr_acquire_opts *how)
{
    return how->permits == 0 ? 1 : how->permits;
}

/* A limit that can change is waited for. */
static int check(zkr_lockable *l, const struct zkr_acquire_opts *how)
{
    const struct semaphore *semaphore = of(l);
    uint32_t most =
        semaphore->watch == NULL ? limit_of(semaphore) : ZKR_SEMAPHORE_MAX;

    if (permits_of(how) > most)
        return zkr__fail(ZKR_EINVAL, NOUN " '%s': %u permits; at most %u",
                         l->lock->path, permits_of(how), most);
    return ZKR_OK;
}

/* Not more than an acquire can have: they are as many outputs. */
static size_t grants(const zkr_lockable *l, const struct zkr_acquire_opts *how)
{
    (void)l;
    return permits_of(how) <= ZKR_SEMAPHORE_MAX ? permits_of(how) : 1;
}

static size_t links(const zkr_lockable *l, const struct zkr_acquire_opts *how,
                    struct zkr__link *links)
{
    uint32_t permits = permits_of(how);

    if (links != NULL)
        links[0] = (struct zkr__link){ l->lock, &gate, permits };
    for (uint32_t i = 1; links != NULL && i <= permits; i++)
        links[i] = (struct zkr__link){ of(l)->leases, &permit, 0 };
    return (size_t)permits + 1;
}

static const struct zkr__several several = {
    .check = check,
    .grants = grants,
    .links = links,
    .free = free_semaphore,
};

static const struct zkr__lockable_type type = { .noun = NOUN,
                                                .several = &several };

/* A limit that is fixed must be the same in all programs. */
static void set_up(struct semaphore *semaphore, uint32_t limit, bool is_fixed)
{
    struct zkr__lock *leases = semaphore->leases;

    leases->limit = limit;
    if (is_fixed)
        leases->owner.limit = semaphore->face.lock->owner.limit = limit;
    zkr__lockable_init(&semaphore->face, &type, leases->session,
                       leases->fail_on_session_loss);
}

static int check_limit(const char *path, uint32_t limit,
                       const struct zkr_lockable_opts *opts)
{
    if (limit == 0 || limit > ZKR_SEMAPHORE_MAX)
        return zkr__fail(ZKR_EINVAL,
                         NOUN ": a limit of %u; at least 1, at most %d", limit,
                         ZKR_SEMAPHORE_MAX);
    if (path != NULL && opts->limit_path != NULL &&
        zkr__path_is_within(opts->limit_path, path))
        return zkr__fail(ZKR_EINVAL,
                         NOUN " '%.150s': its limit_path '%.150s' is not a "
                              "path of its own",
                         path, opts->limit_path);
    return ZKR_OK;
}

int zkr_semaphore_new(zkr_session *session, const char *path, uint32_t limit,
                      const struct zkr_lockable_opts *opts,
                      zkr_semaphore **ret_semaphore)
{
    struct zkr_lockable_opts o;
    const char *limit_path;
    int rc = ZKR__OUTPUT(ret_semaphore);

    if (rc == ZKR_OK)
        rc = zkr__opts_load(&o, sizeof(o), sizeof(o), opts, NOUN);
    if (rc == ZKR_OK)
        rc = check_limit(path, limit, &o);
    if (rc != ZKR_OK)
        return rc;
    struct semaphore *semaphore = calloc(1, sizeof(*semaphore));
    if (semaphore == NULL)
        return zkr__no_memory(NOUN, NULL);
    o.size = sizeof(o);
    limit_path = o.limit_path;
    o.limit_path = NULL; /* its locks have none */
    rc = make_locks(semaphore, session, path, &o);
    if (rc == ZKR_OK) {
        set_up(semaphore, limit, limit_path == NULL);
        if (limit_path != NULL)
            rc = follow_limit(semaphore, limit_path, limit);
    }
    if (rc == ZKR_OK)
        *ret_semaphore = &semaphore->face;
    else
        drop(semaphore);
    return rc;
}

uint32_t zkr_semaphore_limit(zkr_semaphore *semaphore)
{
    return zkr__lockable_check(semaphore, &type) == ZKR_OK
               ? limit_of(of(semaphore))
               : 0;
}
