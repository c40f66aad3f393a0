/* SPDX-License-Identifier: Apache-2.0 */
/* MariaDB: a row with a unique name; INSERT takes the lock, DELETE gives it
 * back.
 *
 * In this plain form nothing ends a lock but its holder, so a holder believes
 * until it has released. A waiter polls.
 */
#include "mariadb.h"

#include <stdlib.h>

struct client {
    struct sql db;
    const char *name;
    char owner[TOKEN_SIZE];
    bool held;
};

static enum rival_result row_open(const struct rival_opts *opts,
                                  void **ret_client)
{
    struct client *c = calloc(1, sizeof(*c));

    if (c == NULL)
        abort();
    c->name = opts->name;
    *ret_client = c;
    return sql_init(&c->db, opts, NULL) ? RIVAL_OK : RIVAL_ERROR;
}

static enum rival_result row_acquire(void *client, int64_t timeout_ms)
{
    struct client *c = client;
    int64_t deadline = deadline_after(timeout_ms);

    random_token(c->owner);
    do {
        c->held = sql_run(&c->db, NULL,
                          "INSERT INTO lock_rows (name, owner) "
                          "VALUES ('%s', '%s')",
                          c->name, c->owner) == 0;
        if (c->held)
            return RIVAL_OK;
    } while (pause_until(POLL_MS, deadline));
    return RIVAL_TIMEOUT;
}

static bool row_holds(void *client)
{
    struct client *c = client;

    return c->held;
}

static enum rival_result row_release(void *client)
{
    struct client *c = client;
    int64_t rows;

    c->held = false;
    if (sql_run(&c->db, &rows,
                "DELETE FROM lock_rows WHERE name = '%s' AND owner = '%s'",
                c->name, c->owner) != 0)
        return RIVAL_ERROR;
    return rows == 1 ? RIVAL_OK : RIVAL_LOST;
}

static void row_close(void *client)
{
    struct client *c = client;

    sql_drop(&c->db);
    free(c);
}

extern const struct rival mariadb_row;

const struct rival mariadb_row = { .name = "mariadb-row",
                                   .open = row_open,
                                   .acquire = row_acquire,
                                   .holds = row_holds,
                                   .release = row_release,
                                   .close = row_close };
