/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for invoices: each program draws the next one, and none is drawn
 * twice.
 *
 *   ./counter 127.0.0.1:2181 /counters/invoices */
#include <stdio.h>

#include <zkrecipes/zkrecipes.h>

static int fail(const char *what, int rc)
{
    (void)fprintf(stderr, "%s: %s\n  %s\n", what, zkr_strerror(rc),
                  zkr_error_detail());
    return rc;
}

/* When nobody can tell whether a number was drawn, another one is: a gap does
 * no harm here, but a number that is used twice does. */
static int draw(zkr_counter *counter, int64_t *ret_number)
{
    int rc;

    do
        rc = zkr_counter_add(counter, 1, 10000, ret_number);
    while (rc == ZKR_EUNKNOWN);
    return rc;
}

static int run(zkr_counter *counter)
{
    int64_t number;
    int rc = draw(counter, &number);

    if (rc != ZKR_OK)
        return fail("draw a number", rc);
    (void)printf("invoice %lld\n", (long long)number);
    return ZKR_OK;
}

int main(int argc, char **argv)
{
    const char *hosts = argc > 1 ? argv[1] : "127.0.0.1:2181";
    const char *path = argc > 2 ? argv[2] : "/counters/invoices";
    zkr_counter *counter;
    zkr_session *session;
    int rc = zkr_session_open(hosts, NULL, &session);

    if (rc != ZKR_OK)
        return fail("open", rc) != ZKR_OK;
    rc = zkr_counter_new(session, path, NULL, &counter);
    if (rc == ZKR_OK)
        rc = run(counter);
    else
        (void)fail("counter", rc);
    zkr_counter_free(counter);
    (void)zkr_session_close(session);
    return rc == ZKR_OK ? 0 : 1;
}
