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
#include <zkrecipes/client.h>

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/opts.h"
#include "base/output.h"
#include "base/path.h"
#include "links.h"
#include "lock/chain.h"
#include "lock/line.h"
#include "lock/lock.h"
#include "node.h"
#include "protocol/number.h"
#include "protocol/parts.h"

#define NOUN "semaphore"

#define LIMIT_SIZE 4 /* bytes, in a node */

/* -- a permit ------------------------------------------------------------- */

static const struct zkr__recipe permit = {
    .noun = NOUN,
    .way = &zkr__among_a_few,
    .marker = { ZKR__CURATOR_LEASE, ZKR__CURATOR_LEASE },
    .markers = ZKR__MARKER_BIT(ZKR__CURATOR_LEASE),
    .waits_for = zkr__nearest_exclusive, /* there is none */
};

/* -- its limit ------------------------------------------------------------ */

struct zkr_semaphore {
    struct zkr__lock *locks;
    struct zkr__lock *leases;
    struct zkr__chains chains;
    zkr_watch *watch; /* on the node that has the limit, or NULL */
};

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
    zkr_semaphore *semaphore = user;
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
    int rc;

    zkr__number_format(data, limit, LIMIT_SIZE);
    rc = zkr__node_create(s, path, data, LIMIT_SIZE, NULL, deadline);
    return rc == ZKR_ZNODEEXISTS || rc == ZKR_EUNKNOWN ? ZKR_OK : rc;
}

