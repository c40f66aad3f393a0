/* SPDX-License-Identifier: Apache-2.0 */
/* MariaDB: the connection.
 *
 * The driver has made the tables (../rivals.py).
 */
#include "mariadb.h"

#include <errmsg.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { STATEMENT_MAX = 512 };

bool sql_init(struct sql *db, const struct rival_opts *opts, const char *setup)
{
    *db = (struct sql){ .timeout_ms = opts->ttl_ms / 2, .setup = setup };
    if (next_server(opts->servers, db->host, &db->port) == NULL)
        abort();
    return sql_connect(db);
}

void sql_drop(struct sql *db)
{
    if (db->mysql != NULL)
        mysql_close(db->mysql);
    db->mysql = NULL;
}

static unsigned failed(struct sql *db)
{
    unsigned error = mysql_errno(db->mysql);

    (void)rival_fail("mariadb: %s", mysql_error(db->mysql));
    if (error >= CR_MIN_ERROR && error <= CR_MAX_ERROR)
        sql_drop(db);
    return error;
}

bool sql_connect(struct sql *db)
{
    unsigned seconds = (unsigned)(db->timeout_ms / 1000) + 1;

    if (db->mysql != NULL)
        return true;
    db->mysql = mysql_init(NULL);
    if (db->mysql == NULL)
        abort();
    (void)mysql_optionsv(db->mysql, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    if (mysql_real_connect(db->mysql, db->host, "root", NULL, "bench",
                           (unsigned)db->port, NULL, 0) != NULL &&
        (db->setup == NULL || mysql_query(db->mysql, db->setup) == 0))
        return true;
    (void)failed(db);
    sql_drop(db);
    return false;
}

/* Skip what it answers. */
static void drain(MYSQL *mysql)
{
    MYSQL_RES *result = mysql_store_result(mysql);

    if (result != NULL)
        mysql_free_result(result);
}

unsigned sql_run(struct sql *db, int64_t *ret_rows, const char *format, ...)
{
    char statement[STATEMENT_MAX];
    va_list args;

    if (!sql_connect(db))
        return CR_SERVER_GONE_ERROR;
    va_start(args, format);
    (void)vsnprintf(statement, sizeof(statement), format, args);
    va_end(args);
    if (mysql_query(db->mysql, statement) != 0)
        return failed(db);
    if (ret_rows != NULL)
        *ret_rows = (int64_t)mysql_affected_rows(db->mysql);
    drain(db->mysql);
    return 0;
}

/* The library's own time limit is for all statements of a connection, and in
 * seconds. */
static bool answered(struct sql *db)
{
    struct pollfd p = { .fd = (int)mysql_get_socket(db->mysql),
                        .events = POLLIN };

    return poll(&p, 1, (int)db->timeout_ms) > 0 &&
           mysql_read_query_result(db->mysql) == 0;
}

static bool read_row(MYSQL *mysql, int64_t *ret_values, unsigned count)
{
    MYSQL_RES *result = mysql_store_result(mysql);
    MYSQL_ROW row = result != NULL ? mysql_fetch_row(result) : NULL;
    bool found = row != NULL && mysql_num_fields(result) == count;

    for (unsigned i = 0; found && i < count; i++)
        ret_values[i] = row[i] != NULL ? strtoll(row[i], NULL, 10) : 0;
    if (result != NULL)
        mysql_free_result(result);
    return found;
}

bool sql_ask(struct sql *db, int64_t *ret_values, unsigned count,
             const char *format, ...)
{
    char statement[STATEMENT_MAX];
    va_list args;

    if (!sql_connect(db))
        return false;
    va_start(args, format);
    int length = vsnprintf(statement, sizeof(statement), format, args);
    va_end(args);
    if (mysql_send_query(db->mysql, statement, (unsigned long)length) != 0 ||
        !answered(db)) {
        (void)rival_fail("mariadb: no answer: %s", mysql_error(db->mysql));
        sql_drop(db);
        return false;
    }
    return read_row(db->mysql, ret_values, count);
}
