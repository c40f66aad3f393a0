/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts: while there is no session, each server gets its share of the time,
 * also where one accepts connections and says nothing.
 *
 * The client stays with such a server for two thirds of the session timeout,
 * which may be longer than an open may take. So the handle is closed earlier,
 * and the next one begins with another server. */
#include "session/attempt.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "session/session.h"
#include "zk/rotation.h"

/* A share is not shorter, for slow links and busy servers; after each round of
 * all servers it is twice as long. */
#define SHARE_MIN_MS 1000
#define DOUBLED_MAX  8
/* A handle without a connection is closed in an instant, or, in a handshake of
 * TLS, left behind. */
#define CLOSE_MS 250

/* The first share is for the servers as the client has shuffled them. */
static int64_t share_ms(const struct zkr_session *s)
{
    const struct zkr__attempt *a = &s->attempt;
    int64_t names = (int64_t)zkr__servers_count(s->hosts.plain);
    int64_t ms = s->opts.connect_timeout_ms / (names + 1);
    unsigned rounds;

    if (a->number > 0) {
        rounds = (a->number - 1) / a->count;
        ms = ms * names / a->count
             << (rounds < DOUBLED_MAX ? rounds : DOUBLED_MAX);
    }
    return ms > SHARE_MIN_MS ? ms : SHARE_MIN_MS;
}

/* Without TLS the client moves on by itself then. */
static bool is_for_client(const struct zkr_session *s, int64_t ms)
{
    return s->opts.tls_ca == NULL &&
           ms * 3 >= (int64_t)s->opts.session_timeout_ms * 2;
}

void zkr__attempt_begin_locked(struct zkr_session *s)
{
    struct zkr__attempt *a = &s->attempt;

    if (a->epoch != s->epoch) {
        free(zkr__attempt_take_locked(s));
        *a = (struct zkr__attempt){ .epoch = s->epoch,
                                    .first = (unsigned)zkr__random() };
    }
    int64_t ms = share_ms(s);
    a->until =
        is_for_client(s, ms) ? ZKR__NEVER : zkr__clock_now() + ms * ZKR__MS;
}

static bool is_waiting(const struct zkr_session *s)
{
    return s->zk != NULL && s->id == 0 && s->over == 0 && !s->handle_dead;
}

int64_t zkr__attempt_due(const struct zkr_session *s)
{
    return is_waiting(s) ? s->attempt.until : ZKR__NEVER;
}

/* Nothing was submitted to it. */
static void close_unlocks(struct zkr_session *s) ZKR__UNLOCKS
{
    struct zkr__zk *zk = s->zk;

    zkr__log(ZKR_LOG_INFO,
             "session to %s: no answer; the next attempt begins with %.*s",
             s->hosts.servers, (int)strcspn(s->attempt.servers, ","),
             s->attempt.servers);
    s->zk = NULL;
    s->open_at = 0;
    zkr__session_unlock(s);
    (void)zkr__zk_close(zk, zkr__clock_deadline(CLOSE_MS));
    zkr__session_lock(s);
}

void zkr__attempt_next_unlocks(struct zkr_session *s, const char *servers)
{
    struct zkr__attempt *a = &s->attempt;
    unsigned number = a->first + a->number;
    size_t count = 0;

    a->until = ZKR__NEVER;
    zkr__session_unlock(s);
    char *rotated = zkr__servers_rotated(servers, number, &count);
    zkr__session_lock(s);
    bool changed = strcmp(servers, s->hosts.plain) != 0;
    if (changed)
        a->until = zkr__clock_now();
    if (changed || rotated == NULL || count == 1 || !is_waiting(s)) {
        free(rotated);
        return;
    }
    a->number++;
    a->count = (unsigned)count;
    a->servers = rotated;
    close_unlocks(s);
}

char *zkr__attempt_take_locked(struct zkr_session *s)
{
    char *servers = s->attempt.servers;

    s->attempt.servers = NULL;
    return servers;
}
