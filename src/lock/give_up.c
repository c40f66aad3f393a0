/* SPDX-License-Identifier: Apache-2.0 */
/* Giving up: the caller has its answer at once, and the claim leaves in the
 * background. */
#include "lock/claim.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/path.h"
#include "lock/rival.h"

#define SILENCE_MAX 64

void zkr__claim_explain(struct zkr__claim *c, int rc, const char *reason)
{
    char detail[ZKR__DETAIL_MAX];

    assert(c->outcome.detail == NULL);
    zkr__error_format(detail, rc, "%s '%s': %s", c->recipe->noun, c->lock->path,
                      reason);
    c->outcome.detail = strdup(detail);
}

void zkr__claim_fail_locked(struct zkr__claim *c, int rc, const char *reason)
{
    assert(rc != ZKR_OK);
    zkr__claim_explain(c, rc, reason);
    zkr__claim_decide_locked(c, rc);
}

void zkr__claim_give_up_like_locked(struct zkr__claim *c,
                                    const struct zkr__claim *other)
{
    if (c->outcome.decided)
        return;
    if (other->outcome.detail != NULL)
        c->outcome.detail = strdup(other->outcome.detail);
    zkr__claim_decide_locked(c, other->outcome.rc);
    zkr__claim_event_locked(c, ZKR__ON_GIVE_UP, "given up");
}

void zkr__claim_give_up_locked(struct zkr__claim *c, int rc, const char *format,
                               ...)
{
    char reason[ZKR__DETAIL_MAX / 2];
    va_list args;

    if (c->outcome.decided)
        return;
    va_start(args, format);
    (void)vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    zkr__claim_fail_locked(c, rc, reason);
    zkr__claim_event_locked(c, ZKR__ON_GIVE_UP, "given up");
}

/* Says for how long there has been no answer. */
static const char *silence(const struct zkr_session *s, char text[SILENCE_MAX])
{
    int64_t ms = (zkr__clock_boot() - s->answered_at) / ZKR__MS;

    if (s->answered_at == 0)
        return "the servers have not answered yet";
    (void)snprintf(text, SILENCE_MAX, "the last answer came %lld ms ago",
                   (long long)ms);
    return text;
}

static void wait_locked(const struct zkr__claim *w,
                        char text[ZKR__HINDRANCE_MAX]) ZKR__LOCKED
{
    char rival[ZKR__RIVAL_MAX];

    zkr__rival_describe(w->wait.rival, rival);
    (void)snprintf(text, ZKR__HINDRANCE_MAX, ", waiting for '%.80s'%s",
                   zkr__path_name(w->wait.watch->path), rival);
}

/* Returns the claim that has the place of `c` in the queue. */
static const struct zkr__claim *in_queue(const struct zkr__claim *c)
{
    return c->role->queued == NULL ? c : c->role->queued(c);
}

bool zkr__claim_asks_locked(const struct zkr__claim *c)
{
    const struct zkr__claim *w = in_queue(c);

    return zkr__session_connected(c->session) &&
           !zkr__claim_in_state(w, ZKR__CLAIM_HELD) &&
           !zkr__claim_in_state(w, ZKR__CLAIM_WAITING) &&
           (!w->place.behind || zkr__line_ahead_locked(w) == NULL);
}

void zkr__claim_hindrance_locked(const struct zkr__claim *c,
                                 char text[ZKR__HINDRANCE_MAX])
{
    struct zkr_session *s = c->session;
    const struct zkr__claim *w = in_queue(c);
    char silent[SILENCE_MAX];
    char reason[ZKR__WHY_MAX];

    if (!zkr__session_connected(s))
        (void)snprintf(text, ZKR__HINDRANCE_MAX, " without a connection; %s%s",
                       silence(s, silent), zkr__reason_text_locked(s, reason));
    else if (w->sm.state == ZKR__CLAIM_HELD)
        (void)strcpy(text, ", waiting for another thread");
    else if (zkr__claim_in_state(w, ZKR__CLAIM_WAITING) &&
             w->way->hindrance != NULL)
        w->way->hindrance(w, text);
    else if (zkr__claim_in_state(w, ZKR__CLAIM_WAITING) &&
             w->wait.watch != NULL)
        wait_locked(w, text);
    else if (w->place.behind && zkr__line_ahead_locked(w) != NULL)
        (void)snprintf(text, ZKR__HINDRANCE_MAX,
                       ", waiting for '%.80s' of this session",
                       zkr__path_name(zkr__line_ahead_locked(w)->node->path));
    else
        (void)snprintf(text, ZKR__HINDRANCE_MAX, ", waiting for the servers%s",
                       zkr__reason_text_locked(s, reason));
}

void zkr__claim_time_out_locked(struct zkr__claim *c)
{
    char text[ZKR__HINDRANCE_MAX];

    zkr__claim_hindrance_locked(c, text);
    zkr__claim_give_up_locked(
        c, c->intent != ZKR__WAIT ? ZKR_ZOPERATIONTIMEOUT : ZKR_ETIMEDOUT,
        "deadline passed%s", text);
}
