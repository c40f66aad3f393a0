/* SPDX-License-Identifier: Apache-2.0 */
/* MariaDB: SELECT ... FOR UPDATE in a transaction that lasts as long as the
 * lock.
 *
 * Source: MariaDB, "SELECT ... FOR UPDATE", idle_transaction_timeout. The
 * server keeps the waiters in the queue of the row's lock. The lock of a
 * holder from which nothing has come for idle_transaction_timeout goes to
 * others: this is the time to live here, in whole seconds. A holder asks
 * SELECT 1 on its connection.
 */
#include "mariadb.h"

#include <stdio.h>
#include <stdlib.h>

struct client {
    struct sql db;
    const char *name;
    char setup[80];
};

static enum rival_result update_open(const struct rival_opts *opts,
                                     void **ret_client)
{
    struct client *c = calloc(1, sizeof(*c));

    if (c == NULL)
        abort();
    c->name = opts->name;
    (void)snprintf(c->setup, sizeof(c->setup),
                   "SET SESSION idle_transaction_timeout = %d",
                   (int)((opts->ttl_ms + 999) / 1000));
    *ret_client = c;
    if (!sql_init(&c->db, opts, c->setup) ||
        sql_run(&c->db, NULL,
                "INSERT IGNORE INTO lock_names (name) VALUES ('%s')",
                c->name) != 0)
        return RIVAL_ERROR;
    return RIVAL_OK;
}

static bool attempt(struct client *c)
{
    if (sql_run(&c->db, NULL, "START TRANSACTION") != 0)
        return false;
    if (sql_run(&c->db, NULL,
                "SELECT name FROM lock_names WHERE name = '%s' FOR UPDATE",
                c->name) == 0)
        return true;
    sql_drop(&c->db);
    return false;
}

static enum rival_result update_acquire(void *client, int64_t timeout_ms)
{
    int64_t deadline = deadline_after(timeout_ms);

    do {
        if (attempt(client))
            return RIVAL_OK;
    } while (pause_until(POLL_MS, deadline));
    return RIVAL_TIMEOUT;
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

static void update_close(void *client)
{
    struct client *c = client;

    sql_drop(&c->db);
    free(c);
}

extern const struct rival mariadb_update;

const struct rival mariadb_update = { .name = "mariadb-for-update",
                                      .open = update_open,
                                      .acquire = update_acquire,
                                      .holds = update_holds,
                                      .release = update_release,
                                      .close = update_close };
