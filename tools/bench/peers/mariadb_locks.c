/* SPDX-License-Identifier: Apache-2.0 */
/* MariaDB: three locks of the rows of a table. */
#include "mariadb.h"

#include <inttypes.h>
#include <stdio.h>

struct client {
    struct rival_client base;
    struct sql db;
    char setup[80];
    int64_t version; /* of the lock, where it has one */
};

static bool sql_open(void *client)
{
    struct client *c = client;

    return sql_init(&c->db, &c->base.opts, NULL);
}

static void sql_close(void *client)
{
    sql_drop(&((struct client *)client)->db);
}

/* -- a row ----------------------------------------------------------------- */

/* A row with a unique name; INSERT takes the lock, DELETE gives it
 * back.
 *
 * In this plain form nothing ends a lock but its holder, so a holder believes
 * until it has released. A waiter polls. */
static bool row_attempt(void *client, int64_t deadline)
{
    struct client *c = client;

    (void)deadline;
    c->base.valid_until_ms = INT64_MAX;
    return sql_run(&c->db, NULL,
                   "INSERT INTO lock_rows (name, owner) VALUES ('%s', '%s')",
                   c->base.opts.name, c->base.token) == 0;
}

static enum rival_result row_release(void *client)
{
    struct client *c = client;
    int64_t rows;

    if (sql_run(&c->db, &rows,
                "DELETE FROM lock_rows WHERE name = '%s' AND owner = '%s'",
                c->base.opts.name, c->base.token) != 0)
        return RIVAL_ERROR;
    return rows == 1 ? RIVAL_OK : RIVAL_LOST;
}

/* -- the lock of a row ------------------------------------------------------
 */

/* SELECT ... FOR UPDATE in a transaction that lasts as long as the
 * lock.
 *
 * Source: MariaDB, "SELECT ... FOR UPDATE", idle_transaction_timeout. The
 * server keeps the waiters in the queue of the row's lock. The lock of a
 * holder from which nothing has come for idle_transaction_timeout goes to
 * others: this is the time to live here, in whole seconds. A holder asks
 * SELECT 1 on its connection. */
static bool update_open(void *client)
{
    struct client *c = client;

    (void)snprintf(c->setup, sizeof(c->setup),
                   "SET SESSION idle_transaction_timeout = %d",
                   (int)((c->base.opts.ttl_ms + 999) / 1000));
    return sql_init(&c->db, &c->base.opts, c->setup) &&
           sql_run(&c->db, NULL,
                   "INSERT IGNORE INTO lock_names (name) VALUES ('%s')",
                   c->base.opts.name) == 0;
}

static bool update_attempt(void *client, int64_t deadline)
{
    struct client *c = client;

    (void)deadline;
    if (sql_run(&c->db, NULL, "START TRANSACTION") != 0)
        return false;
    if (sql_run(&c->db, NULL,
                "SELECT name FROM lock_names WHERE name = '%s' FOR UPDATE",
                c->base.opts.name) == 0)
        return true;
    sql_drop(&c->db);
    return false;
}

static bool update_holds(void *client)
{
    struct client *c = client;
    int64_t in_transaction;

    /* A connection that had to be made again is not in the transaction. */
    return c->db.mysql != NULL &&
           sql_ask(&c->db, &in_transaction, 1, "SELECT @@in_transaction") &&
           in_transaction == 1;
}

static enum rival_result update_release(void *client)
{
    struct client *c = client;

    if (c->db.mysql == NULL)
        return RIVAL_LOST;
    return sql_run(&c->db, NULL, "COMMIT") == 0 ? RIVAL_OK : RIVAL_LOST;
}

/* -- a row with a version ---------------------------------------------------
 */

/* A row with a version; UPDATE ... WHERE version = ? takes the lock
 * until a time, on the clock of the server.
 *
 * Source: optimistic locking as object mappers have it (JPA, @Version), with
 * an end as ShedLock's JdbcTemplateLockProvider has it (lock_until,
 * usingDbTime). The version grows with each acquire: it can fence. A holder
 * believes until the end, on its own clock, counted from before the request. */
static bool version_open(void *client)
{
    struct client *c = client;

    return sql_open(client) &&
           sql_run(&c->db, NULL,
                   "INSERT IGNORE INTO lock_versions (name, version, until) "
                   "VALUES ('%s', 0, '2000-01-01')",
                   c->base.opts.name) == 0;
}

static bool version_attempt(void *client, int64_t deadline)
{
    struct client *c = client;
    int64_t row[2]; /* version, is it free? */
    int64_t changed = 0;

    (void)deadline;
    if (!sql_ask(&c->db, row, 2,
                 "SELECT version, until <= NOW(3) FROM lock_versions "
                 "WHERE name = '%s'",
                 c->base.opts.name) ||
        row[1] != 1)
        return false;
    c->version = row[0] + 1;
    return sql_run(&c->db, &changed,
                   "UPDATE lock_versions SET version = version + 1, "
                   "until = NOW(3) + INTERVAL %" PRId64 " MICROSECOND "
                   "WHERE name = '%s' AND version = %" PRId64,
                   c->base.opts.ttl_ms * 1000, c->base.opts.name,
                   row[0]) == 0 &&
           changed == 1;
}

static int64_t version_token(void *client)
{
    return ((struct client *)client)->version;
}

static enum rival_result version_release(void *client)
{
    struct client *c = client;
    int64_t changed;

    if (sql_run(&c->db, &changed,
                "UPDATE lock_versions SET until = '2000-01-01' "
                "WHERE name = '%s' AND version = %" PRId64,
                c->base.opts.name, c->version) != 0)
        return RIVAL_ERROR;
    return changed == 1 ? RIVAL_OK : RIVAL_LOST;
}

static const struct rival locks[] = {
    { .name = "mariadb-row",
      .size = sizeof(struct client),
      .open = sql_open,
      .attempt = row_attempt,
      .release = row_release,
      .close = sql_close },
    { .name = "mariadb-for-update",
      .size = sizeof(struct client),
      .open = update_open,
      .attempt = update_attempt,
      .holds = update_holds,
      .release = update_release,
      .close = sql_close },
    { .name = "mariadb-version",
      .size = sizeof(struct client),
      .open = version_open,
      .attempt = version_attempt,
      .token = version_token,
      .release = version_release,
      .close = sql_close },
};

const struct rival *const rivals[] = { &locks[0], &locks[1], &locks[2], NULL };
