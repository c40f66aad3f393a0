/* SPDX-License-Identifier: Apache-2.0 */
/* The counter: a number that is read, and written if nobody has written
 * meanwhile. */
#include <zkrecipes/counter.h>
#include <zkrecipes/mutex.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/opts.h"
#include "base/path.h"
#include "base/random.h"
#include "lock/chain.h"
#include "node.h"
#include "protocol/number.h"
#include "request/client.h"
#include "request/condition.h"

#define PROMOTE_AFTER 10

/* The longest pause after a round in vain: in rounds, and in time. */
#define PAUSE_ROUNDS 32
#define PAUSE_MAX    (1000 * ZKR__MS)

static const char noun[] = "counter";

struct zkr_counter {
    struct zkr__site at;
    zkr_mutex *mutex; /* NULL: none */
    uint32_t promote_after;
    size_t size; /* of the number, in bytes */
};

/* A change: what the caller wants, and what has come of it. */
struct counter_change {
    const zkr_counter *counter;
    struct zkr__time_limit until;
    bool compares;    /* writes `operand` over `expected`; else adds it */
    int64_t expected; /* by a change that compares */
    int64_t operand;
    bool caught_up; /* what is found was there after the call had begun */
    int64_t found;
    int64_t wanted;
};

/* -- the handle ------------------------------------------------------------ */

static int set_up(zkr_counter *c, const struct zkr_counter_opts *opts)
{
    if ((opts->flags & ~(uint32_t)ZKR_COUNTER_INT32) != 0)
        return zkr__fail(ZKR_EINVAL, "%s '%.300s': unknown flags %#x", noun,
                         c->at.path, (unsigned)opts->flags);
    c->promote_after =
        opts->promote_after == 0 ? PROMOTE_AFTER : opts->promote_after;
    c->size = (opts->flags & ZKR_COUNTER_INT32) != 0 ? 4 : 8;
    if (opts->lock_path == NULL)
        return ZKR_OK;
    if (zkr__path_is_within(opts->lock_path, c->at.path))
        return zkr__fail(ZKR_EINVAL,
                         "%s '%.150s': its lock_path '%.150s' is not a path of "
                         "its own",
                         noun, c->at.path, opts->lock_path);
    return zkr_mutex_new(c->at.session, opts->lock_path, NULL, &c->mutex);
}

int zkr_counter_new(zkr_session *session, const char *path,
                    const struct zkr_counter_opts *opts,
                    zkr_counter **ret_counter)
{
    struct zkr_counter_opts o;
    void *made;
    int rc = ZKR__OUTPUT(ret_counter);

    if (rc == ZKR_OK)
        rc = zkr__opts_load(&o, sizeof(o), sizeof(o), opts, noun);
    if (rc == ZKR_OK)
        rc = zkr__site_new(sizeof(**ret_counter), noun, session, path, NULL,
                           &made);
    if (rc != ZKR_OK)
        return rc;
    rc = set_up(made, &o);
    if (rc == ZKR_OK)
        *ret_counter = made;
    else
        zkr__site_free(made);
    return rc;
}

void zkr_counter_free(zkr_counter *c)
{
    if (c == NULL || zkr__site_check(c, noun) != ZKR_OK)
        return;
    zkr_mutex_free(c->mutex);
    zkr__site_free(&c->at);
}

const char *zkr_counter_path(const zkr_counter *c)
{
    return c == NULL ? NULL : c->at.path;
}

/* -- the node -------------------------------------------------------------- */

static int parse(const zkr_counter *c, const struct zkr_reply *reply,
                 int64_t *ret_value)
{
    if (zkr__number_parse(reply->data, reply->len, c->size, ret_value))
        return ZKR_OK;
    return zkr__fail(ZKR_EDAMAGED, "%s '%.300s': %zu bytes instead of %zu",
                     noun, c->at.path, reply->len, c->size);
}

/* The server's version is a number of 32 bits that wraps. A write that expects
 * -1 expects nothing, in the protocol: so a counter ends with the last version
 * above zero, long before one would be lost. */
static int take_version(const zkr_counter *c, int32_t version,
                        int32_t *ret_version)
{
    *ret_version = version;
    if (version >= 0)
        return ZKR_OK;
    return zkr__fail(ZKR_EEXHAUSTED,
                     "%s '%.300s': the versions of its node are used up, it is "
                     "at %d",
                     noun, c->at.path, (int)version);
}