static int fetch_limit(zkr_semaphore *semaphore, const char *path,
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

static int follow_limit(zkr_semaphore *semaphore, const char *path,
                        uint32_t limit)
{
    int rc = fetch_limit(semaphore, path, limit);

    if (rc == ZKR_OK)
        rc = zkr_session_watch(semaphore->leases->session, path, ZKR_WATCH_DATA,
                               on_limit, semaphore, &semaphore->watch);
    return rc;
}

/* -- the semaphore -------------------------------------------------------- */

static const struct zkr__recipe gate = {
    .noun = NOUN,
    .way = &zkr__in_a_queue,
    .marker = { ZKR__CURATOR_LOCK, ZKR__CURATOR_LOCK },
    .markers = ZKR__MARKER_BIT(ZKR__CURATOR_LOCK),
    .waits_for = zkr__nearest_any,
};

static int make_locks(zkr_semaphore *semaphore, zkr_session *session,
                      const char *path, const struct zkr_semaphore_opts *opts)
{
    struct zkr__lock_opts o = {
        .size = sizeof(o),
        .label = opts->label,
        .flags = (uint32_t)opts->flags,
        .reserved = opts->reserved,
    };
    const uint32_t flags =
        ZKR__LOCK_FAIL_ON_SESSION_LOSS | ZKR__LOCK_PERSISTENT_PARENTS;
    int rc = zkr__lock_new_below(session, NOUN, path,
                                 zkr__part_dirs[ZKR__PART_QUEUE], &o, flags,
                                 gate.markers, &semaphore->locks);

    if (rc == ZKR_OK)
        rc = zkr__lock_new_below(session, NOUN, path,
                                 zkr__part_dirs[ZKR__PART_LEASES], &o, flags,
                                 permit.markers, &semaphore->leases);
    return rc;
}

static void drop(zkr_semaphore *semaphore)
{
    zkr_watch_free(semaphore->watch);
    if (semaphore->leases != NULL)
        zkr__lock_free(semaphore->leases);
    if (semaphore->locks != NULL)
        zkr__lock_free(semaphore->locks);
    free(semaphore);
}

/* A limit that is fixed must be the same in all programs. */
static void set_up(zkr_semaphore *semaphore, uint32_t limit, bool is_fixed)
{
    struct zkr__lock *leases = semaphore->leases;

    leases->limit = limit;
    if (is_fixed)
        leases->limit_told = semaphore->locks->limit_told = limit;
    zkr__chains_init(&semaphore->chains, leases->session, NOUN,
                     leases->fail_on_session_loss);
}

enum zkr_error zkr_semaphore_new(zkr_session *session, const char *path,
                                 uint32_t limit,
                                 const struct zkr_semaphore_opts *opts,
                                 zkr_semaphore **ret_semaphore)
{
    struct zkr_semaphore_opts o;
    zkr_semaphore *semaphore;
    int rc = ZKR__OUTPUT(ret_semaphore);

    if (rc == ZKR_OK)
        rc = zkr__opts_load(&o, sizeof(o), sizeof(o), opts, NOUN);
    if (rc == ZKR_OK && (limit == 0 || limit > ZKR_SEMAPHORE_MAX))
        rc = zkr__fail(ZKR_EINVAL,
                       NOUN ": a limit of %u; at least 1, at most %d", limit,
                       ZKR_SEMAPHORE_MAX);
    if (rc == ZKR_OK && path != NULL && o.limit_path != NULL &&
        zkr__path_is_within(o.limit_path, path))
        rc = zkr__fail(ZKR_EINVAL,
                       NOUN " '%.150s': its limit_path '%.150s' is not a path "
                            "of its own",
                       path, o.limit_path);
    if (rc != ZKR_OK)
        return rc;
    semaphore = calloc(1, sizeof(*semaphore));
    if (semaphore == NULL)
        return zkr__fail(ZKR_ENOMEM, NOUN ": out of memory");
    rc = make_locks(semaphore, session, path, &o);
    if (rc == ZKR_OK) {
        set_up(semaphore, limit, o.limit_path == NULL);
        if (o.limit_path != NULL)
            rc = follow_limit(semaphore, o.limit_path, limit);
    }
    if (rc == ZKR_OK)
        *ret_semaphore = semaphore;
    else
        drop(semaphore);
    return rc;
}

void zkr_semaphore_free(zkr_semaphore *semaphore)
{
    if (semaphore == NULL || zkr__lock_check(semaphore->leases, NOUN) != ZKR_OK)
        return;
    zkr__chains_cancel(&semaphore->chains);
    drop(semaphore);
}

struct zkr__link zkr__semaphore_turn(const zkr_semaphore *semaphore,
                                     uint32_t permits)
{
    return (struct zkr__link){ semaphore == NULL ? NULL : semaphore->locks,
                               &gate, permits };
}

void zkr__semaphore_links(const zkr_semaphore *semaphore, uint32_t permits,
                          struct zkr__link *links)
{
    links[0] = zkr__semaphore_turn(semaphore, permits);
    for (uint32_t i = 1; i <= permits; i++)
        links[i] = (struct zkr__link){ semaphore->leases, &permit, 0 };
}

/* A limit that can change is waited for. */
int zkr__semaphore_check(zkr_semaphore *semaphore, uint32_t permits)
{
    uint32_t most = ZKR_SEMAPHORE_MAX;
    int rc =
        zkr__lock_check(semaphore == NULL ? NULL : semaphore->leases, NOUN);

    if (rc != ZKR_OK)
        return rc;
    if (semaphore->watch == NULL)
        most = zkr_semaphore_limit(semaphore);
    if (permits == 0 || permits > most)
        return zkr__fail(ZKR_EINVAL,
                         NOUN " '%s': %u permits; at least 1, at most %u",
                         semaphore->leases->path, permits, most);
    return ZKR_OK;
}

/* The links of an acquire, or NULL. */
static struct zkr__link *new_links(const zkr_semaphore *semaphore,
                                   uint32_t permits)
{
    struct zkr__link *links = calloc((size_t)permits + 1, sizeof(*links));

    if (links == NULL)
        (void)zkr__fail(ZKR_ENOMEM, NOUN " '%s': out of memory",
                        semaphore->leases->path);
    else
        zkr__semaphore_links(semaphore, permits, links);
    return links;
}

enum zkr_error zkr_semaphore_acquire_many(zkr_semaphore *semaphore,
                                          uint32_t permits, int64_t timeout_ms,
                                          zkr_grant **ret_grants)
{
    struct zkr__link *links;
    int rc = ZKR__OUTPUT(ret_grants);

    if (rc == ZKR_OK && permits <= ZKR_SEMAPHORE_MAX)
        memset(ret_grants, 0, permits * sizeof(*ret_grants));
    if (rc == ZKR_OK)
        rc = zkr__semaphore_check(semaphore, permits);
    if (rc != ZKR_OK)
        return rc;
    links = new_links(semaphore, permits);
    if (links == NULL)
        return ZKR_ENOMEM;
    rc = zkr__chain_acquire(&semaphore->chains, links, (size_t)permits + 1,
                            timeout_ms, ret_grants);
    free(links);
    return rc;
}

enum zkr_error zkr_semaphore_acquire(zkr_semaphore *semaphore,
                                     int64_t timeout_ms, zkr_grant **ret_grant)
{
    return zkr_semaphore_acquire_many(semaphore, 1, timeout_ms, ret_grant);
}

static int acquire_async(zkr_semaphore *semaphore, uint32_t permits,
                         int64_t timeout_ms, struct zkr__told told,
                         zkr_request **ret_request)
{
    struct zkr__link *links;
    int rc = zkr__semaphore_check(semaphore, permits);

    ZKR__OUTPUT_IF_ANY(ret_request);
    if (rc == ZKR_OK && told.one == NULL && told.all == NULL)
        rc = zkr__fail(ZKR_EINVAL, NOUN " '%s': the callback is NULL",
                       semaphore->leases->path);
    if (rc != ZKR_OK)
        return rc;
    links = new_links(semaphore, permits);
    if (links == NULL)
        return ZKR_ENOMEM;
    rc =
        zkr__chain_acquire_async(&semaphore->chains, links, (size_t)permits + 1,
                                 timeout_ms, &told, ret_request);
    free(links);
    return rc;
}

enum zkr_error zkr_semaphore_acquire_async(zkr_semaphore *semaphore,
                                           int64_t timeout_ms,
                                           zkr_acquire_fn fn, void *user,
                                           zkr_request **ret_request)
{
    struct zkr__told told = { .one = fn, .user = user };

    return acquire_async(semaphore, 1, timeout_ms, told, ret_request);
}

enum zkr_error
zkr_semaphore_acquire_many_async(zkr_semaphore *semaphore, uint32_t permits,
                                 int64_t timeout_ms, zkr_acquire_all_fn fn,
                                 void *user, zkr_request **ret_request)
{
    struct zkr__told told = { .all = fn, .user = user };

    return acquire_async(semaphore, permits, timeout_ms, told, ret_request);
}

enum zkr_error zkr_semaphore_cancel(zkr_semaphore *semaphore)
{
    int rc =
        zkr__lock_check(semaphore == NULL ? NULL : semaphore->leases, NOUN);

    if (rc == ZKR_OK)
        zkr__chains_cancel(&semaphore->chains);
    return rc;
}

uint32_t zkr_semaphore_limit(zkr_semaphore *semaphore)
{
    uint32_t limit;

    if (zkr__lock_check(semaphore == NULL ? NULL : semaphore->leases, NOUN) !=
        ZKR_OK)
        return 0;
    zkr__session_lock(semaphore->leases->session);
    limit = semaphore->leases->limit;
    zkr__session_unlock(semaphore->leases->session);
    return limit;
}

static void add(uint64_t *sum, const uint64_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum[i] += from[i];
}

enum zkr_error zkr_semaphore_stats(zkr_semaphore *semaphore,
                                   struct zkr_counters *ret_counters)
{
    struct zkr__lock *leases = semaphore == NULL ? NULL : semaphore->leases;
    struct zkr_counters sum = { .size = sizeof(sum) };
    struct zkr_counters turns = ZKR_COUNTERS_INIT;
    int rc = zkr__answer_begin(ret_counters, sizeof(*ret_counters), NOUN);

    if (rc == ZKR_OK)
        rc = zkr__lock_stats(leases, NOUN, &sum);
    if (rc == ZKR_OK)
        rc = zkr__lock_stats(semaphore->locks, NOUN, &turns);
    if (rc != ZKR_OK)
        return rc;
    add(&sum.acquires, &turns.acquires,
        (sizeof(sum) - offsetof(struct zkr_counters, acquires)) /
            sizeof(uint64_t));
    zkr__answer_fill(ret_counters, &sum, sizeof(sum));
    return ZKR_OK;
}

const char *zkr_semaphore_path(const zkr_semaphore *semaphore)
{
    return semaphore == NULL ? NULL : semaphore->leases->path;
}
