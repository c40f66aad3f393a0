/* SPDX-License-Identifier: Apache-2.0 */
/* The session: the calls that read its state, and what all that is opened on it
 * asks of it. */
#include "session/session.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/opts.h"
#include "base/path.h"
#include "base/process.h"

void zkr__session_ref(struct zkr_session *s)
{
    zkr__ref_take(&s->ref);
}

void zkr__session_unref(struct zkr_session *s)
{
    zkr__ref_drop(&s->ref);
}

int zkr__session_check(const struct zkr_session *s, const char *what)
{
    if (s == NULL)
        return zkr__fail(ZKR_EINVAL, "%s is NULL", what);
    if (!zkr__process_is(s->process))
        return zkr__fail(ZKR_EFORKED,
                         "%s belongs to process %d, which forked this one",
                         what, (int)s->pid);
    return ZKR_OK;
}

bool zkr__session_connected(const struct zkr_session *s)
{
    return s->sm.state == ZKR_SESSION_CONNECTED ||
           s->sm.state == ZKR_SESSION_RECONNECTED;
}

int zkr__session_check_open_locked(const struct zkr_session *s)
{
    return s->over == 0
               ? ZKR_OK
               : zkr__fail(s->over, "session to %s: the session is over",
                           s->hosts.servers);
}

int zkr__session_check_connected_locked(struct zkr_session *s)
{
    int rc = zkr__session_check_open_locked(s);

    if (rc == ZKR_OK && (!zkr__session_connected(s) || s->handle_dead))
        rc = zkr__reason_explain_locked(
            s, zkr__fail(ZKR_EUNREACHABLE, "session to %s: no connection",
                         s->hosts.servers));
    return rc;
}

bool zkr__session_has_lease(const struct zkr_session *s)
{
    return (s->opts.flags & ZKR_SESSION_NO_LEASE) == 0;
}

int zkr__session_check_path(const struct zkr_session *s, const char *noun,
                            const char *what, const char *path, size_t max)
{
    const char *fault = path == NULL ? NULL : zkr__path_fault(path);

    if (path == NULL)
        return zkr__fail(ZKR_EINVAL, "%s: %s is NULL", noun, what);
    if (fault != NULL)
        return zkr__fail(ZKR_EPATH, "%s '%.300s': the path %s", noun, path,
                         fault);
    if (strlen(s->hosts.chroot) + strlen(path) > max)
        return zkr__fail(ZKR_ETOOLONG,
                         "%s '%.100s...': the path is longer than %zu bytes",
                         noun, path, max);
    return ZKR_OK;
}

const char *zkr__session_root(const struct zkr_session *s)
{
    return s->hosts.chroot[0] == '\0' ? "/" : s->hosts.chroot;
}

char *zkr__session_full_path(const struct zkr_session *s, const char *path)
{
    if (strcmp(path, "/") == 0)
        return strdup(zkr__session_root(s));
    return zkr__path_join(s->hosts.chroot, path + 1);
}

int64_t zkr__session_deadline(const struct zkr_session *s, int64_t timeout_ms)
{
    return zkr__clock_deadline(timeout_ms == 0 ? s->opts.reply_timeout_ms
                                               : timeout_ms);
}

struct facts {
    enum zkr_session_state_kind state;
    int64_t id;
    uint32_t timeout_ms;
    uint64_t epoch;
};

static struct facts facts_of(struct zkr_session *s)
{
    struct facts facts = { .state = ZKR_SESSION_CLOSED };

    if (zkr__session_check(s, "session") != ZKR_OK)
        return facts;
    zkr__session_lock(s);
    facts.state = (enum zkr_session_state_kind)s->sm.state;
    facts.id = s->id;
    facts.timeout_ms = s->timeout_ms;
    facts.epoch = s->epoch;
    zkr__session_unlock(s);
    return facts;
}

enum zkr_session_state_kind zkr_session_state(zkr_session *s)
{
    return facts_of(s).state;
}

int64_t zkr_session_id(zkr_session *s)
{
    return facts_of(s).id;
}

uint32_t zkr_session_timeout_ms(zkr_session *s)
{
    return facts_of(s).timeout_ms;
}

uint64_t zkr_session_epoch(zkr_session *s)
{
    return facts_of(s).epoch;
}

int zkr_session_stats(zkr_session *s, struct zkr_counters *ret_counters)
{
    int rc = zkr__answer_begin(ret_counters, sizeof(*ret_counters), "session");

    if (rc == ZKR_OK)
        rc = zkr__session_check(s, "session");
    if (rc != ZKR_OK)
        return rc;
    zkr__session_lock(s);
    zkr__answer_fill(ret_counters, &s->counters, sizeof(s->counters));
    zkr__session_unlock(s);
    return ZKR_OK;
}