/* `ret_version` may be NULL. */
static int read_node(const zkr_counter *c, int64_t deadline, int64_t *ret_value,
                     int32_t *ret_version)
{
    struct zkr_reply *reply;
    int rc = zkr__session_ask(c->at.session, ZKR__GET(c->at.path), NULL,
                              deadline, &reply);

    if (rc == ZKR_ZNONODE) {
        *ret_value = 0;
        if (ret_version != NULL)
            *ret_version = ZKR_COUNTER_ABSENT;
        return ZKR_OK;
    }
    if (rc != ZKR_OK)
        return rc;
    rc = parse(c, reply, ret_value);
    if (rc == ZKR_OK && ret_version != NULL)
        rc = take_version(c, reply->stat.version, ret_version);
    zkr_reply_free(reply);
    return rc;
}

static int write_node(const zkr_counter *c, int64_t value, int32_t version,
                      int64_t deadline)
{
    char data[ZKR__NUMBER_MAX];

    zkr__number_format(data, value, c->size);
    if (version == ZKR_COUNTER_ABSENT)
        return zkr__node_create(c->at.session, c->at.path, data, c->size, NULL,
                                ZKR_CREATE_CONTAINER, deadline);
    return zkr__session_ask(c->at.session,
                            ZKR__SET(c->at.path, data, c->size, version), NULL,
                            deadline, NULL);
}

/* -- changes --------------------------------------------------------------- */

/* No error: the number is not the expected one. */
#define IS_ANOTHER 1

/* Finds out what to write instead of what was found. */
static int decide(struct counter_change *ch)
{
    const zkr_counter *c = ch->counter;

    if (ch->compares) {
        ch->wanted = ch->operand;
        return ch->found == ch->expected ? ZKR_OK : IS_ANOTHER;
    }
    if (!__builtin_add_overflow(ch->found, ch->operand, &ch->wanted) &&
        zkr__number_fits(ch->wanted, c->size))
        return ZKR_OK;
    return zkr__fail(ZKR_EOVERFLOW, "%s '%.300s': %lld and %lld", noun,
                     c->at.path, (long long)ch->found, (long long)ch->operand);
}

static int go_round(struct counter_change *ch)
{
    int32_t version;
    int rc = read_node(ch->counter, ch->until.deadline, &ch->found, &version);

    if (rc == ZKR_OK)
        rc = decide(ch);
    if (rc == ZKR_OK)
        rc = write_node(ch->counter, ch->wanted, version, ch->until.deadline);
    return rc;
}

/* Tells whether somebody else has written, created or deleted it meanwhile. */
static bool is_in_vain(int rc)
{
    return rc == ZKR_ZBADVERSION || rc == ZKR_ZNODEEXISTS || rc == ZKR_ZNONODE;
}

/* Tells whether an old number would be to blame. */
static bool is_by_the_number(int rc)
{
    return rc == IS_ANOTHER || rc == ZKR_EOVERFLOW || rc == ZKR_EDAMAGED;
}

/* A refusal must not come from a server that lags behind. */
static int go_round_caught_up(struct counter_change *ch)
{
    int rc = go_round(ch);

    if (!is_by_the_number(rc) || ch->caught_up)
        return rc;
    rc = zkr__session_catch_up(ch->counter->at.session, noun,
                               ch->counter->at.path, ch->until.deadline);
    ch->caught_up = true;
    return rc == ZKR_OK ? go_round(ch) : rc;
}

static int give_up(const zkr_counter *c)
{
    return zkr__reason_explain(c->at.session,
                               zkr__fail(ZKR_ETIMEDOUT,
                                         "%s '%.300s': others were faster",
                                         noun, c->at.path));
}

/* Others change the number, too. Each waits for a time of chance, up to two
 * rounds, then four and so on, so that few are at it at a time: of 32 that add
 * without a pause, nine rounds of ten are in vain. */
static void let_others(const struct counter_change *ch, int64_t began,
                       int64_t *pause)
{
    int64_t now = zkr__clock_now();
    int64_t longest;

    if (*pause < PAUSE_ROUNDS)
        *pause *= 2;
    longest =
        now - began > PAUSE_MAX / *pause ? PAUSE_MAX : (now - began) * *pause;
    int64_t until = now + (int64_t)(zkr__random() % (uint64_t)(longest + 1));
    if (until > ch->until.deadline)
        until = ch->until.deadline;
    zkr__session_pause(ch->counter->at.session, until);
}

