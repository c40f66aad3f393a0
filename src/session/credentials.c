/* SPDX-License-Identifier: Apache-2.0 */
/* The credentials of a session, which may change while it lives. */
#include "zk/credentials.h"

#include "base/error.h"
#include "base/opts.h"
#include "session/session.h"

static int check(const struct zkr_session *s, const struct zkr_session_opts *o)
{
    const struct {
        const char *name;
        const char *given;
        const char *before;
    } members[] = {
        { "auth", o->auth, s->opts.auth },
        { "sasl_user", o->sasl_user, s->opts.sasl_user },
        { "sasl_password", o->sasl_password,
          s->opts.sasl_password_file == NULL ? s->opts.sasl_password : NULL },
    };
    size_t given = 0;

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (members[i].given != NULL && members[i].before == NULL)
            return zkr__fail(ZKR_EINVAL,
                             "credentials: the session was opened without %s",
                             members[i].name);
        given += members[i].given != NULL;
    }
    if (given == 0 || (o->auth == NULL) != (o->auth_scheme == NULL))
        return zkr__fail(ZKR_EINVAL, "credentials: %s",
                         given == 0 ? "none is given"
                                    : "auth and auth_scheme need each other");
    return ZKR_OK;
}

static int renew_locked(struct zkr_session *s,
                        struct zkr_session_opts *o) ZKR__LOCKED
{
    struct zkr__credentials *before = s->credentials;
    int rc = zkr__session_check_open_locked(s);

    if (rc != ZKR_OK)
        return rc;
    if (o->auth == NULL) {
        o->auth_scheme = before->auth_scheme;
        o->auth = before->auth;
    }
    if (o->sasl_user == NULL)
        o->sasl_user = before->user;
    if (o->sasl_password == NULL)
        o->sasl_password = before->password;
    struct zkr__credentials *after = zkr__credentials_new(o);
    if (after == NULL)
        return zkr__no_memory("session to", s->hosts.servers);
    s->credentials = after;
    zkr__credentials_unref(before);
    if (s->zk != NULL)
        zkr__zk_renew(s->zk, after);
    return ZKR_OK;
}

int zkr_session_set_credentials(zkr_session *s,
                                const struct zkr_session_opts *opts)
{
    struct zkr_session_opts o;
    int rc = zkr__session_check(s, "session");

    if (rc == ZKR_OK)
        rc = zkr__opts_load(&o, sizeof(o), sizeof(o), opts, "credentials");
    if (rc == ZKR_OK)
        rc = check(s, &o);
    if (rc != ZKR_OK)
        return rc;
    zkr__session_lock(s);
    rc = renew_locked(s, &o);
    zkr__session_unlock(s);
    return rc;
}
