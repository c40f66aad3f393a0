/* SPDX-License-Identifier: Apache-2.0 */
/* MariaDB: a row with a version; UPDATE ... WHERE version = ? takes the lock
 * until a time, on the clock of the server.
 *
 * Source: optimistic locking as object mappers have it (JPA, @Version), with
 * an end as ShedLock's JdbcTemplateLockProvider has it (lock_until,
 * usingDbTime). The version grows with each acquire: it can fence. A holder
 * believes until the end, on its own clock, counted from before the request.
 */
#include "mariadb.h"

#include <inttypes.h>
#include <stdlib.h>

struct client {
    struct sql db;
    const char *name;
    int64_t ttl_ms;
    int64_t version;
    int64_t valid_until_ms;
};

static enum rival_result version_open(const struct rival_opts *opts,
                                      void **ret_client)
{
    struct client *c = calloc(1, sizeof(*c));

    if (c == NULL)
        abort();
    c->name = opts->name;
    c->ttl_ms = opts->ttl_ms;
    *ret_client = c;
    if (!sql_init(&c->db, opts, NULL) ||
        sql_run(&c->db, NULL,
                "INSERT IGNORE INTO lock_versions (name, version, until) "
                "VALUES ('%s', 0, '2000-01-01')",
                c->name) != 0)
        return RIVAL_ERROR;
    return RIVAL_OK;
}

static bool attempt(struct client *c)
{
    int64_t row[2]; /* version, is it free? */
    int64_t changed = 0;
    int64_t start = now_ms();

    if (!sql_ask(&c->db, row, 2,
                 "SELECT version, until <= NOW(3) FROM lock_versions "
                 "WHERE name = '%s'",
                 c->name) ||
        row[1] != 1)
        return false;
    if (sql_run(&c->db, &changed,
                "UPDATE lock_versions SET version = version + 1, "
                "until = NOW(3) + INTERVAL %" PRId64 " MICROSECOND "
                "WHERE name = '%s' AND version = %" PRId64,
                c->ttl_ms * 1000, c->name, row[0]) != 0 ||
        changed != 1)
        return false;
    c->version = row[0] + 1;
    c->valid_until_ms = start + c->ttl_ms;
    return true;
}

static enum rival_result version_acquire(void *client, int64_t timeout_ms)
{
    int64_t deadline = deadline_after(timeout_ms);

    do {
        if (attempt(client))
            return RIVAL_OK;
    } while (pause_until(POLL_MS, deadline));
    return RIVAL_TIMEOUT;
}

static bool version_holds(void *client)
{
    struct client *c = client;

    return now_ms() < c->valid_until_ms;
}

static int64_t version_token(void *client)
{
    struct client *c = client;

    return c->version;
}

static enum rival_result version_release(void *client)
{
    struct client *c = client;
    int64_t changed;

    if (sql_run(&c->db, &changed,
                "UPDATE lock_versions SET until = '2000-01-01' "
                "WHERE name = '%s' AND version = %" PRId64,
                c->name, c->version) != 0)
        return RIVAL_ERROR;
    return changed == 1 ? RIVAL_OK : RIVAL_LOST;
}

static void version_close(void *client)
{
    struct client *c = client;

    sql_drop(&c->db);
    free(c);
}

extern const struct rival mariadb_version;

const struct rival mariadb_version = { .name = "mariadb-version",
                                       .open = version_open,
                                       .acquire = version_acquire,
                                       .holds = version_holds,
                                       .token = version_token,
                                       .release = version_release,
                                       .close = version_close };