/* After an unknown outcome there is no other round: it might count twice. */
static int go_rounds(struct counter_change *ch, uint32_t rounds)
{
    int64_t pause = 1;
    int rc;

    for (;;) {
        const int64_t began = zkr__clock_now();

        rc = go_round_caught_up(ch);
        if (!is_in_vain(rc) || --rounds == 0)
            return rc;
        let_others(ch, began, &pause);
        if (zkr__clock_now() >= ch->until.deadline)
            return give_up(ch->counter);
    }
}

/* The others may be without the mutex, so a round may still be in vain. */
static int go_rounds_under_mutex(struct counter_change *ch)
{
    zkr_grant *grant;
    int rc = zkr__chain_acquire(ch->counter->mutex,
                                &(struct zkr_acquire_opts){ .size = 0 }, NULL,
                                &ch->until, &grant);

    if (rc != ZKR_OK)
        return rc;
    rc = go_rounds(ch, UINT32_MAX);
    zkr_grant_free(grant); /* a release would wait */
    return rc;
}

static int make_change(struct counter_change *ch, int64_t timeout_ms)
{
    const zkr_counter *c = ch->counter;

    ch->until = zkr__time_limit(c->at.session, timeout_ms);
    int rc = go_rounds(ch, c->mutex == NULL ? UINT32_MAX : c->promote_after);
    return is_in_vain(rc) ? go_rounds_under_mutex(ch) : rc;
}

/* -- the calls ------------------------------------------------------------- */

int zkr_counter_get(zkr_counter *c, int64_t timeout_ms, int64_t *ret_value,
                    int32_t *ret_version)
{
    int64_t value;
    int32_t version;
    int rc = ZKR__OUTPUT(ret_value);

    ZKR__OUTPUT_IF_ANY(ret_version);
    if (rc == ZKR_OK)
        rc = zkr__site_check(c, noun);
    if (rc == ZKR_OK)
        rc = read_node(c, zkr__session_deadline(c->at.session, timeout_ms),
                       &value, ret_version == NULL ? NULL : &version);
    if (rc != ZKR_OK)
        return rc;
    *ret_value = value;
    if (ret_version != NULL)
        *ret_version = version;
    return ZKR_OK;
}

int zkr_counter_add(zkr_counter *c, int64_t delta, int64_t timeout_ms,
                    int64_t *ret_after)
{
    struct counter_change add = { .counter = c, .operand = delta };
    int rc = zkr__site_check(c, noun);

    ZKR__OUTPUT_IF_ANY(ret_after);
    if (rc == ZKR_OK)
        rc = make_change(&add, timeout_ms);
    if (rc == ZKR_OK && ret_after != NULL)
        *ret_after = add.wanted;
    return rc;
}

static int check_value(const zkr_counter *c, int64_t value)
{
    int rc = zkr__site_check(c, noun);

    if (rc == ZKR_OK && !zkr__number_fits(value, c->size))
        rc = zkr__fail(ZKR_EOVERFLOW, "%s '%.300s': %lld in %zu bytes", noun,
                       c->at.path, (long long)value, c->size);
    return rc;
}

int zkr_counter_compare_and_set(zkr_counter *c, int64_t expected,
                                int64_t wanted, int64_t timeout_ms,
                                int64_t *ret_found)
{
    struct counter_change set = {
        .counter = c, .compares = true, .expected = expected, .operand = wanted
    };
    int rc = ZKR__OUTPUT(ret_found);

    if (rc == ZKR_OK)
        rc = check_value(c, wanted);
    if (rc == ZKR_OK)
        rc = make_change(&set, timeout_ms);
    if (rc != ZKR_OK && rc != IS_ANOTHER)
        return rc;
    *ret_found = set.found;
    return ZKR_OK;
}

int zkr_counter_set(zkr_counter *c, int64_t value, int32_t version,
                    int64_t timeout_ms)
{
    int rc = check_value(c, value);

    if (rc == ZKR_OK && version < ZKR_COUNTER_ABSENT)
        rc = zkr__fail(ZKR_EINVAL, "%s '%.300s': version is %d", noun,
                       c->at.path, (int)version);
    if (rc != ZKR_OK)
        return rc;
    int64_t deadline = zkr__session_deadline(c->at.session, timeout_ms);
    rc = write_node(c, value, version, deadline);
    while (version == ZKR_ANY_VERSION && is_in_vain(rc) &&
           zkr__clock_now() < deadline)
        rc = write_node(
            c, value, rc == ZKR_ZNONODE ? ZKR_COUNTER_ABSENT : ZKR_ANY_VERSION,
            deadline);
    return version == ZKR_ANY_VERSION && is_in_vain(rc) ? give_up(c) : rc;
}
