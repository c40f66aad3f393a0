/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials that a session and its handles share. */
#include "zk/credentials.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <zkrecipes/session.h>

#include "base/list.h"

void zkr__credentials_wipe(char *secret)
{
    if (secret != NULL)
        explicit_bzero(secret, strlen(secret));
    free(secret);
}

static void free_credentials(struct zkr__ref *ref)
{
    struct zkr__credentials *c =
        ZKR__CONTAINER(ref, struct zkr__credentials, ref);

    zkr__credentials_wipe(c->auth_scheme);
    zkr__credentials_wipe(c->auth);
    zkr__credentials_wipe(c->user);
    zkr__credentials_wipe(c->password);
    free(c);
}

static bool copy(char **to, const char *from)
{
    if (from != NULL)
        *to = strdup(from);
    return from == NULL || *to != NULL;
}

struct zkr__credentials *
zkr__credentials_new(const struct zkr_session_opts *opts)
{
    struct zkr__credentials *c = calloc(1, sizeof(*c));

    if (c == NULL)
        return NULL;
    zkr__ref_init(&c->ref, free_credentials);
    if (copy(&c->auth_scheme, opts->auth_scheme) &&
        copy(&c->auth, opts->auth) && copy(&c->user, opts->sasl_user) &&
        copy(&c->password, opts->sasl_password))
        return c;
    zkr__credentials_unref(c);
    return NULL;
}

struct zkr__credentials *zkr__credentials_ref(struct zkr__credentials *c)
{
    if (c != NULL)
        zkr__ref_take(&c->ref);
    return c;
}

void zkr__credentials_unref(struct zkr__credentials *c)
{
    if (c != NULL)
        zkr__ref_drop(&c->ref);
}
