/* SPDX-License-Identifier: Apache-2.0 */
/* The usual stage: a session through a proxy, and a mutex at its own path. */
#include "usual.h"

struct proxy *proxy;
zkr_session *s;
zkr_session *theirs;
zkr_mutex *m;
zkr_mutex *rival;
char path[64];

int usual_setup_with(const struct zkr_session_opts *opts)
{
    s = open_through(&proxy, opts);
    (void)snprintf(path, sizeof(path), "%s", new_path());
    m = new_mutex(s, path);
    return 0;
}

int usual_setup(void)
{
    return usual_setup_with(NULL);
}

int usual_setup_two_with(const struct zkr_session_opts *opts)
{
    (void)usual_setup_with(opts);
    theirs = open_session();
    rival = new_mutex(theirs, path);
    return 0;
}

int usual_setup_two(void)
{
    return usual_setup_two_with(NULL);
}

int usual_teardown(void)
{
    proxy_let_all_pass(proxy);
    zkr_mutex_free(m);
    zkr_mutex_free(rival);
    close_through(s, proxy);
    (void)zkr_session_close(theirs);
    s = theirs = NULL;
    m = rival = NULL;
    return 0;
}
